/* cycles.c - which functions call each other in turn. Only their tail calls take no frame, so
 * that the traces of all other calls are complete.
 */
#include "ir/components.h"
#include "ir/walk.h"
#include "vinterp/machine/code.h"

struct search {
  struct arena *arena;
  ARRAY(uint32_t) callees; /* the callees of all functions, one function after the other */
};

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
  for (struct ir_walk w = ir_walk(s->arena, f->body); ir_next_binding(&w);) {
    if (w.x->form == IR_CALL) *array_push(s->arena, &s->callees) = w.x->as.callee;
  }
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
