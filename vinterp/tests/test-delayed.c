/* test-delayed.c - the machine on a back end that does everything late. Results are the same.
 * Faults that are found long after they happened are reported with the source location and the
 * calls of their own time.
 */
#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"
#include "vinterp/tests/fixture.h"
#include "vinterp/tests/programs.h"
#include <criterion/criterion.h>
#include <string.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

enum { SEEDS = 20 };

static struct cvl_backend table;

static struct machine_options test_delayed_options(int seed, bool checked) {
  struct machine_options options = test_options();
  options.backend = delayed_oracle(&table);
  options.device = seed;
  options.checked = checked;
  return options;
}

Test(delayed, programs_print_what_they_should) {
  for (int seed = 0; seed < SEEDS; seed++) {
    for (size_t k = 0; k < program_count; k++) {
      struct ran ran = run_text(programs[k].text, test_delayed_options(seed, seed % 2));
      cr_expect(printed(&ran, programs[k].expected), "%s (seed %d):\n%s%s", programs[k].name,
                seed, ran.out, ran.diags);
      ran_free(&ran);
    }
  }
}

Test(delayed, faults_are_reported_as_if_found_at_once) {
  for (int seed = 0; seed < SEEDS; seed++) {
    for (size_t k = 0; k < fault_count; k++) {
      struct ran ran = run_text(faults[k].text, test_delayed_options(seed, seed % 2));
      cr_expect(failed_with(&ran, faults[k].words), "seed %d: %s\nreported: %s", seed,
                faults[k].text, ran.diags);
      ran_free(&ran);
    }
  }
}

/* The division fails in the seventh of many calls, which all return before anybody asks. */
Test(delayed, the_trace_is_that_of_the_fault) {
  static const char text[] =
      "FUNC MAIN CONST INT 20 CALL LOOP RET\n"
      "FUNC LOOP COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST INT (0 0) ELSE\n"
      "COPY 1 0 CALL INNER CPOP 1 1 CONST INT 1 - INT CALL LOOP\n"
      "+ INT ENDIF RET\n"
      "FUNC INNER CONST INT 14 - INT CONST SEGDES 2 DIST INT CALL DIVIDE CALL DIVIDE RET\n"
      "FUNC DIVIDE CONST INT (5 5) CPOP 1 1\n/ INT CONST INT (1 1) + INT RET\n";
  static const char *const words[] = {
      "test.vcode:7:1: error: / INT: division by zero at element 0",
      "DIVIDE, called from INNER at test.vcode:5:55\n",
      "INNER, called from LOOP at test.vcode:3:10\n",
      "LOOP, called from LOOP at test.vcode:3:",
      "LOOP, called from MAIN at test.vcode:1:",
      NULL};
  struct ran prompt = run_text(text, test_options());
  cr_expect(failed_with(&prompt, words), "%s", prompt.diags);
  for (int seed = 0; seed < SEEDS; seed++) {
    struct ran ran = run_text(text, test_delayed_options(seed, seed % 2));
    cr_expect_str_eq(ran.diags, prompt.diags, "seed %d", seed);
    ran_free(&ran);
  }
  ran_free(&prompt);
}

/* The trace shows the latest of the tail calls before a fault, and the call before all of
 * them. */
Test(delayed, tail_calls_are_in_the_trace) {
  static const char text[] =
      "FUNC MAIN CONST INT 20 CALL BEGIN RET\n"
      "FUNC BEGIN CONST INT 1 + INT CALL LOOP RET\n"
      "FUNC LOOP COPY 1 0 CONST INT 0 = INT IF ELSE\n"
      "COPY 1 0 CALL INNER POP 1 0 CONST INT 1 - INT CALL LOOP ENDIF RET\n"
      "FUNC INNER CONST INT 14 - INT CONST SEGDES 2 DIST INT CONST INT (5 5) CPOP 1 1\n"
      "/ INT RET\n";
  static const char *const words[] = {
      "test.vcode:6:1: error: / INT: division by zero at element 0",
      "INNER, called from LOOP at test.vcode:4:10\n",
      "LOOP, called from LOOP at test.vcode:4:",
      "LOOP, called from BEGIN at test.vcode:2:",
      "BEGIN, called from MAIN at test.vcode:1:",
      NULL};
  struct ran prompt = run_text(text, test_options());
  cr_expect(failed_with(&prompt, words), "%s", prompt.diags);
  for (int seed = 0; seed < SEEDS; seed++) {
    struct ran ran = run_text(text, test_delayed_options(seed, seed % 2));
    cr_expect_str_eq(ran.diags, prompt.diags, "seed %d", seed);
    ran_free(&ran);
  }
  ran_free(&prompt);
}

/* The first of several faults in program order is reported, although the machine finds the
 * second one at once. */
Test(delayed, an_earlier_fault_comes_first) {
  static const char *const words[] = {
      "test.vcode:2:1: error: / INT: division by zero at element 1", NULL};
  for (int seed = 0; seed < SEEDS; seed++) {
    struct ran ran = run_text("FUNC MAIN CONST INT (1 2) CONST INT (1 0)\n/ INT\n"
                              "CONST INT (1 2 3) CONST INT (1 2) + INT RET",
                              test_delayed_options(seed, seed % 2));
    cr_expect(failed_with(&ran, words), "seed %d: %s", seed, ran.diags);
    ran_free(&ran);
  }
}

/* A loop that depends on scalars only never asks the back end. */
static void expect_fault_before_loop(const char *fault, const char *said) {
  char text[256];
  snprintf(text, sizeof text,
           "FUNC MAIN\n%s\nCONST INT 1 CALL LOOP RET\n"
           "FUNC LOOP COPY 1 0 CONST INT 0 > INT IF CALL LOOP ELSE ENDIF RET",
           fault);
  for (int seed = 0; seed < SEEDS; seed++) {
    struct machine_options options = test_delayed_options(seed, seed % 2);
    struct stop stop = {.signal = NULL};
    stop_begin(&stop, 5.0);
    options.stop = &stop;
    struct ran ran = run_text(text, options);
    cr_expect(failed_with(&ran, (const char *const[]){"test.vcode:2:", said, NULL}),
              "seed %d: %s", seed, ran.diags);
    ran_free(&ran);
  }
}

Test(delayed, a_fault_of_scalars_ends_what_never_would) {
  expect_fault_before_loop("CONST INT 1 CONST INT 0 / INT POP 1 0", "division by zero");
  expect_fault_before_loop("CONST BOOL F CONST INT 1 CONST INT 2 ASSERT \"one\"", "one");
}

Test(delayed, no_output_after_a_fault) {
  for (int seed = 0; seed < SEEDS; seed++) {
    struct ran ran = run_text("FUNC MAIN CONST CHAR \"one\" WRITE CHAR POP 2 0 CONST INT (1 2) "
                              "CONST INT (1 0) / INT CONST CHAR \"two\" WRITE CHAR POP 2 0 RET",
                              test_delayed_options(seed, seed % 2));
    cr_expect_eq(ran.outcome, MACHINE_ERROR);
    cr_expect_str_eq(ran.err, "one");
    cr_expect_str_eq(ran.out, "");
    ran_free(&ran);
  }
}

/* There are more operations than the history keeps between two waits. */
Test(delayed, the_history_may_overflow) {
  static const char text[] =
      "FUNC MAIN CONST INT (0 0) CONST INT 30000 CALL LOOP RET\n"
      "FUNC LOOP COPY 1 0 CONST INT 0 = INT IF POP 1 0 ELSE\n"
      "CPOP 1 1 CONST INT (1 2) + INT CONST INT (1 1) * INT CONST INT (0 0) + INT CPOP 1 1\n"
      "CONST INT 1 - INT CALL LOOP CONST INT (1 1) + INT ENDIF RET";
  expect_printed(text, "( 60000 90000 )\n");
}

Test(delayed, an_exit_waits_for_faults) {
  static const char *const words[] = {":1:", "division by zero at element 1", NULL};
  for (int seed = 0; seed < SEEDS; seed++) {
    struct ran ran = run_text("FUNC MAIN CONST INT (1 2) CONST INT (1 0) / INT EXIT RET",
                              test_delayed_options(seed, seed % 2));
    cr_expect(failed_with(&ran, words), "seed %d: %s", seed, ran.diags);
    ran_free(&ran);
  }
}
