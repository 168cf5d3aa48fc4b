/* stream.hpp - a device made of the host. */
#ifndef RAVEL_EMULATION_STREAM_HPP
#define RAVEL_EMULATION_STREAM_HPP

#include "cvl-cuda/emulation/options.hpp"
#include "cvl-cuda/stream.hpp"

namespace ravel {

/* The current device of the calling thread, as other libraries might set it: every call of an
 * emulated device that would go to another one aborts. */
int &emulated_current_device();

/* A new emulated device. Owned by the caller. */
stream *emulated_stream(const emulation_options &o = emulation_options());

} // namespace ravel
#endif
