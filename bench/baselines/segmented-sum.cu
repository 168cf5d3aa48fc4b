// segmented-sum.cu - sums of rows, tiles of equal work.
#include "row-sums.h"

struct element {
  const real *values;
  __device__ real operator()(int64_t k) const { return values[k]; }
};

extern "C" void baseline(const struct array *arguments, struct array *results) {
  real *sums = result(results, 0, ARRAY_REAL, arguments[1].length)->as.r;
  sum_rows(element{arguments[0].as.r}, &arguments[1], arguments[0].length, sums);
}
