/* buckets.hpp - scatters to random positions of a result that is larger than every cache.
 *
 * Each such write moves a sector of 32 bytes, out of memory and back. So the positions and
 * their elements are first sorted by the highest bits of the position. There are two ways.
 *
 * Sorting by BUCKET_BITS bits takes one pass. The writes under way at any time then go into a
 * few buckets, which the second-level cache holds until they are full. For an element of E
 * bytes this moves 4 bytes for the histogram, 2 (4 + E) for the pass and 4 + 2E to deliver.
 * Random writes would move 32 bytes and more, for the write alone.
 *
 * Sorting by all bits except the lowest ROOM_BITS works where no position occurs twice. A block
 * then puts a bucket in order in shared memory, and all sectors are written whole. With up to
 * 2^28 positions that takes two passes. It moves 4 bytes for the histograms, 2 (4 + E) for each
 * pass, and 4 + 2E in the end.
 */
#ifndef RAVEL_CUDA_BUCKETS_HPP
#define RAVEL_CUDA_BUCKETS_HPP

#include "cvl-cuda/rank-kernels.hpp"
#include "cvl-cuda/sort.hpp"

namespace ravel {

enum { BUCKET_BITS = 8, ROOM_BITS = 12 };

/* Positions up to `most`, and the elements that go to them. */
template <class V> struct buckets {
  int64_t n, most;
  ptr<uint32_t> to, sorted_to;
  ptr<V> values, sorted;

  static int64_t room(const work &w, int64_t n) {
    return sort_scratch<number_order<uint32_t>, V>(w.on_host, n);
  }
  /* Sorts by all bits from `first` on. */
  void sort(work &w, ptr<uint8_t> at, int64_t bytes, int first) const {
    const sort_job<number_order<uint32_t>, V> job{to,    values,        sorted_to, sorted,
                                                  first, bits_of(most), at,        bytes};
    w.run(launch_sort("sort into buckets", n, job));
  }
  void sort_by_highest(work &w, ptr<uint8_t> at, int64_t bytes) const {
    const int bits = bits_of(most);
    sort(w, at, bytes, bits > BUCKET_BITS ? bits - BUCKET_BITS : 0);
  }
};

/* Moves sorted elements to their positions; a position of n or more is skipped. Blocks take
 * tiles by a counter, so that adjacent tiles are under way at the same time, and go to a few
 * buckets. If the tiles were divided beforehand, some blocks would fall behind others by more
 * buckets than the cache can hold. */
template <class V> struct deliver_body {
  enum { threads = 256, EACH = 8, TILE = threads * EACH };
  struct shared {
    shared_array<int64_t, 1> taken;
  };
  ptr<const uint32_t> to;
  ptr<const V> values;
  ptr<V> out;
  int64_t n;
  ptr<uint64_t> next; /* 0 before the launch */
  ptr<uint8_t> marks; /* set at each position that gets an element; or null */

  static int64_t tiles(int64_t n) { return (n + TILE - 1) / TILE; }
  HD void put(uint32_t at, V value) const {
    if ((int64_t)at >= n) return;
    if (marks != nullptr) marks[at] = 1;
    out[at] = value;
  }
  HD void whole(int64_t i) const {
    uint32_t at[EACH];
    V v[EACH];
    RAVEL_UNROLL
    for (int k = 0; k < EACH; k++) at[k] = to[i + k * threads];
    RAVEL_UNROLL
    for (int k = 0; k < EACH; k++) v[k] = values[i + k * threads];
    RAVEL_UNROLL
    for (int k = 0; k < EACH; k++) put(at[k], v[k]);
  }
  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    block.each([&](int t) {
      if (t == 0) m.taken[0] = (int64_t)atomic_add(next, 1);
    });
    block.each([&](int t) {
      const int64_t first = (int64_t)m.taken[0] * TILE;
      if (first + TILE <= n) return whole(first + t);
      for (int64_t i = first + t; i < n; i += threads) put(to[i], values[i]);
    });
  }
};

/* Moves the elements to `out`, which has n elements, as the sources have. */
template <class V>
void deliver_buckets(work &w, const char *name, const buckets<V> &b, ptr<V> out,
                     ptr<uint8_t> marks) {
  const ptr<uint64_t> next = w.scratch<uint64_t>(1);
  w.fill(next, 0, 1);
  const deliver_body<V> body{b.sorted_to, b.sorted, out, b.n, next, marks};
  w.run(launch_blocks_on_device(name, body.tiles(b.n), body));
}

/* Moves n elements that are sorted by all bits of their positions except the lowest ROOM_BITS;
 * no position occurs twice. A block orders BUCKET adjacent elements in shared memory. */
template <class V, class O> struct order_body {
  enum { threads = 512, BUCKET = 1 << ROOM_BITS, EACH = BUCKET / threads };
  struct shared {
    shared_array<V, BUCKET> values;
  };
  ptr<const uint32_t> to;
  ptr<const V> values;
  ptr<O> out;
  int64_t n;

  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    const int64_t first = block.index() * BUCKET;
    block.each([&](int t) {
      uint32_t at[EACH];
      V v[EACH];
      RAVEL_UNROLL
      for (int k = 0; k < EACH; k++) {
        const int64_t i = first + k * threads + t;
        at[k] = i < n ? (uint32_t)to[i] : 0;
        v[k] = i < n ? (V)values[i] : (V)0;
      }
      RAVEL_UNROLL
      for (int k = 0; k < EACH; k++) {
        if (first + k * threads + t < n) m.values[at[k] % BUCKET] = v[k];
      }
    });
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int k = 0; k < EACH; k++) {
        const int64_t i = first + k * threads + t;
        if (i < n) out[i] = (O)m.values[k * threads + t];
      }
    });
  }
};

/* Moves the elements to `out`, which has n elements, as a permutation of the sources. The
 * memory of the sorted elements has room for `out`. */
template <class V, class O>
void order_buckets(work &w, const char *name, const buckets<V> &b, ptr<uint8_t> room,
                   int64_t room_bytes, ptr<O> out) {
  using body = order_body<V, O>;
  const bool one = b.n <= body::BUCKET;
  if (!one) b.sort(w, room, room_bytes, ROOM_BITS);
  const body f{one ? b.to : b.sorted_to, one ? b.values : b.sorted, out, b.n};
  w.run(launch_blocks_on_device(name, (b.n + body::BUCKET - 1) / body::BUCKET, f));
}

} // namespace ravel
#endif
