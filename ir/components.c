/* components.c - see components.h. */
#include "ir/components.h"

enum { UNSEEN = 0 };

struct visit {
  uint32_t node;
  uint32_t next; /* edge to look at */
};

struct search {
  const struct graph *graph;
  struct components *c;
  uint32_t *number; /* order of discovery from 1; UNSEEN */
  uint32_t *low;    /* least number known to be reached within the component */
  bool *open;       /* on `members`: its component is not complete */
  uint32_t *members;
  struct visit *visits; /* the path to the node that is being visited */
  uint32_t member_count, visit_count, seen, ordered;
};

static void enter_node(struct search *s, uint32_t node) {
  s->number[node] = s->low[node] = ++s->seen;
  s->open[node] = true;
  s->members[s->member_count++] = node;
  s->visits[s->visit_count++] = (struct visit){node, s->graph->first[node]};
}

/* Completes a component, which lies on top of `members`: the node was the first of it that was
 * discovered. */
static void complete_component(struct search *s, uint32_t node) {
  struct components *c = s->c;
  const uint32_t begin = s->ordered, number = c->count++;
  uint32_t member;
  do {
    member = s->members[--s->member_count];
    s->open[member] = false;
    c->component[member] = number;
    c->order[s->ordered++] = member;
  } while (member != node);
  c->first[number + 1] = s->ordered;
  if (s->ordered - begin == 1) return;
  for (uint32_t i = begin; i < s->ordered; i++) c->cyclic[c->order[i]] = true;
}

static void search_components(struct search *s, uint32_t root) {
  enter_node(s, root);
  while (s->visit_count > 0) {
    struct visit *v = &s->visits[s->visit_count - 1];
    const uint32_t node = v->node;
    if (v->next == s->graph->first[node + 1]) {
      s->visit_count--;
      if (s->low[node] == s->number[node]) complete_component(s, node);
      continue;
    }
    const uint32_t target = s->graph->targets[v->next];
    if (s->number[target] == UNSEEN) {
      enter_node(s, target); /* and looked at again afterwards, to take over what it found */
      continue;
    }
    v->next++;
    if (s->open[target] && s->low[target] < s->low[node]) s->low[node] = s->low[target];
    if (target == node) s->c->cyclic[node] = true;
  }
}

struct components components_make(struct arena *arena, const struct graph *graph,
                                  uint32_t root) {
  const size_t n = graph->count;
  struct components c = {.order = arena_alloc(arena, n * sizeof(uint32_t)),
                         .first = arena_alloc(arena, (n + 1) * sizeof(uint32_t)),
                         .component = arena_alloc(arena, n * sizeof(uint32_t)),
                         .cyclic = arena_alloc(arena, n),
                         .reachable = arena_alloc(arena, n)};
  struct search s = {.graph = graph,
                     .c = &c,
                     .number = arena_alloc(arena, n * sizeof(uint32_t)),
                     .low = arena_alloc(arena, n * sizeof(uint32_t)),
                     .open = arena_alloc(arena, n),
                     .members = arena_alloc(arena, n * sizeof(uint32_t)),
                     .visits = arena_alloc(arena, n * sizeof(struct visit))};
  search_components(&s, root);
  for (uint32_t i = 0; i < n; i++) c.reachable[i] = s.number[i] != UNSEEN;
  for (uint32_t i = 0; i < n; i++) {
    if (s.number[i] == UNSEEN) search_components(&s, i);
  }
  return c;
}

/* ---- links ---- */

struct spreading {
  struct components *c;
  uint32_t *waiting; /* nodes whose edges and links are to be followed */
  uint32_t count;
};

static void spread_to(struct spreading *s, uint32_t node) {
  if (s->c->reachable[node]) return;
  s->c->reachable[node] = true;
  s->waiting[s->count++] = node;
}

void components_reach(struct arena *arena, const struct graph *graph, struct components *c,
                      const uint32_t *links) {
  struct spreading s = {c, arena_alloc(arena, graph->count * sizeof(uint32_t)), 0};
  for (uint32_t i = 0; i < graph->count; i++) {
    if (c->reachable[i] && links[i] != COMPONENTS_NONE) s.waiting[s.count++] = i;
  }
  while (s.count > 0) {
    const uint32_t node = s.waiting[--s.count];
    for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++)
      spread_to(&s, graph->targets[e]);
    if (links[node] != COMPONENTS_NONE) spread_to(&s, links[node]);
  }
}
