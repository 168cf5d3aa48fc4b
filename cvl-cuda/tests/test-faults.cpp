/* test-faults.cpp - makes each call of the device fail in turn. Operations end with a fault
 * that says which call it was, or as they should, but never in another way. The emulated device
 * fails as a real one does (calls.hpp). */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "cvl-cuda/emulation.h"
#include "cvl-cuda/tests/apply.hpp"

/* BIG is more than the heap takes at a time. */
enum { N = 20000, MOST_CALLS = 3000, SEGMENTS = 100, BIG = 3 << 20 };

struct outcome {
  bool opened = false, right = false;
  std::string why; /* failure of open */
  cvl_error fault{};
  std::string text; /* of the fault */
};

/* One small program on vectors too long for the host. */
struct program {
  const cvl_backend *b = cvl_cuda_emulation_backend();
  cvl_context *c = nullptr;
  std::vector<cvl_value> held;
  uint64_t site = 0;
  bool good = true;

  const cvl_value *keep(bool done, const cvl_value &v) {
    good = good && done;
    held.push_back(done ? v : cvl_value{});
    return &held.back();
  }
  const cvl_value *upload(const std::vector<int64_t> &x) {
    cvl_value v{};
    return keep(good && b->from_host(c, ++site, CVL_I64, x.size(), x.data(), &v), v);
  }
  const cvl_value *add(const cvl_value *x, const cvl_value *y) {
    const cvl_value of[] = {*x, *y};
    cvl_value v{};
    return keep(good && apply(b, c, ++site, CALL_ELEMENTWISE, OP_ADD, {of[0], of[1]}, &v), v);
  }
  const cvl_value *is_less(const cvl_value *x, const cvl_value *y) {
    const cvl_value of[] = {*x, *y};
    cvl_value v{};
    return keep(good && apply(b, c, ++site, CALL_ELEMENTWISE, OP_LT, {of[0], of[1]}, &v), v);
  }
  const cvl_value *reduce(const cvl_value *x, const cvl_value *d) {
    cvl_value v{};
    return keep(good && apply(b, c, ++site, CALL_REDUCE, OP_ADD, {*x, *d}, &v), v);
  }
  const cvl_value *scan(const cvl_value *x, const cvl_value *d) {
    cvl_value v{};
    return keep(good && apply(b, c, ++site, CALL_SCAN, OP_ADD, {*x, *d}, &v), v);
  }
  const cvl_value *segdes(const std::vector<int64_t> &lengths) {
    cvl_value v{};
    return keep(good && b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &v), v);
  }
  const cvl_value *pack(const cvl_value *x, const cvl_value *flags, const cvl_value *d,
                        const cvl_value **packed_d) {
    cvl_value v{}, e{};
    const bool done = good && apply(b, c, ++site, CALL_PACK, OP_PACK, {*x, *flags, *d}, &v, &e);
    *packed_d = keep(done, e);
    return keep(done, v);
  }
  bool is(const cvl_value *x, const std::vector<int64_t> &expected) {
    if (!good) return false;
    cvl_size n = b->length(c, x);
    if (!b->resolve(c, &n) || n.bound != expected.size()) return false;
    std::vector<int64_t> got(expected.size());
    return b->to_host(c, x, 0, got.size(), got.data()) && got == expected;
  }
  void end() {
    for (const cvl_value &v : held) b->release(c, &v);
    b->close(c);
  }
};

/* Computes x + x + 1 and its sums: of all elements, by segment and before each; and those of
 * its elements under 0. */
static bool faults_compute(program &p) {
  std::vector<int64_t> x(N), lengths(SEGMENTS), sums(SEGMENTS), before(N), kept,
      kept_lengths(SEGMENTS);
  int64_t at = 0;
  for (int s = 0; s < SEGMENTS; s++) {
    lengths[(size_t)s] = s == SEGMENTS - 1 ? N - at : s % 7 == 0 ? 0 : s;
    for (int64_t k = 0, sum = 0; k < lengths[(size_t)s]; k++, at++) {
      x[(size_t)at] = (at * 7919) % 1000 - 500;
      const int64_t y = 2 * x[(size_t)at] + 1;
      before[(size_t)at] = sum;
      sum += y;
      sums[(size_t)s] = sum;
      if (y < 0) kept.push_back(y);
      if (y < 0) kept_lengths[(size_t)s]++;
    }
  }
  std::vector<int64_t> ones(N, 1), zeros(N, 0);
  const cvl_value *v = p.upload(x), *u = p.upload(ones), *z = p.upload(zeros);
  const cvl_value *d = p.segdes(lengths);
  const cvl_value *y = p.add(p.add(v, v), u);
  const cvl_value *r = p.reduce(y, d), *s = p.scan(y, d), *packed_d = nullptr;
  const cvl_value *k = p.pack(y, p.is_less(y, z), d, &packed_d);
  const cvl_value *t = p.reduce(k, packed_d);
  (void)t;
  bool right = p.is(r, sums);
  right = p.is(s, before) && right;
  return p.is(k, kept) && right;
}

/* `extra` elements of a vector are uploaded first, so that the device takes more memory. */
static outcome faults_run(const std::string &fail, size_t extra = 0) {
  setenv("RAVEL_FAIL_CALL", fail.c_str(), 1);
  outcome o;
  program p;
  cvl_options options{};
  options.int_elem = CVL_I64;
  options.float_elem = CVL_F64;
  options.device = -1;
  const char *why = nullptr;
  p.c = p.b->open(&options, &why);
  o.opened = p.c != nullptr;
  if (!o.opened) {
    cr_assert_not_null(why);
    o.why = why;
    return o;
  }
  p.held.reserve(100);
  if (extra > 0) p.upload(std::vector<int64_t>(extra));
  o.right = faults_compute(p);
  if (p.b->check(p.c, true, &o.fault) && o.fault.text) o.text = o.fault.text;
  if (o.fault.kind == CVL_E_MEMORY) { /* the context recovers from this */
    cvl_error again{};
    cr_assert_not(p.b->check(p.c, true, &again), "%s: fault %d", fail.c_str(), again.kind);
  }
  p.end();
  return o;
}

static bool faults_says_which(const std::string &text) {
  return text.find("made to fail, call ") != std::string::npos;
}

Test(faults, none_where_no_call_fails) {
  const outcome o = faults_run("0");
  cr_assert(o.opened);
  cr_assert_eq(o.fault.kind, CVL_E_NONE);
  cr_assert(o.right);
}

/* The first device does everything at once. The others do it when somebody waits, and are
 * checked: nothing is read before it has arrived. */
static const char *const devices[] = {"", "small=0,deferred,check",
                                      "small=0,deferred,check,staging=50000"};

static void faults_lose_at_each_call(const char *device) {
  setenv("RAVEL_EMULATION", device, 1);
  int lost = 0;
  for (int n = 1; n < MOST_CALLS; n++) {
    const outcome o = faults_run(std::to_string(n));
    if (!o.opened) {
      cr_assert(faults_says_which(o.why), "call %d: %s", n, o.why.c_str());
      continue;
    }
    if (o.fault.kind == CVL_E_NONE) {
      cr_assert(o.right, "call %d: wrong results without a fault", n);
      cr_assert_gt(lost, 10, "only %d calls are counted", lost);
      return; /* past the last call */
    }
    cr_assert_eq(o.fault.kind, CVL_E_DEVICE, "call %d: fault %d", n, o.fault.kind);
    cr_assert(faults_says_which(o.text), "call %d: %s", n, o.text.c_str());
    lost++;
  }
  cr_assert_fail("there is no last call");
}

Test(faults, a_device_lost_at_any_call_is_reported) {
  for (const char *device : devices) faults_lose_at_each_call(device);
}

Test(faults, a_device_without_memory_is_reported) {
  int without = 0;
  for (int n = 1; n < MOST_CALLS; n++) {
    const outcome o = faults_run("memory:" + std::to_string(n), BIG);
    if (!o.opened) {
      cr_assert(o.why.find("memory") != std::string::npos, "call %d: %s", n, o.why.c_str());
      continue;
    }
    if (o.fault.kind == CVL_E_NONE) {
      cr_assert(o.right, "call %d: wrong results without a fault", n);
      if (n > 20) break;
      continue;
    }
    cr_assert_eq(o.fault.kind, CVL_E_MEMORY, "call %d: fault %d", n, o.fault.kind);
    without++;
  }
  cr_assert_gt(without, 0);
}
