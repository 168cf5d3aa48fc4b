/* mandelbrot.c - the steps after which points leave: so many points at once as vectors hold,
 * until all of them have left. */
#include "baseline.h"

enum { LANES = 32 };

/* Of points (cx[k], cy). */
static void escape(const real *restrict cx, real cy, int64_t most, integer *restrict steps) {
  real x[LANES] = {0}, y[LANES] = {0}, count[LANES] = {0};
  for (int64_t n = 0; n < most; n++) {
    real inside = 0;
    /* vector: real */
#pragma omp simd reduction(+ : inside)
    for (int k = 0; k < LANES; k++) {
      const real xx = x[k] * x[k], yy = y[k] * y[k], xy = 2 * x[k] * y[k];
      const real one = xx + yy > 4 ? 0 : 1;
      count[k] += one;
      inside += one;
      /* A point that has left stays where it is. */
      x[k] = one != 0 ? xx - yy + cx[k] : x[k];
      y[k] = one != 0 ? xy + cy : y[k];
    }
    if (inside == 0) break;
  }
  for (int k = 0; k < LANES; k++) steps[k] = (integer)count[k];
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t rows = arguments[0].as.i[0], columns = arguments[1].as.i[0];
  const int64_t most = arguments[2].as.i[0];
  integer *steps = result(results, 0, ARRAY_INTEGER, rows * columns)->as.i;
#pragma omp parallel for schedule(dynamic)
  for (int64_t i = 0; i < rows; i++) {
    const real cy = 2 * (real)i / (real)rows - 1;
    for (int64_t j = 0; j < columns; j += LANES) {
      const int64_t count = columns - j < LANES ? columns - j : LANES;
      real cx[LANES];
      integer of_lanes[LANES];
      for (int64_t k = 0; k < LANES; k++) cx[k] = 3 * (real)(j + k) / (real)columns - (real)2.2;
      escape(cx, cy, most, of_lanes);
      for (int64_t k = 0; k < count; k++) steps[i * columns + j + k] = of_lanes[k];
    }
  }
}
