/* components.c - components of random graphs, beside the transitive closure. */
#include "ir/components.h"

#include <criterion/criterion.h>

enum { NODES = 9, EDGES = 14 };

static void components_check(const struct graph *g, const struct components *c,
                             bool from[NODES][NODES]) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < c->count; k++) {
    cr_assert_lt(c->first[k], c->first[k + 1]);
    for (; at < c->first[k + 1]; at++) cr_assert_eq(c->component[c->order[at]], k);
  }
  cr_assert_eq(at, g->count);
  for (uint32_t a = 0; a < g->count; a++) {
    cr_assert_eq(c->cyclic[a], from[a][a]);
    cr_assert_eq(c->reachable[a], a == 0 || from[0][a]);
    for (uint32_t b = 0; b < g->count; b++) {
      const bool together = a == b || (from[a][b] && from[b][a]);
      cr_assert_eq(c->component[a] == c->component[b], together, "%u %u", a, b);
      cr_assert(together || !from[a][b] || c->component[b] < c->component[a]);
    }
  }
}

Test(components, random_graphs) {
  struct heap heap;
  struct arena arena;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  uint32_t state = 7, several = 0;
  for (int round = 0; round < 3000; round++) {
    const uint32_t n = 1 + (uint32_t)round % NODES, edges = (uint32_t)round % (EDGES + 1);
    bool from[NODES][NODES] = {{false}};
    uint32_t ends[EDGES][2], first[NODES + 1], targets[EDGES + 1], count = 0;
    for (uint32_t e = 0; e < edges; e++) {
      for (int i = 0; i < 2; i++) {
        state = state * 1664525 + 1013904223;
        ends[e][i] = (state >> 12) % n;
      }
      from[ends[e][0]][ends[e][1]] = true;
    }
    for (uint32_t a = 0; a < n; a++) {
      first[a] = count;
      for (uint32_t e = 0; e < edges; e++) {
        if (ends[e][0] == a) targets[count++] = ends[e][1];
      }
    }
    first[n] = count;
    for (uint32_t k = 0; k < n; k++) {
      for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) from[a][b] |= from[a][k] && from[k][b];
      }
    }
    const struct graph g = {n, first, targets};
    const struct components c = components_make(&arena, &g, 0);
    components_check(&g, &c, from);
    several += c.count > 1 && c.count < n;
    arena_free(&arena);
  }
  cr_expect_gt(several, 300);
  cr_expect_eq(heap.live, 0);
}
