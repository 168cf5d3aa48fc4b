/* tree-sums.c - from the leaves upwards: who adds its sum to a parent as its last child goes on
 * with the parent. Threads share the leaves. */
/* scalar: each step waits for the parent of the one before */
#include "grouping.h"

struct forest {
  const integer *parents;
  integer *sums;
  int32_t *missing; /* children that have not added their sums yet */
};

static void count_children(const struct forest *f, int64_t n) {
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) f->missing[v] = 0;
  if (threads_of() == 1) {
    for (int64_t v = 0; v < n; v++) f->missing[f->parents[v]] += f->parents[v] != v;
    return;
  }
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) {
    if (f->parents[v] != v) __atomic_fetch_add(&f->missing[f->parents[v]], 1, __ATOMIC_RELAXED);
  }
}

static void climb(const struct forest *f, int64_t v) {
  for (int64_t p = f->parents[v]; p != v; v = p, p = f->parents[v]) {
    f->sums[p] += f->sums[v];
    if (--f->missing[p] > 0) return;
  }
}

#ifdef _OPENMP
static void climb_beside_others(const struct forest *f, int64_t v) {
  for (int64_t p = f->parents[v]; p != v; v = p, p = f->parents[v]) {
    __atomic_fetch_add(&f->sums[p], __atomic_load_n(&f->sums[v], __ATOMIC_RELAXED),
                       __ATOMIC_RELAXED);
    if (__atomic_fetch_sub(&f->missing[p], 1, __ATOMIC_ACQ_REL) > 1) return;
  }
}
#else
#define climb_beside_others climb
#endif

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const struct forest f = {arguments[0].as.i, result(results, 0, ARRAY_INTEGER, n)->as.i,
                           scratch(0, (size_t)n * sizeof *f.missing)};
  uint8_t *const leaf = scratch(1, (size_t)n);
  count_children(&f, n);
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) {
    f.sums[v] = arguments[1].as.i[v];
    leaf[v] = f.missing[v] == 0;
  }
  if (threads_of() == 1) {
    for (int64_t v = 0; v < n; v++) {
      if (leaf[v]) climb(&f, v);
    }
    return;
  }
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t v = 0; v < n; v++) {
    if (leaf[v]) climb_beside_others(&f, v);
  }
}
