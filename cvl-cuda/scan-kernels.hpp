/* scan-kernels.hpp - the kernels of fused-kernels/scans.hpp for operands, with the combinations
 * of operations.def. A thread does 64 flags at once.
 */
#ifndef RAVEL_CUDA_SCAN_KERNELS_HPP
#define RAVEL_CUDA_SCAN_KERNELS_HPP

#include "cvl-cuda/combine.hpp"
#include "cvl-cuda/tree.hpp"
#include "fused-kernels/published.hpp"

#include "fused-kernels/scans.hpp"

namespace ravel {

static_assert(SCAN_ROW == (int)CVL_SCAN_ROW && (int)CVL_SCAN_WINDOW == (int)WARP &&
                  (int)SCAN_THREADS == (int)COMPILED_CUDA_SCAN_THREADS,
              "the tree of trees.h, and what --tuning=list says");

template <> struct resident_scans<combination<int64_t, OP_MUL>> {
  enum { value = 1 };
};

/* ---- operands ---- */

template <class C, class T, class F>
HD void load_eight(const operand<T> &x, int64_t begin, int32_t n, int32_t k, int step,
                   F store) {
  if (x.kind == FROM_MEMORY) {
    const ptr<const T> from = x.data + (begin + k);
    T v[SCAN_ROW];
    RAVEL_UNROLL
    for (int q = 0; q < SCAN_ROW; q++) v[q] = k + q * step < n ? (T)from[q * step] : C::pad();
    RAVEL_UNROLL
    for (int q = 0; q < SCAN_ROW; q++) store(q, v[q]);
  } else {
    RAVEL_ROLLED
    for (int q = 0; q < SCAN_ROW; q++)
      store(q, k + q * step < n ? x[begin + k + q * step] : C::pad());
  }
}

/* ---- flags ---- */

/* Flags in memory from an address on that is a multiple of 8; a segment begins there. They are
 * combined as bits of words, which is exact in any order. A thread has a window of 64 flags,
 * and a chunk has 65,536. */
struct flag_words {
  enum { unroll = 1 };
  ptr<const uint8_t> data;
  HD uint8_t operator[](int64_t i) const { return data[i]; }
};
struct sixty_four {
  enum { LENGTH_BITS = 6, LENGTH = 64, WORDS = SCAN_ROW, OF_WORD = 8 };
  using unit = uint64_t;
  uint64_t v[WORDS];

  HD static void store(ptr<uint8_t> to, int32_t n, int32_t k, unit x) {
    const int32_t from = k * OF_WORD;
    if (from + OF_WORD <= n) {
      retyped<uint64_t>(to)[k] = x;
      return;
    }
    RAVEL_ROLLED
    for (int32_t i = from; i < n; i++) to[i] = (uint8_t)(x >> 8 * (i - from));
  }
};
template <class C> struct window_of<C, flag_words> { using type = sixty_four; };
/* Returns a word of equal flags. */
HD inline uint64_t word_of(uint64_t flag) {
  const uint32_t half = (uint32_t)flag * 0x01010101u;
  return (uint64_t)half << 32 | half;
}
template <class C> HD uint64_t combined(uint64_t x, uint64_t y) {
  return (uint64_t) typename on_bits<C>::type{}((int64_t)x, (int64_t)y);
}
/* Moves the flags of a word by `by` bits, behind padding. */
template <class C> HD uint64_t later_by(uint64_t x, int by) {
  return x << by | (word_of(C::pad()) & (((uint64_t)1 << by) - 1));
}

template <class C> HD void prefix_of(sixty_four &a) {
  uint64_t before = word_of(C::pad());
  RAVEL_UNROLL
  for (int w = 0; w < sixty_four::WORDS; w++) {
    uint64_t x = a.v[w];
    RAVEL_UNROLL
    for (int by = 8; by < 64; by *= 2) x = combined<C>(later_by<C>(x, by), x);
    a.v[w] = combined<C>(before, x);
    before = word_of(a.v[w] >> 56);
  }
}
template <class C> HD uint8_t total_of(const sixty_four &a) {
  return (uint8_t)(a.v[sixty_four::WORDS - 1] >> 56);
}
template <class C> HD void exclude(sixty_four &a, uint8_t before) {
  const uint64_t all = word_of(before);
  RAVEL_UNROLL
  for (int w = sixty_four::WORDS - 1; w > 0; w--)
    a.v[w] = combined<C>(all, a.v[w] << 8 | a.v[w - 1] >> 56);
  a.v[0] = combined<C>(all, later_by<C>(a.v[0], 8));
}
HD inline void begin_with(sixty_four &a, uint8_t first) {
  a.v[0] = (a.v[0] & ~(uint64_t)0xff) | first;
}

template <class C> HD uint64_t padding_of(const sixty_four &) {
  return word_of(C::pad());
}

/* Loads words. The last one may have fewer flags. */
template <class C, class F>
HD void load_eight(const flag_words &x, int64_t begin, int32_t n, int32_t k, int step,
                   F store) {
  enum { OF_WORD = sixty_four::OF_WORD };
  const ptr<const uint8_t> flags = x.data + begin;
  const ptr<const uint64_t> words = retyped<const uint64_t>(flags);
  uint64_t v[SCAN_ROW];
  RAVEL_UNROLL
  for (int q = 0; q < SCAN_ROW; q++)
    v[q] =
        (k + q * step + 1) * OF_WORD <= n ? (uint64_t)words[k + q * step] : word_of(C::pad());
  RAVEL_UNROLL
  for (int q = 0; q < SCAN_ROW; q++) {
    const int32_t from = (k + q * step) * OF_WORD;
    if (from < n && n < from + OF_WORD) {
      RAVEL_ROLLED
      for (int32_t i = n - 1; i >= from; i--) v[q] = (v[q] << 8) | flags[i];
    }
    store(q, v[q]);
  }
}
/* ---- launches ---- */

/* has_chunks returns whether segments of up to `longest` elements need scan_chunks. The
 * functions after it return what scan_pass needs to know of that, and its blocks. */
inline bool has_chunks(int64_t longest) {
  return longest > (int64_t)1 << LONG_BITS;
}
inline int32_t up_to_row(int64_t longest) {
  return (int32_t)(longest <= ROW_LENGTH ? longest : ROW_LENGTH + 1);
}
inline int64_t tiles_of_pass(int64_t elements) {
  const int64_t tile = scan_pass<combination<int64_t, OP_ADD>>::TILE;
  return (elements + tile - 1) / tile;
}

} // namespace ravel
#endif
