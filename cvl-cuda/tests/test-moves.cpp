/* test-moves.cpp - properties of moves that conformance cannot see: claims that stay with an
 * index, launches that are joined, results in the memory of an operand, very long vectors. */
#include <string.h>

#include <algorithm>
#include <numeric>

#include "cvl-cuda/moves.hpp"
#include "cvl-cuda/tests/session.hpp"

using ravel::pointer_to;

/* WINDOW: each window takes a launch that reports its end to the host. MANY: PERMUTE by
 * marks. */
enum { WINDOW = 1, FEW = 1000, SOME = 6000, MANY = (1 << 16) + 5 };

static const std::vector<size_t> sizes = {FEW, SOME, MANY};

/* Nothing runs on the host, threads run in random order, and all accesses are checked. */
static const char checked[] = "order=shuffled,seed=7,check,deferred,small=0";
/* Sources that meet in a long vector race, which is intended. */
static const char unchecked[] = "order=shuffled,seed=7,small=0";

static cvl_value one_segment_value(uint64_t length) {
  cvl_value v{};
  v.form = CVL_ONE_SEGMENT;
  v.as.one_segment = length;
  return v;
}

struct session : emulated_session {
  using emulated_session::emulated_session;

  cvl_value move(cvl_op op, const cvl_value &v, const cvl_value &at, const cvl_value &defaults,
                 const cvl_value &d) {
    const cvl_value s = one_segment_value(b->length(c, &at).bound);
    cvl_value r{};
    apply(CALL_PERMUTE, op, {v, at, {}, defaults, s, d}, &r);
    return r;
  }
  cvl_value permute(const cvl_value &v, const cvl_value &at) {
    return move(OP_PERMUTE, v, at, cvl_value{}, one_segment_value(b->length(c, &at).bound));
  }
  ints read(const cvl_value &v) {
    ints x(b->length(c, &v).bound);
    cr_assert(b->to_host(c, &v, 0, x.size(), x.data()));
    return x;
  }
  cvl_error fault() {
    cvl_error e{};
    cr_assert(b->check(c, true, &e), "there is a fault");
    return e;
  }
  bool at_fault() {
    cvl_error e{};
    return b->check(c, true, &e);
  }
  uint64_t launches() {
    cr_assert(!at_fault());
    return b->statistics(c).launches;
  }
};

static ints moves_iota(size_t n, int64_t first) {
  ints x(n);
  std::iota(x.begin(), x.end(), first);
  return x;
}

static ints moves_reversed(size_t n) {
  ints x(n);
  for (size_t i = 0; i < n; i++) x[i] = (int64_t)(n - 1 - i);
  return x;
}

/* ---- claims that stay ---- */

Test(moves, vectors_permuted_by_one_index_take_one_launch_more) {
  for (size_t n : sizes) {
    session s(checked);
    const cvl_value at = s.upload(moves_reversed(n)), v = s.upload(moves_iota(n, 10));
    const uint64_t before = s.launches();
    cvl_value r[5];
    for (cvl_value &x : r) x = s.permute(v, at);
    const uint64_t spent = s.launches() - before - WINDOW;
    cr_assert_eq(spent, n == FEW ? 2 : 3, "%zu elements: %lu", n, (unsigned long)spent);
    ints want(n);
    for (size_t i = 0; i < n; i++) want[n - 1 - i] = 10 + (int64_t)i;
    for (const cvl_value &x : r) cr_assert_eq(s.read(x), want);
  }
}

Test(moves, scatters_by_one_index_take_no_launch_more) {
  session s(checked);
  ints indices(SOME);
  for (size_t i = 0; i < SOME; i++) indices[i] = (int64_t)(i % 100); /* the last 100 win */
  const cvl_value at = s.upload(indices), v = s.upload(moves_iota(SOME, 0)),
                  w = s.upload(moves_iota(SOME, 1000000)), e = s.upload(moves_iota(200, -200));
  const uint64_t before = s.launches();
  const cvl_value x = s.move(OP_DPERMUTE, v, at, e, one_segment_value(200));
  const cvl_value y = s.move(OP_DPERMUTE, w, at, e, one_segment_value(200));
  cr_assert_eq(s.launches() - before - WINDOW, 3);
  const ints from_v = s.read(x), from_w = s.read(y);
  for (int64_t j = 0; j < 200; j++) {
    const int64_t want = j < 100 ? SOME - 100 + j : j - 200;
    cr_assert_eq(from_v[(size_t)j], want);
    cr_assert_eq(from_w[(size_t)j], j < 100 ? want + 1000000 : want);
  }
}

Test(moves, kept_claims_are_of_one_descriptor_and_one_operation) {
  session s(checked);
  const cvl_value at = s.upload(ints(SOME, 0)), v = s.upload(moves_iota(SOME, 0)),
                  e = s.upload(moves_iota(2, -2)), longer = s.upload(moves_iota(3, -3));
  cr_assert_eq(s.read(s.move(OP_DPERMUTE, v, at, e, one_segment_value(2))),
               (ints{SOME - 1, -1}));
  cr_assert_eq(s.read(s.move(OP_DPERMUTE, v, at, longer, one_segment_value(3))),
               (ints{SOME - 1, -2, -1}));
  cr_assert_eq(s.read(s.move(OP_DPERMUTE, v, at, v, one_segment_value(SOME)))[0], SOME - 1);
  s.permute(v, at);
  const cvl_error fault = s.fault();
  cr_assert_eq(fault.kind, CVL_E_DUPLICATE);
  cr_assert_eq(fault.position, 1);
}

Test(moves, gathers_are_joined_by_their_index) {
  session s(checked);
  const cvl_value v = s.upload(moves_iota(SOME, 10)), forward = s.upload(moves_iota(SOME, 0)),
                  backward = s.upload(moves_reversed(SOME));
  enum { VECTORS = ravel::MOST_MOVES + 1 };
  cvl_value kept[VECTORS], turned[VECTORS];
  const uint64_t before = s.launches();
  for (int k = 0; k < VECTORS; k++) {
    kept[k] = s.move(OP_BPERMUTE, v, forward, cvl_value{}, one_segment_value(SOME));
    turned[k] = s.move(OP_BPERMUTE, kept[0], backward, cvl_value{}, one_segment_value(SOME));
  }
  cr_assert_eq(s.launches() - before - WINDOW, 4);
  ints want = moves_iota(SOME, 10);
  for (const cvl_value &x : kept) cr_assert_eq(s.read(x), want);
  std::reverse(want.begin(), want.end());
  for (const cvl_value &x : turned) cr_assert_eq(s.read(x), want);
}

Test(moves, an_index_at_fault_is_at_fault_again) {
  session s(checked);
  ints indices = moves_reversed(SOME);
  indices[4000] = SOME;
  const cvl_value at = s.upload(indices), v = s.upload(moves_iota(SOME, 0));
  for (cvl_op op : {OP_PERMUTE, OP_PERMUTE, OP_DPERMUTE, OP_DPERMUTE}) {
    s.move(op, v, at, op == OP_PERMUTE ? cvl_value{} : v, one_segment_value(SOME));
    const cvl_error e = s.fault();
    cr_assert_eq(e.kind, CVL_E_INDEX);
    cr_assert_eq(e.position, 4000);
    cr_assert_eq(e.value, SOME);
    cr_assert(!s.at_fault());
  }
}

/* ---- faults of PERMUTE, by any of its kernels ---- */

Test(moves, the_lowest_second_use_is_reported) {
  for (size_t n : sizes) {
    session s(n == MANY ? unchecked : checked);
    ints indices = moves_reversed(n);
    indices[n / 2] = indices[n / 2 + 7] = indices[n - 1] = indices[n / 4];
    indices[n - 3] = indices[3];
    const cvl_value v = s.upload(moves_iota(n, 1));
    const cvl_value r = s.permute(v, s.upload(indices));
    const cvl_error e = s.fault();
    cr_assert_eq(e.kind, CVL_E_DUPLICATE);
    cr_assert_eq(e.position, (int64_t)n / 2, "%zu: %ld", n, (long)e.position);
    cr_assert_eq(e.value, indices[n / 4]);
    cr_assert_eq(s.read(r)[0], 0); /* no source has this index */
  }
}

Test(moves, an_index_out_of_range_comes_before_a_duplicate) {
  for (size_t n : sizes) {
    session s(n == MANY ? unchecked : checked);
    ints indices = moves_reversed(n);
    indices[1] = indices[0];
    indices[n - 1] = -1;
    s.permute(s.upload(moves_iota(n, 1)), s.upload(indices));
    const cvl_error e = s.fault();
    cr_assert_eq(e.kind, CVL_E_INDEX);
    cr_assert_eq(e.position, (int64_t)n - 1);
  }
}

Test(moves, long_vectors_are_permuted) {
  session s(unchecked);
  const cvl_value r = s.permute(s.upload(moves_iota(MANY, 0)), s.upload(moves_reversed(MANY)));
  cr_assert(!s.at_fault());
  cr_assert_eq(s.read(r), moves_reversed(MANY));
}

/* ---- the memory of operands ---- */

Test(moves, owned_defaults_are_written_where_they_are) {
  session s(checked);
  const cvl_value v = s.upload(moves_iota(SOME, 100000));
  uint64_t allocations[2];
  for (int held = 0; held < 2; held++) {
    const cvl_value at = s.upload(moves_iota(SOME, 5));
    cvl_value e = s.upload(moves_iota(2 * SOME, 0));
    e.owned = 1;
    if (held) s.b->retain(s.c, &e);
    const uint64_t before = s.b->statistics(s.c).allocations;
    const cvl_value r_value = s.move(OP_DPERMUTE, v, at, e, one_segment_value(2 * SOME));
    allocations[held] = s.b->statistics(s.c).allocations - before;
    const ints r = s.read(r_value);
    for (int64_t j = 0; j < 2 * SOME; j++)
      cr_assert_eq(r[(size_t)j], j >= 5 && j < SOME + 5 ? 100000 + j - 5 : j);
    if (held) cr_assert_eq(s.read(e), moves_iota(2 * SOME, 0));
  }
  cr_assert_eq(allocations[0] + 1, allocations[1]);
}

Test(moves, owned_vectors_are_replaced_where_they_are) {
  session s(checked);
  const int64_t lengths[] = {SOME - 10, 0, 10};
  cvl_value d{};
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, 3, lengths, &d));
  uint64_t allocations[2];
  for (int held = 1; held >= 0; held--) { /* the first brings the descriptor to the device */
    cvl_value v = s.upload(moves_iota(SOME, 0)), r{};
    v.owned = 1;
    if (held) s.b->retain(s.c, &v);
    const cvl_value at = s.upload({2, 0, 9}), x = s.upload({-1, -2, -3});
    if (held) {
      cvl_value borrowed = v, element{};
      borrowed.owned = 0;
      s.apply(CALL_EXTRACT, OP_EXTRACT, {borrowed, at, d}, &element);
      s.fault();
    }
    const uint64_t before = s.b->statistics(s.c).allocations;
    cr_assert(s.apply(CALL_REPLACE, OP_REPLACE, {v, at, x, d}, &r));
    allocations[held] = s.b->statistics(s.c).allocations - before;
    const cvl_error e = s.fault(); /* the empty segment has no element */
    cr_assert_eq(e.kind, CVL_E_INDEX);
    cr_assert_eq(e.position, 1);
    ints want = moves_iota(SOME, 0);
    want[2] = -1;
    want[SOME - 1] = -3;
    cr_assert_eq(s.read(r), want);
    if (held) cr_assert_eq(s.read(v), moves_iota(SOME, 0));
  }
  cr_assert_lt(allocations[0], allocations[1]);
}

/* ---- more than 2^32 elements: bodies on operands that are computed ---- */

static const int64_t HUGE = (int64_t)1 << 33;

static ravel::segments moves_one_segment(int64_t n) {
  ravel::segments d{};
  d.count = 1;
  d.total = d.equal = n;
  return d;
}

template <class T> static ravel::operand<T> moves_computed(int64_t n, T first, T step) {
  ravel::operand<T> x{};
  x.kind = ravel::PROGRESSION;
  x.first = first;
  x.step = step;
  x.under = moves_one_segment(n);
  return x;
}

template <ravel::index_form FORM> struct huge_case {
  ravel::fault_slot slot{};
  ravel::addresses<int64_t, FORM> to{};
  uint64_t claims[8];

  huge_case() {
    to.near = to.far = moves_one_segment(HUGE);
    to.index = moves_computed<int64_t>(HUGE, 3, 0);
    to.flags.kind = ravel::ALL_EQUAL;
    to.flags.first = 1;
    to.bad = {&slot, 1};
    memset(claims, 0xff, sizeof claims);
  }
};

Test(moves, huge_sources_claim_and_deliver) {
  huge_case<ravel::WITH_FLAGS> h;
  const ravel::claim_body<int64_t, uint64_t> claim{h.to, pointer_to<uint64_t>(h.claims),
                                                   HUGE - 1};
  for (int64_t i : {HUGE - 7, HUGE - 1, (int64_t)0, (int64_t)UINT32_MAX}) claim(i);
  int64_t out[8] = {0};
  ravel::fetch_claimed_body<uint64_t> deliver{};
  deliver.claims = pointer_to<const uint64_t>(h.claims);
  deliver.last = HUGE - 1;
  deliver.vectors.count = 1;
  ravel::moved &m = deliver.vectors.list[0];
  m.width = 8;
  m.rest = ravel::DEFAULT;
  m.from = moves_computed<uint64_t>(HUGE, 5, 1);
  m.defaults = moves_computed<uint64_t>(8, 100, 1);
  m.to = pointer_to<uint64_t>(out);
  for (int64_t j = 0; j < 8; j++) deliver(j);
  for (int64_t j = 0; j < 8; j++) cr_assert_eq(out[j], j == 3 ? HUGE + 4 : 100 + j);
  cr_assert_eq(h.slot.kind, 0);
}

Test(moves, huge_positions_are_reported) {
  huge_case<ravel::IN_SEGMENTS> h;
  const ravel::exclusive_claim<int64_t, uint64_t> claim{h.to, pointer_to<uint64_t>(h.claims)};
  int64_t at[1];
  claim.take(HUGE - 1, 0, at);
  cr_assert_eq(at[0], 3);
  claim.take((int64_t)UINT32_MAX + 9, 0, at);
  cr_assert_eq(at[0], -1);
  cr_assert_eq(h.slot.kind, CVL_E_DUPLICATE);
  cr_assert_eq(h.slot.position, HUGE - 1);
  claim.take((int64_t)UINT32_MAX + 2, 0, at);
  cr_assert_eq(h.slot.position, (int64_t)UINT32_MAX + 9);
}

Test(moves, huge_indices_are_found) {
  huge_case<ravel::IN_SEGMENTS> h;
  int64_t at[1];
  h.to.near = h.to.far = ravel::segments{};
  h.to.near.count = h.to.far.count = HUGE / 1024;
  h.to.near.total = h.to.far.total = HUGE;
  h.to.near.equal = h.to.far.equal = 1024;
  h.to.find(HUGE - 1, 0, at);
  cr_assert_eq(at[0], HUGE - 1024 + 3);
  h.to.index.first = 1024;
  h.to.find(HUGE - 1024, 0, at);
  cr_assert_eq(at[0], -1);
  cr_assert_eq(h.slot.kind, CVL_E_INDEX);
  cr_assert_eq(h.slot.position, HUGE - 1024);
  cr_assert_eq(h.slot.segment, HUGE / 1024 - 1);
}
