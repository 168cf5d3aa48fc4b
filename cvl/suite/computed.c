/* computed.c - operands that are results of DIST and INDEX: a back end may compute such
 * elements where they are needed instead of storing them.
 *
 * In some cases some operands are changed so. They have segments of their own, or those of the
 * case, and each segment has one value, or values at equal distances. For the oracle they are
 * elements like any others.
 */
#include "cvl/suite/suite.h"

#include <string.h>

/* ---- descriptors ---- */

/* Makes the segments of a form, for n elements, in a shape that keeps all of them. */
static struct host_value computed_runs_of(struct suite *s, enum suite_operand_form form,
                                          uint64_t n) {
  static const enum shape shapes[][3] = {
      [ALL_EQUAL_ELEMENTS] = {SHAPE_ONE, SHAPE_ONE, SHAPE_ONE},
      [SPREAD_ONES] = {SHAPE_ONES, SHAPE_ONES, SHAPE_ONES},
      [SPREAD_EQUAL] = {SHAPE_FOURS, SHAPE_FOURS, SHAPE_FOURS},
      [SPREAD_UNEQUAL] = {SHAPE_POWER, SHAPE_LONG, SHAPE_SPARSE},
      [ONE_PROGRESSION] = {SHAPE_ONE, SHAPE_ONE, SHAPE_ONE},
      [EQUAL_PROGRESSIONS] = {SHAPE_FOURS, SHAPE_FOURS, SHAPE_FOURS},
      [PROGRESSIONS] = {SHAPE_HALF_EMPTY, SHAPE_EDGES, SHAPE_SPARSE}};
  const enum shape shape = shapes[form][rng_below(&s->rng, 3)];
  const bool rounds_down = shape == SHAPE_FOURS && n % 4 != 0;
  return shape_make(s, rounds_down ? SHAPE_HUNDREDS : shape, n);
}

static enum suite_operand_form any_form(struct suite *s) {
  return (enum suite_operand_form)(1 + rng_below(&s->rng, OPERAND_FORMS - 1));
}

static struct host_value computed_copy_of(struct suite *s, const struct host_value *d) {
  struct host_value copy = host_segdes(&s->heap, d->n);
  memcpy(copy.data, d->data, host_bytes(d));
  copy.total = d->total;
  return copy;
}

/* ---- elements ---- */

/* Sets each element to the first one of its segment. */
static void spread_firsts(struct host_value *v, const struct host_value *runs) {
  for (uint64_t k = 0, at = 0; k < runs->n; k++) {
    const uint64_t length = host_segment(runs, k);
    for (uint64_t j = 1; j < length; j++) host_copy(v, at + j, v, at);
    at += length;
  }
}

/* `same`: all segments begin with the same value. */
static void progress(struct host_value *v, const struct host_value *runs, bool same,
                     int64_t step) {
  const int64_t all = v->n ? host_int(v, 0) % 1000 : 0;
  for (uint64_t k = 0, at = 0; k < runs->n; k++) {
    const uint64_t length = host_segment(runs, k);
    const int64_t first = same ? all : length ? host_int(v, at) % 1000 : 0;
    for (uint64_t j = 0; j < length; j++) host_put_int(v, at + j, first + (int64_t)j * step);
    at += length;
  }
}

static void computed_put_all(struct host_value *v, int64_t x) {
  for (uint64_t i = 0; i < v->n; i++) host_put_int(v, i, x);
}

/* Writes the index of each element in its segment. */
static void put_positions(struct host_value *v, const struct host_value *runs) {
  for (uint64_t k = 0, at = 0; k < runs->n; at += host_segment(runs, k++)) {
    for (uint64_t j = 0; j < host_segment(runs, k); j++) host_put_int(v, at + j, (int64_t)j);
  }
}

/* ---- which operands ---- */

/* Whether any INTs will do. They may also be at fault if that is intended. */
static bool takes_progressions(const struct suite *s, const struct test_case *t, unsigned k) {
  const enum call_kind kind = t->call.kind;
  if (elem_info((enum cvl_elem)t->call.operand[k].elem)->klass != CLASS_INT) return false;
  if (kind == CALL_ELEMENTWISE && !t->faulty)
    return k == 0 || map_row(t->call.op, s->item->klass)->fault == CVL_E_NONE;
  if (t->faulty && kind != CALL_MAKE_SEGDES) return true;
  const bool few_lengths = kind == CALL_MAKE_SEGDES && t->call.operand[0].n < 10000;
  return call_is_segmented(kind) || kind == CALL_PACK || kind == CALL_PERMUTE || few_lengths;
}

/* Makes lengths so short that their sum stays small where they repeat or grow. */
static void computed_shorten(struct host_value *lengths) {
  for (uint64_t i = 0; i < lengths->n; i++) host_put_int(lengths, i, host_int(lengths, i) % 4);
}

void computed_make(struct suite *s, struct host_value *v, enum suite_operand_form form,
                   bool any_ints, struct computed *c) {
  const bool ints = any_ints && elem_info((enum cvl_elem)v->elem)->klass == CLASS_INT;
  *c = (struct computed){.by = MADE_BY_DIST, .runs = computed_runs_of(s, form, v->n)};
  if (form < ONE_PROGRESSION || !ints) {
    spread_firsts(v, &c->runs);
    return;
  }
  c->by = MADE_BY_INDEX;
  c->step = (int64_t)rng_below(&s->rng, 9) - 4;
  progress(v, &c->runs, rng_one_in(&s->rng, 2), c->step);
}

void computed_free(struct suite *s, struct computed *c) {
  host_free(&s->heap, &c->runs);
  c->by = MADE_BY_NOTHING;
}

void computed_zeros(struct suite *s, struct host_value *index, enum suite_operand_form form,
                    struct computed *c) {
  const enum made_by by = form < ONE_PROGRESSION ? MADE_BY_DIST : MADE_BY_INDEX;
  computed_put_all(index, 0);
  *c = (struct computed){.by = by, .runs = computed_runs_of(s, form, index->n)};
}

void computed_positions(struct suite *s, struct host_value *index, const struct host_value *d,
                        struct computed *c) {
  *c = (struct computed){.by = MADE_BY_INDEX, .step = 1, .runs = computed_copy_of(s, d)};
  put_positions(index, &c->runs);
}

static void suite_computed_make(struct suite *s, struct test_case *t, unsigned k,
                                enum suite_operand_form form) {
  struct host_value *const v = &t->call.operand[k];
  case_unmake(s, t, k);
  if (t->call.kind == CALL_MAKE_SEGDES) computed_shorten(v);
  computed_make(s, v, form, takes_progressions(s, t, k), &t->computed[k]);
  if (t->call.kind != CALL_MAKE_SEGDES || t->computed[k].by != MADE_BY_INDEX) return;
  t->computed[k].step = (int64_t)rng_below(&s->rng, 2);
  progress(v, &t->computed[k].runs, rng_one_in(&s->rng, 2), t->computed[k].step);
}

/* Makes indices that are right in every case: a constant, or the positions. */
static void make_index(struct suite *s, struct test_case *t) {
  struct oracle_call *c = &t->call;
  struct host_value *index = &c->operand[1];
  if (c->kind == CALL_EXTRACT || c->kind == CALL_REPLACE) {
    computed_put_all(index, 0);
    t->computed[1].by = MADE_BY_DIST;
    t->computed[1].runs = computed_runs_of(s, any_form(s), index->n);
  } else if (c->op == OP_BPERMUTE) {
    t->computed[1].by = MADE_BY_DIST;
    t->computed[1].runs = computed_copy_of(s, &c->operand[5]);
    spread_firsts(index, &t->computed[1].runs);
  } else if (c->op == OP_PERMUTE) {
    computed_positions(s, index, &c->operand[4], &t->computed[1]);
  }
}

/* Whether elements are plain values, without restrictions. */
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
    if (is_free(&t->call, k) && !rng_one_in(&s->rng, 3))
      suite_computed_make(s, t, k, any_form(s));
  }
  if (has_index(&t->call) && rng_one_in(&s->rng, 2)) make_index(s, t);
}

static void make_if_free(struct suite *s, struct test_case *t, unsigned k,
                         enum suite_operand_form form) {
  if (t->alias[k] < 0 && is_free(&t->call, k)) suite_computed_make(s, t, k, form);
}

/* Gives aliases the changed elements of the operand. */
static void keep_aliases(struct test_case *t) {
  for (unsigned k = 0; k < t->call.count; k++) {
    if (t->alias[k] < 0) continue;
    memcpy(t->call.operand[k].data, t->call.operand[t->alias[k]].data,
           host_bytes(&t->call.operand[k]));
  }
}

void case_make_forms(struct suite *s, struct test_case *t,
                     const enum suite_operand_form *forms) {
  t->in_forms = true;
  for (unsigned k = 0; k < t->call.count; k++) {
    case_unmake(s, t, k);
    if (forms[k] != STORED_ELEMENTS) make_if_free(s, t, k, forms[k]);
  }
  keep_aliases(t);
}

static void make_index_form(struct suite *s, struct test_case *t, enum suite_index_form index,
                            enum suite_operand_form form) {
  const struct host_value *flags = &t->call.operand[2];
  if (t->call.op == OP_PERMUTE && index == INDEX_OF_ZEROS) {
    make_index(s, t);
  } else if (index == INDEX_OF_ZEROS) {
    computed_zeros(s, &t->call.operand[1], form, &t->computed[1]);
  } else {
    suite_computed_make(s, t, 1, form);
  }
  if (t->call.kind == CALL_PERMUTE && flags->form == HOST_VECTOR && flags->n > 1 &&
      t->alias[2] < 0)
    suite_computed_make(s, t, 2, form);
}

void case_make_index_forms(struct suite *s, struct test_case *t, enum suite_index_form index,
                           enum suite_operand_form form) {
  t->faulty = t->in_forms = true;
  for (unsigned k = 0; k < t->call.count; k++) {
    case_unmake(s, t, k);
    if (index != INDEX_OF_ZEROS) make_if_free(s, t, k, form);
  }
  if (has_index(&t->call) && index != STORED_INDEX && t->alias[1] < 0)
    make_index_form(s, t, index, form);
  keep_aliases(t);
}

bool case_is_computed(const struct test_case *t) {
  for (unsigned k = 0; k < t->call.count; k++) {
    if (t->computed[k].by) return true;
  }
  return false;
}

void case_unmake(struct suite *s, struct test_case *t, unsigned k) {
  computed_free(s, &t->computed[k]);
}

/* ---- upload ---- */

/* Makes a vector of the first elements of segments. An empty segment has 7, or the value of the
 * segment before. */
static struct host_value firsts(struct suite *s, const struct host_value *v,
                                const struct host_value *runs, bool as_before) {
  struct host_value all = host_vector(&s->heap, (enum cvl_elem)v->elem, runs->n);
  for (uint64_t k = 0, at = 0; k < runs->n; at += host_segment(runs, k++)) {
    if (host_segment(runs, k)) {
      host_copy(&all, k, v, at);
    } else if (as_before && v->n) {
      host_copy(&all, k, v, at ? at - 1 : 0);
    } else if (elem_info((enum cvl_elem)v->elem)->klass == CLASS_INT) {
      host_put_int(&all, k, 7);
    } else {
      memset((char *)all.data + k * elem_info((enum cvl_elem)v->elem)->bytes, 0,
             elem_info((enum cvl_elem)v->elem)->bytes);
    }
  }
  return all;
}

/* Uploads n elements equal to x. `known`: x is itself computed, so that a back end knows it. */
static bool upload_equal(struct suite *s, enum cvl_elem elem, int64_t x, uint64_t n, bool known,
                         struct cvl_value *out) {
  const struct cvl_value all = cvl_one_segment(n);
  struct host_value host = host_vector(&s->heap, elem, known ? 1 : n);
  struct cvl_value one = {0};
  computed_put_all(&host, x);
  bool ok = suite_upload(s, &host, known, known ? &one : out);
  if (ok && known)
    ok = s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_DIST, OP_DIST, one, all), out);
  host_free(&s->heap, &host);
  return ok;
}

static bool all_equal_ints(const struct host_value *v) {
  for (uint64_t i = 1; i < v->n; i++) {
    if (host_int(v, i) != host_int(v, 0)) return false;
  }
  return v->n > 0;
}

/* Uploads the first elements of progressions. */
static bool upload_starts(struct suite *s, struct host_value *host, struct cvl_value *out) {
  if (!all_equal_ints(host)) return suite_upload(s, host, false, out);
  return upload_equal(s, (enum cvl_elem)host->elem, host_int(host, 0), host->n, true, out);
}

bool computed_upload(struct suite *s, const struct host_value *v, const struct computed *c,
                     bool other, struct cvl_value *out) {
  const bool by_index = c->by == MADE_BY_INDEX;
  const uint64_t segments = c->runs.n;
  struct host_value host = firsts(s, v, &c->runs, by_index && other);
  struct cvl_value first = {0}, step = {0}, d = {0};
  bool ok = (by_index && segments > 1 ? upload_starts(s, &host, &first)
                                      : suite_upload(s, &host, segments == 1, &first)) &&
            suite_upload(s, &c->runs, segments == 1, &d);
  if (ok && by_index) {
    ok = upload_equal(s, (enum cvl_elem)host.elem, c->step, segments, other, &step) &&
         s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_INDEX, OP_INDEX, first, step, d), out);
    s->b->release(s->ctx, &step);
  } else if (ok) {
    ok = s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_DIST, OP_DIST, first, d), out);
  }
  s->b->release(s->ctx, &first);
  s->b->release(s->ctx, &d);
  host_free(&s->heap, &host);
  return ok || suite_fail(s, "a computed operand could not be made");
}
