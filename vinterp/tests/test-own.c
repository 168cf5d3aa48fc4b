/* test-own.c - results that processes write together, each its own elements. Here there is
 * only one process, which has all elements, or those of a range.
 */
#include "vinterp/tests/fixture.h"

#include "cvl/oracle/oracle.h"
#include "cvl/processes.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- a back end of the first of several processes ---- */

static struct cvl_backend table;
static struct {
  uint64_t from, to; /* range of this process's elements; to == 0: all */
  bool fails;        /* whether read_own fails */
} own;

static unsigned process(struct cvl_context *c) {
  (void)c;
  return 0;
}

static void own_broadcast(struct cvl_context *c, void *data, uint64_t bytes) {
  (void)c, (void)data, (void)bytes;
}

static bool own_any(struct cvl_context *c, bool mine) {
  (void)c;
  return mine;
}

static bool from_first(struct cvl_context *c, bool mine, void *data, uint64_t bytes) {
  (void)c, (void)data, (void)bytes;
  return mine;
}

static bool test_own_range(struct cvl_context *c, const struct cvl_value *v, uint64_t *first,
                           uint64_t *n) {
  const bool segdes = v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
  const uint64_t all = segdes ? table.count(c, v).bound : table.length(c, v).bound;
  *first = own.to > 0 ? own.from : 0;
  *n = own.to > 0 ? own.to - own.from : all;
  return true;
}

static bool test_own_read_own(struct cvl_context *c, const struct cvl_value *v, uint64_t first,
                              uint64_t n, void *dst) {
  return !own.fails && table.to_host(c, v, first, n, dst);
}

static bool sum_before(struct cvl_context *c, bool mine, uint64_t n, uint64_t *before) {
  (void)c, (void)n;
  *before = 0;
  return mine;
}

static unsigned stops(struct cvl_context *c, uint64_t epoch, unsigned wish) {
  (void)c, (void)epoch;
  return wish;
}

/* Distributes no call. */
static bool own_distribute(struct cvl_context *c, uint64_t site,
                           struct cvl_distributed_call *d) {
  (void)c, (void)site, (void)d;
  return false;
}

static const struct cvl_processes processes = {.process = process,
                                               .broadcast = own_broadcast,
                                               .any = own_any,
                                               .sum_before = sum_before,
                                               .from_first = from_first,
                                               .stops = stops,
                                               .own_range = test_own_range,
                                               .read_own = test_own_read_own,
                                               .distribute = own_distribute};

/* ---- a consumer in memory ---- */

enum { MOST = 20000 };

struct memory {
  bool lengths;         /* whether it only wants to know that lengths are equal */
  unsigned begun, ends; /* numbers of results */
  uint64_t enough;      /* elements after which it wants no more; 0: it wants all */
  uint64_t begin, end;  /* range of the elements that have come */
  union {
    int64_t ints[MOST];
    double floats[MOST];
  } as;
};

static bool own_begin(void *with, struct machine *m, uint64_t result,
                      enum machine_item_kind kind, uint64_t n) {
  struct memory *s = with;
  cr_assert(machine_is_first(m));
  if (kind == MACHINE_SEGDES || kind == MACHINE_BOOL || result > 1 || n > MOST) return false;
  s->begun++;
  s->begin = s->end = 0;
  return true;
}

static bool own_put(void *with, uint64_t result, uint64_t first, uint64_t n,
                    const void *elements) {
  struct memory *s = with;
  (void)result;
  if (s->end == 0) s->begin = s->end = first;
  cr_assert_eq(first, s->end);
  memcpy(s->as.ints + first, elements, n * sizeof(int64_t));
  s->end += n;
  return s->enough == 0 || s->end < s->enough;
}

static void own_at_end(void *with, struct machine *m, uint64_t result) {
  struct memory *s = with;
  (void)m, (void)result;
  s->ends++;
}

static bool wants_equal(void *with, uint64_t result) {
  (void)result;
  return ((const struct memory *)with)->lengths;
}

/* ---- runs ---- */

struct run_of {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct machine *machine;
  struct machine_results results;
  enum machine_outcome outcome;
};

static void own_run(struct run_of *r, const char *text, struct widths widths,
                    struct memory *memory) {
  const struct machine_own_consumer consumer = {.begin = own_begin,
                                                .put = own_put,
                                                .end = own_at_end,
                                                .wants_equal = wants_equal,
                                                .with = memory};
  struct machine_repetition once = {.own = &consumer};
  struct machine_options options = test_options();
  *r = (struct run_of){.outcome = MACHINE_ERROR};
  heap_init(&r->heap, 0);
  arena_init(&r->arena, &r->heap);
  diag_list_init(&r->diags, &r->arena);
  options.widths = widths;
  struct ir_program *program = program_of(&r->arena, text, widths, &r->diags);
  cr_assert(program);
  table = cvl_oracle_backend;
  table.processes = &processes;
  options.backend = &table;
  r->machine = machine_new(&options, &r->diags);
  cr_assert(r->machine);
  r->outcome = machine_repeat(r->machine, program, NULL, 0, &once, &r->results, &r->diags);
}

static void own_end(struct run_of *r) {
  machine_results_free(r->machine, &r->results);
  machine_free(r->machine);
  arena_free(&r->arena);
  cr_expect_eq(r->heap.live, 0);
}

/* 20,000 numbers 0, 3, 6 ..., as ints or as floats. */
#define THREES "CONST INT 0 CONST INT 3 CONST INT 20000 MAKE_SEGDES INDEX "
#define FLOATS THREES "I_TO_F "

static const struct widths wide = {CVL_I64, CVL_F64}, narrow = {CVL_I32, CVL_F32};

static void expect_threes(const struct memory *m, uint64_t from, uint64_t to, bool floats) {
  cr_expect_eq(m->begin, from);
  cr_assert_eq(m->end, to);
  for (uint64_t k = from; k < to; k++) {
    if (floats)
      cr_assert_eq(m->as.floats[k], 3.0 * (double)k);
    else
      cr_assert_eq(m->as.ints[k], 3 * (int64_t)k);
  }
}

Test(own, elements_come_in_blocks_of_64_bits) {
  static struct memory memory;
  for (int i = 0; i < 8; i++) {
    struct run_of r;
    memory = (struct memory){.begun = 0};
    own.from = i % 2 ? 11 : 0;
    own.to = i % 2 ? 19999 : 0;
    own_run(&r, i & 2 ? "FUNC MAIN " FLOATS "RET" : "FUNC MAIN " THREES "RET",
            i & 4 ? narrow : wide, &memory);
    cr_assert_eq(r.outcome, MACHINE_DONE);
    expect_threes(&memory, own.from, own.to > 0 ? own.to : 20000, i & 2);
    cr_expect_eq(memory.ends, 1);
    cr_expect_eq(r.results.items[0].length, 20000);
    cr_expect(r.results.items[0].shared && !r.results.items[0].as.ints);
    own_end(&r);
  }
}

Test(own, a_consumer_may_have_enough) {
  static struct memory memory;
  struct run_of r;
  memory.enough = 5;
  own_run(&r, "FUNC MAIN " THREES "RET", wide, &memory);
  cr_expect_eq(r.outcome, MACHINE_DONE);
  cr_expect(memory.end < 20000 && memory.ends == 1);
  own_end(&r);
}

Test(own, others_are_brought_to_all) {
  static struct memory memory;
  struct run_of r;
  own_run(&r, "FUNC MAIN CONST INT 4 CONST INT 5 CONST BOOL (T F) RET", wide, &memory);
  cr_assert_eq(r.outcome, MACHINE_DONE);
  cr_expect_eq(memory.begun, 2);
  cr_expect_eq(memory.ends, 2);
  cr_expect_eq(memory.as.ints[0], 5);
  cr_expect(!r.results.items[2].shared && r.results.items[2].as.bools[0] == 1);
  own_end(&r);
}

Test(own, what_cannot_be_read_is_an_error) {
  static struct memory memory;
  struct run_of r;
  own.fails = true;
  own_run(&r, "FUNC MAIN " THREES "RET", wide, &memory);
  cr_expect_eq(r.outcome, MACHINE_ERROR);
  cr_expect_eq(memory.ends, 0);
  own_end(&r);
  memory.lengths = true;
  own_run(&r, "FUNC MAIN CONST INT (3 3 3) MAKE_SEGDES RET", wide, &memory);
  cr_expect_eq(r.outcome, MACHINE_ERROR);
  own_end(&r);
}

static void expect_lengths(const char *lengths, bool equal, int64_t last) {
  static struct memory memory;
  struct run_of r;
  char text[200];
  snprintf(text, sizeof text, "FUNC MAIN CONST INT (%s) MAKE_SEGDES RET", lengths);
  memory.lengths = true;
  own_run(&r, text, wide, &memory);
  cr_assert_eq(r.outcome, MACHINE_DONE);
  const struct machine_item *item = &r.results.items[0];
  cr_expect_eq(item->equal, equal, "%s", lengths);
  cr_expect_eq(item->as.ints[equal ? 0 : item->length - 1], last);
  own_end(&r);
}

Test(own, of_equal_lengths_one_is_enough) {
  expect_lengths("3 3 3", true, 3);
  expect_lengths("0 0", true, 0);
  expect_lengths("3 3 4", false, 4);
  expect_lengths("4 3", false, 3);
  expect_lengths("7", false, 7);
}
