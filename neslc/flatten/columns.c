/* columns.c - representations as lists of variables: the parameters and results of
 * functions. */
#include <string.h>

#include "neslc/flatten/emit.h"
#include "neslc/flatten/primitive.h"
#include "neslc/flatten/rep.h"

enum type_word type_to_word(struct type *t) {
  switch ((enum type_tag)type_of(t)->tag) {
  case TYPE_FLOAT: return TW_FLOAT;
  case TYPE_BOOL: return TW_BOOL;
  default: return TW_INT;
  }
}

/* A sequence without elements: rep_set_elements follows. */
static struct rep *new_sequence(struct flattener *f) {
  struct rep *r = arena_alloc(f->arena, sizeof *r);
  r->kind = REP_SEQUENCE;
  return r;
}

static void columns_put_column(struct vars *out, ir_var v) {
  *array_push(out->arena, &out->list) = v;
}

/* ---- physical values ---- */

/* Puts the columns of a value. If it is an argument, a sequence with a base is given by that.
 */
static void put_rep_columns(const struct rep *r, bool argument, struct vars *out) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return;
  case REP_SCALAR: columns_put_column(out, r->v); return;
  case REP_PAIR:
  case REP_PULLED:
    put_rep_columns(r->left, argument, out);
    put_rep_columns(r->right, argument, out);
    return;
  case REP_SEQUENCE:
    if (argument && r->base) {
      columns_put_column(out, r->owner);
      columns_put_column(out, r->base->outer);
      r = r->base;
    }
    columns_put_column(out, r->segdes);
    put_rep_columns(r->elements, false, out);
    return;
  }
}

void rep_columns(const struct rep *r, struct vars *out) {
  put_rep_columns(r, false, out);
}

/* The captured variables as a right-nested tuple. */
struct type *type_captured(struct flattener *f, struct type *function) {
  struct type *identity = type_of(type_of(function)->part[2]);
  const struct core_lambda *l = identity->lambda;
  if (!l || l->captured_count == 0) return NULL;
  struct type **arguments = arena_alloc(f->arena, (l->scheme_count + 1) * sizeof *arguments);
  for (uint32_t i = 0; i < l->variable_count; i++) {
    arguments[type_of(l->variables[i])->number] = identity->arguments[i];
  }
  struct type *t = NULL;
  for (uint32_t i = l->captured_count; i-- > 0;) {
    struct type *one = type_ground(f->arena, l->captured[i]->type, l->scheme_count, arguments);
    t = t ? type_pair(f->arena, one, t) : one;
  }
  return t;
}

const struct rep *rep_from_columns(struct flattener *f, struct type *type, ir_var outer,
                                   bool shared, const ir_var **next) {
  struct type *t = type_of(type);
  switch ((enum type_tag)t->tag) {
  case TYPE_PAIR: {
    const struct rep *left = rep_from_columns(f, t->part[0], outer, shared, next);
    return rep_pair(f, left, rep_from_columns(f, t->part[1], outer, shared, next));
  }
  case TYPE_DATA: return rep_from_columns(f, type_contents(f->arena, t), outer, shared, next);
  case TYPE_FUNCTION: {
    struct type *captured = type_captured(f, t);
    if (!captured) return rep_nothing(f);
    return rep_from_columns(f, captured, outer, shared, next);
  }
  case TYPE_SEQUENCE: {
    struct rep *r = new_sequence(f);
    r->shared = shared;
    r->outer = outer;
    r->segdes = *(*next)++;
    rep_set_elements(f, r,
                     rep_from_columns(f, t->part[0], seq_elements_one(f, r), false, next));
    return r;
  }
  default: return rep_scalar(f, type_to_word(t), *(*next)++, shared);
  }
}

static void add_rep_kinds(struct flattener *f, struct type *type, struct vars *out) {
  struct type *t = type_of(type);
  switch ((enum type_tag)t->tag) {
  case TYPE_PAIR:
    add_rep_kinds(f, t->part[0], out);
    add_rep_kinds(f, t->part[1], out);
    return;
  case TYPE_DATA: add_rep_kinds(f, type_contents(f->arena, t), out); return;
  case TYPE_FUNCTION: {
    struct type *captured = type_captured(f, t);
    if (captured) add_rep_kinds(f, captured, out);
    return;
  }
  case TYPE_SEQUENCE:
    columns_put_column(out, IR_SEGDES);
    add_rep_kinds(f, t->part[0], out);
    return;
  default: columns_put_column(out, type_to_word(t)); return;
  }
}

void type_kinds(struct flattener *f, struct type *t, const struct ir_kind ***kinds,
                uint32_t *count) {
  struct vars list = {.arena = f->arena};
  if (value_column_count(t) > VALUE_MOST_COLUMNS) refuse_columns(f);
  add_rep_kinds(f, t, &list);
  *count = (uint32_t)list.list.count;
  *kinds = arena_alloc(f->arena, (*count + 1) * sizeof **kinds);
  for (uint32_t i = 0; i < *count; i++) (*kinds)[i] = &flat_kinds[list.list.items[i]];
}

static void add_layout(struct flattener *f, struct type *type, uint32_t within,
                       struct vars *out) {
  struct type *t = type_of(type);
  switch ((enum type_tag)t->tag) {
  case TYPE_PAIR:
    add_layout(f, t->part[0], within, out);
    add_layout(f, t->part[1], within, out);
    return;
  case TYPE_DATA: add_layout(f, type_contents(f->arena, t), within, out); return;
  case TYPE_FUNCTION: {
    struct type *captured = type_captured(f, t);
    if (captured) add_layout(f, captured, within, out);
    return;
  }
  case TYPE_SEQUENCE: {
    const uint32_t segdes = (uint32_t)out->list.count;
    columns_put_column(out, within);
    add_layout(f, t->part[0], segdes, out);
    return;
  }
  default: columns_put_column(out, within); return;
  }
}

void type_layout(struct flattener *f, struct type *t, struct vars *out) {
  add_layout(f, t, IR_ONE, out);
}

const struct rep *rep_empty(struct flattener *f, struct type *t) {
  const struct ir_kind **kinds;
  uint32_t count;
  type_kinds(f, t, &kinds, &count);
  ir_var *columns = arena_alloc(f->arena, (count + 1) * sizeof *columns);
  for (uint32_t i = 0; i < count; i++) {
    struct vcode_constant *k = arena_alloc(f->arena, sizeof *k);
    *k = (struct vcode_constant){.type = (enum type_word)kinds[i]->tag, .vector = true};
    k->as.ints = arena_alloc(f->arena, 8);
    columns[i] = emit_constant(f, k);
  }
  const ir_var *next = columns;
  return rep_from_columns(f, t, emit_one_segment(f, 0), false, &next);
}

/* ---- arguments ---- */

static const struct rep *physical_elements(struct flattener *f, const struct rep *plain) {
  const struct context inside = context_elements(f, plain);
  return rep_sequence(f, plain->segdes, plain->outer, rep_physical(f, &inside, plain->elements),
                      plain->shared);
}

const struct rep *rep_argument(struct flattener *f, const struct context *c,
                               const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_SCALAR:
    return context_serial(c) ? rep_scalar(f, (enum type_word)r->word, r->v, true) : r;
  case REP_PAIR: return rep_pair(f, rep_argument(f, c, r->left), rep_argument(f, c, r->right));
  case REP_PULLED:
    return rep_pulled(f, r->function, rep_argument(f, c, r->left),
                      rep_argument(f, c, r->right));
  case REP_SEQUENCE: break;
  }
  if (context_serial(c)) {
    const struct rep *p = rep_no_view(f, c, r);
    return physical_elements(f, rep_sequence(f, p->segdes, p->outer, p->elements, true));
  }
  if (r->base) return rep_view(f, physical_elements(f, r->base), r->owner);
  return physical_elements(f, r);
}

static void sign(struct vars *out, const struct rep *r, bool inside) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: columns_put_column(out, '.'); return;
  case REP_SCALAR:
    columns_put_column(out, (ir_var)(r->shared && !inside ? "ifb"[r->word] : "IFB"[r->word]));
    return;
  case REP_PULLED:
    for (uint32_t n = r->function; n > 0; n /= 10)
      columns_put_column(out, (ir_var)('0' + n % 10));
    columns_put_column(out, 'L');
    sign(out, r->left, inside);
    sign(out, r->right, inside);
    return;
  case REP_PAIR:
    columns_put_column(out, '(');
    sign(out, r->left, inside);
    sign(out, r->right, inside);
    return;
  case REP_SEQUENCE:
    columns_put_column(out, inside ? 'P' : r->base ? 'V' : r->shared ? 'S' : 'P');
    sign(out, r->base ? r->base->elements : r->elements, true);
    return;
  }
}

const char *rep_signature(struct flattener *f, const struct rep *r) {
  struct vars list = {.arena = f->arena};
  sign(&list, r, false);
  char *text = arena_alloc(f->arena, list.list.count + 1);
  for (size_t i = 0; i < list.list.count; i++) text[i] = (char)list.list.items[i];
  return text;
}

void rep_argument_columns(const struct rep *r, struct vars *out) {
  put_rep_columns(r, true, out);
}

static const struct rep *elements_like(struct flattener *f, const struct rep *shape,
                                       ir_var outer);

static const struct rep *sequence_like(struct flattener *f, const struct rep *shape,
                                       ir_var outer, bool shared) {
  struct rep *r = new_sequence(f);
  r->shared = shared;
  r->outer = outer;
  r->segdes = flat_var(f, &flat_kinds[IR_SEGDES]);
  rep_set_elements(f, r, elements_like(f, shape->elements, 0));
  return r;
}

/* The variables of parameters come before any binding: finish_outer later computes the
 * descriptors of elements, which need operations. */
static const struct rep *elements_like(struct flattener *f, const struct rep *shape,
                                       ir_var outer) {
  switch ((enum rep_kind)shape->kind) {
  case REP_NOTHING: return shape;
  case REP_SCALAR:
    return rep_scalar(f, (enum type_word)shape->word, flat_var(f, &flat_kinds[shape->word]),
                      false);
  case REP_PAIR: {
    const struct rep *left = elements_like(f, shape->left, outer);
    return rep_pair(f, left, elements_like(f, shape->right, outer));
  }
  case REP_PULLED: /* elements are physical */
  case REP_SEQUENCE: return sequence_like(f, shape, outer, false);
  }
  return NULL;
}

static const struct rep *finish_outer(struct flattener *f, const struct rep *r, ir_var outer,
                                      bool inside) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING:
  case REP_SCALAR: return r;
  case REP_PAIR: {
    const struct rep *left = finish_outer(f, r->left, outer, inside);
    return rep_pair(f, left, finish_outer(f, r->right, outer, inside));
  }
  case REP_PULLED: {
    const struct rep *left = finish_outer(f, r->left, outer, inside);
    return rep_pulled(f, r->function, left, finish_outer(f, r->right, outer, inside));
  }
  case REP_SEQUENCE: break;
  }
  if (r->base) {
    const struct rep *base = finish_outer(f, r->base, r->base->outer, true);
    return rep_view(f, base, r->owner);
  }
  struct rep *s = new_sequence(f);
  *s = *r;
  s->outer = r->shared ? emit_one_segment(f, 1) : outer;
  rep_set_elements(f, s, finish_outer(f, r->elements, seq_elements_one(f, s), true));
  return s;
}

static const struct rep *parameters_like(struct flattener *f, const struct rep *shape) {
  switch ((enum rep_kind)shape->kind) {
  case REP_NOTHING: return shape;
  case REP_SCALAR:
    return rep_scalar(f, (enum type_word)shape->word, flat_var(f, &flat_kinds[shape->word]),
                      shape->shared);
  case REP_PAIR: {
    const struct rep *left = parameters_like(f, shape->left);
    return rep_pair(f, left, parameters_like(f, shape->right));
  }
  case REP_PULLED: {
    const struct rep *left = parameters_like(f, shape->left);
    return rep_pulled(f, shape->function, left, parameters_like(f, shape->right));
  }
  case REP_SEQUENCE: break;
  }
  if (!shape->base) return sequence_like(f, shape, 0, shape->shared);
  const ir_var owner = flat_var(f, &flat_kinds[IR_INT]);
  const ir_var outer = flat_var(f, &flat_kinds[IR_SEGDES]);
  return rep_view(f, sequence_like(f, shape->base, outer, false), owner);
}

const struct rep *rep_parameter_variables(struct flattener *f, const struct rep *shape) {
  return parameters_like(f, shape);
}

const struct rep *rep_parameters_finished(struct flattener *f, const struct rep *r,
                                          ir_var one) {
  return finish_outer(f, r, one, false);
}

const struct rep *rep_parameters(struct flattener *f, const struct rep *shape, ir_var one) {
  return finish_outer(f, parameters_like(f, shape), one, false);
}

/* ---- constants ---- */

const struct rep *rep_constant(struct flattener *f, const struct nesl_value *value) {
  ir_var *columns = arena_alloc(f->arena, (value->count + 1) * sizeof *columns);
  for (uint32_t i = 0; i < value->count; i++) {
    const struct column *c = &value->columns[i];
    static const uint8_t words[] = {TW_INT, TW_FLOAT, TW_BOOL, TW_SEGDES};
    struct vcode_constant *k = arena_alloc(f->arena, sizeof *k);
    *k = (struct vcode_constant){.type = (enum type_word)words[c->kind],
                                 .vector = c->length != 1 || c->kind == COLUMN_SEGDES,
                                 .length = c->length};
    k->as.ints = c->as.ints;
    if (c->length == 0) k->as.ints = arena_alloc(f->arena, 8);
    columns[i] = emit_constant(f, k);
  }
  const ir_var *next = columns;
  return rep_from_columns(f, value->type, emit_one_segment(f, 1), true, &next);
}
