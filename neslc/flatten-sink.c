/* flatten-sink.c - what only one arm of an IF uses is computed there.
 *
 * NESL has no lazy let: the variables of a let are bound before its body, and descriptors are
 * made together with the vectors they belong to. Where the body is a conditional, an operation
 * that cannot fail is moved to where it is used (ir/sink.h), so that it runs only if it is
 * wanted. Nothing is moved in a function that takes the time.
 */
#include "ir/sink.h"
#include "neslc/flatten-private.h"

static bool movable(const void *context, const struct ir_binding *x) {
  const bool *kept = context; /* per variable: may fail, stays where it is */
  if (x->form == IR_CALL || binding_has_effect(x)) return false;
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (kept[x->results[i]]) return false;
  }
  return true;
}

static bool takes_time(const struct ir_block *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    const struct ir_binding *x = &b->bindings[i];
    if (x->form == IR_OP && opcode_effect((enum opcode)x->op) == OPCODE_TIMES) return true;
    if (x->form == IR_IF && (takes_time(x->as.arms.then) || takes_time(x->as.arms.otherwise))) {
      return true;
    }
  }
  return false;
}

void flat_sink(struct flattener *f, struct ir_function *g, const struct vars *kept) {
  if (takes_time(g->body)) return;
  bool *stays = arena_alloc(f->arena, g->var_count + 1);
  for (size_t k = 0; k < kept->list.count; k++) stays[kept->list.items[k]] = true;
  const struct ir_sinking how = {f->arena, f->arena, movable, stays};
  ir_sink(&how, g);
}
