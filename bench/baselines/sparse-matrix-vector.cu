// sparse-matrix-vector.cu - compressed rows, tiles of equal work.
#include "row-sums.h"

struct product {
  const integer *columns;
  const real *values, *x;
  __device__ real operator()(int64_t k) const { return values[k] * x[columns[k]]; }
};

extern "C" void baseline(const struct array *arguments, struct array *results) {
  real *y = result(results, 0, ARRAY_REAL, arguments[0].length)->as.r;
  sum_rows(product{arguments[1].as.i, arguments[2].as.r, arguments[3].as.r}, &arguments[0],
           arguments[1].length, y);
}
