/* call-graph.c - which functions call which. */
#include "procedures/private.h"

uint32_t callee_of(const struct ir_program *program, const struct ir_binding *b) {
  const struct ir_function *callee = &program->functions[b->as.callee];
  return callee->instances ? ir_procedure(callee) : b->as.callee;
}

/* ---- recursion ---- */

enum visit { NOT_VISITED, BEING_VISITED, VISITED };

struct repeating {
  const struct ir_program *program;
  uint8_t *visits; /* of every function: enum visit */
  bool *repeats;
};

static bool function_repeats(struct repeating *s, uint32_t f);

static bool block_repeats(struct repeating *s, const struct ir_block *block) {
  bool repeats = false;
  for (uint32_t k = 0; k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    if (b->form == IR_CALL) repeats |= function_repeats(s, callee_of(s->program, b));
    if (b->form != IR_IF) continue;
    repeats |= block_repeats(s, b->as.arms.then);
    repeats |= block_repeats(s, b->as.arms.otherwise);
  }
  return repeats;
}

static bool function_repeats(struct repeating *s, uint32_t f) {
  if (f == IR_NO_PROCEDURE || s->visits[f] == VISITED)
    return f != IR_NO_PROCEDURE && s->repeats[f];
  if (s->visits[f] == BEING_VISITED) return true;
  s->visits[f] = BEING_VISITED;
  s->repeats[f] = block_repeats(s, s->program->functions[f].body);
  s->visits[f] = VISITED;
  return s->repeats[f];
}

const bool *find_repeating(struct arena *arena, const struct ir_program *program,
                           const bool *wanted) {
  const uint32_t count = program->function_count;
  struct repeating s = {program, arena_alloc(arena, count + 1), arena_alloc(arena, count + 1)};
  for (uint32_t f = 0; f < count; f++)
    if (wanted[f]) function_repeats(&s, f);
  return s.repeats;
}

/* ---- callers ---- */

static bool calls_marked(const struct ir_program *program, const struct ir_block *block,
                         const bool *marks) {
  for (uint32_t k = 0; k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    const uint32_t callee = b->form == IR_CALL ? callee_of(program, b) : IR_NO_PROCEDURE;
    if (callee != IR_NO_PROCEDURE && marks[callee]) return true;
    if (b->form == IR_IF && (calls_marked(program, b->as.arms.then, marks) ||
                             calls_marked(program, b->as.arms.otherwise, marks)))
      return true;
  }
  return false;
}

void mark_callers(const struct ir_program *program, const bool *wanted, bool *marks) {
  bool changed;
  do {
    changed = false;
    for (uint32_t f = 0; f < program->function_count; f++) {
      if (!wanted[f] || marks[f]) continue;
      marks[f] = calls_marked(program, program->functions[f].body, marks);
      changed |= marks[f];
    }
  } while (changed);
}
