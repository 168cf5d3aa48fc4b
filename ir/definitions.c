/* definitions.c - see definitions.h. */
#include "ir/definitions.h"

static void add_definitions(struct ir_binding **definitions, const struct ir_block *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    struct ir_binding *x = &b->bindings[i];
    for (uint32_t k = 0; k < x->result_count; k++) definitions[x->results[k]] = x;
    if (x->form != IR_IF) continue;
    add_definitions(definitions, x->as.arms.then);
    add_definitions(definitions, x->as.arms.otherwise);
  }
}

struct ir_binding **ir_definitions(struct arena *arena, const struct ir_function *f) {
  struct ir_binding **definitions = arena_alloc(arena, f->var_count * sizeof *definitions);
  for (uint32_t v = 0; v < f->var_count; v++) definitions[v] = NULL;
  add_definitions(definitions, f->body);
  return definitions;
}
