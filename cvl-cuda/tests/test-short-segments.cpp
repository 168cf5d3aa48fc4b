/* test-short-segments.cpp - reductions of superoperators by groups of short segments. They give
 * the bits of the separate operations, in one launch. */
#include <string.h>

#include <vector>

#include "cvl-cuda/tests/superop-session.hpp"

/* The sum of x / s and the greatest y * z of each segment, where s is a number of the segment;
 * and x / s itself. */
static const char text[] =
    "fused OP0#1 ($0 : FLOAT, $1 : INT, $2 : FLOAT, $3 : SEGDES, $4 : INT) =\n"
    "$5 = (DIST FLOAT @ $2 $3) $6 = (/ FLOAT @ $0 $5) $7 = (+_REDUCE FLOAT @ $6 $3)\n"
    "$8 = (* INT @ $1 $4) $9 = (MAX_REDUCE INT @ $8 $3) -> $7 $9 $6\n";

/* Nothing runs on the host, threads run in random order, and all accesses are checked. */
static const char checked[] = "order=shuffled,seed=5,check,small=0";

enum { OUTPUTS = 3 };

struct outcome {
  std::vector<uint64_t> bits[OUTPUTS];
  uint64_t launches;

  bool operator==(const outcome &o) const {
    return bits[0] == o.bits[0] && bits[1] == o.bits[1] && bits[2] == o.bits[2];
  }
};

struct session : superop_session {
  superops *ops = superops_load(text);
  cvl_kernel *kernel;

  explicit session(bool compiled) : superop_session(checked, compiled) {
    kernel = b->superops->prepare(c, ops->ops[0]);
    cr_assert_eq(kernel != nullptr, compiled);
  }
  ~session() {
    if (kernel) b->superops->discard(c, kernel);
    superops_free(ops);
  }
  session(const session &) = delete;
  session &operator=(const session &) = delete;

  cvl_value floats(const std::vector<double> &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, CVL_F64, x.size(), x.data(), &v));
    held.push_back(v);
    return v;
  }
  std::vector<uint64_t> read(const cvl_value &v) {
    std::vector<uint64_t> x(b->length(c, &v).bound);
    cr_assert(b->to_host(c, &v, 0, x.size(), x.data()));
    return x;
  }
  /* Runs it under segments of these lengths. */
  outcome run(const ints &lengths) {
    std::vector<double> x, of_segment;
    ints y, z;
    for (size_t s = 0; s < lengths.size(); s++) {
      of_segment.push_back(1.0 / (double)(s + 1));
      for (int64_t i = 0; i < lengths[s]; i++) {
        x.push_back((double)(x.size() * 7919 % 1009) - 500.1);
        y.push_back((int64_t)(y.size() * 31 % 97) - 48);
        z.push_back((int64_t)s + 1);
      }
    }
    const cvl_value operands[] = {floats(x), upload(y), floats(of_segment), segments(lengths),
                                  upload(z)};
    cvl_value outs[OUTPUTS] = {};
    cvl_error e{};
    cr_assert_not(b->check(c, true, &e));
    const uint64_t before = launches();
    site += ops->ops[0]->node_count;
    const bool good = kernel ? b->superops->run(c, ++site, kernel, operands, outs)
                             : superop_run(b, c, ++site, ops->ops[0], nullptr, operands, outs);
    if (!good) b->check(c, true, &e);
    cr_assert(good, "fault %d at %ld of node %ld", e.kind, (long)e.position,
              (long)(e.site - site));
    outcome o{};
    o.launches = launches() - before;
    for (int k = 0; k < OUTPUTS; k++) o.bits[k] = read(outs[k]);
    cr_assert_not(b->check(c, true, &e));
    for (const cvl_value &v : outs) b->release(c, &v);
    return o;
  }
};

static outcome short_segments_expect_same(const ints &lengths) {
  const outcome wanted = session(false).run(lengths), found = session(true).run(lengths);
  cr_expect(wanted == found, "%zu segments of %ld ...", lengths.size(), (long)lengths[0]);
  return found;
}

/* One launch makes the rank directory, which positions need, and one does all the rest. */
enum { LAUNCHES = 2 };

Test(short_segments, take_one_launch) {
  ints ragged;
  for (int64_t s = 0; s < 700; s++) ragged.push_back(s * 37 % 23);
  cr_expect_leq(short_segments_expect_same(ragged).launches, LAUNCHES);
  cr_expect_leq(short_segments_expect_same(ints(900, 3)).launches, LAUNCHES);
  cr_expect_leq(short_segments_expect_same(ints(300, 8)).launches, LAUNCHES);
  cr_expect_leq(short_segments_expect_same(ints(100, 9)).launches, LAUNCHES);
  cr_expect_leq(short_segments_expect_same(ints(40, 200)).launches, LAUNCHES);
}

/* Groups have more positions than fit, with segments up to a slot. */
Test(short_segments, of_many_positions) {
  ints lengths(3000, 1);
  for (size_t s = 0; s < lengths.size(); s += 97) lengths[s] = 1024 - (int64_t)s % 50;
  short_segments_expect_same(lengths);
}

/* Long segments are among them: at the ends, next to each other, with a length of whole
 * slots. */
Test(short_segments, with_long_ones_among_them) {
  ints lengths(2000, 2);
  lengths.front() = 1025;
  lengths[1000] = 5000;
  lengths[1001] = 4096;
  lengths[1002] = 0;
  lengths.back() = 3000;
  short_segments_expect_same(lengths);
}

Test(short_segments, of_no_elements) {
  short_segments_expect_same(ints(500, 0));
  ints lengths(500, 0);
  lengths[250] = 1;
  short_segments_expect_same(lengths);
}
