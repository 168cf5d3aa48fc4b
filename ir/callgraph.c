/* callgraph.c - see callgraph.h. R. E. Tarjan, Depth-first search and linear graph
 * algorithms, 1972. */
#include "ir/callgraph.h"

enum { UNSEEN = 0 };

struct visit {
  uint32_t function;
  uint32_t next; /* instruction to look at */
};

struct search {
  struct arena *arena;
  const struct vcode_program *program;
  struct callgraph *graph;
  uint32_t *number; /* order of discovery from 1; UNSEEN */
  uint32_t *low;    /* least number known to be reached within the component */
  bool *open;       /* on `members`: its component is not complete */
  uint32_t *members;
  uint32_t member_count, seen, ordered;
  ARRAY(struct visit) visits;
};

static void enter(struct search *s, uint32_t function) {
  s->number[function] = s->low[function] = ++s->seen;
  s->open[function] = true;
  s->members[s->member_count++] = function;
  *array_push(s->arena, &s->visits) = (struct visit){function, 0};
}

/* All of f's component is on top of `members`: f is the first of it that was discovered. */
static void complete(struct search *s, uint32_t f) {
  struct callgraph *g = s->graph;
  uint32_t c = g->count++, member;
  g->first[c] = s->ordered;
  bool may_exit = false;
  do {
    member = s->members[--s->member_count];
    s->open[member] = false;
    g->component[member] = c;
    g->order[s->ordered++] = member;
    may_exit |= g->may_exit[member];
  } while (member != f);
  g->first[c + 1] = s->ordered;
  for (uint32_t i = g->first[c]; i < s->ordered; i++) {
    g->may_exit[g->order[i]] = may_exit;
    if (s->ordered - g->first[c] > 1) g->recursive[g->order[i]] = true;
  }
}

static void search_from(struct search *s, uint32_t root) {
  struct callgraph *g = s->graph;
  enter(s, root);
  while (s->visits.count > 0) {
    struct visit *v = &s->visits.items[s->visits.count - 1];
    uint32_t f = v->function;
    const struct vcode_function *function = &s->program->functions[f];
    bool descended = false;
    while (!descended && v->next < function->length) {
      const struct vcode_instruction *in = &function->code[v->next++];
      if (in->op == OPC_EXIT) g->may_exit[f] = true;
      if (in->op != OPC_CALL) continue;
      uint32_t callee = in->as.call.function;
      if (s->number[callee] == UNSEEN) {
        v->next--; /* look again afterwards, to take over what the callee found */
        enter(s, callee);
        descended = true;
      } else {
        if (s->open[callee] && s->low[callee] < s->low[f]) s->low[f] = s->low[callee];
        g->may_exit[f] |= g->may_exit[callee];
        if (callee == f) g->recursive[f] = true;
      }
    }
    if (descended) continue;
    s->visits.count--;
    if (s->low[f] == s->number[f]) complete(s, f);
  }
}

struct callgraph callgraph_make(struct arena *arena, const struct vcode_program *program) {
  size_t n = program->function_count;
  struct callgraph graph = {
      .order = arena_alloc(arena, n * sizeof(uint32_t)),
      .first = arena_alloc(arena, (n + 1) * sizeof(uint32_t)),
      .component = arena_alloc(arena, n * sizeof(uint32_t)),
      .recursive = arena_alloc(arena, n * sizeof(bool)),
      .reachable = arena_alloc(arena, n * sizeof(bool)),
      .may_exit = arena_alloc(arena, n * sizeof(bool)),
  };
  struct search s = {
      .arena = arena,
      .program = program,
      .graph = &graph,
      .number = arena_alloc(arena, n * sizeof(uint32_t)),
      .low = arena_alloc(arena, n * sizeof(uint32_t)),
      .open = arena_alloc(arena, n * sizeof(bool)),
      .members = arena_alloc(arena, n * sizeof(uint32_t)),
  };
  search_from(&s, program->entry);
  for (uint32_t f = 0; f < n; f++) graph.reachable[f] = s.number[f] != UNSEEN;
  for (uint32_t f = 0; f < n; f++) {
    if (s.number[f] == UNSEEN) search_from(&s, f);
  }
  return graph;
}
