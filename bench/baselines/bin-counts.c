/* bin-counts.c - how often each number occurs. */
/* scalar: two elements of a vector may belong to the same bin */
#include "grouping.h"

#include <string.h>

static void count_apart(const integer *v, int64_t n, int64_t bins, integer *counts) {
  const int threads = threads_of();
  integer *own = scratch(0, sizeof *own * (size_t)(bins * threads) + 1);
#pragma omp parallel
  {
    integer *mine = own + bins * thread_number();
    memset(mine, 0, sizeof *mine * (size_t)bins);
#pragma omp for
    for (int64_t i = 0; i < n; i++) mine[v[i]]++;
#pragma omp for
    for (int64_t k = 0; k < bins; k++) {
      integer sum = 0;
      for (int t = 0; t < threads; t++) sum += own[bins * t + k];
      counts[k] = sum;
    }
  }
}

static void count_together(const integer *v, int64_t n, int64_t bins, integer *counts) {
  memset(counts, 0, sizeof *counts * (size_t)bins);
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
#pragma omp atomic
    counts[v[i]]++;
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length, bins = arguments[1].as.i[0];
  integer *counts = result(results, 0, ARRAY_INTEGER, bins)->as.i;
  if (have_own(n, bins)) {
    count_apart(arguments[0].as.i, n, bins, counts);
  } else {
    count_together(arguments[0].as.i, n, bins, counts);
  }
}
