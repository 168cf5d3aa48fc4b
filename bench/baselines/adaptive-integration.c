/* adaptive-integration.c - Simpson's rule by recursion, each half of an interval with the three
 * values that are known of it. For several threads, intervals are refined level by level until
 * there are many, and those then shared out. */
/* scalar: which interval is halved next depends on this one; `sin` is a call */
#include "baseline.h"

#include <math.h>

enum { MANY = 2000 };

struct interval {
  real x, h; /* left end, half the width */
  real left, middle, right;
};

static real integrand(real x) {
  return (real)sin((double)(1 / x));
}

static real simpson(real width, real left, real middle, real right) {
  return width / 6 * (left + 4 * middle + right);
}

/* Whether the integral is known well enough; else the halves are what remains to be done. */
static bool refine(struct interval v, real tolerance, real *integral,
                   struct interval halves[2]) {
  const real a = integrand(v.x + v.h / 2), b = integrand(v.x + 3 * v.h / 2);
  const real sum = simpson(v.h, v.left, a, v.middle) + simpson(v.h, v.middle, b, v.right);
  const real error = (sum - simpson(2 * v.h, v.left, v.middle, v.right)) / 15;
  halves[0] = (struct interval){v.x, v.h / 2, v.left, a, v.middle};
  halves[1] = (struct interval){v.x + v.h, v.h / 2, v.middle, b, v.right};
  *integral = sum + error;
  return (real)fabs((double)error) <= tolerance * v.h;
}

static real integrate(struct interval v, real tolerance) {
  real integral;
  struct interval halves[2];
  if (refine(v, tolerance, &integral, halves)) return integral;
  return integrate(halves[0], tolerance) + integrate(halves[1], tolerance);
}

void baseline(const struct array *arguments, struct array *results) {
  const real from = 1 / (real)arguments[0].as.i[0], h = (1 - from) / 2, tolerance = (real)1e-7;
  struct interval lists[2][2 * MANY];
  lists[0][0] = (struct interval){from, h, integrand(from), integrand(from + h), integrand(1)};
  int64_t count = 1;
  int now = 0;
  real sum = 0;
  while (count > 0 && count < MANY) {
    int64_t next = 0;
    for (int64_t k = 0; k < count; k++) {
      real integral;
      if (refine(lists[now][k], tolerance, &integral, &lists[!now][next])) {
        sum += integral;
      } else {
        next += 2;
      }
    }
    now = !now;
    count = next;
  }
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : sum)
  for (int64_t k = 0; k < count; k++) sum += integrate(lists[now][k], tolerance);
  result(results, 0, ARRAY_REAL, 1)->as.r[0] = sum;
}
