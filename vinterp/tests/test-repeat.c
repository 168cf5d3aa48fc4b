/* test-repeat.c - a program is run repeatedly on the same arguments. Every run is like the
 * first, superoperators are prepared once, and nothing is left behind.
 */
#include "vinterp/tests/fixture.h"

#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"
#include "cvl/superop.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

enum { RUNS = 5 };

/* A program that was run repeatedly, or once with runs = 0. */
struct repeated {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct machine *machine;
  struct machine_repetition repetition;
  struct machine_results results;
  enum machine_outcome outcome;
  double seconds[RUNS];
  char *out;
  size_t out_size;
};

static const char *repeat_message(const struct repeated *r) {
  return r->diags.list.count ? r->diags.list.items[0].message : "";
}

static void test_repeat(struct repeated *r, const char *text, struct machine_options options,
                        const struct machine_item *arguments, uint64_t count,
                        struct machine_repetition repetition) {
  *r = (struct repeated){.repetition = repetition};
  heap_init(&r->heap, 0);
  arena_init(&r->arena, &r->heap);
  diag_list_init(&r->diags, &r->arena);
  struct ir_program *program = program_of_last(&r->arena, text, options.widths, &r->diags);
  options.out = options.err = open_memstream(&r->out, &r->out_size);
  r->machine = machine_new(&options, &r->diags);
  cr_assert(r->machine && options.out);
  for (int k = 0; k < RUNS; k++) r->seconds[k] = -1;
  r->repetition.seconds = r->seconds;
  r->outcome = machine_repeat(r->machine, program, arguments, count, &r->repetition,
                              &r->results, &r->diags);
  fclose(options.out);
}

static void repeat_end(struct repeated *r) {
  machine_results_free(r->machine, &r->results);
  machine_free(r->machine);
  arena_free(&r->arena);
  free(r->out);
  cr_expect_eq(r->heap.live, 0);
}

static void repeat_expect_ints(const struct machine_item *item, uint64_t count,
                               const int64_t *ints) {
  cr_assert_eq(item->length, count);
  for (uint64_t i = 0; i < count; i++) cr_expect_eq(item->as.ints[i], ints[i]);
}

static const int64_t numbers[] = {10, 20, 30}, lengths[] = {1, 0, 4};
static const struct machine_item arguments[] = {
    {.kind = MACHINE_INT, .length = 3, .as.ints = numbers},
    {.kind = MACHINE_SEGDES, .length = 3, .as.ints = lengths}};

static const struct machine_repetition timed = {.runs = RUNS},
                                       counted = {.runs = RUNS, .counts = true};

Test(test_repeat, every_run_is_like_a_single_one) {
  static const char *const texts[] = {
      "FUNC MAIN RET FUNC FN LENGTHS - INT CONST INT (7 7 7) + INT RET",
      "FUNC MAIN RET FUNC FN LENGTHS POP 1 0 RAND RAND RET", /* from the same seed each time */
      "FUNC MAIN RET FUNC FN LENGTHS COPY 1 0 + INT RET FUNC LAST CALL FN + INT RET"};
  struct cvl_backend late;
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
    for (int way = 0; way < 8; way++) {
      struct machine_options options = test_options();
      options.seed = 42;
      options.checked = way & 1;
      if (way & 2) options.widths = (struct widths){CVL_I32, CVL_F32};
      if (way & 4) options.backend = delayed_oracle(&late);
      if (way & 4) options.device = way;
      struct repeated once, often;
      test_repeat(&once, texts[t], options, arguments, 2,
                  (struct machine_repetition){.runs = 0});
      test_repeat(&often, texts[t], options, arguments, 2, way & 1 ? counted : timed);
      cr_assert_eq(once.outcome, MACHINE_DONE, "%s", repeat_message(&once));
      cr_assert_eq(often.outcome, MACHINE_DONE, "%s", repeat_message(&often));
      cr_assert_eq(often.results.count, once.results.count);
      for (uint64_t k = 0; k < once.results.count; k++) {
        const struct machine_item *item = &once.results.items[k];
        cr_expect_eq(often.results.items[k].kind, item->kind);
        repeat_expect_ints(&often.results.items[k], item->length, item->as.ints);
      }
      for (int k = 0; k < RUNS; k++) {
        cr_expect_geq(often.seconds[k], 0);
        cr_expect_eq(once.seconds[k], -1);
      }
      repeat_end(&once);
      repeat_end(&often);
    }
  }
}

/* ---- values that stay in the back end ---- */

static unsigned uploads, prepared;

static bool repeat_note_upload(struct cvl_context *context, uint64_t site, enum cvl_elem elem,
                               uint64_t n, const void *data, struct cvl_value *out) {
  uploads++;
  return cvl_oracle_backend.from_host(context, site, elem, n, data, out);
}

static struct cvl_kernel *repeat_note_prepare(struct cvl_context *context,
                                              const struct superop *op) {
  prepared++;
  return cvl_oracle_backend.superops->prepare(context, op);
}

static void wipe(void *context) {
  int64_t *memory = context;
  memory[0] = memory[1] = memory[2] = -1;
}

Test(test_repeat, arguments_are_loaded_and_superoperators_prepared_once) {
  struct cvl_backend noting = cvl_oracle_backend;
  noting.from_host = repeat_note_upload;
  struct cvl_superops superops = *noting.superops;
  superops.prepare = repeat_note_prepare;
  noting.superops = &superops;
  struct machine_options options = test_options();
  options.backend = &noting;
  for (uint64_t runs = 0; runs <= RUNS; runs += RUNS) {
    int64_t memory[] = {3, 4, 5};
    const struct machine_item item = {.kind = MACHINE_INT, .length = 3, .as.ints = memory};
    struct machine_repetition repetition = {.runs = runs, .loaded = wipe, .context = memory};
    uploads = prepared = 0;
    struct repeated r;
    test_repeat(&r,
                "fused OP0#1 ($0 : INT) = (+ INT @ (* INT @ $0 $0) $0)\n"
                "FUNC MAIN RET FUNC FN FUSED 0 RET",
                options, &item, 1, repetition);
    cr_assert_eq(r.outcome, MACHINE_DONE, "%s", repeat_message(&r));
    repeat_expect_ints(&r.results.items[0], 3, (int64_t[]){12, 20, 30});
    cr_expect_eq(uploads, 1, "%u uploads", uploads);
    cr_expect_eq(prepared, 1, "prepared %u times", prepared);
    cr_expect_eq(memory[0], -1);
    if (runs > 0) cr_expect_geq(r.repetition.peak_bytes, 2 * sizeof memory);
    repeat_end(&r);
  }
}

Test(test_repeat, counts_are_those_of_one_run) {
  struct repeated r;
  test_repeat(&r, "FUNC MAIN RET FUNC FN COPY 1 0 + INT CONST SEGDES 3 +_REDUCE INT RET",
              test_options(), arguments, 1, counted);
  cr_assert_eq(r.outcome, MACHINE_DONE, "%s", repeat_message(&r));
  repeat_expect_ints(&r.results.items[0], 1, (int64_t[]){120});
  cr_expect_eq(r.repetition.totals.instructions, 2);
  cr_expect_eq(r.repetition.totals.work, 3 + 3 + 3 + 3 + 1 + 1);
  cr_expect_eq(r.repetition.totals.steps, 1 + 2);
  repeat_end(&r);
  test_repeat(&r, "FUNC MAIN RET FUNC FN COPY 1 0 + INT RET", test_options(), arguments, 1,
              timed);
  cr_expect_eq(r.repetition.totals.instructions, 0);
  repeat_end(&r);
}

/* ---- effects ---- */

Test(test_repeat, output_is_written_once) {
  for (int way = 0; way < 2; way++) {
    struct repeated r;
    test_repeat(
        &r,
        "FUNC MAIN CONST CHAR \"hello\" CONST INT 1 FWRITE CHAR POP 2 0 CONST INT 7 WRITE "
        "INT POP 2 0 RET",
        test_options(), NULL, 0, way ? counted : timed);
    cr_expect_eq(r.outcome, MACHINE_DONE, "%s", repeat_message(&r));
    cr_expect_str_eq(r.out, "hello( 7 )\n");
    repeat_end(&r);
  }
}

Test(test_repeat, what_may_differ_the_next_time_is_refused) {
  static const char *const texts[] = {
      "FUNC MAIN READ INT POP 2 0 RET", "FUNC MAIN CONST INT 0 FREAD INT POP 2 0 RET",
      "FUNC MAIN CONST CHAR \"/dev/null\" CONST INT 2 FOPEN RET",
      "FUNC MAIN CONST CHAR \"true\" CONST INT 0 CONST INT 1 CONST INT 2 SPAWN RET"};
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
    struct machine_options options = test_options();
    options.permissions = permissions_of_user(NULL);
    options.in = tmpfile();
    struct repeated r;
    test_repeat(&r, texts[t], options, NULL, 0, timed);
    cr_expect_eq(r.outcome, MACHINE_ERROR);
    cr_expect(strstr(repeat_message(&r), "that is run repeatedly may not read"), "%s",
              repeat_message(&r));
    repeat_end(&r);
    test_repeat(&r, texts[t], options, NULL, 0, (struct machine_repetition){.runs = 0});
    cr_expect_eq(r.outcome, MACHINE_DONE, "%s", repeat_message(&r));
    repeat_end(&r);
    fclose(options.in);
  }
}

/* ---- runs that end early ---- */

Test(test_repeat, a_failure_ends_it) {
  struct repeated r;
  for (int way = 0; way < 2; way++) {
    test_repeat(&r, "FUNC MAIN RET FUNC FN CONST INT (1 0 1) / INT RET", test_options(),
                arguments, 1, way ? counted : timed);
    cr_expect_eq(r.outcome, MACHINE_ERROR);
    cr_expect_eq(r.diags.list.count, 1);
    cr_expect(strstr(repeat_message(&r), "division by zero at element 1"), "%s",
              repeat_message(&r));
    cr_expect_eq(r.seconds[0], -1);
    repeat_end(&r);
    test_repeat(&r, "FUNC MAIN EXIT RET", test_options(), NULL, 0, way ? counted : timed);
    cr_expect_eq(r.outcome, MACHINE_EXIT, "%s", repeat_message(&r));
    repeat_end(&r);
  }
}

/* If any allocation fails, in any run, that is an error and no memory is lost. */
Test(test_repeat, failing_allocations) {
  enum { ENOUGH = 600 };
  struct outcomes o = {0};
  for (uint64_t n = 1; n <= ENOUGH; n++) {
    struct machine_options options = test_options();
    if (n / 2 % 2) options.widths = (struct widths){CVL_I32, CVL_F32};
    options.fail_allocation = n;
    struct repeated r;
    test_repeat(
        &r,
        "fused OP0#1 ($0 : INT) = (+ INT @ (* INT @ $0 $0) $0)\n"
        "FUNC MAIN RET FUNC FN LENGTHS COPY 1 0 + INT + INT FUSED 0 CONST INT (1 2) RET",
        options, arguments, 2, n % 3 ? timed : counted);
    count_outcome(&o, r.outcome, &r.results, 2, r.machine, &r.diags);
    repeat_end(&r);
  }
  cr_expect(o.failed > 50 && o.done > 50, "%u failed, %u did not", o.failed, o.done);
}
