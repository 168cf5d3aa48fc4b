/* k-means.c - Lloyd's: the nearest centre of each point, for a block of points at once, so that
 * they share vectors; and sums by centre, each thread its own. */
#include "baseline.h"

#include <math.h>

enum { BLOCK = 256, MOST = 256 };

/* For points that begin here, the number of the nearest centre. */
static void nearest(const real *restrict xs, const real *restrict ys, int64_t count, int k,
                    const real *cx, const real *cy, integer *restrict labels) {
  real best[BLOCK];
  for (int64_t i = 0; i < count; i++) best[i] = (real)INFINITY;
  for (int c = 0; c < k; c++) {
    /* vector: real */
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
      const real dx = xs[i] - cx[c], dy = ys[i] - cy[c], d = dx * dx + dy * dy;
      labels[i] = d < best[i] ? c : labels[i];
      best[i] = d < best[i] ? d : best[i];
    }
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const int k = (int)arguments[2].length;
  const real *xs = arguments[0].as.r, *ys = arguments[1].as.r;
  real *cx = result(results, 0, ARRAY_REAL, k)->as.r;
  real *cy = result(results, 1, ARRAY_REAL, k)->as.r;
  integer *labels = result(results, 2, ARRAY_INTEGER, n)->as.i;
  for (int c = 0; c < k; c++) cx[c] = arguments[2].as.r[c], cy[c] = arguments[3].as.r[c];
  const integer steps = arguments[4].as.i[0];
  for (integer step = 0; step <= steps; step++) {
    real sx[MOST] = {0}, sy[MOST] = {0}, sn[MOST] = {0};
#pragma omp parallel for schedule(static) reduction(+ : sx[:k], sy[:k], sn[:k])
    for (int64_t i = 0; i < n; i += BLOCK) {
      const int64_t count = n - i < BLOCK ? n - i : BLOCK;
      nearest(xs + i, ys + i, count, k, cx, cy, labels + i);
      if (step == steps) continue;
      for (int64_t j = i; j < i + count; j++) {
        sx[labels[j]] += xs[j];
        sy[labels[j]] += ys[j];
        sn[labels[j]] += 1;
      }
    }
    for (int c = 0; c < k; c++) {
      if (sn[c] > 0) cx[c] = sx[c] / sn[c], cy[c] = sy[c] / sn[c];
    }
  }
}
