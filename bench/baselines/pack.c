/* pack.c - what is positive, in order.
 *
 * In rounds: each thread counts in a piece that its second-level cache holds, and copies once
 * it knows the counts of the others. So memory is read once. */
#include "rounds.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

static int64_t count_positive(const real *x, int64_t n) {
  int64_t count = 0;
#pragma omp simd reduction(+ : count)
  for (int64_t i = 0; i < n; i++) count += x[i] > 0;
  return count;
}

/* Without branches: each element is written, and the place moves on if it stays. Nothing is
 * written from y + room on. */
static int64_t copy_positive(const real *restrict x, int64_t n, real *restrict y,
                             int64_t room) {
  int64_t i = 0, to = 0;
#if defined __AVX512F__ && FLOAT_BITS == 64
  for (; i + 8 <= n && to + 8 <= room; i += 8) {
    const __m512d v = _mm512_loadu_pd(x + i);
    const __mmask8 stays = _mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_GT_OQ);
    _mm512_storeu_pd(y + to, _mm512_maskz_compress_pd(stays, v));
    to += __builtin_popcount(stays);
  }
#endif
  for (; i < n && to < room; i++) {
    y[to] = x[i];
    to += x[i] > 0;
  }
  return to;
}

void baseline(const struct array *arguments, struct array *results) {
  const real *x = arguments[0].as.r;
  const int64_t n = arguments[0].length;
  struct array *packed = result(results, 0, ARRAY_REAL, n);
  real *y = packed->as.r;
  int64_t counts[2][MOST_THREADS], all = 0;
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    int64_t done = 0;
    int round = 0;
    for (int64_t at = 0; at < n; at += (int64_t)threads * PIECE, round ^= 1) {
      const int64_t first = min(n, at + (int64_t)me * PIECE), end = min(n, first + PIECE);
      if (threads == 1) {
        done += copy_positive(x + first, end - first, y + done, n);
        continue;
      }
      const int64_t mine = count_positive(x + first, end - first);
      counts[round][me] = mine;
#pragma omp barrier
      int64_t to = done;
      for (int k = 0; k < me; k++) to += counts[round][k];
      for (int k = 0; k < threads; k++) done += counts[round][k];
      copy_positive(x + first, end - first, y + to, mine);
    }
    if (me == 0) all = done;
  }
  packed->length = all;
}
