/* matching.c - edges in their order: one is taken if none of its ends has an edge. Threads
 * share a portion of the edges: each reserves both of its ends for itself, unless an edge
 * before it has done so, and is taken if it has kept both. What is left goes to the next
 * portion (deterministic reservations; Blelloch, Fineman, Gibbons and Shun, 2012). One
 * thread takes one after the other. */
/* scalar: the ends of edges are at random positions */
#include "grouping.h"

enum { AHEAD = 16 };
#define INTEGER_MAX ((integer)(((uint64_t)1 << (8 * sizeof(integer) - 1)) - 1))

struct search {
  const integer *us, *vs;
  integer *mates, *claims; /* claims: INTEGER_MAX where there is none */
};

static inline void ask_for(const struct search *s, integer e) {
  __builtin_prefetch(&s->mates[s->us[e]], 1);
  __builtin_prefetch(&s->mates[s->vs[e]], 1);
}

static void match_one_by_one(const struct search *s, int64_t m) {
  for (int64_t e = 0; e < m; e++) {
    if (e + AHEAD < m) ask_for(s, (integer)(e + AHEAD));
    const integer u = s->us[e], v = s->vs[e];
    if (u != v && s->mates[u] < 0 && s->mates[v] < 0) s->mates[u] = s->mates[v] = (integer)e;
  }
}

#ifdef _OPENMP
enum { BLOCK = 1024, LEAST = 4 * BLOCK, MOST = 128 * BLOCK };

static void claim(integer *at, integer e) {
  integer now = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (e < now &&
         !__atomic_compare_exchange_n(at, &now, e, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static bool free_ends(const struct search *s, integer e) {
  return s->us[e] != s->vs[e] && s->mates[s->us[e]] < 0 && s->mates[s->vs[e]] < 0;
}

/* Of edges[first .. end) those that are kept, moved to `first`; says how many. */
static int64_t reserved(const struct search *s, integer *edges, int64_t first, int64_t end) {
  int64_t kept = first;
  for (int64_t k = first; k < end; k++) {
    if (k + AHEAD < end) ask_for(s, edges[k + AHEAD]);
    if (!free_ends(s, edges[k])) continue;
    claim(&s->claims[s->us[edges[k]]], edges[k]);
    claim(&s->claims[s->vs[edges[k]]], edges[k]);
    edges[kept++] = edges[k];
  }
  return kept - first;
}

/* Takes those that have both ends, and gives up the ends of the others. */
static int64_t taken(const struct search *s, integer *edges, int64_t first, int64_t end) {
  int64_t kept = first;
  for (int64_t k = first; k < end; k++) {
    const integer e = edges[k], u = s->us[e], v = s->vs[e];
    const bool has_u = __atomic_load_n(&s->claims[u], __ATOMIC_RELAXED) == e;
    const bool has_v = __atomic_load_n(&s->claims[v], __ATOMIC_RELAXED) == e;
    if (has_u && has_v) {
      s->mates[u] = s->mates[v] = e;
      continue;
    }
    if (has_u) __atomic_store_n(&s->claims[u], INTEGER_MAX, __ATOMIC_RELAXED);
    if (has_v) __atomic_store_n(&s->claims[v], INTEGER_MAX, __ATOMIC_RELAXED);
    edges[kept++] = e;
  }
  return kept - first;
}

typedef int64_t in_block(const struct search *, integer *edges, int64_t first, int64_t end);

/* Executes a phase for the n edges in blocks, and lays what is left side by side. */
static int64_t in_blocks(in_block *phase, const struct search *s, integer *edges, int64_t n) {
  int64_t left[MOST / BLOCK];
  const int64_t blocks = (n + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks; b++)
    left[b] = phase(s, edges, b * BLOCK, b + 1 < blocks ? (b + 1) * BLOCK : n);
  int64_t all = 0;
  for (int64_t b = 0; b < blocks; b++) {
    for (int64_t k = 0; k < left[b]; k++) edges[all++] = edges[b * BLOCK + k];
  }
  return all;
}

/* A portion is small enough that few of its edges meet at a vertex. */
static void match(const struct search *s, int64_t n, int64_t m) {
  const int64_t wanted = n / 8, portion = wanted < LEAST  ? LEAST
                                          : wanted > MOST ? MOST
                                                          : wanted;
  integer *const edges = scratch(1, (size_t)portion * sizeof *edges);
  int64_t next = 0, count = 0;
  while (next < m || count > 0) {
    for (; count < portion && next < m; next++) edges[count++] = (integer)next;
    count = in_blocks(reserved, s, edges, count);
    count = in_blocks(taken, s, edges, count);
  }
}
#endif

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].as.i[0];
  const struct search s = {arguments[1].as.i, arguments[2].as.i,
                           result(results, 0, ARRAY_INTEGER, n)->as.i,
                           scratch(0, (size_t)n * sizeof(integer))};
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) {
    s.mates[v] = -1;
    s.claims[v] = INTEGER_MAX;
  }
#ifdef _OPENMP
  if (threads_of() > 1) {
    match(&s, n, arguments[1].length);
    return;
  }
#endif
  match_one_by_one(&s, arguments[1].length);
}
