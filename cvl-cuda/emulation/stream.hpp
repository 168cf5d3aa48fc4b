/* stream.hpp - a device made of the host. */
#ifndef RAVEL_EMULATION_STREAM_HPP
#define RAVEL_EMULATION_STREAM_HPP

#include "cvl-cuda/emulation/options.hpp"
#include "cvl-cuda/stream.hpp"

namespace ravel {

/* The current device of the calling thread, as other libraries might set it. A call of an
 * emulated device aborts if another device is current. */
int &emulated_current_device();

/* Returns a new emulated device, which the caller owns. */
stream *emulated_stream(const emulation_options &o = emulation_options());

} // namespace ravel
#endif
