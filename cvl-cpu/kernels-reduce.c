/* kernels-reduce.c - sequential reductions, for every element type and combining operation. */
#include "cvl-cpu/kernels-reduce.h"

#include <string.h>

#include "cvl-cpu/kernels.h"
#include "cvl-cpu/templates.h"

enum {
  GROUP = 64, /* segments taken together: their rows stay in the first-level cache */
  FILLED = 4  /* rows pay while segments have at most so many times ROW elements on average */
};

#ifdef __AVX512BW__
#include <immintrin.h>
#define ROWS_BY_MASK

/* The first `bits` bits, or all that there are up to n. */
ALWAYS_INLINE uint32_t first_bits(uint64_t n, uint32_t bits) {
  return (UINT32_C(1) << (n < bits ? n : bits)) - 1;
}

/* load_row (kernels-reduce-short.h) for elements of so many bytes. */
ALWAYS_INLINE void load_row_masked(size_t bytes, const void *x, uint64_t n, const void *pad,
                                   bool in_order, void *row) {
  if (bytes == 8) {
    const __m512i order = _mm512_setr_epi64(0, 4, 2, 6, 1, 5, 3, 7);
    int64_t p;
    memcpy(&p, pad, sizeof p);
    const __m512i v =
        _mm512_mask_loadu_epi64(_mm512_set1_epi64(p), (__mmask8)first_bits(n, 8), x);
    _mm512_storeu_si512(row, in_order ? v : _mm512_permutexvar_epi64(order, v));
  } else if (bytes == 4) {
    const __m512i order =
        _mm512_setr_epi32(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15);
    int32_t p;
    memcpy(&p, pad, sizeof p);
    const __m512i v =
        _mm512_mask_loadu_epi32(_mm512_set1_epi32(p), (__mmask16)first_bits(n, 16), x);
    _mm512_storeu_si512(row, in_order ? v : _mm512_permutexvar_epi32(order, v));
  } else { /* BOOL, in order */
    char p;
    memcpy(&p, pad, sizeof p);
    _mm_storeu_si128(row,
                     _mm_mask_loadu_epi8(_mm_set1_epi8(p), (__mmask16)first_bits(n, 16), x));
  }
}
#endif

/* Classes for #if. */
#define REDUCE_IS_I 0
#define REDUCE_IS_F 1
#define REDUCE_IS_B 0

#define INT_BITS   32
#define FLOAT_BITS 32
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i32
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f32
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#define CLASS B
#define KIND  b8
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#undef INT_BITS
#undef FLOAT_BITS

#define INT_BITS   64
#define FLOAT_BITS 64
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i64
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f64
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND

#define ROW(op, kind)                                                                          \
  [OP_##op] = {blocks_##op##_##kind, segments_##op##_##kind, equal_##op##_##kind},
const struct reduce_kernels KERNEL(reduce_kernels) = {{
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_I(ROW(op, i32))
    [CVL_I32] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_I(ROW(op, i64))
    [CVL_I64] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_F(ROW(op, f32))
    [CVL_F32] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_F(ROW(op, f64))
    [CVL_F64] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_B(ROW(op, b8))
    [CVL_BOOL] =
        {
#include "tables/operations.def"
        },
}};
