/* loader.cpp - see loader.hpp. */
#include "cvl-cuda/cuda/loader.hpp"

#include <cuda_runtime.h>

namespace ravel {

static bool good(cudaError_t e, const char *what, std::string &why) {
  if (e == cudaSuccess) return true;
  why = std::string(what) + ": " + cudaGetErrorString(e);
  cudaGetLastError(); /* the program goes on without this kernel */
  return false;
}

static void *load(const std::string &bytes, std::string &why) {
  cudaLibrary_t library = nullptr;
  const cudaError_t e =
      cudaLibraryLoadData(&library, bytes.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  return good(e, "cudaLibraryLoadData", why) ? library : nullptr;
}

/* Otherwise the first launch would load it. */
static bool in_memory(const void *kernel, std::string &why) {
  cudaFuncAttributes a;
  return good(cudaFuncGetAttributes(&a, kernel), "cudaFuncGetAttributes", why);
}

static bool entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                     std::string &why) {
  cudaKernel_t kernel = nullptr;
  const cudaError_t e = cudaLibraryGetKernel(&kernel, (cudaLibrary_t)loaded, name.c_str());
  entry.kernel = (const void *)kernel;
  return good(e, "cudaLibraryGetKernel", why) && in_memory(entry.kernel, why);
}

static void unload(void *loaded) {
  cudaLibraryUnload((cudaLibrary_t)loaded);
}

kernel_loader cuda_loader() {
  kernel_loader l;
  l.load = load;
  l.entry_of = entry_of;
  l.unload = unload;
  return l;
}

} // namespace ravel
