/* test-slices.cpp - properties that conformance cannot see, of slices, of vectors that are
 * filled and of concatenated descriptors: what they cost and whose memory they keep. It also
 * tests flags at any address, in vectors so long that kernels read words of them. */
#include <algorithm>
#include <numeric>

#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/pack-kernels.hpp"
#include "cvl-cuda/tests/session.hpp"

/* WINDOW: each window takes a launch that reports its end to the host. */
enum { WINDOW = 1, MANY = 100000 };

typedef std::vector<uint8_t> bytes;

/* Nothing runs on the host, threads run in random order, and all accesses are checked. */
static const char checked[] = "order=shuffled,seed=7,check,deferred,small=0";

struct session : emulated_session {
  using emulated_session::emulated_session;

  template <class T> cvl_value upload(cvl_elem elem, const std::vector<T> &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, elem, x.size(), x.data(), &v));
    return v;
  }
  template <class T> std::vector<T> read(const cvl_value &v) {
    std::vector<T> x(length(v));
    cr_assert(b->to_host(c, &v, 0, x.size(), x.data()));
    return x;
  }
  ints lengths(const cvl_value &d) {
    ints x(b->count(c, &d).bound);
    cr_assert(b->to_host(c, &d, 0, x.size(), x.data()));
    return x;
  }
  uint64_t length(const cvl_value &v) {
    cvl_size n = b->length(c, &v);
    cr_assert(b->resolve(c, &n));
    return n.bound;
  }
  cvl_value slice(const cvl_value &v, uint64_t first, uint64_t n) {
    cvl_value out{};
    cr_assert(b->slices->slice(c, ++site, &v, first, n, &out));
    return out;
  }
  cvl_value allocate(cvl_elem elem, uint64_t n) {
    cvl_value out{};
    cr_assert(b->slices->allocate(c, ++site, elem, n, &out));
    return out;
  }
  void fill(const cvl_value &target, uint64_t first, const cvl_value &v) {
    cr_assert(b->slices->fill(c, ++site, &target, first, &v));
  }
  cvl_value concatenate(const std::vector<cvl_value> &all) {
    cvl_value out{};
    cr_assert(b->slices->concatenate(c, ++site, all.size(), all.data(), &out));
    return out;
  }
  cvl_value elementwise(cvl_op op, const std::vector<cvl_value> &v) {
    cvl_value out{};
    cr_assert(apply(CALL_ELEMENTWISE, op, v, &out));
    return out;
  }
  /* Makes a descriptor with offsets on the device, and a deferred total. */
  cvl_value segments(const ints &x) {
    const cvl_value of = upload(CVL_I64, x);
    cvl_value d{};
    cr_assert(apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {of}, &d));
    b->release(c, &of);
    return d;
  }
  cvl_value segments_of_host(const ints &x) {
    cvl_value d{};
    cr_assert(b->segdes_from_host(c, ++site, x.size(), x.data(), &d));
    return d;
  }
  cvl_value dist(const cvl_value &v, const cvl_value &d) {
    cvl_value out{};
    cr_assert(apply(CALL_DIST, OP_DIST, {v, d}, &out));
    return out;
  }
  cvl_value index(int64_t first, int64_t step, const cvl_value &d) {
    const cvl_value from = cvl_scalar_int(CVL_I64, first), by = cvl_scalar_int(CVL_I64, step);
    cvl_value out{};
    cr_assert(apply(CALL_INDEX, OP_INDEX, {from, by, d}, &out));
    return out;
  }
  void release(const std::vector<cvl_value> &all) {
    for (const cvl_value &v : all) b->release(c, &v);
  }
  cvl_statistics statistics() { return b->statistics(c); }
  /* Returns the launches so far, when all is done. */
  uint64_t launches() {
    cvl_error e{};
    cr_assert_not(b->check(c, true, &e));
    return statistics().launches;
  }
};

static uint64_t slices_sum_of(const ints &x) {
  return (uint64_t)std::accumulate(x.begin(), x.end(), (int64_t)0);
}

static ints slices_iota(size_t n, int64_t first) {
  ints x(n);
  std::iota(x.begin(), x.end(), first);
  return x;
}

template <class T>
static std::vector<T> slices_range(const std::vector<T> &x, size_t first, size_t n) {
  return std::vector<T>(x.begin() + (std::ptrdiff_t)first,
                        x.begin() + (std::ptrdiff_t)(first + n));
}

/* ---- vectors ---- */

Test(slices, take_no_memory_and_keep_that_of_all) {
  session s(checked);
  const ints x = slices_iota(MANY, 5);
  const cvl_value v = s.upload(CVL_I64, x);
  const uint64_t launches = s.launches(), live = s.statistics().live_bytes,
                 allocations = s.statistics().allocations;
  const cvl_value a = s.slice(v, 3, 70000), b = s.slice(a, 1, 6);
  cr_assert_eq(s.launches(), launches);
  cr_assert_eq(s.statistics().allocations, allocations);
  s.release({v, a});
  cr_assert_eq(s.statistics().live_bytes, live);
  cr_assert_eq(s.read<int64_t>(b), slices_range(x, 4, 6));
  s.release({b});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

/* Neither the memory of the slice nor that of the whole vector is overwritten. */
Test(slices, are_not_written_over) {
  session s(checked);
  const ints x = slices_iota(1000, 0);
  cvl_value v = s.upload(CVL_I64, x), a = s.slice(v, 1, 500);
  s.b->retain(s.c, &a);
  const cvl_value other = a;
  a.owned = 1;
  const cvl_value one = s.upload(CVL_I64, ints(500, 1)), y = s.elementwise(OP_ADD, {a, one});
  s.release({other}); /* now nobody else has the slice */
  const cvl_value again = s.slice(v, 1, 500), index = s.upload(CVL_I64, ints{7}),
                  w = s.upload(CVL_I64, ints{-1}), d = cvl_one_segment(500);
  cvl_value z{}, taken = again;
  taken.owned = 1;
  cr_assert(s.apply(CALL_REPLACE, OP_REPLACE, {taken, index, w, d}, &z));
  cr_assert_eq(s.read<int64_t>(v), x);
  ints want = slices_range(x, 1, 500);
  want[7] = -1;
  cr_assert_eq(s.read<int64_t>(z), want);
  v.owned = 1;
  s.release({v, one, y, index, w, z});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

/* The slice reads the memory, so an operation that takes the vector must not write there. */
Test(slices, keep_what_they_are_of_from_being_written_over) {
  session s(checked);
  const ints x = slices_iota(300, 0);
  cvl_value v = s.upload(CVL_I64, x), z{};
  const cvl_value a = s.slice(v, 0, 300), index = s.upload(CVL_I64, ints{7}),
                  w = s.upload(CVL_I64, ints{-1}), d = cvl_one_segment(300);
  v.owned = 1;
  cr_assert(s.apply(CALL_REPLACE, OP_REPLACE, {v, index, w, d}, &z));
  cr_assert_eq(s.read<int64_t>(a), x);
  s.release({a, index, w, z});
}

Test(slices, of_what_is_computed_are_computed) {
  session s(checked);
  const cvl_value one = cvl_one_segment(MANY);
  const cvl_value v = s.index(10, 3, one);
  const cvl_value rows = s.segments_of_host(ints(1000, 100));
  const cvl_value x = s.upload(CVL_I64, slices_iota(1000, 7)), spread = s.dist(x, rows),
                  counts = s.index(1, 1, rows), element = s.slice(x, 999, 1),
                  same = s.dist(element, one);
  const uint64_t launches = s.launches(), live = s.statistics().live_bytes;
  const cvl_value a = s.slice(v, 50, 1000), b = s.slice(spread, 200, 300),
                  e = s.slice(counts, 900, 200), f = s.slice(same, 77, 5);
  cr_assert_eq(s.launches(), launches);
  cr_assert_eq(s.statistics().live_bytes, live);
  const ints of_a = s.read<int64_t>(a), of_b = s.read<int64_t>(b), of_e = s.read<int64_t>(e);
  for (int64_t i = 0; i < 1000; i++) cr_assert_eq(of_a[(size_t)i], 160 + 3 * i);
  for (int64_t i = 0; i < 300; i++) cr_assert_eq(of_b[(size_t)i], 9 + i / 100);
  for (int64_t i = 0; i < 200; i++) cr_assert_eq(of_e[(size_t)i], 1 + i % 100);
  cr_assert_eq(s.read<int64_t>(f), ints(5, 1006));
  s.release({v, rows, x, spread, counts, element, same, a, b, e, f});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

/* If a slice crosses segments, all elements are computed, once. */
Test(slices, across_segments_take_one_launch_for_all) {
  session s(checked);
  const cvl_value d = s.segments({3, 0, 4, 1000}), x = s.upload(CVL_I64, ints{5, 6, 7, 8}),
                  v = s.dist(x, d);
  s.length(v);
  const uint64_t launches = s.launches();
  const cvl_value a = s.slice(v, 2, 3), b = s.slice(v, 6, 500);
  cr_assert_eq(s.read<int64_t>(a), (ints{5, 7, 7}));
  cr_assert_leq(s.launches() - launches, 2 * WINDOW + 2); /* and a rank directory */
  ints want(500, 8);
  want[0] = 7;
  cr_assert_eq(s.read<int64_t>(b), want);
  s.release({d, x, v, a, b});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

/* ---- flags at any address ---- */

static bytes slices_flags_of(size_t n, unsigned k) {
  bytes x(n);
  for (size_t i = 0; i < n; i++) x[i] = (uint8_t)((i * i / 3 + k * i) % 5 < 2);
  return x;
}

/* A kernel of words begins anywhere, and reads only the slice. */
Test(slices, of_flags_at_any_address) {
  enum { N = 2 * ravel::PACK_TILE + 333 };
  for (const char *how : {checked, "check,small=0,order=reverse"}) {
    session s(how);
    const bytes x = slices_flags_of(N + 32, 1), y = slices_flags_of(N + 32, 2),
                z = slices_flags_of(N + 32, 3);
    const cvl_value vx = s.upload(CVL_BOOL, x), vy = s.upload(CVL_BOOL, y),
                    vz = s.upload(CVL_BOOL, z), numbers = s.upload(CVL_I64, slices_iota(N, 0)),
                    all = cvl_one_segment(N);
    for (size_t at = 0; at < 18; at += 1 + at / 4) {
      const cvl_value a = s.slice(vx, at, N), b = s.slice(vy, 8, N), c = s.slice(vz, at + 3, N);
      const bytes f = slices_range(x, at, N), g = slices_range(y, 8, N),
                  h = slices_range(z, at + 3, N);
      const cvl_value no = s.elementwise(OP_NOT, {a}), both = s.elementwise(OP_AND, {b, a}),
                      one = s.elementwise(OP_SELECT, {b, c, a});
      cvl_value kept{}, of{}, parity{};
      cr_assert(s.apply(CALL_PACK, OP_PACK, {numbers, a, all}, &kept, &of));
      cr_assert(s.apply(CALL_REDUCE, OP_XOR, {a, all}, &parity));
      const bytes of_no = s.read<uint8_t>(no), of_both = s.read<uint8_t>(both),
                  of_one = s.read<uint8_t>(one);
      ints want;
      uint8_t odd = 0;
      for (size_t i = 0; i < N; i++) {
        cr_assert_eq(of_no[i], !f[i], "NOT, %zu at %zu", i, at);
        cr_assert_eq(of_both[i], f[i] & g[i], "AND, %zu at %zu", i, at);
        cr_assert_eq(of_one[i], g[i] ? h[i] : f[i], "SELECT, %zu at %zu", i, at);
        if (f[i]) want.push_back((int64_t)i);
        odd ^= f[i];
      }
      cr_assert_eq(s.read<int64_t>(kept), want);
      cr_assert_eq(s.read<uint8_t>(parity), bytes{odd});
      s.release({a, b, c, no, both, one, kept, of, parity});
    }
    s.release({vx, vy, vz, numbers});
    cr_assert_eq(s.statistics().live_bytes, 0);
  }
}

/* ---- descriptors ---- */

/* Offsets are on the device only, and nothing waits. */
Test(slices, of_segments_do_not_wait) {
  session s(checked);
  ints lengths(MANY);
  for (size_t k = 0; k < MANY; k++) lengths[k] = (int64_t)(k * k % 7);
  const cvl_value d = s.segments(lengths);
  const uint64_t launches = s.launches(), waits = s.statistics().waits;
  const cvl_value a = s.slice(d, 5, 1000), b = s.slice(a, 10, 1), none = s.slice(d, 9, 0),
                  all = s.slice(d, 0, MANY);
  cr_assert(s.b->same(s.c, &d, &all));
  cr_assert_neq(s.b->length(s.c, &a).symbol, 0);
  cr_assert_eq(s.statistics().waits, waits);
  cr_assert_eq(s.launches() - launches, 2 + WINDOW);
  const ints want = slices_range(lengths, 5, 1000);
  cr_assert_eq(s.length(a), slices_sum_of(want));
  cr_assert_eq(s.lengths(a), want);
  cr_assert_eq(s.lengths(b), slices_range(lengths, 15, 1));
  cr_assert_eq(s.b->count(s.c, &none).bound, 0);
  s.release({d, a, b, none, all});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

/* A slice is required to have a total that it does not have. */
Test(slices, with_another_total_than_required_are_a_fault) {
  session s(checked);
  const cvl_value d = s.segments({1, 2, 3, 4, 5}), a = s.slice(d, 1, 3), b = s.slice(d, 2, 1);
  for (const cvl_value &v : {a, b}) {
    cvl_error e{};
    const cvl_size deferred = s.b->length(s.c, &v), seven = {7, 0};
    const uint64_t site = ++s.site;
    const bool later = s.b->require_later(s.c, site, deferred, seven, 4);
    if (!later) s.b->require_equal(s.c, site, deferred, seven, 4);
    cr_assert(s.b->check(s.c, true, &e));
    cr_assert_eq(e.kind, CVL_E_SIZE);
    cr_assert_eq(e.site, site);
  }
  cr_assert_eq(s.lengths(a), (ints{2, 3, 4}));
  cr_assert_eq(s.lengths(b), ints{3});
  s.release({d, a, b});
}

/* ---- vectors to be filled ---- */

Test(slices, filling_is_a_copy) {
  session s(checked);
  const ints x = slices_iota(MANY, 0);
  const cvl_value v = s.upload(CVL_I64, x), target = s.allocate(CVL_I64, MANY);
  const cvl_value low = s.slice(v, 0, 333), high = s.slice(v, 333, MANY - 333);
  const uint64_t launches = s.launches(), up = s.statistics().bytes_up;
  s.fill(target, MANY - 333, low);
  s.fill(target, 0, high);
  cr_assert_eq(s.launches() - launches, WINDOW);
  cr_assert_eq(s.statistics().bytes_up, up);
  ints want = slices_range(x, 333, MANY - 333);
  want.insert(want.end(), x.begin(), x.begin() + 333);
  cr_assert_eq(s.read<int64_t>(target), want);
  s.release({v, low, high, target});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

/* Elements on the host are uploaded together, and computed ones are computed in place. */
Test(slices, filling_of_what_is_not_in_memory) {
  session s(checked);
  const cvl_value target = s.allocate(CVL_I64, 600), d = s.segments_of_host({1, 2, 97});
  const cvl_value x = s.upload(CVL_I64, ints{4, 5, 6}), spread = s.dist(x, d);
  const uint64_t launches = s.launches();
  for (int64_t i = 0; i < 500; i++) s.fill(target, (uint64_t)i, cvl_scalar_int(CVL_I64, 3 * i));
  cr_assert_leq(s.launches() - launches, 500 / 48 + 1 + WINDOW);
  s.fill(target, 500, spread);
  const ints got = s.read<int64_t>(target);
  for (int64_t i = 0; i < 500; i++) cr_assert_eq(got[(size_t)i], 3 * i);
  for (size_t i = 0; i < 100; i++) cr_assert_eq(got[500 + i], i == 0 ? 4 : i < 3 ? 5 : 6);
  s.release({target, d, x, spread});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

/* A launch that reads a filled vector is not joined with an earlier one. */
Test(slices, are_read_behind_what_fills_them) {
  session s(checked);
  const cvl_value v = s.upload(CVL_I64, slices_iota(100, 1)),
                  index = s.upload(CVL_I64, ints(1, 9)), d = cvl_one_segment(100);
  cvl_value before{}, after{};
  cr_assert(s.apply(CALL_EXTRACT, OP_EXTRACT, {v, index, d}, &before));
  const cvl_value target = s.allocate(CVL_I64, 100);
  s.fill(target, 0, v);
  cr_assert(s.apply(CALL_EXTRACT, OP_EXTRACT, {target, index, d}, &after));
  cr_assert_eq(s.read<int64_t>(after), ints{10});
  s.release({v, index, before, after, target});
}

/* ---- concatenated descriptors ---- */

Test(slices, a_thousand_descriptors_take_few_launches) {
  session s(checked);
  const ints lengths = {2, 0, 5};
  const cvl_value d = s.segments(lengths), h = s.segments_of_host(lengths);
  s.length(d);
  std::vector<cvl_value> all;
  ints want;
  for (size_t k = 0; k < 1000; k++) {
    all.push_back(k % 3 == 0 ? d : k % 3 == 1 ? cvl_one_segment(k) : h);
    if (k % 3 == 1)
      want.push_back((int64_t)k);
    else
      want.insert(want.end(), lengths.begin(), lengths.end());
  }
  const uint64_t launches = s.launches();
  const cvl_value r = s.concatenate(all);
  cr_assert_leq(s.launches() - launches, 10 + 1 + WINDOW); /* and an upload of h */
  cr_assert_eq(s.lengths(r), want);
  cr_assert_eq(s.length(r), slices_sum_of(want));
  s.release({d, h, r});
  cr_assert_eq(s.statistics().live_bytes, 0);
}

Test(slices, descriptors_of_one_length_take_none) {
  session s(checked);
  const cvl_value rows = s.segments_of_host(ints(1000, 8)), none = s.segments_of_host({});
  const uint64_t launches = s.launches(), live = s.statistics().live_bytes;
  const cvl_value r = s.concatenate({none, rows, cvl_one_segment(8), rows});
  cr_assert_eq(s.launches(), launches);
  cr_assert_eq(s.statistics().live_bytes, live);
  cr_assert_eq(s.lengths(r), ints(2001, 8));
  s.release({rows, none, r});
}

/* The fault names the segment where the total becomes too large; offsets are on the device. */
Test(slices, concatenation_says_where_the_total_is_too_large) {
  session s(checked);
  const cvl_value d = s.segments({1, INT64_MAX - 9, 2, 3}), few = s.segments({4, 1});
  for (const auto &row : {std::make_pair(std::vector<cvl_value>{d, few}, 4),
                          std::make_pair(std::vector<cvl_value>{few, d}, 5),
                          std::make_pair(std::vector<cvl_value>{few, few, d}, 5)}) {
    cvl_value out{};
    cvl_error e{};
    cr_assert_not(
        s.b->slices->concatenate(s.c, ++s.site, row.first.size(), row.first.data(), &out));
    cr_assert(s.b->check(s.c, true, &e));
    cr_assert_eq(e.kind, CVL_E_TOTAL);
    cr_assert_eq(e.position, row.second, "%ld instead of %d", (long)e.position, row.second);
  }
  s.release({d, few});
}
