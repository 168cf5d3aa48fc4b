/* cycles.c - which functions call each other in turn. Only their tail calls take no frame, so
 * that the traces of all other calls are complete.
 */
#include "ir/components.h"
#include "vinterp/machine/code.h"

struct search {
  struct arena *arena;
  ARRAY(uint32_t) callees; /* the callees of all functions, one function after the other */
  ARRAY(const struct ir_block *) blocks; /* to be visited: they may be nested deeply */
};

static void look_at_block(struct search *s, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_CALL) *array_push(s->arena, &s->callees) = x->as.callee;
    if (x->form != IR_IF) continue;
    *array_push(s->arena, &s->blocks) = x->as.arms.then;
    *array_push(s->arena, &s->blocks) = x->as.arms.otherwise;
  }
}

static void look_at_stack(struct search *s, const struct vcode_function *f) {
  for (uint32_t i = 0; i < f->length; i++) {
    if (f->code[i].op == OPC_CALL)
      *array_push(s->arena, &s->callees) = f->code[i].as.call.function;
  }
}

/* Visits both forms of a function, since its arguments may decide which one runs. */
static void cycles_look_at(struct search *s, const struct ir_function *f) {
  if (f->stack) look_at_stack(s, f->stack);
  if (!f->typed) return;
  *array_push(s->arena, &s->blocks) = f->body;
  while (s->blocks.count > 0) look_at_block(s, s->blocks.items[--s->blocks.count]);
}

void code_find_cycles(struct code *code) {
  const struct ir_program *program = code->program;
  const uint32_t n = program->function_count;
  struct search s = {.arena = &code->arena};
  uint32_t *first = arena_alloc(s.arena, ((size_t)n + 1) * sizeof *first);
  for (uint32_t f = 0; f < n; f++) {
    first[f] = (uint32_t)s.callees.count;
    cycles_look_at(&s, &program->functions[f]);
  }
  first[n] = (uint32_t)s.callees.count;
  const struct graph graph = {n, first, s.callees.items};
  const struct components c = components_make(s.arena, &graph, program->entry);
  for (uint32_t f = 0; f < n; f++) code->functions[f].cycle = c.component[f];
}
