/* returned.c - vectors that are only returned: they are computed in the buffer of the caller.
 */
#include "procedures/function-text.h"

/* A vector that a kernel of the block makes, if the block returns it and nothing else uses it.
 */
static void find_in_results(const struct function_text *x, const struct ir_block *block,
                            const uint32_t *uses, ir_var v) {
  if (uses[v] != 1 || form_of(x, v) != FORM_VECTOR) return;
  for (uint32_t i = 0; i < block->result_count; i++) {
    if (block->results[i] == v && x->forms->results[i] == FORM_VECTOR) x->returned[v] = i + 1;
  }
}

/* Looks at a block with which the function ends. */
static void find_in_block(const struct function_text *x, const struct ir_block *block,
                          const uint32_t *uses) {
  const struct ir_binding *last = end_of(block);
  if (last && last->form == IR_IF) {
    find_in_block(x, last->as.arms.then, uses);
    find_in_block(x, last->as.arms.otherwise, uses);
    return;
  }
  if (block->end != IR_YIELD) return;
  for (uint32_t k = 0; k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    if (!is_kernel(x, b)) continue;
    for (uint32_t j = 0; j < b->result_count; j++)
      find_in_results(x, block, uses, b->results[j]);
  }
  find_placed(x, block, uses);
}

void find_returned(struct function_text *x) {
  struct arena *arena = x->t->arena;
  x->returned = arena_alloc(arena, (x->f->var_count + 1) * sizeof *x->returned);
  x->placed = arena_alloc(arena, (x->f->var_count + 1) * sizeof *x->placed);
  find_in_block(x, x->f->body, ir_count_uses(arena, x->f));
}
