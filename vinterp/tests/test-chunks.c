/* test-chunks.c - calls by instances, cut into chunks of all sizes: the same results and the
 * same diagnostics as uncut.
 */
#include "cvl/delayed.h"
#include "cvl/oracle.h"
#include "vinterp/tests/chunked-programs.h"
#include "vinterp/tests/fixture.h"
#include <criterion/criterion.h>
#include <string.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

static const struct machine_chunks sizes[] = {
    {MACHINE_CHUNKS_FIXED, 1},  {MACHINE_CHUNKS_FIXED, 2},  {MACHINE_CHUNKS_FIXED, 3},
    {MACHINE_CHUNKS_FIXED, 7},  {MACHINE_CHUNKS_RANDOM, 1}, {MACHINE_CHUNKS_RANDOM, 2},
    {MACHINE_CHUNKS_RANDOM, 3}, {MACHINE_CHUNKS_AUTO, 0},
};
enum { SIZES = sizeof sizes / sizeof sizes[0], SEEDS = 4 };

static struct ran run_chunked(const char *text, struct machine_options options,
                              struct machine_chunks chunks) {
  options.chunks = chunks;
  return run_let_text(text, options);
}

static void expect_same(const struct chunked *p, const struct ran *whole, const struct ran *ran,
                        struct machine_chunks chunks) {
  const char *name = p->name;
  cr_expect_eq(ran->outcome, whole->outcome, "%s, mode %d %lu: %s", name, chunks.mode, chunks.n,
               ran->diags);
  cr_expect_str_eq(ran->out, whole->out, "%s, mode %d %lu:\n%s\nnot\n%s", name, chunks.mode,
                   chunks.n, ran->out, whole->out);
  cr_expect_str_eq(ran->diags, whole->diags, "%s, mode %d %lu:\n%s\nnot\n%s", name, chunks.mode,
                   chunks.n, ran->diags, whole->diags);
}

/* With chunks of all sizes as uncut. */
static void expect_all_same(const struct chunked *p, struct machine_options options) {
  struct ran whole =
      run_chunked(p->text, test_options(), (struct machine_chunks){.mode = MACHINE_CHUNKS_OFF});
  cr_expect(whole.loaded, "%s: %s", p->name, whole.diags);
  if (p->word) cr_expect(strstr(whole.diags, p->word), "%s: %s", p->name, whole.diags);
  if (!p->word) cr_expect_eq(whole.errors, 0, "%s: %s", p->name, whole.diags);
  for (unsigned k = 0; k < SIZES; k++) {
    struct ran ran = run_chunked(p->text, options, sizes[k]);
    expect_same(p, &whole, &ran, sizes[k]);
    ran_free(&ran);
  }
  ran_free(&whole);
}

Test(chunks, results_and_faults_are_those_of_the_uncut_run) {
  for (size_t k = 0; k < chunked_count; k++) expect_all_same(&chunked[k], test_options());
}

static struct cvl_backend table;

Test(chunks, on_a_back_end_that_does_everything_late) {
  struct machine_options options = test_options();
  options.backend = delayed_oracle(&table);
  for (options.device = 0; options.device < SEEDS; options.device++) {
    for (size_t k = 0; k < chunked_count; k++) expect_all_same(&chunked[k], options);
  }
}

/* ---- memory ---- */

static const char *text_of(const char *name) {
  for (size_t k = 0; k < chunked_count; k++) {
    if (strcmp(chunked[k].name, name) == 0) return chunked[k].text;
  }
  cr_assert_fail("there is no program %s", name);
  return NULL;
}

/* Each allocation fails once: of a chunk, which then is halved, or elsewhere, which is an
 * error. */
static void sweep(const char *name, struct machine_options options,
                  struct machine_chunks chunks) {
  enum { MOST = 400 };
  unsigned failures = 0;
  struct ran whole = run_chunked(text_of(name), options, chunks);
  for (uint64_t n = 1; n <= MOST; n++) {
    options.fail_allocation = n;
    struct ran ran = run_chunked(text_of(name), options, chunks);
    const bool failed = ran.errors > 0;
    failures += failed;
    cr_expect_str_eq(ran.out, failed ? "" : whole.out, "%s, failure %lu", name, n);
    cr_expect_eq(ran.errors, failed, "%s, failure %lu: %s", name, n, ran.diags);
    if (failed)
      cr_expect(strstr(ran.diags, "memory"), "%s, failure %lu: %s", name, n, ran.diags);
    ran_free(&ran);
  }
  cr_expect(failures > 3 && failures < MOST, "%s: %u", name, failures);
  ran_free(&whole);
}

Test(chunks, every_allocation_fails_once) {
  static const char *const names[] = {
      "ragged, with a shared operand", "nested segments, and results that are operands",
      "random numbers, several and nested", "divide and conquer: a call by instances in itself",
      "tail calls of functions by instances"};
  struct machine_options late = test_options();
  late.backend = delayed_oracle(&table);
  for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++) {
    sweep(names[k], test_options(), (struct machine_chunks){MACHINE_CHUNKS_FIXED, 1});
    sweep(names[k], test_options(), (struct machine_chunks){MACHINE_CHUNKS_FIXED, 3});
    sweep(names[k], late, (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  }
}

/* The same where there is a fault: it is that of the uncut run, or the lack of memory. Without
 * memory there are no calls in the message. */
static void sweep_fault(const char *name, uint64_t instances) {
  enum { MOST = 500 };
  struct machine_options options = test_options();
  const struct machine_chunks chunks = {MACHINE_CHUNKS_FIXED, instances};
  unsigned failures = 0, faults = 0;
  struct ran whole =
      run_chunked(text_of(name), options, (struct machine_chunks){.mode = MACHINE_CHUNKS_OFF});
  for (uint64_t n = 1; n <= MOST; n++) {
    options.fail_allocation = n;
    struct ran ran = run_chunked(text_of(name), options, chunks);
    const bool memory = strstr(ran.diags, "memory") != NULL;
    failures += memory;
    faults += !memory;
    cr_expect_eq(ran.errors, 1, "%s, failure %lu: %s", name, n, ran.diags);
    if (!memory) {
      cr_expect_arr_eq(ran.diags, whole.diags, strcspn(whole.diags, "\n"),
                       "%s, failure %lu:\n%s\nnot\n%s", name, n, ran.diags, whole.diags);
    }
    ran_free(&ran);
  }
  cr_expect(failures > 3 && faults > 3, "%s: %u, %u", name, failures, faults);
  ran_free(&whole);
}

Test(chunks, every_allocation_fails_once_before_a_fault) {
  sweep_fault("faults in nested chunks, at different paths", 1);
  sweep_fault("faults in nested chunks, at different paths", 4);
  sweep_fault("a duplicate, and behind it an index", 3);
  sweep_fault("sizes that disagree, in one chunk", 2);
}

/* 1,000 instances with so many elements each. */
#define NEEDS(elements)                                                                        \
  "let-form \"test\" i64 f64 entry MAIN\n"                                                     \
  "fun MAIN () -> (INT)\n"                                                                     \
  "v0 = CONST SEGDES 1000\nv1 = CONST INT " #elements "\nv2 = DIST INT v1 v0\n"                \
  "v3: INT = call BODY v0 v2\nv4 = +_REDUCE INT v3 v0\nyield v4\nend\n"                        \
  "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"                    \
  "v2 = CONST INT 0\nv3 = DIST INT v2 v0\nv4 = CONST INT 1\nv5 = DIST INT v4 v0\n"             \
  "v6 = MAKE_SEGDES v1\nv7 = INDEX v3 v5 v6\nv8 = * INT v7 v7\nv9 = +_REDUCE INT v8 v6\n"      \
  "yield v9\nend\n"

/* 80 MB, and as much for each intermediate result. */
static const char needs_much[] = NEEDS(10000);

/* A chunk of all but one instance needs 100 times the memory that there is. */
Test(chunks, a_lack_of_memory_halves_a_chunk) {
  struct machine_options options = test_options();
  options.memory_limit = 1600 * 1024;
  struct ran ran =
      run_chunked(needs_much, options, (struct machine_chunks){MACHINE_CHUNKS_FIXED, 999});
  cr_expect_eq(ran.errors, 0, "%s", ran.diags);
  cr_expect_str_eq(ran.out, "( 333283335000000 )\n");
  ran_free(&ran);
  ran = run_chunked(needs_much, options, (struct machine_chunks){.mode = MACHINE_CHUNKS_OFF});
  cr_expect(strstr(ran.diags, "out of memory"), "%s", ran.diags);
  ran_free(&ran);
}

/* One instance cannot be halved: the fault is that of the uncut run. */
Test(chunks, an_instance_that_does_not_fit_is_an_error) {
  struct machine_options options = test_options();
  options.memory_limit = 800 * 1024;
  static const char *const words[] = {"INDEX: out of memory: ", "BODY, called from MAIN at ",
                                      NULL};
  struct ran ran =
      run_chunked(NEEDS(100000), options, (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  cr_expect(failed_with(&ran, words), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

/* ---- limits and marks ---- */

Test(chunks, a_limit_of_depth_is_reported_where_it_is_met) {
  static const char *const words[] = {":5:1: error: CALL: more than 1 calls are open", NULL};
  struct machine_options options = test_options();
  options.max_depth = 1;
  struct ran ran = run_chunked(text_of("a division by zero, first chunk"), options,
                               (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  cr_expect(failed_with(&ran, words), "%s", ran.diags);
  ran_free(&ran);
}

/* A mark that is not true is an error with numbers, not a wrong result. */
Test(chunks, sizes_are_checked) {
  static const char text[] =
      "let-form \"test\" i64 f64 entry MAIN\n"
      "fun MAIN () -> (INT)\nv0 = CONST SEGDES 7\nv1 = CONST INT (1 2 3 4 5 6)\n"
      "v2: INT = call BODY v0 v1\nyield v2\nend\n"
      "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\nyield v1\nend\n";
  static const char result[] =
      "let-form \"test\" i64 f64 entry MAIN\n"
      "fun MAIN () -> (INT)\nv0 = CONST SEGDES 4\nv1 = CONST INT (1 2 3 4)\n"
      "v2: INT = call BODY v0 v1\nyield v2\nend\n"
      "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
      "v2 = MAKE_SEGDES v1\nv3 = DIST INT v1 v2\nyield v3\nend\n";
  static const char *const operand_words[] = {
      "CALL: BODY is by instances, but its operand 1 has the size 6, not 7", NULL};
  static const char *const result_words[] = {
      "BODY is by instances, but its result 0 has the size 3, not 2", NULL};
  const struct machine_chunks two = {MACHINE_CHUNKS_FIXED, 2};
  struct ran ran = run_chunked(text, test_options(), two);
  cr_expect(failed_with(&ran, operand_words), "%s", ran.diags);
  ran_free(&ran);
  ran = run_chunked(result, test_options(), two);
  cr_expect(failed_with(&ran, result_words), "%s", ran.diags);
  ran_free(&ran);
}

/* Nothing of a search is left for the next run. */
Test(chunks, a_machine_runs_again_after_a_fault) {
#define DIVIDES(numbers)                                                                       \
  "FUNC MAIN CONST SEGDES 7 CONST INT (" numbers ") CALL BODY RET\n"                           \
  "FUNC BODY {% instances shared each -> each } COPY 1 0 / INT POP 1 1 RET\n"
  static const struct {
    const char *text, *message;
  } runs[] = {{DIVIDES("1 2 3 4 5 0 6"), "/ INT: division by zero at element 5"},
              {DIVIDES("1 2 3 0 5 0 6"), "/ INT: division by zero at element 3"},
              {DIVIDES("0 2 3 0 5 0 6"), "/ INT: division by zero at element 0"}};
  struct machine_options options = test_options();
  options.chunks = (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2};
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  struct machine *machine = machine_new(&options, &diags);
  for (unsigned k = 0; k < 3; k++) {
    diag_list_init(&diags, &arena);
    struct ir_program *program = program_of(&arena, runs[k].text, options.widths, &diags);
    cr_expect_eq(machine_run(machine, program, &diags), MACHINE_ERROR);
    cr_assert_eq(diags.errors, 1);
    cr_expect_str_eq(diags.list.items[0].message, runs[k].message);
  }
  machine_free(machine);
  arena_free(&arena);
}
