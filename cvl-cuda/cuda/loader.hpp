/* loader.hpp - kernels that were compiled at run time, on the device. */
#ifndef RAVEL_CUDA_CUDA_LOADER_HPP
#define RAVEL_CUDA_CUDA_LOADER_HPP

#include "cvl-cuda/nvrtc.hpp"

namespace ravel {

/* Loads cubin or PTX for the calling thread's device. */
kernel_loader cuda_loader();

} // namespace ravel
#endif
