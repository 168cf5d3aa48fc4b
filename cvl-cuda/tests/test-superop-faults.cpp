/* test-superop-faults.cpp - makes each call of the device, and each allocation, fail in turn
 * under a program of superoperators, which runs by kernels and by nodes. It ends with a fault
 * that says what it was. Operands that are still held are unchanged, and nothing is left
 * behind. Every context except that of a lost device goes on, and computes the program again as
 * if nothing had happened. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdlib.h>

#include <string>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "base/tests/every.h"
#include "cvl-cuda/tests/superops.h"
}
#pragma GCC diagnostic pop

#include "cvl-cuda/tests/session.hpp"

/* DEFERRED: bytes of numbers that a lost device does not deliver any more, and for which its
 * context goes on waiting. They are fewer than those of any vector here. */
enum { N = 5000, SEGMENTS = 40, MOST = 3000, DEFERRED = 64 };

/* Returns the step of a sample of calls, which is a third of other tests' samples: a call takes
 * long here. */
static int superop_faults_step() {
  return every() > 1 ? 3 * (int)every() : 1;
}

/* ---- the program ---- */

enum { MAP, SUMS, LONG_SUMS, SCAN, PACK, SCATTER, COMBINE, COMBINE_SCATTER, COPY, SUPEROPS };

static const char definitions[] =
    "fused OP0#1 ($0 : INT, $1 : SEGDES) =\n" /* x * x + 3 */
    "  (+ INT @ (* INT @ $0 $0) (DIST INT @ (CONST INT 3) $1))\n"
    "fused OP1#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n" /* x + y, and its sums */
    "  $3 = (+ INT @ $0 $1) $4 = (+_REDUCE INT @ $3 $2) -> $4 $3\n"
    "fused OP2#1 ($0 : INT, $1 : SEGDES) =\n" /* x - 1 and its sum as one segment */
    "  $2 = (- INT @ $0 (DIST INT @ (CONST INT 1) $1)) $3 = (MAX_REDUCE INT @ $2 $1) -> $3 $2\n"
    "fused OP3#1 ($0 : INT, $1 : SEGDES) =\n" /* scan of 2 x */
    "  (+_SCAN INT @ (+ INT @ $0 $0) $1)\n"
    "fused OP4#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES) =\n" /* PACK of x - y where x <
                                                                        0 */
    "  $4 = (- INT @ $0 $1) $5 = (< INT @ $0 (DIST INT @ (CONST INT 0) $3))\n"
    "  $6 $7 = (PACK INT @ $4 $5 $2) -> $6 $7\n"
    "fused OP5#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES) =\n" /* backwards, over defaults */
    "  $4 = (+ INT @ $0 $0) $5 = (< INT @ $0 (DIST INT @ (CONST INT 0) $3))\n"
    "  (DFPERMUTE INT @ $4 $1 $5 $2 $3 $3)\n"
    "fused OP6#1 ($0 : INT, $1 : SEGDES, $2 : INT, $3 : SEGDES) =\n" /* the last one, twice */
    "  $4 = (+ INT @ $0 $0) $5 = (CONST INT 7)\n"
    "  $6 $7 = (COLUMN INT @ $4) $8 = (COMBINE_REDUCE INT @ $6 $7 $5 $1)\n"
    "  $9 $10 = (COLUMN INT @ $4) $11 = (COMBINE_SCAN INT @ $9 $10 $5 $1) -> $8 $11\n"
    "fused OP7#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES) =\n" /* the last one at an index */
    "  $4 $5 = (COLUMN INT @ $0) (COMBINE_SCATTER INT @ $4 $5 $1 $2 $3 $3)\n"
    "fused OP8#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : INT, $4 : INT, $5 : SEGDES) =\n"
    "  $6 = (CONST INT 1)\n" /* two vectors, one after the other */
    "  $7 = (FPERMUTE INT @ $0 (INDEX @ $1 $6 $2) (DIST BOOL @ (CONST BOOL T) $2) $2 $5)\n"
    "  (DPERMUTE INT @ $3 (INDEX @ $4 $6 $2) $7 $2 $5)\n";

/* The operands, and the expected results. */
struct data {
  ints x, defaults, backwards, lengths;
  ints sums, scanned, packed, packed_lengths, scattered, lasts, before, doubled;
  int64_t most = INT64_MIN;

  data() : packed_lengths(SEGMENTS) {
    size_t at = 0;
    int64_t before_all = 0;
    for (int s = 0; s < SEGMENTS; s++) {
      const size_t n = s == SEGMENTS - 1 ? N - at : s % 7 == 0 ? 0 : (size_t)s;
      int64_t sum = 0;
      for (size_t k = 0; k < n; k++, at++) {
        const int64_t v = ((int64_t)at * 7919) % 1000 - 500, z = v * v + 3 + v;
        x.push_back(v);
        defaults.push_back((int64_t)at);
        backwards.push_back((int64_t)(N - 1 - at));
        scanned.push_back(before_all);
        before_all += 2 * (z - 1);
        sum += z;
        most = std::max(most, z - 1);
        if (v < 0) packed.push_back(v - z);
        if (v < 0) packed_lengths[(size_t)s]++;
      }
      lengths.push_back((int64_t)n);
      lasts.push_back(n > 0 ? 2 * x.back() : 7);
      for (size_t k = 0; k < n; k++) before.push_back(k > 0 ? 2 * x[at - n + k - 1] : 7);
      sums.push_back(sum);
    }
    doubled = x;
    doubled.insert(doubled.end(), defaults.begin(), defaults.end());
    scattered = defaults;
    for (size_t k = 0; k < N; k++) {
      if (x[k] < 0) scattered[N - 1 - k] = 2 * x[k];
    }
  }
};

/* ---- a context, and the program in it ---- */

struct session {
  const cvl_backend *b = cvl_cuda_emulation_backend();
  cvl_context *c = nullptr;
  const superops *ops;
  const data &in;
  cvl_kernel *kernels[SUPEROPS] = {};
  std::vector<cvl_value> held;
  uint64_t site = 0;
  uint64_t more_launches = 0; /* of operations that only kernels do */
  bool good = true;

  session(const superops *o, const data &d) : ops(o), in(d) {}
  session(const session &) = delete;
  session &operator=(const session &) = delete;
  ~session() {
    if (c) b->close(c);
  }
  /* Superoperators that are not compiled run by their nodes. */
  const char *open(bool compiled, uint64_t fail_allocation) {
    cvl_options o = options_of_superops(compiled);
    o.fail_allocation = fail_allocation;
    const char *why = nullptr;
    c = b->open(&o, &why);
    return why;
  }
  void prepare() {
    for (int k = 0; k < SUPEROPS; k++) kernels[k] = b->superops->prepare(c, ops->ops[k]);
  }
  void release_all() {
    for (int k = 0; k < SUPEROPS; k++) {
      if (kernels[k]) b->superops->discard(c, kernels[k]);
      kernels[k] = nullptr;
    }
    for (const cvl_value &v : held) b->release(c, &v);
    held.clear();
  }
  cvl_value keep(const cvl_value &v) {
    held.push_back(v);
    return v;
  }
  cvl_value upload(const ints &x) {
    cvl_value v{};
    good = good && b->from_host(c, ++site, CVL_I64, x.size(), x.data(), &v);
    return keep(v);
  }
  cvl_value segments(const ints &lengths) {
    cvl_value v{};
    good = good && b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &v);
    return keep(v);
  }
  /* Returns a value for an operation to take: it has one holder more, or none. */
  cvl_value shared(cvl_value v) {
    if (good) b->retain(c, &v);
    v.owned = good;
    return v;
  }
  cvl_value only(cvl_value v) {
    for (cvl_value &h : held) {
      if (good && h.form == CVL_VECTOR && v.form == CVL_VECTOR && h.as.vector == v.as.vector)
        h = cvl_value{};
    }
    v.owned = good && v.form == CVL_VECTOR;
    return v;
  }
  std::vector<cvl_value> run(int which, std::vector<cvl_value> operands) {
    const superop *op = ops->ops[which];
    std::vector<cvl_value> outs(op->output_count);
    if (!good) return outs;
    const uint64_t at = site + 1;
    site += op->node_count;
    good = kernels[which]
               ? b->superops->run(c, at, kernels[which], operands.data(), outs.data())
               : superop_run(b, c, at, op, nullptr, operands.data(), outs.data());
    if (!good) outs.assign(op->output_count, cvl_value{});
    for (const cvl_value &v : outs) keep(v);
    return outs;
  }
  bool is(const cvl_value &v, const ints &expected) {
    if (!good) return false;
    cvl_size n = v.form == CVL_SEGDES ? b->count(c, &v) : b->length(c, &v);
    if (!b->resolve(c, &n) || n.bound != expected.size()) return false;
    ints got(expected.size());
    return b->to_host(c, &v, 0, got.size(), got.data()) && got == expected;
  }
  bool combine(cvl_value x, cvl_value back, cvl_value w, cvl_value d);
  bool compute();
};

/* Runs only by kernels: by nodes this takes hundreds of calls of the device. */
bool session::combine(cvl_value x, cvl_value back, cvl_value w, cvl_value d) {
  const cvl_value whole = cvl_one_segment(N), twice = cvl_one_segment(2 * N);
  const uint64_t before = b->statistics(c).launches;
  const std::vector<cvl_value> combined = run(COMBINE, {x, d, x, whole});
  const cvl_value put = run(COMBINE_SCATTER, {x, back, shared(w), whole})[0];
  const cvl_value copied = run(COPY, {x, upload({0}), whole, w, upload({N}), twice})[0];
  bool right = is(combined[0], in.lasts) && is(combined[1], in.before);
  right = is(put, ints(in.x.rbegin(), in.x.rend())) && right;
  right = is(copied, in.doubled) && right;
  more_launches += b->statistics(c).launches - before;
  return right;
}

bool session::compute() {
  const cvl_value x = upload(in.x), w = upload(in.defaults), back = upload(in.backwards);
  const cvl_value d = segments(in.lengths), whole = cvl_one_segment(N);
  const cvl_value squares = run(MAP, {x, whole})[0];
  const std::vector<cvl_value> sums = run(SUMS, {x, only(squares), d});
  const cvl_value z = sums[1];
  const std::vector<cvl_value> most = run(LONG_SUMS, {shared(z), whole});
  const cvl_value scanned = run(SCAN, {only(most[1]), whole})[0];
  const std::vector<cvl_value> packed = run(PACK, {x, only(z), d, whole});
  const cvl_value one = run(SCATTER, {x, back, shared(w), whole})[0];
  bool right = is(w, in.defaults) && (!kernels[COMBINE] || combine(x, back, w, d));
  const cvl_value two = run(SCATTER, {shared(x), back, only(w), whole})[0];
  right = is(sums[0], in.sums) && is(most[0], {in.most}) && right;
  right = is(scanned, in.scanned) && is(packed[0], in.packed) && right;
  right = is(packed[1], in.packed_lengths) && right;
  return is(one, in.scattered) && is(two, in.scattered) && is(x, in.x) && right;
}

/* ---- outcomes ---- */

struct outcome {
  bool opened = false, right = false, intact = false;
  std::string why;       /* failure of open */
  cvl_error fault, next; /* of the first and of the second time */
  std::string text, next_text;
  bool next_right = false;
  uint64_t left = 0; /* bytes that are held after all is released */
  uint64_t launches = 0, allocations = 0;
};

/* Runs the program once, and says what is wrong then. */
static bool compute_once(session &s, cvl_error &fault, std::string &text) {
  s.good = true;
  const bool right = s.compute();
  fault = cvl_error{};
  if (s.b->check(s.c, true, &fault) && fault.text) text = fault.text;
  return right;
}

/* Returns whether operands that are still held are as they were uploaded. If there is no memory
 * to read one, it is skipped. */
static bool intact(session &s) {
  s.good = true;
  const ints *const uploaded[] = {&s.in.x, &s.in.defaults, &s.in.backwards};
  for (size_t k = 0; k < 3 && k < s.held.size(); k++) {
    cvl_error e{};
    if (s.held[k].form != CVL_VECTOR || s.is(s.held[k], *uploaded[k])) continue;
    if (!s.b->check(s.c, true, &e) || e.kind != CVL_E_MEMORY) return false;
  }
  return true;
}

struct sweep {
  superops *ops = superops_load(definitions);
  data in;

  sweep() {}
  ~sweep() { superops_free(ops); }
  sweep(const sweep &) = delete;
  sweep &operator=(const sweep &) = delete;

  outcome run(bool compiled, const std::string &device, uint64_t fail_allocation = 0) {
    setenv("RAVEL_EMULATION", device.c_str(), 1);
    outcome o;
    session s(ops, in);
    const char *why = s.open(compiled, fail_allocation);
    o.opened = s.c != nullptr;
    if (!o.opened) {
      cr_assert_not_null(why);
      o.why = why;
      return o;
    }
    s.prepare();
    o.right = compute_once(s, o.fault, o.text);
    o.launches = s.b->statistics(s.c).launches - s.more_launches;
    o.allocations = s.b->statistics(s.c).allocations;
    o.intact = o.fault.kind != CVL_E_NONE && o.fault.kind != CVL_E_DEVICE ? intact(s) : true;
    for (const cvl_value &v : s.held) s.b->release(s.c, &v);
    s.held.clear();
    o.next_right = compute_once(s, o.next, o.next_text);
    s.release_all();
    o.left = s.b->statistics(s.c).live_bytes;
    return o;
  }
};

/* ---- tests ---- */

static const char *const devices[] = {"small=0", "small=0,deferred,check"};

/* The kernels are compiled once. */
ReportHook(PRE_ALL)(struct criterion_test_set *) {
  kernels_of_tests::begin();
  sweep().run(true, devices[0]);
}

ReportHook(POST_ALL)(struct criterion_global_stats *) {
  kernels_of_tests::end();
}

static bool superop_faults_says_which(const std::string &text) {
  return text.find("made to fail, call ") != std::string::npos;
}

Test(superop_faults, none_where_nothing_fails) {
  sweep all;
  for (const char *device : devices) {
    const outcome by_kernels = all.run(true, device), by_nodes = all.run(false, device);
    for (const outcome &o : {by_kernels, by_nodes}) {
      cr_assert(o.opened);
      cr_assert(o.right && o.next_right, "%s", device);
      cr_assert_eq(o.fault.kind, CVL_E_NONE);
      cr_assert_eq(o.left, 0);
    }
    cr_assert_lt(by_kernels.launches, by_nodes.launches, "no kernel was used");
  }
}

static void superop_faults_lose_at_each_call(sweep &all, bool compiled,
                                             const std::string &device) {
  int lost = 0;
  for (int n = 1; n < MOST; n += superop_faults_step()) {
    const outcome o = all.run(compiled, device + ",fail=" + std::to_string(n));
    if (!o.opened) {
      cr_assert(superop_faults_says_which(o.why), "call %d: %s", n, o.why.c_str());
      continue;
    }
    cr_assert_leq(o.left, DEFERRED, "call %d: %llu bytes", n, (unsigned long long)o.left);
    if (o.fault.kind == CVL_E_NONE) {
      cr_assert(o.right, "call %d: wrong results without a fault", n);
      cr_assert_gt(lost * superop_faults_step(), 20, "only %d calls are counted", lost);
      return; /* past the last call of the first time */
    }
    cr_assert_eq(o.fault.kind, CVL_E_DEVICE, "call %d: fault %d", n, o.fault.kind);
    cr_assert(superop_faults_says_which(o.text), "call %d: %s", n, o.text.c_str());
    cr_assert_eq(o.next.kind, CVL_E_DEVICE, "call %d: and then fault %d", n, o.next.kind);
    cr_assert_eq(o.next_text, o.text, "call %d: and then %s", n, o.next_text.c_str());
    cr_assert_not(o.next_right, "call %d: a lost device computes", n);
    lost++;
  }
  cr_assert_fail("there is no last call");
}

Test(superop_faults, a_device_lost_at_any_call_is_reported) {
  sweep all;
  for (const char *device : devices) superop_faults_lose_at_each_call(all, true, device);
  superop_faults_lose_at_each_call(all, false, devices[1]);
}

/* Either there is enough memory, or the fault says so; values that exist stay as they are. */
static void check_without_memory(const outcome &o, int n) {
  cr_assert_eq(o.left, 0, "%d: %llu bytes", n, (unsigned long long)o.left);
  if (o.fault.kind == CVL_E_NONE) {
    cr_assert(o.right, "%d: wrong results without a fault", n);
    return;
  }
  cr_assert_eq(o.fault.kind, CVL_E_MEMORY, "%d: fault %d", n, o.fault.kind);
  cr_assert(o.intact, "%d: an operand has changed", n);
}

/* Memory is short once: the same context computes everything afterwards. */
static void fail_each_allocation(sweep &all, bool compiled, const std::string &device) {
  int failed = 0;
  for (int n = 1; n < MOST; n += superop_faults_step()) {
    const outcome o = all.run(compiled, device, (uint64_t)n);
    cr_assert(o.opened);
    if ((uint64_t)n > o.allocations) {
      cr_assert_gt(failed * superop_faults_step(), 20, "only %d allocations are counted",
                   failed);
      return;
    }
    check_without_memory(o, n);
    cr_assert_eq(o.next.kind, CVL_E_NONE, "%d: and then fault %d", n, o.next.kind);
    cr_assert(o.next_right, "%d: the second time is wrong", n);
    failed += o.fault.kind == CVL_E_MEMORY;
  }
  cr_assert_fail("there is no last allocation");
}

Test(superop_faults, a_context_goes_on_after_any_allocation_that_failed) {
  sweep all;
  for (const char *device : devices) fail_each_allocation(all, true, device);
  fail_each_allocation(all, false, devices[1]);
}

/* Memory stays short: the second time may find less than the first. Every block is an
 * allocation of the device here. */
Test(superop_faults, a_device_without_memory_is_reported) {
  sweep all;
  for (const bool compiled : {true, false}) {
    int without = 0;
    for (int n = 1; n < MOST; n += superop_faults_step()) {
      const std::string device = "small=0,deferred,check,fail=memory@";
      const outcome o = all.run(compiled, device + std::to_string(n));
      if (!o.opened) {
        cr_assert(o.why.find("memory") != std::string::npos, "call %d: %s", n, o.why.c_str());
        continue;
      }
      if (o.fault.kind == CVL_E_NONE) {
        cr_assert(o.right, "call %d: wrong results without a fault", n);
        break; /* past the last allocation of the first time */
      }
      check_without_memory(o, n);
      cr_assert(o.next_right || o.next.kind == CVL_E_MEMORY, "call %d: and then fault %d", n,
                o.next.kind);
      without++;
    }
    cr_assert_gt(without * superop_faults_step(), 20);
  }
}
