/* guard.c - undoes a pass that fails one of its own checks: a fault of the optimiser costs an
 * optimisation, not the run.
 *
 * Passes overwrite the program, so a copy of it is kept while one runs, in an arena of
 * its own. What the copy refers to (constants, kinds, superoperators) is older than the pass.
 */
#include "fcode-opt/passes.h"

#include <stdlib.h>
#include <string.h>

/* Copies of functions, in the present o->arena. */
static void copy_functions(struct opt *o, struct ir_function *to,
                           const struct ir_function *from) {
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    to[i] = rewrite_copy_function(o, &from[i]);
  }
}

void guard_begin(struct opt *o, struct guard *g) {
  struct arena *result = o->arena;
  const uint32_t count = o->program->function_count;
  struct ir_function *functions = arena_alloc(&g->arena, count * sizeof *functions);
  o->arena = &g->arena;
  copy_functions(o, functions, o->program->functions);
  o->arena = result;
  arena_free(o->scratch);
  g->program = *o->program;
  g->program.functions = functions;
  g->stats = *o->stats;
  g->mark = arena_mark(result);
  g->condition = NULL;
  o->guard = g;
}

void guard_end(struct opt *o) {
  arena_free(&o->guard->arena);
  o->guard = NULL;
}

/* The arrays of functions and of capacities are older than the pass. */
void guard_undo(struct opt *o) {
  const struct guard *g = o->guard;
  struct ir_function *functions = o->program->functions;
  arena_free_since(o->arena, g->mark);
  *o->program = g->program;
  o->program->functions = functions;
  origin_table_init(&o->program->origins, o->arena, &g->program.origins);
  *o->stats = g->stats;
  copy_functions(o, functions, g->program.functions);
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    o->var_capacity[i] = functions[i].var_count;
  }
}

_Noreturn void guard_fail(struct guard *g, const char *file, int line, const char *condition) {
#ifdef RAVEL_DEBUG
  const bool undo = false;
#else
  const bool undo = g != NULL;
#endif
  const char *slash = strrchr(file, '/');
  if (slash) file = slash + 1;
  if (!undo) {
    fprintf(stderr, "%s:%d: a pass of the optimiser failed a check of itself: %s\n", file, line,
            condition);
    abort();
  }
  g->file = file;
  g->line = line;
  g->condition = condition;
  longjmp(g->failed, 1);
}
