/* flatten-sink.c - what only one arm of an IF uses is computed there.
 *
 * NESL has no lazy let: the variables of a let are bound before its body, and descriptors are
 * made together with the vectors they belong to. Where the body is a conditional, an operation
 * that cannot fail is moved into the deepest block around all of its uses ("schedule late" of
 * Click, "Global code motion, global value numbering", 1995), so that it runs only if it is
 * wanted. Nothing is moved in a function that takes the time.
 */
#include "neslc/flatten-private.h"

/* A block with its place in the tree of blocks, while bindings are moved. */
struct nest {
  struct nest *parent;
  uint32_t depth;
  struct ir_block *block;
  ARRAY(struct ir_binding) first; /* moved here, the last one first */
};

struct sinking {
  struct arena *arena;
  const bool *kept;   /* per variable: may fail, stays where it is */
  struct nest **uses; /* per variable: the deepest block around the uses seen yet */
  ARRAY(struct nest *) nests;
};

static struct nest *around_both(struct nest *a, struct nest *b) {
  if (!a) return b;
  while (a != b) {
    if (a->depth >= b->depth) {
      a = a->parent;
    } else {
      b = b->parent;
    }
  }
  return a;
}

static void use(struct sinking *s, ir_var v, struct nest *where) {
  s->uses[v] = around_both(s->uses[v], where);
}

static bool movable(const struct sinking *s, const struct ir_binding *x) {
  if (x->form != IR_CONST && x->form != IR_OP) return false;
  if (binding_has_effect(x)) return false;
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (s->kept[x->results[i]]) return false;
  }
  return true;
}

/* The block where a binding of the block `here` is to be. */
static struct nest *target(const struct sinking *s, const struct ir_binding *x,
                           struct nest *here) {
  if (!movable(s, x)) return here;
  struct nest *where = NULL;
  for (uint32_t i = 0; i < x->result_count; i++) {
    struct nest *used = s->uses[x->results[i]];
    if (used) where = around_both(where, used);
  }
  return where ? where : here;
}

/* Puts what was moved to a block before its own bindings. */
static void put_first(struct arena *arena, const struct nest *n) {
  struct ir_block *b = n->block;
  const uint32_t moved = (uint32_t)n->first.count;
  if (moved == 0) return;
  struct ir_binding *all = arena_alloc(arena, (moved + b->count) * sizeof *all);
  for (uint32_t i = 0; i < moved; i++) all[i] = n->first.items[moved - 1 - i];
  for (uint32_t i = 0; i < b->count; i++) all[moved + i] = b->bindings[i];
  b->bindings = all;
  b->count += moved;
}

/* From the last binding to the first, so that uses are in their places before what they use. */
static void sink_block(struct sinking *s, struct ir_block *b, struct nest *around) {
  struct nest *here = arena_alloc(s->arena, sizeof *here);
  *here = (struct nest){.parent = around, .depth = around ? around->depth + 1 : 0, .block = b};
  *array_push(s->arena, &s->nests) = here;
  for (uint32_t i = 0; i < b->result_count; i++) use(s, b->results[i], here);
  uint32_t stay = b->count;
  for (uint32_t i = b->count; i-- > 0;) {
    const struct ir_binding x = b->bindings[i];
    if (x.form == IR_IF) {
      sink_block(s, x.as.arms.then, here);
      sink_block(s, x.as.arms.otherwise, here);
    }
    struct nest *where = target(s, &x, here);
    for (uint32_t k = 0; k < x.operand_count; k++) use(s, x.operands[k], where);
    if (where == here) {
      b->bindings[--stay] = x;
    } else {
      *array_push(s->arena, &where->first) = x;
    }
  }
  if (stay > 0) b->bindings += stay; /* an empty block has none */
  b->count -= stay;
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
  struct sinking s = {.arena = f->arena, .kept = stays};
  s.uses = arena_alloc(f->arena, (g->var_count + 1) * sizeof *s.uses);
  sink_block(&s, g->body, NULL);
  for (size_t i = 0; i < s.nests.count; i++) put_first(f->arena, s.nests.items[i]);
}
