/* minimum-spanning-tree.c - Boruvka's: each vertex takes its lightest edge, trees become the
 * vertices of a smaller graph. Threads share the edges; the lightest edge of a vertex is found
 * by compare and swap. What lies within a tree is dropped in every round. */
#include "baseline.h"

struct edge {
  real weight;
  int64_t u, v, name;
};

/* The lightest edge of v becomes e, if it is lighter. */
static void offer(int64_t *lightest, const struct edge *edges, int64_t v, int64_t e) {
  int64_t old = __atomic_load_n(&lightest[v], __ATOMIC_RELAXED);
  while (old < 0 || edges[e].weight < edges[old].weight) {
#ifdef _OPENMP
    if (__atomic_compare_exchange_n(&lightest[v], &old, e, true, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return;
#else
    lightest[v] = e;
    return;
#endif
  }
}

/* Each vertex points to the other end of its lightest edge, of two that point to each other the
 * lesser one to itself; then to the root of its tree. */
static void point(int64_t n, const struct edge *edges, const int64_t *lightest,
                  int64_t *pointers) {
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) {
    const int64_t e = lightest[v];
    const int64_t w = e < 0 ? v : edges[e].u + edges[e].v - v;
    pointers[v] = e >= 0 && lightest[w] == e && v < w ? v : w;
  }
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) {
    int64_t root = __atomic_load_n(&pointers[v], __ATOMIC_RELAXED);
    for (int64_t p; (p = __atomic_load_n(&pointers[root], __ATOMIC_RELAXED)) != root;) root = p;
    __atomic_store_n(&pointers[v], root, __ATOMIC_RELAXED);
  }
}

/* Edges between different trees, in blocks of which each counts its own first. */
static int64_t contract(struct edge *from, int64_t m, const int64_t *root,
                        const int64_t *number, struct edge *to) {
  enum { BLOCKS = 64 };
  int64_t before[BLOCKS + 1] = {0};
  const int64_t block = m / BLOCKS + 1;
#pragma omp parallel for
  for (int b = 0; b < BLOCKS; b++) {
    int64_t count = 0;
    for (int64_t e = b * block; e < m && e < (b + 1) * block; e++) {
      from[e].u = root[from[e].u];
      from[e].v = root[from[e].v];
      count += from[e].u != from[e].v;
    }
    before[b + 1] = count;
  }
  for (int b = 0; b < BLOCKS; b++) before[b + 1] += before[b];
#pragma omp parallel for
  for (int b = 0; b < BLOCKS; b++) {
    int64_t at = before[b];
    for (int64_t e = b * block; e < m && e < (b + 1) * block; e++) {
      if (from[e].u == from[e].v) continue;
      to[at++] = (struct edge){.weight = from[e].weight,
                               .u = number[from[e].u],
                               .v = number[from[e].v],
                               .name = from[e].name};
    }
  }
  return before[BLOCKS];
}

void baseline(const struct array *arguments, struct array *results) {
  int64_t n = arguments[0].as.i[0], m = arguments[1].length;
  const int64_t all = m;
  const real *weights = arguments[3].as.r;
  struct edge *edges = scratch(0, (size_t)m * sizeof *edges);
  struct edge *fewer = scratch(1, (size_t)m * sizeof *edges);
  int64_t *lightest = scratch(2, (size_t)n * sizeof *lightest);
  int64_t *pointers = scratch(3, (size_t)n * sizeof *pointers);
  int64_t *number = scratch(4, (size_t)n * sizeof *number);
  real *total = result(results, 0, ARRAY_REAL, 1)->as.r;
  uint8_t *chosen = result(results, 1, ARRAY_BOOL, m)->as.b;
#pragma omp parallel for
  for (int64_t e = 0; e < m; e++) {
    edges[e] = (struct edge){weights[e], arguments[1].as.i[e], arguments[2].as.i[e], e};
    chosen[e] = 0;
  }
  while (m > 0) {
#pragma omp parallel for
    for (int64_t v = 0; v < n; v++) lightest[v] = -1;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < m; e++) {
      if (edges[e].u == edges[e].v) continue;
      offer(lightest, edges, edges[e].u, e);
      offer(lightest, edges, edges[e].v, e);
    }
    point(n, edges, lightest, pointers);
    int64_t roots = 0;
    for (int64_t v = 0; v < n; v++) {
      if (lightest[v] >= 0) chosen[edges[lightest[v]].name] = 1;
      number[v] = roots;
      roots += pointers[v] == v;
    }
    m = contract(edges, m, pointers, number, fewer);
    n = roots;
    struct edge *other = edges;
    edges = fewer;
    fewer = other;
  }
  real sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t e = 0; e < all; e++) {
    if (chosen[e]) sum += weights[e];
  }
  *total = sum;
}
