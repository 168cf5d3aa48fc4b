/* tree.hpp - for reductions and scans: assigns the chunks of long segments to blocks, however
 * few or many segments there are.
 *
 * A chunk is W consecutive elements of a segment, counted from its start; the last is shorter.
 * The chunks of all segments of more than W elements are numbered by *candidates*, each a tile
 * of W consecutive elements of the whole vector: in a tile at most one long segment begins, the
 * one that holds the tile's last element, and at most one chunk of a segment that began before,
 * the one that holds the tile's first. So there are 2 total / W candidates, not one for each
 * segment, and each is found by one lookup in the descriptor.
 */
#ifndef RAVEL_CUDA_TREE_HPP
#define RAVEL_CUDA_TREE_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

struct chunk {
  int64_t segment, number;
};

/* The chunks of 2^bits elements of all segments of more than 2^long_bits, which is not more. */
struct chunks {
  int32_t bits, long_bits;
  int64_t firsts, candidates; /* first chunks come first */

  /* The chunk of a candidate; false if it has none. */
  HD bool find(const segments &d, int64_t candidate, chunk &at) const {
    if (candidate < firsts) {
      const int64_t tile = (int64_t)1 << long_bits, first = candidate << long_bits;
      at.number = 0;
      at.segment = candidate;
      if (firsts == d.count) return d.length(candidate) > tile;
      at.segment = d.of((first + tile < d.total ? first + tile : d.total) - 1);
      return d.start(at.segment) >= first && d.length(at.segment) > tile;
    }
    const int64_t first = (candidate - firsts) << bits;
    at.segment = d.of(first);
    const int64_t before = first - d.start(at.segment);
    at.number = (before + ((int64_t)1 << bits) - 1) >> bits;
    return at.number > 0 && at.number << bits < d.length(at.segment);
  }
};

/* `later`: not only the first chunk of each segment. */
inline chunks chunks_of(const segments &d, int bits, int long_bits, bool later) {
  const int64_t tiles = (d.total + ((int64_t)1 << long_bits) - 1) >> long_bits;
  const int64_t firsts = d.count < tiles ? d.count : tiles;
  return {bits, long_bits, firsts,
          firsts + (later ? (d.total + ((int64_t)1 << bits) - 1) >> bits : 0)};
}

/* Slots (prelude.hpp) of 2^bits elements. */
HD inline int64_t slot_of(const segments &d, int64_t s, int bits) {
  return (d.start(s) >> bits) + s;
}
inline int64_t slots(const segments &d, int bits) {
  return (d.total >> bits) + d.count;
}

/* Writes the threads of a block whose mark is set to `list`, in order; returns their number.
 * `of_warp` is scratch. */
template <class B, class MARKS, class LIST, class COUNTS>
HD int32_t list_marked(B &block, const MARKS &marks, LIST &list, COUNTS &of_warp, int warps) {
  MARKS together;
  typename B::template reg<int32_t> total;
  block.ballot(together, marks);
  block.each([&](int t) {
    if (t % WARP == 0) of_warp[t / WARP] = count_bits(together[t]);
  });
  block.each([&](int t) {
    int32_t before = 0, all = 0;
    for (int w = 0; w < warps; w++) {
      const int32_t n = of_warp[w];
      if (w < t / WARP) before += n;
      all += n;
    }
    total[t] = all;
    const uint32_t lower = together[t] & (((uint32_t)1 << t % WARP) - 1);
    if (marks[t]) list[before + count_bits(lower)] = t;
  });
  return block.uniform(total);
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

} // namespace ravel
#endif
