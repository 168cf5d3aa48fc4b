/* if.c - conditionals.
 *
 * One instance, or a condition shared by all: an IF. Otherwise the instances are split: each
 * branch is generated once, for a context of the instances that take it, and its results are
 * scattered to the positions of these instances. Branches that are cheap and cannot fail are
 * both evaluated, and a SELECT chooses for each instance. So are cheap ones that take elements
 * of sequences or may fail otherwise, under a mask: a gather reads nothing where the branch is
 * not taken, and a check holds there.
 */
#include "neslc/flatten/combine.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/primitive.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

static ir_var count_of_context(struct flattener *f, const struct context *c) {
  return EMIT(f, LENGTHS, NONE, c->one);
}

/* ---- IF ---- */

static struct ir_block *flatten_arm(struct flattener *f, struct context *c,
                                    const struct core *e, struct assumption known,
                                    struct vars *columns) {
  struct flat_block *b = block_begin(f);
  *array_push(f->arena, &f->assumed) = known;
  const struct rep *r = rep_physical(f, c, flatten(f, c, e));
  f->assumed.count--;
  rep_columns(r, columns);
  return block_end(f, b, (uint32_t)columns->list.count, columns->list.items);
}

static const struct rep *flatten_branch(struct flattener *f, struct context *c,
                                        const struct core *e, ir_var condition) {
  struct vars left = {.arena = f->arena}, right = {.arena = f->arena};
  struct ir_block *then =
      flatten_arm(f, c, e->as.part.left, (struct assumption){condition, true}, &left);
  struct ir_block *otherwise =
      flatten_arm(f, c, e->as.part.right, (struct assumption){condition, false}, &right);
  const uint32_t count = (uint32_t)left.list.count;
  ir_var *results = arena_alloc(f->arena, (count + 1) * sizeof *results);
  flat_if(f, condition, then, otherwise, count, results);
  const ir_var *next = results;
  return rep_from_columns(f, ground(f, e->type), c->one, context_serial(c), &next);
}

/* A value for one instance, whose contents are not used. */
const struct rep *rep_placeholder(struct flattener *f, struct type *type) {
  struct type *t = type_of(type);
  switch ((enum type_tag)t->tag) {
  case TYPE_PAIR: {
    const struct rep *left = rep_placeholder(f, t->part[0]);
    return rep_pair(f, left, rep_placeholder(f, t->part[1]));
  }
  case TYPE_DATA: return rep_placeholder(f, type_contents(f->arena, t));
  case TYPE_SEQUENCE:
    return rep_sequence(f, emit_one_segment(f, 0), f->serial.one, rep_empty(f, t->part[0]),
                        true);
  case TYPE_FUNCTION: {
    struct type *captured = type_captured(f, t);
    if (captured) return rep_placeholder(f, captured);
    return rep_empty(f, t);
  }
  default: {
    const enum type_word word = type_to_word(t);
    return rep_scalar(f, word, emit_zero(f, word), true);
  }
  }
}

/* The value of a body that is evaluated if `any`, a scalar, is T. */
static const struct rep *flatten_if_some(struct flattener *f, struct type *result, ir_var any,
                                         const struct rep *(*body)(struct flattener *, void *),
                                         void *closure) {
  bool some;
  if (known_bool(f, any, &some)) {
    return some ? rep_physical(f, &f->serial, body(f, closure)) : rep_placeholder(f, result);
  }
  struct flat_block *b = block_begin(f);
  struct vars columns = {.arena = f->arena};
  rep_columns(rep_physical(f, &f->serial, body(f, closure)), &columns);
  const uint32_t count = (uint32_t)columns.list.count;
  struct ir_block *then = block_end(f, b, count, columns.list.items);
  b = block_begin(f);
  struct vars nothing = {.arena = f->arena};
  rep_columns(rep_placeholder(f, result), &nothing);
  struct ir_block *otherwise = block_end(f, b, count, nothing.list.items);
  ir_var *results = arena_alloc(f->arena, (count + 1) * sizeof *results);
  flat_if(f, any, then, otherwise, count, results);
  const ir_var *next = results;
  return rep_from_columns(f, result, f->serial.one, true, &next);
}

const struct rep *flatten_if_any(struct flattener *f, struct context *c, struct type *result,
                                 const struct rep *(*body)(struct flattener *, void *),
                                 void *closure) {
  if (context_serial(c)) return body(f, closure);
  const ir_var mask = f->mask;
  const ir_var any = mask == NO_VAR ? EMIT(f, GT, INT, count_of_context(f, c), emit_int(f, 0))
                                    : EMIT(f, OR_REDUCE, BOOL, mask, c->one);
  f->mask = NO_VAR;
  const struct rep *value = flatten_if_some(f, result, any, body, closure);
  f->mask = mask;
  return value;
}

/* ---- SELECT ---- */

/* a or b, by the condition of each instance. */
static const struct rep *select_each(struct flattener *f, struct context *c,
                                     const struct rep *condition, const struct rep *a,
                                     const struct rep *b) {
  if (a->kind == REP_PAIR) {
    const struct rep *left = select_each(f, c, condition, a->left, b->left);
    return rep_pair(f, left, select_each(f, c, condition, a->right, b->right));
  }
  if (a->kind != REP_SCALAR) return a;
  const bool shared = condition->shared && a->shared && b->shared;
  const enum type_word word = (enum type_word)a->word;
  ir_var v[3] = {condition->v, a->v, b->v};
  if (!shared) {
    v[0] = rep_each_scalar(f, c, condition);
    v[1] = rep_each_scalar(f, c, a);
    v[2] = rep_each_scalar(f, c, b);
  }
  return rep_scalar(f, word, emit(f, OPC_SELECT, word, 3, v), shared || context_serial(c));
}

/* ---- masks ---- */

ir_var masked_check(struct flattener *f, ir_var flags) {
  return f->mask == NO_VAR ? flags : EMIT(f, OR, BOOL, EMIT(f, NOT, BOOL, f->mask), flags);
}

/* An arm, for all instances, of which those with these flags take it. */
static const struct rep *masked_arm(struct flattener *f, struct context *c,
                                    const struct core *e, ir_var flags) {
  const ir_var around = f->mask;
  f->mask = around == NO_VAR ? flags : EMIT(f, AND, BOOL, around, flags);
  const struct rep *r = flatten(f, c, e);
  f->mask = around;
  return r;
}

static const struct rep *masked_branches(struct flattener *f, struct context *c,
                                         const struct core *e, const struct rep *condition) {
  const ir_var flags = rep_each_scalar(f, c, condition);
  const struct rep *left = masked_arm(f, c, e->as.part.left, flags);
  const struct rep *right = masked_arm(f, c, e->as.part.right, EMIT(f, NOT, BOOL, flags));
  if (f->combining && !type_is_flat(ground(f, e->type))) {
    combining_refuse(f, "chooses between sequences");
    return left;
  }
  return select_each(f, c, condition, left, right);
}

/* Whether the arms are executed so: if no instance shares its condition, and within such an
 * arm. */
static bool is_masked(struct flattener *f, const struct context *c, const struct core *e,
                      const struct rep *condition) {
  if (f->mask != NO_VAR) return true;
  return !condition->shared && !context_serial(c) && may_be_masked(f, e->as.part.left) &&
         may_be_masked(f, e->as.part.right);
}

const struct rep *flatten_if(struct flattener *f, struct context *c, const struct core *e) {
  return flatten_branches(f, c, e, flatten(f, c, e->as.part.third));
}

const struct rep *flatten_branches(struct flattener *f, struct context *c, const struct core *e,
                                   const struct rep *condition) {
  bool taken;
  if (condition->shared && known_bool(f, condition->v, &taken)) {
    return flatten(f, c, taken ? e->as.part.left : e->as.part.right);
  }
  if (f->combining) return masked_branches(f, c, e, condition);
  unsigned budget = SIMPLE_NODES;
  if (is_simple(f, e->as.part.left, &budget) && is_simple(f, e->as.part.right, &budget)) {
    const struct rep *left = flatten(f, c, e->as.part.left);
    return select_each(f, c, condition, left, flatten(f, c, e->as.part.right));
  }
  if (is_masked(f, c, e, condition)) return masked_branches(f, c, e, condition);
  if (condition->shared || context_serial(c)) return flatten_branch(f, c, e, condition->v);
  return flatten_split(f, c, e, condition->v);
}
