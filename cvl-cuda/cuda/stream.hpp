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
/* What a device that interprets PTX (cvl-cuda/ptx) wants beside that: code as PTX, and to know,
 * in the order of the commands, which blocks of its memory are in use. */
struct interpreter {
  void (*taken)(void *, size_t);
  void (*returned)(void *, size_t);
};
/* A new stream on a device, -1: the first, which is not open yet; null with a reason, also
 * where there is no code for the device. Owned by the caller. The interpreter, if it is one,
 * outlives it. */
stream *cuda_stream(int device, const char **why, const interpreter * = nullptr);

} // namespace ravel
#endif
