/* test-limits.c - limits of depth, memory and time, and interrupts, end in ordinary errors. */
#include "vinterp/tests/fixture.h"
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char count_down[] =
    "FUNC MAIN CONST INT 200000 CALL DOWN RET\n"
    "FUNC DOWN COPY 1 0 CONST INT 0 = INT IF ELSE CONST INT 1 - INT\n"
    "CALL DOWN CONST INT 1 + INT ENDIF RET";

Test(limits, recursion_of_200000_calls) {
  expect_printed(count_down, "( 200000 )\n");
}

Test(limits, recursion_too_deep) {
  static const char *const words[] = {
      "test.vcode:3:1: error: CALL: more than 1000 calls are open", "test.vcode:3:1",
      "... 984 more calls ...", "DOWN, called from MAIN", NULL};
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = test_options();
    options.checked = checked;
    options.max_depth = 1000;
    struct ran ran = run_text(count_down, options);
    cr_expect(failed_with(&ran, words), "%s", ran.diags);
    ran_free(&ran);
  }
}

/* Calls that end a function take no frame, even of two functions in turn. */
Test(limits, tail_calls_are_not_counted) {
  static const char *const texts[] = {
      "FUNC MAIN CONST INT 30000 CONST INT 0 CALL DOWN RET\n"
      "FUNC DOWN COPY 1 1 CONST INT 0 = INT IF CPOP 1 1 POP 1 0 ELSE\n"
      "CONST INT 1 + INT CPOP 1 1 CONST INT 1 - INT CPOP 1 1 CALL DOWN ENDIF RET",
      "FUNC MAIN CONST INT 30000 CONST INT 0 CALL A RET\n"
      "FUNC A COPY 1 1 CONST INT 0 = INT IF CPOP 1 1 POP 1 0 ELSE CALL B ENDIF RET\n"
      "FUNC B CONST INT 1 + INT CPOP 1 1 CONST INT 1 - INT CPOP 1 1\n"
      "CONST BOOL T IF CONST BOOL F IF ELSE CALL A ENDIF ELSE ENDIF RET"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    for (int checked = 0; checked < 2; checked++) {
      struct machine_options options = test_options();
      options.checked = checked;
      options.max_depth = 3;
      struct ran ran = run_text(texts[k], options);
      cr_expect(printed(&ran, "( 30000 )\n"), "%zu: %s%s", k, ran.out, ran.diags);
      ran_free(&ran);
    }
  }
}

/* Arguments change their order; there are more of them than results, and vectors among them. */
Test(limits, tail_calls_pass_arguments) {
  static const char text[] =
      "FUNC MAIN CONST INT (1 2) CONST INT (30 40) CONST INT 5001 CALL TURN RET\n"
      "FUNC TURN COPY 1 0 CONST INT 0 = INT IF POP 1 0 POP 1 0 ELSE\n"
      "CPOP 1 2 CPOP 1 1 CONST INT 1 - INT CALL TURN ENDIF RET";
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = test_options();
    options.checked = checked;
    options.max_depth = 3;
    struct ran ran = run_text(text, options);
    cr_expect(printed(&ran, "( 30 40 )\n"), "%s%s", ran.out, ran.diags);
    ran_free(&ran);
  }
}

/* Instructions behind a call need its frame. */
Test(limits, other_calls_are_counted) {
  static const char *const words[] = {"CALL: more than 3 calls are open", NULL};
  static const char text[] = "FUNC MAIN CONST INT 9 CALL DOWN RET\n"
                             "FUNC DOWN COPY 1 0 CONST INT 0 = INT IF ELSE\n"
                             "COPY 1 0 CONST INT 1 - INT CALL DOWN + INT ENDIF RET";
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = test_options();
    options.checked = checked;
    options.max_depth = 3;
    struct ran ran = run_text(text, options);
    cr_expect(failed_with(&ran, words), "%s%s", ran.out, ran.diags);
    ran_free(&ran);
  }
}

Test(limits, runaway_recursion_runs_into_memory_or_depth) {
  struct machine_options options = test_options();
  options.memory_limit = 1 << 24;
  static const char *const words[] = {"test.vcode:2:", "CALL: out of memory", "more calls",
                                      NULL};
  struct ran ran =
      run_text("FUNC MAIN CONST INT 1 CALL G RET\nFUNC G COPY 1 0 CALL G RET", options);
  /* G never returns, so it may be run as stack code, too. */
  cr_expect(failed_with(&ran, words), "%s", ran.diags);
  ran_free(&ran);
}

Test(limits, vectors_beyond_memory) {
  static const char *const words[] = {"test.vcode:2:1: error: INDEX: out of memory",
                                      "for vectors", NULL};
  struct machine_options options = test_options();
  options.memory_limit = 1 << 20;
  struct ran ran =
      run_text("FUNC MAIN CONST INT 0 CONST INT 1 CONST SEGDES 1000000\nINDEX RET", options);
  cr_expect(failed_with(&ran, words), "%s", ran.diags);
  ran_free(&ran);
}

static const char endless[] =
    "FUNC MAIN CONST INT 0 CALL LOOP RET\n"
    "FUNC LOOP COPY 1 0 CALL TICK POP 1 0\n"
    "COPY 1 0 CALL TREE POP 1 0 CONST BOOL T IF CALL LOOP ELSE ENDIF RET\n"
    "FUNC TICK CONST INT 1 + INT RET\n"
    "FUNC TREE CALL TICK CALL TICK CALL TICK RET";

Test(limits, time) {
  static const char *const words[] = {"error: ", "the time limit of 0.05 seconds is over",
                                      NULL};
  struct machine_options options = test_options();
  struct stop stop = {.signal = NULL};
  stop_begin(&stop, 0.05);
  options.stop = &stop;
  options.max_depth = UINT64_C(1) << 40;
  struct ran ran = run_text(endless, options);
  cr_expect(failed_with(&ran, words), "%s", ran.diags);
  ran_free(&ran);
}

Test(limits, interrupt) {
  const atomic_int interrupt = SIGINT;
  const struct stop stop = {.signal = &interrupt};
  struct machine_options options = test_options();
  options.stop = &stop;
  struct ran ran = run_text(endless, options);
  cr_expect_eq(ran.outcome, MACHINE_INTERRUPTED);
  cr_expect_eq(ran.errors, 1, "%s", ran.diags);
  cr_expect_str_eq(ran.out, "");
  ran_free(&ran);
}

Test(limits, pairs_nested_deeply_are_freed) {
  struct ran ran = run_text("FUNC MAIN CONST INT 300000 CONST INT 0 CALL GROW POP 1 0 RET "
                            "FUNC GROW COPY 1 1 CONST INT 0 = INT IF POP 1 1 ELSE CPOP 1 1 "
                            "CONST INT 1 - INT CPOP 1 1 CONST BOOL T PAIR CALL GROW ENDIF RET",
                            test_options());
  cr_expect(printed(&ran, ""), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

/* Results that do not fit into memory at once are printed whole nevertheless. */
Test(limits, results_beyond_memory) {
  struct machine_options options = test_options();
  options.memory_limit = 1 << 24;
  struct ran ran =
      run_text("FUNC MAIN CONST INT 0 CONST INT 1 CONST SEGDES 300000 INDEX RET", options);
  cr_assert_eq(ran.outcome, MACHINE_DONE, "%s", ran.diags);
  size_t length = strlen(ran.out);
  cr_expect_eq(length,
               2 + 300000 + 1 + 10 + 2 * 90 + 3 * 900 + 4 * 9000 + 5 * 90000 + 6 * 200000 + 1);
  cr_expect_str_eq(ran.out + length - 17, " 299998 299999 )\n");
  ran_free(&ran);
}

/* IFs are nested deeper than a C stack would allow. */
Test(limits, deep_nesting) {
  enum { DEEP = 20000 };
  static char text[64 + DEEP * 32];
  char *at = text + sprintf(text, "FUNC MAIN CONST INT (1 2) ");
  for (int k = 0; k < DEEP; k++) at += sprintf(at, "CONST BOOL T IF ");
  for (int k = 0; k < DEEP; k++) at += sprintf(at, "ELSE ENDIF ");
  sprintf(at, "RET");
  expect_printed(text, "( 1 2 )\n");
}
