/* moving-average.c - Spencer's 15-point moving average. */
#include "streaming.h"

void baseline(const struct array *arguments, struct array *results) {
  const real *x = arguments[0].as.r;
  const int64_t n = arguments[0].length - 14;
  real *average = result(results, 0, ARRAY_REAL, n)->as.r;
#pragma omp parallel for
  for (int64_t at = 0; at < n; at += BLOCK) {
    struct block block;
    real *restrict out = block_begin(&block, average, sizeof *average, n, at);
    /* vector: real */
    for (int64_t k = 0; k < block.count; k++) {
      const real *m = x + at + k + 7; /* in the middle */
      out[k] =
          (74 * m[0] + 67 * (m[-1] + m[1]) + 46 * (m[-2] + m[2]) + 21 * (m[-3] + m[3]) +
           3 * (m[-4] + m[4]) - 5 * (m[-5] + m[5]) - 6 * (m[-6] + m[6]) - 3 * (m[-7] + m[7])) *
          ((real)1 / 320);
    }
    block_end(&block);
  }
}
