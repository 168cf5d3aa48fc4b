/* watching.hpp - makes the accesses of a generated kernel known to the checker: the pointers of
 * checked.hpp begin its text, and call functions of the checker. */
#ifndef RAVEL_EMULATION_WATCHING_HPP
#define RAVEL_EMULATION_WATCHING_HPP

#include "cvl-cuda/emulation/host-toolchain.hpp"

namespace ravel {

companion watching();

} // namespace ravel
#endif
