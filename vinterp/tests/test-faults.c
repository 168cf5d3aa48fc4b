/* test-faults.c - what a user is told when a program fails: place, values, calls. */
#include "vinterp/tests/fixture.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct faulty {
  const char *text;
  const char *told[6]; /* in this order */
};

/* Line 1 makes the operands, line 2 is the instruction at fault. */
static const struct faulty faults[] = {
    {"FUNC MAIN CONST INT (1 2 3) CONST INT (1 2)\n+ INT RET",
     {"test.vcode:2:1: error: + INT: operand 0 has length 3, operand 1 has length 2"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST INT 1\n+ INT RET",
     {"test.vcode:2:1: error: + INT: operand 0 has length 3, operand 1 has length 1"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST SEGDES 4\n+_REDUCE INT RET",
     {":2:1: error: +_REDUCE INT: operand 0 has length 3, operand 1 has total 4"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST SEGDES 4\nDIST INT RET",
     {":2:1: error: DIST INT: operand 0 has length 3, operand 1 has 1 segment"}},
    {"FUNC MAIN CONST INT (1 2) CONST INT (0 0) CONST SEGDES (1 1) CONST SEGDES 2\n"
     "BPERMUTE INT RET",
     {":2:1: error: BPERMUTE INT: operand 2 has 2 segments, operand 3 has 1 segment"}},
    {"FUNC MAIN CONST INT 6 CONST INT 0\n/ INT RET",
     {":2:1: error: / INT: division by zero at element 0"}},
    {"FUNC MAIN CONST INT (6 6 6) CONST INT (1 0 0)\n% RET",
     {":2:1: error: %: division by zero at element 1"}},
    {"FUNC MAIN CONST INT (1 2 3 4) CONST INT (0 5) CONST INT (2 2) MAKE_SEGDES\n"
     "EXTRACT INT RET",
     {":2:1: error: EXTRACT INT: index 5 at position 1 is outside segment 1, whose length is "
      "2"}},
    {"FUNC MAIN CONST INT (1 2) CONST INT (1 1) CONST SEGDES 2\nPERMUTE INT RET",
     {":2:1: error: PERMUTE INT: index 1 at position 1 occurs twice in segment 0"}},
    {"FUNC MAIN CONST INT (1 -2)\nMAKE_SEGDES RET",
     {":2:1: error: MAKE_SEGDES: segment 1 has the negative length -2"}},
    {"FUNC MAIN CONST INT -2\nMAKE_SEGDES RET",
     {":2:1: error: MAKE_SEGDES: segment 0 has the negative length -2"}},
    {"FUNC MAIN CONST INT (3 0)\nRAND RET",
     {":2:1: error: RAND: the bound 0 at position 1 is not positive"}},
    {"FUNC MAIN CONST INT (3 0)\nSRAND INT RET",
     {":2:1: error: SRAND INT: operand 0 has length 2, it must be 1"}},
    {"FUNC MAIN CONST BOOL (T F F) CONST INT (1 7 8) CONST INT (2 3 4)\nASSERT \"out of "
     "range\" "
     "RET",
     {":2:1: error: ASSERT: out of range: 7 (of 3) at position 1"}},
    {"FUNC MAIN CONST BOOL F CONST INT 7 CONST INT 3\nASSERT \"out of range\" RET",
     {":2:1: error: ASSERT: out of range: 7 (of 3) at position 0"}},
    {"FUNC MAIN CONST BOOL (T F)\nIF ELSE ENDIF RET",
     {":2:1: error: IF: operand 0 has length 2, it must be 1"}},
    {"FUNC MAIN CONST BOOL ()\nIF ELSE ENDIF RET",
     {":2:1: error: IF: operand 0 has length 0, it must be 1"}},
    {"FUNC MAIN CONST CHAR \"name\" CONST INT (1 2)\nFOPEN RET",
     {":2:1: error: FOPEN: operand 1 has length 2, it must be 1"}},
    {"FUNC MAIN CONST INT (1 0) CALL INNER RET\n"
     "FUNC INNER CONST INT (5 5) CPOP 1 1 CALL DIVIDE RET\n"
     "FUNC DIVIDE / INT RET",
     {":3:13: error: / INT: division by zero at element 1", ":2:", "DIVIDE, called from INNER",
      "INNER, called from MAIN at test.vcode:1:26\n"}},
};

enum { FAULTS = sizeof faults / sizeof faults[0] };

static void expect_fault(const struct faulty *f, struct machine_options options) {
  struct ran ran = run_text(f->text, options);
  cr_expect(failed_with(&ran, f->told), "%s\ntold: %sprinted: %s", f->text, ran.diags, ran.out);
  cr_expect_not(ran.leaked);
  ran_free(&ran);
}

Test(faults, typed_and_checked_tell_the_same) {
  for (size_t k = 0; k < FAULTS; k++) {
    struct machine_options options = quiet_options();
    expect_fault(&faults[k], options);
    options.checked = true;
    expect_fault(&faults[k], options);
  }
}

/* Violations of kinds and of the stack's depth, on a path that the loader cannot be sure of:
 * told when it is reached, by the stack interpreter. */
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

Test(faults, violations_are_told_where_they_happen) {
  for (size_t k = 0; k < sizeof violations / sizeof violations[0]; k++) {
    struct machine_options options = quiet_options();
    expect_fault(&violations[k], options);
    options.checked = true;
    expect_fault(&violations[k], options);
  }
}

/* Stack code calls a function with arguments of other kinds than it was inferred for: the error
 * is told inside it. */
Test(faults, arguments_of_other_kinds_run_as_stack_code) {
  static const struct faulty f = {
      "FUNC MAIN CONST INT 1 CONST BOOL T IF CONST FLOAT 2.0 CALL ADD ELSE ENDIF RET\n"
      "FUNC ADD + INT RET",
      {":2:10: error: + INT: operand 1 is FLOAT, not INT", "ADD, called from MAIN"}};
  expect_fault(&f, quiet_options());
}

Test(faults, output_before_a_fault_stays_and_results_do_not_come) {
  struct ran ran = run_text("FUNC MAIN CONST INT 5 CONST CHAR \"before\" WRITE CHAR POP 2 0 "
                            "CONST INT (1 1) CONST INT (0 1) / INT RET",
                            quiet_options());
  cr_expect_eq(ran.outcome, MACHINE_ERROR);
  cr_expect_str_eq(ran.err, "before");
  cr_expect_str_eq(ran.out, "");
  ran_free(&ran);
}

Test(faults, long_traces_are_shortened) {
  static const struct faulty f = {
      "FUNC MAIN CONST INT 100 CALL DOWN RET\n"
      "FUNC DOWN COPY 1 0 CONST INT 0 = INT IF CONST INT 0 / INT ELSE CONST INT 1 - INT\n"
      "CALL DOWN ENDIF RET",
      {":2:", "/ INT: division by zero", "DOWN, called from DOWN", "... 86 more calls ...",
       "DOWN, called from MAIN"}};
  expect_fault(&f, quiet_options());
  struct ran ran = run_text(f.text, quiet_options());
  size_t lines = 0;
  for (const char *at = ran.diags; (at = strchr(at, '\n')); at++) lines++;
  cr_expect_eq(lines, 1 + 10 + 1 + 5, "%s", ran.diags);
  ran_free(&ran);
}

Test(faults, origins_come_first) {
  static const struct faulty f = {
      "FUNC MAIN {@ prog.nesl:7:3 top } CONST INT 1 CONST INT 0\n"
      "/ INT RET",
      {"prog.nesl:7:3: error: / INT: division by zero", "test.vcode:2:1"}};
  expect_fault(&f, quiet_options());
}
