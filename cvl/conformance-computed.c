/* conformance-computed.c - operands that are results of DIST and INDEX: a back end may compute
 * such elements where they are needed instead of storing them.
 *
 * Of some cases some operands become so: each segment of a descriptor of their own, or of the
 * case's, has one value, or values at equal distances. The oracle sees elements like any
 * others.
 */
#include "cvl/conformance-suite.h"

#include <string.h>

/* ---- descriptors ---- */

/* The segments of a form; of n elements, in a shape that keeps all of them. */
static struct host_value runs_of(struct suite *s, enum operand_form form, uint64_t n) {
  static const enum shape shapes[] = {
      [ALL_EQUAL_ELEMENTS] = SHAPE_ONE, [SPREAD_ONES] = SHAPE_ONES,
      [SPREAD_EQUAL] = SHAPE_FOURS,     [SPREAD_UNEQUAL] = SHAPE_POWER,
      [ONE_PROGRESSION] = SHAPE_ONE,    [EQUAL_PROGRESSIONS] = SHAPE_FOURS,
      [PROGRESSIONS] = SHAPE_HALF_EMPTY};
  const bool rounds_down = shapes[form] == SHAPE_FOURS && n % 4 != 0;
  return shape_make(s, rounds_down ? SHAPE_HUNDREDS : shapes[form], n);
}

static enum operand_form any_form(struct suite *s) {
  return (enum operand_form)(1 + rng_below(&s->rng, OPERAND_FORMS - 1));
}

static struct host_value copy_of(struct suite *s, const struct host_value *d) {
  struct host_value copy = host_segdes(&s->heap, d->n);
  memcpy(copy.data, d->data, host_bytes(d));
  copy.total = d->total;
  return copy;
}

/* ---- elements ---- */

/* Each element becomes the first one of its segment. */
static void spread_firsts(struct host_value *v, const struct host_value *runs) {
  for (uint64_t k = 0, at = 0; k < runs->n; k++) {
    const uint64_t length = host_segment(runs, k);
    for (uint64_t j = 1; j < length; j++) host_copy(v, at + j, v, at);
    at += length;
  }
}

static void progress(struct host_value *v, const struct host_value *runs, int64_t step) {
  for (uint64_t k = 0, at = 0; k < runs->n; k++) {
    const uint64_t length = host_segment(runs, k);
    const int64_t first = length ? host_int(v, at) % 1000 : 0;
    for (uint64_t j = 0; j < length; j++) host_put_int(v, at + j, first + (int64_t)j * step);
    at += length;
  }
}

static void put_all(struct host_value *v, int64_t x) {
  for (uint64_t i = 0; i < v->n; i++) host_put_int(v, i, x);
}

/* The index of each element in its segment. */
static void put_positions(struct host_value *v, const struct host_value *runs) {
  for (uint64_t k = 0, at = 0; k < runs->n; at += host_segment(runs, k++)) {
    for (uint64_t j = 0; j < host_segment(runs, k); j++) host_put_int(v, at + j, (int64_t)j);
  }
}

/* ---- which operands ---- */

/* Whether any INTs will do. */
static bool takes_progressions(const struct suite *s, const struct test_case *t, unsigned k) {
  const enum call_kind kind = t->call.kind;
  if (elem_info((enum cvl_elem)t->call.operand[k].elem)->klass != CLASS_INT) return false;
  if (kind == CALL_ELEMENTWISE) return map_row(t->call.op, s->item->klass)->fault == CVL_E_NONE;
  const bool few_lengths = kind == CALL_MAKE_SEGDES && t->call.operand[0].n < 2000;
  return call_is_segmented(kind) || kind == CALL_PACK || kind == CALL_PERMUTE || few_lengths;
}

/* Lengths become so short that their sum stays small where they repeat or grow. */
static void shorten(struct host_value *lengths) {
  for (uint64_t i = 0; i < lengths->n; i++) host_put_int(lengths, i, host_int(lengths, i) % 4);
}

static void make(struct suite *s, struct test_case *t, unsigned k, enum operand_form form) {
  case_unmake(s, t, k);
  if (t->call.kind == CALL_MAKE_SEGDES) shorten(&t->call.operand[k]);
  t->runs[k] = runs_of(s, form, t->call.operand[k].n);
  t->made[k] = MADE_BY_DIST;
  if (form < ONE_PROGRESSION || !takes_progressions(s, t, k)) {
    spread_firsts(&t->call.operand[k], &t->runs[k]);
    return;
  }
  t->made[k] = MADE_BY_INDEX;
  t->step[k] = (int64_t)rng_below(&s->rng, 9) - 4;
  if (t->call.kind == CALL_MAKE_SEGDES) t->step[k] = (int64_t)rng_below(&s->rng, 2);
  progress(&t->call.operand[k], &t->runs[k], t->step[k]);
}

/* Indices that are right whatever the case: a constant or the positions. */
static void make_index(struct suite *s, struct test_case *t) {
  struct oracle_call *c = &t->call;
  struct host_value *index = &c->operand[1];
  if (c->kind == CALL_EXTRACT || c->kind == CALL_REPLACE) {
    put_all(index, 0);
    t->made[1] = MADE_BY_DIST;
    t->runs[1] = runs_of(s, any_form(s), index->n);
  } else if (c->op == OP_BPERMUTE) {
    t->made[1] = MADE_BY_DIST;
    t->runs[1] = copy_of(s, &c->operand[5]);
    spread_firsts(index, &t->runs[1]);
  } else if (c->op == OP_PERMUTE) {
    t->made[1] = MADE_BY_INDEX;
    t->step[1] = 1;
    t->runs[1] = copy_of(s, &c->operand[4]);
    put_positions(index, &t->runs[1]);
  }
}

/* Those whose elements mean nothing but themselves. */
static bool is_free(const struct oracle_call *c, unsigned k) {
  const bool vector = c->operand[k].form == HOST_VECTOR && c->operand[k].n > 1;
  if (c->kind == CALL_LENGTH_OF) return false;
  const bool index =
      c->kind == CALL_EXTRACT || c->kind == CALL_REPLACE || c->kind == CALL_PERMUTE;
  return vector && !(index && (k == 1 || k == 2) && !(c->kind == CALL_REPLACE && k == 2));
}

static bool has_index(const struct oracle_call *c) {
  const bool has =
      c->kind == CALL_EXTRACT || c->kind == CALL_REPLACE || c->kind == CALL_PERMUTE;
  return has && c->operand[1].n > 1;
}

void case_make_computed(struct suite *s, struct test_case *t) {
  if (rng_one_in(&s->rng, 2)) return;
  for (unsigned k = 0; k < t->call.count; k++) {
    if (is_free(&t->call, k) && !rng_one_in(&s->rng, 3)) make(s, t, k, any_form(s));
  }
  if (has_index(&t->call) && rng_one_in(&s->rng, 2)) make_index(s, t);
}

void case_make_forms(struct suite *s, struct test_case *t, const enum operand_form *forms) {
  for (unsigned k = 0; k < t->call.count; k++) {
    case_unmake(s, t, k);
    if (t->alias[k] < 0 && forms[k] != STORED_ELEMENTS && is_free(&t->call, k))
      make(s, t, k, forms[k]);
  }
  for (unsigned k = 0; k < t->call.count; k++) {
    if (t->alias[k] < 0) continue;
    memcpy(t->call.operand[k].data, t->call.operand[t->alias[k]].data,
           host_bytes(&t->call.operand[k]));
  }
}

bool case_is_computed(const struct test_case *t) {
  for (unsigned k = 0; k < t->call.count; k++) {
    if (t->made[k]) return true;
  }
  return false;
}

void case_unmake(struct suite *s, struct test_case *t, unsigned k) {
  host_free(&s->heap, &t->runs[k]);
  t->made[k] = 0;
}

/* ---- upload ---- */

/* A vector with an element for each segment: the first ones; 7 for those without any. */
static struct host_value firsts(struct suite *s, const struct host_value *v,
                                const struct host_value *runs) {
  struct host_value all = host_vector(&s->heap, (enum cvl_elem)v->elem, runs->n);
  for (uint64_t k = 0, at = 0; k < runs->n; at += host_segment(runs, k++)) {
    if (host_segment(runs, k)) {
      host_copy(&all, k, v, at);
    } else if (elem_info((enum cvl_elem)v->elem)->klass == CLASS_INT) {
      host_put_int(&all, k, 7);
    } else {
      memset((char *)all.data + k * elem_info((enum cvl_elem)v->elem)->bytes, 0,
             elem_info((enum cvl_elem)v->elem)->bytes);
    }
  }
  return all;
}

/* One step for each segment; `other`: itself computed, so that a back end knows it. */
static bool upload_step(struct suite *s, const struct test_case *t, unsigned k, bool other,
                        struct cvl_value *out) {
  const enum cvl_elem elem = (enum cvl_elem)t->call.operand[k].elem;
  const struct cvl_value all = cvl_one_segment(t->runs[k].n);
  struct host_value steps = host_vector(&s->heap, elem, other ? 1 : t->runs[k].n);
  struct cvl_value one = {0};
  put_all(&steps, t->step[k]);
  bool ok = suite_upload(s, &steps, other, other ? &one : out);
  if (ok && other) ok = s->b->dist(s->ctx, ++s->site, &one, &all, out);
  host_free(&s->heap, &steps);
  return ok;
}

bool case_upload_computed(struct suite *s, const struct test_case *t, unsigned k, bool other,
                          struct cvl_value *out) {
  struct host_value host = firsts(s, &t->call.operand[k], &t->runs[k]);
  struct cvl_value first = {0}, step = {0}, d = {0};
  bool ok = suite_upload(s, &host, t->runs[k].n == 1, &first) &&
            suite_upload(s, &t->runs[k], t->runs[k].n == 1, &d);
  if (ok && t->made[k] == MADE_BY_INDEX) {
    ok = upload_step(s, t, k, other, &step) &&
         s->b->index(s->ctx, ++s->site, &first, &step, &d, out);
    s->b->release(s->ctx, &step);
  } else if (ok) {
    ok = s->b->dist(s->ctx, ++s->site, &first, &d, out);
  }
  s->b->release(s->ctx, &first);
  s->b->release(s->ctx, &d);
  host_free(&s->heap, &host);
  return ok || suite_fail(s, "a computed operand could not be made");
}
