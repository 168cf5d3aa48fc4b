/* pack.c - the positive elements, in order.
 *
 * In rounds: each thread counts in a chunk that its second-level cache holds, and copies once
 * it knows the counts of the others. So memory is read once. */
#include "rounds.h"
#include "streaming.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

static int64_t count_positive(const real *x, int64_t n) {
  int64_t count = 0;
  /* vector: real */
#pragma omp simd reduction(+ : count)
  for (int64_t i = 0; i < n; i++) count += x[i] > 0;
  return count;
}

#if defined __AVX2__ && !defined __AVX512F__ && FLOAT_BITS == 64
#define HALVES(k) 2 * (k), 2 * (k) + 1
/* For each mask of four reals, the halves of those that stay, in order: what AVX-512 does by
 * itself. */
static const int32_t staying[16][8] = {
    {0},
    {HALVES(0)},
    {HALVES(1)},
    {HALVES(0), HALVES(1)},
    {HALVES(2)},
    {HALVES(0), HALVES(2)},
    {HALVES(1), HALVES(2)},
    {HALVES(0), HALVES(1), HALVES(2)},
    {HALVES(3)},
    {HALVES(0), HALVES(3)},
    {HALVES(1), HALVES(3)},
    {HALVES(0), HALVES(1), HALVES(3)},
    {HALVES(2), HALVES(3)},
    {HALVES(0), HALVES(2), HALVES(3)},
    {HALVES(1), HALVES(2), HALVES(3)},
    {HALVES(0), HALVES(1), HALVES(2), HALVES(3)},
};
#endif

/* Appends the positive elements of x to `held`, which has room for all of x; returns the number
 * of elements held. Without branches: each element is written, and the position advances if the
 * element is positive. */
static int64_t append_positive(const real *restrict x, int64_t n, real *restrict held,
                               int64_t count) {
  int64_t i = 0;
#if defined __AVX512F__ && FLOAT_BITS == 64
  for (; i + 8 <= n; i += 8) {
    const __m512d v = _mm512_loadu_pd(x + i);
    const __mmask8 stays = _mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_GT_OQ);
    _mm512_storeu_pd(held + count, _mm512_maskz_compress_pd(stays, v));
    count += __builtin_popcount(stays);
  }
#elif defined __AVX2__ && FLOAT_BITS == 64
  for (; i + 4 <= n; i += 4) {
    const __m256d v = _mm256_loadu_pd(x + i);
    const unsigned stays =
        (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(v, _mm256_setzero_pd(), _CMP_GT_OQ));
    const __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)staying[stays]);
    const __m256 packed = _mm256_permutevar8x32_ps(_mm256_castpd_ps(v), halves);
    _mm256_storeu_pd(held + count, _mm256_castps_pd(packed));
    count += __builtin_popcount(stays);
  }
#endif
  for (; i < n; i++) {
    held[count] = x[i];
    count += x[i] > 0;
  }
  return count;
}

/* Copies the positive elements of x to y, in order, and writes no other elements of y. A buffer
 * that begins where a cache line of y does collects blocks, which are written past the caches.
 * `next`: the distance of prefetching, or 0. */
static void copy_positive(const real *x, int64_t n, real *y, bool past, int64_t next) {
  enum { LINE = 64 / sizeof(real) };
  _Alignas(64) real held[2 * BLOCK + LINE];
  const int64_t before = (int64_t)((uintptr_t)y % 64 / sizeof *y); /* another's */
  real *to = y - before;
  int64_t count = before, begin = before;
  for (int64_t i = 0; i < n; i += BLOCK) {
    if (next) ask(x + i + next, BLOCK_BYTES);
    count = append_positive(x + i, min(BLOCK, n - i), held, count);
    if (count < BLOCK) continue;
    if (past && begin == 0)
      copy_past(to, held, BLOCK_BYTES);
    else
      memcpy(to + begin, held + begin, sizeof(real) * (size_t)(BLOCK - begin));
    memcpy(held, held + BLOCK, BLOCK_BYTES);
    to += BLOCK;
    count -= BLOCK;
    begin = 0;
  }
  memcpy(to + begin, held + begin, sizeof(real) * (size_t)(count - begin));
}

void baseline(const struct array *arguments, struct array *results) {
  const real *x = arguments[0].as.r;
  const int64_t n = arguments[0].length;
  struct array *packed = result(results, 0, ARRAY_REAL, n);
  real *y = packed->as.r;
  const bool past = (size_t)n * sizeof *x > STREAMED_BYTES;
  int64_t counts[2][MOST_THREADS], all = 0;
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    int64_t done = 0;
    int round = 0;
    for (int64_t at = 0; at < n; at += (int64_t)threads * CHUNK, round ^= 1) {
      const int64_t first = min(n, at + (int64_t)me * CHUNK), end = min(n, first + CHUNK);
      if (threads == 1) {
        done = append_positive(x + first, end - first, y, done); /* never before what is read */
        continue;
      }
      const int64_t mine = count_positive(x + first, end - first);
      counts[round][me] = mine;
#pragma omp barrier
      int64_t to = done;
      for (int k = 0; k < me; k++) to += counts[round][k];
      for (int k = 0; k < threads; k++) done += counts[round][k];
      const int64_t next = (int64_t)threads * CHUNK;
      copy_positive(x + first, end - first, y + to, past, end + next <= n ? next : 0);
    }
    if (me == 0) all = done;
  }
  packed->length = all;
}
