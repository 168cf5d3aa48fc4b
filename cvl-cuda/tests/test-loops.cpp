/* test-loops.cpp - loops of superoperators as kernels: against plain loops, with so few rounds
 * in a launch that kernels resume many times; followed by consumers; one after the other; with
 * a fault before them; stopped; and how many launches they take. */
#include "cvl-cuda/clock.hpp"
#include "cvl-cuda/emulation/checker.hpp"
#include "cvl-cuda/tests/superop-session.hpp"
#include "cvl/tuning.h"

/* $2 is one segment. Of the Collatz sequence from $0 to 1: the last number, the steps, the
 * highest number, whether the last step was up, and half of the steps. */
#define COLLATZ                                                                                \
  "fused OP0#1 ($0 : INT, $1 : SEGDES, $2 : SEGDES) =\n"                                       \
  "$3 = (DIST INT @ (CONST INT 1) $2) $4 = (DIST INT @ (CONST INT 3) $2)\n"                    \
  "$5 = (DIST INT @ (CONST INT 0) $2) $6 = (DIST BOOL @ (CONST BOOL F) $2)\n"                  \
  "$7 = (DIST FLOAT @ (CONST FLOAT 0.5) $2) $8 = (- FLOAT @ $7 $7)\n"                          \
  "$9 = (CARRY INT @ $0) $10 = (CARRY INT @ $5) $11 = (CARRY INT @ $0)\n"                      \
  "$12 = (CARRY BOOL @ $6) $13 = (CARRY FLOAT @ $8)\n"                                         \
  "(WHILE @ (> INT @ $9 $3))\n"                                                                \
  "$14 = (= INT @ (AND INT @ $9 $3) $3)\n"                                                     \
  "$15 = (+ INT @ (* INT @ $9 $4) $3) $16 = (SELECT INT @ $14 $15 (RSHIFT @ $9 $3))\n"         \
  "$17 = (+ INT @ $10 $3) $18 = (> INT @ $16 $11) $19 = (SELECT INT @ $18 $16 $11)\n"          \
  "$20 = (+ FLOAT @ $13 $7)\n"                                                                 \
  "$21 = (NEXT INT @ $9 $16) $22 = (NEXT INT @ $10 $17) $23 = (NEXT INT @ $11 $19)\n"          \
  "$24 = (NEXT BOOL @ $12 $14) $25 = (NEXT FLOAT @ $13 $20)\n"

/* Maps follow, which the kernel of the loop executes. */
static const char maps[] = COLLATZ "$26 = (CEIL @ $25) $27 = (B_TO_I @ $24)\n"
                                   "-> $22 $23 $26 $27\n";
/* A reduction, a PACK and a scan follow. */
static const char consumed[] = COLLATZ
    "$26 = (+_REDUCE INT @ $22 $1) $27 = (= INT @ (AND INT @ $22 $3) $3)\n"
    "$28 $29 = (PACK INT @ $23 $27 $1) $30 = (+_SCAN INT @ $22 $1) -> $26 $28 $29 $30\n";
/* A scatter of results follows, which the first loop's kernel does not need. */
static const char scattered[] =
    COLLATZ "$26 = (INDEX @ (CONST INT 0) (CONST INT 1) $2) $27 = (+ INT @ $26 $22)\n"
            "(! PERMUTE INT @ $27 $26 $1)\n";
/* A second loop begins with what the first one gives: it adds up numbers to the steps. */
static const char two_loops[] =
    COLLATZ "$26 = (- INT @ $22 $3) $27 = (CARRY INT @ $26) $28 = (CARRY INT @ $5)\n"
            "(WHILE @ (> INT @ $27 $5))\n"
            "$29 = (- INT @ $27 $3) $30 = (+ INT @ $28 $27)\n"
            "$31 = (NEXT INT @ $27 $29) $32 = (NEXT INT @ $28 $30)\n"
            "$33 = (+ INT @ $32 $23) -> $33 $22\n";
/* The loop does not end at all where a quotient is 0, that of a division by zero. */
static const char faulty[] =
    "fused OP0#1 ($0 : INT, $1 : SEGDES, $2 : SEGDES) =\n"
    "$3 = (DIST INT @ (CONST INT 1000000) $2) $4 = (DIST INT @ (CONST INT 0) $2)\n"
    "$5 = (/ INT @ $3 $0) $6 = (CARRY INT @ $5)\n"
    "(WHILE @ (= INT @ $6 $4))\n"
    "$7 = (* INT @ $6 $6) (NEXT INT @ $6 $7)\n";

/* Nothing runs on the host, threads run in random order, and all accesses are checked. */
static const char quick[] = "small=0";
static const char watched[] = "order=shuffled,seed=3,check,small=0,deferred";

namespace {

/* What a context is opened with, and when it is to stop, if somebody asks. */
struct loop_options {
  tuning values{};
  cvl_options o;
  uint64_t stops = UINT64_MAX; /* by now_ns */

  loop_options(bool compiled, uint64_t rounds) : o(options_of_superops(compiled)) {
    values.value[TUNE_CUDA_LOOP_ROUNDS] = rounds;
    o.tuning = &values;
    o.stop.with = this;
    o.stop.asks = [](void *with) { return ravel::now_ns() > ((loop_options *)with)->stops; };
  }
};

struct loop_session : loop_options, emulated_session {
  superops *ops;
  const superop &op;
  cvl_kernel *kernel;
  uint64_t launched = 0; /* by the last run */

  explicit loop_session(const char *text, uint64_t rounds = 0, bool compiled = true)
      : loop_options(compiled, rounds), emulated_session(compiled ? watched : quick, o),
        ops(superops_load(text)), op(*ops->ops[0]) {
    kernel = b->superops->prepare(c, &op);
    cr_assert_eq(kernel != nullptr, compiled);
  }
  ~loop_session() {
    if (kernel) b->superops->discard(c, kernel);
    superops_free(ops);
    cr_expect_eq(b->statistics(c).live_bytes, 0);
    cr_expect_eq(ravel::emulation::count_reports(), (uint64_t)0);
  }
  /* Runs it on numbers in so many segments. Returns whether there was no fault; else *e. */
  bool run(const ints &x, const ints &lengths, std::vector<cvl_value> &outs, cvl_error *e) {
    cvl_value operands[3] = {upload(x), {}, {}};
    operands[2].form = CVL_ONE_SEGMENT;
    operands[2].as.one_segment = x.size();
    cr_assert(b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &operands[1]));
    operands[0].owned = operands[1].owned = 1;
    outs.assign(op.output_count, cvl_value{});
    const uint64_t at = site + 1, before = launches();
    site += op.node_count + 1;
    const bool done = kernel ? b->superops->run(c, at, kernel, operands, outs.data())
                             : superop_run(b, c, at, &op, nullptr, operands, outs.data());
    launched = launches() - before;
    *e = cvl_error{};
    const bool good = !b->check(c, true, e) && done;
    if (!good) e->site -= at;
    return good;
  }
  void read(const cvl_value &v, ints &to) {
    cvl_value x = v;
    if (v.form != CVL_VECTOR) {
      cr_assert(apply(CALL_LENGTHS, OP_LENGTHS, {v}, &x));
    }
    cvl_size n = b->length(c, &x);
    cr_assert(b->resolve(c, &n));
    to.push_back((int64_t)n.bound);
    const size_t first = to.size();
    to.resize(first + n.bound);
    cr_assert(b->to_host(c, &x, 0, n.bound, to.data() + first));
    if (v.form != CVL_VECTOR) b->release(c, &x);
  }
  /* Returns all results, one after the other, each behind its length. */
  ints results(const ints &x, const ints &lengths) {
    std::vector<cvl_value> outs;
    cvl_error e;
    ints all;
    cr_assert(run(x, lengths, outs, &e), "fault %d of node %ld", e.kind, (long)e.site);
    for (const cvl_value &v : outs) read(v, all);
    for (const cvl_value &v : outs) b->release(c, &v);
    return all;
  }
};

/* Numbers whose sequences have 0 to 178 steps. */
ints numbers(int64_t n) {
  ints x;
  for (int64_t i = 0; i < n; i++) x.push_back(i * 7919 % 1200 + 1);
  return x;
}

ints collatz(const ints &x) {
  const int64_t n = (int64_t)x.size();
  ints steps{n}, highest{n}, halves{n}, up{n};
  for (int64_t v : x) {
    int64_t count = 0, most = v, last = 0;
    for (; v > 1; count++) {
      last = v & 1;
      v = last ? 3 * v + 1 : v / 2;
      if (v > most) most = v;
    }
    steps.push_back(count);
    highest.push_back(most);
    halves.push_back((count + 1) / 2);
    up.push_back(last);
  }
  ints all = steps;
  for (const ints &more : {highest, halves, up})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

/* Expects the results of the nodes, executed one by one, whatever the rounds of a launch. */
void expect_same(const char *text, const ints &lengths) {
  int64_t total = 0;
  for (int64_t n : lengths) total += n;
  const ints x = numbers(total);
  const ints wanted = loop_session(text, 0, false).results(x, lengths);
  for (uint64_t rounds : {1, 7, 4096})
    cr_expect(loop_session(text, rounds).results(x, lengths) == wanted,
              "%ld positions, %lu rounds", (long)total, (unsigned long)rounds);
}

} // namespace

Test(loops, are_as_plain_loops) {
  for (int64_t n : {0, 1, 255, 257, 5000}) {
    const ints x = numbers(n);
    for (uint64_t rounds : {1, 3, 100, 4096})
      cr_expect(loop_session(maps, rounds).results(x, {n}) == collatz(x), "%ld, %lu", (long)n,
                (unsigned long)rounds);
  }
}

Test(loops, results_are_consumed) {
  expect_same(consumed, {3000});
  expect_same(consumed, {5, 0, 1500, 7, 600, 0});
  expect_same(consumed, ints(300, 4));
  expect_same(scattered, {2500});
}

Test(loops, follow_each_other) {
  expect_same(two_loops, {2000});
  expect_same(two_loops, {0});
}

/* A short launch is followed by one of twice the rounds; these are short on a busy machine,
 * too. To all come the copy to the host of what the host waits for, and those of the operands.
 */
Test(loops, take_few_launches) {
  loop_session once(maps), often(maps, 1);
  const ints x = numbers(300);
  once.results(x, {300});
  often.results(x, {300});
  cr_expect_leq(once.launched, 3, "%lu launches", (unsigned long)once.launched);
  cr_expect_gt(often.launched, 2 * 7, "%lu launches", (unsigned long)often.launched);
  cr_expect_leq(often.launched, 2 * 8 + 1, "%lu launches", (unsigned long)often.launched);
}

/* The nodes would not come to the loop. */
Test(loops, a_fault_before_one_ends_it) {
  ints x = numbers(3000);
  x[1234] = x[2000] = 0;
  std::vector<cvl_value> outs;
  cvl_error e;
  loop_session s(faulty, 8);
  cr_expect_not(s.run(x, {3000}, outs, &e));
  cr_expect_eq(e.kind, CVL_E_DIVIDE_BY_ZERO, "fault %d", e.kind);
  cr_expect_eq(e.position, 1234);
  cr_expect_eq(s.op.nodes[e.site].op, OPC_DIV);
}

/* A position does not finish: 1000000 / 2000000 is 0. */
Test(loops, can_be_stopped) {
  ints x = numbers(3000);
  x[77] = 2000000;
  std::vector<cvl_value> outs;
  cvl_error e;
  loop_session s(faulty, 1);
  s.stops = ravel::now_ns() + 1500000000;
  cr_expect_not(s.run(x, {3000}, outs, &e));
  cr_expect_eq(e.kind, CVL_E_STOPPED, "fault %d", e.kind);
  cr_expect_gt(s.launched, 1);
  s.stops = UINT64_MAX; /* and goes on */
  x[77] = 1;
  ints wanted{3000};
  for (int64_t v : x) wanted.push_back(1000000 / v);
  cr_expect(s.results(x, {3000}) == wanted);
}
