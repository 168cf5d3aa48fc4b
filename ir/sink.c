/* sink.c - see sink.h. */
#include "ir/sink.h"

/* A block, the block around it, and the bindings moved into it. */
struct nest {
  struct nest *around, *next; /* `next`: in the list of all but the body */
  struct ir_block *block;
  uint32_t depth;
  ARRAY(struct ir_binding) moved; /* to its beginning, the last one first */
};

struct sinker {
  const struct ir_sinking *how;
  struct nest **uses; /* per variable: the deepest block around all uses seen so far */
  struct nest *nests;
};

static struct nest *around_both(struct nest *a, struct nest *b) {
  if (!a) return b;
  while (a != b) {
    if (a->depth < b->depth)
      b = b->around;
    else
      a = a->around;
  }
  return a;
}

static void sink_note_use(struct sinker *s, ir_var v, struct nest *where) {
  s->uses[v] = around_both(s->uses[v], where);
}

/* Returns the block to which a binding of the block `here` moves. */
static struct nest *target_nest(const struct sinker *s, const struct ir_binding *x,
                                struct nest *here) {
  struct nest *where = NULL;
  if (x->form == IR_IF || !s->how->movable(s->how->context, x)) return here;
  for (uint32_t i = 0; i < x->result_count; i++) {
    struct nest *used = s->uses[x->results[i]];
    if (used) where = around_both(where, used);
  }
  return where ? where : here;
}

static void sink_block(struct sinker *s, struct nest *here);

static void sink_arm(struct sinker *s, struct ir_block *arm, struct nest *around) {
  struct nest *inner = arena_alloc(s->how->scratch, sizeof *inner);
  *inner = (struct nest){
      .around = around, .next = s->nests, .block = arm, .depth = around->depth + 1};
  s->nests = inner;
  sink_block(s, inner);
}

/* Sinks bindings from the last to the first: a use has moved before the definitions of its
 * operands do. */
static void sink_block(struct sinker *s, struct nest *here) {
  struct ir_block *b = here->block;
  uint32_t stay =
      b->count; /* the index of the first binding that stays; they move to the end */
  for (uint32_t i = 0; i < b->result_count; i++) sink_note_use(s, b->results[i], here);
  for (uint32_t i = b->count; i-- > 0;) {
    const struct ir_binding x = b->bindings[i];
    if (x.form == IR_IF) {
      sink_arm(s, x.as.arms.then, here);
      sink_arm(s, x.as.arms.otherwise, here);
    }
    struct nest *where = target_nest(s, &x, here);
    for (uint32_t k = 0; k < x.operand_count; k++) sink_note_use(s, x.operands[k], where);
    if (where == here)
      b->bindings[--stay] = x;
    else
      *array_push(s->how->scratch, &where->moved) = x;
  }
  if (stay > 0) b->bindings += stay; /* an empty block has none */
  b->count -= stay;
}

/* Puts the bindings moved into a block before its own. */
static void settle_nest(struct arena *arena, const struct nest *n) {
  struct ir_block *b = n->block;
  const uint32_t moved = (uint32_t)n->moved.count;
  if (moved == 0) return;
  struct ir_binding *all = arena_alloc(arena, (moved + b->count) * sizeof *all);
  for (uint32_t i = 0; i < moved; i++) all[i] = n->moved.items[moved - 1 - i];
  for (uint32_t i = 0; i < b->count; i++) all[moved + i] = b->bindings[i];
  b->bindings = all;
  b->count += moved;
}

void ir_sink(const struct ir_sinking *how, struct ir_function *f) {
  struct sinker s = {.how = how};
  struct nest body = {.block = f->body};
  s.uses = arena_alloc(how->scratch, f->var_count * sizeof *s.uses);
  sink_block(&s, &body);
  for (const struct nest *n = s.nests; n; n = n->next) settle_nest(how->arena, n);
}
