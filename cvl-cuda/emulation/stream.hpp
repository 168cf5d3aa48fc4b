/* stream.hpp - a device made of the host. */
#ifndef RAVEL_EMULATION_STREAM_HPP
#define RAVEL_EMULATION_STREAM_HPP

#include "cvl-cuda/emulation/options.hpp"
#include "cvl-cuda/stream.hpp"

namespace ravel {

/* A new emulated device. Owned by the caller. */
stream *emulated_stream(const emulation_options &o = emulation_options());

} // namespace ravel
#endif
