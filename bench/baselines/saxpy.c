/* saxpy.c - a x + y into a new vector. */
#include "streaming.h"

void baseline(const struct array *arguments, struct array *results) {
  const real a = arguments[0].as.r[0];
  const real *x = arguments[1].as.r, *y = arguments[2].as.r;
  const int64_t n = arguments[1].length;
  real *z = result(results, 0, ARRAY_REAL, n)->as.r;
#pragma omp parallel for
  for (int64_t at = 0; at < n; at += BLOCK) {
    struct block block;
    real *restrict out = block_begin(&block, z, sizeof *z, n, at);
    /* vector: real */
#pragma omp simd
    for (int64_t k = 0; k < block.count; k++) out[k] = a * x[at + k] + y[at + k];
    block_end(&block);
  }
}
