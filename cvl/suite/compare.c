/* compare.c - transfers values between host and back end, and compares them. */
#include "cvl/suite/suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- upload and fetch ---- */

/* Uploads one element as a vector, if the back end has such ones: it is packed out of two. */
static bool upload_single(struct suite *s, const struct host_value *h, struct cvl_value *out) {
  size_t bytes = elem_info((enum cvl_elem)h->elem)->bytes;
  uint64_t two[2] = {0, 0};
  memcpy(two, h->data, bytes);
  struct cvl_value v, flags, d = cvl_one_segment(2), kept[CALL_RESULTS];
  if (!s->b->from_host(s->ctx, ++s->site, (enum cvl_elem)h->elem, 2, two, &v)) return false;
  if (!s->b->from_host(s->ctx, ++s->site, CVL_BOOL, 2, (uint8_t[]){1, 0}, &flags)) return false;
  v.owned = flags.owned = 1;
  if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_PACK, OP_PACK, v, flags, d), kept))
    return false;
  *out = kept[0];
  s->b->release(s->ctx, &kept[1]);
  return true;
}

static bool upload_vector(struct suite *s, const struct host_value *h, bool other,
                          struct cvl_value *out) {
  enum cvl_elem e = (enum cvl_elem)h->elem;
  if (h->n == 1 && other) {
    *out = (struct cvl_value){.form = CVL_SCALAR, .elem = h->elem};
    memcpy(&out->as, h->data, elem_info(e)->bytes);
    return true;
  }
  if (h->n == 1) return upload_single(s, h, out);
  if (other && s->b->sharing) return suite_export(s, h, out);
  return s->b->from_host(s->ctx, ++s->site, e, h->n, h->data, out);
}

/* Uploads lengths as a computed descriptor: the result of PACK with all flags set. */
static bool upload_computed(struct suite *s, const struct host_value *h,
                            struct cvl_value *out) {
  struct host_value ones = host_vector(&s->heap, CVL_BOOL, h->total);
  memset(ones.data, 1, host_bytes(&ones));
  struct cvl_value v, d, kept[CALL_RESULTS];
  bool ok = s->b->from_host(s->ctx, ++s->site, CVL_BOOL, ones.n, ones.data, &v) &&
            s->b->segdes_from_host(s->ctx, ++s->site, h->n, h->data, &d);
  host_free(&s->heap, &ones);
  if (!ok) return false;
  ok = s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_PACK, OP_PACK, v, v, d), kept);
  if (ok) s->b->release(s->ctx, &kept[0]);
  if (ok) *out = kept[1];
  s->b->release(s->ctx, &v);
  s->b->release(s->ctx, &d);
  return ok;
}

static bool upload_segdes(struct suite *s, const struct host_value *h, bool other,
                          struct cvl_value *out) {
  if (h->n == 1 && other) {
    *out = cvl_one_segment(h->total);
    return true;
  }
  if (other && h->total <= 5000) return upload_computed(s, h, out);
  return s->b->segdes_from_host(s->ctx, ++s->site, h->n, h->data, out);
}

struct host_value suite_numbers(struct suite *s, enum cvl_elem e, uint64_t n) {
  struct host_value v = host_vector(&s->heap, e, n);
  data_fill(s, CALL_PACK, OP_PACK, &v);
  return v;
}

bool suite_upload(struct suite *s, const struct host_value *h, bool other,
                  struct cvl_value *out) {
  *out = (struct cvl_value){0};
  bool ok = true;
  if (h->form == HOST_VECTOR) ok = upload_vector(s, h, other, out);
  if (h->form == HOST_SEGDES) ok = upload_segdes(s, h, other, out);
  return ok || suite_fail(s, "an operand could not be uploaded");
}

/* Reports the fault by which a host read was refused. */
static bool compare_refused(struct suite *s, const char *what) {
  struct cvl_error e = {0};
  s->b->check(s->ctx, true, &e);
  return suite_fail(s,
                    "%s refused: fault %s at position %" PRId64 " of site %" PRIu64
                    " (last %" PRIu64 ")%s%s",
                    what, fault_name(e.kind), e.position, e.site, s->site, e.text ? ": " : "",
                    e.text ? e.text : "");
}

bool suite_fetch(struct suite *s, const struct cvl_value *v, struct host_value *out) {
  bool segdes = v->form == CVL_ONE_SEGMENT || v->form == CVL_SEGDES;
  *out = (struct host_value){0};
  if (!segdes && v->form != CVL_SCALAR && v->form != CVL_VECTOR) {
    return suite_fail(s, "a result has form %d", v->form);
  }
  struct cvl_size n = segdes ? s->b->count(s->ctx, v) : s->b->length(s->ctx, v);
  struct cvl_size total = segdes ? s->b->length(s->ctx, v) : n;
  struct cvl_size exact = n, exact_total = total;
  if (!s->b->resolve(s->ctx, &exact) || !s->b->resolve(s->ctx, &exact_total)) {
    return compare_refused(s, "resolve");
  }
  if (exact.symbol || exact_total.symbol || exact.bound > n.bound ||
      exact_total.bound > total.bound || (!n.symbol && exact.bound != n.bound)) {
    return suite_fail(s, "resolve: %" PRIu64 " of bound %" PRIu64, exact.bound, n.bound);
  }
  *out = segdes ? host_segdes(&s->heap, exact.bound)
                : host_vector(&s->heap, (enum cvl_elem)v->elem, exact.bound);
  out->total = segdes ? exact_total.bound : 0;
  memset(out->data, 0xA5, host_bytes(out));
  if (s->b->to_host(s->ctx, v, 0, exact.bound, out->data)) return true;
  host_free(&s->heap, out);
  return compare_refused(s, "to_host");
}

/* ---- comparison ---- */

/* Returns FLOAT bits as a number that counts in units in the last place, across zero. */
static int64_t compare_ordered(const struct host_value *v, uint64_t i) {
  if (v->elem == CVL_F32) {
    int32_t bits = ((const int32_t *)v->data)[i];
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
  }
  int64_t bits = ((const int64_t *)v->data)[i];
  return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static bool is_nan(const struct host_value *v, uint64_t i) {
  return elem_info((enum cvl_elem)v->elem)->klass == CLASS_FLOAT && isnan(host_real(v, i));
}

/* `bits`: NaNs must have the same bits, too. */
static bool element_equal(const struct host_value *want, const struct host_value *got,
                          uint64_t i, unsigned ulps, bool bits) {
  size_t bytes = elem_info((enum cvl_elem)want->elem)->bytes;
  if (memcmp((const char *)want->data + i * bytes, (const char *)got->data + i * bytes,
             bytes) == 0) {
    return true;
  }
  if (is_nan(want, i) || is_nan(got, i)) return !bits && is_nan(want, i) && is_nan(got, i);
  if (!ulps || elem_info((enum cvl_elem)want->elem)->klass != CLASS_FLOAT) return false;
  uint64_t distance = (uint64_t)compare_ordered(want, i) - (uint64_t)compare_ordered(got, i);
  return distance <= ulps || -distance <= ulps;
}

static void element_text(const struct host_value *v, uint64_t i, char text[48]) {
  if (elem_info((enum cvl_elem)v->elem)->klass == CLASS_FLOAT) {
    snprintf(text, 48, "%a", host_real(v, i));
  } else {
    snprintf(text, 48, "%" PRId64, host_int(v, i));
  }
}

bool suite_compare(struct suite *s, const struct host_value *want, const struct host_value *got,
                   unsigned ulps, const char *what) {
  if (want->form != got->form || want->elem != got->elem) {
    return suite_fail(s, "%s has type %s, expected %s", what,
                      elem_info((enum cvl_elem)got->elem)->text,
                      elem_info((enum cvl_elem)want->elem)->text);
  }
  if (want->n != got->n || want->total != got->total) {
    return suite_fail(s,
                      "%s has %" PRIu64 " elements (total %" PRIu64 "), expected %" PRIu64
                      " (%" PRIu64 ")",
                      what, got->n, got->total, want->n, want->total);
  }
  if (host_bytes(want) == 0 || memcmp(want->data, got->data, host_bytes(want)) == 0)
    return true;
  const bool moves = s->item->kind == CALL_SORT; /* NaNs tie, so they keep their order */
  for (uint64_t i = 0; i < want->n; i++) {
    if (element_equal(want, got, i, ulps, moves)) continue;
    char a[48], b[48];
    element_text(got, i, a);
    element_text(want, i, b);
    return suite_fail(s, "%s: element %" PRIu64 " of %" PRIu64 " is %s, expected %s", what, i,
                      want->n, a, b);
  }
  return true;
}

/* ---- errors ---- */

/* Says which fields of an error its kind gives a meaning to. */
static void meaningful(enum cvl_error_kind kind, bool *position, bool *value, bool *limit,
                       bool *segment) {
  *position = kind != CVL_E_MEMORY && kind != CVL_E_DEVICE;
  *value = *position && kind != CVL_E_DIVIDE_BY_ZERO && kind != CVL_E_TOTAL;
  *limit = kind == CVL_E_SIZE || kind == CVL_E_INDEX || kind == CVL_E_ASSERT;
  *segment = kind == CVL_E_INDEX || kind == CVL_E_DUPLICATE;
}

bool suite_compare_error(struct suite *s, const struct cvl_error *want,
                         const struct cvl_error *got) {
  bool position, value, limit, segment;
  meaningful(want->kind, &position, &value, &limit, &segment);
  if (got->kind == want->kind && got->site == want->site &&
      (!position || got->position == want->position) && (!value || got->value == want->value) &&
      (!limit || got->limit == want->limit) && (!segment || got->segment == want->segment)) {
    return true;
  }
  return suite_fail(s,
                    "fault %s site %" PRIu64 " position %" PRId64 " value %" PRId64
                    " limit %" PRId64 " segment %" PRId64 ", expected %s %" PRIu64 " %" PRId64
                    " %" PRId64 " %" PRId64 " %" PRId64,
                    fault_name(got->kind), got->site, got->position, got->value, got->limit,
                    got->segment, fault_name(want->kind), want->site, want->position,
                    want->value, want->limit, want->segment);
}
