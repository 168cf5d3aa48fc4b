/* segdes-kernels.hpp - the bodies of segdes.cu: offsets from lengths, lengths from offsets,
 * rank directories. */
#ifndef RAVEL_CUDA_SEGDES_KERNELS_HPP
#define RAVEL_CUDA_SEGDES_KERNELS_HPP

#include "cvl-cuda/counts.hpp"
#include "cvl-cuda/values.hpp"

namespace ravel {

/* ---- offsets ---- */

enum {
  OFFSETS_THREADS = COMPILED_CUDA_OFFSETS_THREADS,
  OFFSETS_EACH = COMPILED_CUDA_OFFSETS_EACH,
  OFFSETS_TILE = OFFSETS_THREADS * OFFSETS_EACH
};

/* The index of the r-th length of thread t: a warp reads adjacent ones. */
HD inline int64_t index_in_tile(int t, int r) {
  return (int64_t)(t / WARP * WARP * OFFSETS_EACH + r * WARP + t % WARP);
}

/* Reports the first negative one of a thread's lengths, in a tile that begins at `first`. */
template <class T>
HD void report_negative(const faults &bad, const T (&x)[OFFSETS_EACH], int64_t first, int t) {
  T length = 0;
  int64_t k = 0;
  RAVEL_UNROLL
  for (int r = OFFSETS_EACH - 1; r >= 0; r--) {
    if (x[r] >= 0) continue;
    length = x[r];
    k = first + index_in_tile(t, r);
  }
  if (length < 0) bad.report(CVL_E_NEGATIVE_LENGTH, k, length, 0, 0);
}

/* The sum of each tile, TOO_LARGE also if a length is negative. */
template <class T> struct sum_lengths {
  enum { threads = OFFSETS_THREADS };
  struct shared {
    shared_array<uint64_t, threads / WARP> of_warp;
  };
  operand<T> lengths;
  int64_t count;
  ptr<uint64_t> sums;
  faults bad;

  template <class B> HD void operator()(B &block) const {
    const add_counts add;
    typename B::template reg<uint64_t> sum;
    block.each([&](int t) {
      T x[OFFSETS_EACH];
      for (int r = 0; r < OFFSETS_EACH; r++) {
        const int64_t k = block.index() * OFFSETS_TILE + index_in_tile(t, r);
        x[r] = k < count ? lengths[k] : 0;
      }
      uint64_t all = 0;
      for (int r = 0; r < OFFSETS_EACH; r++)
        all = add(all, x[r] < 0 ? (uint64_t)TOO_LARGE : (uint64_t)x[r]);
      sum[t] = all;
      report_negative(bad, x, block.index() * OFFSETS_TILE, t);
    });
    block.fold(sum, add);
    block.each([&](int t) {
      if (t % WARP == 0) block.shared.of_warp[t / WARP] = sum[t];
    });
    block.each([&](int t) {
      if (t != 0) return;
      uint64_t all = 0;
      for (int w = 0; w < threads / WARP; w++) all = add(all, block.shared.of_warp[w]);
      sums[block.index()] = all;
    });
  }
};

/* The offsets. `sums` has a sum for each tile, or their prefix sums and then the total
 * (`scanned`: for more tiles than there are threads), or is null: there is one tile only, whose
 * lengths are checked here. If a length is at fault, all segments of the descriptor are empty
 * but the last one, which has `fallback` elements. So it is where the host knew a sum of
 * lengths that are wrong by an earlier fault. */
template <class T> struct write_offsets {
  enum { threads = OFFSETS_THREADS };
  struct greater {
    HD int64_t operator()(int64_t a, int64_t b) const { return a > b ? a : b; }
  };
  struct shared {
    shared_array<uint64_t, threads / WARP> of_warp, of_tiles, of_tiles_before;
    shared_array<uint32_t, threads / WARP> negative;
  };
  operand<T> lengths;
  int64_t count, tiles;
  ptr<const uint64_t> sums;
  bool scanned, known;                  /* known: `fallback` is the total */
  ptr<int64_t> offsets, total, longest; /* total: null if it is known; longest: or not wanted */
  int64_t fallback;
  faults bad;

  template <class B> HD void operator()(B &block) const {
    const add_counts add;
    const int64_t first = block.index() * OFFSETS_TILE;
    typename B::template reg<uint64_t> x[OFFSETS_EACH], last, carry, tile, tile_before;
    typename B::template reg<uint32_t> negative;
    typename B::template reg<int64_t> most;
    block.each([&](int t) {
      T length[OFFSETS_EACH];
      for (int r = 0; r < OFFSETS_EACH; r++) {
        const int64_t k = first + index_in_tile(t, r);
        length[r] = k < count ? lengths[k] : 0;
      }
      carry[t] = negative[t] = 0;
      most[t] = 0;
      tile[t] = sums != nullptr && !scanned && t < tiles ? (uint64_t)sums[t] : 0;
      tile_before[t] = t < block.index() ? tile[t] : 0;
      for (int r = 0; r < OFFSETS_EACH; r++) {
        x[r][t] = length[r] < 0 ? 0 : (uint64_t)length[r];
        if (length[r] > most[t]) most[t] = length[r];
        if (length[r] >= 0) continue;
        negative[t] = 1;
        if (sums == nullptr)
          bad.report(CVL_E_NEGATIVE_LENGTH, first + index_in_tile(t, r), length[r], 0, 0);
      }
    });
    block.ballot(negative, negative);
    if (longest != nullptr) block.fold(most, greater());
    block.fold(tile, add);
    block.fold(tile_before, add);
    for (int r = 0; r < OFFSETS_EACH; r++) { /* inclusive prefixes within a warp */
      block.prefix(x[r], WARP, add);
      block.broadcast(last, x[r], WARP - 1);
      block.each([&](int t) {
        x[r][t] = add(carry[t], x[r][t]);
        carry[t] = add(carry[t], last[t]);
      });
    }
    block.each([&](int t) {
      if (t % WARP != 0) return;
      if (longest != nullptr) atomic_max(longest, (int64_t)most[t]);
      block.shared.of_warp[t / WARP] = carry[t];
      block.shared.negative[t / WARP] = negative[t];
      block.shared.of_tiles[t / WARP] = tile[t];
      block.shared.of_tiles_before[t / WARP] = tile_before[t];
    });
    block.each([&](int t) {
      uint64_t start = scanned ? (uint64_t)sums[block.index()] : 0;
      uint64_t all = scanned ? (uint64_t)sums[tiles] : 0;
      for (int w = 0; w < threads / WARP && !scanned; w++) {
        start = add(start, block.shared.of_tiles_before[w]);
        all = add(all, sums == nullptr ? block.shared.of_warp[w] : block.shared.of_tiles[w]);
        if (block.shared.negative[w] != 0) all = TOO_LARGE;
      }
      uint64_t here = start;
      for (int w = 0; w < t / WARP; w++) here = add(here, block.shared.of_warp[w]);
      write(block.index(), t, x, start, here, all);
    });
  }

  /* What thread t writes: offset k + 1 is the sum up to length k. */
  template <class R>
  HD void write(int64_t tile, int t, const R *x, uint64_t start, uint64_t here,
                uint64_t all) const {
    const bool good = all < TOO_LARGE && (!known || all == (uint64_t)fallback);
    bool reported = start == TOO_LARGE; /* by an earlier tile */
    for (int r = 0; r < OFFSETS_EACH; r++) {
      const int64_t k = tile * OFFSETS_TILE + index_in_tile(t, r);
      const uint64_t end = add_counts()(here, x[r][t]);
      if (k >= count) continue;
      if (end == TOO_LARGE && !reported) {
        bad.report(CVL_E_TOTAL, k, 0, 0, 0);
        reported = true;
      }
      offsets[k + 1] = good ? (int64_t)end : k + 1 == count ? fallback : 0;
    }
    if (tile != 0 || t != 0) return;
    offsets[0] = 0;
    if (longest != nullptr && !good) atomic_max(longest, fallback);
    if (total != nullptr) put_number(total, good ? (int64_t)all : 0);
  }
};

/* ---- lengths ---- */

/* Of one descriptor: as INTs, which are at fault if they do not fit. */
template <class T> struct lengths_of {
  ptr<const int64_t> offsets;
  ptr<T> out;
  faults bad;
};

/* Of several descriptors with the same number of segments, one behind the other. */
template <class T> struct lengths_body {
  using results = T;
  enum { unroll = 4, most = 4 };
  int64_t n, greatest;
  int32_t count;
  lengths_of<T> list[most];

  HD static int which(int64_t &i, int64_t n) {
    int k = 0;
    for (; i >= n; i -= n) k++;
    return k;
  }
  HD T at(int64_t i) const {
    const lengths_of<T> &x = list[which(i, n)];
    const int64_t length = (int64_t)x.offsets[i + 1] - (int64_t)x.offsets[i];
    if constexpr (sizeof(T) < sizeof(int64_t)) {
      if (length > greatest) x.bad.report(CVL_E_INT_RANGE, i, length, 0, 0);
    }
    return (T)length;
  }
  HD void put(int64_t i, T length) const {
    const lengths_of<T> &x = list[which(i, n)];
    x.out[i] = length;
  }
  HD void operator()(int64_t i) const { put(i, at(i)); }
};

/* ---- rank directories ---- */

/* A word of the directory (prelude.hpp). Segments are walked AHEAD at a time, by loads that do
 * not wait for each other; a long run of empty ones is jumped over. So there are at most 63
 * steps, whatever the run. An empty segment before the word's first element, or after its last,
 * does not matter. */
struct word_at {
  enum { AHEAD = 8 };
  segments s;

  HD rank_word operator()(int64_t word) const {
    const int64_t first = word * 64, total = s.offsets[s.count]; /* s.total may be a bound */
    if (first >= total) return {0, s.count - 1};
    const int64_t end = total - first < 64 ? total : first + 64;
    rank_word w{0, s.search(first, 0, s.count - 1)};
    if (s.offsets[w.base] == first) w.heads = 1;
    int64_t k = w.base + 1;
    RAVEL_ROLLED
    while (k >= 0) k = walk(w, k, first, end);
    return w;
  }
  /* Segments from k on; the next one to look at, or -1. */
  HD int64_t walk(rank_word &w, int64_t k, int64_t first, int64_t end) const {
    int64_t at[AHEAD + 1];
    RAVEL_UNROLL
    for (int j = 0; j <= AHEAD; j++) at[j] = s.offsets[k + j < s.count ? k + j : s.count];
    RAVEL_UNROLL
    for (int j = 0; j < AHEAD; j++) {
      if (at[j] >= end) return -1;
      w.heads |= (uint64_t)1 << (at[j] - first); /* whatever begins there last has elements */
      if (at[j + 1] == at[j]) w.base = ~w.first();
    }
    return at[0] == at[AHEAD] ? s.gallop(at[0], k) : k + AHEAD;
  }
};

struct id_at {
  segments s;
  HD uint32_t operator()(int64_t i) const { return (uint32_t)s.of(i); }
};

} // namespace ravel
#endif
