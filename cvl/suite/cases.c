/* cases.c - makes the operands of one call: right in sizes and ranges, random in everything
 * else. Where a fault is wanted, it spoils them again. Only the oracle says whether a case
 * faults, and how.
 */
#include "cvl/suite/suite.h"

#include <stdlib.h>
#include <string.h>

static struct host_value cases_filled(struct suite *s, enum cvl_elem e, uint64_t n) {
  struct host_value v = host_vector(&s->heap, e, n);
  data_fill(s, s->item->kind, s->item->op, &v);
  return v;
}

static enum cvl_elem cases_elem_of(const struct suite *s, enum elem_class class) {
  switch (class) {
  case CLASS_INT: return s->int_elem;
  case CLASS_FLOAT: return s->float_elem;
  case CLASS_BOOL: break;
  }
  return CVL_BOOL;
}

static void recount(struct host_value *d) {
  d->total = 0;
  for (uint64_t k = 0; k < d->n; k++) d->total += host_segment(d, k);
}

/* ---- descriptors ---- */

/* Gives every empty segment of d an element, for EXTRACT and REPLACE. */
static void segdes_fill_empty(struct host_value *d) {
  for (uint64_t k = 0; k < d->n; k++) {
    if (host_segment(d, k) == 0) host_put_int(d, k, 1);
  }
  recount(d);
}

/* Makes a descriptor with as many segments as d, none empty where an index points into it. The
 * indices are those of the partner into d if `partner_points`, else those of d into the
 * partner. */
struct host_value segdes_partner(struct suite *s, const struct host_value *d,
                                 bool partner_points, bool flagged) {
  struct host_value p = host_segdes(&s->heap, d->n);
  bool same_lengths = rng_one_in(&s->rng, 4);
  for (uint64_t k = 0; k < d->n; k++) {
    uint64_t n = host_segment(d, k);
    uint64_t m = same_lengths ? n : rng_below(&s->rng, 2 * n + 2);
    if (!flagged && partner_points && n == 0) m = 0;
    if (!flagged && !partner_points && n > 0 && m == 0) m = 1;
    host_put_int(&p, k, (int64_t)m);
  }
  recount(&p);
  return p;
}

/* ---- indices ---- */

/* Makes random indices of d's segments into those of `other`; flags are cleared where no index
 * is right. */
struct host_value segdes_indices(struct suite *s, const struct host_value *d,
                                 const struct host_value *other, struct host_value *flags) {
  struct host_value index = host_vector(&s->heap, s->int_elem, d->total);
  uint64_t i = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    uint64_t limit = host_segment(other, k);
    for (uint64_t j = 0; j < host_segment(d, k); j++, i++) {
      bool used = limit > 0;
      if (flags->form != HOST_NOTHING) {
        if (!used) host_put_int(flags, i, 0);
        used = host_int(flags, i) != 0;
      }
      host_put_int(&index, i,
                   used ? (int64_t)rng_below(&s->rng, limit) : (int64_t)rng_next(&s->rng));
    }
  }
  return index;
}

/* Makes a random permutation of each segment (Fisher and Yates), sometimes the identity or
 * reversal. */
struct host_value segdes_permutation(struct suite *s, const struct host_value *d) {
  struct host_value index = host_vector(&s->heap, s->int_elem, d->total);
  uint64_t style = rng_below(&s->rng, 4), first = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    uint64_t n = host_segment(d, k);
    for (uint64_t j = 0; j < n; j++) {
      host_put_int(&index, first + j, (int64_t)(style == 1 ? n - 1 - j : j));
    }
    for (uint64_t j = n; style > 1 && j > 1; j--) {
      uint64_t a = first + j - 1, b = first + rng_below(&s->rng, j);
      int64_t x = host_int(&index, a);
      host_put_int(&index, a, host_int(&index, b));
      host_put_int(&index, b, x);
    }
    first += n;
  }
  return index;
}

static void make_permute(struct suite *s, enum shape shape, uint64_t n, struct host_value *v) {
  enum cvl_op op = s->item->op;
  enum cvl_elem e = cases_elem_of(s, s->item->klass);
  bool gather = op == OP_BPERMUTE || op == OP_BFPERMUTE;
  bool flagged = op == OP_FPERMUTE || op == OP_BFPERMUTE || op == OP_DFPERMUTE;
  bool defaults = op == OP_DPERMUTE || op == OP_DFPERMUTE;
  v[4] = shape_make(s, shape, n);
  if (op == OP_PERMUTE) {
    v[5] = host_segdes(&s->heap, v[4].n);
    memcpy(v[5].data, v[4].data, host_bytes(&v[4]));
    v[5].total = v[4].total;
    v[1] = segdes_permutation(s, &v[4]);
  } else {
    v[5] = segdes_partner(s, &v[4], gather, flagged);
    const struct host_value *d = gather ? &v[5] : &v[4];
    if (flagged) v[2] = cases_filled(s, CVL_BOOL, d->total);
    v[1] = segdes_indices(s, d, gather ? &v[4] : &v[5], &v[2]);
  }
  v[0] = cases_filled(s, e, v[4].total);
  if (defaults) v[3] = cases_filled(s, e, v[5].total);
}

/* Makes an index for each segment k of d, within that segment. */
struct host_value row_indices(struct suite *s, const struct host_value *d) {
  struct host_value index = host_vector(&s->heap, s->int_elem, d->n);
  for (uint64_t k = 0; k < d->n; k++) {
    host_put_int(&index, k, (int64_t)rng_below(&s->rng, host_segment(d, k)));
  }
  return index;
}

/* ---- the kinds ---- */

static void make_elementwise(struct suite *s, uint64_t n, bool grid, struct oracle_call *c) {
  enum cvl_elem e = cases_elem_of(s, s->item->klass);
  for (unsigned i = 0; i < c->count; i++) {
    bool flag = c->op == OP_SELECT && i == 0;
    c->operand[i] = cases_filled(s, flag ? CVL_BOOL : e, n);
    if (grid) data_fill_grid(s, &c->operand[i], c->op == OP_SELECT ? 2 - i : i);
  }
  if (c->op == OP_DIV || c->op == OP_MOD) {
    struct host_value *y = &c->operand[1];
    for (uint64_t i = 0; s->item->klass == CLASS_INT && i < n; i++) {
      if (host_int(y, i) == 0) host_put_int(y, i, i % 2 ? -1 : 7);
    }
  }
}

static void make_bounds(struct suite *s, uint64_t n, struct host_value *v) {
  *v = cases_filled(s, s->int_elem, n);
  for (uint64_t i = 0; i < n; i++) {
    if (host_int(v, i) <= 0) host_put_int(v, i, 1 + (int64_t)rng_below(&s->rng, 1000));
  }
}

static void make_lengths(struct suite *s, enum shape shape, uint64_t n, struct host_value *v) {
  struct host_value d = shape_make(s, shape, n);
  *v = host_vector(&s->heap, s->int_elem, d.n);
  for (uint64_t k = 0; k < d.n; k++) host_put_int(v, k, (int64_t)host_segment(&d, k));
  host_free(&s->heap, &d);
}

static void make_assert(struct suite *s, uint64_t n, struct host_value *v) {
  v[0] = host_vector(&s->heap, CVL_BOOL, n);
  memset(v[0].data, 1, host_bytes(&v[0]));
  v[1] = cases_filled(s, s->int_elem, n);
  v[2] = cases_filled(s, s->int_elem, n);
}

/* Makes operand b the same object as a, if types and lengths allow it. */
static void make_alias(struct suite *s, struct test_case *t, unsigned a, unsigned b) {
  struct host_value *x = &t->call.operand[a], *y = &t->call.operand[b];
  if (x->form == HOST_NOTHING || x->elem != y->elem || x->n != y->n) return;
  if (t->call.kind != CALL_PERMUTE && rng_below(&s->rng, 8) != 0) return;
  memcpy(y->data, x->data, host_bytes(x));
  t->alias[b] = (int)a;
  case_unmake(s, t, b);
}

static void make_aliases(struct suite *s, struct test_case *t) {
  struct oracle_call *c = &t->call;
  switch (c->kind) {
  case CALL_ELEMENTWISE:
    if (c->count > 1 && map_row(c->op, s->item->klass)->fault == CVL_E_NONE)
      make_alias(s, t, c->count - 2, c->count - 1);
    return;
  case CALL_INDEX: make_alias(s, t, 0, 1); return;
  case CALL_ASSERT: make_alias(s, t, 1, 2); return;
  case CALL_PACK: make_alias(s, t, 0, 1); return;
  case CALL_PERMUTE:
    if (c->op == OP_PERMUTE) make_alias(s, t, 4, 5);
    if (c->op == OP_PERMUTE && rng_one_in(&s->rng, 8) &&
        c->operand[0].elem == c->operand[1].elem) {
      memcpy(c->operand[0].data, c->operand[1].data, host_bytes(&c->operand[0]));
      t->alias[1] = 0;
      case_unmake(s, t, 0);
      case_unmake(s, t, 1);
    }
    return;
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
  case CALL_EXTRACT:
  case CALL_REPLACE:
  case CALL_DIST:
  case CALL_MAKE_SEGDES:
  case CALL_LENGTHS:
  case CALL_LENGTH_OF:
  case CALL_RANDOM:
  case CALL_KINDS: return;
  }
}

static void make_operands(struct suite *s, uint64_t n, enum shape shape, bool grid,
                          struct oracle_call *c) {
  enum cvl_elem e = cases_elem_of(s, s->item->klass);
  struct host_value *v = c->operand;
  switch (c->kind) {
  case CALL_ELEMENTWISE: make_elementwise(s, n, grid, c); return;
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
    v[1] = shape_make(s, shape, n);
    v[0] = cases_filled(s, e, v[1].total);
    if (grid) data_fill_ties(s, &v[0]);
    return;
  case CALL_PERMUTE: make_permute(s, shape, n, v); return;
  case CALL_EXTRACT:
  case CALL_REPLACE: {
    struct host_value *d = &v[c->count - 1];
    *d = shape_make(s, shape, n);
    segdes_fill_empty(d);
    v[0] = cases_filled(s, e, d->total);
    v[1] = row_indices(s, d);
    if (c->kind == CALL_REPLACE) v[2] = cases_filled(s, e, d->n);
    return;
  }
  case CALL_DIST:
    v[1] = shape_make(s, shape, n);
    v[0] = cases_filled(s, e, v[1].n);
    return;
  case CALL_INDEX:
    v[2] = shape_make(s, shape, n);
    v[0] = cases_filled(s, e, v[2].n);
    v[1] = cases_filled(s, e, v[2].n);
    return;
  case CALL_PACK:
    v[2] = shape_make(s, shape, n);
    v[0] = cases_filled(s, e, v[2].total);
    v[1] = cases_filled(s, CVL_BOOL, v[2].total);
    return;
  case CALL_MAKE_SEGDES: make_lengths(s, shape, n, v); return;
  case CALL_LENGTHS: v[0] = shape_make(s, shape, n); return;
  case CALL_LENGTH_OF: v[0] = cases_filled(s, e, n); return;
  case CALL_RANDOM: make_bounds(s, n, v); return;
  case CALL_ASSERT: make_assert(s, n, v); return;
  case CALL_KINDS: return;
  }
}

void case_make(struct suite *s, uint64_t n, enum shape shape, bool grid, struct test_case *t) {
  *t = (struct test_case){.call = {.kind = s->item->kind,
                                   .op = s->item->op,
                                   .int_elem = s->int_elem,
                                   .float_elem = s->float_elem,
                                   .count = call_operands(s->item->kind, s->item->op)}};
  t->call.random = (struct cvl_random){
      .seed = rng_next(&s->rng),
      .k = rng_one_in(&s->rng, 2) ? 0 : rng_next(&s->rng),
      .first = rng_one_in(&s->rng, 2) ? 0 : rng_next(&s->rng) >> rng_below(&s->rng, 64)};
  for (unsigned i = 0; i < CALL_OPERANDS; i++) t->alias[i] = -1;
  make_operands(s, n, shape, grid, &t->call);
  if (grid) return;
  case_make_computed(s, t);
  make_aliases(s, t);
}

void case_free(struct suite *s, struct test_case *t) {
  for (unsigned i = 0; i < CALL_OPERANDS; i++) {
    host_free(&s->heap, &t->call.operand[i]);
    case_unmake(s, t, i);
  }
}

/* ---- faults ---- */

/* Writes bad values to up to five positions of v, or to many, in any order. */
static void cases_spoil(struct suite *s, struct host_value *v, const int64_t *bad,
                        size_t count) {
  const uint64_t most = v->n && rng_one_in(&s->rng, 3) ? v->n : 5;
  for (uint64_t i = 1 + rng_below(&s->rng, most); v->n && i > 0; i--) {
    host_put_int(v, rng_below(&s->rng, v->n), bad[rng_below(&s->rng, count)]);
  }
}

static void spoil_permutation(struct suite *s, struct oracle_call *c, const int64_t *bad,
                              size_t count) {
  struct host_value *index = &c->operand[1];
  uint64_t style = rng_below(&s->rng, 3);
  if (style != 0) { /* repeats an index: a duplicate, if it is in the same segment */
    for (int i = 0; i < 3 && index->n > 1; i++) {
      uint64_t at = rng_below(&s->rng, index->n - 1);
      host_copy(index, at + 1, index, at);
    }
  }
  if (style != 1) cases_spoil(s, index, bad, count);
}

bool case_spoil(struct suite *s, struct test_case *t) {
  struct oracle_call *c = &t->call;
  const int64_t zero[] = {0}, not_positive[] = {0, -1, INT32_MIN};
  const int64_t negative[] = {-1, -2, INT32_MIN}, huge[] = {INT64_MAX, INT64_MAX - 5, -3};
  const int64_t outside[] = {-1, 1000, INT32_MAX, INT32_MIN, 2, 4, 100};
  t->faulty = true;
  for (unsigned i = 0; i < CALL_OPERANDS; i++) {
    if (t->alias[i] >= 0 && c->kind != CALL_PERMUTE) return false;
    if (t->alias[i] >= 0 && i == 1) return false;
  }
  switch (c->kind) {
  case CALL_ELEMENTWISE:
    if (map_row(c->op, s->item->klass)->fault == CVL_E_NONE) return false;
    case_unmake(s, t, 1);
    cases_spoil(s, &c->operand[1], zero, 1);
    return true;
  case CALL_PERMUTE:
    case_unmake(s, t, 1);
    if (c->op == OP_PERMUTE) {
      spoil_permutation(s, c, outside, 7);
    } else {
      cases_spoil(s, &c->operand[1], outside, 7);
    }
    return true;
  case CALL_EXTRACT:
  case CALL_REPLACE:
    case_unmake(s, t, 1);
    cases_spoil(s, &c->operand[1], outside, 7);
    return true;
  case CALL_MAKE_SEGDES:
    case_unmake(s, t, 0);
    if (s->int_elem == CVL_I64 && rng_one_in(&s->rng, 2)) {
      cases_spoil(s, &c->operand[0], huge, 3);
      cases_spoil(s, &c->operand[0], huge, 3);
    } else {
      cases_spoil(s, &c->operand[0], negative, 3);
    }
    return true;
  case CALL_RANDOM:
    case_unmake(s, t, 0);
    cases_spoil(s, &c->operand[0], not_positive, 3);
    return true;
  case CALL_ASSERT:
    case_unmake(s, t, 0);
    cases_spoil(s, &c->operand[0], zero, 1);
    return true;
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
  case CALL_DIST:
  case CALL_INDEX:
  case CALL_PACK:
  case CALL_LENGTHS:
  case CALL_LENGTH_OF:
  case CALL_KINDS: break;
  }
  return false;
}
