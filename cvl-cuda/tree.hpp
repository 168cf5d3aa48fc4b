/* tree.hpp - helpers of reductions and scans: slots, operands in memory, the longest segment,
 * and the chunks of long segments (fused-kernels/chunks.hpp).
 */
#ifndef RAVEL_CUDA_TREE_HPP
#define RAVEL_CUDA_TREE_HPP

#include "cvl-cuda/context.hpp"
#include "fused-kernels/chunks.hpp"

namespace ravel {

/* Slots (prelude.hpp) of 2^bits elements. */
HD inline int64_t slot_of(const segments &d, int64_t s, int bits) {
  return (d.start(s) >> bits) + s;
}
inline int64_t slots(const segments &d, int bits) {
  return (d.total >> bits) + d.count;
}

/* Returns an operand in memory. */
template <class T> operand<T> in_memory(ptr<const T> data) {
  operand<T> x{};
  x.kind = FROM_MEMORY;
  x.data = data;
  return x;
}

/* Returns an upper bound of the segment lengths, as far as it is known without waiting. It
 * saves launches that only longer segments need. */
inline int64_t longest_segment(context &c, const cvl_value &d) {
  if (d.form != CVL_SEGDES) return (int64_t)d.as.one_segment;
  cvl_segdes &s = *d.as.segdes;
  if (s.equal >= 0) return s.equal;
  if (s.longest < 0 && s.longest_later && is_known(c, *s.longest_later.get()))
    s.longest = s.longest_later->value;
  if (s.longest < 0 && at_hand(c, d)) s.longest = longest_on_host(s);
  const int64_t total = stays_deferred(c, s.size) ? s.total : settled_total(c, s);
  return s.longest >= 0 && s.longest < total ? s.longest : total;
}

/* Ends a reduction of segments of at most `longest` elements as finish_reduction in ops.hpp
 * does, but only for those longer than a block. `out` has the results of the others. */
template <class T>
void finish_long_reduction(work &, cvl_op, const segments &, int64_t longest,
                           ptr<const T> partial, uint64_t after, ptr<T> out);

} // namespace ravel
#endif
