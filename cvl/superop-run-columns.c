/* superop-run-columns.c - vector operations for combinations, and their function on all pairs
 * of a level at once.
 */
#include "cvl/superop-run-combine.h"

const struct superop_node *comb_consumer(const struct run_combination *w, uint32_t column) {
  return &w->r->op->nodes[w->at.ends + column];
}

struct cvl_value comb_hold(struct run_combination *w, bool made, const struct cvl_value *v) {
  w->ok = made;
  if (!made) return (struct cvl_value){0};
  w->held[w->held_count] = *v;
  w->held[w->held_count].owned = 0;
  return w->held[w->held_count++];
}

void comb_release_to(struct run_combination *w, uint32_t mark) {
  while (w->held_count > mark) w->r->b->release(w->r->ctx, &w->held[--w->held_count]);
}

void comb_release_others(struct run_combination *w, uint32_t mark,
                         struct cvl_value *const *keep, uint32_t count) {
  if (!w->ok) return;
  for (uint32_t i = 0; i < count; i++) w->r->b->retain(w->r->ctx, keep[i]);
  comb_release_to(w, mark);
  for (uint32_t i = 0; i < count; i++) w->held[w->held_count++] = *keep[i];
}

uint64_t comb_length_of(struct run_combination *w, const struct cvl_value *v) {
  if (!w->ok) return 0;
  struct cvl_size n = w->r->b->length(w->r->ctx, v);
  if (n.symbol) w->ok = w->r->b->resolve(w->r->ctx, &n);
  return w->ok ? n.bound : 0;
}

struct cvl_value comb_number(const struct run_combination *w, int64_t x) {
  return cvl_scalar_int(w->int_elem, x);
}

struct cvl_value comb_flat(struct run_combination *w, struct cvl_value x, uint64_t n) {
  struct cvl_value out = {0};
  const struct cvl_value d = cvl_one_segment(n);
  if (!w->ok) return out;
  return comb_hold(
      w, w->r->b->apply(w->r->ctx, w->r->site, &CVL_CALL(CALL_DIST, OP_DIST, x, d), &out),
      &out);
}

struct cvl_value comb_spread(struct run_combination *w, struct cvl_value v,
                             struct cvl_value d) {
  struct cvl_value out = {0};
  v.owned = d.owned = 0;
  if (!w->ok) return out;
  return comb_hold(
      w, w->r->b->apply(w->r->ctx, w->r->site, &CVL_CALL(CALL_DIST, OP_DIST, v, d), &out),
      &out);
}

struct cvl_value comb_count_up(struct run_combination *w, uint64_t first, uint64_t n) {
  struct cvl_value out = {0};
  const struct cvl_value start = comb_number(w, (int64_t)first), one = comb_number(w, 1),
                         d = cvl_one_segment(n);
  if (!w->ok) return out;
  return comb_hold(w,
                   w->r->b->apply(w->r->ctx, w->r->site,
                                  &CVL_CALL(CALL_INDEX, OP_INDEX, start, one, d), &out),
                   &out);
}

struct cvl_value comb_map(struct run_combination *w, enum cvl_op op, struct cvl_value a,
                          struct cvl_value b) {
  const struct cvl_value v[2] = {a, b};
  struct cvl_value out = {0};
  if (!w->ok) return out;
  return comb_hold(
      w,
      w->r->b->apply(w->r->ctx, w->r->site, &CVL_CALL(CALL_ELEMENTWISE, op, v[0], v[1]), &out),
      &out);
}

struct cvl_value comb_map_number(struct run_combination *w, enum cvl_op op, struct cvl_value a,
                                 int64_t x, uint64_t n) {
  const struct cvl_value b = comb_flat(w, comb_number(w, x), n);
  return comb_map(w, op, a, b);
}

struct cvl_value comb_move(struct run_combination *w, enum cvl_op op, struct cvl_permute p) {
  struct cvl_value out = {0};
  if (!w->ok) return out;
  p.values.owned = p.index.owned = p.defaults.owned = p.s.owned = p.d.owned = 0;
  const struct cvl_call call = {
      .kind = CALL_PERMUTE, .op = op, .count = CALL_OPERANDS, .permute = p};
  return comb_hold(w, w->r->b->apply(w->r->ctx, w->r->site, &call, &out), &out);
}

struct cvl_value comb_gather(struct run_combination *w, struct cvl_value v, uint64_t of,
                             struct cvl_value index, uint64_t n) {
  return comb_move(
      w, OP_BPERMUTE,
      (struct cvl_permute){
          .values = v, .index = index, .s = cvl_one_segment(of), .d = cvl_one_segment(n)});
}

struct cvl_value comb_scatter(struct run_combination *w, struct cvl_value v,
                              struct cvl_value index, uint64_t n, struct cvl_value into,
                              uint64_t of) {
  return comb_move(w, OP_DPERMUTE,
                   (struct cvl_permute){.values = v,
                                        .index = index,
                                        .defaults = into,
                                        .s = cvl_one_segment(n),
                                        .d = cvl_one_segment(of)});
}

struct cvl_value comb_where(struct run_combination *w, struct cvl_value flags, uint64_t n) {
  const struct cvl_value i = comb_count_up(w, 0, n), d = cvl_one_segment(n);
  struct cvl_value out[CALL_RESULTS] = {{0}};
  if (!w->ok) return out[0];
  bool made =
      w->r->b->apply(w->r->ctx, w->r->site, &CVL_CALL(CALL_PACK, OP_PACK, i, flags, d), out);
  if (made) w->r->b->release(w->r->ctx, &out[1]);
  return comb_hold(w, made, &out[0]);
}

/* ---- the function ---- */

/* Returns the CONST that value v is a DIST of, or NULL for any other value before the
 * combination. */
static const struct superop_node *superop_run_columns_constant_of(const struct superop *op,
                                                                  uint32_t v) {
  uint32_t k = 0;
  if (v < op->param_count) return NULL;
  while (op->nodes[k].result != v || op->nodes[k].result_count == 0) k++;
  if (op->nodes[k].role != ROLE_SPREAD) return NULL;
  const uint32_t from = op->nodes[k].operands[0];
  while (k > 0 && (op->nodes[k].result != from || op->nodes[k].role != ROLE_CONST)) k--;
  return op->nodes[k].role == ROLE_CONST ? &op->nodes[k] : NULL;
}

static void note_constant(struct run_combination *w, uint32_t v) {
  /* it is computed inside the combination */
  if (v >= w->r->op->nodes[w->at.first].result) return;
  for (uint32_t i = 0; i < w->constant_count; i++) {
    if (w->constants[i] == v) return;
  }
  w->constants[w->constant_count++] = v;
}

void comb_find_constants(struct run_combination *w) {
  const struct superop *op = w->r->op;
  for (uint32_t k = w->at.first + w->at.count; k < w->at.ends; k++) {
    for (uint32_t i = 0; i < op->nodes[k].operand_count; i++) {
      note_constant(w, op->nodes[k].operands[i]);
    }
  }
  for (uint32_t c = 0; c < w->at.count; c++) note_constant(w, comb_consumer(w, c)->operands[1]);
}

/* Makes n pairs the values of the COLUMNs. Their right elements are at `index` of y, and their
 * left ones one position before in x. Both have `of` elements. */
static void set_pairs(struct run_combination *w, const struct cvl_value *x,
                      const struct cvl_value *y, uint64_t of, struct cvl_value index,
                      uint64_t n) {
  const struct cvl_value before = comb_map_number(w, OP_SUB, index, 1, n);
  for (uint32_t c = 0; c < w->at.count; c++) {
    struct cvl_value *to = &w->values[w->r->op->nodes[w->at.first + c].result];
    for (int right = 0; right < 2; right++) {
      const struct cvl_value v =
          right ? comb_gather(w, y[c], of, index, n) : comb_gather(w, x[c], of, before, n);
      if (!w->ok) return;
      w->held_count--; /* the value is held there, so that f may overwrite it */
      to[right] = v;
      to[right].owned = 1;
    }
  }
}

static void set_constants(struct run_combination *w, uint64_t n) {
  for (uint32_t i = 0; i < w->constant_count && w->ok; i++) {
    const uint32_t v = w->constants[i];
    const struct cvl_value x =
        comb_flat(w, superop_run_columns_constant_of(w->r->op, v)->constant, n);
    if (!w->ok) return;
    w->held_count--;
    w->values[v] = x;
    w->values[v].owned = 1;
  }
}

void comb_compute(struct run_combination *w, const struct cvl_value *x,
                  const struct cvl_value *y, uint64_t of, struct cvl_value index, uint64_t n,
                  struct cvl_value *out) {
  const struct superop *op = w->r->op;
  set_pairs(w, x, y, of, index, n);
  set_constants(w, n);
  for (uint32_t k = w->at.first + w->at.count; k < w->at.ends && w->ok; k++) {
    w->inside.site = w->site + k;
    w->ok = run_node(&w->inside, k);
  }
  for (uint32_t c = 0; c < w->at.count && w->ok; c++) {
    struct cvl_value v = w->values[comb_consumer(w, c)->operands[1]];
    w->r->b->retain(w->r->ctx, &v);
    out[c] = comb_hold(w, true, &v);
  }
  for (uint32_t i = 0; i < w->constant_count; i++) run_give_up(&w->inside, w->constants[i]);
  for (uint32_t v = op->nodes[w->at.first].result; v < comb_consumer(w, 0)->result; v++) {
    run_give_up(&w->inside, v);
  }
}
