/* prims-sequence.c - primitives on sequences, and the dispatch of all primitives.
 *
 * A primitive whose argument is the same for all instances is executed once, in the serial
 * context; what could fail then runs only if there is an instance (flatten_if_any).
 */
#include "cvl/trees.h"
#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/primitive.h"
#include "neslc/flatten/rep.h"
#include "neslc/primitives/prims.h"

/* ---- elements and lengths ---- */

ir_var element_scalars(struct flattener *f, const struct rep *plain) {
  const struct context inside = context_elements(f, plain);
  return rep_each_scalar(f, &inside, plain->elements);
}

/* Returns INTs with the descriptor of another sequence. */
static const struct rep *int_sequence(struct flattener *f, const struct rep *like, ir_var v) {
  return rep_sequence(f, like->segdes, like->outer, rep_scalar(f, TW_INT, v, false),
                      like->shared);
}

/* A constant for each instance of the context. */
ir_var each_int(struct flattener *f, const struct context *c, int64_t x) {
  const struct rep r = {
      .kind = REP_SCALAR, .word = TW_INT, .shared = true, .v = emit_int(f, x)};
  return rep_each_scalar(f, c, &r);
}

/* Returns 0 .. length-1 in each sequence. */
static ir_var element_positions(struct flattener *f, const struct context *c,
                                const struct rep *plain) {
  return EMIT(f, INDEX, NONE, each_int(f, c, 0), each_int(f, c, 1), plain->segdes);
}

static const struct rep *length(struct flattener *f, const struct context *c,
                                const struct rep *v) {
  if (v->kind == REP_PULLED) return v->right;
  if (v->base) {
    return rep_scalar(f, TW_INT, view_lengths(f, v, c->one), context_serial(c));
  }
  return rep_scalar(f, TW_INT, seq_lengths(f, v), v->shared || context_serial(c));
}

/* ---- reductions and scans ---- */

/* An empty sequence of chars has no greatest or least element. */
static void require_chars(struct flattener *f, const struct context *c, const struct rep *v,
                          struct type *type) {
  if (type_of(type_of(type)->part[0])->tag != TYPE_CHAR) return;
  const struct rep *n = length(f, c, v);
  const ir_var lengths = rep_each_scalar(f, c, n);
  const ir_var good = EMIT(f, GT, INT, lengths, each_int(f, c, 0));
  emit_check(f, good, check_text(CHECK_NO_CHARACTER));
}

static const struct rep *emit_reduce(struct flattener *f, const struct context *c,
                                     enum opcode op, const struct rep *v) {
  const struct rep *s = v->base ? v->base : rep_plain(f, c, v);
  const ir_var x = element_scalars(f, s);
  const enum type_word word = (enum type_word)s->elements->word;
  ir_var r = emit(f, op, word, 2, (ir_var[]){x, s->segdes});
  if (v->base) { /* each sequence of the base is reduced once */
    r = emit(f, OPC_BPERMUTE, word, 4, (ir_var[]){r, v->owner, s->outer, c->one});
  }
  return rep_scalar(f, word, r, context_serial(c));
}

/* The operation of which a reduction of more than one number consists; false if there is none.
 */
static bool reduction_step(enum opcode op, enum type_word word, enum opcode *step) {
  switch (op) {
  case OPC_ADD_REDUCE: *step = OPC_ADD; return true;
  case OPC_MUL_REDUCE: *step = OPC_MUL; return true;
  case OPC_AND_REDUCE: *step = OPC_AND; return true;
  case OPC_OR_REDUCE: *step = OPC_OR; return true;
  case OPC_XOR_REDUCE: *step = OPC_XOR; return true;
  case OPC_MAX_REDUCE: *step = OPC_GT; return word == TW_INT;
  case OPC_MIN_REDUCE: *step = OPC_LT; return word == TW_INT;
  default: return false;
  }
}

static ir_var reduce_two(struct flattener *f, enum opcode step, enum type_word word, ir_var x,
                         ir_var y) {
  const ir_var r = emit(f, step, word, 2, (ir_var[]){x, y});
  return step == OPC_GT || step == OPC_LT ? EMIT(f, SELECT, INT, r, x, y) : r;
}

/* A reduction of elements that are known one by one, in the order of trees.h: padding changes
 * nothing, so it is left out. NULL if they are not known, or more than lanes. */
static const struct rep *reduce_parts(struct flattener *f, struct context *c, enum opcode op,
                                      const struct rep *v) {
  uint32_t count = v->kind == REP_PULLED || v->part_count > 0 ? known_parts(f, c, v) : 0;
  if (count == 0 || count > CVL_REDUCE_LANES) return NULL;
  const struct rep *const *parts = rep_parts(f, c, v, count);
  const enum type_word word = (enum type_word)parts[0]->word;
  enum opcode step;
  if (parts[0]->kind != REP_SCALAR || !reduction_step(op, word, &step)) return NULL;
  ir_var lane[CVL_REDUCE_LANES];
  for (uint32_t k = 0; k < count; k++) lane[k] = rep_each_scalar(f, c, parts[k]);
  for (uint32_t w = CVL_REDUCE_LANES / 2; w > 0; w /= 2) {
    for (uint32_t k = 0; k < w && k + w < count; k++)
      lane[k] = reduce_two(f, step, word, lane[k], lane[k + w]);
    if (count > w) count = w;
  }
  return rep_scalar(f, word, lane[0], context_serial(c));
}

static const struct rep *prims_sequence_scan_sequence(struct flattener *f,
                                                      const struct context *c, enum opcode op,
                                                      const struct rep *v) {
  const struct rep *s = rep_plain(f, c, v);
  const ir_var x = element_scalars(f, s);
  const enum type_word word = (enum type_word)s->elements->word;
  const enum type_word result = operand_word(opcode_info(op)->results[0], word);
  const ir_var r = emit(f, op, word, 2, (ir_var[]){x, s->segdes});
  return rep_sequence(f, s->segdes, s->outer, rep_scalar(f, result, r, false), s->shared);
}

/* ---- construction ---- */

static const struct rep *emit_distribute(struct flattener *f, struct context *c,
                                         const struct rep *argument) {
  const struct rep *x = argument->left, *n = argument->right;
  int64_t known;
  const bool safe = known_int(f, n->v, &known) && known >= 0;
  const ir_var count = rep_each_scalar(f, c, n);
  if (!safe) {
    emit_assert(f, EMIT(f, GE, INT, count, each_int(f, c, 0)), count, count,
                check_text(CHECK_DIST));
  }
  const ir_var segdes = EMIT(f, MAKE_SEGDES, NONE, count);
  const struct rep *r = rep_sequence(f, segdes, c->one, NULL, context_serial(c));
  const struct context inside = {
      .kind = CONTEXT_EACH, .parent = c, .one = seq_elements_one(f, r), .segdes = segdes};
  return rep_sequence(f, segdes, c->one, context_lift(f, x, c, &inside), context_serial(c));
}

static const struct rep *emit_series(struct flattener *f, const struct context *c, ir_var start,
                                     ir_var stride, ir_var count) {
  const ir_var segdes = EMIT(f, MAKE_SEGDES, NONE, count);
  const ir_var v = EMIT(f, INDEX, NONE, start, stride, segdes);
  return rep_sequence(f, segdes, c->one, rep_scalar(f, TW_INT, v, false), context_serial(c));
}

static bool has_narrow_width(const struct flattener *f) {
  return f->options->widths.int_elem == CVL_I32;
}

/* The length of a range: ceil(span / d), for span >= 0 and d > 0. */
static ir_var steps_within(struct flattener *f, ir_var span, ir_var d) {
  const ir_var whole = EMIT(f, DIV, INT, span, d);
  const ir_var rest = EMIT(f, NE, INT, EMIT(f, MUL, INT, whole, d), span);
  return EMIT(f, ADD, INT, whole, EMIT(f, B_TO_I, NONE, rest));
}

/* The same for a span that may be anything up to 2^64 - 1 (with 32 bits, 2^32 - 1), as the
 * difference of two INTs is, modulo 2^64: half of it is divided, so that all is positive, which
 * leaves a remainder below 2 d (Warren, "Hacker's Delight", 9-3). The result is exact modulo
 * 2^64, hence negative where it is no INT. */
static ir_var steps_within_any(struct flattener *f, const struct context *c, ir_var span,
                               ir_var d) {
  const ir_var zero = each_int(f, c, 0), one = each_int(f, c, 1);
  const ir_var greatest = each_int(f, c, has_narrow_width(f) ? INT32_MAX : INT64_MAX);
  const ir_var half = EMIT(f, AND, INT, EMIT(f, RSHIFT, NONE, span, one), greatest);
  const ir_var whole = EMIT(f, LSHIFT, NONE, EMIT(f, DIV, INT, half, d), one);
  const ir_var rest = EMIT(f, SUB, INT, span, EMIT(f, MUL, INT, whole, d));
  const ir_var some = EMIT(f, NE, INT, rest, zero);
  const ir_var more =
      EMIT(f, OR, BOOL, EMIT(f, LT, INT, rest, zero), EMIT(f, GT, INT, rest, d));
  const ir_var steps =
      EMIT(f, ADD, INT, EMIT(f, B_TO_I, NONE, some), EMIT(f, B_TO_I, NONE, more));
  return EMIT(f, ADD, INT, whole, steps);
}

/* The length of a range that is known. */
static uint64_t known_steps(int64_t first, int64_t step, int64_t end) {
  const uint64_t span = (uint64_t)end - (uint64_t)first, d = (uint64_t)step;
  return span / d + (span % d != 0);
}

/* (start, stride, end): start, start + stride ... below end. */
static const struct rep *emit_range(struct flattener *f, const struct context *c,
                                    const struct rep *argument) {
  const struct rep *s = argument->left, *d = argument->right->left, *e = argument->right->right;
  int64_t first = 0, step = 0, end = 0;
  const bool known_first = known_int(f, s->v, &first), known_step = known_int(f, d->v, &step),
             known_end = known_int(f, e->v, &end);
  const ir_var start = rep_each_scalar(f, c, s), stride = rep_each_scalar(f, c, d),
               limit = rep_each_scalar(f, c, e);
  const bool good_step = known_step && step >= 1,
             good_end = known_first && known_end && first <= end;
  if (!good_end) {
    emit_assert(f, EMIT(f, LE, INT, start, limit), start, limit, check_text(CHECK_ISEQ_END));
  }
  if (!good_step) {
    emit_assert(f, EMIT(f, GE, INT, stride, each_int(f, c, 1)), stride, stride,
                check_text(CHECK_ISEQ_STRIDE));
  }
  if (good_end && good_step) {
    const uint64_t n = known_steps(first, step, end);
    if (n <= (has_narrow_width(f) ? INT32_MAX : INT64_MAX))
      return emit_series(f, c, start, stride, each_int(f, c, (int64_t)n));
  }
  const bool from_zero = known_first && first >= 0; /* then the span is at most the end */
  ir_var count = known_first && first == 0 ? limit : EMIT(f, SUB, INT, limit, start);
  if (!(good_step && step == 1)) {
    count = from_zero ? steps_within(f, count, stride) : steps_within_any(f, c, count, stride);
  }
  if (!from_zero && !(good_step && step >= 3)) {
    emit_assert(f, EMIT(f, GE, INT, count, each_int(f, c, 0)), start, limit,
                check_text(CHECK_ISEQ_LENGTH));
  }
  return emit_series(f, c, start, stride, count);
}

/* Whether the scalars v of a sequence are equal within each of its segments, and which: those
 * of sequences of one element and of copies. */
static bool same_within(struct flattener *f, const struct context *c, const struct rep *s,
                        ir_var v, ir_var *each) {
  int64_t one;
  const ir_var lengths = seq_lengths(f, s);
  const struct ir_binding *d = defined_by(f, v, OPC_DIST);
  const struct ir_binding *n = defined_by(f, lengths, OPC_DIST);
  const bool ones =
      known_int(f, n && n->operands[1] == c->one ? n->operands[0] : lengths, &one);
  *each = d && d->operands[1] == s->segdes ? d->operands[0] : v;
  return (d && d->operands[1] == s->segdes) || (ones && one == 1);
}

struct operand {
  const struct rep *sequence; /* plain */
  struct context inside;      /* context of its elements */
  ir_var index;               /* of its elements in the result */
};

struct concatenation {
  ARRAY(struct operand) operands;
  ir_var segdes, all; /* of the result */
};

/* Concatenates the scalars of all operands. An operand whose scalars are equal within each
 * segment is distributed over the whole result, and the others are scattered over it. */
static ir_var join_scalars(struct flattener *f, const struct context *c,
                           const struct concatenation *j, enum type_word word,
                           const ir_var *v) {
  const size_t n = j->operands.count;
  ir_var each, ground_value = 0;
  size_t from = 0;
  while (from < n &&
         !same_within(f, c, j->operands.items[from].sequence, v[from], &ground_value)) {
    from++;
  }
  ir_var out = from < n ? emit(f, OPC_DIST, word, 2, (ir_var[]){ground_value, j->segdes})
                        : emit(f, OPC_DIST, word, 2, (ir_var[]){emit_zero(f, word), j->all});
  for (size_t i = 0; i < n; i++) {
    const struct operand *p = &j->operands.items[i];
    if (from < n && same_within(f, c, p->sequence, v[i], &each) && each == ground_value)
      continue;
    out =
        emit(f, OPC_DPERMUTE, word, 5, (ir_var[]){v[i], p->index, out, p->inside.one, j->all});
  }
  return out;
}

/* `elements`: those of each operand, physical. */
static const struct rep *join_elements(struct flattener *f, const struct context *c,
                                       const struct concatenation *j,
                                       const struct rep *const *elements) {
  const size_t n = j->operands.count;
  const struct rep *first = elements[0];
  switch ((enum rep_kind)first->kind) {
  case REP_NOTHING: return first;
  case REP_PAIR: {
    const struct rep **side = arena_alloc(f->arena, n * sizeof *side);
    for (size_t i = 0; i < n; i++) side[i] = elements[i]->left;
    const struct rep *left = join_elements(f, c, j, side);
    for (size_t i = 0; i < n; i++) side[i] = elements[i]->right;
    return rep_pair(f, left, join_elements(f, c, j, side));
  }
  case REP_SCALAR: {
    const enum type_word word = (enum type_word)first->word;
    ir_var *v = arena_alloc(f->arena, n * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = elements[i]->v;
    return rep_scalar(f, word, join_scalars(f, c, j, word, v), false);
  }
  case REP_PULLED: /* elements are physical */
  case REP_SEQUENCE: break;
  }
  struct merge_source *sources = arena_alloc(f->arena, n * sizeof *sources);
  for (size_t i = 0; i < n; i++) {
    const struct operand *p = &j->operands.items[i];
    sources[i] = (struct merge_source){elements[i], p->index, p->inside.one};
  }
  return rep_merge(f, sources, (unsigned)n, j->all);
}

/* Adds the sequences of an argument: pairs are nested appends (flatten_appended). */
static void add_concatenation_operands(struct flattener *f, const struct context *c,
                                       const struct rep *r, struct concatenation *j) {
  if (r->kind == REP_PAIR) {
    add_concatenation_operands(f, c, r->left, j);
    add_concatenation_operands(f, c, r->right, j);
    return;
  }
  struct operand *p = array_push(f->arena, &j->operands);
  p->sequence = rep_plain(f, c, r);
  p->inside = context_elements(f, p->sequence);
}

static const struct rep *emit_append(struct flattener *f, const struct context *c,
                                     const struct rep *argument) {
  struct concatenation j = {0};
  add_concatenation_operands(f, c, argument, &j);
  const size_t n = j.operands.count;
  ir_var lengths = seq_lengths(f, j.operands.items[0].sequence);
  for (size_t i = 1; i < n; i++) {
    const ir_var more = seq_lengths(f, j.operands.items[i].sequence);
    const ir_var sum = EMIT(f, ADD, INT, lengths, more);
    emit_assert(f, EMIT(f, GE, INT, sum, each_int(f, c, 0)), lengths, more,
                check_text(CHECK_APPEND_LENGTH));
    lengths = sum;
  }
  j.segdes = EMIT(f, MAKE_SEGDES, NONE, lengths);
  const struct rep *r = rep_sequence(f, j.segdes, c->one, NULL, context_serial(c));
  j.all = seq_elements_one(f, r);
  ir_var begin = context_serial(c) ? emit_int(f, 0) : seq_offsets(f, r);
  const struct rep **elements = arena_alloc(f->arena, n * sizeof *elements);
  for (size_t i = 0; i < n; i++) {
    struct operand *p = &j.operands.items[i];
    p->index = EMIT(f, INDEX, NONE, begin, each_int(f, c, 1), p->sequence->segdes);
    elements[i] = rep_physical(f, &p->inside, p->sequence->elements);
    begin = EMIT(f, ADD, INT, begin, seq_lengths(f, p->sequence));
  }
  return rep_sequence(f, j.segdes, c->one, join_elements(f, c, &j, elements),
                      context_serial(c));
}

/* ---- nesting ---- */

static const struct rep *emit_pack(struct flattener *f, const struct context *c,
                                   const struct rep *argument) {
  const struct rep *s = rep_plain(f, c, argument);
  struct context inside = context_elements(f, s);
  const ir_var flags = rep_each_scalar(f, &inside, s->elements->right);
  ir_var out[2];
  emit_results(f, OPC_PACK, TW_BOOL, 3, (ir_var[]){flags, flags, s->segdes}, 2, out);
  const struct rep *kept = rep_sequence(f, out[1], s->outer, NULL, s->shared);
  const struct context packed = {.kind = CONTEXT_PACKED,
                                 .parent = &inside,
                                 .one = seq_elements_one(f, kept),
                                 .flags = flags,
                                 .around = s->segdes};
  return rep_sequence(f, out[1], s->outer, context_lift(f, s->elements->left, &inside, &packed),
                      s->shared);
}

/* The lengths of the results must fit into INTs. With 64 bits they do if the descriptor of the
 * inner sequences can be computed; that check is free where the elements are used. With 32 bits
 * the first sum that overflows is negative. */
static void check_sums(struct flattener *f, const struct rep *outer, const struct rep *inner,
                       ir_var sums) {
  if (!has_narrow_width(f)) {
    *array_push(f->arena, &f->wanted) = inner->segdes;
    return;
  }
  const ir_var zero = emit_int(f, 0);
  const ir_var begin = EMIT(f, ADD_SCAN, INT, seq_lengths(f, inner), outer->segdes);
  emit_assert(f, EMIT(f, GE, INT, begin, EMIT(f, DIST, INT, zero, inner->outer)), begin, begin,
              check_text(CHECK_FLATTEN_LENGTH));
  emit_assert(f, EMIT(f, GE, INT, sums, EMIT(f, DIST, INT, zero, outer->outer)), sums, sums,
              check_text(CHECK_FLATTEN_LENGTH));
}

static const struct rep *flatten_sequence(struct flattener *f, const struct context *c,
                                          const struct rep *v) {
  const struct rep *outer = rep_plain(f, c, v);
  const struct context inside = context_elements(f, outer);
  const struct rep *inner = rep_plain(f, &inside, outer->elements);
  const ir_var lengths = EMIT(f, ADD_REDUCE, INT, seq_lengths(f, inner), outer->segdes);
  check_sums(f, outer, inner, lengths);
  return rep_sequence(f, EMIT(f, MAKE_SEGDES, NONE, lengths), outer->outer, inner->elements,
                      outer->shared);
}

/* The counts of a partition add up to an int: as check_sums. */
static void check_counts(struct flattener *f, const struct rep *counts, ir_var x) {
  if (!has_narrow_width(f)) return;
  const struct context inside = context_elements(f, counts);
  const ir_var begin = EMIT(f, ADD_SCAN, INT, x, counts->segdes);
  emit_assert(f, EMIT(f, GE, INT, begin, each_int(f, &inside, 0)), begin, begin,
              check_text(CHECK_PARTITION_SUM));
}

/* Counts add up to the lengths of what they divide, which so stays as long as it was. */
static const struct rep *divided(struct flattener *f, const struct rep *v,
                                 const struct rep *counts, ir_var segdes) {
  const ir_var x = element_scalars(f, counts), n = seq_lengths(f, v);
  remember_sums(f, x, counts->segdes, n);
  const ir_var all = seq_elements_one(f, counts);
  if (all != counts->segdes) remember_sums(f, x, all, EMIT(f, ADD_REDUCE, INT, n, v->outer));
  return rep_sequence(f, segdes, all, v->elements, false);
}

static const struct rep *emit_partition(struct flattener *f, const struct context *c,
                                        const struct rep *argument, bool checked) {
  const struct rep *v = rep_plain(f, c, argument->left);
  const struct rep *counts = rep_plain(f, c, argument->right);
  const ir_var x = element_scalars(f, counts);
  if (checked) {
    const struct context inside = context_elements(f, counts);
    emit_assert(f, EMIT(f, GE, INT, x, each_int(f, &inside, 0)), x, x,
                check_text(CHECK_PARTITION_COUNT));
    check_counts(f, counts, x);
    const ir_var sum = EMIT(f, ADD_REDUCE, INT, x, counts->segdes), n = seq_lengths(f, v);
    emit_assert(f, EMIT(f, EQ, INT, sum, n), sum, n, check_text(CHECK_PARTITION_TOTAL));
  }
  const ir_var segdes = EMIT(f, MAKE_SEGDES, NONE, x);
  if (checked && !has_narrow_width(f)) *array_push(f->arena, &f->wanted) = segdes;
  return rep_sequence(f, counts->segdes, counts->outer, divided(f, v, counts, segdes),
                      counts->shared);
}

static const struct rep *emit_zip(struct flattener *f, const struct context *c,
                                  const struct rep *argument) {
  const struct rep *a = rep_plain(f, c, argument->left);
  const struct rep *b = rep_plain(f, c, argument->right);
  if (a->segdes != b->segdes) {
    const ir_var x = seq_lengths(f, a), y = seq_lengths(f, b);
    if (x != y) {
      emit_assert(f, EMIT(f, EQ, INT, x, y), x, y, check_text(CHECK_ZIP));
    }
  }
  return rep_sequence(f, a->segdes, a->outer, rep_pair(f, a->elements, b->elements), a->shared);
}

static const struct rep *emit_unzip(struct flattener *f, const struct context *c,
                                    const struct rep *v) {
  const struct rep *s = rep_no_view(f, c, v);
  return rep_pair(f, rep_sequence(f, s->segdes, s->outer, s->elements->left, s->shared),
                  rep_sequence(f, s->segdes, s->outer, s->elements->right, s->shared));
}

/* ---- dispatch ---- */

/* An argument whose pulled sequences are computed. Those in sequences are when they are used.
 */
static const struct rep *computed_argument(struct flattener *f, const struct context *c,
                                           const struct rep *x) {
  if (x->kind == REP_PULLED) return rep_computed(f, c, x);
  if (x->kind != REP_PAIR) return x;
  const struct rep *left = computed_argument(f, c, x->left);
  return rep_pair(f, left, computed_argument(f, c, x->right));
}

const struct rep *prim_sequence(struct flattener *f, struct context *c, enum primitive p,
                                const struct rep *x, struct type *type, struct type *result) {
  const struct primitive_info *info = primitive_info(p);
  if (info->group == PRIMITIVE_REDUCE) {
    const struct rep *r = reduce_parts(f, c, info->opcode, x);
    if (r) return r;
  }
  if (p != PRIM_LENGTH && p != PRIM_ELT && p != PRIM_ELT_NOCHECK && p != PRIM_DIST) {
    x = computed_argument(f, c, x);
  }
  if (info->group == PRIMITIVE_REDUCE) {
    if (info->may_fail) require_chars(f, c, x, type);
    return emit_reduce(f, c, info->opcode, x);
  }
  if (info->group == PRIMITIVE_SCAN || info->group == PRIMITIVE_RANK) {
    return prims_sequence_scan_sequence(f, c, info->opcode, x);
  }
  switch (p) {
  case PRIM_LENGTH: return length(f, c, x);
  case PRIM_DIST: return emit_distribute(f, c, x);
  case PRIM_ISEQ: return emit_range(f, c, x);
  case PRIM_SERIES:
    return emit_series(f, c, rep_each_scalar(f, c, x->left),
                       rep_each_scalar(f, c, x->right->left),
                       rep_each_scalar(f, c, x->right->right));
  case PRIM_POSITIONS: {
    const struct rep *s = rep_plain(f, c, x);
    return int_sequence(f, s, element_positions(f, c, s));
  }
  case PRIM_APPEND: return emit_append(f, c, x);
  case PRIM_PACK: return emit_pack(f, c, x);
  case PRIM_FLATTEN: return flatten_sequence(f, c, x);
  case PRIM_PARTITION: return emit_partition(f, c, x, true);
  case PRIM_PARTITION_NOCHECK: return emit_partition(f, c, x, false);
  case PRIM_ZIP: return emit_zip(f, c, x);
  case PRIM_UNZIP: return emit_unzip(f, c, x);
  default: return prim_move(f, c, p, x, type, result);
  }
}

struct shared_call {
  enum primitive p;
  const struct rep *argument;
  struct type *type, *result;
};
static const struct rep *shared_body(struct flattener *f, void *closure) {
  const struct shared_call *k = closure;
  return prim_sequence(f, &f->serial, k->p, k->argument, k->type, k->result);
}

static const struct rep *sequence_value(struct flattener *f, struct context *c,
                                        enum primitive p, const struct rep *x,
                                        struct type *type, struct type *result) {
  const struct primitive_info *info = primitive_info(p);
  if (context_serial(c) || !rep_all_shared(x)) return prim_sequence(f, c, p, x, type, result);
  if (!info->may_fail) {
    return context_lift(f, prim_sequence(f, &f->serial, p, x, type, result), &f->serial, c);
  }
  int64_t n;
  if (p == PRIM_DIST && known_int(f, x->right->v, &n) && n >= 0) {
    return context_lift(f, prim_sequence(f, &f->serial, p, x, type, result), &f->serial, c);
  }
  struct shared_call k = {p, x, type, result};
  return flatten_if_any(f, c, result, shared_body, &k);
}

const struct rep *flatten_primitive(struct flattener *f, struct context *c, enum primitive p,
                                    const struct rep *x, struct type *type,
                                    struct type *result) {
  const struct primitive_info *info = primitive_info(p);
  if (info->group == PRIMITIVE_SCALAR) return prim_scalar(f, c, p, x, result);
  if (info->effect != PRIMITIVE_FREE) {
    return prim_effect(f, c, p, computed_argument(f, c, x), type, result);
  }
  const struct rep *r = sequence_value(f, c, p, x, type, result);
  const bool series = (p == PRIM_SERIES || p == PRIM_ISEQ) && r->shared;
  return series ? rep_series(f, r, x->left->v, x->right->left->v) : r;
}
