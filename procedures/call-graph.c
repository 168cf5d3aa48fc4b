/* call-graph.c - which functions call which. */
#include "procedures/private.h"

uint32_t callee_of(const struct ir_program *program, const struct ir_binding *b) {
  const struct ir_function *callee = &program->functions[b->as.callee];
  return callee->instances ? ir_procedure(callee) : b->as.callee;
}

/* ---- recursion ---- */

enum visit { NOT_VISITED, BEING_VISITED, VISITED };

struct repeating {
  struct arena *arena;
  const struct ir_program *program;
  bool lifted;     /* calls of lifted functions lead to these, not to their procedures */
  uint8_t *visits; /* of every function: enum visit */
  bool *repeats;
};

static bool function_repeats(struct repeating *s, uint32_t f) {
  if (f == IR_NO_PROCEDURE || s->visits[f] == VISITED)
    return f != IR_NO_PROCEDURE && s->repeats[f];
  if (s->visits[f] == BEING_VISITED) return true;
  s->visits[f] = BEING_VISITED;
  for (struct ir_walk w = ir_walk(s->arena, s->program->functions[f].body);
       ir_next_binding(&w);) {
    if (w.x->form != IR_CALL) continue;
    const uint32_t callee = s->lifted ? w.x->as.callee : callee_of(s->program, w.x);
    if (function_repeats(s, callee)) s->repeats[f] = true;
  }
  s->visits[f] = VISITED;
  return s->repeats[f];
}

static const bool *find_repeating(struct arena *arena, const struct ir_program *program,
                                  const bool *wanted, bool lifted) {
  const uint32_t count = program->function_count;
  struct repeating s = {arena, program, lifted, arena_alloc(arena, count + 1),
                        arena_alloc(arena, count + 1)};
  for (uint32_t f = 0; f < count; f++)
    if (!wanted || wanted[f]) function_repeats(&s, f);
  return s.repeats;
}

const bool *find_repeating_procedures(struct arena *arena, const struct ir_program *program,
                                      const bool *wanted) {
  return find_repeating(arena, program, wanted, false);
}

const bool *find_repeating_lifted(struct arena *arena, const struct ir_program *program) {
  return find_repeating(arena, program, NULL, true);
}

/* ---- callers ---- */

static bool calls_marked(struct arena *arena, const struct ir_program *program, uint32_t f,
                         const bool *marks) {
  for (struct ir_walk w = ir_walk(arena, program->functions[f].body); ir_next_binding(&w);) {
    if (w.x->form != IR_CALL) continue;
    const uint32_t callee = callee_of(program, w.x);
    if (callee != IR_NO_PROCEDURE && marks[callee]) return true;
  }
  return false;
}

void mark_callers(struct arena *arena, const struct ir_program *program, const bool *wanted,
                  bool *marks) {
  bool changed;
  do {
    changed = false;
    for (uint32_t f = 0; f < program->function_count; f++) {
      if (!wanted[f] || marks[f]) continue;
      marks[f] = calls_marked(arena, program, f, marks);
      changed |= marks[f];
    }
  } while (changed);
}
