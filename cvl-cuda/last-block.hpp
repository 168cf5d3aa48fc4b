/* last-block.hpp - lets the last block of a launch do something for all of them: a second
 * launch would cost more than a counter. */
#ifndef RAVEL_CUDA_LAST_BLOCK_HPP
#define RAVEL_CUDA_LAST_BLOCK_HPP

#include "cvl-cuda/launch.hpp"

namespace ravel {

/* Returns whether this block is the last of `blocks` that call this; `done` counts them, and
 * begins at 0. The last block sees what all of them wrote before, for the reasons given at
 * `deliver` in cuda/stream.cu. A block's writes happen before the barrier that ends its last
 * phase, so the first thread's fence makes its addition a release of them all. The last
 * addition sees the others, the fence behind it acquires, and the barrier after that passes
 * this on to the block's threads. */
template <class B, class FLAG>
HD bool is_last(B &block, ptr<uint64_t> done, int64_t blocks, FLAG &flag) {
  typename B::template reg<uint32_t> last;
  block.each([&](int t) {
    if (t != 0) return;
    fence();
    flag[0] = (uint32_t)(atomic_add(done, 1) == (uint64_t)blocks - 1);
    fence();
  });
  block.each([&](int t) { last[t] = flag[0]; });
  return block.uniform(last) != 0;
}

} // namespace ravel
#endif
