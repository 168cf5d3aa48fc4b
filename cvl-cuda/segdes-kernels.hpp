/* segdes-kernels.hpp - the bodies of segdes.cu: offsets from lengths, lengths from offsets,
 * rank directories. */
#ifndef RAVEL_CUDA_SEGDES_KERNELS_HPP
#define RAVEL_CUDA_SEGDES_KERNELS_HPP

#include "cvl-cuda/counts.hpp"
#include "cvl-cuda/last-block.hpp"
#include "cvl-cuda/values.hpp"
#include "fused-kernels/published.hpp"

namespace ravel {

/* ---- offsets ---- */

enum {
  OFFSETS_THREADS = COMPILED_CUDA_OFFSETS_THREADS,
  OFFSETS_EACH = COMPILED_CUDA_OFFSETS_EACH,
  OFFSETS_TILE = OFFSETS_THREADS * OFFSETS_EACH,
  OFFSETS_BITS = 12
};
static_assert(OFFSETS_TILE == 1 << OFFSETS_BITS, "tiles of published totals");

/* Adds lengths within a tile: sums of 32-bit lengths are never too large. */
struct add_small {
  HD uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};
template <class T>
using add_in_tile = std::conditional_t<sizeof(T) == sizeof(int32_t), add_small, add_counts>;

/* Reports the first negative length of a thread. Its r-th length is number first + r *
 * OFFSETS_THREADS. */
template <class T>
HD void report_negative(const faults &bad, const T (&x)[OFFSETS_EACH], int64_t first) {
  T length = 0;
  int64_t k = 0;
  RAVEL_UNROLL
  for (int r = OFFSETS_EACH - 1; r >= 0; r--) {
    if (x[r] >= 0) continue;
    length = x[r];
    k = first + r * OFFSETS_THREADS;
  }
  if (length < 0) bad.report(CVL_E_NEGATIVE_LENGTH, k, length, 0, 0);
}

/* Counters that the blocks of a launch share if there is more than one tile: tiles taken, tiles
 * done, and whether the total is wrong. All are 0 before the launch. */
enum { TILES_TAKEN, TILES_DONE, TOTAL_WRONG, OFFSETS_COUNTERS };

/* Writes the offsets, in one pass. A block publishes the total of its tile's lengths, from
 * which other blocks find the sum before their tiles (published.hpp). Then it writes the tile's
 * offsets. Threads load and store adjacent numbers, and add up consecutive ones, through shared
 * memory.
 *
 * If a length or the sum is at fault, all segments of the descriptor are empty except the last
 * one, which has `fallback` elements. This also holds if the host knew a sum, but an earlier
 * fault made the lengths wrong. Only the last tile sees such a fault, when other tiles may have
 * been written. So the last block to finish writes all offsets again. This ends the program,
 * and need not be fast. */
template <class T> struct write_offsets {
  enum {
    threads = OFFSETS_THREADS,
    resident = 2,
    WARPS = threads / WARP,
    EACH = OFFSETS_EACH,
    BANKS =
        16 /* one more number after each 128 bytes: threads that read 8 each do not collide */
  };
  using totals = published_totals<uint64_t, OFFSETS_BITS>;
  struct greater {
    HD T operator()(T a, T b) const { return a > b ? a : b; }
  };
  struct shared {
    shared_array<uint64_t, OFFSETS_TILE + OFFSETS_TILE / BANKS> numbers; /* lengths; offsets */
    shared_array<uint64_t, WARPS> of_warp;
    shared_array<T, WARPS> longest;
    shared_array<uint32_t, WARPS> negative;
    shared_array<uint64_t, 1> total; /* of the tile */
    shared_array<uint64_t, totals::LEVELS> earlier;
    shared_array<int64_t, 1> taken;
    shared_array<uint32_t, 1> flag;
  };
  operand<T> lengths;
  int64_t count, tiles;
  totals published;                     /* these two are not used if there is one tile */
  ptr<uint64_t> counters;               /* OFFSETS_COUNTERS of them */
  bool known;                           /* `fallback` is the total */
  ptr<int64_t> offsets, total, longest; /* total, longest: null if not wanted */
  int64_t fallback;
  faults bad;

  HD static int padded(int i) { return i + i / BANKS; }

  template <class B> HD void operator()(B &block) const {
    const int64_t tile = take(block), first = tile << OFFSETS_BITS;
    const bool goes_on = tile + 1 < tiles;
    typename B::template reg<uint64_t> in_tile, before;
    load(block, first);
    add_up(block, in_tile);
    block.each([&](int t) {
      if (t == 0) end_tile(block.shared, first, goes_on);
    });
    combine_before<totals, add_counts>(
        block, 1, 0, tile, goes_on, add_counts(), [&](int) { return published; },
        block.shared.total, block.shared.earlier, before);
    block.each(
        [&](int t) { put_sums(block.shared, first, t, add_counts()(before[t], in_tile[t])); });
    block.each([&](int t) {
      store(block.shared, first, t);
      if (t == 0 && !goes_on)
        end_all(block.shared, add_counts()(before[t], block.shared.total[0]));
    });
    if (tiles > 1 && !is_last(block, counters + TILES_DONE, tiles, block.shared.flag)) return;
    repair(block);
  }

  template <class B> HD int64_t take(B &block) const {
    if (tiles == 1) return 0;
    typename B::template reg<int64_t> mine;
    block.each([&](int t) {
      if (t == 0) block.shared.taken[0] = (int64_t)atomic_add(counters + TILES_TAKEN, 1);
    });
    block.each([&](int t) { mine[t] = block.shared.taken[0]; });
    return block.uniform(mine);
  }

  /* Loads lengths to shared memory, with 0 instead of negative ones. */
  template <class B> HD void load(B &block, int64_t first) const {
    auto &m = block.shared;
    typename B::template reg<uint32_t> negative;
    typename B::template reg<T> most;
    block.each([&](int t) {
      T x[EACH];
      if (lengths.kind == FROM_MEMORY && first + OFFSETS_TILE <= count) {
        RAVEL_UNROLL
        for (int r = 0; r < EACH; r++) x[r] = lengths.data[first + r * threads + t];
      } else {
        RAVEL_UNROLL
        for (int r = 0; r < EACH; r++) {
          const int64_t k = first + r * threads + t;
          x[r] = k < count ? (T)lengths[k] : (T)0;
        }
      }
      most[t] = 0;
      RAVEL_UNROLL
      for (int r = 0; r < EACH; r++) {
        if (x[r] > most[t]) most[t] = x[r];
        m.numbers[padded(r * threads + t)] = x[r] < 0 ? 0 : (uint64_t)x[r];
      }
      T least = 0;
      RAVEL_UNROLL
      for (int r = 0; r < EACH; r++) least = x[r] < least ? x[r] : least;
      negative[t] = least < 0;
      if (least < 0) report_negative(bad, x, first + t);
    });
    block.ballot(negative, negative);
    block.fold(most, greater());
    block.each([&](int t) {
      if (t % WARP != 0) return;
      m.longest[t / WARP] = most[t];
      m.negative[t / WARP] = negative[t];
    });
  }

  /* Computes the sum of the lengths before a thread's in the tile. */
  template <class B, class REG> HD void add_up(B &block, REG &before) const {
    const add_in_tile<T> add;
    auto &m = block.shared;
    REG sum;
    block.each([&](int t) {
      uint64_t all = 0;
      RAVEL_UNROLL
      for (int j = 0; j < EACH; j++) all = add(all, m.numbers[padded(t * EACH + j)]);
      sum[t] = all;
    });
    block.prefix(sum, WARP, add);
    block.shift_up(before, sum, 1);
    block.each([&](int t) {
      if (t % WARP == WARP - 1) m.of_warp[t / WARP] = sum[t];
    });
    block.each([&](int t) {
      uint64_t warps = 0;
      for (int w = 0; w < t / WARP; w++) warps = add(warps, m.of_warp[w]);
      before[t] = t % WARP == 0 ? warps : add(warps, before[t]);
    });
  }

  /* Publishes what others must know of the tile; called by one thread. */
  HD void end_tile(shared &m, int64_t first, bool goes_on) const {
    uint64_t all = 0;
    T most = 0;
    for (int w = 0; w < WARPS; w++) {
      all = m.negative[w] != 0 ? (uint64_t)TOO_LARGE : add_counts()(all, m.of_warp[w]);
      if (m.longest[w] > most) most = m.longest[w];
    }
    m.total[0] = all;
    if (goes_on) published.publish(0, first, all);
    if (longest != nullptr) atomic_max(longest, (int64_t)most);
  }

  /* Replaces the lengths of thread t by the sums before them. */
  HD void put_sums(shared &m, int64_t first, int t, uint64_t before) const {
    int wrong = -1;
    RAVEL_UNROLL
    for (int j = 0; j < EACH; j++) {
      const int at = padded(t * EACH + j);
      const uint64_t end = add_counts()(before, m.numbers[at]);
      if (end == TOO_LARGE && before != TOO_LARGE) wrong = j;
      m.numbers[at] = before;
      before = end;
    }
    if (wrong >= 0) bad.report(CVL_E_TOTAL, first + t * EACH + wrong, 0, 0, 0);
  }
  HD void store(const shared &m, int64_t first, int t) const {
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) {
      const int64_t k = first + r * threads + t;
      if (k < count) offsets[k] = (int64_t)m.numbers[padded(r * threads + t)];
    }
  }

  /* Ends the pass; called by one thread of the last tile. */
  HD void end_all(shared &m, uint64_t all) const {
    const bool good = all < TOO_LARGE && (!known || all == (uint64_t)fallback);
    offsets[count] = good ? (int64_t)all : fallback;
    if (longest != nullptr && !good) atomic_max(longest, fallback);
    if (total != nullptr) put_number(total, good ? (int64_t)all : 0);
    if (tiles == 1) {
      m.flag[0] = !good;
    } else if (!good) {
      stored(address(counters + TOTAL_WRONG), (uint64_t)1);
    }
  }
  template <class B> HD void repair(B &block) const {
    typename B::template reg<uint32_t> wrong;
    block.each([&](int t) {
      wrong[t] = tiles == 1 ? (uint32_t)block.shared.flag[0]
                            : (uint32_t)loaded(address(counters + TOTAL_WRONG));
    });
    if (block.uniform(wrong) == 0) return;
    int64_t *const all = address(offsets); /* not `ptr`: other blocks wrote them before */
    block.each([&](int t) {
      for (int64_t k = t; k < count; k += threads) all[k] = 0;
    });
  }
};

/* ---- lengths ---- */

/* Writes the lengths of one descriptor as INTs. Lengths that do not fit are faults. */
template <class T> struct lengths_of {
  ptr<const int64_t> offsets;
  ptr<T> out;
  faults bad;
};

/* Writes the lengths of several descriptors with the same number of segments, one after the
 * other. */
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

/* Makes a word of the directory (prelude.hpp). It walks AHEAD segments at a time, by loads that
 * do not wait for each other, and jumps over a long run of empty ones. So there are at most 63
 * steps, whatever the run. Empty segments before the word's first element, or after its last,
 * do not matter. */
struct word_at {
  enum { AHEAD = 8 };
  segments s;

  HD rank_word operator()(int64_t word) const {
    const int64_t first = word * 64, total = s.offsets[s.count]; /* s.total may be a bound */
    if (first >= total) return {0, s.count - 1};
    rank_word w{0, s.search(first, 0, s.count - 1)};
    if (s.offsets[w.base] == first) w.heads = 1;
    walk(w.base + 1, end_of(word), [&](int64_t, int64_t begin, bool empty) {
      w.heads |= (uint64_t)1 << (begin - first); /* the last one there has elements */
      if (empty) w.base = ~w.first();
    });
    return w;
  }
  /* Writes the numbers of the segments with elements, for descriptors with empty ones. */
  HD void put_numbers(int64_t word, int64_t base, ptr<uint32_t> numbers) const {
    int64_t at = word + base;
    numbers[at] = (uint32_t)base;
    walk(base + 1, end_of(word), [&](int64_t k, int64_t, bool empty) {
      if (!empty) numbers[++at] = (uint32_t)k;
    });
  }
  HD int64_t end_of(int64_t word) const {
    const int64_t first = word * 64, total = s.offsets[s.count];
    return total - first < 64 ? total : first + 64;
  }

  /* Calls `see` for the segments from k on that begin before `end`, except empty ones of a long
   * run. */
  template <class F> HD void walk(int64_t k, int64_t end, F see) const {
    RAVEL_ROLLED
    while (k >= 0) k = walk_some(k, end, see);
  }
  /* Returns the next one to look at, or -1. */
  template <class F> HD int64_t walk_some(int64_t k, int64_t end, F &see) const {
    int64_t at[AHEAD + 1];
    RAVEL_UNROLL
    for (int j = 0; j <= AHEAD; j++) at[j] = s.offsets[k + j < s.count ? k + j : s.count];
    RAVEL_UNROLL
    for (int j = 0; j < AHEAD; j++) {
      if (at[j] >= end) return -1;
      see(k + j, at[j], at[j + 1] == at[j]);
    }
    return at[0] == at[AHEAD] ? last_from(at[0], k) : k + AHEAD;
  }
  /* Returns the last segment that begins at element i. Segment `low` does, and the search
   * starts there. */
  HD int64_t last_from(int64_t i, int64_t low) const {
    int64_t step = 1;
    for (; low + step < s.count && (int64_t)s.offsets[low + step] <= i; step *= 2) low += step;
    return s.search(i, low, low + step < s.count ? low + step - 1 : s.count - 1);
  }
};

/* Writes a word, and its part of the list if there is one. */
struct directory_body {
  word_at of;
  ptr<rank_word> ranks;
  ptr<uint32_t> numbers;

  HD void operator()(int64_t word) const {
    const rank_word w = of(word);
    ranks[word] = w;
    if (!w.counts()) of.put_numbers(word, w.first(), numbers);
  }
};

struct id_at {
  segments s;
  HD uint32_t operator()(int64_t i) const { return (uint32_t)s.of(i); }
};

} // namespace ravel
#endif
