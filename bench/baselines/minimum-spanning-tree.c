/* minimum-spanning-tree.c - Kruskal's: edges in ascending order (radix.h), each that joins two
 * trees. Edges are taken in portions: threads share the search for those that still join two
 * trees, as soon as few do; the joining is one thread's. (After the filter-Kruskal of Osipov,
 * Sanders and Singler, 2009.) */
/* scalar: edges join trees one after the other; the sort scatters */
#include "radix.h"

/* Vertices fit into 32 bits: an edge is moved several times. */
struct edge {
  real weight;
  int32_t u, v;
  int64_t name;
};

static inline uint64_t weight_key(struct edge e) {
  return radix_real_key(e.weight);
}

RADIX_SORT(sort_edges, struct edge, weight_key)

static struct edge *sorted_edges(const struct array *arguments, int64_t m) {
  struct edge *edges = scratch(0, (size_t)m * sizeof *edges);
  struct edge *other = scratch(1, (size_t)m * sizeof *edges);
  uint64_t least = UINT64_MAX, most = 0;
#pragma omp parallel for reduction(min : least) reduction(max : most)
  for (int64_t e = 0; e < m; e++) {
    edges[e] = (struct edge){arguments[3].as.r[e], (int32_t)arguments[1].as.i[e],
                             (int32_t)arguments[2].as.i[e], e};
    const uint64_t key = weight_key(edges[e]);
    least = key < least ? key : least;
    most = key > most ? key : most;
  }
  const int bits = m > 0 ? radix_bits(most - least) : 0;
  sort_edges(edges, other, m, bits, least, radix_scratch(2));
  return edges;
}

/* The root of v; every second pointer on the way is made to skip one. */
static int32_t find(int32_t *parent, int32_t v) {
  for (;;) {
    const int32_t p = __atomic_load_n(&parent[v], __ATOMIC_RELAXED);
    const int32_t q = __atomic_load_n(&parent[p], __ATOMIC_RELAXED);
    if (p == q) return p;
    __atomic_store_n(&parent[v], q, __ATOMIC_RELAXED);
    v = q;
  }
}

/* Edges that join two trees are chosen, one after the other. */
static real join(const struct edge *edges, int64_t m, int32_t *parent, uint8_t *chosen) {
  enum { AHEAD = 16 };
  real total = 0;
  for (int64_t e = 0; e < m; e++) {
    if (e + AHEAD < m) {
      __builtin_prefetch(&parent[edges[e + AHEAD].u], 1);
      __builtin_prefetch(&parent[edges[e + AHEAD].v], 1);
    }
    const int32_t u = find(parent, edges[e].u), v = find(parent, edges[e].v);
    if (u == v) continue;
    parent[u > v ? u : v] = u > v ? v : u;
    chosen[edges[e].name] = 1;
    total += edges[e].weight;
  }
  return total;
}

#ifdef _OPENMP
/* Leaves those that join two trees, in order; says how many. */
static int64_t filter(struct edge *edges, int64_t m, int32_t *parent) {
  enum { BLOCKS = 64 };
  int64_t kept[BLOCKS];
  const int64_t block = m / BLOCKS + 1;
#pragma omp parallel for schedule(dynamic)
  for (int b = 0; b < BLOCKS; b++) {
    int64_t count = 0;
    for (int64_t e = b * block; e < m && e < (b + 1) * block; e++) {
      if (find(parent, edges[e].u) == find(parent, edges[e].v)) continue;
      edges[b * block + count++] = edges[e];
    }
    kept[b] = count;
  }
  int64_t all = 0;
  for (int b = 0; b < BLOCKS; b++) {
    for (int64_t e = 0; e < kept[b]; e++) edges[all++] = edges[b * block + e];
  }
  return all;
}
#endif

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].as.i[0], m = arguments[1].length;
  int32_t *parent = scratch(3, (size_t)n * sizeof *parent);
  uint8_t *chosen = result(results, 1, ARRAY_BOOL, m)->as.b;
  struct edge *edges = sorted_edges(arguments, m);
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) parent[v] = (int32_t)v;
#pragma omp parallel for
  for (int64_t e = 0; e < m; e++) chosen[e] = 0;
  real total = 0;
#ifdef _OPENMP
  /* Of the first n/2 edges most are chosen. */
  for (int64_t done = 0, portion = n / 2 + 1; done < m; done += portion) {
    int64_t count = m - done < portion ? m - done : portion;
    if (done > 0) count = filter(edges + done, count, parent);
    total += join(edges + done, count, parent, chosen);
  }
#else
  total = join(edges, m, parent, chosen);
#endif
  result(results, 0, ARRAY_REAL, 1)->as.r[0] = total;
}
