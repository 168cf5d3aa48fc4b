/* pointer.hpp - the prelude of all kernels with the pointers of this build: plain ones, or
 * those of the checking emulation. Every file of this room includes the prelude through this
 * one. */
#ifndef RAVEL_CUDA_POINTER_HPP
#define RAVEL_CUDA_POINTER_HPP

#ifdef RAVEL_EMULATION
#include "cvl-cuda/emulation/checked.hpp"
#endif
#include "fused-kernels/prelude.hpp"

namespace ravel {

/* Makes a pointer from an address. */
#ifndef RAVEL_HAS_PTR
template <class T> ptr<T> pointer_to(void *p) {
  return (T *)p;
}
#endif

} // namespace ravel
#endif
