/* sink.c - moves an operation that only one arm of an IF uses into that arm.
 *
 * NESL has no lazy let: the variables of a let are bound before its body, and descriptors are
 * computed together with their vectors. Where the body is a conditional, an operation that
 * cannot fail is moved to its use (ir/sink.h), so that it runs only if its result is used.
 * Functions that measure time are left unchanged.
 */
#include "ir/sink.h"
#include "neslc/flatten/emit.h"

struct sinking {
  const struct flattener *f;
  const bool *kept; /* per variable: its definition may fail and is not moved */
};

static bool movable(const void *context, const struct ir_binding *x) {
  const struct sinking *s = context;
  if (binding_has_effect(s->f, x)) return false;
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (s->kept[x->results[i]]) return false;
  }
  return true;
}

static bool measures_time(struct arena *arena, const struct ir_block *b) {
  for (struct ir_walk w = ir_walk(arena, b); ir_next_binding(&w);) {
    const enum opcode op = (enum opcode)w.x->op;
    if (w.x->form == IR_OP && opcode_effect(op) == OPCODE_TIMES) return true;
  }
  return false;
}

void flat_sink(struct flattener *f, struct ir_function *g, const struct vars *kept) {
  if (measures_time(f->arena, g->body)) return;
  bool *stays = arena_alloc(f->arena, g->var_count + 1);
  for (size_t k = 0; k < kept->list.count; k++) stays[kept->list.items[k]] = true;
  const struct sinking sinking = {f, stays};
  const struct ir_sinking how = {f->arena, f->arena, movable, &sinking};
  ir_sink(&how, g);
}
