/* test-fused-threads.c - superoperators, evaluated and compiled, on vectors that are split over
 * chunks or ranges and threads, against the operations one by one: spreads, INDEXes and gathers
 * of short and long segments, scans that are handed on, packs, and scatters in all their ways,
 * with indices that are out of range or occur twice.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/tests/every.h"
#include "cvl-cpu/tests/prepared.h"
#include "fused-kernels/tests/fixture.h"

TestSuite(fused_threads, .init = memory_begin, .fini = memory_end);

enum { N = 150000, FAR = 90000, PARAMS = 8, RESULTS = 8 };
static const struct cvl_backend *const cpu = &cvl_cpu_backend;

/* ---- definitions, and what their parameters hold ---- */

enum content {
  NUMBERS,   /* INTs of both signs */
  REALS,     /* FLOATs */
  BITS,      /* BOOLs */
  EACH,      /* an INT for each segment */
  ONES,      /* a 1 for each segment */
  STARTS,    /* an INT for each segment: at most its length */
  FAR_REALS, /* twice as many FLOATs */
  WITHIN,    /* INTs: less than twice the length of their segment */
  WHERE,     /* INTs: distinct positions */
  ANYWHERE,  /* INTs from 0 to FAR - 1, some several times */
  DEFAULTS,  /* FAR INTs */
  SEGMENTS,  /* the segments of the positions */
  TWICE,     /* segments of twice the lengths */
  WHOLE,     /* one segment of the positions */
  TARGET     /* one segment of FAR elements */
};

struct row {
  const char *text;
  enum content params[PARAMS];
  unsigned count, outputs;
  uint32_t index; /* the parameter that may be spoiled, which holds indices or starts; or 0 */
};
#define DEFINITION(params, body) "fused OP0#1 (" params ") = " body

static const struct row rows[] = {
    {DEFINITION("$0 : INT, $1 : BOOL, $2 : SEGDES, $3 : FLOAT",
                "$4 = (* INT @ $0 $0) $5 = (+_SCAN INT @ $4 $2) $6 = (MAX_SCAN INT @ $0 $2) "
                "$7 = (XOR_SCAN BOOL @ (NOT BOOL @ $1) $2) "
                "$8 = (+_SCAN FLOAT @ (+ FLOAT @ $3 $3) $2) -> $5 $6 $7 $8"),
     {NUMBERS, BITS, SEGMENTS, REALS},
     4,
     4,
     0},
    {DEFINITION("$0 : INT, $1 : INT, $2 : SEGDES, $3 : FLOAT",
                "$4 = (DIST INT @ $1 $2) $5 = (< INT @ $0 $4) "
                "$6 $7 = (PACK FLOAT @ $3 $5 $2) $8 $9 = (PACK INT @ (+ INT @ $0 $4) $5 $2) "
                "$10 = (AND_SCAN BOOL @ $5 $2) $11 = (+_REDUCE INT @ (- INT @ $4 $0) $2) "
                "-> $6 $7 $8 $10 $11"),
     {NUMBERS, EACH, SEGMENTS, REALS},
     4,
     5,
     0},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES, $5 : INT, $6 : INT",
                "$7 = (INDEX @ $1 $6 $3) $8 = (BPERMUTE FLOAT @ $0 $7 $4 $3) "
                "$9 = (BPERMUTE FLOAT @ $0 $2 $4 $3) $10 = (+ FLOAT @ $8 $9) "
                "$11 = (+_REDUCE FLOAT @ $10 $3) $12 = (INDEX @ $5 $1 $3) -> $10 $11 $12"),
     {FAR_REALS, STARTS, WITHIN, SEGMENTS, TWICE, EACH, ONES},
     7,
     3,
     2},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES, $5 : INT, $6 : INT",
                "$7 = (INDEX @ $1 $6 $3) $8 = (BPERMUTE FLOAT @ $0 $7 $4 $3) "
                "$9 = (BPERMUTE FLOAT @ $0 $2 $4 $3) $10 = (+ FLOAT @ $8 $9) "
                "$11 = (+_REDUCE FLOAT @ $10 $3) $12 = (INDEX @ $5 $1 $3) -> $10 $11 $12"),
     {FAR_REALS, STARTS, WITHIN, SEGMENTS, TWICE, EACH, ONES},
     7,
     3,
     1},
    {DEFINITION("$0 : FLOAT, $1 : INT, $2 : BOOL, $3 : SEGDES, $4 : SEGDES, $5 : INT, $6 : INT",
                "$7 = (BFPERMUTE FLOAT @ $0 $1 $2 $4 $3) "
                "$8 = (BPERMUTE FLOAT @ $0 (INDEX @ $5 $6 $3) $4 $3) "
                "$9 = (* FLOAT @ $7 $8) -> $9 $8"),
     {FAR_REALS, WITHIN, BITS, SEGMENTS, TWICE, STARTS, ONES},
     7,
     2,
     1},
    {DEFINITION("$0 : INT, $1 : INT, $2 : SEGDES",
                "$3 = (PERMUTE INT @ (+ INT @ $0 $0) $1 $2) $4 = (PERMUTE INT @ $1 $1 $2) "
                "-> $3 $4"),
     {NUMBERS, WHERE, WHOLE},
     3,
     2,
     1},
    {DEFINITION("$0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES",
                "$5 = (DPERMUTE INT @ (* INT @ $0 $0) $1 $2 $3 $4) "
                "$6 = (DPERMUTE INT @ $0 $1 $2 $3 $4) -> $5 $6"),
     {NUMBERS, ANYWHERE, DEFAULTS, WHOLE, TARGET},
     5,
     2,
     1},
    {DEFINITION("$0 : INT, $1 : INT, $2 : BOOL, $3 : SEGDES, $4 : SEGDES, $5 : INT",
                "$6 = (FPERMUTE INT @ (* INT @ $0 (INDEX @ (CONST INT 3) (CONST INT 1) $3)) "
                "$1 $2 $3 $4) $7 = (DFPERMUTE INT @ $0 $1 (NOT BOOL @ $2) $5 $3 $4) -> $6 $7"),
     {NUMBERS, ANYWHERE, BITS, WHOLE, TARGET, DEFAULTS},
     6,
     2,
     1},
    {DEFINITION("$0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES",
                "$5 = (+ INT @ $0 $1) $6 = (DPERMUTE INT @ $5 $1 $2 $3 $4) -> $5 $6"),
     {NUMBERS, ANYWHERE, DEFAULTS, WHOLE, TARGET},
     5,
     2,
     1},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- operands ---- */

/* How the positions are divided: into one segment, short ones, many of them empty, long ones,
 * or long ones among short ones. */
enum shape { ONE, SHORT, LONG, MIXED, SHAPES };

struct data {
  uint64_t state, count;
  int64_t lengths[N], ints[2 * N];
  double reals[2 * N];
  uint8_t bits[N];
};

static uint64_t fused_threads_below(struct data *d, uint64_t n) {
  d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (d->state >> 33) % n;
}

static uint64_t fused_threads_length_of(struct data *d, enum shape shape) {
  const bool is_long = shape == LONG || (shape == MIXED && fused_threads_below(d, 200) == 0);
  if (shape == ONE) return N;
  return is_long ? 9000 + fused_threads_below(d, 30000)
                 : fused_threads_below(d, 3) * fused_threads_below(d, 12);
}

static void fused_threads_divide(struct data *d, enum shape shape) {
  uint64_t left = N;
  for (d->count = 0; left > 0 && d->count < N - 1; d->count++) {
    const uint64_t n = fused_threads_length_of(d, shape);
    d->lengths[d->count] = (int64_t)(n < left ? n : left);
    left -= (uint64_t)d->lengths[d->count];
  }
  if (left > 0) d->lengths[d->count++] = (int64_t)left;
}

static void fused_threads_distinct(struct data *d) {
  for (int i = 0; i < N; i++) d->ints[i] = i;
  for (uint64_t i = N; i-- > 1;) {
    const uint64_t j = fused_threads_below(d, i + 1);
    const int64_t x = d->ints[i];
    d->ints[i] = d->ints[j];
    d->ints[j] = x;
  }
}

static void fused_threads_within(struct data *d) {
  uint64_t at = 0;
  for (uint64_t s = 0; s < d->count; s++) {
    for (int64_t i = 0; i < d->lengths[s]; i++)
      d->ints[at++] = (int64_t)fused_threads_below(d, 2 * (uint64_t)d->lengths[s]);
  }
}

/* Fills d->ints. Returns how many there are. */
static uint64_t fused_threads_fill(struct data *d, enum content content) {
  if (content == WHERE) fused_threads_distinct(d);
  if (content == WITHIN) fused_threads_within(d);
  const uint64_t n = content == DEFAULTS                                       ? FAR
                     : content == EACH || content == STARTS || content == ONES ? d->count
                                                                               : N;
  for (uint64_t i = 0; i < n && content != WHERE && content != WITHIN; i++) {
    const uint64_t most = content == STARTS     ? (uint64_t)d->lengths[i] + 1
                          : content == ANYWHERE ? FAR
                                                : 2000;
    if (content == ONES)
      d->ints[i] = 1;
    else
      d->ints[i] = (int64_t)fused_threads_below(d, most) -
                   (content == NUMBERS || content == EACH ? 1000 : 0);
  }
  return n;
}

static struct cvl_value fused_threads_segments(struct cvl_context *c, const struct data *d,
                                               int64_t times) {
  int64_t *lengths = malloc((d->count + 1) * sizeof *lengths);
  for (uint64_t i = 0; i < d->count; i++) lengths[i] = times * d->lengths[i];
  struct cvl_value v;
  cr_assert(cpu->segdes_from_host(c, 0, d->count, lengths, &v));
  free(lengths);
  return v;
}

/* Makes an operand. `spoiled`: 1, an index is out of range near the end; 2, it equals
 * another. */
static struct cvl_value fused_threads_operand(struct cvl_context *c, struct data *d,
                                              enum content content, int spoiled) {
  struct cvl_value v;
  switch (content) {
  case REALS:
  case FAR_REALS:
    for (int i = 0; i < 2 * N; i++) d->reals[i] = (double)fused_threads_below(d, 1000) / 7 - 60;
    cr_assert(cpu->from_host(c, 0, CVL_F64, content == REALS ? N : 2 * N, d->reals, &v));
    return v;
  case BITS:
    for (int i = 0; i < N; i++) d->bits[i] = fused_threads_below(d, 3) == 0;
    cr_assert(cpu->from_host(c, 0, CVL_BOOL, N, d->bits, &v));
    return v;
  case SEGMENTS: return fused_threads_segments(c, d, 1);
  case TWICE: return fused_threads_segments(c, d, 2);
  case WHOLE: return cvl_one_segment(N);
  case TARGET: return cvl_one_segment(FAR);
  default: break;
  }
  const uint64_t n = fused_threads_fill(d, content);
  uint64_t at = n - 1 - n / 50;
  while (content == STARTS && d->lengths[at] == 0) at--;
  if (spoiled == 1) d->ints[at] = content == STARTS ? d->lengths[at] + 1 : 2 * N;
  if (spoiled == 2) d->ints[at] = d->ints[n / 3];
  cr_assert(cpu->from_host(c, 0, CVL_I64, n, d->ints, &v));
  return v;
}

/* ---- comparison ---- */

static void fused_threads_expect_same(struct cvl_context *c, const struct cvl_value *a,
                                      const struct cvl_value *b, const char *what) {
  const bool vector = a->form == CVL_VECTOR || a->form == CVL_SCALAR;
  const uint64_t n = vector ? cpu->length(c, a).bound : cpu->count(c, a).bound;
  const size_t bytes =
      n * (vector ? elem_info((enum cvl_elem)a->elem)->bytes : sizeof(int64_t));
  char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
  cr_assert_eq(n, vector ? cpu->length(c, b).bound : cpu->count(c, b).bound, "%s", what);
  cr_assert(cpu->to_host(c, a, 0, n, x) && cpu->to_host(c, b, 0, n, y));
  cr_expect(memcmp(x, y, bytes) == 0, "%s", what);
  free(x);
  free(y);
}

/* Runs it twice, since it may have other functions the second time. */
static void fused_threads_compare(struct cvl_context *c, const struct superop *op,
                                  struct cvl_kernel *k, const struct cvl_value *operands,
                                  const struct row *row, const char *what) {
  struct cvl_value wanted[RESULTS], got[RESULTS];
  struct cvl_error expected = {0}, found;
  const bool good = superop_run(cpu, c, 1, op, NULL, operands, wanted);
  if (!good) cr_assert(cpu->check(c, true, &expected));
  const bool same = cpu->superops->run(c, 1, k, operands, got) == good;
  if (!same && good) cpu->check(c, true, &expected);
  cr_assert(same, "%s: %s, kind %d, node %llu at %lld: %lld of %lld", what,
            good ? "fails" : "does not fail", expected.kind, (unsigned long long)expected.site,
            (long long)expected.position, (long long)expected.value, (long long)expected.limit);
  if (!good) {
    cr_assert(cpu->check(c, true, &found));
    cr_expect(expected.kind == found.kind && expected.site == found.site &&
                  expected.position == found.position && expected.value == found.value &&
                  expected.limit == found.limit && expected.segment == found.segment,
              "%s: kind %d at %lld, node %llu", what, found.kind, (long long)found.position,
              (unsigned long long)found.site);
  }
  for (unsigned i = 0; i < row->outputs && good; i++) {
    fused_threads_expect_same(c, &wanted[i], &got[i], what);
    cpu->release(c, &wanted[i]);
    cpu->release(c, &got[i]);
  }
}

static void compare_shapes(const struct row *row, unsigned number, unsigned threads,
                           const char *directory) {
  const struct cvl_options options = {.int_elem = CVL_I64,
                                      .float_elem = CVL_F64,
                                      .threads = threads,
                                      .compile = CVL_COMPILE_ALL,
                                      .compile_waits = true,
                                      .compile_directory = directory};
  struct data *d = calloc(1, sizeof *d);
  struct loaded l;
  struct cvl_context *c = cpu->open(&options, NULL);
  load(&l, row->text, (struct widths){CVL_I64, CVL_F64});
  cr_assert(l.ops[0] && c, "%u: %s", number,
            l.diags.list.count ? l.diags.list.items[0].message : "");
  struct cvl_kernel *k = cpu->superops->prepare(c, l.ops[0]);
  cr_assert_not_null(k);
  for (unsigned shape = 0; shape < SHAPES; shape++) {
    for (int spoiled = 0; spoiled < (row->index ? 3 : 1); spoiled++) {
      struct cvl_value operands[PARAMS];
      char what[80];
      snprintf(what, sizeof what, "row %u, shape %u, %u threads, spoiled %d", number, shape,
               threads, spoiled);
      d->state = 3 * shape + 1;
      fused_threads_divide(d, (enum shape)shape);
      for (uint32_t i = 0; i < row->count; i++)
        operands[i] =
            fused_threads_operand(c, d, row->params[i], i == row->index ? spoiled : 0);
      fused_threads_compare(c, l.ops[0], k, operands, row, what);
      for (uint32_t i = 0; i < row->count; i++) cpu->release(c, &operands[i]);
    }
  }
  cpu->superops->discard(c, k);
  cpu->close(c);
  unload(&l);
  free(d);
}

/* All are compiled once, and then found in the directory. RAVEL_EVERY runs each on one of the
 * numbers of threads, in turn. */
Test(fused_threads, like_the_operations) {
  static const unsigned threads[] = {1, 2, 3, 6};
  char directory[] = "/tmp/ravel-tile-XXXXXX", command[64];
  cr_assert_not_null(mkdtemp(directory));
  for (unsigned i = 0; i < ROWS; i++) {
    const unsigned step = every() > 1 ? 4 : 1;
    for (unsigned t = i % step; t < 4; t += step)
      compare_shapes(&rows[i], i, threads[t], directory);
  }
  snprintf(command, sizeof command, "ls %s | grep -c so$ > /dev/null", directory);
  cr_assert_eq(system(command), 0, "nothing was compiled");
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}
/* An index is twice another, which is twice another, and so on. Each is examined once, and not
 * once for every way to it. The first is 0, so that all gather the first element. */
Test(fused_threads, long_index_arithmetic, .timeout = 60) {
  enum { DOUBLED = 50, LENGTH = 300 };
  char text[4000], *at = text;
  double x[LENGTH] = {7}, y[LENGTH];
  at += sprintf(at, "fused OP0#1 ($0 : FLOAT, $1 : SEGDES) = "
                    "$2 = (INDEX @ (CONST INT 0) (CONST INT 0) $1) ");
  for (int v = 2; v < 2 + DOUBLED; v++)
    at += sprintf(at, "$%d = (+ INT @ $%d $%d) ", v + 1, v, v);
  sprintf(at, "(BPERMUTE FLOAT @ $0 $%d $1 $1)", 2 + DOUBLED);
  const struct cvl_options options = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 1};
  struct loaded l;
  struct cvl_context *c = cpu->open(&options, NULL);
  load(&l, text, (struct widths){CVL_I64, CVL_F64});
  cr_assert(c && l.ops[0], "%s", l.diags.list.count ? l.diags.list.items[0].message : "");
  struct cvl_kernel *k = cpu->superops->prepare(c, l.ops[0]);
  struct cvl_value operands[2] = {[1] = cvl_one_segment(LENGTH)}, out;
  cr_assert(cpu->from_host(c, 0, CVL_F64, LENGTH, x, &operands[0]));
  cr_assert(cpu->superops->run(c, 1, k, operands, &out) && cpu->to_host(c, &out, 0, LENGTH, y));
  cr_expect(y[0] == 7 && y[LENGTH - 1] == 7);
  cpu->release(c, &operands[0]);
  cpu->release(c, &out);
  cpu->superops->discard(c, k);
  cpu->close(c);
  unload(&l);
}
