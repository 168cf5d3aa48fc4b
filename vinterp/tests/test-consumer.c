/* test-consumer.c - results that go to a consumer chunk by chunk. They are the same as without
 * a consumer, whatever the chunks are. Also faults, and failures of the consumer.
 */
#include "vinterp/tests/fixture.h"

#include "cvl/oracle/oracle.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- a back end that imports, by copying ---- */

static struct cvl_backend table;

static bool test_consumer_import(struct cvl_context *context, uint64_t site, enum cvl_elem elem,
                                 uint64_t n, const void *data, struct cvl_notice done,
                                 struct cvl_value *out) {
  const bool ok = cvl_oracle_backend.from_host(context, site, elem, n, data, out);
  done.call(done.with);
  return ok;
}

static bool consumer_export(struct cvl_context *context, const struct cvl_value *v,
                            struct cvl_export *exported) {
  (void)context, (void)v, (void)exported;
  return false;
}

static const struct cvl_sharing sharing = {test_consumer_import, consumer_export};

/* ---- a consumer in memory ---- */

enum { RESULTS = 4, MOST = 1000, MOST_FAILURES = 200 };

struct memory {
  unsigned takes; /* a bit for each result */
  unsigned puts, wholes;
  uint64_t asked; /* least bytes of a result that it wants; 0: `wants` is not set */
  uint64_t bytes; /* bytes of the last result that `wants` was called for */
  unsigned fail_put, fail_whole; /* number of the call that fails, from 1 on */
  uint64_t totals[RESULTS], counts[RESULTS];
  int64_t elements[RESULTS][MOST];
};

static bool test_consumer_takes(void *with, uint64_t result, enum cvl_elem elem) {
  const struct memory *s = with;
  return elem == CVL_I64 && (s->takes >> result & 1);
}

static bool test_consumer_wants(void *with, uint64_t bytes) {
  struct memory *s = with;
  s->bytes = bytes;
  return bytes >= s->asked;
}

static bool test_consumer_fail(char problem[MACHINE_CONSUMER_PROBLEM]) {
  strcpy(problem, "there is no room");
  return false;
}

static bool test_consumer_put(void *with, uint64_t result, uint64_t first, uint64_t n,
                              uint64_t total, const void *elements,
                              char problem[MACHINE_CONSUMER_PROBLEM]) {
  struct memory *s = with;
  cr_assert_lt(result, RESULTS);
  cr_assert_leq(first, s->counts[result]);
  cr_assert_leq(first + n, MOST);
  if (++s->puts == s->fail_put) return test_consumer_fail(problem);
  memcpy(s->elements[result] + first, elements, n * sizeof(int64_t));
  s->counts[result] = first + n;
  s->totals[result] = total;
  return true;
}

static const void *test_consumer_whole(void *with, uint64_t result, uint64_t n,
                                       char problem[MACHINE_CONSUMER_PROBLEM]) {
  struct memory *s = with;
  cr_assert_eq(n, s->counts[result]);
  if (++s->wholes != s->fail_whole) return s->elements[result];
  test_consumer_fail(problem);
  return NULL;
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

static const int64_t numbers[] = {3, 0, 4, 1, 5, 9, 2, 6};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
static const struct machine_item argument = {
    .kind = MACHINE_INT, .shared = true, .length = NUMBERS, .as.ints = numbers};

static void consumer_run(struct run_of *r, const char *text, struct machine_options options,
                         struct memory *memory) {
  const struct machine_consumer consumer = {
      .takes = test_consumer_takes,
      .put = test_consumer_put,
      .whole = test_consumer_whole,
      .with = memory,
      .wants = memory && memory->asked ? test_consumer_wants : NULL};
  struct machine_repetition once = {.consumer = memory ? &consumer : NULL};
  *r = (struct run_of){.outcome = MACHINE_ERROR};
  heap_init(&r->heap, 0);
  arena_init(&r->arena, &r->heap);
  diag_list_init(&r->diags, &r->arena);
  struct ir_program *program = program_of_last(&r->arena, text, options.widths, &r->diags);
  cr_assert(program);
  table = cvl_oracle_backend;
  table.sharing = &sharing;
  options.backend = &table;
  r->machine = machine_new(&options, &r->diags);
  cr_assert(r->machine);
  r->outcome = machine_repeat(r->machine, program, &argument, 1, &once, &r->results, &r->diags);
}

static void test_consumer_end(struct run_of *r) {
  machine_results_free(r->machine, &r->results);
  machine_free(r->machine);
  arena_free(&r->arena);
  cr_expect_eq(r->heap.live, 0);
}

static const char *consumer_message(const struct run_of *r) {
  return r->diags.list.count ? r->diags.list.items[0].message : "";
}

static struct machine_options in_chunks(uint64_t n) {
  struct machine_options options = test_options();
  options.chunks = (struct machine_chunks){n ? MACHINE_CHUNKS_FIXED : MACHINE_CHUNKS_OFF, n};
  return options;
}

/* ---- programs: the entry is the last function ---- */

#define BODIES                                                                                 \
  "FUNC MAIN RET\n"                                                                            \
  "FUNC SQUARE {% instances shared each -> each } COPY 1 0 * INT POP 1 1 RET\n"                \
  "FUNC UP_TO {% instances shared each -> each 0 } COPY 1 0 MAKE_SEGDES\n"                     \
  "CONST INT 0 COPY 1 3 DIST INT CONST INT 1 COPY 1 4 DIST INT COPY 1 2 INDEX POP 2 2 RET\n"   \
  "FUNC INVERSE {% instances shared each -> each }\n"                                          \
  "CONST INT 60 COPY 1 2 DIST INT CPOP 1 1 / INT POP 1 1 RET\n"                                \
  "FUNC FOR_EACH COPY 1 0 LENGTH INT MAKE_SEGDES CPOP 1 1 RET\n"

struct streamed {
  const char *text;
  unsigned consumed; /* a bit for each result, from calls in chunks, that the consumer gets */
};

static const struct streamed programs[] = {
    {BODIES "FUNC FN CALL FOR_EACH CALL SQUARE RET", 1},
    {BODIES "FUNC MID CALL FOR_EACH CALL SQUARE RET FUNC FN CALL MID RET", 1},
    {BODIES "FUNC FN CALL FOR_EACH CALL UP_TO RET", 2},
    {BODIES "FUNC MID CALL FOR_EACH CALL UP_TO RET FUNC FN CALL MID CONST INT 5 CPOP 2 1 RET",
     4},
    /* the result is used as well */
    {BODIES "FUNC FN CALL FOR_EACH CALL SQUARE COPY 1 0 COPY 1 0 + INT RET", 1},
    /* the value is no result, or only one of its uses is */
    {BODIES "FUNC FN CALL FOR_EACH CALL SQUARE COPY 1 0 + INT RET", 0},
    {BODIES "FUNC MID CALL FOR_EACH CALL SQUARE RET\n"
            "FUNC FN COPY 1 0 CALL MID POP 1 0 RET",
     0},
    {BODIES "FUNC MID CALL FOR_EACH CALL SQUARE RET\n"
            "FUNC FN CALL MID COPY 1 0 LENGTH INT CONST INT 3 > INT IF\n"
            "COPY 1 0 + INT ELSE ENDIF RET",
     0},
    {BODIES "FUNC OUTER {% instances shared each -> each } CALL SQUARE RET\n"
            "FUNC FN CALL FOR_EACH CALL OUTER RET",
     1},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void consumer_expect_same(const struct run_of *a, const struct run_of *b,
                                 unsigned program, uint64_t n) {
  cr_assert_eq(b->outcome, MACHINE_DONE, "program %u: %s", program, consumer_message(b));
  cr_assert_eq(a->results.count, b->results.count);
  for (uint64_t k = 0; k < a->results.count; k++) {
    const struct machine_item *x = &a->results.items[k], *y = &b->results.items[k];
    cr_expect_eq(x->kind, y->kind);
    cr_assert_eq(x->length, y->length, "program %u, chunks of %lu", program, n);
    cr_expect_arr_eq(x->as.ints, y->as.ints, x->length * sizeof(int64_t),
                     "program %u, chunks of %lu", program, n);
  }
}

/* Returns which results are where the consumer has put them. Expects that no other results are
 * shared. */
static unsigned consumed(const struct run_of *r, const struct memory *m) {
  unsigned found = 0;
  for (uint64_t k = 0; k < r->results.count; k++) {
    const int64_t *at = r->results.items[k].as.ints;
    const bool is = at == m->elements[k];
    cr_expect_eq(is || at == numbers, r->results.items[k].shared);
    found |= (unsigned)is << k;
  }
  return found;
}

Test(consumer, results_are_the_same) {
  for (unsigned p = 0; p < PROGRAMS; p++) {
    struct run_of uncut;
    consumer_run(&uncut, programs[p].text, in_chunks(0), NULL);
    cr_assert_eq(uncut.outcome, MACHINE_DONE, "program %u: %s", p, consumer_message(&uncut));
    for (uint64_t n = 0; n <= NUMBERS; n++) {
      struct memory memory = {.takes = n == 6 ? 0 : 15};
      struct run_of cut;
      consumer_run(&cut, programs[p].text, in_chunks(n), &memory);
      consumer_expect_same(&uncut, &cut, p, n);
      const bool streams = n > 0 && n < NUMBERS && memory.takes;
      cr_expect_eq(consumed(&cut, &memory), streams ? programs[p].consumed : 0,
                   "program %u, chunks of %lu: %u", p, n, consumed(&cut, &memory));
      test_consumer_end(&cut);
    }
    test_consumer_end(&uncut);
  }
}

Test(consumer, it_gets_sizes_that_are_known) {
  struct memory memory = {.takes = 15};
  struct run_of r;
  consumer_run(&r, programs[0].text, in_chunks(3), &memory);
  cr_expect_eq(memory.totals[0], NUMBERS);
  cr_expect_eq(memory.puts, 3);
  cr_expect_eq(memory.wholes, 1);
  test_consumer_end(&r);
  consumer_run(&r, programs[2].text, in_chunks(3), &memory);
  cr_expect_eq(memory.totals[1], MACHINE_CONSUMER_UNKNOWN);
  test_consumer_end(&r);
}

/* The results are the argument twice, and an equal vector. */
Test(consumer, an_argument_may_be_a_result) {
  struct memory memory = {.takes = 15};
  struct run_of r;
  consumer_run(&r,
               BODIES "FUNC FN COPY 1 0 COPY 1 0 CONST INT 0 COPY 1 1 LENGTH INT MAKE_SEGDES\n"
                      "DIST INT + INT RET",
               in_chunks(3), &memory);
  cr_assert_eq(r.outcome, MACHINE_DONE, "%s", consumer_message(&r));
  cr_assert_eq(r.results.count, 3);
  for (uint64_t k = 0; k < 3; k++) {
    const struct machine_item *item = &r.results.items[k];
    cr_expect_eq(item->as.ints == numbers, k < 2);
    cr_expect_eq(item->shared, k < 2);
    cr_expect_arr_eq(item->as.ints, numbers, sizeof numbers);
  }
  test_consumer_end(&r);
}

/* Results with lengths of 8 segments go to the consumer if it wants 64 bytes. */
Test(consumer, lengths_go_there_in_the_end) {
  for (uint64_t asked = 63; asked <= 65; asked++) {
    struct memory memory = {.takes = 1, .asked = asked};
    struct run_of r;
    consumer_run(&r, programs[2].text, in_chunks(3), &memory);
    cr_assert_eq(r.outcome, MACHINE_DONE, "%s", consumer_message(&r));
    cr_assert_eq(r.results.count, 2);
    cr_expect_eq(memory.bytes, sizeof numbers);
    cr_expect_eq(r.results.items[0].as.ints == memory.elements[0], asked <= 64);
    cr_expect_eq(memory.totals[0], asked <= 64 ? NUMBERS : 0);
    cr_expect_arr_eq(r.results.items[0].as.ints, numbers, sizeof numbers);
    test_consumer_end(&r);
  }
  struct memory memory = {.takes = 1, .asked = 1, .fail_put = 1};
  struct run_of r;
  consumer_run(&r, programs[2].text, in_chunks(3), &memory);
  cr_expect_eq(r.outcome, MACHINE_ERROR);
  cr_expect(strstr(consumer_message(&r), "there is no room"), "%s", consumer_message(&r));
  test_consumer_end(&r);
}

Test(consumer, a_repeated_run_has_none) {
  struct memory memory = {.takes = 15};
  const struct machine_consumer consumer = {.takes = test_consumer_takes,
                                            .put = test_consumer_put,
                                            .whole = test_consumer_whole,
                                            .with = &memory};
  double seconds[1];
  struct machine_repetition twice = {.runs = 1, .consumer = &consumer, .seconds = seconds};
  struct run_of r;
  consumer_run(&r, programs[0].text, in_chunks(3), NULL);
  struct ir_program *program =
      program_of_last(&r.arena, programs[0].text, test_options().widths, &r.diags);
  machine_results_free(r.machine, &r.results);
  cr_expect_eq(machine_repeat(r.machine, program, &argument, 1, &twice, &r.results, &r.diags),
               MACHINE_DONE);
  cr_expect_eq(memory.puts, 0);
  test_consumer_end(&r);
}

/* ---- failures ---- */

static void expect_failure(struct memory memory, const char *wanted, const char *text) {
  struct run_of r;
  consumer_run(&r, text, in_chunks(3), &memory);
  cr_expect_eq(r.outcome, MACHINE_ERROR);
  cr_expect(strstr(consumer_message(&r), wanted), "%s", consumer_message(&r));
  cr_expect_eq(r.results.count, 0);
  test_consumer_end(&r);
}

Test(consumer, its_failure_ends_the_run_at_once) {
  for (unsigned k = 1; k <= 3; k++)
    expect_failure((struct memory){.takes = 15, .fail_put = k}, "there is no room",
                   programs[0].text);
  expect_failure((struct memory){.takes = 15, .fail_whole = 1}, "there is no room",
                 programs[0].text);
}

/* The second number is 0. */
Test(consumer, a_fault_is_that_of_the_program) {
  expect_failure((struct memory){.takes = 15}, "at element 1",
                 BODIES "FUNC FN CALL FOR_EACH CALL INVERSE RET");
}

Test(consumer, every_allocation_may_fail) {
  for (unsigned p = 0; p < PROGRAMS; p++) {
    struct outcomes seen = {0};
    struct run_of uncut;
    consumer_run(&uncut, programs[p].text, in_chunks(0), NULL);
    for (uint64_t k = 1; k <= MOST_FAILURES; k++) {
      struct memory memory = {.takes = 15};
      struct machine_options options = in_chunks(3);
      struct run_of r;
      options.fail_allocation = k;
      consumer_run(&r, programs[p].text, options, &memory);
      if (r.outcome == MACHINE_DONE) consumer_expect_same(&uncut, &r, p, 3);
      count_outcome(&seen, r.outcome, &r.results, uncut.results.count, r.machine, &r.diags);
      test_consumer_end(&r);
    }
    cr_expect(seen.failed > 10 && seen.done > 10, "%u failed, %u did not", seen.failed,
              seen.done);
    test_consumer_end(&uncut);
  }
}
