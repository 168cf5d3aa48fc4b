/* rank-kernels.hpp - the bodies of rank.cu, some of which sort-segments.cu uses, too: keys
 * (elements as unsigned numbers of the same order), comparing them, and the steps before and
 * after sorting them. */
#ifndef RAVEL_CUDA_RANK_KERNELS_HPP
#define RAVEL_CUDA_RANK_KERNELS_HPP

#include "cvl-cuda/context.hpp"
#include "cvl/elementary.h"

namespace ravel {

/* ---- keys ---- */

HD inline uint32_t ascending(int32_t x) {
  return (uint32_t)x ^ (uint32_t)1 << 31;
}
HD inline uint64_t ascending(int64_t x) {
  return (uint64_t)x ^ (uint64_t)1 << 63;
}
/* Negative numbers count downwards from the sign on. */
HD inline uint32_t ascending(float x) {
  const uint32_t bits = bits_of_f32(x);
  return bits >> 31 ? ~bits : bits | (uint32_t)1 << 31;
}
HD inline uint64_t ascending(double x) {
  const uint64_t bits = bits_of_f64(x);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

template <class T> using key_of = decltype(ascending(T{}));

/* Returns an unsigned number in the order of x: equal for both zeros, highest for NaN. */
template <class T> HD key_of<T> key(T x, bool down) {
  if (x != x) return (key_of<T>)~(key_of<T>)0;
  const key_of<T> k = ascending(x == 0 ? (T)0 : x);
  return down ? (key_of<T>)~k : k;
}

/* ---- by comparing ---- */

/* In segments of up to this many elements, comparing all with each other costs no more than the
 * dozen passes of a sort. */
enum { COMPARED = 64 };

/* Returns how many of the elements first .. last - 1 come before element i, which is one of
 * them. */
template <class T>
HD int64_t rank_among(ptr<const T> x, int64_t first, int64_t last, int64_t i, bool down) {
  const key_of<T> mine = key((T)x[i], down);
  int64_t before = 0;
  for (int64_t j = first; j < last; j++) {
    const key_of<T> other = key((T)x[j], down);
    before += other < mine || (other == mine && j < i);
  }
  return before;
}

template <class T, class I> struct compare_body {
  ptr<const T> x;
  segments d;
  bool down;

  HD I operator()(int64_t i) const {
    const int64_t s = d.of(i), first = d.start(s);
    return (I)rank_among(x, first, first + d.length(s), i, down);
  }
};

/* ---- by sorting: K the type of keys, V that of positions ---- */

/* Segments in which the segment of each element is looked up, or was written down (ids). */
struct numbered_segments {
  segments d;
  ptr<const uint32_t> ids; /* or null */

  HD int64_t of(int64_t i) const { return ids == nullptr ? d.of(i) : (int64_t)ids[i]; }
};

template <class T, class K, class V> struct keys_body {
  operand<T> x;
  numbered_segments d;
  bool down, with_segment; /* the segment's number above the key */
  ptr<K> keys;
  ptr<V> positions;

  HD void operator()(int64_t i) const {
    K k = key(x[i], down);
    /* The shift is half of K, since only a K of 64 bits has room for a number and a key of
     * 32. */
    if constexpr (sizeof(K) > sizeof(key_of<T>)) {
      if (with_segment) k |= (K)d.of(i) << 4 * sizeof(K);
    }
    keys[i] = k;
    positions[i] = (V)i;
  }
};

template <class K, class V> struct segments_body {
  numbered_segments d;
  ptr<const V> positions;
  HD K operator()(int64_t k) const { return (K)d.of((int64_t)positions[k]); }
};

template <class V, class I> struct ranks_body {
  numbered_segments d;
  ptr<const V> positions;
  ptr<I> out;
  HD void operator()(int64_t k) const {
    out[(int64_t)positions[k]] = (I)(k - d.d.start(d.of(k)));
  }
};

/* Writes the rank of the k-th sorted element. */
template <class V> struct rank_body {
  numbered_segments d;
  HD V operator()(int64_t k) const { return (V)(k - d.d.start(d.of(k))); }
};

/* ---- for both operations ---- */

struct fits_body {
  segments d;
  int64_t most;
  faults bad;
  HD void operator()(int64_t s) const {
    if (d.length(s) > most) bad.report(CVL_E_INT_RANGE, s, d.length(s), 0, 0);
  }
};

/* Throws a fault if there are ranks that do not fit an INT. */
inline void require_fit(work &w, const segments &d) {
  if (w.c.int_elem == CVL_I64 || d.total <= INT32_MAX) return;
  if (d.equal > INT32_MAX && d.count > 0) fail(CVL_E_INT_RANGE, w.site, 0, d.equal);
  if (d.equal < 0) w.run(launch_n("rank: fits", d.count, fits_body{d, INT32_MAX, w.bad()}));
}

/* Returns the number of bits of the numbers up to `most`. */
inline int bits_of(int64_t most) {
  int bits = 0;
  for (; most > 0; most >>= 1) bits++;
  return bits;
}

} // namespace ravel
#endif
