/* test-copies.cpp - superoperators of copies by kernels give what their nodes give one by one:
 * the same elements, or the same fault. Each segment of the result is a concatenation of two,
 * in one of the ways in which flattening writes it. Runs are moved so that they leave their
 * segments, overlap, or are out of order. */
#include <stdlib.h>

#include <string>
#include <vector>

#include "cvl-cuda/tests/superop-session.hpp"

/* How runs are written: each in its segment; all in one segment; and as the first, from slices
 * of the operands, one of which is found by an index. */
enum { IN_SEGMENTS, IN_ONE, OF_SLICES, SUPEROPS };

#define PARAMS                                                                                 \
  "($0 : INT, $1 : INT, $2 : SEGDES, $3 : INT, $4 : INT, $5 : SEGDES, $6 : SEGDES, $7 : "      \
  "SEGDES, "                                                                                   \
  "$8 : SEGDES"
/* STRIDES are those of all runs, FLAGS those of all elements of the first operand. */
#define STRIDES "(DIST INT @ (CONST INT 1) $7)\n"
#define FLAGS   "(DIST BOOL @ (CONST BOOL T) $8)"

static const char definitions[] =
    "fused OP0#1 " PARAMS ") =\n"
    "  $9 = " STRIDES "  $10 = (FPERMUTE INT @ $0 (INDEX @ $1 $9 $2) " FLAGS " $2 $6)\n"
    "  (DPERMUTE INT @ $3 (INDEX @ $4 $9 $5) $10 $5 $6)\n"
    "fused OP1#1 " PARAMS ", $9 : SEGDES) =\n"
    "  $10 = " STRIDES "  $11 = (FPERMUTE INT @ $0 (INDEX @ $1 $10 $2) " FLAGS " $8 $6)\n"
    "  (DPERMUTE INT @ $3 (INDEX @ $4 $10 $5) $11 $9 $6)\n"
    "fused OP2#1 " PARAMS ", $9 : INT, $10 : INT) =\n"
    "  $11 = " STRIDES "  $12 = (BPERMUTE INT @ $0 (INDEX @ $9 $11 $2) $2 $2)\n"
    "  $13 = (FPERMUTE INT @ $12 (INDEX @ $1 $11 $2) " FLAGS " $2 $6)\n"
    "  (DPERMUTE INT @ (BPERMUTE INT @ $3 $10 $5 $5) (INDEX @ $4 $11 $5) $13 $5 $6)\n";

/* ---- the operands ---- */

struct numbers {
  uint64_t state;
  uint64_t below(uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  }
};

/* Defects of the operands, in the k-th run. */
enum { NOTHING, BEFORE, BEHIND, BACKWARDS, SLICE_BEHIND, INDEX_BEHIND, DEFECTS };

struct operands {
  ints x[2], start[2], lengths[2], slices, index, result;

  operands(int which, uint64_t seed, size_t segments, int64_t longest, int defect) {
    numbers r = {seed};
    int64_t at = 0;
    for (size_t s = 0; s < segments; s++) {
      int64_t n = 0;
      for (int i = 0; i < 2; i++) {
        const int64_t length = r.below(4) == 0 ? 0 : (int64_t)r.below((uint64_t)longest);
        for (int64_t k = 0; k < length; k++) x[i].push_back((int64_t)r.below(1000000));
        for (int64_t k = 0; i == 1 && k < length; k++) index.push_back(length - 1 - k);
        lengths[i].push_back(length);
        start[i].push_back((which == IN_ONE ? at : 0) + n);
        n += length;
      }
      const int64_t gap = (int64_t)r.below(3); /* written by neither */
      slices.push_back(0);
      result.push_back(n + gap);
      at += n + gap;
    }
    spoil(r.below(segments), defect);
  }
  void spoil(size_t k, int defect) {
    const size_t other = (k + 1) % result.size();
    while (lengths[1][k] == 0 || lengths[0][k] == 0) k = (k + 1) % result.size();
    const int64_t all = total(result);
    if (defect == BEFORE) start[1][k] = -1;
    if (defect == BEHIND) start[1][k] = all - lengths[1][k] + 1;
    if (defect == BACKWARDS) std::swap(start[0][k], start[0][other]);
    if (defect == SLICE_BEHIND) slices[k] = 1;
    if (defect == INDEX_BEHIND) index.back() = *last_length(lengths[1]);
  }
  static const int64_t *last_length(const ints &of) {
    const int64_t *l = &of.back();
    while (*l == 0) l--;
    return l;
  }
  static int64_t total(const ints &of) {
    int64_t n = 0;
    for (int64_t l : of) n += l;
    return n;
  }
};

/* ---- a run ---- */

struct outcome {
  bool good;
  ints elements;
  cvl_error fault;
  uint64_t launches;
};

struct session : superop_session {
  explicit session(bool kernels, const char *how = "small=0,order=shuffled,check")
      : superop_session(how, kernels) {}

  std::vector<cvl_value> values(int which, const operands &in) {
    std::vector<cvl_value> v;
    for (int i = 0; i < 2; i++) {
      v.push_back(upload(in.x[i]));
      v.push_back(upload(in.start[i]));
      v.push_back(segments(in.lengths[i]));
    }
    const uint64_t all = (uint64_t)operands::total(in.result);
    v.push_back(which == IN_ONE ? cvl_one_segment(all) : segments(in.result));
    v.push_back(cvl_one_segment(in.result.size()));
    v.push_back(cvl_one_segment(in.x[0].size()));
    if (which == IN_ONE) v.push_back(cvl_one_segment(in.x[1].size()));
    if (which == OF_SLICES) v.push_back(upload(in.slices));
    if (which == OF_SLICES) v.push_back(upload(in.index));
    return v;
  }
  outcome run(const superop *op, const std::vector<cvl_value> &v, cvl_kernel *kernel) {
    outcome o{};
    cvl_value out{};
    const uint64_t before = launches();
    o.good = kernel ? b->superops->run(c, 1000, kernel, v.data(), &out)
                    : superop_run(b, c, 1000, op, nullptr, v.data(), &out);
    o.launches = launches() - before;
    cvl_size n{};
    if (o.good) n = b->length(c, &out);
    o.elements.resize(n.bound);
    if (o.good) o.good = b->to_host(c, &out, 0, n.bound, o.elements.data());
    if (b->check(c, true, &o.fault)) o.good = false;
    if (out.form == CVL_VECTOR) b->release(c, &out);
    return o;
  }
};

static outcome copies_run_once(const superop *op, int which, const operands &in, bool kernels) {
  session s(kernels);
  const std::vector<cvl_value> v = s.values(which, in);
  cvl_kernel *k = kernels ? s.b->superops->prepare(s.c, op) : nullptr;
  cr_assert(!kernels || k != nullptr, "superoperator %d has no kernel", which);
  const outcome o = s.run(op, v, k);
  if (k) s.b->superops->discard(s.c, k);
  return o;
}

static void copies_compare(const superops *ops, int which, uint64_t seed, size_t segments,
                           int64_t longest, int defect) {
  const operands in(which, seed, segments, longest, defect);
  const outcome kernels = copies_run_once(ops->ops[which], which, in, true),
                nodes = copies_run_once(ops->ops[which], which, in, false);
  cr_assert_eq(kernels.good, nodes.good, "superoperator %d, defect %d: faults %d, %d of %d",
               which, defect, (int)kernels.fault.kind, (int)nodes.fault.kind,
               (int)nodes.fault.site);
  const bool fails =
      defect != NOTHING && defect != BACKWARDS && (which == OF_SLICES || defect < SLICE_BEHIND);
  cr_assert_eq(nodes.good, !fails, "superoperator %d, defect %d: fault %d of node %d", which,
               defect, (int)nodes.fault.kind, (int)nodes.fault.site - 1000);
  if (fails) {
    cr_assert(kernels.fault.kind == nodes.fault.kind &&
                  kernels.fault.site == nodes.fault.site &&
                  kernels.fault.position == nodes.fault.position &&
                  kernels.fault.value == nodes.fault.value,
              "superoperator %d, defect %d: another fault", which, defect);
    return;
  }
  if (defect == NOTHING) cr_assert_leq(kernels.launches, 5, "%d", (int)kernels.launches);
  for (size_t i = 0; i < nodes.elements.size(); i++) {
    cr_assert_eq(kernels.elements[i], nodes.elements[i],
                 "superoperator %d, defect %d: element %zu", which, defect, i);
  }
}

Test(copies, as_node_by_node) {
  superops *ops = superops_load(definitions);
  for (int which = 0; which < SUPEROPS; which++) {
    for (int defect = 0; defect < DEFECTS; defect++) {
      for (uint64_t seed = 1; seed <= 3; seed++) {
        copies_compare(ops, which, seed, 40, 90, defect);
        copies_compare(ops, which, seed, 3, 900, defect);
      }
    }
    copies_compare(ops, which, 9, 500, 3, NOTHING);
  }
  superops_free(ops);
}

/* If the order of runs does not matter, checks are reported later, and nothing waits. */
Test(copies, wait_for_nothing_but_order) {
  superops *ops = superops_load(definitions);
  for (int which = 0; which < SUPEROPS; which++) {
    session s(true, "small=0,deferred");
    const std::vector<cvl_value> v = s.values(which, operands(which, 1, 40, 90, NOTHING));
    cvl_kernel *k = s.b->superops->prepare(s.c, ops->ops[which]);
    cvl_error fault{};
    cvl_value out{};
    s.b->check(s.c, true, &fault); /* the operands are there */
    const uint64_t before = s.b->statistics(s.c).waits;
    cr_assert(s.b->superops->run(s.c, 1000, k, v.data(), &out));
    cr_assert_eq(s.b->statistics(s.c).waits - before, which == IN_ONE ? 1 : 0,
                 "superoperator %d", which);
    cr_assert_not(s.b->check(s.c, true, &fault));
    s.b->release(s.c, &out);
    s.b->superops->discard(s.c, k);
  }
  superops_free(ops);
}
