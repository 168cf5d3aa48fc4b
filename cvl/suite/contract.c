/* contract.c - the chapters of the contract that are about no single operation: values, sizes,
 * errors, ranges, results that other operations use, positions.
 */
#include "cvl/suite/suite.h"

#include <string.h>

/* Makes a vector of n values fit for any operation. */
static struct host_value contract_some(struct suite *s, enum cvl_elem e, uint64_t n) {
  struct host_value v = host_vector(&s->heap, e, n);
  data_fill(s, CALL_PACK, OP_PACK, &v);
  return v;
}

static bool contract_expect_error(struct suite *s, struct cvl_error want) {
  struct cvl_error got;
  if (!s->b->check(s->ctx, true, &got)) {
    return suite_fail(s, "no fault, expected %s", fault_name(want.kind));
  }
  if (!suite_compare_error(s, &want, &got)) return false;
  return !s->b->check(s->ctx, true, &got) || suite_fail(s, "the slot was not emptied");
}

/* ---- devices ---- */

/* Whether a device lacks a description. An unusable one may have only its remark. */
static bool is_badly_described(const struct cvl_device *d) {
  if (d->unusable) return !*d->remark;
  return d->processors == 0 || !memchr(d->remark, 0, sizeof d->remark);
}

/* The device that has opened a context must be listed. */
void chapter_devices(struct suite *s) {
  enum { MOST = 4, UNTOUCHED = 0x5A };
  struct cvl_device devices[MOST];
  const char *why = NULL;
  s->cases++;
  if (!s->b->devices) {
    suite_fail(s, "the table has no function devices");
    return;
  }
  const unsigned count = s->b->devices(NULL, 0, &why);
  if (count == 0) suite_fail(s, "there is no device: %s", why ? why : "no reason given");
  for (unsigned most = 1; most <= MOST && !s->failed; most++) {
    memset(devices, UNTOUCHED, sizeof devices);
    if (s->b->devices(devices, most, &why) != count) suite_fail(s, "the number differs");
    for (unsigned i = 0; i < MOST && !s->failed; i++) {
      const char *name = devices[i].name;
      bool described = i < most && i < count;
      if (!described && *(const unsigned char *)name != UNTOUCHED) {
        suite_fail(s, "device %u of %u is described, where %u are asked for", i, count, most);
      } else if (described && (!memchr(name, 0, sizeof devices[i].name) || !*name)) {
        suite_fail(s, "device %u has no name", i);
      } else if (described && (strpbrk(name, "\n\r") || is_badly_described(&devices[i]))) {
        suite_fail(s, "device %u, %s, is described badly", i, name);
      }
    }
  }
}

/* ---- values: copies in and out, references, identity ---- */

static void check_ranges(struct suite *s, const struct cvl_value *v,
                         const struct host_value *h) {
  size_t bytes = elem_info((enum cvl_elem)h->elem)->bytes;
  for (int round = 0; round < 5 && !s->failed; round++) {
    uint64_t first = rng_below(&s->rng, h->n + 1), n = rng_below(&s->rng, h->n - first + 1);
    struct host_value range = host_vector(&s->heap, (enum cvl_elem)h->elem, n + 1);
    memset(range.data, 0x5A, host_bytes(&range));
    uint8_t guard[8];
    memset(guard, 0x5A, sizeof guard);
    if (!s->b->to_host(s->ctx, v, first, n, range.data)) {
      suite_fail(s, "to_host failed");
    } else if (memcmp(range.data, (const char *)h->data + first * bytes, n * bytes) != 0) {
      suite_fail(s, "the range that was read differs");
    } else if (memcmp((const char *)range.data + n * bytes, guard, bytes) != 0) {
      suite_fail(s, "to_host wrote past the range");
    }
    host_free(&s->heap, &range);
  }
}

static void contract_check_value(struct suite *s, struct host_value h, bool other) {
  struct cvl_value v;
  if (suite_upload(s, &h, other, &v)) {
    struct host_value got;
    check_ranges(s, &v, &h);
    s->b->retain(s->ctx, &v);
    s->b->release(s->ctx, &v);
    if (!s->b->same(s->ctx, &v, &v) && v.form != CVL_SCALAR) suite_fail(s, "not itself");
    if (suite_fetch(s, &v, &got)) {
      suite_compare(s, &h, &got, 0, "value");
      host_free(&s->heap, &got);
    }
    struct cvl_value scalar;
    if (!s->failed && h.form == HOST_VECTOR && h.n == 1) {
      if (!s->b->scalar(s->ctx, &v, &scalar)) {
        suite_fail(s, "scalar failed");
      } else if (scalar.form != CVL_SCALAR || scalar.elem != h.elem || scalar.owned ||
                 memcmp(&scalar.as, h.data, host_bytes(&h)) != 0) {
        suite_fail(s, "scalar has another value");
      }
    }
    s->b->release(s->ctx, &v);
    if (!s->failed) suite_no_error(s);
  }
  s->cases++;
  host_free(&s->heap, &h);
}

void chapter_values(struct suite *s) {
  const uint64_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !s->failed; i++) {
    snprintf(s->where, sizeof s->where, ", n = %d", (int)sizes[i]);
    for (int other = 0; other < 2 && !s->failed; other++) {
      contract_check_value(s, contract_some(s, s->int_elem, sizes[i]), other);
      contract_check_value(s, contract_some(s, s->float_elem, sizes[i]), other);
      contract_check_value(s, contract_some(s, CVL_BOOL, sizes[i]), other);
      for (int shape = 0; shape < SHAPES_END && !s->failed; shape++) {
        contract_check_value(s, shape_make(s, (enum shape)shape, sizes[i]), other);
      }
    }
  }
}

/* ---- sizes: bounds, symbols, requirements ---- */

static bool is_size(struct suite *s, struct cvl_size size, uint64_t want, const char *what) {
  if (size.bound < want) return suite_fail(s, "bound of %s is too small", what);
  if (!size.symbol && size.bound != want) return suite_fail(s, "%s is wrong", what);
  if (!s->b->resolve(s->ctx, &size)) return suite_fail(s, "%s not resolved", what);
  return (size.bound == want && !size.symbol) || suite_fail(s, "%s resolved wrong", what);
}

/* Requires that a total, which nobody has waited for, is another number, given before or after
 * it. The total of `more` is required too, by a later rule or in a later operation. */
static void require_another(struct suite *s, const struct cvl_value *d, int64_t total,
                            bool behind, const struct cvl_value *more, bool later) {
  const int64_t other = total + 2;
  const struct cvl_size a = s->b->length(s->ctx, d), b = {(uint64_t)other, 0};
  const uint64_t site = ++s->site;
  s->b->require_equal(s->ctx, site, behind ? b : a, behind ? a : b, 3);
  if (later) s->site++;
  s->b->require_equal(s->ctx, s->site, s->b->length(s->ctx, more), (struct cvl_size){1, 0}, 4);
  contract_expect_error(s, (struct cvl_error){.kind = CVL_E_SIZE,
                                              .site = site,
                                              .position = 3,
                                              .value = behind ? other : total,
                                              .limit = behind ? total : other});
  s->cases++;
}

/* Makes a descriptor whose lengths a device has computed: 0 2 4 ... */
static bool make_even(struct suite *s, uint64_t n, struct cvl_value *d) {
  struct host_value lengths = host_vector(&s->heap, s->int_elem, n);
  for (uint64_t k = 0; k < n; k++) host_put_int(&lengths, k, (int64_t)k);
  struct cvl_value v, sum, operands[2];
  bool ok = suite_upload(s, &lengths, false, &v);
  host_free(&s->heap, &lengths);
  if (!ok) return false;
  operands[0] = operands[1] = v;
  ok = s->b->apply(s->ctx, ++s->site,
                   &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, operands[0], operands[1]), &sum);
  s->b->release(s->ctx, &v);
  if (!ok) return suite_fail(s, "elementwise failed");
  ok = s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, sum), d);
  s->b->release(s->ctx, &sum);
  return ok || suite_fail(s, "make_segdes failed");
}

/* Requires totals of descriptors, and of a slice of their segments. */
static void require_others(struct suite *s) {
  enum { SEGMENTS = 300, FIRST = 7 };
  for (int k = 0; k < 4 && !s->failed; k++) {
    struct cvl_value d, more, slice;
    const bool sliced = k / 2 && s->b->slices;
    snprintf(s->where, sizeof s->where, ", another total%s", sliced ? " of a slice" : "");
    if (!make_even(s, SEGMENTS, &d) || !make_even(s, SEGMENTS, &more)) return;
    if (!sliced) {
      require_another(s, &d, (int64_t)SEGMENTS * (SEGMENTS - 1), k % 2, &more, k % 2);
    } else if (s->b->slices->slice(s->ctx, ++s->site, &d, FIRST, 1, &slice)) {
      require_another(s, &slice, (int64_t)2 * FIRST, k % 2, &more, k % 2);
      s->b->release(s->ctx, &slice);
    } else {
      suite_fail(s, "slice failed");
    }
    s->b->release(s->ctx, &d);
    s->b->release(s->ctx, &more);
  }
}

void chapter_sizes(struct suite *s) {
  const uint8_t flags[10] = {1, 0, 1, 1, 0, 0, 1, 0, 1, 1};
  struct cvl_value f, packed[CALL_RESULTS], sum, d = cvl_one_segment(10);
  bool ok = s->b->from_host(s->ctx, ++s->site, CVL_BOOL, 10, flags, &f) &&
            s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_PACK, OP_PACK, f, f, d), packed) &&
            s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_REDUCE, OP_AND, packed[0], packed[1]),
                        &sum);
  if (!ok) {
    suite_fail(s, "pack failed");
    return;
  }
  struct cvl_size length = s->b->length(s->ctx, &packed[0]),
                  total = s->b->length(s->ctx, &packed[1]);
  s->cases++;
  if (is_size(s, length, 6, "length") && is_size(s, total, 6, "total") &&
      is_size(s, s->b->count(s->ctx, &packed[1]), 1, "count") &&
      is_size(s, s->b->length(s->ctx, &f), 10, "known length")) {
    struct cvl_size ten = {10, 0};
    if (!s->b->require_equal(s->ctx, ++s->site, length, total, 0)) suite_fail(s, "6 is not 6");
    s->b->require_equal(s->ctx, ++s->site, length, ten, 3);
    s->b->require_equal(s->ctx, ++s->site, length, ten, 2);
    contract_expect_error(
        s,
        (struct cvl_error){
            .kind = CVL_E_SIZE, .site = s->site - 1, .position = 3, .value = 6, .limit = 10});
  }
  s->b->release(s->ctx, &f);
  s->b->release(s->ctx, &packed[0]);
  s->b->release(s->ctx, &packed[1]);
  s->b->release(s->ctx, &sum);
  if (!s->failed) require_others(s);
}

/* ---- errors: which one stays, and what they stop ---- */

static void contract_divide(struct suite *s, uint64_t site, const struct cvl_value *x,
                            const struct cvl_value *y) {
  struct cvl_value out, operands[2] = {*x, *y};
  if (s->b->apply(s->ctx, site, &CVL_CALL(CALL_ELEMENTWISE, OP_DIV, operands[0], operands[1]),
                  &out))
    s->b->release(s->ctx, &out);
}

/* While a fault is in the slot, nothing can be read. While it is deferred, its result cannot.
 * After it was reported the context works as before. */
static void check_refusal(struct suite *s, const struct cvl_value *x,
                          const struct cvl_value *zeros) {
  struct cvl_value out, more, operands[2] = {*x, *zeros};
  struct cvl_error e;
  uint8_t buffer[8];
  uint64_t site = ++s->site;
  snprintf(s->where, sizeof s->where, ", with a fault in the slot");
  bool ok = s->b->apply(s->ctx, site,
                        &CVL_CALL(CALL_ELEMENTWISE, OP_DIV, operands[0], operands[1]), &out);
  if (s->b->to_host(s->ctx, ok ? &out : x, 0, 1, buffer)) suite_fail(s, "to_host succeeds");
  if (s->b->apply(s->ctx, ++s->site,
                  &CVL_CALL(CALL_ELEMENTWISE, OP_SUB, operands[0], operands[1]), &more)) {
    s->b->release(s->ctx, &more); /* work goes on, or is refused; both are harmless */
  }
  if (ok) s->b->release(s->ctx, &out);
  if (!s->failed) {
    contract_expect_error(
        s, (struct cvl_error){.kind = CVL_E_DIVIDE_BY_ZERO, .site = site, .position = 7});
  }
  snprintf(s->where, sizeof s->where, ", after the fault");
  if (!s->failed && !s->b->to_host(s->ctx, x, 0, 1, buffer)) suite_fail(s, "to_host fails");
  if (!s->failed && s->b->check(s->ctx, false, &e)) suite_fail(s, "the slot was filled again");
  s->cases++;
}

void chapter_errors(struct suite *s) {
  enum { N = 100 };
  struct host_value ones = host_vector(&s->heap, s->int_elem, N);
  for (uint64_t i = 0; i < N; i++) host_put_int(&ones, i, 1);
  struct cvl_value x, y7, y3;
  if (!suite_upload(s, &ones, false, &x)) return;
  host_put_int(&ones, 99, 0);
  host_put_int(&ones, 7, 0);
  if (!suite_upload(s, &ones, false, &y7)) return;
  host_put_int(&ones, 3, 0);
  if (!suite_upload(s, &ones, false, &y3)) return;

  const uint64_t sites[][2] = {{1000, 1001}, {1001, 1000}};
  for (int i = 0; i < 2 && !s->failed; i++) { /* the lowest site stays, in any order of issue */
    snprintf(s->where, sizeof s->where, ", two faults");
    contract_divide(s, sites[i][0], &x, i == 0 ? &y7 : &y3);
    contract_divide(s, sites[i][1], &x, i == 0 ? &y3 : &y7);
    contract_expect_error(
        s, (struct cvl_error){.kind = CVL_E_DIVIDE_BY_ZERO, .site = 1000, .position = 7});
    s->cases++;
  }
  s->site = 2000;
  if (!s->failed) check_refusal(s, &x, &y7);
  s->b->release(s->ctx, &x);
  s->b->release(s->ctx, &y7);
  s->b->release(s->ctx, &y3);
  host_free(&s->heap, &ones);
}

/* ---- ranges: lengths that are no INT, totals that are no length ---- */

static void expect_lengths_fault(struct suite *s, const struct cvl_value *d, int64_t position,
                                 int64_t value) {
  struct cvl_value out;
  if (s->failed) return;
  if (s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, *d), &out))
    s->b->release(s->ctx, &out);
  contract_expect_error(
      s, (struct cvl_error){
             .kind = CVL_E_INT_RANGE, .site = s->site, .position = position, .value = value});
  s->cases++;
}

/* Expects one fault in so many elements, of which there are more than a tile of a device. */
static void expect_many_faults(struct suite *s, uint64_t one_in) {
  enum { COUNT = 5000 };
  const int64_t big = (int64_t)1 << 31;
  int64_t lengths[COUNT];
  struct cvl_value d;
  for (int k = 0; k < COUNT; k++)
    lengths[k] = k + 1 == COUNT || rng_one_in(&s->rng, one_in) ? big + k : k;
  int first = 0;
  while (lengths[first] < big) first++;
  if (s->failed) return;
  if (s->b->segdes_from_host(s->ctx, ++s->site, COUNT, lengths, &d)) {
    expect_lengths_fault(s, &d, first, lengths[first]);
    s->b->release(s->ctx, &d);
  } else {
    suite_fail(s, "segdes_from_host failed");
  }
}

/* Makes the lengths of several descriptors, before any of them is read. */
static void lengths_in_a_row(struct suite *s) {
  enum { DESCRIPTORS = 5, COUNT = 1300 };
  struct host_value h[DESCRIPTORS], got;
  struct cvl_value d, out[DESCRIPTORS] = {{0}};
  for (int k = 0; k < DESCRIPTORS; k++) {
    h[k] = host_segdes(&s->heap, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) host_put_int(&h[k], i, (int64_t)(i % 7 + (uint64_t)k));
    for (uint64_t i = 0; i < COUNT; i++) h[k].total += host_segment(&h[k], i);
    if (!s->failed && suite_upload(s, &h[k], false, &d)) {
      if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, d), &out[k]))
        suite_fail(s, "lengths failed");
      s->b->release(s->ctx, &d);
    }
  }
  for (int k = 0; k < DESCRIPTORS; k++) {
    struct host_value want = host_vector(&s->heap, s->int_elem, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) host_put_int(&want, i, host_int(&h[k], i));
    if (!s->failed && suite_fetch(s, &out[k], &got)) {
      suite_compare(s, &want, &got, 0, "lengths of several descriptors");
      host_free(&s->heap, &got);
    }
    s->b->release(s->ctx, &out[k]);
    host_free(&s->heap, &want);
    host_free(&s->heap, &h[k]);
  }
  s->cases++;
}

void chapter_ranges(struct suite *s) {
  const int64_t big = (int64_t)1 << 31, lengths[] = {5, big - 1, 0, big + 7, big};
  struct cvl_value d, out, one = cvl_one_segment((uint64_t)big);
  if (!s->b->segdes_from_host(s->ctx, ++s->site, 5, lengths, &d)) {
    suite_fail(s, "segdes_from_host failed");
    return;
  }
  if (s->int_elem == CVL_I32) {
    expect_lengths_fault(s, &one, 0, big);
    expect_lengths_fault(s, &d, 3, big + 7);
    for (uint64_t one_in = 1; one_in <= 2048; one_in *= 2) expect_many_faults(s, one_in);
  } else if (s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, d), &out)) {
    struct host_value got, want = {HOST_VECTOR, CVL_I64, 5, 0, (int64_t[5]){0}};
    memcpy(want.data, lengths, sizeof lengths);
    if (suite_fetch(s, &out, &got)) {
      suite_compare(s, &want, &got, 0, "lengths");
      host_free(&s->heap, &got);
    }
    s->b->release(s->ctx, &out);
    s->cases++;
  }
  s->b->release(s->ctx, &d);
  lengths_in_a_row(s);
  if (s->int_elem != CVL_I64 || s->failed) return;
  const int64_t most[] = {3, INT64_MAX - 3}, over[] = {3, INT64_MAX - 3, 0, 1, -1};
  struct cvl_value v;
  if (s->b->from_host(s->ctx, ++s->site, CVL_I64, 2, most, &v)) {
    v.owned = 1;
    if (s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, v), &out))
      s->b->release(s->ctx, &out);
    if (!suite_no_error(s)) return;
  }
  if (s->b->from_host(s->ctx, ++s->site, CVL_I64, 5, over, &v)) {
    v.owned = 1;
    if (s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, v), &out))
      s->b->release(s->ctx, &out);
    contract_expect_error(
        s, (struct cvl_error){.kind = CVL_E_TOTAL, .site = s->site, .position = 3});
  }
  s->cases++;
}

/* ---- sequences: results become operands, and the host does not wait ---- */

/* Packs, sums, spreads and permutes packed elements, all before the first host read; n is the
 * length of the input. The oracle runs the same calls one after the other. */
static void run_sequence(struct suite *s, uint64_t n, enum shape shape) {
  const struct cvl_backend *b = s->b;
  enum { V, FLAGS, D, KEPT, KEPT_D, SUMS, SPREAD, RANKS, SORTED, TWICE, COUNTS, D2, STEPS };
  static const struct {
    enum call_kind kind;
    enum cvl_op op;
    int operand[6];
    int out[2];
  } plan[] = {
      {CALL_PACK, OP_PACK, {V, FLAGS, D}, {KEPT, KEPT_D}},
      {CALL_REDUCE, OP_ADD, {KEPT, KEPT_D}, {SUMS}},
      {CALL_DIST, OP_DIST, {SUMS, KEPT_D}, {SPREAD}},
      {CALL_RANK, OP_RANK_UP, {KEPT, KEPT_D}, {RANKS}},
      {CALL_PERMUTE, OP_PERMUTE, {SPREAD, RANKS, -1, -1, KEPT_D, KEPT_D}, {SORTED}},
      {CALL_ELEMENTWISE, OP_ADD, {SORTED, KEPT}, {TWICE}},
      {CALL_LENGTHS, OP_LENGTHS, {KEPT_D}, {COUNTS}},
      {CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {COUNTS}, {D2}},
  };
  struct host_value want[STEPS] = {[D] = shape_make(s, shape, n)};
  struct cvl_value have[STEPS] = {{0}};
  want[V] = contract_some(s, s->float_elem, want[D].total);
  want[FLAGS] = contract_some(s, CVL_BOOL, want[D].total);
  for (int i = V; i <= D && !s->failed; i++) suite_upload(s, &want[i], false, &have[i]);
  for (size_t p = 0; p < sizeof plan / sizeof plan[0] && !s->failed; p++) {
    unsigned count = call_operands(plan[p].kind, plan[p].op);
    struct oracle_call oc = {plan[p].kind, plan[p].op, s->int_elem, s->float_elem,
                             count,        {{0}},      {0}};
    struct cvl_call bc = {.kind = plan[p].kind, .op = plan[p].op, .count = count};
    for (unsigned i = 0; i < count; i++) {
      if (plan[p].operand[i] < 0) continue;
      oc.operand[i] = want[plan[p].operand[i]];
      bc.operand[i] = have[plan[p].operand[i]];
    }
    struct oracle_outcome o;
    struct cvl_value out[CALL_RESULTS];
    if (!oracle_run(&s->heap, &oc, &o)) suite_fail(s, "the oracle faults");
    if (!s->failed && !b->apply(s->ctx, ++s->site, &bc, out)) suite_fail(s, "step fails");
    for (unsigned r = 0; r < call_results(plan[p].kind) && !s->failed; r++) {
      want[plan[p].out[r]] = o.out[r];
      have[plan[p].out[r]] = out[r];
    }
  }
  s->cases++;
  for (int i = STEPS - 1; i >= 0; i--) {
    struct host_value got;
    if (!s->failed && suite_fetch(s, &have[i], &got)) {
      suite_compare(s, &want[i], &got, 0, "value of the sequence");
      host_free(&s->heap, &got);
    }
    b->release(s->ctx, &have[i]);
    host_free(&s->heap, &want[i]);
  }
  if (!s->failed) suite_no_error(s);
}

void chapter_sequence(struct suite *s) {
  const uint64_t sizes[] = {1, 10, 1000, 50000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (int shape = 0; shape < SHAPES_END && !s->failed; shape++) {
      snprintf(s->where, sizeof s->where, ", n = %d, shape %s", (int)sizes[i],
               shape_name((enum shape)shape));
      run_sequence(s, sizes[i], (enum shape)shape);
    }
  }
}
