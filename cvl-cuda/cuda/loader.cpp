/* loader.cpp - see loader.hpp. */
#include "cvl-cuda/cuda/loader.hpp"

#include <cuda_runtime.h>

namespace ravel {

static bool loader_good(cudaError_t e, const char *what, std::string &why) {
  if (e == cudaSuccess) return true;
  why = std::string(what) + ": " + cudaGetErrorString(e);
  cudaGetLastError(); /* the program goes on without this kernel */
  return false;
}

static void *loader_load(const std::string &bytes, std::string &why) {
  cudaLibrary_t library = nullptr;
  const cudaError_t e =
      cudaLibraryLoadData(&library, bytes.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  return loader_good(e, "cudaLibraryLoadData", why) ? library : nullptr;
}

/* Loads the kernel now; otherwise the first launch would load it. */
static bool loader_in_memory(const void *kernel, std::string &why) {
  cudaFuncAttributes a;
  return loader_good(cudaFuncGetAttributes(&a, kernel), "cudaFuncGetAttributes", why);
}

static bool loader_entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                            std::string &why) {
  cudaKernel_t kernel = nullptr;
  const cudaError_t e = cudaLibraryGetKernel(&kernel, (cudaLibrary_t)loaded, name.c_str());
  entry.kernel = (const void *)kernel;
  return loader_good(e, "cudaLibraryGetKernel", why) && loader_in_memory(entry.kernel, why);
}

static void loader_unload(void *loaded) {
  cudaLibraryUnload((cudaLibrary_t)loaded);
}

kernel_loader cuda_loader() {
  kernel_loader l;
  l.load = loader_load;
  l.entry_of = loader_entry_of;
  l.unload = loader_unload;
  return l;
}

} // namespace ravel
