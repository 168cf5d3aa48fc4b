/* forward-difference.c - from each element to the next. */
#include "streaming.h"

void baseline(const struct array *arguments, struct array *results) {
  const real *x = arguments[0].as.r;
  const int64_t n = arguments[0].length - 1;
  real *d = result(results, 0, ARRAY_REAL, n)->as.r;
#pragma omp parallel for
  for (int64_t at = 0; at < n; at += BLOCK) {
    struct block block;
    real *restrict out = block_begin(&block, d, sizeof *d, n, at);
    /* vector: real */
    for (int64_t k = 0; k < block.count; k++) out[k] = x[at + k + 1] - x[at + k];
    block_end(&block);
  }
}
