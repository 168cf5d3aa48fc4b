/* independent-set.c - vertices in their order: one that is not out is taken, and its neighbours
 * are out. Threads share the vertices that are left, in order; one that has an undecided
 * neighbour before it waits for the next round. That is seldom, since threads are in the same
 * region of the order. Whoever comes when, the result is the same (Blelloch, Fineman and Shun,
 * 2012). */
/* scalar: states of neighbours are looked up and changed one by one */
#include "csr.h"
#include "grouping.h"

enum { BLOCK = 1024, AHEAD = 16 };
enum state { UNDECIDED, TAKEN, OUT };

struct graph {
  const int64_t *offsets;
  const integer *ends, *rank;
  uint8_t *states;
};

static enum state state_of(const struct graph *g, integer v) {
  return (enum state)__atomic_load_n(&g->states[v], __ATOMIC_RELAXED);
}

static void set_state(const struct graph *g, integer v, enum state s) {
  __atomic_store_n(&g->states[v], (uint8_t)s, __ATOMIC_RELAXED);
}

/* What a vertex may become that is not out: for one thread, all before it are decided. */
static enum state decision(const struct graph *g, integer v) {
  enum state found = TAKEN;
  if (threads_of() == 1) return TAKEN;
  for (int64_t k = g->offsets[v]; k < g->offsets[v + 1]; k++) {
    const integer w = g->ends[k];
    const enum state s = state_of(g, w);
    if (s == OUT || g->rank[w] > g->rank[v]) continue;
    if (s == TAKEN) return OUT;
    found = UNDECIDED;
  }
  return found;
}

/* Whether it is decided. */
static bool decide(const struct graph *g, integer v) {
  if (state_of(g, v) == OUT) return true;
  const enum state s = decision(g, v);
  if (s == UNDECIDED) return false;
  set_state(g, v, s);
  for (int64_t k = g->offsets[v]; s == TAKEN && k < g->offsets[v + 1]; k++)
    set_state(g, g->ends[k], OUT);
  return true;
}

static void ask_for(const struct graph *g, const integer *live) {
  __builtin_prefetch(&g->states[live[AHEAD]], 1);
  __builtin_prefetch(&g->offsets[live[AHEAD]]);
  if (state_of(g, live[AHEAD / 2]) == UNDECIDED)
    __builtin_prefetch(&g->ends[g->offsets[live[AHEAD / 2]]]);
}

/* Decides what it can of `live`, in order, and leaves there what it cannot. */
static int64_t round_of(const struct graph *g, integer *live, int64_t n, int64_t *left) {
  const int64_t blocks = (n + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(dynamic)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t kept = b * BLOCK;
    for (int64_t k = b * BLOCK; k < n && k < (b + 1) * BLOCK; k++) {
      if (k + AHEAD < n) ask_for(g, live + k);
      if (!decide(g, live[k])) live[kept++] = live[k];
    }
    left[b] = kept - b * BLOCK;
  }
  int64_t all = 0;
  for (int64_t b = 0; b < blocks; b++) {
    for (int64_t k = 0; k < left[b]; k++) live[all++] = live[b * BLOCK + k];
  }
  return all;
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const integer *const order = arguments[2].as.i;
  int64_t *const offsets = scratch(0, ((size_t)n + 1) * sizeof *offsets);
  integer *const rank = scratch(1, (size_t)n * sizeof *rank);
  integer *const live = scratch(2, (size_t)n * sizeof *live);
  int64_t *const left = scratch(3, ((size_t)n / BLOCK + 1) * sizeof *left);
  uint8_t *const states = result(results, 0, ARRAY_BOOL, n)->as.b;
  offsets_of(arguments[0].as.i, n, offsets);
#pragma omp parallel for
  for (int64_t k = 0; k < n; k++) {
    rank[order[k]] = (integer)k;
    live[k] = order[k];
    states[k] = UNDECIDED;
  }
  const struct graph g = {offsets, arguments[1].as.i, rank, states};
  for (int64_t m = n; m > 0;) m = round_of(&g, live, m, left);
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) states[v] = states[v] == TAKEN;
}
