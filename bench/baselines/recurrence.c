/* recurrence.c - y[i] = a[i] y[i - 1] + b[i]. In parallel each thread finds what its part does
 * to what comes before it, then all take their turns at that, then each computes its part.
 */
/* scalar: each element waits for the one before */
#include "grouping.h"

enum { MOST_THREADS = 256 };

static real run(const real *a, const real *b, int64_t first, int64_t end, real y, real *out) {
  for (int64_t i = first; i < end; i++) out[i] = y = a[i] * y + b[i];
  return y;
}

void baseline(const struct array *arguments, struct array *results) {
  const real *a = arguments[0].as.r, *b = arguments[1].as.r;
  const int64_t n = arguments[0].length;
  real *out = result(results, 0, ARRAY_REAL, n)->as.r;
  const int threads = threads_of() < MOST_THREADS ? threads_of() : MOST_THREADS;
  if (threads == 1) {
    run(a, b, 0, n, 0, out);
    return;
  }
  real factor[MOST_THREADS], sum[MOST_THREADS], before[MOST_THREADS];
#pragma omp parallel num_threads(threads)
  {
    const int t = thread_number();
    const int64_t first = n * t / threads, end = n * (t + 1) / threads;
    real f = 1, s = 0;
    for (int64_t i = first; i < end && t + 1 < threads; i++) {
      f *= a[i];
      s = a[i] * s + b[i];
    }
    factor[t] = f;
    sum[t] = s;
#pragma omp barrier
#pragma omp single
    {
      before[0] = 0;
      for (int k = 1; k < threads; k++) before[k] = factor[k - 1] * before[k - 1] + sum[k - 1];
    }
    run(a, b, first, end, before[t], out);
  }
}
