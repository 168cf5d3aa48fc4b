/* test-faults.c - the messages of a program that fails: source location, values, calls. */
#include "vinterp/tests/fixture.h"
#include "vinterp/tests/programs.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void faults_expect_fault(const struct faulty *f, struct machine_options options) {
  struct ran ran = run_text(f->text, options);
  cr_expect(failed_with(&ran, f->words), "%s\ntold: %sprinted: %s", f->text, ran.diags,
            ran.out);
  cr_expect_not(ran.leaked);
  ran_free(&ran);
}

#define EXPECT_FAULT(text, ...)                                                                \
  faults_expect_fault(&(struct faulty){text, {__VA_ARGS__}}, test_options())

Test(faults, typed_and_checked_report_the_same) {
  for (size_t k = 0; k < fault_count; k++) {
    struct machine_options options = test_options();
    faults_expect_fault(&faults[k], options);
    options.checked = true;
    faults_expect_fault(&faults[k], options);
  }
}

Test(faults, without_stack_code_the_same_is_reported) {
  for (size_t k = 0; k < fault_count; k++) {
    struct ran ran = run_let_form(faults[k].text, test_options());
    cr_expect(failed_with(&ran, faults[k].words), "%s\ntold: %sprinted: %s", faults[k].text,
              ran.diags, ran.out);
    cr_expect_not(ran.leaked);
    ran_free(&ran);
  }
}

/* Stack code calls a function whose own stack code does not exist any more. Its last function
 * is typed. */
Test(faults, arguments_that_do_not_fit_a_let_form_are_reported_at_the_call) {
  static const struct faulty f = {
      "FUNC MAIN CONST INT 1 CONST BOOL T IF CONST FLOAT 2.0\nCALL ADD ELSE ENDIF RET\n"
      "FUNC ADD + INT RET",
      {":2:1: error: CALL: the stack does not hold what ADD takes"}};
  struct ran ran = run_let_form(f.text, test_options());
  cr_expect(failed_with(&ran, f.words), "%s", ran.diags);
  ran_free(&ran);
  ran =
      run_let_form("FUNC MAIN CONST INT 1 CONST BOOL T IF CONST INT 2 CALL ADD ELSE ENDIF RET\n"
                   "FUNC ADD + INT RET",
                   test_options());
  cr_expect(printed(&ran, "( 3 )\n"), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

/* Violations of kinds and of the stack's depth, on paths that the loader cannot check. The
 * stack interpreter reports them when it reaches them. */
static const struct faulty violations[] = {
    {"FUNC MAIN CONST BOOL T CALL G RET FUNC G IF CONST INT 1 CONST FLOAT 1.0\n+ INT "
     "ELSE CONST INT 1 ENDIF RET",
     {":2:1: error: + INT: operand 1 is FLOAT, not INT", "G, called from MAIN"}},
    {"FUNC MAIN CONST BOOL T IF CONST INT 1\n+ INT ELSE CONST INT 1 ENDIF RET",
     {":2:1: error: + INT: needs 2 items, the stack has 1"}},
    {"FUNC MAIN CONST BOOL T IF CONST INT 1\nCOPY 3 2 ELSE CONST INT 1 ENDIF RET",
     {":2:1: error: COPY: needs 5 items, the stack has 1"}},
    {"FUNC MAIN CONST BOOL T IF CONST INT 1\nIF ENDIF ELSE ENDIF RET",
     {":2:1: error: IF: operand 0 is INT, not BOOL"}},
    {"FUNC MAIN CONST BOOL T IF CONST INT 1\nUNPAIR ELSE CONST INT 1 ENDIF RET",
     {":2:1: error: UNPAIR: operand 0 is INT, not a pair"}},
    {"FUNC MAIN CONST BOOL T IF CONST INT 1\nWRITE FLOAT POP 2 0 ELSE ENDIF RET",
     {":2:1: error: WRITE FLOAT: operand 0 is INT, not FLOAT"}},
};

Test(faults, violations_are_reported_where_they_happen) {
  for (size_t k = 0; k < sizeof violations / sizeof violations[0]; k++) {
    struct machine_options options = test_options();
    faults_expect_fault(&violations[k], options);
    options.checked = true;
    faults_expect_fault(&violations[k], options);
  }
}

/* Stack code calls a function with arguments of other kinds than those for which it was
 * inferred. The error is reported inside the function. */
Test(faults, arguments_of_other_kinds_run_as_stack_code) {
  EXPECT_FAULT("FUNC MAIN CONST INT 1 CONST BOOL T IF CONST FLOAT 2.0 CALL ADD ELSE ENDIF RET\n"
               "FUNC ADD + INT RET",
               ":2:10: error: + INT: operand 1 is FLOAT, not INT", "ADD, called from MAIN");
}

Test(faults, output_before_a_fault_stays_and_results_do_not_come) {
  struct ran ran = run_text("FUNC MAIN CONST INT 5 CONST CHAR \"before\" WRITE CHAR POP 2 0 "
                            "CONST INT (1 1) CONST INT (0 1) / INT RET",
                            test_options());
  cr_expect_eq(ran.outcome, MACHINE_ERROR);
  cr_expect_str_eq(ran.err, "before");
  cr_expect_str_eq(ran.out, "");
  ran_free(&ran);
}

Test(faults, long_traces_are_shortened) {
  static const struct faulty f = {
      "FUNC MAIN CONST INT 100 CALL DOWN RET\n"
      "FUNC DOWN COPY 1 0 CONST INT 0 = INT IF CONST INT 0 / INT ELSE CONST INT 1 - INT\n"
      "CALL DOWN CONST INT 1 + INT ENDIF RET",
      {":2:", "/ INT: division by zero", "DOWN, called from DOWN", "... 86 more calls ...",
       "DOWN, called from MAIN"}};
  faults_expect_fault(&f, test_options());
  struct ran ran = run_text(f.text, test_options());
  size_t lines = 0;
  for (const char *at = ran.diags; (at = strchr(at, '\n')); at++) lines++;
  cr_expect_eq(lines, 1 + 10 + 1 + 5, "%s", ran.diags);
  ran_free(&ran);
}

Test(faults, origins_come_first) {
  EXPECT_FAULT("FUNC MAIN {@ prog.nesl:7:3 top } CONST INT 1 CONST INT 0\n"
               "/ INT RET",
               "prog.nesl:7:3: error: / INT: division by zero", "test.vcode:2:1");
}
