/* host-toolchain.hpp - the machine's own C++ compiler as a toolchain, for the emulation:
 * kernels are functions of a shared library. */
#ifndef RAVEL_CUDA_EMULATION_HOST_TOOLCHAIN_HPP
#define RAVEL_CUDA_EMULATION_HOST_TOOLCHAIN_HPP

#include <memory>
#include <string>

#include "cvl-cuda/toolchain.hpp"

namespace ravel {

/* Text that comes before each kernel, and an extern "C" function in it that takes one pointer
 * and is called when a kernel is loaded. A kernel that was compiled elsewhere has neither, and
 * runs without them. */
struct companion {
  std::string text, function;
  const void *argument = nullptr;
};

/* Returns a toolchain. `command` is the compiler and its options, separated by blanks. If it is
 * empty, $CXX is taken, or else the first of c++, g++ and clang++ on the path. */
std::unique_ptr<toolchain> host_toolchain(std::string command = std::string(),
                                          companion beside = companion());

} // namespace ravel
#endif
