/* rep.c - representations: their construction, and their conversion to the plain form
 * for operations that need contiguous elements. */
#include "neslc/flatten/rep.h"

#include <string.h>

#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/instances.h"

static struct rep *new_rep(struct flattener *f, enum rep_kind kind) {
  struct rep *r = arena_alloc(f->arena, sizeof *r);
  r->kind = (uint8_t)kind;
  r->columns = 1;
  return r;
}

/* The columns of a value that consists of both; a value with too many is refused. */
static uint16_t sum_of_columns(struct flattener *f, unsigned left, unsigned right) {
  if (left + right > VALUE_MOST_COLUMNS) refuse_columns(f);
  return (uint16_t)(left + right);
}

const struct rep *rep_nothing(struct flattener *f) {
  return new_rep(f, REP_NOTHING);
}

const struct rep *rep_scalar(struct flattener *f, enum type_word word, ir_var v, bool shared) {
  struct rep *r = new_rep(f, REP_SCALAR);
  r->word = (uint8_t)word;
  r->v = v;
  r->shared = shared;
  return r;
}

const struct rep *rep_pair(struct flattener *f, const struct rep *left,
                           const struct rep *right) {
  struct rep *r = new_rep(f, REP_PAIR);
  r->left = left;
  r->right = right;
  r->columns = sum_of_columns(f, left->columns, right->columns);
  return r;
}

const struct rep *rep_pulled(struct flattener *f, uint32_t function, const struct rep *captured,
                             const struct rep *length) {
  struct rep *r = new_rep(f, REP_PULLED);
  r->function = function;
  r->left = captured;
  r->right = length;
  r->columns = sum_of_columns(f, captured->columns, length->columns);
  return r;
}

const struct rep *rep_sequence(struct flattener *f, ir_var segdes, ir_var outer,
                               const struct rep *elements, bool shared) {
  struct rep *r = new_rep(f, REP_SEQUENCE);
  r->segdes = segdes;
  r->outer = outer;
  r->shared = shared;
  rep_set_elements(f, r, elements);
  return r;
}

void rep_set_elements(struct flattener *f, struct rep *sequence, const struct rep *elements) {
  sequence->elements = elements;
  if (elements && f->trial && !sequence->shared) trial_holds(f, elements);
  if (elements) sequence->columns = sum_of_columns(f, 1, elements->columns);
}

const struct rep *rep_with_parts(struct flattener *f, const struct rep *shared,
                                 const struct rep *const *parts, uint32_t count) {
  struct rep *r = new_rep(f, REP_SEQUENCE);
  *r = *shared;
  r->parts = parts;
  r->part_count = count;
  return r;
}

const struct rep *rep_view(struct flattener *f, const struct rep *base, ir_var owner) {
  struct rep *r = new_rep(f, REP_SEQUENCE);
  r->base = base;
  r->owner = owner;
  r->columns = base->columns;
  return r;
}

const struct rep *rep_series(struct flattener *f, const struct rep *shared, ir_var start,
                             ir_var stride) {
  struct rep *r = new_rep(f, REP_SEQUENCE);
  *r = *shared;
  r->series = true;
  r->start = start;
  r->stride = stride;
  return r;
}

bool rep_all_shared(const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return true;
  case REP_PAIR:
  case REP_PULLED: return rep_all_shared(r->left) && rep_all_shared(r->right);
  case REP_SCALAR:
  case REP_SEQUENCE: return r->shared;
  }
  return false;
}

bool rep_same(const struct rep *a, const struct rep *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->shared != b->shared) return false;
  switch ((enum rep_kind)a->kind) {
  case REP_NOTHING: return true;
  case REP_SCALAR: return a->v == b->v;
  case REP_PAIR: return rep_same(a->left, b->left) && rep_same(a->right, b->right);
  case REP_PULLED:
    return a->function == b->function && rep_same(a->left, b->left) &&
           rep_same(a->right, b->right);
  case REP_SEQUENCE: break;
  }
  if ((a->base == NULL) != (b->base == NULL)) return false;
  if (a->base) return a->owner == b->owner && rep_same(a->base, b->base);
  return a->segdes == b->segdes && rep_same(a->elements, b->elements);
}

/* ---- descriptors ---- */

ir_var one_segment(struct flattener *f, ir_var length) {
  return EMIT(f, MAKE_SEGDES, NONE, length);
}

ir_var seq_lengths(struct flattener *f, const struct rep *s) {
  return EMIT(f, LENGTHS, NONE, s->segdes);
}

ir_var seq_offsets(struct flattener *f, const struct rep *s) {
  return EMIT(f, ADD_SCAN, INT, seq_lengths(f, s), s->outer);
}

ir_var view_lengths(struct flattener *f, const struct rep *view, ir_var one) {
  const struct rep *b = view->base;
  const ir_var lengths = seq_lengths(f, b);
  if (!view->packed) return EMIT(f, BPERMUTE, INT, lengths, view->owner, b->outer, one);
  ir_var out[2];
  emit_results(f, OPC_PACK, TW_INT, 3, (ir_var[]){lengths, view->flags, view->around}, 2, out);
  return out[0];
}

ir_var seq_elements_one(struct flattener *f, const struct rep *s) {
  if (s->shared || s->segdes == s->outer) return s->segdes;
  return one_segment(f, EMIT(f, ADD_REDUCE, INT, seq_lengths(f, s), s->outer));
}

/* ---- gathering instances ---- */

static ir_var absolute_index(struct flattener *f, const struct gather *g) {
  if (g->absolute) return g->index;
  return EMIT(f, ADD, INT, EMIT(f, DIST, INT, g->base, g->to), g->index);
}

static ir_var gather_scalars(struct flattener *f, enum type_word word, ir_var v,
                             const struct gather *g) {
  if (g->flagged)
    return emit(f, OPC_BFPERMUTE, word, 5, (ir_var[]){v, g->index, g->flags, g->from, g->to});
  return emit(f, OPC_BPERMUTE, word, 4, (ir_var[]){v, g->index, g->from, g->to});
}

const struct rep *rep_gather_by(struct flattener *f, const struct rep *r,
                                const struct gather *g) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR:
    return rep_pair(f, rep_gather_by(f, r->left, g), rep_gather_by(f, r->right, g));
  case REP_PULLED:
    return rep_pulled(f, r->function, rep_gather_by(f, r->left, g),
                      rep_gather_by(f, r->right, g));
  case REP_SCALAR:
    if (r->shared) return r;
    return rep_scalar(f, (enum type_word)r->word,
                      gather_scalars(f, (enum type_word)r->word, r->v, g), false);
  case REP_SEQUENCE: break;
  }
  if (r->shared) return r;
  if (!r->base) return rep_view(f, r, absolute_index(f, g));
  return rep_view(f, r->base, gather_scalars(f, TW_INT, r->owner, g));
}

const struct rep *rep_gather(struct flattener *f, const struct rep *r, ir_var index,
                             ir_var from, ir_var to) {
  return rep_gather_by(
      f, r, &(struct gather){.index = index, .from = from, .to = to, .absolute = true});
}

/* ---- conversion to the plain form ---- */

ir_var rep_each_scalar(struct flattener *f, const struct context *c, const struct rep *r) {
  if (!r->shared || context_serial(c)) return r->v;
  return emit(f, OPC_DIST, (enum type_word)r->word, 2, (ir_var[]){r->v, c->one});
}

static ir_var rep_distribute(struct flattener *f, ir_var scalar, ir_var one) {
  return EMIT(f, DIST, INT, scalar, one);
}

/* Copies segments of the elements of `base` into a plain sequence, one for each instance of the
 * context; `begin` holds absolute indices. */
static const struct rep *copy_segments(struct flattener *f, const struct context *c,
                                       const struct rep *base, ir_var lengths, ir_var begin) {
  const ir_var segdes = EMIT(f, MAKE_SEGDES, NONE, lengths);
  const ir_var stride = rep_distribute(f, emit_int(f, 1), c->one);
  const ir_var index = EMIT(f, INDEX, NONE, begin, stride, segdes);
  struct rep *r = new_rep(f, REP_SEQUENCE);
  r->segdes = segdes;
  r->outer = c->one;
  r->shared = context_serial(c);
  rep_set_elements(
      f, r,
      rep_gather(f, base->elements, index, seq_elements_one(f, base), seq_elements_one(f, r)));
  return r;
}

/* Copies a shared series: its numbers are generated for each instance. */
static const struct rep *copy_series(struct flattener *f, const struct context *c,
                                     const struct rep *r) {
  const ir_var lengths = rep_distribute(f, seq_lengths(f, r), c->one);
  const ir_var segdes = EMIT(f, MAKE_SEGDES, NONE, lengths);
  const ir_var v = EMIT(f, INDEX, NONE, rep_distribute(f, r->start, c->one),
                        rep_distribute(f, r->stride, c->one), segdes);
  return rep_sequence(f, segdes, c->one, rep_scalar(f, TW_INT, v, false), false);
}

/* The sequences of a view that leaves out only empty ones: the elements are not moved. */
static const struct rep *rep_same_elements(struct flattener *f, const struct context *c,
                                           const struct rep *base, ir_var lengths) {
  return rep_sequence(f, EMIT(f, MAKE_SEGDES, NONE, lengths), c->one, base->elements,
                      context_serial(c));
}

const struct rep *rep_no_view(struct flattener *f, const struct context *c,
                              const struct rep *r) {
  if (r->kind == REP_PULLED) return rep_computed(f, c, r);
  if (r->kind != REP_SEQUENCE || !r->base) return r;
  const struct rep *b = r->base;
  const ir_var lengths = view_lengths(f, r, c->one);
  if (r->whole) return rep_same_elements(f, c, b, lengths);
  const ir_var begin = EMIT(f, BPERMUTE, INT, seq_offsets(f, b), r->owner, b->outer, c->one);
  return copy_segments(f, c, b, lengths, begin);
}

const struct rep *rep_plain(struct flattener *f, const struct context *c, const struct rep *r) {
  if (r->base || r->kind == REP_PULLED) return rep_no_view(f, c, r);
  if (!r->shared || context_serial(c)) return r;
  if (r->series) return copy_series(f, c, r);
  return copy_segments(f, c, r, rep_distribute(f, seq_lengths(f, r), c->one),
                       rep_distribute(f, emit_int(f, 0), c->one));
}

struct context context_elements(struct flattener *f, const struct rep *plain) {
  return (struct context){.kind = CONTEXT_LIFTED, .one = seq_elements_one(f, plain)};
}

const struct rep *rep_physical(struct flattener *f, const struct context *c,
                               const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR: return rep_pair(f, rep_physical(f, c, r->left), rep_physical(f, c, r->right));
  case REP_SCALAR:
    return rep_scalar(f, (enum type_word)r->word, rep_each_scalar(f, c, r), context_serial(c));
  case REP_PULLED:
  case REP_SEQUENCE: break;
  }
  const struct rep *p = rep_plain(f, c, r);
  const struct context inside = context_elements(f, p);
  return rep_sequence(f, p->segdes, p->outer, rep_physical(f, &inside, p->elements),
                      context_serial(c));
}

/* ---- merging ---- */

/* How many instances a source is known to have, or -1. */
static int64_t known_count(struct flattener *f, const struct merge_source *source) {
  const struct vcode_constant *k = constant_of(f, source->one);
  return k && k->length == 1 ? k->as.ints[0] : -1;
}

/* Whether all instances of a source have the same scalar, and which. */
static bool is_uniform_source(struct flattener *f, ir_var value,
                              const struct merge_source *source, ir_var *scalar) {
  const struct ir_binding *d = defined_by(f, value, OPC_DIST);
  const bool distributed = d && d->operands[1] == source->one;
  *scalar = distributed ? d->operands[0] : value;
  return distributed || known_count(f, source) == 1;
}

/* Scatters the scalars of all sources. A source with one scalar for all of its instances needs
 * no scatter: the other sources are scattered over a vector of that scalar. */
static ir_var merge_scalars(struct flattener *f, enum type_word word, const ir_var *values,
                            const struct merge_source *sources, unsigned count, ir_var dest) {
  ir_var ground_value = 0, scalar;
  unsigned from = 0;
  while (from < count && !is_uniform_source(f, values[from], &sources[from], &ground_value))
    from++;
  if (from == count) ground_value = emit_zero(f, word);
  ir_var out = emit(f, OPC_DIST, word, 2, (ir_var[]){ground_value, dest});
  for (unsigned i = 0; i < count; i++) {
    const bool there = from < count && is_uniform_source(f, values[i], &sources[i], &scalar) &&
                       scalar == ground_value;
    if (there || known_count(f, &sources[i]) == 0) continue;
    out = emit(f, OPC_DPERMUTE, word, 5,
               (ir_var[]){values[i], sources[i].index, out, sources[i].one, dest});
  }
  return out;
}

const struct rep *rep_merge(struct flattener *f, const struct merge_source *sources,
                            unsigned count, ir_var dest) {
  const struct rep *first = sources[0].rep;
  struct merge_source *inner = arena_alloc(f->arena, count * sizeof *inner);
  ir_var *values = arena_alloc(f->arena, count * sizeof *values);
  memcpy(inner, sources, count * sizeof *inner);
  switch ((enum rep_kind)first->kind) {
  case REP_NOTHING: return first;
  case REP_PAIR: {
    for (unsigned i = 0; i < count; i++) inner[i].rep = sources[i].rep->left;
    const struct rep *left = rep_merge(f, inner, count, dest);
    for (unsigned i = 0; i < count; i++) inner[i].rep = sources[i].rep->right;
    return rep_pair(f, left, rep_merge(f, inner, count, dest));
  }
  case REP_SCALAR:
    for (unsigned i = 0; i < count; i++) values[i] = sources[i].rep->v;
    return rep_scalar(
        f, (enum type_word)first->word,
        merge_scalars(f, (enum type_word)first->word, values, sources, count, dest), false);
  case REP_PULLED: /* sources are physical */
  case REP_SEQUENCE: break;
  }
  /* The lengths come first: they give the offset of each sequence. */
  for (unsigned i = 0; i < count; i++) values[i] = seq_lengths(f, sources[i].rep);
  const ir_var lengths = merge_scalars(f, TW_INT, values, sources, count, dest);
  struct rep *r = new_rep(f, REP_SEQUENCE);
  r->segdes = EMIT(f, MAKE_SEGDES, NONE, lengths);
  r->outer = dest;
  const ir_var begin = seq_offsets(f, r);
  for (unsigned i = 0; i < count; i++) {
    const struct rep *s = sources[i].rep;
    const ir_var at = EMIT(f, BPERMUTE, INT, begin, sources[i].index, dest, sources[i].one);
    const ir_var stride = rep_distribute(f, emit_int(f, 1), sources[i].one);
    inner[i].index = EMIT(f, INDEX, NONE, at, stride, s->segdes);
    inner[i].one = seq_elements_one(f, s);
    inner[i].rep = s->elements;
  }
  rep_set_elements(f, r, rep_merge(f, inner, count, seq_elements_one(f, r)));
  return r;
}

/* ---- lifting ---- */

/* A value of the serial context as a shared value of the contexts inside. */
static const struct rep *shared_by_all(struct flattener *f, const struct context *serial,
                                       const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR:
    return rep_pair(f, shared_by_all(f, serial, r->left), shared_by_all(f, serial, r->right));
  case REP_SCALAR: return rep_scalar(f, (enum type_word)r->word, r->v, true);
  case REP_PULLED:
    return rep_pulled(f, r->function, shared_by_all(f, serial, r->left),
                      shared_by_all(f, serial, r->right));
  case REP_SEQUENCE: break;
  }
  const struct rep *p = rep_no_view(f, serial, r);
  const struct rep *shared = rep_sequence(f, p->segdes, p->outer, p->elements, true);
  return p->series ? rep_series(f, shared, p->start, p->stride) : shared;
}

/* Whether v is this number, as a scalar or in every element. */
static bool is_number_everywhere(struct flattener *f, ir_var v, int64_t number) {
  const struct ir_binding *distributed = defined_by(f, v, OPC_DIST);
  int64_t known;
  return known_int(f, distributed ? distributed->operands[0] : v, &known) && known == number;
}

/* Whether flags are T wherever `lengths` are not 0, as in `if #v == 0` and its variants. */
static bool where_not_empty(struct flattener *f, ir_var flags, ir_var lengths) {
  static const struct {
    enum opcode compare;
    int64_t number;
    bool negated;
  } forms[] = {{OPC_NE, 0, false}, {OPC_GT, 0, false}, {OPC_GE, 1, false},
               {OPC_EQ, 0, true},  {OPC_LE, 0, true},  {OPC_LT, 1, true}};
  const struct ir_binding *negation = defined_by(f, flags, OPC_NOT);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (forms[i].negated != (negation != NULL)) continue;
    const struct ir_binding *x =
        defined_by(f, negation ? negation->operands[0] : flags, forms[i].compare);
    if (x && x->operands[0] == lengths &&
        is_number_everywhere(f, x->operands[1], forms[i].number)) {
      return true;
    }
  }
  return false;
}

static const struct rep *lift_step(struct flattener *f, const struct rep *r,
                                   const struct context *to) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR: return rep_pair(f, lift_step(f, r->left, to), lift_step(f, r->right, to));
  case REP_PULLED:
    return rep_pulled(f, r->function, lift_step(f, r->left, to), lift_step(f, r->right, to));
  case REP_SCALAR:
  case REP_SEQUENCE: break;
  }
  if (r->shared) return r;
  const bool each = to->kind == CONTEXT_EACH;
  ir_var v = r->v;
  if (r->kind == REP_SEQUENCE && r->base) v = r->owner;
  if (r->kind == REP_SEQUENCE && !r->base) { /* the positions of the parent's instances */
    const ir_var zero = emit_int(f, 0), one = emit_int(f, 1);
    v = EMIT(f, INDEX, NONE, zero, one, to->parent->one);
  }
  const enum type_word word = r->kind == REP_SCALAR ? (enum type_word)r->word : TW_INT;
  if (each) {
    v = emit(f, OPC_DIST, word, 2, (ir_var[]){v, to->segdes});
  } else {
    ir_var out[2];
    emit_results(f, OPC_PACK, word, 3, (ir_var[]){v, to->flags, to->around}, 2, out);
    v = out[0];
  }
  if (r->kind == REP_SCALAR) return rep_scalar(f, word, v, false);
  if (each || r->base) return rep_view(f, r->base ? r->base : r, v);
  struct rep *view = new_rep(f, REP_SEQUENCE);
  *view = (struct rep){
      .kind = REP_SEQUENCE, .columns = r->columns, .base = r, .owner = v, .packed = true};
  view->flags = to->flags;
  view->around = to->around;
  view->whole = where_not_empty(f, to->flags, seq_lengths(f, r));
  return view;
}

const struct rep *context_lift(struct flattener *f, const struct rep *r,
                               const struct context *from, const struct context *to) {
  if (from == to || rep_all_shared(r)) return r;
  if (context_serial(from)) return shared_by_all(f, from, r);
  if (!to->parent) {
    unsupported(f, "a value of a context that is not around its use");
    return r;
  }
  return lift_step(f, context_lift(f, r, from, to->parent), to);
}
