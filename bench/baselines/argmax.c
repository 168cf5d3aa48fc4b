/* argmax.c - the greatest value and its first position: the value in vectors, then where it is.
 */
#include "baseline.h"

#include <math.h>

void baseline(const struct array *arguments, struct array *results) {
  const real *v = arguments[0].as.r;
  const int64_t n = arguments[0].length;
  real most = -(real)INFINITY;
  int64_t at = n;
  /* vector: real */
#pragma omp parallel for simd reduction(max : most)
  for (int64_t i = 0; i < n; i++) most = v[i] > most ? v[i] : most;
    /* vector: real */
#pragma omp parallel for simd reduction(min : at)
  for (int64_t i = 0; i < n; i++) at = v[i] == most && i < at ? i : at;
  result(results, 0, ARRAY_REAL, 1)->as.r[0] = n > 0 ? most : 0;
  result(results, 1, ARRAY_INTEGER, 1)->as.i[0] = n > 0 ? (integer)at : -1;
}
