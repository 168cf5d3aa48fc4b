/* jacobi.c - Jacobi's iteration on a grid of rows, in turn from one of two grids to the other.
 */
#include "baseline.h"

#include <string.h>

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length, columns = arguments[2].as.i[0], rows = n / columns;
  const int64_t count = arguments[3].as.i[0];
  const real *source = arguments[1].as.r, *from = arguments[0].as.r;
  real *grids[2] = {result(results, 0, ARRAY_REAL, n)->as.r,
                    scratch(0, (size_t)n * sizeof(real))};
  if (count == 0 || rows < 3) memcpy(grids[0], from, (size_t)n * sizeof(real));
  for (int64_t sweep = count; sweep > 0 && rows >= 3; sweep--) {
    real *to = grids[(sweep - 1) % 2];
    memcpy(to, from, (size_t)columns * sizeof(real));
    memcpy(to + n - columns, from + n - columns, (size_t)columns * sizeof(real));
#pragma omp parallel for
    for (int64_t i = 1; i < rows - 1; i++) {
      const real *restrict u = from + i * columns, *restrict s = source + i * columns;
      real *restrict v = to + i * columns;
      v[0] = u[0];
      /* vector: real */
#pragma omp simd
      for (int64_t j = 1; j < columns - 1; j++)
        v[j] = (real)0.25 * (u[j - columns] + u[j + columns] + u[j - 1] + u[j + 1] - s[j]);
      v[columns - 1] = u[columns - 1];
    }
    from = to;
  }
}
