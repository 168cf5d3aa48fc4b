/* test-elementwise.cpp - properties of elementwise operations, ranks and assertions that
 * conformance does not see: which of them are computed without a kernel, what the host knows of
 * their results, and indices beyond 32 bits, on operands that take no memory. */
#include <criterion/criterion.h>
#include <string.h>

#include <algorithm>

#include "cvl-cuda/backend.hpp"
#include "cvl-cuda/emulation/stream.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/rank-kernels.hpp"
#include "cvl-cuda/segdes-kernels.hpp"
#include "cvl-cuda/tests/apply.hpp"
#include "cvl-cuda/together.hpp"

using namespace ravel;

/* ---- a context whose operations all run on the device ---- */

struct rig {
  cvl_backend table = backend_over_streams();
  context *c;

  explicit rig(cvl_elem int_elem) {
    cvl_options o{};
    o.int_elem = int_elem;
    o.float_elem = CVL_F64;
    const char *why = nullptr;
    c = open_context(emulated_stream(), o, &why);
    cr_assert(c, "%s", why);
    c->small = 0;
  }
  ~rig() { table.close(c); }

  cvl_value integer(int64_t x) const { return cvl_scalar_int(c->int_elem, x); }
  cvl_value repeat(int64_t x, uint64_t n) {
    cvl_value v = integer(x), d = cvl_one_segment(n), out;
    dist(*c, 1, v, d, &out);
    return out;
  }
  /* Makes the lengths of segments, of which the host knows the sum. */
  cvl_value some_lengths(std::vector<int64_t> lengths_of) {
    cvl_value d, out;
    segdes_from_host(*c, 1, lengths_of.size(), lengths_of.data(), &d);
    lengths(*c, 1, d, &out);
    release(d.as.segdes);
    return out;
  }
  cvl_value apply(cvl_op op, cvl_value x, cvl_value y) {
    const cvl_value operands[] = {x, y};
    cvl_value out;
    elementwise(*c, 1, op, 2, operands, &out);
    return out;
  }
  void drop(cvl_value v) { table.release(c, &v); }
};

/* ---- how indices are divided among blocks ---- */

/* Returns how often each index is done by the threads of a grid, as run_tiles in prelude.hpp
 * does it. */
static std::vector<int> times_done(int64_t n, int unroll, int64_t grid) {
  std::vector<int> times((size_t)n, 0);
  const map_tiles tiles(n, unroll, grid);
  for (int64_t b = 0; b < tiles.blocks(); b++) {
    for (int64_t t = 0; t < MAP_THREADS; t++) {
      const int64_t i = tiles.first(b) + t;
      const int each = b < tiles.whole ? unroll : i < n ? 1 : 0;
      for (int k = 0; k < each; k++) times.at((size_t)(i + k * MAP_THREADS))++;
    }
  }
  return times;
}

Test(elementwise, each_index_is_done_once_by_a_grid_that_fills_the_device) {
  const int64_t tile = 4 * MAP_THREADS;
  for (int64_t processors : {1, 3, 132}) {
    const int64_t most = 8 * processors, few = processors * tile;
    for (int64_t n : {(int64_t)1, (int64_t)MAP_THREADS, (int64_t)MAP_THREADS + 1, tile, few - 1,
                      few, few + 1, few + tile - 1, 2 * few + 700, most * tile + 5}) {
      for (int unroll : {1, 2, 4, 8}) {
        const int64_t grid = map_tiles::grid(n, unroll, processors, most),
                      threads = (n + MAP_THREADS - 1) / MAP_THREADS;
        cr_assert(grid <= most && grid >= std::min(processors, threads), "%ld of %ld",
                  (long)grid, (long)n);
        for (int times : times_done(n, unroll, grid)) cr_assert_eq(times, 1);
        const map_tiles tiles(n, unroll, grid);
        cr_assert(grid == most || grid == tiles.blocks(), "no block does two");
        const bool is_few = n < processors * tiles.tile;
        cr_assert(unroll == 1 || is_few || tiles.whole == n / tiles.tile, "%ld by %d", (long)n,
                  unroll);
      }
    }
  }
}

/* ---- several elements at once ---- */

/* A thread loads more narrow elements at a time, and four of the widest. */
Test(elementwise, a_thread_loads_elements_by_their_bytes) {
  cr_assert_eq(elements_at_once<uint8_t>(), 8);
  cr_assert_eq(elements_at_once<float>(), 8);
  cr_assert_eq(elements_at_once<double>(), 4);
}

/* Expects that a thread computes from eight elements what it computes from each. */
template <class T> static void expect_each(const operand<T> &x, int64_t step, int64_t n) {
  for (int64_t i = 0; i + 7 * step < n; i++) {
    T all[8];
    load_computed(x, i, step, all);
    for (int64_t k = 0; k < 8; k++) cr_assert_eq(all[k], x[i + k * step]);
  }
}

/* Descriptors of N elements: one segment, equal ones, and offsets with empty segments, with and
 * without a rank directory. */
struct descriptors {
  enum : int64_t { N = 300, WORDS = (N + 63) / 64 };
  std::vector<int64_t> offsets = {0, 7, 7, 131, 140, 140, 140, 141, N, N};
  std::vector<rank_word> ranks = std::vector<rank_word>(WORDS);
  std::vector<uint32_t> numbers = std::vector<uint32_t>((size_t)WORDS + offsets.size());
  std::vector<segments> all = std::vector<segments>(4);

  descriptors() {
    for (segments &d : all) d.total = N;
    all[0].count = 1;
    all[0].equal = N;
    all[1].count = 6;
    all[1].equal = N / 6;
    all[2].count = (int64_t)offsets.size() - 1;
    all[2].equal = -1;
    all[2].offsets = pointer_to<const int64_t>(offsets.data());
    all[3] = all[2];
    all[3].ranks = pointer_to<const rank_word>(ranks.data());
    all[3].numbers = pointer_to<const uint32_t>(numbers.data());
    const directory_body make{
        {all[2]}, pointer_to<rank_word>(ranks.data()), pointer_to<uint32_t>(numbers.data())};
    for (int64_t w = 0; w < WORDS; w++) make(w);
  }
};

Test(elementwise, eight_elements_at_once_are_those_one_by_one) {
  const descriptors of;
  std::vector<int32_t> first = {3, -5, 1000, 7, 9, 8, -1, 2, 4},
                       by = {1, 2, -3, 4, 0, 5, 6, 7, 8};
  for (const segments &under : of.all) {
    for (const operand_form kind : {SPREAD, PROGRESSION}) {
      for (const bool each : {false, true}) { /* values of segments in memory, or all equal */
        if (kind == SPREAD && !each) continue;
        operand<int32_t> x{};
        x.kind = kind;
        x.first = 11;
        x.step = 5;
        x.under = under;
        if (each) x.data = pointer_to<const int32_t>(first.data());
        if (each) x.steps = pointer_to<const int32_t>(by.data());
        for (const int64_t step : {1, 4, 37}) expect_each(x, step, descriptors::N);
      }
    }
  }
  const segments &searched = of.all[2], &ranked = of.all[3];
  for (int64_t i = 0; i < descriptors::N; i++) cr_assert_eq(ranked.of(i), searched.of(i));
}

/* ---- constants ---- */

Test(elementwise, constants_take_no_kernel) {
  rig r(CVL_I64);
  const cvl_value two = r.repeat(2, 1000), three = r.repeat(3, 1000);
  const uint64_t before = r.c->work_queue.runs;
  const cvl_value five = r.apply(OP_ADD, two, three);
  cr_expect(r.c->work_queue.runs == before);
  cr_assert(five.form == CVL_VECTOR && five.as.vector->length == 1000);
  cr_expect(five.as.vector->kind == ALL_EQUAL && five.as.vector->first == 5);
  for (cvl_value v : {two, three, five}) r.drop(v);
}

Test(elementwise, division_of_constants_by_zero) {
  rig r(CVL_I32);
  const cvl_value x = r.repeat(7, 10), zero = r.repeat(0, 10);
  bool failed = false;
  try {
    r.apply(OP_DIV, x, zero);
  } catch (const failure &f) {
    failed = f.error.kind == CVL_E_DIVIDE_BY_ZERO && f.error.position == 0;
  }
  cr_expect(failed);
  const cvl_value none = r.repeat(7, 0), no_zero = r.repeat(0, 0);
  const cvl_value good = r.apply(OP_DIV, none, no_zero);
  cr_expect(good.as.vector->length == 0);
  for (cvl_value v : {x, zero, none, no_zero, good}) r.drop(v);
}

/* ---- operands that are computed ---- */

/* Makes a vector of the device. */
static cvl_value elementwise_vector_of(rig &r, const std::vector<int64_t> &x) {
  cvl_value v;
  cr_assert(r.table.from_host(r.c, 1, CVL_I64, x.size(), x.data(), &v));
  return v;
}
static std::vector<int64_t> elementwise_elements_of(rig &r, const cvl_value &v) {
  cvl_size n = r.table.length(r.c, &v);
  cr_assert(r.table.resolve(r.c, &n));
  std::vector<int64_t> x(n.bound);
  cr_assert(r.table.to_host(r.c, &v, 0, n.bound, x.data()));
  return x;
}

/* Segments of 3, 0, 1 and 2 elements with values 5, 6, 7, 8; and progressions from these by
 * tens. */
struct spread_rig : rig {
  cvl_value d, values, tens, spread, counted;

  explicit spread_rig(int64_t small) : rig(CVL_I64) {
    const int64_t lengths_of[] = {3, 0, 1, 2};
    c->small = small;
    segdes_from_host(*c, 1, 4, lengths_of, &d);
    values = elementwise_vector_of(*this, {5, 6, 7, 8});
    tens = elementwise_vector_of(*this, {10, 10, 10, 20});
    dist(*c, 1, values, d, &spread);
    index(*c, 1, values, tens, d, &counted);
  }
  ~spread_rig() {
    for (cvl_value v : {d, values, tens, spread, counted}) drop(v);
  }
};

Test(elementwise, computed_operands_on_either_side) {
  for (int64_t small : {0, 100}) {
    spread_rig r(small);
    const cvl_value x = elementwise_vector_of(r, {1, 2, 3, 4, 5, 6});
    cr_assert(r.spread.as.vector->kind == SPREAD && r.counted.as.vector->kind == PROGRESSION);
    const cvl_value sum = r.apply(OP_ADD, r.spread, x),
                    both = r.apply(OP_SUB, r.counted, r.spread),
                    rest = r.apply(OP_MOD, r.counted, x);
    cr_expect(elementwise_elements_of(r, sum) == (std::vector<int64_t>{6, 7, 8, 11, 13, 14}));
    cr_expect(elementwise_elements_of(r, both) == (std::vector<int64_t>{0, 10, 20, 0, 0, 20}));
    cr_expect(elementwise_elements_of(r, rest) == (std::vector<int64_t>{0, 1, 1, 3, 3, 4}));
    for (cvl_value v : {x, sum, both, rest}) r.drop(v);
  }
}

Test(elementwise, what_is_spread_stays_spread) {
  for (int64_t small : {0, 100}) {
    spread_rig r(small);
    const cvl_value three = r.repeat(3, 6);
    const cvl_value sum = r.apply(OP_ADD, r.spread, three),
                    square = r.apply(OP_MUL, sum, r.spread);
    cr_expect(square.as.vector->kind == SPREAD &&
              square.as.vector->under.get() == r.d.as.segdes);
    cr_expect(square.as.vector->data->length == 4);
    cr_expect(elementwise_elements_of(r, square) ==
              (std::vector<int64_t>{40, 40, 40, 70, 88, 88}));
    for (cvl_value v : {three, sum, square}) r.drop(v);
  }
}

Test(elementwise, progressions_add_up_to_one) {
  for (int64_t small : {0, 100}) {
    spread_rig r(small);
    const cvl_value three = r.repeat(3, 6);
    const cvl_value sum = r.apply(OP_ADD, r.counted, r.spread),
                    twice = r.apply(OP_ADD, sum, r.counted),
                    less = r.apply(OP_SUB, three, twice),
                    none = r.apply(OP_SUB, r.counted, r.counted);
    cr_expect(twice.as.vector->kind == PROGRESSION && less.as.vector->kind == PROGRESSION);
    cr_expect(elementwise_elements_of(r, less) ==
              (std::vector<int64_t>{-12, -32, -52, -18, -21, -61}));
    cr_expect(elementwise_elements_of(r, none) == std::vector<int64_t>(6, 0));
    for (cvl_value v : {three, sum, twice, less, none}) r.drop(v);
  }
}

/* A value of an empty segment is no element, so it is not at fault. */
Test(elementwise, faults_are_those_of_elements) {
  spread_rig r(100);
  const cvl_value divisors = elementwise_vector_of(r, {1, 0, 2, 0});
  cvl_value by, out;
  dist(*r.c, 1, divisors, r.d, &by);
  const cvl_value operands[] = {r.spread, by};
  cr_expect(
      !apply(&r.table, r.c, 4, CALL_ELEMENTWISE, OP_DIV, {operands[0], operands[1]}, &out));
  cvl_error e{};
  cr_expect(r.table.check(r.c, true, &e));
  cr_expect(e.kind == CVL_E_DIVIDE_BY_ZERO && e.site == 4 && e.position == 4);
  for (cvl_value v : {divisors, by}) r.drop(v);
}

/* ---- known sums ---- */

Test(elementwise, sums_and_differences_of_known_sums) {
  rig r(CVL_I32);
  const cvl_value a = r.some_lengths({3, 0, 4}), b = r.some_lengths({1, 1, 8});
  const cvl_value sum = r.apply(OP_ADD, a, b), difference = r.apply(OP_SUB, a, b);
  cr_expect(sum.as.vector->has_sum && sum.as.vector->sum == 17);
  cr_expect(difference.as.vector->has_sum && difference.as.vector->sum == -3);
  const cvl_value product = r.apply(OP_MUL, a, b);
  cr_expect(!product.as.vector->has_sum);
  for (cvl_value v : {a, b, sum, difference, product}) r.drop(v);
}

Test(elementwise, sums_that_may_wrap_are_not_known) {
  rig r(CVL_I32);
  const int64_t half = (int64_t)1 << 30;
  const cvl_value a = r.some_lengths({half, 0}), b = r.some_lengths({0, half - 1});
  const cvl_value good = r.apply(OP_ADD, a, b); /* bounds add up to the greatest INT */
  cr_expect(good.as.vector->has_sum && good.as.vector->sum == 2 * half - 1);
  const cvl_value bad = r.apply(OP_ADD, a, a);
  cr_expect(!bad.as.vector->has_sum);
  for (cvl_value v : {a, b, good, bad}) r.drop(v);
}

Test(elementwise, sums_of_known_sums_need_no_wait) {
  rig r(CVL_I64);
  const cvl_value a = r.some_lengths({3, 0, 4}), b = r.some_lengths({1, 1, 8});
  const cvl_value sum = r.apply(OP_ADD, a, b);
  const uint64_t before = r.c->work_queue.waits;
  cvl_value d;
  make_segdes(*r.c, 1, sum, &d);
  const cvl_size size = r.table.length(r.c, &d);
  cr_expect(size.symbol == 0 && size.bound == 17);
  cr_expect(r.c->work_queue.waits == before);
  for (cvl_value v : {a, b, sum, d}) r.drop(v);
}

/* ---- indices beyond 32 bits ---- */

enum : int64_t { FAR = (int64_t)1 << 31 };

/* Returns a pointer whose element `at` is *p. It is used for no other element. */
template <class T> static ptr<T> elementwise_only(T *p, int64_t at) {
  return pointer_to<T>((void *)((uintptr_t)p - (uintptr_t)at * sizeof(T)));
}

/* Returns three segments of 2^31 elements, all 5. */
static segments three_far() {
  segments d{};
  d.count = 3;
  d.equal = FAR;
  d.total = 3 * FAR;
  return d;
}

Test(rank, keys_and_ranks_beyond_32_bits) {
  const int64_t i = 2 * FAR + 7;
  uint64_t stored_key = 0, stored_position = 0;
  operand<int32_t> x{};
  x.kind = ALL_EQUAL;
  x.first = 5;
  const keys_body<int32_t, uint64_t, uint64_t> keys{
      x,    {three_far(), nullptr},           false,
      true, elementwise_only(&stored_key, i), elementwise_only(&stored_position, i)};
  keys(i);
  cr_expect(stored_position == (uint64_t)i);
  cr_expect(stored_key == ((uint64_t)2 << 32 | 0x80000005u));

  uint64_t position = (uint64_t)FAR + 1;
  int64_t rank_there = -1;
  const ranks_body<uint64_t, int64_t> ranks{{three_far(), nullptr},
                                            elementwise_only<const uint64_t>(&position, i),
                                            elementwise_only(&rank_there, FAR + 1)};
  ranks(i);
  cr_expect(rank_there == 7);
}

Test(rank, segments_whose_ranks_do_not_fit) {
  int64_t offsets[] = {0, FAR - 1, FAR - 1, 2 * FAR - 1, 2 * FAR};
  segments d{};
  d.count = 4;
  d.total = 2 * FAR;
  d.equal = -1;
  d.offsets = pointer_to<const int64_t>(offsets);
  fault_slot slot{};
  const fits_body body{d, INT32_MAX, {&slot, 9}};
  for (int64_t s = 3; s >= 0; s--) body(s);
  cr_expect(slot.kind == CVL_E_INT_RANGE && slot.site == 9);
  cr_expect(slot.position == 2 && slot.value == FAR);
}

Test(rank, keys_order_zeros_and_nan) {
  for (bool down : {false, true}) {
    cr_expect(key(0.0, down) == key(-0.0, down));
    cr_expect(key(1.0f, down) < key(2.0f, down) || down);
    cr_expect(key(INFINITY, down) < key((float)NAN, down));
    cr_expect(key(-INFINITY, down) < key((float)NAN, down));
    cr_expect(key(-(double)NAN, down) == key((double)NAN, down));
  }
}
