/* host-toolchain.hpp - the machine's own C++ compiler as a toolchain: kernels as functions of a
 * shared library, for the emulation. */
#ifndef RAVEL_CUDA_EMULATION_HOST_TOOLCHAIN_HPP
#define RAVEL_CUDA_EMULATION_HOST_TOOLCHAIN_HPP

#include <memory>
#include <string>

#include "cvl-cuda/toolchain.hpp"

namespace ravel {

/* Text that comes before that of each kernel, and a function in it, extern "C" and with one
 * pointer as its argument, that is called when a kernel is loaded. A kernel that was compiled
 * elsewhere has neither, and does without. */
struct companion {
  std::string text, function;
  const void *argument = nullptr;
};

/* `command`: the compiler, with options between blanks; or empty for $CXX, or else the first of
 * c++, g++ and clang++ on the path. */
std::unique_ptr<toolchain> host_toolchain(std::string command = std::string(),
                                          companion beside = companion());

} // namespace ravel
#endif
