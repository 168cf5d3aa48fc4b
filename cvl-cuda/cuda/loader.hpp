/* loader.hpp - loads kernels that were compiled at run time onto the device. */
#ifndef RAVEL_CUDA_CUDA_LOADER_HPP
#define RAVEL_CUDA_CUDA_LOADER_HPP

#include "cvl-cuda/nvrtc.hpp"

namespace ravel {

/* Returns a loader of cubin or PTX for the calling thread's device. */
kernel_loader cuda_loader();

} // namespace ravel
#endif
