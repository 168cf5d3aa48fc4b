/* quicksort.c - quicksort within one array. Partitioning has no branch that depends on the
 * keys, which would be mispredicted every other time (Lomuto's scheme as made branchless by A.
 * Alexandrescu, 2020); ranges of a few keys are sorted by insertion; large ones are tasks for
 * other threads. */
/* scalar: where an element goes depends on those before it */
#include "baseline.h"

#include <string.h>

enum { FEW = 24, TASK = 50000 };

static void insertion_sort(integer *v, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    const integer x = v[i];
    int64_t k = i;
    for (; k > 0 && v[k - 1] > x; k--) v[k] = v[k - 1];
    v[k] = x;
  }
}

static int64_t middle(const integer *v, int64_t a, int64_t b, int64_t c) {
  return v[a] < v[b] ? (v[b] < v[c]   ? b
                        : v[a] < v[c] ? c
                                      : a)
                     : (v[a] < v[c]   ? a
                        : v[b] < v[c] ? c
                                      : b);
}

static int64_t choose_pivot(const integer *v, int64_t n) {
  const int64_t step = n / 8;
  if (n < 200) return middle(v, 0, n / 2, n - 1);
  return middle(v, middle(v, 0, step, 2 * step), middle(v, 3 * step, 4 * step, 5 * step),
                middle(v, 6 * step, 7 * step, n - 1));
}

/* Moves what is below the pivot to the front, or with `equal` what is not above it; how many.
 */
static int64_t partition(integer *v, int64_t n, integer pivot, bool equal) {
  int64_t below = 0;
  for (int64_t i = 0; i < n; i++) {
    const integer x = v[i];
    v[i] = v[below];
    v[below] = x;
    below += equal ? x <= pivot : x < pivot;
  }
  return below;
}

static void quicksort(integer *v, int64_t n) {
  while (n > FEW) {
    const int64_t at = choose_pivot(v, n);
    const integer pivot = v[at];
    v[at] = v[n - 1];
    v[n - 1] = pivot;
    const int64_t below = partition(v, n - 1, pivot, false);
    v[n - 1] = v[below];
    v[below] = pivot;
    if (below < n / 8) { /* many may equal the pivot */
      const int64_t most = below + 1 + partition(v + below + 1, n - below - 1, pivot, true);
      quicksort(v, below);
      v += most;
      n -= most;
      continue;
    }
#ifdef _OPENMP
#pragma omp task if (n > TASK)
#endif
    quicksort(v, below);
    v += below + 1;
    n -= below + 1;
  }
  insertion_sort(v, n);
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  integer *const sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
  memcpy(sorted, arguments[0].as.i, (size_t)n * sizeof *sorted);
#ifdef _OPENMP
#pragma omp parallel
#pragma omp single
#endif
  quicksort(sorted, n);
}
