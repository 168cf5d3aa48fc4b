/* group-sums.c - the sum of the values of each group. */
/* scalar: two elements of a vector may belong to the same group */
#include "grouping.h"

#include <string.h>

static void add_apart(const real *v, const integer *groups, int64_t n, int64_t count,
                      real *sums) {
  const int threads = threads_of();
  real *own = scratch(0, sizeof *own * (size_t)(count * threads) + 1);
#pragma omp parallel
  {
    real *mine = own + count * thread_number();
    memset(mine, 0, sizeof *mine * (size_t)count);
#pragma omp for
    for (int64_t i = 0; i < n; i++) mine[groups[i]] += v[i];
#pragma omp for
    for (int64_t k = 0; k < count; k++) {
      real sum = 0;
      for (int t = 0; t < threads; t++) sum += own[count * t + k];
      sums[k] = sum;
    }
  }
}

static void add_together(const real *v, const integer *groups, int64_t n, int64_t count,
                         real *sums) {
  memset(sums, 0, sizeof *sums * (size_t)count);
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
#pragma omp atomic
    sums[groups[i]] += v[i];
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length, count = arguments[2].as.i[0];
  real *sums = result(results, 0, ARRAY_REAL, count)->as.r;
  if (have_own(n, count)) {
    add_apart(arguments[0].as.r, arguments[1].as.i, n, count, sums);
  } else {
    add_together(arguments[0].as.r, arguments[1].as.i, n, count, sums);
  }
}
