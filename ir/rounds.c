/* rounds.c - see rounds.h. */
#include "ir/rounds.h"

bool rounds_any(const struct ir_program *program) {
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (program->functions[f].rounds) return true;
  }
  return false;
}

struct search {
  struct arena *arena;
  const struct ir_program *program;
  const struct ir_function *f;
  ARRAY(const struct ir_block *) blocks; /* to be looked at: they may be nested deeply */
};

static const char *call_fault(const struct search *s, const struct ir_function *callee) {
  if (s->f->rounds == VCODE_ROUNDS && !callee->rounds)
    return arena_printf(s->arena, "is marked as having rounds, but it calls %s, which is none",
                        callee->name->text);
  if (s->f->rounds != VCODE_ROUNDS && callee->rounds == VCODE_ROUND && callee != s->f)
    return arena_printf(s->arena,
                        "calls %s, a round, which only itself and what has rounds may call",
                        callee->name->text);
  return NULL;
}

static const char *block_fault(struct search *s, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    const char *fault =
        x->form == IR_CALL ? call_fault(s, &s->program->functions[x->as.callee]) : NULL;
    if (fault) return fault;
    if (x->form != IR_IF) continue;
    *array_push(s->arena, &s->blocks) = x->as.arms.then;
    *array_push(s->arena, &s->blocks) = x->as.arms.otherwise;
  }
  return NULL;
}

const char *rounds_fault(struct arena *arena, const struct ir_program *program, uint32_t f) {
  struct search s = {.arena = arena, .program = program, .f = &program->functions[f]};
  if (s.f->rounds && s.f->instances) return "is marked as of a loop and as lifted";
  const char *fault = block_fault(&s, s.f->body);
  while (!fault && s.blocks.count > 0)
    fault = block_fault(&s, s.blocks.items[--s.blocks.count]);
  return fault;
}
