/* fuse-sink.c - what only an arm of an IF needs is computed there, where it can be fused with
 * what needs it, and only when that arm is taken.
 *
 * A binding that is proven safe goes to the beginning of the innermost block that contains all
 * its uses. Blocks are gone through backwards, so that users have found their place before
 * what they use. Nothing is moved in a function with timers.
 */
#include "fcode-opt/fuse.h"

#include <string.h>

/* A block of the function and where it stands. */
struct place {
  struct place *around, *next; /* in the list of all */
  struct ir_block *block;
  uint32_t depth;
  ARRAY(struct ir_binding) sunk; /* to be put at its beginning, last first */
};

struct sinker {
  struct fuse *fuse;
  struct place **uses;  /* of every variable: the innermost block with all uses so far */
  struct place *places; /* all but the body */
};

static struct place *common(struct place *a, struct place *b) {
  while (a != b) {
    if (a->depth < b->depth) {
      b = b->around;
    } else {
      a = a->around;
    }
  }
  return a;
}

static void use(struct sinker *s, ir_var v, struct place *at) {
  s->uses[v] = s->uses[v] ? common(s->uses[v], at) : at;
}

/* Where a binding may go: `here` if it has to stay. */
static struct place *place_of(const struct sinker *s, const struct ir_binding *x,
                              struct place *here) {
  struct place *place = NULL;
  if (x->form != IR_OP || !sizes_safe(s->fuse->sizes, s->fuse->function, x)) return here;
  for (uint32_t i = 0; i < x->result_count; i++) {
    struct place *uses = s->uses[x->results[i]];
    if (uses) place = place ? common(place, uses) : uses;
  }
  return place ? place : here;
}

static struct place *inner_place(struct sinker *s, struct ir_block *block,
                                 struct place *around) {
  struct place *inner = arena_alloc(s->fuse->o->scratch, sizeof *inner);
  *inner = (struct place){
      .around = around, .next = s->places, .block = block, .depth = around->depth + 1};
  return s->places = inner;
}

static void sink_block(struct sinker *s, struct ir_block *block, struct place *place) {
  struct opt *o = s->fuse->o;
  uint32_t kept = block->count;
  for (uint32_t i = 0; i < block->result_count; i++) use(s, block->results[i], place);
  for (uint32_t i = block->count; i-- > 0;) { /* those that stay move to the end */
    struct ir_binding x = block->bindings[i];
    struct place *to = place_of(s, &x, place);
    for (uint32_t k = 0; k < x.operand_count; k++) use(s, x.operands[k], to);
    if (x.form == IR_IF) {
      sink_block(s, x.as.arms.then, inner_place(s, x.as.arms.then, place));
      sink_block(s, x.as.arms.otherwise, inner_place(s, x.as.arms.otherwise, place));
    }
    if (to == place) {
      block->bindings[--kept] = x;
    } else {
      *array_push(o->scratch, &to->sunk) = x;
    }
  }
  if (kept > 0) block->bindings += kept;
  block->count -= kept;
}

/* Puts what has sunk to a block at its beginning. */
static void settle(struct opt *o, struct place *place) {
  if (place->sunk.count == 0) return;
  struct rewrite_block out = {0};
  for (size_t i = place->sunk.count; i-- > 0;) rewrite_append(o, &out, &place->sunk.items[i]);
  for (uint32_t i = 0; i < place->block->count; i++)
    rewrite_append(o, &out, &place->block->bindings[i]);
  rewrite_finish(place->block, &out);
}

void fuse_sink(struct fuse *fuse) {
  struct arena *scratch = fuse->o->scratch;
  struct sinker s = {.fuse = fuse};
  s.uses = arena_alloc(scratch, fuse->f->var_count * sizeof *s.uses);
  struct place body = {.depth = 0};
  sink_block(&s, fuse->f->body, &body);
  for (struct place *p = s.places; p; p = p->next) settle(fuse->o, p);
}
