/* sub.c - sub-contexts, one after the other on this thread: the values that they read and fill
 * of their parent, and their own values. Back ends themselves test that several threads work at
 * once.
 */
#include "cvl/suite/suite.h"

#include <inttypes.h>

enum { SUBS = 3, CHUNKS = 10 };

/* Sets the context that the suite uses, for a while. */
static struct cvl_context *sub_use(struct suite *s, struct cvl_context *ctx) {
  struct cvl_context *before = s->ctx;
  s->ctx = ctx;
  return before;
}

static struct cvl_context *sub_open_one(struct suite *s) {
  struct cvl_context *sub = s->b->open_sub(s->ctx);
  if (!sub) suite_fail(s, "a sub-context could not be opened");
  return sub;
}

struct parent {
  struct host_value values, segments, wanted; /* wanted: the scan of values in segments */
  struct cvl_value v, d, target;
  struct cvl_value all_v, all_d; /* concatenated from values of sub-contexts */
};

static bool make_parent(struct suite *s, enum shape shape, uint64_t n, struct parent *p) {
  struct oracle_outcome o;
  *p = (struct parent){.segments = shape_make(s, shape, n)};
  p->values = suite_numbers(s, s->int_elem, p->segments.total);
  struct oracle_call call = {.kind = CALL_SCAN,
                             .op = OP_ADD,
                             .int_elem = s->int_elem,
                             .float_elem = s->float_elem,
                             .count = 2,
                             .operand = {p->values, p->segments}};
  if (!oracle_run(&s->heap, &call, &o)) return suite_fail(s, "the oracle faults");
  p->wanted = o.out[0];
  return suite_upload(s, &p->values, rng_one_in(&s->rng, 2), &p->v) &&
         suite_upload(s, &p->segments, rng_one_in(&s->rng, 2), &p->d) &&
         (s->b->slices->allocate(s->ctx, ++s->site, s->int_elem, p->values.n, &p->target) ||
          suite_fail(s, "allocate failed"));
}

static void free_parent(struct suite *s, struct parent *p) {
  s->b->release(s->ctx, &p->v);
  s->b->release(s->ctx, &p->d);
  s->b->release(s->ctx, &p->target);
  if (p->all_v.form) s->b->release(s->ctx, &p->all_v);
  if (p->all_d.form) s->b->release(s->ctx, &p->all_d);
  host_free(&s->heap, &p->values);
  host_free(&s->heap, &p->segments);
  host_free(&s->heap, &p->wanted);
}

/* Checks that the current sub-context holds nothing. */
static void holds_nothing(struct suite *s) {
  struct cvl_error e;
  if (s->b->check(s->ctx, true, &e)) suite_fail(s, "fault %s", fault_name(e.kind));
  const uint64_t live = s->b->statistics(s->ctx).live_bytes;
  if (live) suite_fail(s, "%" PRIu64 " bytes are live in a sub-context", live);
}

/* Scans segments first .. first + n, whose elements begin at `start`, in the current
 * sub-context. Returns where they end. */
static uint64_t sub_scan_chunk(struct suite *s, const struct parent *p, uint64_t first,
                               uint64_t n, uint64_t start) {
  const struct cvl_backend *b = s->b;
  struct cvl_value v, d, scan;
  uint64_t length = 0;
  for (uint64_t k = 0; k < n; k++) length += host_segment(&p->segments, first + k);
  const bool good = b->slices->slice(s->ctx, ++s->site, &p->v, start, length, &v) &&
                    b->slices->slice(s->ctx, ++s->site, &p->d, first, n, &d);
  if (!good) return suite_fail(s, "a value of the parent could not be sliced");
  v.owned = d.owned = 1;
  if (!b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_SCAN, OP_ADD, v, d), &scan))
    return suite_fail(s, "scan failed");
  scan.owned = 1;
  if (!b->slices->fill(s->ctx, ++s->site, &p->target, start, &scan))
    return suite_fail(s, "a target of the parent could not be filled");
  holds_nothing(s);
  return start + length;
}

/* Makes a fault, which only this sub-context sees, and a value that is never freed. */
static void fail_in(struct suite *s, struct cvl_context *sub, struct cvl_context *other) {
  struct cvl_value zeros, out, two[2];
  struct cvl_error e;
  struct host_value h = host_vector(&s->heap, s->int_elem, 100);
  for (uint64_t i = 0; i < h.n; i++) host_zero(&h, i);
  struct cvl_context *parent = sub_use(s, sub);
  if (suite_upload(s, &h, false, &zeros)) {
    two[0] = two[1] = zeros;
    if (s->b->apply(sub, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, OP_DIV, two[0], two[1]), &out))
      s->b->release(sub, &out);
    if (s->b->check(other, true, &e)) suite_fail(s, "a fault is in another context");
    if (!s->b->check(sub, true, &e) || e.kind != CVL_E_DIVIDE_BY_ZERO || e.site != s->site)
      suite_fail(s, "no fault, expected DIVIDE_BY_ZERO");
    if (s->b->statistics(sub).live_bytes == 0) suite_fail(s, "nothing is live");
  }
  sub_use(s, parent);
  host_free(&s->heap, &h);
}

static void sub_run_chunks(struct suite *s, const struct parent *p,
                           struct cvl_context *const subs[SUBS]) {
  const uint64_t count = p->segments.n;
  uint64_t start = 0;
  struct cvl_context *parent = s->ctx;
  for (uint64_t i = 0; i < CHUNKS && !s->failed; i++) {
    const uint64_t first = count * i / CHUNKS, end = count * (i + 1) / CHUNKS;
    sub_use(s, subs[i % SUBS]);
    start = sub_scan_chunk(s, p, first, end - first, start);
    sub_use(s, parent);
  }
}

/* The parent concatenates values of sub-contexts that no thread is in. */
static void sub_gather(struct suite *s, struct parent *p,
                       struct cvl_context *const subs[SUBS]) {
  const struct cvl_backend *b = s->b;
  const uint64_t count = p->segments.n;
  struct cvl_value v, d[CHUNKS];
  uint64_t start = 0;
  if (!b->slices->allocate(s->ctx, ++s->site, s->int_elem, p->values.n, &p->all_v)) {
    suite_fail(s, "the parent could not be called");
    return;
  }
  for (uint64_t i = 0; i < CHUNKS && !s->failed; i++) {
    const uint64_t first = count * i / CHUNKS, end = count * (i + 1) / CHUNKS;
    uint64_t length = 0;
    for (uint64_t k = first; k < end; k++) length += host_segment(&p->segments, k);
    struct cvl_context *sub = subs[i % SUBS];
    if (!b->slices->slice(sub, ++s->site, &p->v, start, length, &v) ||
        !b->slices->slice(sub, ++s->site, &p->d, first, end - first, &d[i]) ||
        !b->slices->fill(s->ctx, ++s->site, &p->all_v, start, &v)) {
      suite_fail(s, "a value of a sub-context could not be copied by the parent");
    }
    start += length;
  }
  if (!s->failed && !b->slices->concatenate(s->ctx, ++s->site, CHUNKS, d, &p->all_d))
    suite_fail(s, "descriptors of sub-contexts could not be concatenated");
}

static void expect_value(struct suite *s, const struct cvl_value *v,
                         const struct host_value *wanted, const char *what) {
  struct host_value got;
  if (s->failed || !suite_fetch(s, v, &got)) return;
  suite_compare(s, wanted, &got, 0, what);
  host_free(&s->heap, &got);
}

static void sub_run_shape(struct suite *s, enum shape shape, uint64_t n) {
  struct cvl_context *subs[SUBS] = {0};
  struct parent p;
  snprintf(s->where, sizeof s->where, ", shape %s, n = %" PRIu64, shape_name(shape), n);
  s->cases++;
  if (make_parent(s, shape, n, &p)) {
    for (int i = 0; i < SUBS && !s->failed; i++) subs[i] = sub_open_one(s);
    if (!s->failed) sub_run_chunks(s, &p, subs);
    if (!s->failed) fail_in(s, subs[0], subs[1]);
    if (!s->failed) sub_gather(s, &p, subs);
    for (int i = 0; i < SUBS && subs[i]; i++) s->b->close(subs[i]);
    expect_value(s, &p.target, &p.wanted, "what sub-contexts have filled");
    expect_value(s, &p.all_v, &p.values, "what the parent has filled");
    expect_value(s, &p.all_d, &p.segments, "what the parent has concatenated");
  }
  free_parent(s, &p);
  if (!s->failed) suite_no_error(s);
}

enum { LIMIT = 1 << 20, LARGE = 700000 };

static bool take_large(struct suite *s, struct cvl_context *ctx, struct cvl_value *out) {
  s->cases++;
  return s->b->slices->allocate(ctx, ++s->site, CVL_BOOL, LARGE, out) ||
         suite_fail(s, "there is no memory for %d bytes", (int)LARGE);
}

/* Takes too much, while another context holds so much. */
static void take_too_much(struct suite *s, struct cvl_context *ctx) {
  struct cvl_value v;
  struct cvl_error e;
  if (s->b->slices->allocate(ctx, ++s->site, CVL_BOOL, LARGE, &v)) s->b->release(ctx, &v);
  if (!s->b->check(ctx, true, &e) || e.kind != CVL_E_MEMORY) suite_fail(s, "no MEMORY fault");
}

/* Sub-contexts share the parent's limit: memory that one has released, or held when it was
 * closed, others get. */
static void within_the_limit(struct suite *s) {
  struct cvl_value v;
  snprintf(s->where, sizeof s->where, ", limit %d", (int)LIMIT);
  suite_close(s);
  if (!suite_open(s, LIMIT)) return;
  struct cvl_context *a = sub_open_one(s), *b = sub_open_one(s);
  for (int i = 0; i < 3 && a && b && take_large(s, a, &v); i++) {
    take_too_much(s, b);
    s->b->release(a, &v);
    if (take_large(s, b, &v)) s->b->release(b, &v);
  }
  if (!s->failed) take_large(s, a, &v);
  if (a) s->b->close(a);
  if (!s->failed && take_large(s, b, &v)) s->b->release(b, &v);
  if (b) s->b->close(b);
}

void chapter_sub(struct suite *s) {
  static const enum shape shapes[] = {SHAPE_ONE, SHAPE_FOURS, SHAPE_POWER, SHAPE_HALF_EMPTY};
  if (!s->b->open_sub) return;
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    for (uint64_t n = 3; n < 100000 && !s->failed; n = 9 * n + 1)
      sub_run_shape(s, shapes[i], n);
  }
  if (!s->failed) within_the_limit(s);
}
