/* test-threads.c - calls by instances on several threads, each with chunks of its own: on the
 * CPU back end, since only it has sub-contexts. The same results and diagnostics as uncut on
 * the oracle.
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

/* Which allocation it is that fails depends on who is first. */
Test(threads, every_allocation_fails_once) {
  static const char *const names[] = {"ragged, with a shared operand",
                                      "nested segments, and results that are operands",
                                      "divide and conquer: a call by instances in itself",
                                      "tail calls of functions by instances"};
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
