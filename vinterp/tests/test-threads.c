/* test-threads.c - batch calls on several threads, each with its own chunks. They run on the
 * CPU back end, the only one with sub-contexts, and have the same results and diagnostics as
 * without chunks on the oracle.
 */
#include "cvl-cpu/cvl-cpu.h"
#include "vinterp/tests/chunked-runs.h"
#include <criterion/criterion.h>
#include <string.h>

static struct machine_options on_threads(unsigned threads) {
  struct machine_options options = test_options();
  options.backend = &cvl_cpu_backend;
  options.threads = threads;
  return options;
}

Test(threads, results_and_faults_are_those_of_the_uncut_run) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (size_t k = 0; k < chunked_count; k++)
      chunked_expect_all(&chunked[k], on_threads(threads));
  }
}

/* It depends on the order of threads which allocation fails. */
Test(threads, every_allocation_fails_once) {
  static const char *const names[] = {
      "ragged, with a shared operand", "nested segments, and results that are operands",
      "divide and conquer: a batch call in itself", "tail calls of lifted functions"};
  for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++) {
    chunked_sweep(names[k], on_threads(2), (struct machine_chunks){MACHINE_CHUNKS_FIXED, 1});
    chunked_sweep(names[k], on_threads(3), (struct machine_chunks){MACHINE_CHUNKS_FIXED, 3});
  }
}

Test(threads, every_allocation_fails_once_before_a_fault) {
  chunked_sweep_fault("faults in nested chunks, at different paths", on_threads(2), 1);
  chunked_sweep_fault("faults in nested chunks, at different paths", on_threads(3), 4);
  chunked_sweep_fault("sizes that disagree, in one chunk", on_threads(2), 2);
}

Test(threads, a_machine_runs_again_after_a_fault) {
  chunked_expect_again(on_threads(2));
}

/* ---- memory ---- */

/* The chunk of 999 instances needs 100 times the available memory, besides another one. */
Test(threads, a_lack_of_memory_halves_a_chunk) {
  static const uint64_t sizes[] = {100, 500, 999};
  struct machine_options options = on_threads(3);
  options.memory_limit = 1600 * 1024;
  for (unsigned k = 0; k < 3; k++) {
    struct ran ran = run_chunked(CHUNKED_NEEDS(10000), options,
                                 (struct machine_chunks){MACHINE_CHUNKS_FIXED, sizes[k]});
    cr_expect_eq(ran.errors, 0, "%s", ran.diags);
    cr_expect_str_eq(ran.out, "( 333283335000000 )\n");
    ran_free(&ran);
  }
}

/* An instance fits alone, but not beside another one, so they take turns. */
Test(threads, an_instance_may_need_all_memory) {
  struct machine_options options = on_threads(3);
  options.memory_limit = 4 << 20;
  struct ran ran = run_chunked(CHUNKED_NEEDS(120000), options,
                               (struct machine_chunks){MACHINE_CHUNKS_FIXED, 1});
  cr_expect_eq(ran.errors, 0, "%s", ran.diags);
  cr_expect_str_eq(ran.out, "( 575992800020000000 )\n");
  ran_free(&ran);
}

Test(threads, an_instance_that_does_not_fit_is_an_error) {
  struct machine_options options = on_threads(2);
  options.memory_limit = 800 * 1024;
  static const char *const words[] = {"INDEX: out of memory: ", "BODY, called from MAIN at ",
                                      NULL};
  struct ran ran = run_chunked(CHUNKED_NEEDS(100000), options,
                               (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  cr_expect(failed_with(&ran, words), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

/* ---- limits ---- */

/* The last of seven instances makes calls without end. */
static const char endless[] =
    "let-form \"test\" i64 f64 entry MAIN\n"
    "fun MAIN () -> (INT)\nv0 = CONST SEGDES 7\nv1 = CONST INT (0 0 0 0 0 0 1)\n"
    "v2: INT = call BODY v0 v1\nyield v2\nend\n"
    "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
    "v2: INT = call LOOP v0 v1\nyield v2\nend\n"
    "fun LOOP (v0: SEGDES, v1: INT) -> (INT)\n"
    "v2 = MAX_REDUCE INT v1 v0\nv3 = CONST INT 1\nv4 = < INT v2 v3\n"
    "v5: INT = if v4\nyield v1\nelse\nv6: INT = call LOOP v0 v1\nyield v6\nend\n"
    "yield v5\nend\n";

Test(threads, a_limit_of_time_ends_all, .timeout = 20) {
  struct stop stop = {0};
  struct machine_options options = on_threads(2);
  options.stop = &stop;
  stop_begin(&stop, 0.2);
  struct ran ran =
      run_chunked(endless, options, (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  static const char *const words[] = {"the time limit of 0.2 seconds is over", NULL};
  cr_expect(failed_with(&ran, words), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

Test(threads, a_limit_of_depth_is_that_of_the_parent) {
  struct machine_options options = on_threads(2);
  struct ran ran;
  for (options.max_depth = 1; options.max_depth < 4; options.max_depth++) {
    ran = run_chunked(chunked_text("two faults, one in an inner function"), options,
                      (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
    const bool deep = strstr(ran.diags, "calls are open") != NULL;
    cr_expect_eq(deep, options.max_depth < 3, "%d: %s", (int)options.max_depth, ran.diags);
    ran_free(&ran);
  }
}
