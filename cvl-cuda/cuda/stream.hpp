/* stream.hpp - a GPU as a stream, and which GPUs there are. Texts of reasons stay valid. */
#ifndef RAVEL_CUDA_CUDA_STREAM_HPP
#define RAVEL_CUDA_CUDA_STREAM_HPP

#include "cvl-cuda/stream.hpp"

extern "C" {
#include "cvl/cvl.h"
}

namespace ravel {

/* As cvl_backend.devices. */
unsigned cuda_devices(cvl_device *out, unsigned most, const char **why);
/* A new stream on a device, -1: the first; null with a reason. Owned by the caller. */
stream *cuda_stream(int device, const char **why);

} // namespace ravel
#endif
