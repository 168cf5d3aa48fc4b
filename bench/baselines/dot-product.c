/* dot-product.c - the sum of products, as every C programmer would write it. */
#include "baseline.h"

void baseline(const struct array *arguments, struct array *results) {
  const real *x = arguments[0].as.r, *y = arguments[1].as.r;
  const int64_t n = arguments[0].length;
  real sum = 0;
  /* vector: real */
#pragma omp parallel for simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
  result(results, 0, ARRAY_REAL, 1)->as.r[0] = sum;
}
