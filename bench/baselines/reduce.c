/* reduce.c - the sum of words. */
/* flags: -fwrapv */
#include "baseline.h"

void baseline(const struct array *arguments, struct array *results) {
  const integer *x = arguments[0].as.i;
  const int64_t n = arguments[0].length;
  integer sum = 0;
  /* vector: integer */
#pragma omp parallel for simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += x[i];
  result(results, 0, ARRAY_INTEGER, 1)->as.i[0] = sum;
}
