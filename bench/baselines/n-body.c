/* n-body.c - all pairs: the bodies that are pulled in parallel, those that pull in the vector
 * loop. Their four arrays stay in the second-level cache. */
#include "baseline.h"

#if FLOAT_BITS == 32
#define SQRT __builtin_sqrtf
#else
#define SQRT __builtin_sqrt
#endif

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const real *x = arguments[0].as.r, *y = arguments[1].as.r, *z = arguments[2].as.r;
  const real *mass = arguments[3].as.r;
  real *ax = result(results, 0, ARRAY_REAL, n)->as.r;
  real *ay = result(results, 1, ARRAY_REAL, n)->as.r;
  real *az = result(results, 2, ARRAY_REAL, n)->as.r;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    const real px = x[i], py = y[i], pz = z[i];
    real fx = 0, fy = 0, fz = 0;
    /* vector: real */
#pragma omp simd reduction(+ : fx, fy, fz)
    for (int64_t j = 0; j < n; j++) {
      const real dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
      const real r2 = dx * dx + dy * dy + dz * dz + (real)1e-4;
      const real k = mass[j] / (r2 * SQRT(r2));
      fx += k * dx;
      fy += k * dy;
      fz += k * dz;
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
  }
}
