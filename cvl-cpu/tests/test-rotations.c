/* test-rotations.c - rotations and neighbours within rows, by a compiled function for ranges,
 * against the operations one by one. Rows have equal lengths or others.
 * Distances are the same for all rows, change evenly, change anyhow, or are out of range in one
 * row.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cvl-cpu/fused/plan.h"
#include "cvl-cpu/tests/prepared.h"
#include "fused-kernels/tests/fixture.h"

TestSuite(rotations, .init = memory_begin, .fini = memory_end);

enum { MOST = 70000, PARAMS = 9, OUTPUTS = 3 };
static const struct cvl_backend *const cpu = &cvl_cpu_backend;

/* The parameters are words, what each row is rotated by, the lengths of rows, and the
 * descriptor. Then come a factor for each row, reals, a 0 and a 1 for each row, and the
 * descriptor of one segment. */
#define PARAMETERS                                                                             \
  "fused OP0#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : FLOAT, $5 : FLOAT, $6 : INT, " \
  "$7 : INT, $8 : SEGDES) = "                                                                  \
  "$9 = (INDEX @ $6 $7 $3) $10 = (DIST INT @ $1 $3) "                                          \
  "$11 = (DIST INT @ $2 $3) $12 = (< INT @ $9 $10) $13 = (- INT @ $9 $10) "                    \
  "$14 = (SELECT INT @ $12 (+ INT @ $13 $11) $13) "

static const struct row {
  const char *text;
  unsigned outputs;
} rows[] = {
    {PARAMETERS "(BPERMUTE INT @ $0 $14 $3 $3)", 1},
    {PARAMETERS
     "$15 = (BPERMUTE INT @ $0 $14 $3 $3) $16 = (BPERMUTE FLOAT @ $5 $14 $3 $3) "
     "$17 = (DIST INT @ (CONST INT 1) $8) $18 = (AND INT @ $9 $17) $19 = (= INT @ $18 $17) "
     "$20 = (SELECT INT @ (AND BOOL @ $19 (NOT BOOL @ $12)) $15 (+ INT @ $0 (+ INT @ $9 $13))) "
     "$21 = (* FLOAT @ $16 (DIST FLOAT @ $4 $3)) $22 = (> FLOAT @ $21 $5) "
     "-> $20 $21 $22",
     3},
    {PARAMETERS
     "$15 = (- INT @ $11 (DIST INT @ (CONST INT 1) $8)) $16 = (+ INT @ $9 $10) "
     "$17 = (SELECT INT @ (< INT @ $16 $15) $16 $15) $18 = (BPERMUTE FLOAT @ $5 $17 $3 $3) "
     "$19 = (+ FLOAT @ $18 (SELECT FLOAT @ (= INT @ $9 $15) $5 $18)) -> $19 $18",
     2},
    {PARAMETERS /* reading some of the distances does not end the rectangles */
     "$15 = (DIST INT @ (CONST INT 1) $8) $16 = (- INT @ $11 $15) "
     "$17 = (SELECT INT @ (< INT @ $9 $16) (+ INT @ $9 $15) $16) "
     "$18 = (BPERMUTE INT @ $0 $17 $3 $3) (+ INT @ $18 $13)",
     1},
};
enum { ROWS = sizeof rows / sizeof *rows };

enum shape { EQUAL_128, EQUAL_200, EQUAL_513, FEW_LONG, RAGGED, SHAPES };
enum distances { ALIKE, EVENLY, ANYHOW, ONE_WRONG, DISTANCES };

/* ---- operands ---- */

struct data {
  uint64_t state, n, count;
  int64_t lengths[MOST], ints[MOST];
  double reals[MOST];
};

static uint64_t rotations_below(struct data *d, uint64_t n) {
  d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (d->state >> 33) % n;
}

static void rotations_divide(struct data *d, enum shape shape) {
  static const uint64_t lengths[] = {128, 200, 513, 20000, 0},
                        counts[] = {500, 331, 97, 3, 300};
  d->n = 0;
  d->count = counts[shape];
  for (uint64_t i = 0; i < d->count; i++) {
    d->lengths[i] = (int64_t)(lengths[shape] ? lengths[shape] : 128 + rotations_below(d, 100));
    d->n += (uint64_t)d->lengths[i];
  }
}

static struct cvl_value rotations_ints(struct cvl_context *c, enum cvl_elem elem, uint64_t n,
                                       const int64_t *x) {
  struct cvl_value v;
  int32_t *narrow = malloc((n + 1) * sizeof *narrow);
  for (uint64_t i = 0; i < n; i++) narrow[i] = (int32_t)x[i];
  cr_assert(cpu->from_host(c, 0, elem, n, elem == CVL_I64 ? (const void *)x : narrow, &v));
  free(narrow);
  return v;
}

static struct cvl_value rotations(struct cvl_context *c, struct data *d, enum cvl_elem elem,
                                  enum distances how) {
  for (uint64_t i = 0; i < d->count; i++)
    d->ints[i] = how == EVENLY   ? (int64_t)(i % (uint64_t)d->lengths[i])
                 : how == ANYHOW ? (int64_t)rotations_below(d, (uint64_t)d->lengths[i])
                                 : 3;
  if (how == ONE_WRONG) d->ints[d->count / 2] = -1 - d->lengths[d->count / 2];
  return rotations_ints(c, elem, d->count, d->ints);
}

static struct cvl_value rotations_reals(struct cvl_context *c, struct data *d, uint64_t n) {
  struct cvl_value v;
  for (uint64_t i = 0; i < n; i++) d->reals[i] = (double)rotations_below(d, 1000) / 7 - 60;
  cr_assert(cpu->from_host(c, 0, CVL_F64, n, d->reals, &v));
  return v;
}

static void rotations_make(struct cvl_context *c, struct data *d, enum cvl_elem elem,
                           enum distances how, struct cvl_value *operands) {
  for (uint64_t i = 0; i < d->n; i++) d->ints[i] = (int64_t)rotations_below(d, 100000) - 50000;
  operands[0] = rotations_ints(c, elem, d->n, d->ints);
  operands[1] = rotations(c, d, elem, how);
  operands[2] = rotations_ints(c, elem, d->count, d->lengths);
  cr_assert(cpu->segdes_from_host(c, 0, d->count, d->lengths, &operands[3]));
  operands[4] = rotations_reals(c, d, d->count);
  operands[5] = rotations_reals(c, d, d->n);
  for (int64_t one = 0; one < 2; one++) {
    for (uint64_t i = 0; i < d->count; i++) d->ints[i] = one;
    operands[6 + one] = rotations_ints(c, elem, d->count, d->ints);
  }
  operands[8] = cvl_one_segment(d->n);
}

/* ---- comparison ---- */

static void rotations_expect_same(struct cvl_context *c, const struct cvl_value *a,
                                  const struct cvl_value *b, const char *what) {
  const uint64_t n = cpu->length(c, a).bound;
  const size_t bytes = n * elem_info((enum cvl_elem)a->elem)->bytes;
  char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
  cr_assert_eq(n, cpu->length(c, b).bound, "%s", what);
  cr_assert(cpu->to_host(c, a, 0, n, x) && cpu->to_host(c, b, 0, n, y));
  cr_expect(memcmp(x, y, bytes) == 0, "%s", what);
  free(x);
  free(y);
}

static void expect_same_fault(struct cvl_context *c, const struct cvl_error *wanted,
                              const char *what) {
  struct cvl_error found;
  cr_assert(cpu->check(c, true, &found), "%s", what);
  cr_expect(wanted->kind == found.kind && wanted->site == found.site &&
                wanted->position == found.position && wanted->value == found.value &&
                wanted->segment == found.segment,
            "%s: kind %d at %lld: %lld, not %d at %lld: %lld of %lld", what, found.kind,
            (long long)found.position, (long long)found.value, wanted->kind,
            (long long)wanted->position, (long long)wanted->value, (long long)wanted->limit);
}

/* Returns whether nothing is at fault. */
static bool rotations_compare(struct cvl_context *c, const struct superop *op,
                              struct cvl_kernel *k, const struct cvl_value *operands,
                              unsigned outputs, const char *what) {
  struct cvl_value wanted[OUTPUTS], got[OUTPUTS];
  struct cvl_error expected = {0};
  const bool good = superop_run(cpu, c, 1, op, NULL, operands, wanted);
  if (!good) cr_assert(cpu->check(c, true, &expected));
  cr_assert_eq(cpu->superops->run(c, 1, k, operands, got), good, "%s", what);
  if (!good) expect_same_fault(c, &expected, what);
  for (unsigned i = 0; i < outputs && good; i++) {
    rotations_expect_same(c, &wanted[i], &got[i], what);
    cpu->release(c, &wanted[i]);
    cpu->release(c, &got[i]);
  }
  return good;
}

/* ---- all ---- */

static void compare_all(unsigned number, unsigned threads, enum cvl_elem elem,
                        const char *directory) {
  const struct cvl_options options = {.int_elem = elem,
                                      .float_elem = CVL_F64,
                                      .threads = threads,
                                      .compile = CVL_COMPILE_ALL,
                                      .compile_waits = true,
                                      .compile_directory = directory};
  struct data *d = calloc(1, sizeof *d);
  struct loaded l;
  struct cvl_context *c = cpu->open(&options, NULL);
  load(&l, rows[number].text, (struct widths){elem, CVL_F64});
  cr_assert(l.ops[0] && c, "%u: %s", number,
            l.diags.list.count ? l.diags.list.items[0].message : "");
  for (unsigned i = 0; i < SHAPES * DISTANCES; i++) {
    struct cvl_kernel *k = cpu->superops->prepare(c, l.ops[0]);
    cr_assert_not_null(k);
    struct cvl_value operands[PARAMS];
    char what[80];
    snprintf(what, sizeof what, "row %u, shape %u, distances %u, %u threads, INT of %d bytes",
             number, i / DISTANCES, i % DISTANCES, threads, elem == CVL_I64 ? 8 : 4);
    d->state = i;
    rotations_divide(d, (enum shape)(i / DISTANCES));
    rotations_make(c, d, elem, (enum distances)(i % DISTANCES), operands);
    const bool good = rotations_compare(c, l.ops[0], k, operands, rows[number].outputs, what);
    if (i / DISTANCES != FEW_LONG) /* which threads may not share */
      cr_expect_eq(k->run.way == BY_FUNCTION, good, "%s", what);
    for (unsigned p = 0; p < PARAMS; p++) cpu->release(c, &operands[p]);
    cpu->superops->discard(c, k);
  }
  cpu->close(c);
  unload(&l);
  free(d);
}

Test(rotations, like_the_operations) {
  char directory[] = "/tmp/ravel-rotations-XXXXXX", command[64];
  cr_assert_not_null(mkdtemp(directory));
  for (unsigned i = 0; i < ROWS; i++) {
    compare_all(i, 1 + i % 2 * 2, CVL_I64, directory);
    compare_all(i, 3 - i % 2 * 2, CVL_I32, directory);
  }
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}
