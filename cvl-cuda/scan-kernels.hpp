/* scan-kernels.hpp - the kernels of fused-kernels/scans.hpp, with the combinations of
 * operations.def; and one for segments of up to 8 elements.
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
              "the tree of cvl.h, and what --tuning=list says");

template <> struct resident_scans<combination<int64_t, OP_MUL>> {
  enum { value = 1 };
};

/* Segments of up to 8 elements, whose beginnings are at hand: they have one length, or a
 * directory of ranks. A thread has 8 elements, whatever their segments, and sees the 7 before
 * them, where all begin that reach into its own. So each element is a lane of its own in the
 * window of 8 of the tree; in scan_pass each segment is a thread's. */
template <class C> struct scan_few {
  using T = typename C::type;
  using memory = row_memory<T>;
  enum { threads = 256, resident = 4, BEFORE = SCAN_ROW - 1, SEEN = BEFORE + SCAN_ROW };
  static constexpr int TILE = threads * SCAN_ROW, LEAD = SCAN_ROW; /* elements before a tile */
  static constexpr int SHARED = TILE + LEAD;

  struct shared {
    shared_array<T, SHARED + SHARED / memory::BANKS + 1> elements;
  };

  segments d;
  uint32_t multiples; /* of equal lengths: a bit for each of the first positions that is one */
  operand<T> x;
  ptr<T> out;

  HD static uint32_t multiples_of(int64_t length) {
    uint32_t all = 0;
    for (int k = 0; k < SEEN + SCAN_ROW; k++) all |= (uint32_t)(k % length == 0) << k;
    return all;
  }

  /* A bit for each element from begin - 7 to begin + 7: whether a segment begins there. `begin`
   * is a multiple of 8. */
  HD uint32_t heads(int64_t begin) const {
    return d.equal > 0 ? heads_of_equal(begin) : heads_in_ranks(begin);
  }
  HD uint32_t heads_of_equal(int64_t begin) const {
    const int length = (int)d.equal, within = (int)(begin - d.of_equal(begin) * d.equal);
    return multiples >> (within + SCAN_ROW * length - BEFORE) % length;
  }
  HD uint32_t heads_in_ranks(int64_t begin) const {
    const int64_t word = begin >> 6;
    const int at = (int)(begin & 63);
    const uint64_t these = d.ranks[word].heads;
    if (at > 0) return (uint32_t)(these >> (at - BEFORE));
    const uint64_t those = word > 0 ? d.ranks[word - 1].heads : 0;
    return (uint32_t)(these << BEFORE | those >> (64 - BEFORE));
  }

  /* Inclusive prefixes, each in its segment, as of prefix_of_eight. What is from before a
   * segment that begins earlier than all that is seen is of no use. */
  HD static void prefixes(T (&a)[SEEN], uint32_t heads) {
    step<1>(a, heads);
    step<2>(a, heads);
    step<4>(a, heads);
  }
  /* Each with that S before it, unless a segment begins behind that one. S is a constant, since
   * what nvcc does not unroll is no register. */
  template <int S> HD static void step(T (&a)[SEEN], uint32_t heads) {
    RAVEL_UNROLL
    for (int j = SEEN - 1; j >= S; j--) {
      const uint32_t between = ((1u << S) - 1) << (j - S + 1);
      if ((heads & between) == 0) a[j] = C{}(a[j - S], a[j]);
    }
  }

  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    const int64_t first = block.index() * TILE, left = d.total - first;
    const int32_t n = (int32_t)(left < TILE ? left : TILE);
    block.each([&](int t) {
      load_eight<C>(x, first, n, t, threads, [&](int q, T v) {
        m.elements[memory::padded(t + q * threads + LEAD)] = v;
      });
      if (t < LEAD) m.elements[memory::padded(t)] = first > 0 ? x[first - LEAD + t] : C::pad();
    });
    typename B::template reg<eight<T>> mine;
    block.each([&](int t) {
      const int k = t * SCAN_ROW;
      if (k >= n) return;
      const uint32_t begins = heads(first + k);
      T a[SEEN];
      RAVEL_UNROLL
      for (int j = 0; j < SEEN; j++) a[j] = m.elements[memory::padded(k + j + LEAD - BEFORE)];
      prefixes(a, begins);
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        mine[t].v[q] = begins >> (q + BEFORE) & 1 ? C::identity() : a[q + BEFORE - 1];
    });
    block.each([&](int t) {
      const int k = t * SCAN_ROW;
      if (k >= n) return;
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        m.elements[memory::padded(k + q + LEAD)] = mine[t].v[q];
    });
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        const int32_t k = t + q * threads;
        if (k < n) out[first + k] = m.elements[memory::padded(k + LEAD)];
      }
    });
  }
};

} // namespace ravel
#endif
