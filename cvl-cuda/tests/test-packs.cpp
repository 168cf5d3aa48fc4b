/* test-packs.cpp - PACK at the limits between its ways of working: lengths around words, warps,
 * blocks and tiles, all forms of values, and the prefixes of many counts. */
#include "cvl-cuda/counts.hpp"
#include "cvl-cuda/emulation/checker.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/pack-kernels.hpp"
#include "cvl-cuda/tests/session.hpp"

using namespace ravel;

static const order ORDERS[] = {{1, 0}, {-1, 0}, {0, 11}};

/* ---- prefixes of counts ---- */

typedef std::vector<uint64_t> counts;

static counts some_counts(int64_t n, uint64_t last) {
  counts x((size_t)n + 1);
  uint64_t state = (uint64_t)n;
  for (uint64_t &k : x) k = (state = state * 6364136223846793005u + 1442695040888963407u) >> 44;
  x[(size_t)n / 2] += last;
  return x;
}

static counts packs_sums_before(const counts &x) {
  counts sums(x.size());
  for (size_t k = 1; k < x.size(); k++) {
    const bool large = __builtin_add_overflow(sums[k - 1], x[k - 1], &sums[k]);
    if (large || sums[k] > TOO_LARGE) sums[k] = TOO_LARGE;
  }
  return sums;
}

Test(packs, counts_are_scanned) {
  enum : int64_t { ROUND = scan_counts::ROUND };
  for (int64_t n : {(int64_t)1, (int64_t)31, (int64_t)32, (int64_t)257, (int64_t)1025,
                    ROUND - 1, (int64_t)ROUND, ROUND + 1, 2 * ROUND + 333}) {
    for (uint64_t more : {(uint64_t)0, (uint64_t)TOO_LARGE, ~(uint64_t)0 >> 1}) {
      for (const order &o : ORDERS) {
        counts x = some_counts(n, more);
        const counts want = packs_sums_before(x);
        int64_t total = -1;
        const scan_counts body{pointer_to<uint64_t>(x.data()), n, pointer_to<int64_t>(&total)};
        run_blocks_on_host<scan_counts>(&body, 1, &o);
        cr_assert(x == want, "%d counts", (int)n);
        cr_assert_eq((uint64_t)total, want.back());
      }
    }
  }
}

/* ---- values ---- */

struct session : emulated_session {
  session(const char *how, cvl_elem int_elem) : emulated_session(how, false, int_elem) {}
  ~session() { cr_expect_eq(emulation::count_reports(), (uint64_t)0); }

  template <class T> cvl_value upload(cvl_elem elem, const std::vector<T> &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, elem, x.size(), x.data(), &v));
    return v;
  }
  template <class T> std::vector<T> fetch(const cvl_value &v) {
    cvl_size n = v.form == CVL_SEGDES ? b->count(c, &v) : b->length(c, &v);
    cr_assert(b->resolve(c, &n));
    std::vector<T> x(n.bound);
    cr_assert(b->to_host(c, &v, 0, n.bound, x.data()));
    return x;
  }
  void release(const std::vector<cvl_value> &all) {
    for (const cvl_value &v : all) b->release(c, &v);
  }
};

typedef std::vector<uint8_t> bytes;

/* The flags that are set. */
enum pattern { NONE, ALL, LAST, SOME, FEW, PATTERNS };

static bytes packs_flags_of(int64_t n, int which) {
  bytes x((size_t)n);
  for (int64_t i = 0; i < n; i++)
    x[(size_t)i] = which == ALL || (which == LAST && i == n - 1) ||
                   (which == SOME && i * i / 3 % 5 < 2) || (which == FEW && i % 1000 == 777);
  return x;
}

template <class T> static std::vector<T> kept_of(const std::vector<T> &x, const bytes &flags) {
  std::vector<T> kept;
  for (size_t i = 0; i < x.size(); i++) {
    if (flags[i]) kept.push_back(x[i]);
  }
  return kept;
}

/* Packs v, whose elements are x, under d. Checks the result and how many elements each segment
 * keeps. */
template <class T>
static void check_pack(session &s, const cvl_value &v, const std::vector<T> &x,
                       const cvl_value &f, const bytes &flags, const cvl_value &d) {
  cvl_value out{}, out_d{};
  cr_assert(s.apply(CALL_PACK, OP_PACK, {v, f, d}, &out, &out_d));
  cr_assert(s.fetch<T>(out) == kept_of(x, flags), "%zu elements", x.size());
  s.release({out, out_d});
}

/* Lengths around those that a warp, a block and a tile do. */
static const int64_t LENGTHS[] = {1,
                                  31,
                                  32,
                                  64,
                                  65,
                                  KEEP_EACH *WARP - 1,
                                  KEEP_EACH *WARP,
                                  KEEP_EACH *WARP + 1,
                                  KEEP_TILE / 2 - 1,
                                  KEEP_TILE / 2 + 33,
                                  KEEP_TILE - 1,
                                  KEEP_TILE,
                                  KEEP_TILE + 33,
                                  PACK_TILE - 1,
                                  PACK_TILE,
                                  2 * PACK_TILE + 333};

template <class T> static void check_memory(session &s, cvl_elem elem) {
  for (int64_t n : LENGTHS) {
    std::vector<T> x((size_t)n);
    for (int64_t i = 0; i < n; i++)
      x[(size_t)i] = (T)(elem == CVL_BOOL ? i % 3 == 1 : 7 * i + 1);
    const cvl_value v = s.upload(elem, x), d = cvl_one_segment((uint64_t)n);
    for (int which = 0; which < PATTERNS; which++) {
      const bytes flags = packs_flags_of(n, which);
      const cvl_value f = s.upload(CVL_BOOL, flags);
      check_pack(s, v, x, f, flags, d);
      s.release({f});
    }
    s.release({v});
  }
}

static const char *const HOW[] = {"check,small=0", "check,small=0,order=reverse",
                                  "check,small=0,order=shuffled,seed=3"};

Test(packs, of_values_in_memory) {
  for (const char *how : HOW) {
    session wide(how, CVL_I64), narrow(how, CVL_I32);
    check_memory<int64_t>(wide, CVL_I64);
    check_memory<int32_t>(narrow, CVL_I32);
    check_memory<uint8_t>(wide, CVL_BOOL);
  }
}

/* Packs INDEX of one segment and of three, and DIST, whose elements are computed where they are
 * needed. */
template <class T> static void check_computed(session &s, cvl_elem elem) {
  for (int64_t n : LENGTHS) {
    if (n < 3) continue;
    const ints lengths = {n / 3, 0, n - n / 3};
    const std::vector<T> start = {5, 100, 1000}, step = {3, 9, -2}, begin = {7}, by = {-5};
    std::vector<T> line, lines, spread;
    for (int64_t i = 0; i < n; i++) {
      const size_t k = i < n / 3 ? 0 : 2;
      line.push_back((T)(7 - 5 * i));
      lines.push_back((T)(start[k] + step[k] * (i - (k == 0 ? 0 : n / 3))));
      spread.push_back(start[k]);
    }
    const cvl_value a = s.upload(elem, start), b = s.upload(elem, step),
                    one = s.upload(elem, begin), two = s.upload(elem, by),
                    all = cvl_one_segment((uint64_t)n);
    cvl_value d{}, of_one{}, of_three{}, of_dist{};
    cr_assert(s.b->segdes_from_host(s.c, ++s.site, 3, lengths.data(), &d));
    cr_assert(s.apply(CALL_INDEX, OP_INDEX, {one, two, all}, &of_one));
    cr_assert(s.apply(CALL_INDEX, OP_INDEX, {a, b, d}, &of_three));
    cr_assert(s.apply(CALL_DIST, OP_DIST, {a, d}, &of_dist));
    for (int which = 0; which < PATTERNS; which++) {
      const bytes flags = packs_flags_of(n, which);
      const cvl_value f = s.upload(CVL_BOOL, flags);
      check_pack(s, of_one, line, f, flags, all);
      check_pack(s, of_three, lines, f, flags, d);
      check_pack(s, of_dist, spread, f, flags, d);
      s.release({f});
    }
    s.release({a, b, one, two, d, of_one, of_three, of_dist});
  }
}

Test(packs, of_values_that_are_computed) {
  for (const char *how : HOW) {
    session wide(how, CVL_I64), narrow(how, CVL_I32);
    check_computed<int64_t>(wide, CVL_I64);
    check_computed<int32_t>(narrow, CVL_I32);
  }
}

/* There are more tiles than a block adds up, and computed flags. */
Test(packs, of_many_tiles_by_flags_that_are_computed) {
  enum : int64_t { N = (KEEP_THREADS + 1) * (int64_t)PACK_TILE + 70 };
  session s("small=0,order=shuffled,seed=5", CVL_I64);
  const ints lengths = {N / 2 + 5, 0, N - N / 2 - 5};
  const bytes set = {1, 0, 0};
  const cvl_value of = s.upload(CVL_BOOL, set), first = s.upload(CVL_I64, ints{11}),
                  step = s.upload(CVL_I64, ints{2}), all = cvl_one_segment(N);
  cvl_value d{}, f{}, v{}, out{}, out_d{};
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, 3, lengths.data(), &d));
  cr_assert(s.apply(CALL_DIST, OP_DIST, {of, d}, &f));
  cr_assert(s.apply(CALL_INDEX, OP_INDEX, {first, step, all}, &v));
  cr_assert(s.apply(CALL_PACK, OP_PACK, {v, f, d}, &out, &out_d));
  const ints got = s.fetch<int64_t>(out);
  cr_assert_eq((int64_t)got.size(), lengths[0]);
  for (size_t i = 0; i < got.size(); i++) cr_assert_eq(got[i], 11 + 2 * (int64_t)i);
  cr_assert(s.fetch<int64_t>(out_d) == (ints{lengths[0], 0, 0}));
  s.release({of, first, step, d, f, v, out, out_d});
  cr_assert_eq(s.b->statistics(s.c).live_bytes, 0);
}
