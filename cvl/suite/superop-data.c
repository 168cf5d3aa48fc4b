/* superop-data.c - makes data for the parameters of a random superoperator, by their
 * recipes.
 */
#include "cvl/suite/superop.h"

#include <string.h>

static enum cvl_elem superop_data_elem_of(const struct suite *s, uint8_t kind) {
  return superop_elem((enum superop_kind)kind, s->int_elem, s->float_elem);
}

static struct host_value superop_data_filled(struct suite *s, uint8_t kind, uint64_t n) {
  static const enum cvl_op ops[] = {OP_ADD, OP_MUL, OP_MAX, OP_MIN};
  struct host_value v = host_vector(&s->heap, superop_data_elem_of(s, kind), n);
  enum call_kind as = rng_one_in(&s->rng, 2) ? CALL_REDUCE : CALL_ELEMENTWISE;
  data_fill(s, as, ops[rng_below(&s->rng, 4)], &v);
  return v;
}

static struct host_value superop_data_all(struct suite *s, uint64_t n, int64_t x) {
  struct host_value v = host_vector(&s->heap, s->int_elem, n);
  for (uint64_t i = 0; i < n; i++) host_put_int(&v, i, x);
  return v;
}

static struct host_value superop_data_copy(struct suite *s, const struct host_value *d) {
  struct host_value c = host_segdes(&s->heap, d->n);
  memcpy(c.data, d->data, host_bytes(d));
  c.total = d->total;
  return c;
}

/* ---- descriptors ---- */

static struct host_value another_shape(struct suite *s, uint64_t n) {
  int first = n ? 0 : SHAPE_NONE, end = n ? SHAPES : SHAPES_END;
  enum shape shape = (enum shape)(first + (int)rng_below(&s->rng, (uint64_t)(end - first)));
  if (shape == SHAPE_FOURS && n % 4) shape = SHAPE_HUNDREDS;
  return shape_make(s, shape, n);
}

/* Makes n segments, none empty. */
static struct host_value superop_data_rows(struct suite *s, uint64_t n) {
  struct host_value d = host_segdes(&s->heap, n);
  uint64_t most = rng_one_in(&s->rng, 2) ? 3 : 30;
  if (n > 10000) most = 2;
  for (uint64_t k = 0; k < n; k++) {
    uint64_t length = 1 + rng_below(&s->rng, most);
    host_put_int(&d, k, (int64_t)length);
    d.total += length;
  }
  return d;
}

/* ---- faults ---- */

/* Writes bad values to a few positions, in any order. */
static void superop_data_spoil(struct suite *s, enum data_kind data, struct host_value *v) {
  static const int64_t outside[] = {-1, 1000, INT32_MAX, INT32_MIN, 0, 1, 4};
  bool repeat = data == DATA_PERMUTATION && rng_one_in(&s->rng, 2);
  if (v->n == 0 || rng_one_in(&s->rng, 3)) return;
  if (data == DATA_TRUE && rng_one_in(&s->rng, 4)) { /* all flags are cleared */
    memset(v->data, 0, v->n);
    return;
  }
  for (uint64_t i = 1 + rng_below(&s->rng, 3); i > 0; i--) {
    uint64_t at = rng_below(&s->rng, v->n);
    if (data == DATA_TRUE) {
      ((uint8_t *)v->data)[at] = 0;
    } else if (data == DATA_NONZERO) {
      host_put_int(v, at, 0);
    } else if (repeat) { /* a duplicate, if it is in the same segment */
      host_copy(v, at, v, at ? at - 1 : 0);
    } else {
      host_put_int(v, at, outside[rng_below(&s->rng, 7)]);
    }
  }
}

enum { SPOILED = 5 }; /* kinds of data that can be wrong */

/* Whether a parameter is spoiled. Mostly those of one kind are, so that every sort of fault is
 * the first one now and then. */
static bool is_chosen(enum data_kind data, uint64_t style) {
  static const enum data_kind kinds[SPOILED] = {DATA_NONZERO, DATA_PICK, DATA_INDEX,
                                                DATA_PERMUTATION, DATA_TRUE};
  for (uint64_t i = 0; i < SPOILED; i++) {
    if (data == kinds[i]) return style == i || style == SPOILED;
  }
  return false;
}

/* ---- parameters ---- */

static struct host_value superop_data_make(struct suite *s, const struct superop_case *c,
                                           uint32_t p, const struct host_value *d,
                                           struct host_value *params) {
  const struct recipe *r = &c->recipes[p];
  const struct host_value *of = &params[r->of];
  struct host_value none = {0}, v;
  uint64_t n = d->total;
  switch ((enum data_kind)r->data) {
  case DATA_ELEMENTS: return superop_data_filled(s, c->params[p], n);
  case DATA_NONZERO:
    v = superop_data_filled(s, SUPEROP_INT, n);
    for (uint64_t i = 0; i < n; i++) {
      if (host_int(&v, i) == 0) host_put_int(&v, i, i % 2 ? -1 : 3);
    }
    return v;
  case DATA_TRUE:
    v = host_vector(&s->heap, CVL_BOOL, n);
    memset(v.data, 1, n);
    return v;
  case DATA_SEGMENTS: return superop_data_copy(s, d);
  case DATA_ONE:
    v = host_segdes(&s->heap, 1);
    host_put_int(&v, 0, (int64_t)n);
    v.total = n;
    return v;
  case DATA_OTHER: return another_shape(s, n);
  case DATA_ROWS: return superop_data_rows(s, n);
  case DATA_PICK: return row_indices(s, of);
  case DATA_PARTNER: return segdes_partner(s, of, false, false);
  case DATA_INDEX:
  case DATA_SOUND:
    return segdes_indices(s, of, &params[r->into],
                          r->flags == SUPEROP_NONE ? &none : &params[r->flags]);
  case DATA_PERMUTATION: return segdes_permutation(s, of);
  case DATA_VALUES: return superop_data_filled(s, c->params[p], of->total);
  case DATA_PER_SEGMENT: return superop_data_filled(s, c->params[p], of->n);
  case DATA_ZEROS: return superop_data_all(s, of->n, 0);
  case DATA_ONES: return superop_data_all(s, of->n, 1);
  case DATA_ALIAS: break; /* made after all others */
  }
  return none;
}

void superop_case_data(struct suite *s, const struct superop_case *c, uint64_t n,
                       enum shape shape, bool spoiled, struct host_value *params) {
  if (c->copies) {
    superop_copies_data(s, c, n, spoiled, params);
    return;
  }
  struct host_value d = shape_make(s, shape, n);
  uint64_t style = rng_below(&s->rng, SPOILED + 1);
  for (uint32_t p = 0; p < c->op.param_count; p++) {
    enum data_kind data = (enum data_kind)c->recipes[p].data;
    params[p] = superop_data_make(s, c, p, &d, params);
    if (spoiled && is_chosen(data, style)) superop_data_spoil(s, data, &params[p]);
  }
  for (uint32_t p = 0; p < c->op.param_count; p++) {
    if (c->recipes[p].data == DATA_ALIAS) params[p] = params[c->recipes[p].of];
  }
  host_free(&s->heap, &d);
}

void superop_case_free_data(struct suite *s, const struct superop_case *c,
                            struct host_value *params) {
  for (uint32_t p = 0; p < c->op.param_count; p++) {
    if (c->recipes[p].data != DATA_ALIAS) host_free(&s->heap, &params[p]);
  }
}
