/* packed.c - operands that are results of PACK by the same flags, out of vectors that have
 * other elements between those. A back end may not know yet how long they are.
 *
 * Some segments begin with elements that are not kept; in every third case, none do.
 */
#include "cvl/suite/suite.h"

#include <string.h>

enum { MOST_BEFORE = 3 };

static bool upload_flags(struct suite *s, struct packed_operands *p) {
  struct host_value flags = host_vector(&s->heap, CVL_BOOL, p->all.total);
  uint8_t *set = flags.data;
  uint64_t at = 0;
  for (uint64_t k = 0; k < p->all.n; k++) {
    const uint64_t length = host_segment(&p->kept, k);
    const uint64_t before = host_segment(&p->all, k) - length;
    memset(set + at, 0, before);
    memset(set + at + before, 1, length);
    at += before + length;
  }
  const bool ok = suite_upload(s, &flags, false, &p->flags);
  host_free(&s->heap, &flags);
  return ok;
}

bool packed_begin(struct suite *s, const struct host_value *segments, uint64_t n,
                  struct packed_operands *p) {
  const bool all_kept = rng_one_in(&s->rng, 3) && n > 0;
  *p = (struct packed_operands){.kept = host_segdes(&s->heap, segments ? segments->n : 1)};
  p->all = host_segdes(&s->heap, p->kept.n);
  p->kept.total = n;
  if (segments) memcpy(p->kept.data, segments->data, host_bytes(segments));
  if (!segments) *(int64_t *)p->kept.data = (int64_t)n;
  for (uint64_t k = 0; k < p->all.n; k++) {
    const uint64_t before = all_kept ? 0 : rng_below(&s->rng, MOST_BEFORE);
    const uint64_t length = host_segment(&p->kept, k) + before;
    ((int64_t *)p->all.data)[k] = (int64_t)length;
    p->all.total += length;
  }
  return p->all.total > 1 && upload_flags(s, p) && suite_upload(s, &p->all, false, &p->d);
}

/* Makes the elements of v, with others before each segment: copies, which have no meaning. */
static struct host_value packed_with_others(struct suite *s, const struct packed_operands *p,
                                            const struct host_value *v) {
  struct host_value x = host_vector(&s->heap, (enum cvl_elem)v->elem, p->all.total);
  uint64_t at = 0, from = 0;
  memset(x.data, 0, host_bytes(&x));
  for (uint64_t k = 0; k < p->all.n; k++) {
    const uint64_t length = host_segment(&p->kept, k);
    at += host_segment(&p->all, k) - length;
    for (uint64_t j = 0; j < length; j++) host_copy(&x, at++, v, from++);
  }
  return x;
}

/* Uploads the result of PACK: a vector and its descriptor. */
static bool suite_packed_upload(struct suite *s, const struct packed_operands *p,
                                const struct host_value *v,
                                struct cvl_value out[CALL_RESULTS]) {
  struct host_value x = packed_with_others(s, p, v);
  struct cvl_value long_vector = {0};
  bool ok = suite_upload(s, &x, false, &long_vector);
  host_free(&s->heap, &x);
  if (!ok) return false;
  ok = s->b->apply(s->ctx, ++s->site,
                   &CVL_CALL(CALL_PACK, OP_PACK, long_vector, p->flags, p->d), out);
  s->b->release(s->ctx, &long_vector);
  return ok || suite_fail(s, "an operand could not be packed");
}

bool packed_fits(const struct packed_operands *p, const struct host_value *v) {
  if (v->form == HOST_VECTOR) return v->n == p->kept.total && v->n != 1;
  return v->form == HOST_SEGDES && v->n == p->kept.n && v->total == p->kept.total &&
         memcmp(v->data, p->kept.data, host_bytes(v)) == 0;
}

bool packed_upload(struct suite *s, const struct packed_operands *p, const struct host_value *v,
                   struct cvl_value *out) {
  struct host_value zeros = {0};
  struct cvl_value packed[CALL_RESULTS];
  const bool vector = v->form == HOST_VECTOR;
  if (vector) {
    if (!suite_packed_upload(s, p, v, packed)) return false;
  } else {
    zeros = host_vector(&s->heap, CVL_BOOL, p->kept.total);
    memset(zeros.data, 0, host_bytes(&zeros));
    const bool ok = suite_packed_upload(s, p, &zeros, packed);
    host_free(&s->heap, &zeros);
    if (!ok) return false;
  }
  *out = packed[vector ? 0 : 1];
  s->b->release(s->ctx, &packed[vector ? 1 : 0]);
  return true;
}

void packed_end(struct suite *s, struct packed_operands *p) {
  s->b->release(s->ctx, &p->flags);
  s->b->release(s->ctx, &p->d);
  host_free(&s->heap, &p->kept);
  host_free(&s->heap, &p->all);
}
