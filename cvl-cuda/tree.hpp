/* tree.hpp - for reductions and scans: slots, operands in memory, the longest segment; and the
 * chunks of long segments, of fused-kernels/chunks.hpp.
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

/* An operand in memory. */
template <class T> operand<T> in_memory(ptr<const T> data) {
  operand<T> x{};
  x.kind = FROM_MEMORY;
  x.data = data;
  return x;
}

/* An upper bound of the segment lengths that is known without waiting or a long search. */
inline int64_t longest_segment(context &c, const cvl_value &d) {
  enum { LOOKED_AT = 1024 };
  if (d.form != CVL_SEGDES) return (int64_t)d.as.one_segment;
  const cvl_segdes &s = *d.as.segdes;
  if (s.equal >= 0) return s.equal;
  const int64_t total = settled_total(c, s);
  if (s.count > LOOKED_AT || !at_hand(c, d)) return total;
  const int64_t *offsets = (const int64_t *)(const void *)s.host_offsets->at;
  int64_t longest = 0;
  for (int64_t k = 0; k < s.count; k++) {
    if (offsets[k + 1] - offsets[k] > longest) longest = offsets[k + 1] - offsets[k];
  }
  return longest;
}

/* The end of a reduction of segments of at most `longest` elements: as finish_reduction in
 * ops.hpp, but of those longer than a block only. What the others have is in `out`. */
template <class T>
void finish_long_reduction(work &, cvl_op, const segments &, int64_t longest,
                           ptr<const T> partial, ptr<T> out);

} // namespace ravel
#endif
