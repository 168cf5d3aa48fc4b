/* prims-move.c - primitives that move elements: indexing, gathering, writing, permuting.
 *
 * Elements that are scalars, or pairs of scalars, are moved. For sequences only the source
 * index of each is computed, and the result is a view; its elements are copied when an
 * operation needs them.
 */
#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/primitive.h"
#include "neslc/flatten/rep.h"
#include "neslc/primitives/prims.h"

/* 0 <= i < n, or an error; all of one length. */
static void emit_check_range(struct flattener *f, ir_var i, ir_var n, ir_var zero,
                             const char *text) {
  const ir_var good = EMIT(f, AND, BOOL, EMIT(f, GE, INT, i, zero), EMIT(f, LT, INT, i, n));
  emit_assert(f, good, i, n, text);
}

static ir_var emit_length_of(struct flattener *f, const struct context *c,
                             const struct rep *v) {
  const struct rep *n =
      prim_sequence(f, (struct context *)(uintptr_t)c, PRIM_LENGTH, v, NULL, NULL);
  return rep_each_scalar(f, c, n);
}

/* ---- one element ---- */

static const struct rep *emit_extract(struct flattener *f, const struct context *c,
                                      const struct rep *v, const struct rep *elements,
                                      ir_var i) {
  switch ((enum rep_kind)elements->kind) {
  case REP_NOTHING: return elements;
  case REP_PAIR: {
    const struct rep *left = emit_extract(f, c, v, elements->left, i);
    return rep_pair(f, left, emit_extract(f, c, v, elements->right, i));
  }
  case REP_SCALAR:
    if (elements->shared) return elements;
    return rep_scalar(f, (enum type_word)elements->word,
                      emit(f, OPC_EXTRACT, (enum type_word)elements->word, 3,
                           (ir_var[]){elements->v, i, v->segdes}),
                      context_serial(c));
  case REP_PULLED: {
    const struct rep *captured = emit_extract(f, c, v, elements->left, i);
    return rep_pulled(f, elements->function, captured,
                      emit_extract(f, c, v, elements->right, i));
  }
  case REP_SEQUENCE: break;
  }
  const ir_var at = context_serial(c) ? i : EMIT(f, ADD, INT, seq_offsets(f, v), i);
  return rep_gather(f, elements, at, seq_elements_one(f, v), c->one);
}

/* Whether an index and a length are known, and the one is within the other. */
static bool known_within(struct flattener *f, const struct rep *index, const struct rep *n) {
  int64_t i, length;
  return known_int(f, index->v, &i) && known_int(f, n->v, &length) && i >= 0 && i < length;
}

/* 0 <= index < n for numbers that all instances share: one comparison, if there are any. */
static void check_shared(struct flattener *f, const struct context *c, ir_var index, ir_var n) {
  const ir_var zero = emit_int(f, 0);
  ir_var good = EMIT(f, AND, BOOL, EMIT(f, GE, INT, index, zero), EMIT(f, LT, INT, index, n));
  if (!context_serial(c)) {
    const ir_var none = EMIT(f, EQ, INT, EMIT(f, LENGTHS, NONE, c->one), zero);
    good = EMIT(f, OR, BOOL, good, none);
  }
  emit_assert(f, good, index, n, check_text(CHECK_ELT));
}

static const struct rep *element_of_pulled(struct flattener *f, struct context *c,
                                           const struct rep *argument, bool checked) {
  const struct rep *v = argument->left, *index = argument->right;
  if (!checked || known_within(f, index, v->right)) return pulled_element(f, c, v, index);
  if (index->shared && v->right->shared) {
    check_shared(f, c, index->v, v->right->v);
  } else {
    emit_check_range(f, rep_each_scalar(f, c, index), rep_each_scalar(f, c, v->right),
                     each_int(f, c, 0), check_text(CHECK_ELT));
  }
  return pulled_element(f, c, v, index);
}

/* Numbers of a base by the owners of a view, as far as the mask goes. */
static ir_var numbers_of_owners(struct flattener *f, const struct context *c,
                                const struct rep *view, ir_var numbers) {
  const ir_var owner = view->owner, from = view->base->outer;
  if (f->mask == NO_VAR) return EMIT(f, BPERMUTE, INT, numbers, owner, from, c->one);
  return EMIT(f, BFPERMUTE, INT, numbers, owner, f->mask, from, c->one);
}

static ir_var length_in_view(struct flattener *f, const struct context *c,
                             const struct rep *v) {
  return v->base && !v->packed ? numbers_of_owners(f, c, v, seq_lengths(f, v->base))
                               : emit_length_of(f, c, v);
}

struct once_element {
  const struct rep *sequence, *index;
};
static const struct rep *element_once(struct flattener *f, void *closure) {
  const struct once_element *x = closure;
  return emit_extract(f, &f->serial, x->sequence, x->sequence->elements, x->index->v);
}

/* Element i under the mask, whose check is done. An element that all instances share is taken
 * once. */
static const struct rep *element_masked(struct flattener *f, struct context *c,
                                        const struct rep *argument, ir_var i,
                                        struct type *result) {
  const struct rep *v = argument->left;
  if (v->shared && argument->right->shared) {
    struct once_element once = {v, argument->right};
    return flatten_if_any(f, c, result, element_once, &once);
  }
  struct gather g = {.index = i,
                     .from = v->segdes,
                     .to = c->one,
                     .absolute = true,
                     .flagged = true,
                     .flags = f->mask};
  const struct rep *base = v->base ? v->base : v;
  if (!v->shared) {
    const ir_var offsets = seq_offsets(f, base);
    const ir_var begin = v->base ? numbers_of_owners(f, c, v, offsets) : offsets;
    g.index = EMIT(f, ADD, INT, begin, i);
    g.from = seq_elements_one(f, base);
  }
  return rep_gather_by(f, base->elements, &g);
}

static const struct rep *emit_element(struct flattener *f, struct context *c,
                                      const struct rep *argument, bool checked,
                                      struct type *result) {
  const struct rep *v = argument->left;
  if (v->kind == REP_PULLED) return element_of_pulled(f, c, argument, checked);
  const ir_var i = rep_each_scalar(f, c, argument->right);
  int64_t number;
  if (v->part_count > 0 && context_serial(c) && known_int(f, i, &number) && number >= 0 &&
      number < v->part_count)
    return v->parts[number];
  if (checked) {
    emit_check_range(f, i, length_in_view(f, c, v), each_int(f, c, 0), check_text(CHECK_ELT));
  }
  if (f->mask != NO_VAR) return element_masked(f, c, argument, i, result);
  if (context_serial(c)) v = rep_no_view(f, c, v);
  if (v->base) {
    const struct rep *b = v->base;
    const ir_var begin = numbers_of_owners(f, c, v, seq_offsets(f, b));
    return rep_gather(f, b->elements, EMIT(f, ADD, INT, begin, i), seq_elements_one(f, b),
                      c->one);
  }
  if (v->shared && !context_serial(c)) {
    return rep_gather(f, v->elements, i, v->segdes, c->one);
  }
  return emit_extract(f, c, v, v->elements, i);
}

/* ---- many elements ---- */

static const struct rep *emit_gather(struct flattener *f, const struct context *c,
                                     const struct rep *argument, bool checked) {
  const struct rep *v = argument->left, *index = rep_plain(f, c, argument->right);
  const ir_var i = element_scalars(f, index), all = seq_elements_one(f, index);
  if (checked) {
    const struct context inside = context_elements(f, index);
    const ir_var n = EMIT(f, DIST, INT, emit_length_of(f, c, v), index->segdes);
    emit_check_range(f, i, n, each_int(f, &inside, 0), check_text(CHECK_READ));
  }
  struct gather g = {.index = i, .to = all, .absolute = true};
  if (context_serial(c)) v = rep_no_view(f, c, v);
  const struct rep *elements = v->elements;
  if (v->base) {
    const struct rep *b = v->base;
    const ir_var begin = EMIT(f, BPERMUTE, INT, seq_offsets(f, b), v->owner, b->outer, c->one);
    g.index = EMIT(f, ADD, INT, EMIT(f, DIST, INT, begin, index->segdes), i);
    g.from = seq_elements_one(f, b);
    elements = b->elements;
  } else if (v->shared || context_serial(c)) {
    g.from = v->segdes;
  } else {
    g = (struct gather){.index = i, .from = v->segdes, .to = index->segdes};
    g.base = seq_offsets(f, v);
  }
  return rep_sequence(f, index->segdes, index->outer, rep_gather_by(f, elements, &g),
                      context_serial(c));
}

/* ---- writing ---- */

static bool flat_elements(struct type *sequence) {
  return type_is_flat(type_of(sequence)->part[0]);
}

/* The concatenation of the instances of two values. */
static const struct rep *emit_concatenate(struct flattener *f, const struct rep *a,
                                          const struct context *ca, const struct rep *b,
                                          const struct context *cb, ir_var *dest) {
  const ir_var na = EMIT(f, LENGTHS, NONE, ca->one), nb = EMIT(f, LENGTHS, NONE, cb->one);
  const ir_var zero = emit_int(f, 0), one = emit_int(f, 1);
  *dest = one_segment(f, EMIT(f, ADD, INT, na, nb));
  const struct merge_source sources[2] = {
      {rep_physical(f, ca, a), EMIT(f, INDEX, NONE, zero, one, ca->one), ca->one},
      {rep_physical(f, cb, b), EMIT(f, INDEX, NONE, na, one, cb->one), cb->one}};
  return rep_merge(f, sources, 2, *dest);
}

/* Scatters the scalars of x to the positions i within the segments of v. */
static const struct rep *write_flat(struct flattener *f, const struct rep *v,
                                    const struct context *cv, const struct rep *x,
                                    const struct context *cx, ir_var i, ir_var from,
                                    ir_var to) {
  if (v->kind == REP_PAIR) {
    const struct rep *left = write_flat(f, v->left, cv, x->left, cx, i, from, to);
    return rep_pair(f, left, write_flat(f, v->right, cv, x->right, cx, i, from, to));
  }
  if (v->kind != REP_SCALAR) return v;
  const enum type_word word = (enum type_word)v->word;
  return rep_scalar(
      f, word,
      emit(f, OPC_DPERMUTE, word, 5,
           (ir_var[]){rep_each_scalar(f, cx, x), i, rep_each_scalar(f, cv, v), from, to}),
      false);
}

/* v with the elements x written at the positions i; x has one element for each element of i
 * (descriptor `from`, context cx). Of several writes to one position the last wins. */
static const struct rep *emit_write(struct flattener *f, const struct rep *v, struct type *type,
                                    const struct rep *x, const struct context *cx, ir_var i,
                                    ir_var from) {
  const struct context cv = context_elements(f, v);
  if (flat_elements(type)) {
    return rep_sequence(f, v->segdes, v->outer,
                        write_flat(f, v->elements, &cv, x, cx, i, from, v->segdes), v->shared);
  }
  /* The source index of each element, in the concatenation of the elements of v and x. */
  const ir_var zero = emit_int(f, 0), one = emit_int(f, 1);
  const ir_var old = EMIT(f, INDEX, NONE, zero, one, cv.one);
  const ir_var count = EMIT(f, LENGTHS, NONE, cv.one);
  const ir_var new = EMIT(f, INDEX, NONE, count, one, cx->one);
  const ir_var source = EMIT(f, DPERMUTE, INT, new, i, old, from, v->segdes);
  ir_var both;
  const struct rep *all = emit_concatenate(f, v->elements, &cv, x, cx, &both);
  return rep_sequence(f, v->segdes, v->outer, rep_gather(f, all, source, both, cv.one),
                      v->shared);
}

static const struct rep *emit_write_pairs(struct flattener *f, const struct context *c,
                                          const struct rep *argument, struct type *type) {
  const struct rep *v = rep_plain(f, c, argument->left);
  const struct rep *pairs = rep_plain(f, c, argument->right);
  const struct context inside = context_elements(f, pairs);
  const ir_var i = rep_each_scalar(f, &inside, pairs->elements->left);
  const ir_var n = EMIT(f, DIST, INT, seq_lengths(f, v), pairs->segdes);
  emit_check_range(f, i, n, each_int(f, &inside, 0), check_text(CHECK_WRITE));
  return emit_write(f, v, type_of(type)->part[0], pairs->elements->right, &inside, i,
                    pairs->segdes);
}

static const struct rep *prims_move_emit_put(struct flattener *f, const struct context *c,
                                             const struct rep *argument, struct type *type) {
  const struct rep *v = rep_plain(f, c, argument->left);
  const struct rep *index = rep_plain(f, c, argument->right->left);
  const struct rep *x = rep_plain(f, c, argument->right->right);
  const struct context inside = context_elements(f, index);
  return emit_write(f, v, type_of(type)->part[0], x->elements, &inside,
                    element_scalars(f, index), index->segdes);
}

/* (v, x, i) */
static const struct rep *emit_replace(struct flattener *f, const struct context *c,
                                      const struct rep *argument, struct type *type) {
  const struct rep *v = rep_plain(f, c, argument->left), *x = argument->right->left;
  const ir_var i = rep_each_scalar(f, c, argument->right->right);
  emit_check_range(f, i, seq_lengths(f, v), each_int(f, c, 0), check_text(CHECK_REP));
  /* One element for each segment. */
  const ir_var from =
      context_serial(c) ? c->one : EMIT(f, MAKE_SEGDES, NONE, each_int(f, c, 1));
  return emit_write(f, v, type_of(type)->part[0], x, c, i, from);
}

/* ---- permuting ---- */

static const struct rep *permute_flat(struct flattener *f, const struct rep *v,
                                      const struct context *cv, ir_var i, ir_var segdes) {
  if (v->kind == REP_PAIR) {
    const struct rep *left = permute_flat(f, v->left, cv, i, segdes);
    return rep_pair(f, left, permute_flat(f, v->right, cv, i, segdes));
  }
  if (v->kind != REP_SCALAR || v->shared) return v;
  const enum type_word word = (enum type_word)v->word;
  return rep_scalar(
      f, word, emit(f, OPC_PERMUTE, word, 3, (ir_var[]){rep_each_scalar(f, cv, v), i, segdes}),
      false);
}

/* Ranks are permutations of their segments. */
static bool is_rank(const struct flattener *f, ir_var i, ir_var segdes) {
  const struct ir_binding *up = defined_by(f, i, OPC_RANK_UP);
  const struct ir_binding *rank = up ? up : defined_by(f, i, OPC_RANK_DOWN);
  return rank && rank->operands[1] == segdes;
}

/* i must be a permutation of each of v's segments. */
static void emit_check_permutation(struct flattener *f, const struct rep *v,
                                   const struct rep *index, ir_var i) {
  const struct context inside = context_elements(f, index);
  const ir_var n = seq_lengths(f, v), m = seq_lengths(f, index);
  if (n != m) {
    emit_assert(f, EMIT(f, EQ, INT, n, m), n, m, check_text(CHECK_PERMUTE_LENGTHS));
  }
  if (is_rank(f, i, index->segdes)) return;
  const ir_var zero = each_int(f, &inside, 0), one = each_int(f, &inside, 1);
  emit_check_range(f, i, EMIT(f, DIST, INT, n, index->segdes), zero,
                   check_text(CHECK_PERMUTE_INDEX));
  const ir_var hit = EMIT(f, DPERMUTE, INT, one, i, zero, index->segdes, index->segdes);
  const ir_var at = EMIT(f, INDEX, NONE, emit_int(f, 0), emit_int(f, 1), inside.one);
  emit_assert(f, EMIT(f, EQ, INT, hit, one), at, at, check_text(CHECK_PERMUTE_GAP));
}

static const struct rep *emit_permute(struct flattener *f, const struct context *c,
                                      const struct rep *argument, struct type *type,
                                      bool checked) {
  const struct rep *v = rep_plain(f, c, argument->left);
  const struct rep *index = rep_plain(f, c, argument->right);
  const ir_var i = element_scalars(f, index);
  if (checked) emit_check_permutation(f, v, index, i);
  const struct context cv = context_elements(f, v);
  const struct rep *elements;
  if (flat_elements(type_of(type)->part[0])) {
    elements = permute_flat(f, v->elements, &cv, i, v->segdes);
  } else { /* only the source index of each is permuted */
    const ir_var at = EMIT(f, INDEX, NONE, emit_int(f, 0), emit_int(f, 1), cv.one);
    const ir_var source = EMIT(f, PERMUTE, INT, at, i, v->segdes);
    elements = rep_gather(f, v->elements, source, cv.one, cv.one);
  }
  return rep_sequence(f, v->segdes, v->outer, elements, v->shared);
}

const struct rep *prim_move(struct flattener *f, struct context *c, enum primitive p,
                            const struct rep *x, struct type *type, struct type *result) {
  switch (p) {
  case PRIM_ELT: return emit_element(f, c, x, true, result);
  case PRIM_ELT_NOCHECK: return emit_element(f, c, x, false, result);
  case PRIM_READ: return emit_gather(f, c, x, true);
  case PRIM_GET: return emit_gather(f, c, x, false);
  case PRIM_WRITE: return emit_write_pairs(f, c, x, type);
  case PRIM_PUT: return prims_move_emit_put(f, c, x, type);
  case PRIM_REP: return emit_replace(f, c, x, type);
  case PRIM_PERMUTE: return emit_permute(f, c, x, type, true);
  case PRIM_PERMUTE_NOCHECK: return emit_permute(f, c, x, type, false);
  default: unsupported(f, "a primitive on sequences"); return rep_empty(f, result);
  }
}
