/* test-consumers.cpp - PACKs inside a superoperator's kernel. They give in one launch what the
 * separate operations give, also for so many tiles that blocks publish counts on up to three
 * levels. */
#include <string.h>

#include <vector>

#include "cvl-cuda/tests/superop-session.hpp"

/* Packs the numbers less than that of their segment, twice by the same flags; the double of
 * those equal to it; and all. */
static const char text[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (DIST INT @ $1 $2) $4 = (< INT @ $0 $3) $5 $6 = (PACK INT @ $0 $4 $2)\n"
    "$7 $8 = (PACK BOOL @ $4 $4 $2) $9 = (= INT @ $0 $3) $10 = (+ INT @ $0 $0)\n"
    "$11 $12 = (PACK INT @ $10 $9 $2) $13 = (- INT @ $0 $3) -> $5 $6 $7 $8 $11 $12 $13\n";

/* Adds a sum, for which there is a second kernel. */
static const char with_sum[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (DIST INT @ $1 $2) $4 = (< INT @ $0 $3) $5 $6 = (PACK INT @ $0 $4 $2)\n"
    "$7 = (- INT @ $0 $3) $8 = (+_REDUCE INT @ $7 $2) $9 = (* INT @ $0 $7) -> $5 $6 $8 $9\n";

/* Scans a difference and a flag, by kernels of their own; and gives a number for each
 * position. */
static const char scanning[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (DIST INT @ $1 $2) $4 = (- INT @ $0 $3) $5 = (+_SCAN INT @ $4 $2)\n"
    "$6 = (< INT @ $0 $3) $7 = (XOR_SCAN BOOL @ $6 $2) $8 = (* INT @ $3 $3) -> $5 $7 $8\n";

/* Scans FLOATs, and does nothing else. */
static const char scanning_floats[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (DIST INT @ $1 $2) $4 = (I_TO_F @ $0) $5 = (I_TO_F @ $3) $6 = (/ FLOAT @ $4 $5)\n"
    "$7 = (+_SCAN FLOAT @ $6 $2) -> $7\n";

/* Doubles numbers and flags in reverse order; `$1` has the lengths. */
static const char reversing[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (INDEX @ (CONST INT 0) (CONST INT 1) $2) $4 = (DIST INT @ $1 $2)\n"
    "$5 = (- INT @ (- INT @ $4 $3) (DIST INT @ (CONST INT 1) $2))\n"
    "$6 = (+ INT @ $0 $0) $7 = (! PERMUTE INT @ $6 $5 $2)\n"
    "$8 = (< INT @ $3 $0) $9 = (! PERMUTE BOOL @ $8 $5 $2) -> $7 $9\n";
/* Scatters positions and `$1`, over the numbers: of two sources the later one stays. */
static const char halving[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (INDEX @ (CONST INT 0) (CONST INT 1) $2)\n"
    "$4 = (/ INT @ $3 (DIST INT @ (CONST INT 2) $2)) $5 = (+ INT @ $3 (DIST INT @ $1 $2))\n"
    "$6 = (! DPERMUTE INT @ $5 $4 $0 $2 $2) -> $6\n";

/* Nothing runs on the host, threads and blocks run in random order, and all accesses are
 * checked. */
static const char checked[] = "order=shuffled,seed=5,check,small=0";
static const char quick[] = "small=0";

/* All results as numbers, one after the other, and the launches of the superoperator. */
struct outcome {
  ints numbers;
  uint64_t launches;
};

struct session : superop_session {
  superops *ops;
  cvl_kernel *kernel;

  session(const char *definition, const char *how, bool compiled, uint64_t memory = 0)
      : superop_session(how, compiled, memory), ops(superops_load(definition)) {
    kernel = b->superops->prepare(c, ops->ops[0]);
    cr_assert_eq(kernel != nullptr, compiled);
  }
  ~session() {
    if (kernel) b->superops->discard(c, kernel);
    superops_free(ops);
  }
  session(const session &) = delete;
  session &operator=(const session &) = delete;

  void read(const cvl_value &v, ints &to) {
    cvl_value numbers{};
    if (v.form == CVL_SCALAR) {
      to.push_back(v.elem == CVL_BOOL ? v.as.b : cvl_int_of(&v));
      return;
    }
    if (v.form != CVL_VECTOR) {
      cr_assert(apply(CALL_LENGTHS, OP_LENGTHS, {v}, &numbers));
    } else if (v.elem == CVL_BOOL) {
      cr_assert(apply(CALL_ELEMENTWISE, OP_B_TO_I, {v}, &numbers));
    }
    const cvl_value &x = numbers.form == CVL_NOTHING ? v : numbers;
    cvl_size n = b->length(c, &x);
    cr_assert(b->resolve(c, &n));
    const size_t at = to.size();
    to.resize(at + n.bound);
    cr_assert(b->to_host(c, &x, 0, n.bound, to.data() + at));
    b->release(c, &numbers);
  }
  /* Runs it on numbers under segments of these lengths. Each segment gets its number or, with
   * `by_length`, its length. */
  outcome run(const ints &lengths, bool by_length = false) {
    ints x, of_segment;
    for (size_t s = 0; s < lengths.size(); s++) {
      of_segment.push_back(by_length ? lengths[s] : (int64_t)s % 90 + 5);
      for (int64_t i = 0; i < lengths[s]; i++) x.push_back((int64_t)(x.size() * 7919 % 97));
    }
    const cvl_value operands[] = {upload(x), upload(of_segment), segments(lengths)};
    const superop &op = *ops->ops[0];
    std::vector<cvl_value> outs(op.output_count);
    cvl_error e{};
    cr_assert_not(b->check(c, true, &e));
    const uint64_t before = launches();
    site += op.node_count;
    const bool good = kernel ? b->superops->run(c, ++site, kernel, operands, outs.data())
                             : superop_run(b, c, ++site, &op, nullptr, operands, outs.data());
    if (!good || b->check(c, true, &e)) b->check(c, true, &e);
    cr_assert(e.kind == CVL_E_NONE, "fault %d of node %ld", e.kind, (long)(e.site - site));
    outcome o{{}, launches() - before};
    for (const cvl_value &v : outs) read(v, o.numbers);
    for (const cvl_value &v : outs) b->release(c, &v);
    return o;
  }
};

static outcome consumers_expect_same(const char *definition, const ints &lengths,
                                     const char *how = checked) {
  const bool by_length = definition == reversing;
  const outcome wanted = session(definition, quick, false).run(lengths, by_length);
  const outcome found = session(definition, how, true).run(lengths, by_length);
  cr_expect(wanted.numbers == found.numbers, "%zu segments of %ld ...", lengths.size(),
            (long)lengths[0]);
  return found;
}

static ints consumers_ragged(int64_t total) {
  ints lengths;
  for (int64_t s = 0; total > 0; s++) {
    const int64_t length = s % 11 == 3 ? 700 : s * 37 % 23;
    lengths.push_back(length < total ? length : total);
    total -= lengths.back();
  }
  lengths.insert(lengths.end(), 300, 0);
  return lengths;
}

/* The launches are copies to or from the device; the rank directory, which positions need;
 * memory set to zero; and the kernel. Separate operations take 9 or 10. */
enum { LAUNCHES = 4 };

Test(packs, of_one_tile) {
  consumers_expect_same(text, {1});
  consumers_expect_same(text, {0, 0, 1, 0});
  consumers_expect_same(text, consumers_ragged(1000));
  cr_expect_leq(consumers_expect_same(text, consumers_ragged(2048)).launches, LAUNCHES);
}

Test(packs, of_tiles_that_end_where_segments_begin) {
  consumers_expect_same(text, ints(5, 2048));
  consumers_expect_same(text, {2048, 0, 0, 2048, 0, 2047, 0, 0, 1, 0});
}

Test(packs, of_many_tiles) {
  cr_expect_leq(consumers_expect_same(text, consumers_ragged(10000)).launches, LAUNCHES);
  consumers_expect_same(text, {30001});
}

Test(packs, with_windows_of_tiles) {
  consumers_expect_same(text, consumers_ragged(34 * 2048 + 5), quick);
  consumers_expect_same(text, consumers_ragged(64 * 2048), quick);
}

Test(packs, with_windows_of_windows) {
  consumers_expect_same(text, consumers_ragged(1100 * 2048), quick);
}

Test(packs, beside_a_reduction) {
  consumers_expect_same(with_sum, consumers_ragged(5000));
  consumers_expect_same(with_sum, {4000});
  consumers_expect_same(with_sum, ints(3, 0));
}

/* Without memory for all elements, the separate operations count first. */
Test(packs, with_memory_for_what_is_kept_only) {
  const ints lengths = {200000};
  const uint64_t memory = 6000000; /* the kernel would need 6.6 MB */
  const outcome wanted = session(text, quick, false).run(lengths);
  const outcome found = session(text, quick, true, memory).run(lengths);
  cr_expect(wanted.numbers == found.numbers);
  cr_expect_gt(found.launches, LAUNCHES);
}

static const char *const scans[] = {scanning, scanning_floats};

Test(scans, of_short_segments) {
  for (const char *definition : scans) {
    consumers_expect_same(definition, {1});
    consumers_expect_same(definition, ints(700, 3));
    consumers_expect_same(definition, consumers_ragged(5000));
    consumers_expect_same(definition, ints(3, 0));
  }
}

Test(scans, of_segments_of_rows) {
  for (const char *definition : scans)
    consumers_expect_same(definition, {300, 0, 5000, 1, 8192, 7});
}

Test(scans, of_chunks) {
  for (const char *definition : scans) {
    consumers_expect_same(definition, {20001});
    consumers_expect_same(definition, {8193, 0, 0, 5, 16384, 8191, 300, 9000});
    consumers_expect_same(definition, ints(3, 10000));
  }
}

Test(scans, with_windows_of_chunks) {
  for (const char *definition : scans) {
    consumers_expect_same(definition, {34 * 8192 + 5}, quick);
    consumers_expect_same(definition, {5, 33 * 8192, 100, 32 * 8192 + 1}, quick);
  }
}

/* The launches are copies to the device; memory set to zero, if a segment is long; and the
 * kernel of the scan. */
Test(scans, take_few_launches) {
  cr_expect_leq(consumers_expect_same(scanning_floats, {5000}).launches, 2);
  cr_expect_leq(consumers_expect_same(scanning_floats, {20000}).launches, 3);
}

/* One kernel does a group of two PERMUTEs; two kernels claim and move. All is under one
 * segment, which constants need. */
Test(scatters, give_what_the_operations_give) {
  for (const char *definition : {reversing, halving}) {
    for (const int64_t n : {1, 33, 2049, 7000}) consumers_expect_same(definition, {n});
  }
}

/* The launches are copies to the device, memory set to ones or zeros, and one kernel or two. */
Test(scatters, take_few_launches) {
  cr_expect_leq(consumers_expect_same(reversing, {5000}).launches, 3);
  cr_expect_leq(consumers_expect_same(halving, {5000}).launches, 4);
}

/* Memory that is owned and not needed any more is overwritten, unless something else needs
 * it. */
Test(scatters, write_over_what_is_not_needed) {
  uint64_t bytes[2];
  for (const bool owned : {false, true}) {
    session s(halving, checked, true);
    ints x(5000);
    cvl_value operands[] = {s.emulated_session::upload(x), s.upload({3}), s.segments({5000})},
              out;
    operands[0].owned = owned;
    cr_assert(s.b->superops->run(s.c, s.site += 10, s.kernel, operands, &out));
    if (!owned) s.b->release(s.c, &operands[0]);
    bytes[owned] = s.b->statistics(s.c).peak_bytes;
    s.b->release(s.c, &out);
  }
  cr_expect_leq(bytes[true] + 5000 * 8, bytes[false]);
}
