/* definitions.c - see definitions.h. */
#include "ir/definitions.h"
#include "ir/walk.h"

struct ir_binding **ir_definitions(struct arena *arena, const struct ir_function *f) {
  struct ir_binding **definitions = arena_alloc(arena, f->var_count * sizeof *definitions);
  for (struct ir_walk w = ir_walk(arena, f->body); ir_next_binding(&w);) {
    for (uint32_t k = 0; k < w.x->result_count; k++) definitions[w.x->results[k]] = w.x;
  }
  return definitions;
}
