/* chunks.hpp - assigns what reductions and scans combine to threads: the chunks of long
 * segments to warps, however few or many segments there are; and the segments that a warp is to
 * do.
 *
 * A chunk is W consecutive elements of a segment, counted from its start; the last is shorter.
 * The chunks of all segments of more than W elements are numbered by *candidates*, each a tile
 * of W consecutive elements of the whole vector: in a tile at most one long segment begins, the
 * one that holds the tile's last element, and at most one chunk of a segment that began before,
 * the one that holds the tile's first. So there are 2 total / W candidates, not one for each
 * segment, and each is found by one lookup in the descriptor.
 *
 * The kernels of cvl-cuda include it, and the text of a superoperator's kernel that needs it
 * contains it behind prelude.hpp.
 */
#ifndef RAVEL_CHUNKS_HPP
#define RAVEL_CHUNKS_HPP

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
HD inline chunks chunks_of(const segments &d, int bits, int long_bits, bool later) {
  const int64_t tiles = (d.total + ((int64_t)1 << long_bits) - 1) >> long_bits;
  const int64_t firsts = d.count < tiles ? d.count : tiles;
  return {bits, long_bits, firsts,
          firsts + (later ? (d.total + ((int64_t)1 << bits) - 1) >> bits : 0)};
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

} // namespace ravel
#endif
