/* failing.hpp - a stream whose calls fail when tests say so. */
#ifndef RAVEL_EMULATION_FAILING_HPP
#define RAVEL_EMULATION_FAILING_HPP

#include "cvl-cuda/calls.hpp"
#include "cvl-cuda/stream.hpp"

namespace ravel {

/* Returns a stream that passes calls to `inner`, which it owns, until the call that `c` makes
 * fail. Then the device is lost, as a GPU would be (cuda/stream.cu): memory stays, no work is
 * done and no epoch is reached any more, and failure() says which call it was. */
stream *failing_stream(stream *inner, const calls &c = calls());

} // namespace ravel
#endif
