/* connected-components.c - a forest of vertices in which each points to a lesser one, roots to
 * themselves; an edge joins two trees by the greater root. Threads share the edges and change
 * roots by compare and swap (Jayanti and Tarjan, 2016); the least vertex of a component is its
 * root whatever the order. */
/* scalar: pointers are followed to roots at random positions */
#include "baseline.h"

static integer get(const integer *parent, integer v) {
  return __atomic_load_n(&parent[v], __ATOMIC_RELAXED);
}

/* The root of v; every second pointer on the way is made to skip one. A pointer that another
 * thread changed meanwhile is as good, since all go down. */
static integer find(integer *parent, integer v) {
  for (;;) {
    const integer p = get(parent, v), q = get(parent, p);
    if (p == q) return p;
    __atomic_store_n(&parent[v], q, __ATOMIC_RELAXED);
    v = q;
  }
}

static void join(integer *parent, integer u, integer v) {
  for (;;) {
    u = find(parent, u), v = find(parent, v);
    if (u == v) return;
    const integer low = u < v ? u : v, high = u < v ? v : u;
#ifdef _OPENMP
    integer root = high;
    if (__atomic_compare_exchange_n(&parent[high], &root, low, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return;
#else
    parent[high] = low;
    return;
#endif
  }
}

void baseline(const struct array *arguments, struct array *results) {
  enum { AHEAD = 16 };
  const int64_t n = arguments[0].as.i[0], m = arguments[1].length;
  const integer *us = arguments[1].as.i, *vs = arguments[2].as.i;
  integer *parent = result(results, 0, ARRAY_INTEGER, n)->as.i;
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) parent[v] = (integer)v;
#pragma omp parallel for schedule(static)
  for (int64_t e = 0; e < m; e++) {
    if (e + AHEAD < m) {
      __builtin_prefetch(&parent[us[e + AHEAD]], 1);
      __builtin_prefetch(&parent[vs[e + AHEAD]], 1);
    }
    join(parent, us[e], vs[e]);
  }
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) parent[v] = find(parent, (integer)v);
}
