/* callgraph.c - see callgraph.h. */
#include "ir/callgraph.h"
#include "ir/components.h"

/* Collects all CALLs of a program, and the functions that exit by themselves. */
static struct graph find_all_calls(struct arena *arena, const struct vcode_program *program,
                                   bool *exits) {
  const uint32_t n = program->function_count;
  uint32_t *first = arena_alloc(arena, ((size_t)n + 1) * sizeof *first);
  ARRAY(uint32_t) callees = {0};
  for (uint32_t f = 0; f < n; f++) {
    const struct vcode_function *function = &program->functions[f];
    first[f] = (uint32_t)callees.count;
    for (uint32_t i = 0; i < function->length; i++) {
      const struct vcode_instruction *in = &function->code[i];
      if (in->op == OPC_EXIT) exits[f] = true;
      if (in->op == OPC_CALL) *array_push(arena, &callees) = in->as.call.function;
    }
  }
  first[n] = (uint32_t)callees.count;
  return (struct graph){n, first, callees.items};
}

/* Marks functions that may exit: those in whose component a function exits, or that call such a
 * function. Callees come first. */
static void spread_exits(const struct graph *calls, struct callgraph *g) {
  for (uint32_t c = 0; c < g->count; c++) {
    bool may_exit = false;
    for (uint32_t i = g->first[c]; i < g->first[c + 1]; i++) {
      const uint32_t f = g->order[i];
      may_exit |= g->may_exit[f];
      for (uint32_t k = calls->first[f]; k < calls->first[f + 1]; k++)
        may_exit |= g->may_exit[calls->targets[k]];
    }
    for (uint32_t i = g->first[c]; i < g->first[c + 1]; i++)
      g->may_exit[g->order[i]] = may_exit;
  }
}

/* Adds the procedures of functions that are reachable. */
static void reach_procedures(struct arena *arena, const struct vcode_program *program,
                             const struct graph *calls, struct components *c) {
  const uint32_t n = program->function_count;
  uint32_t *links = arena_alloc(arena, n * sizeof *links);
  for (uint32_t f = 0; f < n; f++) {
    const struct vcode_instances *mark = program->functions[f].instances;
    links[f] = mark ? mark->procedure_function : COMPONENTS_NONE;
  }
  components_reach(arena, calls, c, links);
}

struct callgraph callgraph_make(struct arena *arena, const struct vcode_program *program) {
  bool *may_exit = arena_alloc(arena, program->function_count);
  const struct graph calls = find_all_calls(arena, program, may_exit);
  struct components c = components_make(arena, &calls, program->entry);
  reach_procedures(arena, program, &calls, &c);
  struct callgraph graph = {.order = c.order,
                            .first = c.first,
                            .count = c.count,
                            .recursive = c.cyclic,
                            .reachable = c.reachable,
                            .may_exit = may_exit};
  spread_exits(&calls, &graph);
  return graph;
}
