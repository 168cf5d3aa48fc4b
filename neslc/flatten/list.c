/* list.c - [e1, ..., en]: literals become constants, computed elements are merged. */
#include <string.h>

#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/rep.h"

/* ---- literals ---- */

static bool is_literal(struct flattener *f, const struct core *e) {
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_FLOAT:
  case CORE_BOOL:
  case CORE_CHAR:
  case CORE_STRING:
  case CORE_EMPTY: return true;
  case CORE_PAIR: return is_literal(f, e->as.part.left) && is_literal(f, e->as.part.right);
  case CORE_LIST:
    for (size_t i = 0; i < e->as.list.count; i++) {
      if (!is_literal(f, e->as.list.items[i])) return false;
    }
    return true;
  case CORE_APPLY: { /* - of a number */
    const struct global *g = core_callee(e);
    const struct core *x = e->as.part.right;
    return g && g->library && strcmp(g->name->text, "negate") == 0 &&
           (x->kind == CORE_INT || x->kind == CORE_FLOAT);
  }
  default: return false;
  }
}

/* Columns under construction. */
struct column_builder {
  ARRAY(int64_t) ints;
  ARRAY(double) floats;
  ARRAY(uint8_t) bools;
};

struct literal_builder {
  struct flattener *f;
  struct column_builder *columns;
};

/* The negation of an INT, as the program would compute it. */
static int64_t negated_int(const struct literal_builder *b, int64_t x) {
  const struct cvl_value v =
      cvl_scalar_int(b->f->options->widths.int_elem, (int64_t)(0 - (uint64_t)x));
  return cvl_int_of(&v);
}

static void add_int(struct literal_builder *b, uint32_t at, int64_t x) {
  *array_push(b->f->arena, &b->columns[at].ints) = x;
}

static void fill_literal(struct literal_builder *b, const struct core *e, uint32_t at) {
  struct arena *a = b->f->arena;
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_CHAR: add_int(b, at, e->as.integer); return;
  case CORE_BOOL: *array_push(a, &b->columns[at].bools) = e->as.integer != 0; return;
  case CORE_FLOAT: *array_push(a, &b->columns[at].floats) = e->as.real; return;
  case CORE_APPLY:
    if (e->as.part.right->kind == CORE_INT) {
      add_int(b, at, negated_int(b, e->as.part.right->as.integer));
    } else {
      *array_push(a, &b->columns[at].floats) = -e->as.part.right->as.real;
    }
    return;
  case CORE_STRING:
    add_int(b, at, (int64_t)e->as.string.length);
    for (size_t i = 0; i < e->as.string.length; i++) {
      add_int(b, at + 1, (uint8_t)e->as.string.text[i]);
    }
    return;
  case CORE_EMPTY: add_int(b, at, 0); return;
  case CORE_PAIR:
    fill_literal(b, e->as.part.left, at);
    fill_literal(b, e->as.part.right,
                 at + value_column_count(ground(b->f, e->as.part.left->type)));
    return;
  case CORE_LIST:
    add_int(b, at, (int64_t)e->as.list.count);
    for (size_t i = 0; i < e->as.list.count; i++) fill_literal(b, e->as.list.items[i], at + 1);
    return;
  default: return;
  }
}

bool literal_value(struct flattener *f, const struct core *e, struct nesl_value *out) {
  if (!is_literal(f, e)) return false;
  struct type *t = ground(f, e->type);
  struct column_kinds kinds = {.arena = f->arena};
  if (value_column_count(t) > VALUE_MOST_COLUMNS) refuse_columns(f);
  value_columns(t, &kinds);
  const uint32_t count = (uint32_t)kinds.list.count;
  struct literal_builder b = {f, arena_alloc(f->arena, count * sizeof *b.columns + 1)};
  fill_literal(&b, e, 0);
  *out = (struct nesl_value){t, count, arena_alloc(f->arena, count * sizeof *out->columns + 1)};
  for (uint32_t i = 0; i < count; i++) {
    struct column *c = &out->columns[i];
    c->kind = kinds.list.items[i];
    switch ((enum column_kind)c->kind) {
    case COLUMN_FLOAT:
      c->length = b.columns[i].floats.count;
      c->as.floats = b.columns[i].floats.items;
      break;
    case COLUMN_BOOL:
      c->length = b.columns[i].bools.count;
      c->as.bools = b.columns[i].bools.items;
      break;
    case COLUMN_INT:
    case COLUMN_SEGDES:
      c->length = b.columns[i].ints.count;
      c->as.ints = b.columns[i].ints.items;
      break;
    }
  }
  return true;
}

/* ---- computed elements ---- */

/* A value of the serial context as the only element of a sequence. */
static const struct rep *as_element(struct flattener *f, const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR: {
    const struct rep *left = as_element(f, r->left);
    return rep_pair(f, left, as_element(f, r->right));
  }
  case REP_SCALAR: return rep_scalar(f, (enum type_word)r->word, r->v, false);
  case REP_PULLED: /* items are physical */
  case REP_SEQUENCE: return rep_sequence(f, r->segdes, r->outer, r->elements, false);
  }
  return r;
}

/* Scalars of sequences with n elements each (segments of `segdes`): the first of `items` is
 * distributed, the others are scattered over it. */
static ir_var list_scalars(struct flattener *f, const struct context *c, enum type_word word,
                           const ir_var *items, size_t n, ir_var segdes, ir_var dest) {
  const ir_var length = emit_int(f, (int64_t)n);
  ir_var out = emit(f, OPC_DIST, word, 2, (ir_var[]){items[0], segdes});
  for (size_t i = 1; i < n; i++) {
    if (items[i] == items[0]) continue;
    const ir_var first = emit_int(f, (int64_t)i); /* the index for instance k is k n + i */
    const ir_var at = context_serial(c) ? first : EMIT(f, INDEX, NONE, first, length, c->one);
    out = emit(f, OPC_DPERMUTE, word, 5, (ir_var[]){items[i], at, out, c->one, dest});
  }
  return out;
}

static const struct rep *list_elements(struct flattener *f, const struct context *c,
                                       struct type *type, const struct rep *const *items,
                                       size_t n, ir_var segdes, ir_var dest) {
  const struct rep *first = items[0];
  const struct rep **sides = arena_alloc(f->arena, n * sizeof *sides);
  switch ((enum rep_kind)first->kind) {
  case REP_NOTHING: return first;
  case REP_PAIR: {
    for (size_t i = 0; i < n; i++) sides[i] = items[i]->left;
    const struct rep *left = list_elements(f, c, type, sides, n, segdes, dest);
    for (size_t i = 0; i < n; i++) sides[i] = items[i]->right;
    return rep_pair(f, left, list_elements(f, c, type, sides, n, segdes, dest));
  }
  case REP_SCALAR: {
    ir_var *v = arena_alloc(f->arena, n * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = items[i]->v;
    const enum type_word word = (enum type_word)first->word;
    return rep_scalar(f, word, list_scalars(f, c, word, v, n, segdes, dest), false);
  }
  case REP_PULLED:
  case REP_SEQUENCE: break;
  }
  struct merge_source *sources = arena_alloc(f->arena, n * sizeof *sources);
  const ir_var length = emit_int(f, (int64_t)n);
  for (size_t i = 0; i < n; i++) {
    const ir_var at = emit_int(f, (int64_t)i);
    sources[i].rep = items[i];
    sources[i].one = c->one;
    sources[i].index = context_serial(c) ? at : EMIT(f, INDEX, NONE, at, length, c->one);
  }
  return rep_merge(f, sources, (unsigned)n, dest);
}

const struct rep *list_of(struct flattener *f, const struct context *c, struct type *type,
                          const struct rep *const *values, size_t n) {
  const struct rep **items = arena_alloc(f->arena, n * sizeof *items);
  for (size_t i = 0; i < n; i++) items[i] = rep_physical(f, c, values[i]);
  const ir_var length = emit_int(f, (int64_t)n);
  const ir_var segdes = context_serial(c)
                            ? emit_one_segment(f, (int64_t)n)
                            : EMIT(f, MAKE_SEGDES, NONE, EMIT(f, DIST, INT, length, c->one));
  const struct rep *r = rep_sequence(f, segdes, c->one, NULL, context_serial(c));
  const struct rep *elements;
  if (n == 1) { /* one value for each instance is one for each element */
    elements = context_serial(c) ? as_element(f, items[0]) : items[0];
  } else {
    struct type *element = type_of(type)->part[0];
    elements = list_elements(f, c, element, items, n, segdes, seq_elements_one(f, r));
  }
  r = rep_sequence(f, segdes, c->one, elements, context_serial(c));
  return f->apart && context_serial(c) ? rep_with_parts(f, r, items, (uint32_t)n) : r;
}

const struct rep *flatten_list(struct flattener *f, struct context *c, const struct core *e) {
  struct nesl_value value;
  if (literal_value(f, e, &value)) return rep_constant(f, &value);
  const size_t n = e->as.list.count;
  const struct rep **items = arena_alloc(f->arena, n * sizeof *items);
  for (size_t i = 0; i < n; i++) items[i] = flatten(f, c, e->as.list.items[i]);
  return list_of(f, c, ground(f, e->type), items, n);
}
