/* test-combine.c - reductions, scans and ranks of vectors long enough to be split over threads,
 * against a literal version of the tree in trees.h. The conformance suite has the small shapes.
 * Here segments cross chunks, long ones are beside short ones, and threads take turns.
 */
#include "base/tests/every.h"
#include "cvl-cpu/cvl-cpu.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* There are more than 1024 blocks of 1024, so that block totals take two rounds. */
enum { N = 1100003, SEGMENTS_MOST = 2 * N };

/* ---- the tree, word for word ---- */

static double test_combine_reduce(const double *x, uint64_t n) {
  if (n == 0) return 0.0;
  double *y = malloc((n / 1024 + 1) * sizeof *y);
  while (n > 1) {
    const uint64_t blocks = (n + 1023) / 1024;
    for (uint64_t k = 0; k < blocks; k++) {
      const uint64_t b = k * 1024, m = n - b < 1024 ? n - b : 1024;
      double lane[32];
      for (uint64_t j = 0; j < 32; j++) lane[j] = j < m ? x[b + j] : -0.0;
      for (uint64_t i = 32; i < m; i++) lane[i % 32] += x[b + i];
      for (int w = 16; w >= 1; w /= 2) {
        for (int j = 0; j < w; j++) lane[j] += lane[j + w];
      }
      y[k] = lane[0];
    }
    x = y;
    n = blocks;
  }
  const double result = x[0];
  free(y);
  return result;
}

static void combine_prefix(const double *x, uint64_t n, uint64_t w, double *e) {
  const uint64_t windows = (n + w - 1) / w;
  double *total = malloc(windows * sizeof *total), *before = malloc(windows * sizeof *before);
  double *inside = malloc(windows * w * sizeof *inside);
  for (uint64_t k = 0; k < windows; k++) {
    double *a = inside + k * w, was[32];
    for (uint64_t j = 0; j < w; j++) a[j] = k * w + j < n ? x[k * w + j] : -0.0;
    for (uint64_t s = 1; s < w; s *= 2) {
      memcpy(was, a, w * sizeof *a);
      for (uint64_t j = s; j < w; j++) a[j] = was[j - s] + was[j];
    }
    total[k] = a[w - 1];
  }
  before[0] = -0.0;
  if (windows > 1) combine_prefix(total, windows, 32, before);
  for (uint64_t i = 0; i < n; i++) {
    e[i] = i % w == 0 ? before[i / w] : before[i / w] + inside[i - 1];
  }
  free(total);
  free(before);
  free(inside);
}

static void test_combine_scan(const double *x, uint64_t n, double *e) {
  if (n == 0) return;
  combine_prefix(x, n, 8, e);
  e[0] = 0.0;
}

/* ---- shapes ---- */

static uint64_t random_state;
static uint64_t combine_random_below(uint64_t n) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (random_state >> 33) % n;
}

static uint64_t length_all_of(uint64_t k) {
  (void)k;
  return N;
}
static uint64_t length_one(uint64_t k) {
  (void)k;
  return 1;
}
static uint64_t length_four(uint64_t k) {
  (void)k;
  return 4;
}
static uint64_t length_hundred(uint64_t k) {
  (void)k;
  return 100;
}
static uint64_t length_none_or_two(uint64_t k) {
  return k % 2 * 2;
}
static uint64_t length_half_empty(uint64_t k) {
  (void)k;
  return combine_random_below(2) * combine_random_below(9);
}
static uint64_t length_power_law(uint64_t k) {
  (void)k;
  return 2000 / (1 + combine_random_below(2000)) * (1 + combine_random_below(3));
}
static uint64_t length_long_segments(uint64_t k) {
  static const uint64_t lengths[] = {0, 5, 70001, 32768, 0, 32769, 1, 16385, 65537, 3, 16384};
  return k < sizeof lengths / sizeof lengths[0] ? lengths[k] : 9;
}
static uint64_t (*const shapes[])(uint64_t) = {
    length_all_of,      length_one,        length_four,      length_hundred,
    length_none_or_two, length_half_empty, length_power_law, length_long_segments};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
static const unsigned thread_counts[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

struct data {
  double *x;
  int64_t *lengths;
  uint64_t count;
};

static struct data combine_make_data(unsigned shape) {
  struct data d = {malloc(N * sizeof *d.x), malloc(SEGMENTS_MOST * sizeof *d.lengths), 0};
  random_state = shape;
  for (uint64_t i = 0; i < N; i++) {
    /* Magnitudes are far apart, so that every order of addition shows. There are ties and NaN
     * for ranks. */
    d.x[i] =
        ldexp((double)combine_random_below(1 << 30) - (1 << 29), (int)combine_random_below(60));
    if (combine_random_below(5) == 0) d.x[i] = (double)combine_random_below(3) * -0.5;
  }
  for (uint64_t total = 0; total < N && d.count < SEGMENTS_MOST; d.count++) {
    uint64_t n = shapes[shape](d.count);
    if (n > N - total) n = N - total;
    d.lengths[d.count] = (int64_t)n;
    total += n;
  }
  return d;
}

/* Whether one segment's ranks order x stably, ascending or descending. */
static bool ranks_are_right(const double *x, const int64_t *rank, uint64_t n, bool down) {
  uint64_t *at = malloc((n + 1) * sizeof *at);
  bool good = true;
  for (uint64_t i = 0; i < n; i++) at[i] = n;
  for (uint64_t i = 0; good && i < n; i++) {
    good = rank[i] >= 0 && (uint64_t)rank[i] < n && at[rank[i]] == n;
    if (good) at[rank[i]] = i;
  }
  for (uint64_t r = 1; good && r < n; r++) {
    const double a = x[at[r - 1]], b = x[at[r]];
    const bool same = a == b || (isnan(a) && isnan(b));
    const bool less = !isnan(a) && (isnan(b) || (down ? a > b : a < b));
    good = same ? at[r - 1] < at[r] : less;
  }
  free(at);
  return good;
}

/* The data of a shape, and the results that every number of threads must give. */
struct wanted {
  struct data d;
  double *with_nan; /* the elements to be ranked */
  double *sums, *scanned;
  int64_t *ranks[2]; /* NULL: not known yet; ascending and descending */
};

static struct wanted make_wanted(unsigned shape) {
  struct wanted w = {.d = combine_make_data(shape),
                     .with_nan = malloc(N * sizeof *w.with_nan),
                     .sums = malloc(SEGMENTS_MOST * sizeof *w.sums),
                     .scanned = malloc(N * sizeof *w.scanned)};
  uint64_t p = 0;
  for (uint64_t k = 0; k < w.d.count; p += (uint64_t)w.d.lengths[k++]) {
    w.sums[k] = test_combine_reduce(w.d.x + p, (uint64_t)w.d.lengths[k]);
    test_combine_scan(w.d.x + p, (uint64_t)w.d.lengths[k], w.scanned + p);
  }
  for (uint64_t i = 0; i < N; i++) w.with_nan[i] = i % 11 == 0 ? NAN : w.d.x[i];
  return w;
}

static void combine_free_wanted(struct wanted *w) {
  free(w->d.x);
  free(w->d.lengths);
  free(w->with_nan);
  free(w->sums);
  free(w->scanned);
  free(w->ranks[0]);
  free(w->ranks[1]);
}

static void combine_same_bits(const double *got, const double *wanted, uint64_t n,
                              const char *what) {
  for (uint64_t i = 0; i < n; i++) {
    cr_assert(memcmp(&got[i], &wanted[i], sizeof *got) == 0, "%s at %zu", what, (size_t)i);
  }
}

/* Ranks are checked once; with other numbers of threads they must be the same. Takes over
 * `got`. */
static void check_ranks(struct wanted *w, int64_t *got, bool down) {
  if (w->ranks[down]) {
    cr_assert(memcmp(got, w->ranks[down], N * sizeof *got) == 0, "ranks differ");
    free(got);
    return;
  }
  uint64_t p = 0;
  for (uint64_t k = 0; k < w->d.count; p += (uint64_t)w->d.lengths[k++]) {
    cr_assert(ranks_are_right(w->with_nan + p, got + p, (uint64_t)w->d.lengths[k], down),
              "ranks of segment %zu", (size_t)k);
  }
  w->ranks[down] = got;
}

static struct cvl_context *with_threads(unsigned threads) {
  const struct cvl_options options = {
      .int_elem = CVL_I64, .float_elem = CVL_F64, .threads = threads, .device = -1};
  const char *why = NULL;
  struct cvl_context *c = cvl_cpu_backend.open(&options, &why);
  cr_assert(c, "%s", why);
  return c;
}

static void combine_check(struct wanted *w, unsigned threads) {
  const struct cvl_backend *b = &cvl_cpu_backend;
  struct cvl_context *c = with_threads(threads);
  double *got = malloc(SEGMENTS_MOST * sizeof *got);
  struct cvl_value x, y, s, out;
  cr_assert(b->from_host(c, 1, CVL_F64, N, w->d.x, &x));
  cr_assert(b->segdes_from_host(c, 2, w->d.count, w->d.lengths, &s));

  cr_assert(b->apply(c, 3, &CVL_CALL(CALL_REDUCE, OP_ADD, x, s), &out));
  cr_assert(b->to_host(c, &out, 0, w->d.count, got));
  b->release(c, &out);
  combine_same_bits(got, w->sums, w->d.count, "reduction");

  cr_assert(b->apply(c, 4, &CVL_CALL(CALL_SCAN, OP_ADD, x, s), &out));
  cr_assert(b->to_host(c, &out, 0, N, got));
  b->release(c, &out);
  combine_same_bits(got, w->scanned, N, "scan");

  cr_assert(b->from_host(c, 1, CVL_F64, N, w->with_nan, &y));
  for (int down = 0; down < 2; down++) {
    int64_t *ranks = malloc(N * sizeof *ranks);
    cr_assert(
        b->apply(c, 5, &CVL_CALL(CALL_RANK, down ? OP_RANK_DOWN : OP_RANK_UP, y, s), &out));
    cr_assert(b->to_host(c, &out, 0, N, ranks));
    b->release(c, &out);
    check_ranks(w, ranks, down);
  }
  b->release(c, &y);

  /* The result may take over the operand, whose reference is passed. */
  x.owned = 1;
  cr_assert(b->apply(c, 6, &CVL_CALL(CALL_SCAN, OP_ADD, x, s), &out));
  cr_assert(b->to_host(c, &out, 0, N, got));
  combine_same_bits(got, w->scanned, N, "scan over its operand");
  b->release(c, &out);
  b->release(c, &s);
  b->close(c);
  free(got);
}

Test(combine, every_shape_and_number_of_threads_gives_the_tree) {
  for (unsigned shape = 0; shape < SHAPES; shape += every()) {
    struct wanted w = make_wanted(shape);
    for (size_t t = 0; t < THREAD_COUNTS; t++) combine_check(&w, thread_counts[t]);
    combine_free_wanted(&w);
  }
}

/* ---- sorting ---- */

/* Sorting must give bit for bit what permuting by ranks gives. */
static void check_sort(struct cvl_context *c, enum cvl_elem elem, uint64_t n, const void *x,
                       uint64_t count, const int64_t *lengths, const char *what) {
  const struct cvl_backend *b = &cvl_cpu_backend;
  const size_t bytes = (size_t)n * (elem == CVL_I32 || elem == CVL_F32 ? 4 : 8);
  char *expected = malloc(bytes), *got = malloc(bytes);
  struct cvl_value v, s, ranks, out;
  cr_assert(b->from_host(c, 1, elem, n, x, &v));
  cr_assert(b->segdes_from_host(c, 2, count, lengths, &s));
  for (int down = 0; down < 2; down++) {
    cr_assert(
        b->apply(c, 3, &CVL_CALL(CALL_RANK, down ? OP_RANK_DOWN : OP_RANK_UP, v, s), &ranks));
    cr_assert(
        b->apply(c, 4, &CVL_CALL(CALL_PERMUTE, OP_PERMUTE, v, ranks, {0}, {0}, s, s), &out));
    cr_assert(b->to_host(c, &out, 0, n, expected));
    b->release(c, &out);
    b->release(c, &ranks);
    cr_assert(
        b->apply(c, 5, &CVL_CALL(CALL_SORT, down ? OP_SORT_DOWN : OP_SORT_UP, v, s), &out));
    cr_assert(b->to_host(c, &out, 0, n, got));
    b->release(c, &out);
    cr_expect(memcmp(got, expected, bytes) == 0, "%s, %s", what, down ? "down" : "up");
  }
  b->release(c, &v);
  b->release(c, &s);
  free(expected);
  free(got);
}

/* Has zeros of both signs, and NaNs with different payloads, in every shape. */
static void check_sort_shape(unsigned shape) {
  struct data d = combine_make_data(shape);
  for (uint64_t i = 0; i < N; i += 7) {
    const uint64_t nan =
        UINT64_C(0x7ff8) << 48 | combine_random_below(1000) | combine_random_below(2) << 63;
    memcpy(&d.x[i], &nan, sizeof nan);
    d.x[i / 7] = combine_random_below(2) ? 0.0 : -0.0;
  }
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    struct cvl_context *c = with_threads(thread_counts[t]);
    check_sort(c, CVL_F64, N, d.x, d.count, d.lengths, "FLOAT");
    check_sort(c, CVL_I64, N, d.x, d.count, d.lengths, "INT");
    cvl_cpu_backend.close(c);
  }
  free(d.x);
  free(d.lengths);
}

/* Has long segments with keys of few bits, of many, and with most keys in one bucket, on
 * several levels. */
static void check_sort_long_segments(struct cvl_context *c) {
  enum { LONG_SEGMENT = 700001 };
  static const char *const what[] = {"all equal", "bytes",   "16 bits",
                                     "all bits",  "crowded", "two crowds"};
  int64_t *x = malloc(LONG_SEGMENT * sizeof *x);
  const int64_t length = LONG_SEGMENT;
  for (unsigned kind = 0; kind < sizeof what / sizeof what[0]; kind++) {
    random_state = kind;
    for (uint64_t i = 0; i < LONG_SEGMENT; i++) {
      const uint64_t r = combine_random_below(UINT64_C(1) << 31),
                     s = combine_random_below(UINT64_C(1) << 31);
      const uint64_t keys[] = {5,
                               r & 255,
                               r & 65535,
                               r << 33 ^ s << 3,
                               i % 100000 == 77 ? s << 32 : r,
                               i % 2 ? (r & 4095) : UINT64_C(1) << 60 | r};
      x[i] = (int64_t)keys[kind];
    }
    check_sort(c, CVL_I64, LONG_SEGMENT, x, 1, &length, what[kind]);
  }
  free(x);
}

Test(combine, sorting_is_permuting_by_ranks) {
  for (unsigned shape = 0; shape < SHAPES; shape += every()) check_sort_shape(shape);
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    struct cvl_context *c = with_threads(thread_counts[t]);
    check_sort_long_segments(c);
    cvl_cpu_backend.close(c);
  }
}

/* ---- the greatest and the least, where comparison alone does not decide ---- */

static void check_extreme(struct cvl_context *c, enum cvl_elem elem, enum cvl_op op,
                          double others, double one, double expected) {
  enum { LENGTH = 3 * 1024 + 7 };
  static const uint64_t positions[] = {0, 31, 32, 1023, 1024, 2000, 3071, 3072, LENGTH - 1};
  const struct cvl_backend *b = &cvl_cpu_backend;
  for (size_t k = 0; k < sizeof positions / sizeof positions[0]; k++) {
    double wide[LENGTH];
    float narrow[LENGTH];
    for (uint64_t i = 0; i < LENGTH; i++) wide[i] = i == positions[k] ? one : others;
    for (uint64_t i = 0; i < LENGTH; i++) narrow[i] = (float)wide[i];
    const void *const data = elem == CVL_F64 ? (const void *)wide : narrow;
    const struct cvl_value d = cvl_one_segment(LENGTH);
    struct cvl_value x, out, first;
    cr_assert(b->from_host(c, 1, elem, LENGTH, data, &x));
    cr_assert(b->apply(c, 2, &CVL_CALL(CALL_REDUCE, op, x, d), &out));
    cr_assert(b->scalar(c, &out, &first));
    const double got = cvl_float_of(&first);
    cr_assert(isnan(expected) ? isnan(got)
                              : got == expected && !signbit(got) == !signbit(expected),
              "%g among %g at %zu gives %g", one, others, (size_t)positions[k], got);
    b->release(c, &out);
    b->release(c, &x);
  }
}

Test(combine, greatest_and_least_with_nan_and_zeros) {
  for (int wide = 0; wide < 2; wide++) {
    const enum cvl_elem elem = wide ? CVL_F64 : CVL_F32;
    const struct cvl_options options = {
        .int_elem = CVL_I64, .float_elem = elem, .threads = 1, .device = -1};
    const char *why = NULL;
    struct cvl_context *c = cvl_cpu_backend.open(&options, &why);
    cr_assert(c, "%s", why);
    check_extreme(c, elem, OP_MAX, 1.0, NAN, NAN);
    check_extreme(c, elem, OP_MIN, 1.0, NAN, NAN);
    check_extreme(c, elem, OP_MAX, NAN, 1.0, NAN);
    check_extreme(c, elem, OP_MAX, -0.0, 0.0, 0.0);
    check_extreme(c, elem, OP_MIN, 0.0, -0.0, -0.0);
    check_extreme(c, elem, OP_MAX, -1.0, -0.0, -0.0);
    check_extreme(c, elem, OP_MIN, 1.0, 0.0, 0.0);
    check_extreme(c, elem, OP_MAX, 1.0, 2.0, 2.0);
    check_extreme(c, elem, OP_MIN, -INFINITY, 2.0, -INFINITY);
    cvl_cpu_backend.close(c);
  }
}

/* ---- long segments that begin where a thread's chunk ends ---- */

/* Reduces short segments and a long one behind them, whose least element is its last. */
static void check_long_segment(struct cvl_context *c, const struct cvl_value *x, uint64_t n,
                               uint64_t before, int64_t *lengths) {
  const struct cvl_backend *b = &cvl_cpu_backend;
  struct cvl_value d, out;
  for (uint64_t k = 0; k < before; k++) lengths[k] = 1;
  lengths[before] = (int64_t)(n - before);
  cr_assert(b->segdes_from_host(c, 1, before + 1, lengths, &d));
  cr_assert(b->apply(c, 2, &CVL_CALL(CALL_REDUCE, OP_MIN, *x, d), &out));
  int64_t least = 0;
  cr_assert(b->to_host(c, &out, before, 1, &least));
  cr_assert_eq(least, -(int64_t)n, "after %zu segments of one element: %lld", (size_t)before,
               (long long)least);
  b->release(c, &d);
  b->release(c, &out);
}

/* Wherever chunks end, one ends just before some of these segments. The blocks of an exact
 * operation have one total, so a thread that took more than its chunk would overwrite it. */
Test(combine, long_segments_belong_to_the_chunks_they_begin_in) {
  enum { STEP = 1500, CASES = 120, ROUNDS = 4, LENGTH = 400003 };
  const struct cvl_backend *b = &cvl_cpu_backend;
  const struct cvl_options options = {
      .int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 4, .device = -1};
  const char *why = NULL;
  struct cvl_context *c = b->open(&options, &why);
  cr_assert(c, "%s", why);
  int64_t *data = malloc(LENGTH * sizeof *data), *lengths = malloc(LENGTH * sizeof *lengths);
  for (int64_t i = 0; i < LENGTH; i++) data[i] = -1 - i;
  struct cvl_value x;
  cr_assert(b->from_host(c, 1, CVL_I64, LENGTH, data, &x));
  for (uint64_t round = 0; round < ROUNDS; round++) {
    for (uint64_t k = 0; k < CASES; k++)
      check_long_segment(c, &x, LENGTH, (k + 1) * STEP, lengths);
  }
  b->release(c, &x);
  b->close(c);
  free(data);
  free(lengths);
}
