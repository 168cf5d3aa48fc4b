/* failing.hpp - a stream whose calls fail when tests say so. */
#ifndef RAVEL_EMULATION_FAILING_HPP
#define RAVEL_EMULATION_FAILING_HPP

#include "cvl-cuda/calls.hpp"
#include "cvl-cuda/stream.hpp"

namespace ravel {

/* `inner`, which it owns, until the call that `c` wants to fail: the device is lost then, as a
 * GPU is (cuda/stream.cu): memory stays, nothing is done any more, no epoch is reached, and
 * failure() says which call it was. */
stream *failing_stream(stream *inner, const calls &c = calls());

} // namespace ravel
#endif
