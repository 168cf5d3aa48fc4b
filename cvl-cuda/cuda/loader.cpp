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

static void *load(const std::string &bytes, const std::string &name, kernel_entry &entry,
                  std::string &why) {
  cudaLibrary_t library = nullptr;
  if (!good(cudaLibraryLoadData(&library, bytes.c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                                0),
            "cudaLibraryLoadData", why))
    return nullptr;
  cudaKernel_t kernel = nullptr;
  if (!good(cudaLibraryGetKernel(&kernel, library, name.c_str()), "cudaLibraryGetKernel",
            why)) {
    cudaLibraryUnload(library);
    return nullptr;
  }
  entry.kernel = (const void *)kernel;
  return library;
}

static void unload(void *loaded) {
  cudaLibraryUnload((cudaLibrary_t)loaded);
}

kernel_loader cuda_loader() {
  kernel_loader l;
  l.load = load;
  l.unload = unload;
  return l;
}

} // namespace ravel
