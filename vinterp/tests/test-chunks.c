/* test-chunks.c - batch calls, cut into chunks of all sizes. They have the same results and
 * diagnostics as without chunks.
 */
#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"
#include "vinterp/tests/chunked-runs.h"
#include <criterion/criterion.h>
#include <string.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

enum { SEEDS = 4 };

Test(chunks, results_and_faults_are_those_of_the_uncut_run) {
  for (size_t k = 0; k < chunked_count; k++) chunked_expect_all(&chunked[k], test_options());
}

static struct cvl_backend table;

Test(chunks, on_a_back_end_that_does_everything_late) {
  struct machine_options options = test_options();
  options.backend = delayed_oracle(&table);
  for (options.device = 0; options.device < SEEDS; options.device++) {
    for (size_t k = 0; k < chunked_count; k++) chunked_expect_all(&chunked[k], options);
  }
}

/* ---- memory ---- */

Test(chunks, every_allocation_fails_once) {
  static const char *const names[] = {
      "ragged, with a shared operand", "nested segments, and results that are operands",
      "random numbers, several and nested", "divide and conquer: a batch call in itself",
      "tail calls of lifted functions"};
  struct machine_options late = test_options();
  late.backend = delayed_oracle(&table);
  for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++) {
    chunked_sweep(names[k], test_options(), (struct machine_chunks){MACHINE_CHUNKS_FIXED, 1});
    chunked_sweep(names[k], test_options(), (struct machine_chunks){MACHINE_CHUNKS_FIXED, 3});
    chunked_sweep(names[k], late, (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  }
}

static const char tail_cut[] =
    "let-form \"test\" i64 f64 entry MAIN\n"
    "fun MAIN () -> (INT)\nv0 = CONST SEGDES 7\nv1 = CONST INT (3 1 4 1 5 9 2)\n"
    "v2: INT = call OUTER v0 v1\nv3 = +_REDUCE INT v2 v0\nyield v3\nend\n"
    "fun OUTER (v0: SEGDES, v1: INT) -> (INT)\nv2 = + INT v1 v1\nv3: INT = call BODY v0 v2\n"
    "yield v3\nend\n"
    "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
    "v2 = * INT v1 v1\nv3 = + INT v2 v1\nyield v3\nend\n";

/* A fault between chunks, at the call, is not in the called function. */
static unsigned at_the_call(struct machine_options options) {
  enum { MOST = 100 };
  unsigned faults = 0;
  for (options.fail_allocation = 1; options.fail_allocation <= MOST;
       options.fail_allocation++) {
    struct ran ran =
        run_chunked(tail_cut, options, (struct machine_chunks){MACHINE_CHUNKS_FIXED, 1});
    faults += strstr(ran.diags, ": CALL: ") != NULL;
    cr_expect(!strstr(ran.diags, "OUTER, called from OUTER"), "failure %lu: %s",
              options.fail_allocation, ran.diags);
    ran_free(&ran);
  }
  return faults;
}

Test(chunks, what_fails_at_a_call_has_the_trace_of_its_caller) {
  struct machine_options late = test_options();
  late.backend = delayed_oracle(&table);
  cr_expect_gt(at_the_call(test_options()), 5);
  for (late.device = 0; late.device < SEEDS; late.device++) cr_expect_gt(at_the_call(late), 5);
}

Test(chunks, every_allocation_fails_once_before_a_fault) {
  chunked_sweep_fault("faults in nested chunks, at different paths", test_options(), 1);
  chunked_sweep_fault("faults in nested chunks, at different paths", test_options(), 4);
  chunked_sweep_fault("a duplicate, and behind it an index", test_options(), 3);
  chunked_sweep_fault("sizes that disagree, in one chunk", test_options(), 2);
}

/* It needs 80 MB, and as much for each intermediate result. */
static const char needs_much[] = CHUNKED_NEEDS(10000);

/* A chunk of all instances except one needs 100 times the available memory. */
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

/* One instance cannot be halved: the fault is that of the run without chunks. */
Test(chunks, an_instance_that_does_not_fit_is_an_error) {
  struct machine_options options = test_options();
  options.memory_limit = 800 * 1024;
  static const char *const words[] = {"INDEX: out of memory: ", "BODY, called from MAIN at ",
                                      NULL};
  struct ran ran = run_chunked(CHUNKED_NEEDS(100000), options,
                               (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  cr_expect(failed_with(&ran, words), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

/* ---- limits and marks ---- */

Test(chunks, a_limit_of_depth_is_reported_where_it_is_met) {
  static const char *const words[] = {":5:1: error: CALL: more than 1 calls are open", NULL};
  struct machine_options options = test_options();
  options.max_depth = 1;
  struct ran ran = run_chunked(chunked_text("a division by zero, first chunk"), options,
                               (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  cr_expect(failed_with(&ran, words), "%s", ran.diags);
  ran_free(&ran);
}

/* A wrong mark is an error with numbers, not a wrong result. */
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
      "CALL: BODY is lifted, but its operand 1 has the size 6, not 7", NULL};
  static const char *const result_words[] = {
      "BODY is lifted, but its result 0 has the size 3, not 2", NULL};
  const struct machine_chunks two = {MACHINE_CHUNKS_FIXED, 2};
  struct ran ran = run_chunked(text, test_options(), two);
  cr_expect(failed_with(&ran, operand_words), "%s", ran.diags);
  ran_free(&ran);
  ran = run_chunked(result, test_options(), two);
  cr_expect(failed_with(&ran, result_words), "%s", ran.diags);
  ran_free(&ran);
}

Test(chunks, a_machine_runs_again_after_a_fault) {
  chunked_expect_again(test_options());
}
