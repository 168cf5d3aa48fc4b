/* nvrtc.hpp - NVIDIA's run-time compiler as a toolchain. Needs nothing of CUDA to be built, and
 * no GPU to compile: only loading does, and that is left to the plug-in. */
#ifndef RAVEL_CUDA_NVRTC_HPP
#define RAVEL_CUDA_NVRTC_HPP

#include <memory>
#include <string>

#include "cvl-cuda/toolchain.hpp"

namespace ravel {

/* Loading, as the functions of a toolchain; null where there is no device. */
struct kernel_loader {
  void *(*load)(const std::string &bytes, std::string &why) = nullptr;
  bool (*entry_of)(void *loaded, const std::string &kernel, kernel_entry &entry,
                   std::string &why) = nullptr;
  void (*unload)(void *loaded) = nullptr;
  bool wants_ptx = false; /* not machine code */
  /* Makes a thread's calls be of the device with that number; null: only the thread that owns
   * the device may load. */
  void (*enter)(int device) = nullptr;
  int device = 0;
};

/* `architecture`: of the device, 10 * major + minor. `library`: the file of NVRTC, or empty for
 * $RAVEL_NVRTC or else the first of the usual ones that can be opened. */
std::unique_ptr<toolchain> nvrtc_toolchain(int architecture, const kernel_loader &,
                                           std::string library = std::string());

} // namespace ravel
#endif
