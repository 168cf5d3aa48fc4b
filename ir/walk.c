/* walk.c - see walk.h. */
#include "ir/walk.h"

struct ir_walk ir_walk(struct arena *arena, const struct ir_block *block) {
  return (struct ir_walk){.arena = arena, .block = block};
}

bool ir_next_uses(struct ir_walk *w) {
  struct ir_place to = {w->block, w->next};
  if (w->x && w->x->form == IR_IF) {
    *array_push(w->arena, &w->later) = to;
    *array_push(w->arena, &w->later) = (struct ir_place){w->x->as.arms.otherwise, 0};
    to = (struct ir_place){w->x->as.arms.then, 0};
  } else if (w->next > w->block->count) {
    if (w->later.count == 0) return false;
    to = w->later.items[--w->later.count];
  }
  w->block = to.block;
  w->next = to.next + 1;
  w->x = to.next < to.block->count ? &to.block->bindings[to.next] : NULL;
  w->uses = w->x ? w->x->operands : to.block->results;
  w->use_count = w->x ? w->x->operand_count : to.block->result_count;
  return true;
}

bool ir_next_binding(struct ir_walk *w) {
  while (ir_next_uses(w)) {
    if (w->x) return true;
  }
  return false;
}

uint32_t *ir_count_uses(struct arena *arena, const struct ir_function *f) {
  uint32_t *uses = arena_alloc(arena, f->var_count * sizeof *uses);
  for (struct ir_walk w = ir_walk(arena, f->body); ir_next_uses(&w);) {
    for (uint32_t k = 0; k < w.use_count; k++) uses[w.uses[k]]++;
  }
  return uses;
}
