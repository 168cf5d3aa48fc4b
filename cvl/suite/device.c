/* device.c - memory of a device that other parts of the process use, too. Here the test is such
 * a part: it has copies there, which must keep their contents.
 */
#include "cvl/suite/suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whether the memory of the device at `data` contains h; read by the host, or as a vector. */
static void check_device(struct suite *s, const void *data, const struct host_value *h,
                         const char *what) {
  struct host_value got = host_vector(&s->heap, (enum cvl_elem)h->elem, h->n);
  struct cvl_value v;
  s->cases++;
  if (!s->b->device_memory->read(s->ctx, ++s->site, data, host_bytes(h), got.data)) {
    suite_fail(s, "read_device failed");
  }
  if (!s->failed) suite_compare(s, h, &got, 0, what);
  host_free(&s->heap, &got);
  if (s->failed) return;
  if (!s->b->device_memory->copy_from(s->ctx, ++s->site, (enum cvl_elem)h->elem, h->n, data,
                                      &v)) {
    suite_fail(s, "from_device failed");
    return;
  }
  if (suite_fetch(s, &v, &got)) {
    suite_compare(s, h, &got, 0, what);
    host_free(&s->heap, &got);
  }
  s->b->release(s->ctx, &v);
}

/* The copy belongs to another user: releasing the vector, later operations and `close` must not
 * change it. */
static void device_there_and_back(struct suite *s, enum cvl_elem e, uint64_t n, bool closes) {
  struct host_value h = suite_numbers(s, e, n);
  struct cvl_value v;
  struct cvl_export exported;
  snprintf(s->where, sizeof s->where, ", %" PRIu64 " elements", n);
  if (suite_upload(s, &h, n % 2 == 0, &v)) {
    if (s->b->device_memory->copy_to(s->ctx, ++s->site, &v, n, &exported)) {
      s->b->release(s->ctx, &v);
      check_device(s, exported.data, &h, "the copy");
      if (!s->failed) check_device(s, exported.data, &h, "the copy, once more");
      if (closes) {
        s->b->close(s->ctx);
        s->ctx = NULL;
      }
      exported.end.call(exported.end.with);
      if (closes && !s->failed) suite_open(s, 0);
    } else {
      suite_fail(s, "to_device failed");
    }
  }
  if (!s->failed) suite_no_error(s);
  host_free(&s->heap, &h);
}

/* Copies a result that is still being computed, and one that is not yet a vector in memory. */
static void of_results(struct suite *s, uint64_t n) {
  struct host_value h = host_vector(&s->heap, s->int_elem, n);
  struct cvl_value start = cvl_scalar_int(s->int_elem, 3),
                   stride = cvl_scalar_int(s->int_elem, 2);
  struct cvl_value d = cvl_one_segment(n), v, two[2], out;
  struct cvl_export exported[2];
  snprintf(s->where, sizeof s->where, ", a result of %" PRIu64 " elements", n);
  if (s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_INDEX, OP_INDEX, start, stride, d), &v)) {
    two[0] = two[1] = v;
    if (s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, two[0], two[1]),
                    &out) &&
        s->b->device_memory->copy_to(s->ctx, ++s->site, &v, n, &exported[0]) &&
        s->b->device_memory->copy_to(s->ctx, ++s->site, &out, n, &exported[1])) {
      for (int k = 0; k < 2; k++) {
        for (uint64_t i = 0; i < n; i++) host_put_int(&h, i, (3 + 2 * (int64_t)i) << k);
        check_device(s, exported[k].data, &h, k ? "a sum" : "an index");
        exported[k].end.call(exported[k].end.with);
      }
      s->b->release(s->ctx, &out);
    } else {
      suite_fail(s, "to_device failed");
    }
    s->b->release(s->ctx, &v);
  }
  host_free(&s->heap, &h);
}

/* Copies to so many new vectors that they reuse memory which has just been released. */
static void fill_what_is_free(struct suite *s, const struct host_value *h, const void *data) {
  enum { MOST = 100 };
  struct cvl_value fresh[MOST];
  struct host_value got;
  unsigned made = 0;
  while (made < MOST &&
         s->b->device_memory->copy_from(s->ctx, ++s->site, (enum cvl_elem)h->elem, h->n, data,
                                        &fresh[made])) {
    made++;
  }
  if (made < MOST) suite_fail(s, "from_device failed");
  for (; made > 0; made--) {
    if (!s->failed && suite_fetch(s, &fresh[made - 1], &got)) {
      suite_compare(s, h, &got, 0, "a vector in released memory");
      host_free(&s->heap, &got);
    }
    s->b->release(s->ctx, &fresh[made - 1]);
  }
}

/* Returns four times v, by a sum that is released while it may still have to be computed. */
static bool four_times(struct suite *s, const struct cvl_value *v, struct cvl_value *out) {
  struct cvl_value sum, two[2] = {*v, *v};
  if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, two[0], two[1]),
                   &sum)) {
    return suite_fail(s, "elementwise failed");
  }
  two[0] = two[1] = sum;
  const bool ok =
      s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, two[0], two[1]), out);
  s->b->release(s->ctx, &sum);
  return ok || suite_fail(s, "elementwise failed");
}

/* Operations that have not run yet write and read memory that is then a new vector's. */
static void into_memory_still_read(struct suite *s, uint64_t n) {
  struct host_value h = suite_numbers(s, s->int_elem, n), got;
  struct cvl_value v, out;
  struct cvl_export exported;
  snprintf(s->where, sizeof s->where, ", into the memory of %" PRIu64 " elements", n);
  for (uint64_t i = 0; i < n; i++) host_put_int(&h, i, (int64_t)i);
  if (suite_upload(s, &h, false, &v)) {
    if (s->b->device_memory->copy_to(s->ctx, ++s->site, &v, n, &exported)) {
      if (four_times(s, &v, &out)) {
        fill_what_is_free(s, &h, exported.data);
        for (uint64_t i = 0; i < n; i++) host_put_int(&h, i, 4 * (int64_t)i);
        s->cases++;
        if (suite_fetch(s, &out, &got)) {
          suite_compare(s, &h, &got, 0, "what was computed before");
          host_free(&s->heap, &got);
        }
        s->b->release(s->ctx, &out);
      }
      exported.end.call(exported.end.with);
    } else {
      suite_fail(s, "to_device failed");
    }
    s->b->release(s->ctx, &v);
  }
  host_free(&s->heap, &h);
}

/* Each allocation fails once. Then nothing is exported. */
static void device_without_memory(struct suite *s) {
  struct host_value h = suite_numbers(s, s->float_elem, 5000);
  struct cvl_value v, w;
  struct cvl_export exported;
  struct cvl_error e;
  snprintf(s->where, sizeof s->where, ", without memory");
  if (suite_upload(s, &h, false, &v) &&
      s->b->device_memory->copy_to(s->ctx, ++s->site, &v, h.n, &exported)) {
    bool failed = true;
    for (uint64_t k = 1; failed && k < 9 && !s->failed; k++) {
      s->b->fail_allocation(s->ctx, k);
      const bool ok = s->b->device_memory->copy_from(s->ctx, ++s->site, s->float_elem, h.n,
                                                     exported.data, &w);
      failed = s->b->check(s->ctx, true, &e);
      s->b->fail_allocation(s->ctx, 0);
      s->cases++;
      if (failed && e.kind != CVL_E_MEMORY) suite_fail(s, "not a MEMORY fault");
      if (failed == ok) suite_fail(s, "a fault and a vector, or neither");
      if (ok) s->b->release(s->ctx, &w);
      if (k == 1 && !failed) suite_fail(s, "no allocation failed");
    }
    s->b->release(s->ctx, &v);
    exported.end.call(exported.end.with);
  }
  host_free(&s->heap, &h);
}

void chapter_device(struct suite *s) {
  const enum cvl_elem elems[] = {s->int_elem, s->float_elem, CVL_BOOL};
  if (!s->b->device_memory) return;
  for (int i = 0; i < 3; i++) {
    for (uint64_t n = 0; n < 400000 && !s->failed; n = 7 * n + 1) {
      device_there_and_back(s, elems[i], n, n % 3 == 2);
    }
  }
  for (uint64_t n = 1; n < 100000 && !s->failed; n = 9 * n + 1) of_results(s, n);
  for (uint64_t n = 10; n < 100000 && !s->failed; n = 9 * n + 1) into_memory_still_read(s, n);
  if (!s->failed) device_without_memory(s);
}
