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
    const int64_t element = element_of(d, candidate);
    at.segment = element < 0 ? candidate : d.of(element);
    return is_chunk(d, candidate, at);
  }
  /* The two steps of `find`. element_of returns an element of the candidate's segment, or -1 if
   * the candidate is the segment's number. is_chunk, with that segment, returns the chunk. */
  HD int64_t element_of(const segments &d, int64_t candidate) const {
    if (candidate >= firsts) return (candidate - firsts) << bits;
    const int64_t tile = (int64_t)1 << long_bits, first = candidate << long_bits;
    return firsts == d.count ? -1 : (first + tile < d.total ? first + tile : d.total) - 1;
  }
  HD bool is_chunk(const segments &d, int64_t candidate, chunk &at) const {
    const int64_t start = d.start(at.segment), length = d.length(at.segment);
    if (candidate < firsts) {
      at.number = 0;
      const bool here = firsts == d.count || start >= candidate << long_bits;
      return here && length > (int64_t)1 << long_bits;
    }
    const int64_t before = ((candidate - firsts) << bits) - start;
    at.number = (before + ((int64_t)1 << bits) - 1) >> bits;
    return at.number > 0 && at.number << bits < length;
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

/* Searches by warps, each for the first number from low on, below high, of which
 * is_before(thread, number) is false; that becomes low and high. Of the thread only its warp
 * may matter, and is_before is true up to some number. A warp looks at 32 numbers at once,
 * which leave a 33rd of them. `span`: high - low of any warp at most. */
template <class B, class REG, class F>
HD void search_by_warps(B &block, REG &low, REG &high, int64_t span, F is_before) {
  const auto look_at = [](int64_t from, int64_t to, int lane) {
    return from + (to - from) * (lane + 1) / (WARP + 1);
  };
  typename B::template reg<uint32_t> before;
  for (int64_t n = span; n > 0; n /= WARP + 1) {
    block.each_warp([&](int t) {
      before[t] =
          low[t] < high[t] && is_before(t, look_at(low[t], high[t], t % WARP)) ? 1u : 0u;
    });
    block.ballot(before, before);
    block.each_warp([&](int t) {
      const int64_t from = low[t], to = high[t];
      const int k = count_bits(before[t]);
      if (from == to) return;
      if (k > 0) low[t] = look_at(from, to, k - 1) + 1;
      if (k < WARP) high[t] = look_at(from, to, k);
    });
  }
}

/* The segment of an element of each warp, without a directory of ranks; of a negative number
 * nothing of use. */
template <class B, class REG>
HD void segments_by_warps(B &block, const segments &d, const REG &element, REG &segment) {
  if (d.equal >= 0) {
    block.each_warp([&](int t) {
      if (element[t] >= 0) segment[t] = d.of_equal(element[t]);
    });
    return;
  }
  REG high;
  block.each_warp([&](int t) {
    segment[t] = 1;
    high[t] = element[t] < 0 ? 1 : d.count;
  });
  search_by_warps(block, segment, high, d.count - 1,
                  [&](int t, int64_t s) { return d.start(s) <= element[t]; });
  block.each_warp([&](int t) { segment[t] -= 1; });
}

} // namespace ravel
#endif
