/* test-launches.cpp - the launches and waits that operations save together: deferred sums,
 * vectors that are reduced or packed by one launch, memory set before a window, lengths that
 * need no level of the tree. The results are those of one operation after the other.
 */
#include <algorithm>
#include <numeric>

#include "cvl-cuda/context.hpp"
#include "cvl-cuda/emulation/checker.hpp"
#include "cvl-cuda/tests/session.hpp"

/* A flush with results for the host, or with uploads, takes one launch for these. */
enum { WINDOW = 1, BEGINNING = 1 };

struct session : emulated_session {
  std::vector<cvl_value> held;

  explicit session(cvl_elem int_elem = CVL_I64, const char *small = "0")
      : emulated_session(
            (std::string("order=shuffled,seed=3,deferred,check,small=") + small).c_str(), false,
            int_elem) {}
  ~session() {
    for (const cvl_value &v : held) b->release(c, &v);
    cr_expect_eq(ravel::emulation::count_reports(), (uint64_t)0);
  }
  cvl_value hold(const cvl_value &v) {
    held.push_back(v);
    return v;
  }
  cvl_value upload(const ints &x) { return hold(emulated_session::upload(x)); }
  cvl_value upload(const std::vector<uint8_t> &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, CVL_BOOL, x.size(), x.data(), &v));
    return hold(v);
  }
  cvl_value segments(const ints &lengths) {
    cvl_value d{};
    cr_assert(b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &d));
    return hold(d);
  }
  cvl_value make_segdes(const cvl_value &lengths) {
    cvl_value d{};
    cr_assert(apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {lengths}, &d));
    return hold(d);
  }
  cvl_value lengths(const cvl_value &d) {
    cvl_value v{};
    cr_assert(apply(CALL_LENGTHS, OP_LENGTHS, {d}, &v));
    return hold(v);
  }
  cvl_value reduce(cvl_op op, const cvl_value &v, const cvl_value &d) {
    cvl_value r{};
    cr_assert(apply(CALL_REDUCE, op, {v, d}, &r));
    return hold(r);
  }
  /* Waits until everything that was issued is done. */
  void settle() {
    cvl_error e{};
    cr_assert_not(b->check(c, true, &e));
  }
  ints fetch(const cvl_value &v) {
    const bool segdes = v.form == CVL_SEGDES || v.form == CVL_ONE_SEGMENT;
    cvl_size n = segdes ? b->count(c, &v) : b->length(c, &v);
    cr_assert(b->resolve(c, &n));
    ints x(n.bound);
    if (!segdes && v.elem == CVL_I32) {
      std::vector<int32_t> narrow(n.bound);
      cr_assert(b->to_host(c, &v, 0, n.bound, narrow.data()));
      return ints(narrow.begin(), narrow.end());
    }
    cr_assert(b->to_host(c, &v, 0, n.bound, x.data()));
    return x;
  }
  uint64_t total(const cvl_value &d) {
    cvl_size n = b->length(c, &d);
    cr_assert(b->resolve(c, &n));
    return n.bound;
  }
  uint64_t waits() { return b->statistics(c).waits; }
};

static ints launches_some(size_t n, uint64_t seed) {
  ints x(n);
  for (int64_t &y : x) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    y = (int64_t)(seed >> 40);
  }
  return x;
}

/* ---- deferred sums ---- */

Test(launches, the_total_is_the_sum_of_the_lengths_and_a_length) {
  session s;
  const ints lengths = {3, 0, 5, 9};
  const cvl_value v = s.upload(lengths);
  s.settle();
  const uint64_t waits = s.waits(), launches = s.launches();
  const cvl_value d = s.make_segdes(v), l = s.lengths(d),
                  sum = s.reduce(OP_ADD, l, cvl_one_segment(4)), one = s.make_segdes(sum),
                  length = s.lengths(one);
  cr_assert_eq(s.waits(), waits, "nothing here has to be known");
  cr_assert_neq(s.b->length(s.c, &one).symbol, 0);
  cr_assert_eq(s.b->length(s.c, &one).symbol, s.b->length(s.c, &d).symbol);
  s.settle();
  cr_assert_eq(s.launches() - launches, BEGINNING + 1 + WINDOW, "offsets, and nothing else");
  cr_assert_eq(s.total(one), 17);
  cr_assert(s.fetch(sum) == ints{17});
  cr_assert(s.fetch(length) == ints{17});
  cr_assert(s.fetch(s.reduce(OP_ADD, l, cvl_one_segment(4))) == ints{17}, "now a scalar");
  cr_assert_eq(s.total(s.make_segdes(length)), 17);
}

Test(launches, a_number_of_kept_elements_is_a_length) {
  session s;
  std::vector<uint8_t> set(5000);
  for (size_t i = 0; i < set.size(); i++) set[i] = i % 3 == 0;
  const cvl_value v = s.upload(launches_some(set.size(), 1)), f = s.upload(set),
                  d = cvl_one_segment(set.size());
  cvl_value kept{}, kept_d{}, n{};
  s.settle();
  const uint64_t waits = s.waits();
  cr_assert(s.apply(CALL_PACK, OP_PACK, {v, f, d}, &kept, &kept_d));
  const cvl_value length = s.lengths(s.hold(kept_d));
  cr_assert(s.apply(CALL_LENGTH_OF, OP_LENGTH, {kept}, &n));
  s.hold(kept);
  cr_assert_eq(s.waits(), waits);
  cr_assert(s.fetch(s.hold(n)) == ints{1667});
  cr_assert(s.fetch(length) == ints{1667});
}

/* In 32 bits the sum of lengths may wrap. It then is what an addition would give, and a fault
 * if it is the length of a segment. */
Test(launches, a_sum_that_wraps_is_at_fault_as_a_length) {
  session s(CVL_I32);
  const std::vector<int32_t> lengths(2, INT32_MAX);
  cvl_value v{};
  cvl_error e{};
  cr_assert(s.b->from_host(s.c, ++s.site, CVL_I32, 2, lengths.data(), &v));
  const cvl_value d = s.make_segdes(s.hold(v)), l = s.lengths(d),
                  sum = s.reduce(OP_ADD, l, cvl_one_segment(2));
  cr_assert(s.fetch(sum) == ints{-2}, "the sum before it is known");
  cr_assert(s.fetch(s.reduce(OP_ADD, l, cvl_one_segment(2))) == ints{-2}, "and then");
  cr_assert(s.b->from_host(s.c, ++s.site, CVL_I32, 2, lengths.data(), &v));
  s.make_segdes(s.reduce(OP_ADD, s.lengths(s.make_segdes(s.hold(v))), cvl_one_segment(2)));
  cr_assert(s.b->check(s.c, true, &e));
  cr_assert_eq(e.kind, CVL_E_NEGATIVE_LENGTH);
  cr_assert_eq(e.site, s.site);
  cr_assert_eq(e.value, -2);
}

/* A sum that a fault has spoilt is not used afterwards. */
Test(launches, after_a_fault_sums_are_computed) {
  session s;
  cvl_error e{};
  const cvl_value v = s.upload(ints{5, -2, 4});
  s.make_segdes(v);
  cr_assert(s.b->check(s.c, true, &e));
  cr_assert_eq(e.kind, CVL_E_NEGATIVE_LENGTH);
  cr_assert(s.fetch(s.reduce(OP_ADD, v, cvl_one_segment(3))) == ints{7});
  s.make_segdes(v);
  cr_assert(s.b->check(s.c, true, &e), "and the lengths are at fault again");
}

/* A sum that will not be computed, since memory was short, is not expected. */
Test(launches, a_total_that_failed_is_no_sum) {
  session s;
  const cvl_value v = s.upload(ints{5, 2, 4});
  bool good = false;
  for (uint64_t nth = 1; !good; nth++) {
    cvl_value d{};
    cvl_error e{};
    s.b->fail_allocation(s.c, nth);
    good = s.apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {v}, &d);
    s.b->fail_allocation(s.c, 0);
    if (good) s.hold(d);
    cr_assert_eq(s.b->check(s.c, true, &e), !good);
    cr_assert(s.fetch(s.reduce(OP_ADD, v, cvl_one_segment(3))) == ints{11}, "allocation %d",
              (int)nth);
  }
}

/* ---- deferred lengths of operands ---- */

struct packed {
  cvl_value v, d;
};

static packed launches_pack(session &s, const cvl_value &v, const cvl_value &flags,
                            const cvl_value &d) {
  packed p{};
  cr_assert(s.apply(CALL_PACK, OP_PACK, {v, flags, d}, &p.v, &p.d));
  s.hold(p.v);
  s.hold(p.d);
  return p;
}

static cvl_value launches_map(session &s, cvl_op op, const std::vector<cvl_value> &v) {
  cvl_value r{};
  cr_assert(s.apply(CALL_ELEMENTWISE, op, v, &r));
  return s.hold(r);
}

/* Returns flags that keep one of every `apart` elements. */
static std::vector<uint8_t> launches_each(size_t n, size_t apart) {
  std::vector<uint8_t> set(n);
  for (size_t i = 0; i < n; i += apart) set[i] = 1;
  return set;
}

/* Expects that PACK, maps, DIST, reductions and a gather wait for nothing before the results
 * are read. */
static void expect_no_wait(size_t n, size_t apart, const ints &lengths) {
  session s;
  const ints x = launches_some(n, 1);
  const cvl_value v = s.upload(x), f = s.upload(launches_each(n, apart)),
                  d = lengths.empty() ? cvl_one_segment(n) : s.segments(lengths);
  s.settle();
  const uint64_t waits = s.waits();
  const packed p = launches_pack(s, v, f, d);
  cvl_value five = cvl_scalar_int(CVL_I64, 5), fives{}, gathered{}, ups{};
  const cvl_value twice = launches_map(s, OP_ADD, {p.v, p.v});
  const cvl_value per_segment = s.reduce(OP_MAX, p.v, p.d);
  if (lengths.empty()) {
    cr_assert(s.apply(CALL_DIST, OP_DIST, {five, p.d}, &fives));
  } else {
    cr_assert(s.apply(CALL_DIST, OP_DIST, {per_segment, p.d}, &fives));
  }
  const cvl_value less = launches_map(s, OP_SUB, {twice, s.hold(fives)});
  const cvl_value zero = cvl_scalar_int(CVL_I64, 0), one = cvl_scalar_int(CVL_I64, 1);
  cr_assert(s.apply(CALL_INDEX, OP_INDEX, {zero, one, p.d}, &ups));
  s.hold(ups);
  cr_assert(s.apply(CALL_PERMUTE, OP_BPERMUTE, {less, ups, {}, {}, p.d, p.d}, &gathered));
  const cvl_value sums = s.reduce(OP_ADD, s.hold(gathered), p.d);
  const cvl_value odd = launches_map(s, OP_GT, {less, launches_map(s, OP_MOD, {twice, fives})});
  cr_assert_eq(s.waits(), waits, "%d waits", (int)(s.waits() - waits));
  cr_assert_neq(s.b->length(s.c, &gathered).symbol, 0);
  const packed again = launches_pack(s, twice, odd, p.d);
  const cvl_value most = s.reduce(OP_MAX, again.v, again.d);

  ints want_sums, want_again, all = lengths.empty() ? ints{(int64_t)n} : lengths;
  size_t at = 0;
  for (const int64_t length : all) {
    int64_t greatest = INT64_MIN, sum = 0;
    for (size_t i = at; i < at + (size_t)length; i++)
      if (i % apart == 0) greatest = std::max(greatest, x[i]);
    const int64_t by = lengths.empty() ? 5 : greatest;
    for (size_t i = at; i < at + (size_t)length; i++) {
      if (i % apart != 0) continue;
      sum += 2 * x[i] - by;
      if (2 * x[i] - by > 2 * x[i] % by) want_again.push_back(2 * x[i]);
    }
    want_sums.push_back(sum);
    at += (size_t)length;
  }
  cr_assert(s.fetch(sums) == want_sums);
  cr_assert(s.fetch(again.v) == want_again);
  if (lengths.empty())
    cr_assert(s.fetch(most) == ints{*std::max_element(want_again.begin(), want_again.end())});
}

Test(launches, operations_go_on_with_what_was_packed) {
  expect_no_wait(5000, 3, {});
  expect_no_wait(5000, 1, {});
  expect_no_wait(70000, 999, {});
  expect_no_wait(5000, 3, {0, 1700, 1, 2, 0, 3000, 297, 0});
  expect_no_wait(40000, 7, {10000, 0, 20000, 10000});
}

Test(launches, nothing_that_was_packed_is_no_element) {
  session s;
  const cvl_value v = s.upload(launches_some(3000, 1)),
                  f = s.upload(std::vector<uint8_t>(3000)), zeros = s.upload(ints(3000));
  s.settle();
  const uint64_t waits = s.waits();
  const packed p = launches_pack(s, v, f, cvl_one_segment(3000)),
               q = launches_pack(s, zeros, f, cvl_one_segment(3000));
  const cvl_value r = launches_map(s, OP_DIV, {p.v, q.v}); /* no element is divided by 0 */
  const cvl_value sum = s.reduce(OP_ADD, r, p.d);
  cr_assert_eq(s.waits(), waits);
  cr_assert(s.fetch(sum) == ints{0});
  cr_assert(s.fetch(r) == ints{});
}

/* Divides constants under a deferred length: 1 / 0, for as many elements as were packed. */
static bool divides_by_zero(size_t kept, cvl_error *e) {
  session s;
  std::vector<uint8_t> flags(3000);
  std::fill(flags.begin(), flags.begin() + (long)kept, (uint8_t)1);
  const packed p = launches_pack(s, s.upload(launches_some(3000, 1)), s.upload(flags),
                                 cvl_one_segment(3000));
  const cvl_value one = cvl_scalar_int(CVL_I64, 1), zero = cvl_scalar_int(CVL_I64, 0);
  cvl_value ones{}, zeros{};
  cr_assert(s.apply(CALL_DIST, OP_DIST, {one, p.d}, &ones));
  cr_assert(s.apply(CALL_DIST, OP_DIST, {zero, p.d}, &zeros));
  const uint64_t waits = s.waits();
  launches_map(s, OP_DIV, {s.hold(ones), s.hold(zeros)});
  cr_assert_eq(s.waits(), waits);
  return s.b->check(s.c, true, e);
}

Test(launches, constants_are_at_fault_only_where_there_are_elements) {
  cvl_error e{};
  cr_assert_not(divides_by_zero(0, &e));
  cr_assert(divides_by_zero(1, &e));
  cr_assert_eq(e.kind, CVL_E_DIVIDE_BY_ZERO);
  cr_assert_eq(e.position, 0);
}

/* Small results are copied to the host. If their length is a bound, all of it is copied. */
Test(launches, what_was_packed_of_little_is_copied_to_the_host) {
  session s(CVL_I64, "4096");
  const ints x = launches_some(9000, 1), lengths(3000, 3);
  ints want;
  const cvl_value v = s.upload(x), d = s.segments(lengths);
  const cvl_value sums = s.reduce(OP_ADD, v, d), most = s.reduce(OP_MAX, v, d);
  const cvl_value flags = launches_map(s, OP_GT, {sums, launches_map(s, OP_ADD, {most, most})});
  const packed p = launches_pack(s, sums, flags, cvl_one_segment(3000));
  const uint64_t waits = s.waits();
  const cvl_value twice = launches_map(s, OP_ADD, {p.v, p.v});
  cr_assert_eq(s.waits(), waits);
  for (size_t i = 0; i < x.size(); i += 3) {
    const int64_t sum = x[i] + x[i + 1] + x[i + 2];
    if (sum > 2 * std::max({x[i], x[i + 1], x[i + 2]})) want.push_back(2 * sum);
  }
  cr_assert(s.fetch(twice) == want);
}

/* The position of a fault is among the elements that exist. */
Test(launches, what_was_packed_is_at_fault_where_it_is) {
  session s;
  cvl_error e{};
  ints x(9000, 1);
  x[6000] = 0;
  const cvl_value v = s.upload(x), f = s.upload(launches_each(9000, 3));
  const packed p = launches_pack(s, v, f, cvl_one_segment(9000));
  launches_map(s, OP_DIV, {p.v, p.v});
  cr_assert(s.b->check(s.c, true, &e));
  cr_assert_eq(e.kind, CVL_E_DIVIDE_BY_ZERO);
  cr_assert_eq(e.position, 2000);
  cr_assert_eq(e.site, s.site);
}

/* If there is no memory for a bound, the exact length is waited for. */
Test(launches, bounds_give_way_where_memory_is_short) {
  for (uint64_t nth = 1; nth < 40; nth++) {
    session s;
    cvl_error e{};
    const ints x = launches_some(4000, 1);
    const cvl_value v = s.upload(x), f = s.upload(launches_each(4000, 2));
    const packed p = launches_pack(s, v, f, cvl_one_segment(4000));
    cvl_value r{};
    const cvl_value two[] = {p.v, p.v};
    s.b->fail_allocation(s.c, nth);
    const bool good = s.apply(CALL_ELEMENTWISE, OP_ADD, {two[0], two[1]}, &r);
    s.b->fail_allocation(s.c, 0);
    cr_assert(good, "allocation %d", (int)nth);
    s.hold(r);
    cr_assert_not(s.b->check(s.c, true, &e));
    const ints y = s.fetch(r);
    cr_assert_eq(y.size(), 2000);
    for (size_t i = 0; i < y.size(); i++) cr_assert_eq(y[i], 2 * x[2 * i]);
  }
}

/* ---- required sizes ---- */

/* A total that has to be a known number is that number, and is not waited for. */
Test(launches, a_total_is_what_it_has_to_be) {
  for (const int64_t segments : {7, 3000}) {
    session s;
    const ints lengths((size_t)segments, 3), x = launches_some((size_t)segments * 3, 1);
    const cvl_value v = s.upload(x), l = s.upload(lengths);
    s.reduce(OP_XOR, v, cvl_one_segment(x.size()));
    s.settle();
    const uint64_t waits = s.waits();
    const cvl_value d = s.make_segdes(l);
    cr_assert_neq(s.b->length(s.c, &d).symbol, 0);
    cr_assert(s.b->require_equal(s.c, ++s.site, s.b->length(s.c, &v), s.b->length(s.c, &d), 0));
    cr_assert_eq(s.b->length(s.c, &d).symbol, 0);
    cr_assert_eq(s.b->length(s.c, &d).bound, x.size());
    const cvl_value sums = s.reduce(OP_ADD, v, d);
    cr_assert_eq(s.waits(), waits);
    const ints y = s.fetch(sums);
    for (size_t k = 0; k < y.size(); k++)
      cr_assert_eq(y[k], x[3 * k] + x[3 * k + 1] + x[3 * k + 2]);
  }
}

/* If it is another number, that is a fault, before all others of its operation. Until then
 * computations stay within their memory, and afterwards the descriptor is as it was. */
Test(launches, a_total_that_is_not_what_it_has_to_be_is_a_fault) {
  for (const int64_t segments : {7, 3000}) {
    for (const size_t n : {(size_t)segments * 2, (size_t)segments * 4}) {
      session s;
      cvl_error e{};
      const ints lengths((size_t)segments, 3), x = launches_some(n, 1);
      const cvl_value v = s.upload(x), l = s.upload(lengths), zero = s.upload(ints(n));
      const cvl_value d = s.make_segdes(l);
      const uint64_t waits = s.waits(), site = ++s.site;
      cr_assert(s.b->require_equal(s.c, site, s.b->length(s.c, &v), s.b->length(s.c, &d), 1));
      cvl_value ups{}, gathered{};
      const cvl_value start = cvl_scalar_int(CVL_I64, 0), step = cvl_scalar_int(CVL_I64, 1);
      cr_assert(s.apply(CALL_INDEX, OP_INDEX, {start, step, d}, &ups));
      s.hold(ups);
      cr_assert(s.apply(CALL_PERMUTE, OP_BPERMUTE, {v, ups, {}, {}, d, d}, &gathered));
      s.reduce(OP_ADD, s.hold(gathered), d);
      s.site = site - 1; /* the same operation */
      launches_map(s, OP_DIV, {v, zero});
      cr_assert_eq(s.waits(), waits);
      cr_assert(s.b->check(s.c, true, &e));
      cr_assert_eq(e.kind, CVL_E_SIZE);
      cr_assert_eq(e.site, site);
      cr_assert_eq(e.position, 1);
      cr_assert_eq(e.value, (int64_t)n);
      cr_assert_eq(e.limit, 3 * segments);
      cr_assert_eq(s.total(d), (uint64_t)(3 * segments));
      cr_assert(s.fetch(d) == lengths);
    }
  }
}

/* ---- launches for several vectors ---- */

Test(launches, vectors_are_reduced_together) {
  enum { N = 5000, VECTORS = 9 };
  session s;
  const ints lengths = {0, 3000, 1, 1024, 975};
  const cvl_value d = s.segments(lengths), other = s.segments({1000, 2000, 1000, 500, 500});
  cvl_value v[VECTORS], sum[VECTORS], most[VECTORS];
  for (int k = 0; k < VECTORS; k++) v[k] = s.upload(launches_some(N, (uint64_t)k + 1));
  for (int k = 0; k < VECTORS; k++) s.reduce(OP_XOR, v[k], cvl_one_segment(N));
  s.settle();
  const uint64_t before = s.launches();
  for (int k = 0; k < VECTORS; k++) {
    sum[k] = s.reduce(OP_ADD, v[k], d);
    most[k] = s.reduce(OP_MAX, v[k], d);
  }
  const cvl_value by_other = s.reduce(OP_ADD, v[0], other);
  s.settle();
  cr_assert_leq(
      s.launches() - before, 2 * 2 * 2 + 2 + WINDOW + BEGINNING,
      "two levels of two launches for eight vectors and one, and of another descriptor: %d",
      (int)(s.launches() - before));
  const ints first = launches_some(N, 1);
  cr_assert_eq(s.fetch(by_other)[0],
               std::accumulate(first.begin(), first.begin() + 1000, (int64_t)0));
  for (int k = 0; k < VECTORS; k++) {
    const ints x = launches_some(N, (uint64_t)k + 1), sums = s.fetch(sum[k]),
               greatest = s.fetch(most[k]);
    size_t at = 0;
    for (size_t i = 0; i < lengths.size(); at += (size_t)lengths[i++]) {
      const auto from = x.begin() + (std::ptrdiff_t)at, to = from + lengths[i];
      cr_assert_eq(sums[i], std::accumulate(from, to, (int64_t)0));
      if (from != to) cr_assert_eq(greatest[i], *std::max_element(from, to));
    }
  }
}

Test(launches, vectors_are_packed_together_by_several_flags) {
  enum { N = 40000, FLAGS = 5 };
  session s;
  const ints x = launches_some(N, 1), lengths = {N / 2, 0, N / 2};
  const cvl_value v = s.upload(x), d = s.segments(lengths);
  cvl_value f[FLAGS], out[FLAGS], out_d[FLAGS], more, more_d;
  for (int k = 0; k < FLAGS; k++) {
    std::vector<uint8_t> set(N);
    for (size_t i = 0; i < N; i++) set[i] = x[i] % FLAGS == k;
    f[k] = s.upload(set);
    s.reduce(OP_OR, f[k], cvl_one_segment(N));
  }
  s.reduce(OP_ADD, v, d);
  s.settle();
  const uint64_t before = s.launches();
  for (int k = 0; k < FLAGS; k++) {
    cr_assert(s.apply(CALL_PACK, OP_PACK, {v, f[k], d}, &out[k], &out_d[k]));
    s.hold(out[k]);
    s.hold(out_d[k]);
  }
  cr_assert(s.apply(CALL_PACK, OP_PACK, {v, f[1], d}, &more, &more_d));
  s.hold(more);
  s.hold(more_d);
  s.settle();
  cr_assert_leq(s.launches() - before, 1 + 2 + WINDOW + BEGINNING,
                "words; four flags and one; but %d", (int)(s.launches() - before));
  for (int k = 0; k < FLAGS; k++) {
    ints want, kept(3);
    for (size_t i = 0; i < N; i++) {
      if (x[i] % FLAGS != k) continue;
      want.push_back(x[i]);
      kept[i < N / 2 ? 0 : 2]++;
    }
    cr_assert(s.fetch(out[k]) == want);
    cr_assert(s.fetch(out_d[k]) == kept);
    if (k == 1) cr_assert(s.fetch(more) == want);
  }
}

/* ---- memory that is set ---- */

Test(launches, memory_is_set_before_the_window) {
  enum { N = 6000 };
  session s;
  ints turned(N);
  for (size_t i = 0; i < N; i++) turned[i] = (int64_t)(N - 1 - i);
  const ints x = launches_some(N, 1);
  const cvl_value v = s.upload(x), d = cvl_one_segment(N);
  cvl_value index[3], out[3];
  for (cvl_value &i : index) i = s.upload(turned);
  for (cvl_value &i : index) s.reduce(OP_MAX, i, d);
  s.reduce(OP_MAX, v, d);
  s.settle();
  const uint64_t before = s.launches();
  for (int k = 0; k < 3; k++) {
    cr_assert(s.apply(CALL_PERMUTE, OP_PERMUTE, {v, index[k], {}, {}, d, d}, &out[k]));
    s.hold(out[k]);
  }
  s.settle();
  cr_assert_eq(s.launches() - before, BEGINNING + 3 + WINDOW, "%d",
               (int)(s.launches() - before));
  for (const cvl_value &r : out) {
    const ints y = s.fetch(r);
    for (size_t i = 0; i < N; i++) cr_assert_eq(y[i], x[N - 1 - i]);
  }
}

/* ---- values that blocks of a launch publish ---- */

/* A long scan takes one launch, whatever earlier launches published in the same memory. */
Test(launches, a_long_scan_clears_nothing) {
  session s;
  for (const size_t n : {20000, 9000, 40000, 70000, 30000}) {
    const ints x = launches_some(n, n);
    const cvl_value v = s.upload(x), d = cvl_one_segment(n);
    s.settle();
    const uint64_t before = s.launches();
    for (int turn = 0; turn < 2; turn++) {
      cvl_value r{};
      cr_assert(s.apply(CALL_SCAN, OP_ADD, {v, d}, &r));
      const ints sums = s.fetch(s.hold(r));
      int64_t sum = 0;
      for (size_t i = 0; i < n; sum += x[i++]) cr_assert_eq(sums[i], sum);
    }
    cr_assert_leq(s.launches() - before, 2 * (1 + WINDOW) + (n == 20000 ? BEGINNING : 0));
  }
}

/* ---- commands that an idle device gets ---- */

static cvl_value launches_gather(session &s, const cvl_value &v, const cvl_value &index,
                                 size_t n) {
  cvl_value r{};
  const cvl_value d = cvl_one_segment(n);
  cr_assert(s.apply(CALL_PERMUTE, OP_BPERMUTE, {v, index, {}, {}, d, d}, &r));
  return s.hold(r);
}

/* It gets commands that nothing can join at once, and others when enough commands came behind
 * them. */
Test(launches, an_idle_device_is_given_what_nothing_can_join) {
  enum { N = 5000 };
  session s;
  const cvl_value v = s.upload(launches_some(N, 1)), index = s.upload(ints(N, 7));
  s.settle();
  const uint64_t before = s.launches(), company = s.c->work_queue.company;
  const auto given = [&] { return s.launches() - before; };
  launches_map(s, OP_ADD, {v, v});
  cr_assert_eq(given(), 1);
  launches_gather(s, v, index, N);
  launches_gather(s, v, index, N);
  for (uint64_t k = 1; k < company; k++) launches_map(s, OP_SUB, {v, v});
  cr_assert_eq(given(), 1, "a third one may come");
  launches_map(s, OP_SUB, {v, v});
  cr_assert_eq(given(), 1 + 1 + company);
  s.settle();
  cr_assert_eq(given(), 1 + 1 + company + WINDOW, "only the end of all is a launch more");
}

Test(launches, a_device_that_has_work_is_given_an_epoch_at_a_time) {
  session s;
  const cvl_value v = s.upload(launches_some(5000, 1));
  s.settle();
  const uint64_t before = s.launches(), most = s.c->work_queue.most_held;
  for (uint64_t k = 0; k < most; k++) launches_map(s, OP_ADD, {v, v});
  cr_assert_eq(s.launches() - before, most + WINDOW);
  for (uint64_t k = 1; k < most; k++) launches_map(s, OP_ADD, {v, v});
  cr_assert_eq(s.launches() - before, most + WINDOW);
  launches_map(s, OP_ADD, {v, v});
  cr_assert_eq(s.launches() - before, 2 * (most + WINDOW));
}

/* ---- the longest segment ---- */

Test(launches, many_short_segments_take_one_level_once_their_lengths_are_there) {
  enum { SEGMENTS = 3000, EACH = 7 };
  session s;
  ints lengths(SEGMENTS, EACH);
  lengths[5] = EACH + 1;
  lengths[6] = EACH - 1;
  const cvl_value d = s.make_segdes(s.upload(lengths)), v = s.upload(ints(SEGMENTS * EACH, 1));
  cr_assert_eq(s.total(d), SEGMENTS * EACH);
  for (cvl_op op : {OP_XOR, OP_ADD}) { /* the first one uploads */
    s.settle();
    const uint64_t before = s.launches();
    const cvl_value r = s.reduce(op, v, d);
    s.settle();
    if (op == OP_XOR) continue;
    cr_assert_eq(s.launches() - before, 1 + WINDOW, "%d", (int)(s.launches() - before));
    cr_assert(s.fetch(r) == lengths);
  }
}

/* ---- unnecessary waits ---- */

Test(launches, nothing_is_waited_for_where_nothing_was_done) {
  session s;
  s.reduce(OP_ADD, s.upload(launches_some(5000, 1)), cvl_one_segment(5000));
  s.settle();
  const uint64_t waits = s.waits(), launches = s.launches();
  s.b->release(s.c, &s.held.back()); /* only memory is given back */
  s.held.pop_back();
  s.settle();
  cr_assert_eq(s.waits(), waits);
  cr_assert_eq(s.launches(), launches);
}
