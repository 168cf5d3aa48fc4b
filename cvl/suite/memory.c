/* memory.c - chapters on things that must not depend on circumstances: the bits of a function
 * on the position of its argument, and the process on its memory.
 */
#include "cvl/suite/suite.h"

#include <inttypes.h>
#include <string.h>

/* ---- positions ---- */

static bool memory_apply(struct suite *s, enum cvl_op op, const struct host_value *x,
                         struct host_value *y) {
  struct cvl_value v, out;
  if (!suite_upload(s, x, true, &v)) return false;
  v.owned = 1;
  if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, op, v), &out)) {
    return suite_fail(s, "%s failed", op_info(op)->name);
  }
  bool ok = suite_fetch(s, &out, y);
  s->b->release(s->ctx, &out);
  return ok;
}

/* Checks that the function of x[first ..] has the bits it has within the whole of x. */
static void check_tail(struct suite *s, enum cvl_op op, const struct host_value *x,
                       const struct host_value *y, uint64_t first, uint64_t n) {
  size_t bytes = elem_info((enum cvl_elem)x->elem)->bytes;
  struct host_value range = *x, want = *y, got;
  range.n = want.n = n;
  range.data = (char *)x->data + first * bytes;
  want.data = (char *)y->data + first * bytes;
  snprintf(s->where, sizeof s->where, ", %s of elements %" PRIu64 " to %" PRIu64,
           op_info(op)->name, first, first + n - 1);
  if (!memory_apply(s, op, &range, &got)) return;
  suite_compare(s, &want, &got, 0, "result at another position");
  s->cases++;
  host_free(&s->heap, &got);
}

void chapter_positions(struct suite *s) {
  enum { N = 300 };
  struct host_value x = host_vector(&s->heap, s->float_elem, N), y;
  for (int i = 0; i < OP_COUNT && !s->failed; i++) {
    enum cvl_op op = (enum cvl_op)i;
    if (!op_is_approximate(op)) continue;
    for (int round = 0; round < 4 && !s->failed; round++) {
      data_fill(s, CALL_ELEMENTWISE, op, &x);
      if (!memory_apply(s, op, &x, &y)) break;
      for (uint64_t first = 0; first < 40 && !s->failed; first++) {
        check_tail(s, op, &x, &y, first, first % 2 ? 1 : N - 40);
      }
      host_free(&s->heap, &y);
    }
  }
  host_free(&s->heap, &x);
}

/* ---- memory ---- */

static bool expect_memory_fault(struct suite *s, uint64_t site) {
  struct cvl_error e;
  if (!s->b->check(s->ctx, true, &e)) return suite_fail(s, "no MEMORY fault");
  return (e.kind == CVL_E_MEMORY && e.site == site && e.value > 0) ||
         suite_fail(s, "fault %s, value %" PRId64 ", instead of MEMORY", fault_name(e.kind),
                    e.value);
}

/* Calls from_host with each allocation failing in turn. */
static void sweep_from_host(struct suite *s, const struct host_value *h) {
  for (uint64_t n = 1; n < 100 && !s->failed; n++) {
    struct cvl_value v;
    uint64_t before = s->b->statistics(s->ctx).allocations;
    s->b->fail_allocation(s->ctx, n);
    bool ok =
        h->form == HOST_SEGDES
            ? s->b->segdes_from_host(s->ctx, ++s->site, h->n, h->data, &v)
            : s->b->from_host(s->ctx, ++s->site, (enum cvl_elem)h->elem, h->n, h->data, &v);
    struct cvl_error e;
    bool fault = s->b->check(s->ctx, true, &e);
    bool done = s->b->statistics(s->ctx).allocations - before < n;
    s->b->fail_allocation(s->ctx, 0);
    s->cases++;
    if (fault ? e.kind != CVL_E_MEMORY || done : !ok) suite_fail(s, "not a MEMORY fault");
    if (ok) s->b->release(s->ctx, &v);
    if (!s->failed) suite_no_error(s);
    if (done) return;
  }
}

static struct host_value some_ints(struct suite *s, uint64_t n) {
  struct host_value h = host_vector(&s->heap, s->int_elem, n);
  for (uint64_t i = 0; i < n; i++) host_put_int(&h, i, (int64_t)i);
  return h;
}

/* Checks the recent peak, which begins with what is live and follows it. The other peak
 * stays. */
static void expect_recent_peak(struct suite *s, uint64_t peak) {
  if (!s->b->restart_peak) return;
  struct host_value h = some_ints(s, 10000);
  struct cvl_value v;
  s->b->restart_peak(s->ctx);
  const struct cvl_statistics before = s->b->statistics(s->ctx);
  const bool uploaded = suite_upload(s, &h, false, &v);
  const struct cvl_statistics with = s->b->statistics(s->ctx);
  host_free(&s->heap, &h);
  if (!uploaded) return;
  s->b->release(s->ctx, &v);
  const struct cvl_statistics after = s->b->statistics(s->ctx);
  if (before.recent_peak_bytes != before.live_bytes ||
      with.recent_peak_bytes < with.live_bytes || with.live_bytes <= before.live_bytes ||
      after.recent_peak_bytes != with.recent_peak_bytes || after.peak_bytes != peak) {
    suite_fail(s, "recent peaks of %" PRIu64 ", %" PRIu64 " and %" PRIu64,
               before.recent_peak_bytes, with.recent_peak_bytes, after.recent_peak_bytes);
  }
}

/* Doubles a vector again and again, keeping all, until the limit refuses, and then works on. It
 * doubles by a sum, since a back end might execute DIST without taking memory. */
static void fill_memory(struct suite *s, uint64_t limit) {
  enum { MOST = 512, N = 10000 }; /* enough for 64 processes, each with an index of its own */
  struct cvl_value held[MOST], out, v, d = cvl_one_segment(N);
  int64_t zero[2] = {0, 0};
  int count = 0;
  bool refused = false;
  struct host_value h = some_ints(s, N);
  struct cvl_value x = cvl_scalar_int(s->int_elem, 3);
  const bool uploaded = suite_upload(s, &h, false, &v);
  host_free(&s->heap, &h);
  if (!uploaded) return;
  while (count < MOST && !refused) {
    struct cvl_error e;
    const struct cvl_value twice[2] = {v, v};
    bool ok =
        s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, twice[0], twice[1]),
                    &held[count]);
    count += ok;
    refused = s->b->check(s->ctx, true, &e);
    if (refused && (e.kind != CVL_E_MEMORY || e.value <= 0 || e.limit < 0)) {
      suite_fail(s, "fault %s instead of MEMORY", fault_name(e.kind));
    }
    if (!ok && !refused) suite_fail(s, "false without a fault");
    if (s->failed) break;
  }
  struct cvl_statistics now = s->b->statistics(s->ctx);
  if (!s->failed && !refused) suite_fail(s, "the limit was never reached");
  if (!s->failed && (now.live_bytes > limit || now.peak_bytes > limit ||
                     now.peak_bytes < now.live_bytes || now.live_bytes < limit / 4)) {
    suite_fail(s, "%" PRIu64 " live, %" PRIu64 " at the peak, limit %" PRIu64, now.live_bytes,
               now.peak_bytes, limit);
  }
  for (int i = 0; i < count; i++) s->b->release(s->ctx, &held[i]);
  s->b->release(s->ctx, &v);
  if (s->failed || !suite_no_error(s)) return;
  if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_DIST, OP_DIST, x, d), &out) ||
      !s->b->to_host(s->ctx, &out, 9999, 1, zero)) {
    suite_fail(s, "memory that was released cannot be had again");
    return;
  }
  s->b->release(s->ctx, &out);
  expect_recent_peak(s, now.peak_bytes);
  s->cases++;
}

void chapter_memory(struct suite *s) {
  const uint64_t limit = 400000;
  enum { RANKS = 16 }; /* each process has a limit of its own */
  struct host_value big = host_vector(&s->heap, CVL_BOOL, RANKS * limit + 1);
  struct host_value lengths = shape_make(s, SHAPE_POWER, 1000);
  struct cvl_value v;
  memset(big.data, 1, host_bytes(&big));
  struct host_value range = big;
  range.n = 1000;
  sweep_from_host(s, &range);
  if (!s->failed) sweep_from_host(s, &lengths);
  suite_close(s);
  if (!s->failed && suite_open(s, limit)) {
    snprintf(s->where, sizeof s->where, ", limit %" PRIu64, limit);
    if (s->b->from_host(s->ctx, ++s->site, CVL_BOOL, big.n, big.data, &v))
      s->b->release(s->ctx, &v);
    if (expect_memory_fault(s, s->site) && suite_no_error(s)) fill_memory(s, limit);
  }
  host_free(&s->heap, &big);
  host_free(&s->heap, &lengths);
}
