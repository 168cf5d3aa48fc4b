/* nvrtc.hpp - NVIDIA's run-time compiler as a toolchain. It needs nothing of CUDA to be built,
 * and no GPU to compile. Only loading kernels needs them, which is left to the module. */
#ifndef RAVEL_CUDA_NVRTC_HPP
#define RAVEL_CUDA_NVRTC_HPP

#include <memory>
#include <string>

#include "cvl-cuda/toolchain.hpp"

namespace ravel {

/* How to load kernels: functions of a toolchain. They are null if there is no device. */
struct kernel_loader {
  void *(*load)(const std::string &bytes, std::string &why) = nullptr;
  bool (*entry_of)(void *loaded, const std::string &kernel, kernel_entry &entry,
                   std::string &why) = nullptr;
  void (*unload)(void *loaded) = nullptr;
  bool wants_ptx = false; /* not machine code */
  /* Directs the calls of a thread to the device with that number. If it is null, only the
   * thread that owns the device may load. */
  void (*enter)(int device) = nullptr;
  int device = 0;
};

/* Returns the toolchain. `architecture` is that of the device, 10 * major + minor. `library` is
 * the file of NVRTC. If it is empty, $RAVEL_NVRTC is taken, or else the first of the usual ones
 * that can be opened. */
std::unique_ptr<toolchain> nvrtc_toolchain(int architecture, const kernel_loader &,
                                           std::string library = std::string());

} // namespace ravel
#endif
