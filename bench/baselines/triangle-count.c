/* triangle-count.c - every edge is kept at the end with fewer neighbours; a vertex marks those
 * that it keeps, and looks which of them they keep in turn. */
/* scalar: marks are looked up at random positions */
#include "csr.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static bool before(const integer *degrees, int64_t v, int64_t w) {
  return degrees[v] == degrees[w] ? v < w : degrees[v] < degrees[w];
}

void baseline(const struct array *arguments, struct array *results) {
  enum { PART = 256 };
  const int64_t n = arguments[0].length;
  const integer *degrees = arguments[0].as.i, *neighbours = arguments[1].as.i;
  int64_t *offsets = scratch(0, (size_t)(n + 1) * sizeof *offsets);
  int64_t *ends = scratch(1, (size_t)n * sizeof *ends);
  int32_t *kept = scratch(2, (size_t)arguments[1].length * sizeof *kept);
  offsets_of(degrees, n, offsets);
#pragma omp parallel for schedule(dynamic, PART)
  for (int64_t v = 0; v < n; v++) {
    int64_t end = offsets[v];
    for (int64_t e = offsets[v]; e < offsets[v + 1]; e++) {
      if (before(degrees, v, neighbours[e])) kept[end++] = (int32_t)neighbours[e];
    }
    ends[v] = end;
  }
  int64_t count = 0;
#ifdef _OPENMP
  uint8_t *all_marks = scratch(3, (size_t)(n + 64) * (size_t)omp_get_max_threads());
#else
  uint8_t *all_marks = scratch(3, (size_t)n);
#endif
#pragma omp parallel reduction(+ : count)
  {
#ifdef _OPENMP
    uint8_t *marks = all_marks + (size_t)omp_get_thread_num() * (size_t)(n + 64);
#else
    uint8_t *marks = all_marks;
#endif
    for (int64_t v = 0; v < n; v++) marks[v] = 0;
#pragma omp for schedule(dynamic, PART)
    for (int64_t v = 0; v < n; v++) {
      for (int64_t e = offsets[v]; e < ends[v]; e++) marks[kept[e]] = 1;
      for (int64_t e = offsets[v]; e < ends[v]; e++) {
        const int64_t w = kept[e];
        for (int64_t d = offsets[w]; d < ends[w]; d++) count += marks[kept[d]];
      }
      for (int64_t e = offsets[v]; e < ends[v]; e++) marks[kept[e]] = 0;
    }
  }
  result(results, 0, ARRAY_INTEGER, 1)->as.i[0] = (integer)count;
}
