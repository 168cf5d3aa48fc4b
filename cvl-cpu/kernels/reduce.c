/* reduce.c - sequential reductions, for every element type and combining operation. */
#include "cvl-cpu/kernels/reduce.h"

#include <string.h>

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/templates.h"

enum {
  GROUP = 64, /* segments of a group, whose rows stay in the first-level cache */
  /* Where a row has 16 elements, a group is smaller. In a larger one memory would idle while
   * rows are folded, and sums of 10 million values would take half as long again (bench/run
   * segmented-sum --largest). */
  LONG_ROWS = 16
};

/* Marks a loop that the compiler vectorises as it stands. */
#ifdef __clang__
#define ROLLED
#else
#define ROLLED _Pragma("GCC unroll 1")
#endif

#ifdef __AVX512BW__
#include <immintrin.h>
#define ROWS_BY_MASK

/* Returns the lengths of segments i .. i + 7; those from `count` on are 0. */
ALWAYS_INLINE __m512i eight_lengths(const uint64_t *offsets, int i, int count) {
  const __mmask8 present = (__mmask8)(count - i < 8 ? (1 << (count - i)) - 1 : 0xff);
  return _mm512_sub_epi64(_mm512_maskz_loadu_epi64(present, offsets + i + 1),
                          _mm512_maskz_loadu_epi64(present, offsets + i));
}
#endif

/* Sets mask[i] to a bit for each of the first `lanes` <= 16 elements of segment i. */
ALWAYS_INLINE void row_masks(const uint64_t *offsets, int count, int64_t lanes,
                             uint16_t *mask) {
#ifdef ROWS_BY_MASK
  const __m512i one = _mm512_set1_epi64(1);
  for (int i = 0; i < count; i += 8) {
    const __m512i n =
        _mm512_min_epu64(eight_lengths(offsets, i, count), _mm512_set1_epi64(lanes));
    const __m512i bits = _mm512_sub_epi64(_mm512_sllv_epi64(one, n), one);
    _mm_storeu_si128((__m128i *)(void *)(mask + i), _mm512_cvtepi64_epi16(bits));
  }
#else
  for (int i = 0; i < count; i++) {
    const uint64_t n = offsets[i + 1] - offsets[i], most = (uint64_t)lanes;
    mask[i] = (uint16_t)((UINT64_C(1) << (n < most ? n : most)) - 1);
  }
#endif
}

/* Returns a mask of the segments, of `count` <= GROUP, that have more than n elements. */
ALWAYS_INLINE uint64_t longer_than(int64_t n, const uint64_t *offsets, int count) {
  uint64_t longer = 0;
#ifdef ROWS_BY_MASK
  for (int i = 0; i < count; i += 8) {
    longer |= (uint64_t)_mm512_cmpgt_epu64_mask(eight_lengths(offsets, i, count),
                                                _mm512_set1_epi64(n))
              << i;
  }
#else
  for (int i = 0; i < count; i++) {
    longer |= (uint64_t)(offsets[i + 1] - offsets[i] > (uint64_t)n) << i;
  }
#endif
  return longer;
}

#ifdef ROWS_BY_MASK
/* Does load_row (reduce-short.h) for elements of `bytes` bytes. Lanes outside the mask are not
 * read. */
ALWAYS_INLINE void load_row_masked(size_t bytes, const void *x, unsigned mask, int lanes,
                                   const void *pad, bool in_order, void *row) {
  int64_t p8 = 0;
  int32_t p4 = 0;
  char p1 = 0;
  if (bytes == 8) {
    memcpy(&p8, pad, sizeof p8);
    const __m512i pads = _mm512_set1_epi64(p8);
    if (lanes == 2) {
      _mm_storeu_si128(row, _mm_mask_loadu_epi64(_mm_set1_epi64x(p8), (__mmask8)mask, x));
      return;
    }
    const __m512i a = _mm512_mask_loadu_epi64(pads, (__mmask8)mask, x);
    if (lanes == 8) {
      const __m512i order = _mm512_setr_epi64(0, 4, 2, 6, 1, 5, 3, 7);
      _mm512_storeu_si512(row, in_order ? a : _mm512_permutexvar_epi64(order, a));
      return;
    }
    const __m512i b =
        _mm512_mask_loadu_epi64(pads, (__mmask8)(mask >> 8), (const char *)x + sizeof a);
    const __m512i even = _mm512_setr_epi64(0, 8, 4, 12, 2, 10, 6, 14);
    const __m512i odd = _mm512_setr_epi64(1, 9, 5, 13, 3, 11, 7, 15);
    _mm512_storeu_si512(row, in_order ? a : _mm512_permutex2var_epi64(a, even, b));
    _mm512_storeu_si512((char *)row + sizeof a,
                        in_order ? b : _mm512_permutex2var_epi64(a, odd, b));
  } else if (bytes == 4) {
    memcpy(&p4, pad, sizeof p4);
    if (lanes == 4) {
      const __m128i a = _mm_mask_loadu_epi32(_mm_set1_epi32(p4), (__mmask8)mask, x);
      _mm_storeu_si128(row, in_order ? a : _mm_shuffle_epi32(a, 0xd8)); /* order 0, 2, 1, 3 */
      return;
    }
    const __m512i order =
        _mm512_setr_epi32(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15);
    const __m512i a = _mm512_mask_loadu_epi32(_mm512_set1_epi32(p4), (__mmask16)mask, x);
    _mm512_storeu_si512(row, in_order ? a : _mm512_permutexvar_epi32(order, a));
  } else { /* BOOL, in order */
    memcpy(&p1, pad, sizeof p1);
    _mm_storeu_si128(row, _mm_mask_loadu_epi8(_mm_set1_epi8(p1), (__mmask16)mask, x));
  }
}
#endif

/* The classes as numbers, for #if. */
#define REDUCE_IS_I 0
#define REDUCE_IS_F 1
#define REDUCE_IS_B 0

#define COMBINE_NUMBERS "cvl-cpu/kernels/reduce-elem.h"
#define COMBINE_FLAGS   "cvl-cpu/kernels/reduce-elem.h"
#include "cvl-cpu/combine/types.h"

#define ROW(op, kind)                                                                          \
  [OP_##op] = {blocks_##op##_##kind, segments_##op##_##kind, equal_##op##_##kind,              \
               lanes_##op##_##kind},
const struct reduce_kernels KERNEL(reduce_kernels) = {{
#include "cvl-cpu/combine/table.h"
}};
