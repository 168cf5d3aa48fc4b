/* stream.hpp - a GPU as a stream, and a list of the GPUs. Texts of reasons stay valid. */
#ifndef RAVEL_CUDA_CUDA_STREAM_HPP
#define RAVEL_CUDA_CUDA_STREAM_HPP

#include "cvl-cuda/stream.hpp"

extern "C" {
#include "cvl/cvl.h"
}

namespace ravel {

/* Does what cvl_backend.devices says. */
unsigned cuda_devices(cvl_device *out, unsigned most, const char **why);
/* A device that interprets PTX (cvl-cuda/ptx) needs this in addition: code as PTX, and notice,
 * in the order of the commands, of which blocks of its memory are in use. */
struct interpreter {
  void (*taken)(void *, size_t);
  void (*returned)(void *, size_t);
};
/* Returns a new stream on a device, which the caller owns; -1 means the first device, which is
 * not open yet. Returns null and a reason on failure, also if there is no code for the device.
 * An interpreter outlives the stream. */
stream *cuda_stream(int device, const char **why, const interpreter * = nullptr);

} // namespace ravel
#endif
