/* test-ranges.c - superoperators by a compiled function for ranges, against the operations one
 * by one. Sizes are around a row, a block, a piece, and what a thread takes at a time. Some
 * have elements at fault, several segments, or no memory.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/tests/every.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/tests/prepared.h"
#include "cvl/trees.h"
#include "fused-kernels/tests/fixture.h"

TestSuite(ranges, .init = memory_begin, .fini = memory_end);

enum { MOST = 300000, MANY = 300, PARAMS = 8, RESULTS = 8 };
static const struct cvl_backend *const cpu = &cvl_cpu_backend;

enum content {
  REALS,
  NUMBERS,    /* INTs from 1 to 50 */
  BITS,       /* BOOLs */
  WITHIN,     /* INTs below 2 n */
  REAL,       /* one FLOAT for each segment */
  NUMBER,     /* one INT for each segment, positive */
  ONES,       /* a 1 for each segment */
  FAR_REALS,  /* 2 n FLOATs */
  WHOLE,      /* one segment of n elements, or several */
  OTHERS,     /* the same lengths, each one segment further on */
  FAR,        /* segments of twice the lengths */
  EITHER,     /* INTs: 0 or 1 */
  PAIRS,      /* a segment of two for each position */
  MIRROR,     /* INTs: the same segment from its end to its start */
  FAR_OTHERS, /* as FAR, each one segment further on */
  ALL,        /* one segment of n elements */
  ALL_FAR,    /* of 2 n */
};

struct row {
  const char *text;
  enum content params[PARAMS];
  unsigned count, outputs;
  uint32_t spoiled; /* the parameter that gets an element at fault, or NOTHING */
};
enum { NOTHING = PARAMS };
#define DEFINITION(params, body) "fused OP0#1 (" params ") = " body

static const struct row rows[] = {
    {DEFINITION("$0 : FLOAT, $1 : FLOAT, $2 : SEGDES, $3 : INT, $4 : INT",
                "$5 = (+ FLOAT @ (* FLOAT @ $0 $0) (DIST FLOAT @ $1 $2)) "
                "$6 = (> INT @ $3 (DIST INT @ $4 $2)) -> $5 $6"),
     {REALS, REAL, WHOLE, NUMBERS, NUMBER},
     5,
     2,
     NOTHING},
    {DEFINITION("$0 : FLOAT, $1 : BOOL, $2 : INT, $3 : SEGDES, $4 : FLOAT",
                "$5 = (* FLOAT @ $0 $0) $6 = (+_REDUCE FLOAT @ $5 $3) "
                "$7 = (MAX_REDUCE INT @ $2 $3) $8 = (OR_REDUCE BOOL @ (NOT BOOL @ $1) $3) "
                "$9 = (- FLOAT @ $5 (DIST FLOAT @ $4 $3)) -> $9 $6 $8 $7"),
     {REALS, BITS, NUMBERS, WHOLE, REAL},
     5,
     4,
     NOTHING},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : INT, $5 : INT",
                "$6 = (BPERMUTE FLOAT @ $0 $1 $2 $3) $7 = (INDEX @ $4 $5 $3) "
                "$8 = (+ INT @ (* INT @ $7 (DIST INT @ $4 $3)) $1) -> $6 $8"),
     {FAR_REALS, WITHIN, FAR, WHOLE, NUMBER, ONES},
     6,
     2,
     1},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES",
                "$4 = (BPERMUTE FLOAT @ $0 (- INT @ $1 $1) $2 $3) (+_REDUCE FLOAT @ $4 $2)"),
     {REALS, NUMBERS, OTHERS, WHOLE}, /* in segments that go across those of the range */
     4,
     1,
     NOTHING},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES",
                "$4 = (EXTRACT FLOAT @ $0 $1 $2) $5 = (+_REDUCE FLOAT @ $4 $3) -> $5 $4"),
     {FAR_REALS, EITHER, PAIRS, WHOLE},
     4,
     2,
     NOTHING},
    {DEFINITION("$0 : INT, $1 : INT, $2 : SEGDES", "(* INT @ (INDEX @ $1 $1 $2) $0)"),
     {NUMBERS, NUMBER, WHOLE}, /* strides that are not 1 */
     3,
     1,
     NOTHING},
    {DEFINITION("$0 : FLOAT, $1 : BOOL, $2 : INT, $3 : SEGDES",
                "$4 $5 = (PACK FLOAT @ $0 $1 $3) $6 = (< INT @ $2 (* INT @ $2 $2)) "
                "$7 $8 = (PACK INT @ (- INT @ (* INT @ $2 $2) $2) (AND BOOL @ $6 $1) $3) "
                "$9 $10 = (PACK BOOL @ $6 $1 $3) $11 $12 = (PACK INT @ $2 $6 $3) "
                "$13 = (+_REDUCE FLOAT @ $0 $3) -> $4 $5 $7 $8 $9 $12 $13"),
     {REALS, BITS, NUMBERS, WHOLE}, /* of one pack only the descriptor is wanted */
     4,
     7,
     NOTHING},
    {DEFINITION("$0 : FLOAT, $1 : BOOL, $2 : INT, $3 : SEGDES",
                "$4 = (* FLOAT @ $0 $0) $5 = (+_SCAN FLOAT @ $4 $3) $6 = (B_TO_I @ $1) "
                "$7 = (+_SCAN INT @ $6 $3) $8 = (MAX_SCAN INT @ (* INT @ $2 $6) $3) "
                "$9 $10 = (PACK FLOAT @ $4 $1 $3) $11 = (MAX_REDUCE FLOAT @ $4 $3) "
                "-> $5 $4 $8 $7 $9 $10 $11"),
     {REALS, BITS, NUMBERS, WHOLE},
     4,
     7,
     NOTHING},
    {DEFINITION("$0 : INT, $1 : INT, $2 : BOOL, $3 : SEGDES",
                "$4 = (/ INT @ $1 $0) $5 $6 = (PACK INT @ $4 $2 $3) $7 = (* INT @ $1 $1) "
                "-> $7 $5 $6"),
     {NUMBERS, WITHIN, BITS, WHOLE},
     4,
     3,
     0},
    {DEFINITION("$0 : INT, $1 : INT", "$2 = (% @ $1 $0) $3 = (/ INT @ $1 $0) -> $3 $2"),
     {NUMBERS, WITHIN},
     2,
     2,
     0},
    {DEFINITION("$0 : INT, $1 : INT, $2 : FLOAT",
                "(ASSERT \"{v}, {w}\" @ (<= INT @ $0 (* INT @ $1 $1)) $0 $1) "
                "$3 = (* FLOAT @ $2 $2) -> $3"),
     {NUMBERS, NUMBERS, REALS},
     3,
     1,
     1},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : FLOAT, $5 : BOOL",
                "$6 = (* FLOAT @ $0 $0) $7 = (DPERMUTE FLOAT @ $6 $1 $4 $2 $3) "
                "$8 = (FPERMUTE FLOAT @ $6 $1 $5 $2 $3) -> $7 $8"),
     {REALS, WITHIN, WHOLE, FAR, FAR_REALS, BITS}, /* the last one counts */
     6,
     2,
     1},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : INT",
                "$4 = (* FLOAT @ $0 $0) $5 = (PERMUTE FLOAT @ $4 $1 $2) "
                "$6 = (PERMUTE INT @ (* INT @ $3 $3) $1 $2) -> $5 $4 $6"),
     {REALS, MIRROR, WHOLE, NUMBERS}, /* each once */
     4,
     3,
     1},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : FLOAT",
                "$5 = (* FLOAT @ $0 $0) "
                "$6 = (DPERMUTE FLOAT @ $5 (- INT @ (INDEX @ $1 $1 $2) (DIST INT @ $1 $2)) $4 "
                "$2 $3) -> $6 $5"),
     {REALS, ONES, WHOLE, FAR, FAR_REALS}, /* side by side, in each segment */
     5,
     2,
     NOTHING},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : FLOAT, $4 : SEGDES, $5 : SEGDES",
                "(DPERMUTE FLOAT @ (* FLOAT @ $0 $0) (INDEX @ $1 $1 $2) $3 $4 $5)"),
     {REALS, ONES, WHOLE, FAR_REALS, ALL, ALL_FAR}, /* one segment over the other */
     6,
     1,
     NOTHING},
    {DEFINITION(
         "$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : SEGDES, $5 : SEGDES, $6 : INT",
         "(+_REDUCE FLOAT @ (* FLOAT @ (BPERMUTE FLOAT @ $0 (INDEX @ $6 $1 $2) $4 $5) "
         "(BPERMUTE FLOAT @ $0 (INDEX @ $6 $1 $3) $4 $5)) $2)"),
     {FAR_REALS, ONES, WHOLE, OTHERS, ALL_FAR, ALL, ONES}, /* read ahead in one descriptor */
     7,
     1,
     NOTHING},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : SEGDES",
                "$5 = (BPERMUTE FLOAT @ $0 $1 $2 $4) $6 = (BPERMUTE FLOAT @ $0 $1 $3 $4) "
                "$7 = (- FLOAT @ $5 $6) -> $7 $5"),
     {FAR_REALS, EITHER, FAR, FAR_OTHERS, WHOLE}, /* in segments of two descriptors */
     5,
     2,
     NOTHING},
    {DEFINITION("$0 : INT, $1 : FLOAT, $2 : SEGDES, $3 : FLOAT, $4 : SEGDES, $5 : FLOAT, "
                "$6 : BOOL, $7 : SEGDES",
                "$8 = (DIST INT @ (CONST INT 1) $7) $9 = (* FLOAT @ $1 (DIST FLOAT @ $3 $2)) "
                "$10 = (+ FLOAT @ $9 (DIST FLOAT @ $5 $4)) $11 = (CARRY INT @ $0) "
                "$12 = (CARRY FLOAT @ $10) $13 = (> INT @ $11 $8) (WHILE @ $13) "
                "$14 = (- INT @ $11 $8) $15 = (- FLOAT @ (+ FLOAT @ $12 $12) $12) "
                "$16 = (NEXT INT @ $11 $14) $17 = (NEXT FLOAT @ $12 $15) "
                "$18 = (- FLOAT @ $17 $9) $19 = (MAX_REDUCE FLOAT @ $18 $2) "
                "$20 = (CARRY FLOAT @ $18) $21 = (CARRY INT @ $0) $22 = (CARRY FLOAT @ $9) "
                "$23 = (> INT @ $21 $8) (WHILE @ $23) $24 = (- INT @ (- INT @ $21 $8) $8) "
                "$25 = (+ FLOAT @ $20 $22) $26 = (NEXT FLOAT @ $20 $25) "
                "$27 = (NEXT INT @ $21 $24) $28 = (NEXT FLOAT @ $22 $22) "
                "$29 = (+_REDUCE FLOAT @ $26 $2) $30 = (- FLOAT @ $26 $10) "
                "$31 $32 = (PACK FLOAT @ $30 $6 $2) -> $29 $30 $16 $31 $32 $19"),
     {NUMBERS, REALS, WHOLE, REAL, OTHERS, REAL, BITS, ALL}, /* a loop behind the other */
     8,
     6,
     NOTHING},
    {DEFINITION("$0 : INT, $1 : INT, $2 : INT",
                "$3 = (/ INT @ $1 $0) $4 = (CARRY INT @ $3) $5 = (CARRY INT @ $2) "
                "$6 = (> INT @ $4 $5) (WHILE @ $6) $7 = (- INT @ $4 $5) "
                "$8 = (NEXT INT @ $4 $7) $9 = (NEXT INT @ $5 $5) -> $8"),
     {NUMBERS, NUMBERS, NUMBERS}, /* which would begin with something at fault */
     3,
     1,
     0},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- operands ---- */

struct data {
  uint64_t n, segments;
  int64_t lengths[MANY], ints[2 * MOST];
  double reals[2 * MOST];
  uint8_t bits[MOST];
};

/* Returns number i of some sequence of numbers below n. */
static uint64_t ranges_below(uint64_t i, uint64_t n) {
  return (i * 2654435761u >> 7) % n;
}

static uint64_t ranges_length_of(const struct data *d, enum content content) {
  if (content == FAR_REALS) return 2 * d->n;
  return content == REAL || content == NUMBER || content == ONES ? d->segments : d->n;
}

static int64_t ranges_mirror(const struct data *d, int64_t i) {
  uint64_t segment = 0;
  for (; d->segments > 1 && i >= d->lengths[segment]; segment++) i -= d->lengths[segment];
  return (d->segments > 1 ? d->lengths[segment] : (int64_t)d->n) - 1 - i;
}

static int64_t ranges_number(const struct data *d, enum content content, uint64_t i) {
  if (content == ONES) return 1;
  if (content == NUMBER) return (int64_t)(2 + i);
  if (content == EITHER) return (int64_t)ranges_below(i, 2);
  /* Indices are within any segment, however short. */
  const uint64_t most = d->segments == 1 ? 2 * d->n : 2;
  if (content == MIRROR) return ranges_mirror(d, (int64_t)i);
  return content == WITHIN ? (int64_t)ranges_below(i, most) : 1 + (int64_t)ranges_below(i, 50);
}

/* Lengths that differ, none of them 0. */
static void ranges_divide(struct data *d) {
  const int64_t each = (int64_t)(d->n / d->segments);
  int64_t left = (int64_t)d->n;
  for (uint64_t i = 0; i + 1 < d->segments; i++) {
    d->lengths[i] = i % 2 ? each + each / 3 : each - each / 3;
    left -= d->lengths[i];
  }
  d->lengths[d->segments - 1] = left;
}

static struct cvl_value ranges_segments(struct cvl_context *c, const struct data *d,
                                        enum content content) {
  int64_t lengths[MANY];
  struct cvl_value v;
  const uint64_t times = content == FAR || content == FAR_OTHERS ? 2 : 1,
                 further = content == OTHERS || content == FAR_OTHERS ? 1 : 0;
  if (d->segments == 1) return cvl_one_segment(times * d->n);
  for (uint64_t i = 0; i < d->segments; i++)
    lengths[i] = (int64_t)times * d->lengths[(i + further) % d->segments];
  cr_assert(cpu->segdes_from_host(c, 0, d->segments, lengths, &v));
  return v;
}

/* They are of one length, whose starts are not in memory. */
static struct cvl_value ranges_pairs(struct cvl_context *c, struct data *d) {
  struct cvl_value v;
  for (uint64_t i = 0; i < d->n; i++) d->ints[i] = 2;
  cr_assert(cpu->segdes_from_host(c, 0, d->n, d->ints, &v));
  return v;
}

static void ranges_spoil(int64_t *number, const struct data *d, enum content content) {
  if (content == WITHIN)
    *number = (int64_t)(2 * d->n);
  else
    *number = content == MIRROR && *number == 0;
}

static struct cvl_value ranges_operand(struct cvl_context *c, struct data *d,
                                       enum content content, bool spoiled) {
  struct cvl_value v;
  const uint64_t n = ranges_length_of(d, content);
  const bool real = content == REALS || content == REAL || content == FAR_REALS;
  if (content == WHOLE || content == OTHERS || content == FAR || content == FAR_OTHERS)
    return ranges_segments(c, d, content);
  if (content == PAIRS) return ranges_pairs(c, d);
  if (content == ALL || content == ALL_FAR)
    return cvl_one_segment(content == ALL ? d->n : 2 * d->n);
  for (uint64_t i = 0; i < n; i++) {
    if (content == BITS) d->bits[i] = ranges_below(i, 3) == 0;
    if (real) d->reals[i] = (double)ranges_below(i, 1000) / 7 - 60;
    if (content != BITS && !real) d->ints[i] = ranges_number(d, content, i);
  }
  if (spoiled) ranges_spoil(&d->ints[n - 1 - n / 3], d, content);
  const void *from = content == BITS ? (const void *)d->bits
                     : real          ? (void *)d->reals
                                     : d->ints;
  cr_assert(cpu->from_host(c, 0,
                           content == BITS ? CVL_BOOL
                           : real          ? CVL_F64
                                           : CVL_I64,
                           n, from, &v));
  return v;
}

/* ---- comparison ---- */

static void ranges_expect_same(struct cvl_context *c, const struct cvl_value *a,
                               const struct cvl_value *b, const char *what) {
  static char x[2 * MOST * sizeof(double)], y[2 * MOST * sizeof(double)];
  const bool descriptor = a->form == CVL_SEGDES;
  const uint64_t n = descriptor ? value_segments(a).count : cpu->length(c, a).bound;
  cr_assert_eq(a->form, b->form, "%s", what);
  cr_assert_eq(n, descriptor ? value_segments(b).count : cpu->length(c, b).bound, "%s", what);
  cr_assert(cpu->to_host(c, a, 0, n, x) && cpu->to_host(c, b, 0, n, y));
  const size_t bytes = descriptor ? sizeof(int64_t) : elem_info((enum cvl_elem)a->elem)->bytes;
  cr_expect(memcmp(x, y, n * bytes) == 0, "%s", what);
}

static void ranges_expect_fault(struct cvl_context *c, const struct cvl_error *expected,
                                const char *what) {
  struct cvl_error e;
  cr_assert(cpu->check(c, true, &e), "%s", what);
  cr_expect(e.kind == expected->kind && e.site == expected->site &&
                e.position == expected->position && e.value == expected->value &&
                e.limit == expected->limit && e.segment == expected->segment,
            "%s: kind %d at %lld, node %llu", what, e.kind, (long long)e.position,
            (unsigned long long)e.site);
}

static void ranges_compare(struct cvl_context *c, const struct superop *op,
                           struct cvl_kernel *k, const struct cvl_value *operands,
                           unsigned outputs, const char *what) {
  struct cvl_value wanted[RESULTS], got[RESULTS];
  struct cvl_error expected;
  const bool good = superop_run(cpu, c, 1, op, NULL, operands, wanted);
  if (!good) cr_assert(cpu->check(c, true, &expected));
  cr_assert_eq(cpu->superops->run(c, 1, k, operands, got), good, "%s", what);
  if (!good) ranges_expect_fault(c, &expected, what);
  for (unsigned i = 0; i < outputs && good; i++) {
    ranges_expect_same(c, &wanted[i], &got[i], what);
    cpu->release(c, &wanted[i]);
    cpu->release(c, &got[i]);
  }
}

/* In one segment or several; `spoiled`: with an element at fault. */
static void compare_size(struct cvl_context *c, const struct superop *op, struct cvl_kernel *k,
                         const struct row *row, struct data *d, bool spoiled) {
  struct cvl_value operands[PARAMS];
  char what[100];
  snprintf(what, sizeof what, "row %u: %llu in %llu, spoiled %d", (unsigned)(row - rows),
           (unsigned long long)d->n, (unsigned long long)d->segments, spoiled);
  for (uint32_t i = 0; i < row->count; i++)
    operands[i] = ranges_operand(c, d, row->params[i], spoiled && i == row->spoiled);
  ranges_compare(c, op, k, operands, row->outputs, what);
  cr_expect_eq(k->run.way == BY_FUNCTION, !spoiled && d->n > 0, "%s: not as expected", what);
  for (uint32_t i = 0; i < row->count; i++) cpu->release(c, &operands[i]);
}

static struct cvl_context *ranges_open(const char *directory) {
  const struct cvl_options options = {.int_elem = CVL_I64,
                                      .float_elem = CVL_F64,
                                      .threads = 2,
                                      .compile = CVL_COMPILE_ALL,
                                      .compile_waits = true,
                                      .compile_directory = directory};
  struct cvl_context *c = cpu->open(&options, NULL);
  cr_assert_not_null(c);
  return c;
}

static void compare_sizes(const struct row *row, const char *directory) {
  static const uint64_t sizes[] = {0,   1,   2,    31,   32,   33,   127,  128,   129, 511,
                                   512, 513, 1023, 1024, 1025, 1536, 3000, 70000, MOST};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  const unsigned step = every() > 1 ? 3 : 1; /* the next row has other sizes */
  struct data *d = calloc(1, sizeof *d);
  struct loaded l;
  struct cvl_context *c = ranges_open(directory);
  load(&l, row->text, (struct widths){CVL_I64, CVL_F64});
  cr_assert(l.ops[0], "%s: %s", row->text,
            l.diags.list.count ? l.diags.list.items[0].message : "");
  /* One kernel for each division, and then one for all of them. */
  static const unsigned divisions[] = {1, 3, MANY, 3, 1, MANY};
  struct cvl_kernel *k = NULL;
  for (unsigned division = 0; division < 6; division++) {
    const unsigned segments = divisions[division];
    if (division <= 3) {
      if (k) cpu->superops->discard(c, k);
      k = cpu->superops->prepare(c, l.ops[0]);
    }
    for (unsigned i = (unsigned)(row - rows) % step; i < SIZES; i += step) {
      memset(d, 0, sizeof *d);
      d->n = sizes[i];
      d->segments = segments;
      if (segments > 1 && d->n < 3 * segments) continue; /* empty segments are not wanted */
      ranges_divide(d);
      compare_size(c, l.ops[0], k, row, d, false);
      if (row->spoiled != NOTHING && d->n > 0) compare_size(c, l.ops[0], k, row, d, true);
    }
  }
  cpu->superops->discard(c, k);
  cpu->close(c);
  unload(&l);
  free(d);
}

/* Makes the allocation of the first or a later result fail. */
static void starve(const struct row *row, const char *directory) {
  struct data *d = calloc(1, sizeof *d);
  struct loaded l;
  struct cvl_context *c = ranges_open(directory);
  struct cvl_value operands[PARAMS], first[RESULTS], got[RESULTS];
  struct cvl_error e;
  load(&l, row->text, (struct widths){CVL_I64, CVL_F64});
  struct cvl_kernel *k = cpu->superops->prepare(c, l.ops[0]);
  d->n = 1000;
  d->segments = 1;
  for (uint32_t i = 0; i < row->count; i++)
    operands[i] = ranges_operand(c, d, row->params[i], false);
  cr_assert(cpu->superops->run(c, 1, k, operands, first) && k->run.way == BY_FUNCTION);
  const uint64_t limit = c->heap->limit;
  c->heap->limit = c->heap->live;
  cr_assert(!cpu->superops->run(c, 1, k, operands, got) && cpu->check(c, true, &e));
  cr_expect(e.kind == CVL_E_MEMORY && e.site >= 1 && e.site <= l.ops[0]->node_count, "%d",
            e.kind);
  c->heap->limit = limit;
  cr_assert(cpu->superops->run(c, 1, k, operands, got) && k->run.way == BY_FUNCTION);
  for (uint32_t i = 0; i < row->outputs; i++) {
    cpu->release(c, &first[i]);
    cpu->release(c, &got[i]);
  }
  for (uint32_t i = 0; i < row->count; i++) cpu->release(c, &operands[i]);
  cpu->superops->discard(c, k);
  cpu->close(c);
  unload(&l);
  free(d);
}

Test(ranges, like_the_operations) {
  char directory[] = "/tmp/ravel-ranges-XXXXXX", command[64];
  cr_assert_not_null(mkdtemp(directory));
  for (unsigned i = 0; i < ROWS; i++) compare_sizes(&rows[i], directory);
  for (unsigned i = 0; i < ROWS; i += 11) starve(&rows[i], directory);
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* Threads share the destinations, though the positions are few. */
Test(ranges, few_positions_scatter_into_many) {
  enum { N = 1000, FAR_N = 1 << 20 };
  const struct cvl_options options = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 2};
  struct cvl_context *c = cpu->open(&options, NULL);
  struct loaded l;
  struct cvl_value operands[5] = {[2] = cvl_one_segment(N), [3] = cvl_one_segment(FAR_N)};
  double *x = calloc(FAR_N, sizeof *x);
  double *y = calloc(FAR_N, sizeof *y);
  int64_t *index = calloc(N, sizeof *index);
  for (int i = 0; i < N; i++) index[i] = (i * 7919LL) % FAR_N;
  for (int i = 0; i < N; i++) x[i] = i;
  load(&l,
       DEFINITION("$0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : FLOAT",
                  "(DPERMUTE FLOAT @ (SIN @ (SIN @ (SIN @ (SIN @ $0)))) $1 $4 $2 $3)"),
       (struct widths){CVL_I64, CVL_F64});
  cr_assert(cpu->from_host(c, 0, CVL_F64, N, x, &operands[0]) &&
            cpu->from_host(c, 0, CVL_I64, N, index, &operands[1]) &&
            cpu->from_host(c, 0, CVL_F64, FAR_N, x, &operands[4]));
  struct cvl_kernel *k = cpu->superops->prepare(c, l.ops[0]);
  for (int round = 0; round < 20; round++) {
    struct cvl_value got;
    cr_assert(cpu->superops->run(c, 1, k, operands, &got) && k->run.way == BY_STRIPS);
    cr_assert(cpu->to_host(c, &got, 0, FAR_N, y));
    for (int i = 0; i < N; i++) cr_assert_float_eq(y[index[i]], sin(sin(sin(sin(i)))), 1e-15);
    cpu->release(c, &got);
  }
  for (int i = 0; i < 5; i++) cpu->release(c, &operands[i]);
  cpu->superops->discard(c, k);
  cpu->close(c);
  unload(&l);
  free(x);
  free(y);
  free(index);
}

/* Code for one segment is not used by a copy that knows of several: they had no elements. */
Test(ranges, empty_segments_drop_functions_for_one) {
  char directory[] = "/tmp/ravel-ranges-XXXXXX", command[64];
  cr_assert_not_null(mkdtemp(directory));
  struct cvl_context *c = ranges_open(directory);
  struct data *d = calloc(1, sizeof *d);
  struct loaded l;
  load(&l, rows[0].text, (struct widths){CVL_I64, CVL_F64});
  struct cvl_kernel *kernels[2] = {cpu->superops->prepare(c, l.ops[0])};
  for (unsigned run = 0; run < 3; run++) {
    struct cvl_value operands[PARAMS];
    memset(d, 0, sizeof *d);
    d->n = run == 1 ? 0 : 1000;
    d->segments = run == 1 ? 3 : 1;
    ranges_divide(d);
    for (uint32_t i = 0; i < rows[0].count; i++)
      operands[i] = ranges_operand(c, d, rows[0].params[i], false);
    if (run == 2) kernels[1] = cpu_prepare_copy(c, kernels[0]);
    ranges_compare(c, l.ops[0], kernels[run == 2], operands, rows[0].outputs, "copy");
    cr_expect(run != 1 || !kernels[0]->compiled, "it is for one segment");
    for (uint32_t i = 0; i < rows[0].count; i++) cpu->release(c, &operands[i]);
  }
  for (unsigned i = 0; i < 2; i++) cpu->superops->discard(c, kernels[i]);
  cpu->close(c);
  unload(&l);
  free(d);
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}
