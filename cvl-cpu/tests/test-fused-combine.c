/* test-fused-combine.c - combinations of vectors long enough to be split over threads, against
 * the recursion of trees.h. Segments cross chunks, long ones are beside short ones, threads
 * take turns, and scatters go all their ways. The function is neither commutative nor
 * associative. The conformance suite has the small shapes.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/tests/every.h"
#include "cvl-cpu/tests/prepared.h"
#include "cvl/tiles.h"
#include "cvl/trees.h"

TestSuite(fused_combine, .init = memory_begin, .fini = memory_end);

enum { N = 260000 };

struct item {
  uint64_t a, b;
};

static struct item test_combine(struct item l, struct item r) {
  return (struct item){l.a * r.a + r.b, l.b - (r.b + l.a)};
}

/* ---- the definition ---- */

/* The totals of the subtrees of all appended elements, the largest first. */
struct prefix {
  struct item total[64];
  unsigned level[64], depth;
};

static void fused_combine_append(struct prefix *p, struct item x) {
  unsigned level = 0;
  while (p->depth > 0 && p->level[p->depth - 1] == level) {
    x = test_combine(p->total[--p->depth], x);
    level++;
  }
  p->total[p->depth] = x;
  p->level[p->depth++] = level;
}

static struct item fused_combine_combined(const struct prefix *p) {
  struct item x = p->total[0];
  for (unsigned i = 1; i < p->depth; i++) x = test_combine(x, p->total[i]);
  return x;
}

/* ---- the superoperator: columns a + b and b ---- */

enum { P_A, P_B, P_SEGMENTS, P_IDENTITY, P_INDEX, P_DEFAULTS, P_FAR, P_ALL, PARAMS };
enum { SUM = PARAMS, LEFT, RIGHT, LEFT_B, RIGHT_B, PRODUCT, A, B, RESULT = B + 2, RESULT_B };

static const uint8_t kinds[PARAMS] = {SUPEROP_INT, SUPEROP_INT, SUPEROP_SEGDES, SUPEROP_INT,
                                      SUPEROP_INT, SUPEROP_INT, SUPEROP_SEGDES, SUPEROP_SEGDES};
static const uint32_t outputs[] = {RESULT, RESULT_B};

static struct superop_node binary(enum opcode op, uint32_t x, uint32_t y) {
  return (struct superop_node){
      .op = (uint16_t)op, .type = TW_INT, .operand_count = 2, .operands = {x, y}};
}

static struct superop_node fused_combine_column(uint32_t x) {
  return (struct superop_node){
      .op = SUPEROP_COLUMN, .type = TW_INT, .operand_count = 1, .operands = {x}};
}

static struct superop_node fused_combine_consumer(uint32_t op, uint32_t left, uint32_t value) {
  struct superop_node node = {.op = (uint16_t)op,
                              .type = TW_INT,
                              .operand_count = 4,
                              .operands = {left, value, P_IDENTITY, P_SEGMENTS}};
  if (op == SUPEROP_COMBINE_SCAN_INCLUSIVE) {
    node.operand_count = 3;
    node.operands[2] = P_SEGMENTS;
  } else if (op == SUPEROP_COMBINE_SCATTER) {
    node.operand_count = 6;
    node.checked = true;
    node.operands[2] = P_INDEX;
    node.operands[3] = P_DEFAULTS;
    node.operands[4] = P_ALL;
    node.operands[5] = P_FAR;
  }
  return node;
}

enum { NODES = 9 };

/* Makes the superoperator of the function above, or of a sum and a maximum. */
static struct superop make_superop(uint32_t consumers, bool exact, struct superop_node *nodes) {
  const struct superop_node first[] = {
      binary(OPC_ADD, P_A, P_B),
      fused_combine_column(SUM),
      fused_combine_column(P_B),
      binary(exact ? OPC_ADD : OPC_MUL, LEFT, RIGHT),
      binary(OPC_ADD, exact ? LEFT : PRODUCT, exact ? RIGHT : RIGHT_B),
      binary(OPC_ADD, RIGHT_B, LEFT)};
  memcpy(nodes, first, sizeof first);
  nodes[6] = binary(OPC_SUB, LEFT_B, B);
  if (exact) {
    nodes[5] = binary(OPC_LT, LEFT_B, RIGHT_B);
    nodes[6] = (struct superop_node){
        .op = OPC_SELECT, .type = TW_INT, .operand_count = 3, .operands = {B, RIGHT_B, LEFT_B}};
  }
  nodes[7] = fused_combine_consumer(consumers, LEFT, A);
  nodes[8] = fused_combine_consumer(consumers, LEFT_B, B + 1);
  return (struct superop){.param_count = PARAMS,
                          .params = kinds,
                          .node_count = NODES,
                          .nodes = nodes,
                          .output_count = 2,
                          .outputs = outputs};
}

/* ---- data ---- */

static uint64_t state = 1;
static uint64_t fused_combine_next(void) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return state >> 33;
}

/* The lengths of segments, which have N elements in all. */
enum shape { ONE, LONG_AND_SHORT, SHORT, MIXED, SHAPES, EQUAL };
static uint64_t equal = 1; /* the length of all EQUAL segments, except perhaps the last */

static uint64_t fused_combine_cut(enum shape shape, int64_t *lengths) {
  uint64_t count = 0, left = N;
  while (left > 0) {
    uint64_t n = shape == ONE     ? N
                 : shape == SHORT ? fused_combine_next() % 6
                                  : fused_combine_next() % 30000;
    if (shape == LONG_AND_SHORT) n = count % 5 == 0 ? 70001 : fused_combine_next() % 3;
    if (shape == MIXED && fused_combine_next() % 2) n = fused_combine_next() % 40;
    if (shape == EQUAL) n = equal;
    if (n > left) n = left;
    lengths[count++] = (int64_t)n;
    left -= n;
  }
  return count;
}

static int64_t a[N], b[N], lengths[N + 1], index_of[N], results[2][N];

static void fused_combine_make_data(void) {
  for (uint64_t i = 0; i < N; i++) {
    a[i] = (int64_t)fused_combine_next();
    b[i] = (int64_t)fused_combine_next();
  }
}

static struct item item_at(uint64_t i) {
  return (struct item){(uint64_t)a[i] + (uint64_t)b[i], (uint64_t)b[i]};
}

static struct cvl_value fused_combine_ints(struct cvl_context *c, const int64_t *from,
                                           uint64_t n) {
  struct cvl_value v;
  cr_assert(cvl_cpu_backend.from_host(c, 1, CVL_I64, n, from, &v));
  return v;
}

/* Runs it on the data, copies the results to the host and drops everything else. */
static void fused_combine_run(struct cvl_context *c, struct superop *op, struct cvl_value *p,
                              uint64_t length) {
  const struct cvl_backend *cpu = &cvl_cpu_backend;
  struct cvl_value outs[2];
  struct cvl_kernel *k = prepared(c, op);
  cr_assert(cpu->superops->run(c, 10, k, p, outs));
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(cpu->length(c, &outs[i]).bound, length);
    cr_assert(cpu->to_host(c, &outs[i], 0, length, results[i]));
    cpu->release(c, &outs[i]);
  }
  cpu->superops->discard(c, k);
  for (int i = 0; i < PARAMS; i++) cpu->release(c, &p[i]);
}

static bool fused_combine_same(uint64_t i, struct item x) {
  return (uint64_t)results[0][i] == x.a && (uint64_t)results[1][i] == x.b;
}

/* The directory for compiled functions; NULL: nothing is compiled. */
static const char *directory;

static struct cvl_context *fused_combine_opened(unsigned threads) {
  const struct cvl_options options = {.int_elem = CVL_I64,
                                      .float_elem = CVL_F64,
                                      .threads = threads,
                                      .device = -1,
                                      .compile = directory ? CVL_COMPILE_ALL : CVL_COMPILE_NONE,
                                      .compile_waits = true,
                                      .compile_directory = directory};
  const char *why;
  struct cvl_context *c = cvl_cpu_backend.open(&options, &why);
  cr_assert_not_null(c);
  return c;
}

/* ---- reductions and scans ---- */

static void expect_reductions(uint64_t count) {
  for (uint64_t k = 0, p = 0; k < count; p += (uint64_t)lengths[k], k++) {
    struct prefix all = {.depth = 0};
    for (uint64_t i = 0; i < (uint64_t)lengths[k]; i++)
      fused_combine_append(&all, item_at(p + i));
    const struct item identity = {7 + k, 7 + k};
    cr_assert(fused_combine_same(k, all.depth ? fused_combine_combined(&all) : identity),
              "segment %ju", k);
  }
}

static void expect_scans(uint64_t count, bool inclusive) {
  for (uint64_t k = 0, p = 0; k < count; p += (uint64_t)lengths[k], k++) {
    struct prefix all = {.depth = 0};
    for (uint64_t i = 0; i < (uint64_t)lengths[k]; i++) {
      struct item x = {7 + k, 7 + k};
      if (inclusive) fused_combine_append(&all, item_at(p + i));
      if (all.depth) x = fused_combine_combined(&all);
      cr_assert(fused_combine_same(p + i, x), "segment %ju, %ju", k, i);
      if (!inclusive) fused_combine_append(&all, item_at(p + i));
    }
  }
}

static void fused_combine_check_segments(uint32_t consumers, enum shape shape,
                                         unsigned threads) {
  struct cvl_context *c = fused_combine_opened(threads);
  struct superop_node nodes[NODES];
  struct superop op = make_superop(consumers, false, nodes);
  const uint64_t count = fused_combine_cut(shape, lengths);
  for (uint64_t k = 0; k < count; k++) index_of[k] = (int64_t)(7 + k);
  struct cvl_value p[PARAMS] = {[P_A] = fused_combine_ints(c, a, N),
                                [P_B] = fused_combine_ints(c, b, N),
                                [P_IDENTITY] = fused_combine_ints(c, index_of, count),
                                [P_INDEX] = fused_combine_ints(c, a, N),
                                [P_DEFAULTS] = fused_combine_ints(c, a, N),
                                [P_FAR] = cvl_one_segment(N),
                                [P_ALL] = cvl_one_segment(N)};
  cr_assert(cvl_cpu_backend.segdes_from_host(c, 1, count, lengths, &p[P_SEGMENTS]));
  const bool reduces = consumers == SUPEROP_COMBINE_REDUCE;
  fused_combine_run(c, &op, p, reduces ? count : N);
  if (reduces) expect_reductions(count);
  if (!reduces) expect_scans(count, consumers == SUPEROP_COMBINE_SCAN_INCLUSIVE);
  cvl_cpu_backend.close(c);
}

static void check_shapes(uint32_t consumers) {
  fused_combine_make_data();
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (int shape = 0; shape < SHAPES; shape++) {
      fused_combine_check_segments(consumers, (enum shape)shape, threads);
    }
  }
}

Test(fused_combine, reductions) {
  check_shapes(SUPEROP_COMBINE_REDUCE);
}

Test(fused_combine, scans) {
  check_shapes(SUPEROP_COMBINE_SCAN);
}

Test(fused_combine, inclusive_scans) {
  check_shapes(SUPEROP_COMBINE_SCAN_INCLUSIVE);
}

/* ---- a scan that goes on ---- */

/* Runs it on elements first .. end of one segment, given what precedes each tile. */
static void fused_combine_go_on(struct cvl_context *c, struct superop *op, uint64_t first,
                                uint64_t end, int64_t *const before[2]) {
  const struct cvl_backend *cpu = &cvl_cpu_backend;
  const uint64_t n = end - first, tiles = n / CVL_REDUCE_BLOCK + 1;
  struct cvl_value p[PARAMS] = {[P_A] = fused_combine_ints(c, a + first, n),
                                [P_B] = fused_combine_ints(c, b + first, n),
                                [P_SEGMENTS] = cvl_one_segment(n),
                                [P_IDENTITY] = fused_combine_ints(c, a, 1),
                                [P_INDEX] = fused_combine_ints(c, a, n),
                                [P_DEFAULTS] = fused_combine_ints(c, a, n),
                                [P_FAR] = cvl_one_segment(n),
                                [P_ALL] = cvl_one_segment(n)};
  const struct cvl_value tops[] = {fused_combine_ints(c, before[0], tiles),
                                   fused_combine_ints(c, before[1], tiles)};
  struct cvl_value outs[2];
  struct cvl_kernel *k = prepared(c, op);
  cr_assert(cpu->tiles->run_tiles(c, 10, k, p, tops, outs));
  for (int i = 0; i < 2; i++) {
    cr_assert(cpu->to_host(c, &outs[i], 0, n, results[i]));
    cpu->release(c, &outs[i]);
    cpu->release(c, &tops[i]);
  }
  cpu->superops->discard(c, k);
  for (int i = 0; i < PARAMS; i++) cpu->release(c, &p[i]);
}

/* Compares with the scan of all elements before `end`, from element `first` on. */
static void check_tiles(bool inclusive, uint64_t first, uint64_t end, unsigned threads) {
  struct cvl_context *c = fused_combine_opened(threads);
  struct superop_node nodes[NODES];
  struct superop op = make_superop(
      inclusive ? SUPEROP_COMBINE_SCAN_INCLUSIVE : SUPEROP_COMBINE_SCAN, false, nodes);
  struct prefix all = {.depth = 0};
  static int64_t tops[2][N / CVL_REDUCE_BLOCK + 2];
  uint64_t tiles = 0;
  for (uint64_t i = 0; i <= end; i++) {
    if (i >= first && i % CVL_REDUCE_BLOCK == 0) {
      const struct item x = fused_combine_combined(&all);
      tops[0][tiles] = (int64_t)x.a;
      tops[1][tiles++] = (int64_t)x.b;
    }
    if (i < end) fused_combine_append(&all, item_at(i));
  }
  fused_combine_go_on(c, &op, first, end, (int64_t *const[]){tops[0], tops[1]});
  all.depth = 0;
  for (uint64_t i = 0; i < end; i++) {
    if (inclusive) fused_combine_append(&all, item_at(i));
    if (i >= first)
      cr_assert(fused_combine_same(i - first, fused_combine_combined(&all)), "%ju from %ju", i,
                first);
    if (!inclusive) fused_combine_append(&all, item_at(i));
  }
  cvl_cpu_backend.close(c);
}

static void check_tiles_of(unsigned threads) {
  enum { TILE = CVL_REDUCE_BLOCK };
  static const uint64_t firsts[] = {TILE, 2 * TILE, 7 * TILE, 100 * TILE};
  static const uint64_t sizes[] = {0, 1, TILE - 1, TILE, TILE + 1, 9 * TILE + 5, 40 * TILE};
  fused_combine_make_data();
  for (int i = 0; i < 2; i++) {
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
      for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        check_tiles(i, firsts[f], firsts[f] + sizes[k], threads);
      check_tiles(i, firsts[f], N, threads);
    }
  }
}

Test(fused_combine, scans_that_go_on) {
  check_tiles_of(1);
  check_tiles_of(3);
}

/* Compiled functions: segments of the same length go through the tree together, and short ones
 * have no levels. */
Test(fused_combine, compiled) {
  static const uint64_t equals[] = {1,  2,  3,  4,  5,  6,  7,   8,   9,
                                    16, 24, 31, 32, 64, 72, 128, 512, 1000};
  static const uint32_t consumers[] = {SUPEROP_COMBINE_REDUCE, SUPEROP_COMBINE_SCAN,
                                       SUPEROP_COMBINE_SCAN_INCLUSIVE};
  char made[] = "/tmp/ravel-combine-XXXXXX", command[128];
  cr_assert_not_null(directory = mkdtemp(made));
  fused_combine_make_data();
  for (int i = 0; i < 3; i++) {
    for (int shape = 0; shape < SHAPES; shape++)
      fused_combine_check_segments(consumers[i], (enum shape)shape, 2);
    for (size_t j = 0; j < sizeof equals / sizeof *equals; j++) {
      equal = equals[j];
      fused_combine_check_segments(consumers[i], EQUAL, 2);
    }
  }
  check_tiles_of(2);
  snprintf(command, sizeof command, "ls %s | grep -c so$ > /dev/null && rm -r %s", made, made);
  cr_assert_eq(system(command), 0, "nothing was compiled");
}

/* ---- scatters ---- */

static struct item exactly(struct item l, struct item r) {
  return (struct item){l.a + r.a, (int64_t)l.b < (int64_t)r.b ? r.b : l.b};
}

/* The destination of each of n elements, among `count` of them. */
static uint64_t where[N];

static void expect_scatter(uint64_t n, uint64_t count, bool exact) {
  struct prefix *all = calloc(count, sizeof *all);
  struct item *sums = calloc(count, sizeof *sums);
  for (uint64_t d = 0; d < count; d++) {
    sums[d] = (struct item){(uint64_t)a[d], (uint64_t)a[d]};
    fused_combine_append(&all[d], sums[d]);
  }
  for (uint64_t i = 0; i < n; i++) {
    if (!exact) fused_combine_append(&all[where[i]], item_at(i));
    sums[where[i]] = exactly(sums[where[i]], item_at(i));
  }
  for (uint64_t d = 0; d < count; d++) {
    cr_assert(fused_combine_same(d, exact ? sums[d] : fused_combine_combined(&all[d])),
              "%ju of %ju, of %ju elements", d, count, n);
  }
  free(all);
  free(sums);
}

/* How elements are spread over destinations. FAVOURED: the last but one has a third of all.
 * GAPS: only every seventh has any. */
enum spread { EVEN, FAVOURED, ALL_IN_ONE, SORTED, REVERSED, GAPS, SPREADS };

static uint64_t fused_combine_destination(enum spread spread, uint64_t i, uint64_t n,
                                          uint64_t count) {
  const uint64_t last_but_one = count > 1 ? count - 2 : 0;
  switch (spread) {
  case FAVOURED:
    return fused_combine_next() % 3 == 0 ? last_but_one : fused_combine_next() % count;
  case ALL_IN_ONE: return last_but_one;
  case SORTED: return i * count / n;
  case REVERSED: return (n - 1 - i) * count / n;
  case GAPS: return fused_combine_next() % count / 7 * 7;
  default: return fused_combine_next() % count;
  }
}

static struct cvl_value fused_combine_segdes(struct cvl_context *c, const int64_t *of,
                                             uint64_t count) {
  struct cvl_value v;
  cr_assert(cvl_cpu_backend.segdes_from_host(c, 1, count, of, &v));
  return v;
}

/* A scatter of n elements. Both sides are one segment or, with cuts, three: an empty one, the
 * cut first positions of each side, and the others. Elements stay within their segment. */
struct scattered {
  uint64_t n, count, near_cut, far_cut;
};

static void test_fused_combine_scatter(const struct scattered *s, bool exact,
                                       unsigned threads) {
  struct cvl_context *c = fused_combine_opened(threads);
  struct superop_node nodes[NODES];
  struct superop op = make_superop(SUPEROP_COMBINE_SCATTER, exact, nodes);
  const int64_t near[] = {0, (int64_t)s->near_cut, (int64_t)(s->n - s->near_cut)},
                far[] = {0, (int64_t)s->far_cut, (int64_t)(s->count - s->far_cut)};
  const bool whole = s->near_cut == 0;
  for (uint64_t i = 0; i < s->n; i++)
    index_of[i] = (int64_t)(where[i] - (!whole && i >= s->near_cut ? s->far_cut : 0));
  struct cvl_value p[PARAMS] = {
      [P_A] = fused_combine_ints(c, a, s->n),
      [P_B] = fused_combine_ints(c, b, s->n),
      [P_SEGMENTS] = cvl_one_segment(s->n),
      [P_IDENTITY] = fused_combine_ints(c, a, 1),
      [P_INDEX] = fused_combine_ints(c, index_of, s->n),
      [P_DEFAULTS] = fused_combine_ints(c, a, s->count),
      [P_FAR] = whole ? cvl_one_segment(s->count) : fused_combine_segdes(c, far, 3),
      [P_ALL] = whole ? cvl_one_segment(s->n) : fused_combine_segdes(c, near, 3)};
  fused_combine_run(c, &op, p, s->count);
  expect_scatter(s->n, s->count, exact);
  cvl_cpu_backend.close(c);
}

static void fused_combine_check_scatter(enum spread spread, uint64_t n, uint64_t count,
                                        unsigned threads) {
  for (uint64_t i = 0; i < n; i++) where[i] = fused_combine_destination(spread, i, n, count);
  for (int exact = 0; exact < 2; exact++)
    test_fused_combine_scatter(&(struct scattered){n, count, 0, 0}, exact, threads);
}

/* RAVEL_EVERY tests each number of destinations with one of the numbers of threads, in turn. */
Test(fused_combine, scatters) {
  static const uint64_t counts[] = {1, 7, 100, 3000, 30000, 150000};
  const unsigned step = every() > 1 ? 3 : 1;
  fused_combine_make_data();
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    for (unsigned threads = 1 + (unsigned)i % step; threads <= 3; threads += step)
      fused_combine_check_scatter(FAVOURED, N, counts[i], threads);
  }
}

/* Tests destinations around the limits of combine/scatter-group.c, buckets of one and of more
 * destinations and tiles, and around those of combine/scatter-exact.c. RAVEL_EVERY uses two of
 * the numbers of threads, in turn. */
Test(fused_combine, scatters_around_limits) {
  enum { SOME = 40000 };
  static const uint64_t counts[] = {1,    2,    8,    63,   64,    65,    100,
                                    1023, 1024, 1025, 2049, 16384, 65535, 65537};
  static const unsigned threads[] = {1, 2, 3, 8};
  fused_combine_make_data();
  for (size_t i = 0; i < sizeof counts / sizeof *counts * SPREADS; i += every()) {
    const size_t step = every() > 1 ? 2 : 1;
    for (size_t t = i % step; t < sizeof threads / sizeof *threads; t += step)
      fused_combine_check_scatter((enum spread)(i % SPREADS), SOME, counts[i / SPREADS],
                                  threads[t]);
  }
}

/* Tests destinations of so many elements, with the default: around tiles and powers of two. */
Test(fused_combine, scatters_of_tiles) {
  static const uint64_t lengths_of[] = {1,    2,    3,    4,    5,    7,    8,     9,    63,
                                        1022, 1023, 1024, 2046, 2047, 2048, 65535, 65536};
  fused_combine_make_data();
  for (size_t i = 0; i < sizeof lengths_of / sizeof *lengths_of; i++) {
    for (uint64_t count = 1; count <= 3; count++) {
      fused_combine_check_scatter(ALL_IN_ONE, lengths_of[i], count, 2);
      fused_combine_check_scatter(SORTED, count * lengths_of[i], count, 3);
    }
    fused_combine_check_scatter(SORTED, lengths_of[i], 1100, 2);
    fused_combine_check_scatter(ALL_IN_ONE, lengths_of[i], 1100, 2);
  }
}

/* Indices count from the start of their segment. */
Test(fused_combine, scatters_in_segments) {
  static const uint64_t counts[] = {100, 1200, 50000};
  fused_combine_make_data();
  for (int i = 0; i < 18; i += (int)every()) {
    const struct scattered s = {70000, counts[i / 6], i % 2 ? 69990 : 30011, counts[i / 6] / 3};
    for (uint64_t k = 0; k < s.n; k++) {
      const bool second = k >= s.near_cut;
      where[k] = second ? s.far_cut + fused_combine_next() % (s.count - s.far_cut)
                        : fused_combine_next() % s.far_cut;
    }
    for (int exact = 0; exact < 2; exact++)
      test_fused_combine_scatter(&s, exact, 1 + (unsigned)i / 2 % 3);
  }
}

/* The fault has the lowest position whose index is out of range, in all ways. */
Test(fused_combine, indices_out_of_range) {
  static const uint64_t counts[] = {7, 3000, 150000, 1};
  const struct cvl_backend *cpu = &cvl_cpu_backend;
  fused_combine_make_data();
  for (int i = 0; i < 8; i++) {
    const uint64_t count = counts[i / 2];
    struct cvl_context *c = fused_combine_opened(2);
    struct superop_node nodes[NODES];
    struct superop op = make_superop(SUPEROP_COMBINE_SCATTER, i % 2, nodes);
    for (uint64_t j = 0; j < N; j++) index_of[j] = (int64_t)(fused_combine_next() % count);
    index_of[200001] = (int64_t)count;
    index_of[131072] = -3;
    struct cvl_value p[PARAMS] = {[P_A] = fused_combine_ints(c, a, N),
                                  [P_B] = fused_combine_ints(c, b, N),
                                  [P_SEGMENTS] = cvl_one_segment(N),
                                  [P_IDENTITY] = fused_combine_ints(c, a, 1),
                                  [P_INDEX] = fused_combine_ints(c, index_of, N),
                                  [P_DEFAULTS] = fused_combine_ints(c, a, count),
                                  [P_FAR] = cvl_one_segment(count),
                                  [P_ALL] = cvl_one_segment(N)},
                     outs[2];
    struct cvl_kernel *k = prepared(c, &op);
    cr_expect_not(cpu->superops->run(c, 10, k, p, outs));
    struct cvl_error e;
    cr_assert(cpu->check(c, true, &e));
    cr_expect(e.kind == CVL_E_INDEX && e.site == 17 && e.position == 131072 && e.value == -3 &&
              e.limit == (int64_t)count);
    cpu->superops->discard(c, k);
    for (int j = 0; j < PARAMS; j++) cpu->release(c, &p[j]);
    cpu->close(c);
  }
}
