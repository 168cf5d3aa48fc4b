/* test-machine.c - programs and what they print: the same typed, checked and profiled. */
#include "vinterp/tests/fixture.h"
#include <criterion/criterion.h>
#include <string.h>

struct program {
  const char *name, *text, *expected;
};

static const struct program programs[] = {
    {"sum of squares",
     "FUNC SUMSQ CONST INT 0 CONST INT 1 CONST SEGDES 5 INDEX COPY 1 0 * INT CONST SEGDES 5 "
     "+_REDUCE INT RET",
     "( 30 )\n"},
    {"empty", "FUNC MAIN RET", ""},
    {"recursion",
     "FUNC MAIN CONST INT 15 CALL FIB RET "
     "FUNC FIB COPY 1 0 CONST INT 2 < INT IF ELSE COPY 1 0 CONST INT 1 - INT CALL FIB CPOP 1 1 "
     "CONST INT 2 - INT CALL FIB + INT ENDIF RET",
     "( 610 )\n"},
    {"mutual recursion",
     "FUNC MAIN CONST INT 11 CALL EVEN CONST INT 8 CALL EVEN RET "
     "FUNC EVEN COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL T ELSE CONST INT 1 - INT "
     "CALL ODD ENDIF RET "
     "FUNC ODD COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL F ELSE CONST INT 1 - INT "
     "CALL EVEN ENDIF RET",
     "( F )\n( T )\n"},
    {"several results and a rotation",
     "FUNC MAIN CONST INT 1 CONST FLOAT 2.0 CONST BOOL T CALL TURN CALL TURN RET "
     "FUNC TURN CPOP 1 2 RET",
     "( T )\n( 1 )\n( 2.00000000000000e+00 )\n"},
    {"a result twice", "FUNC MAIN CONST INT (4 5) CALL TWICE RET FUNC TWICE COPY 1 0 RET",
     "( 4 5 )\n( 4 5 )\n"},
    {"one operand twice, in place or not",
     "FUNC MAIN CONST INT (3 0 1 2) COPY 1 0 CONST SEGDES 4 COPY 1 0 BPERMUTE INT "
     "CONST INT (1 2) COPY 1 0 + INT CONST INT 4 COPY 1 0 * INT RET",
     "( 2 3 0 1 )\n( 2 4 )\n( 16 )\n"},
    {"pairs",
     "FUNC MAIN CONST INT (1 2) CONST FLOAT 1.5 PAIR COPY 1 0 CONST BOOL T PAIR UNPAIR "
     "POP 1 0 UNPAIR CPOP 1 1 RET",
     "pair(Int,Float) \n( 1.50000000000000e+00 )\n( 1 2 )\n"},
    {"arms that drop and arms that yield",
     "FUNC MAIN CONST INT (1 2 3) CONST INT (9 9) CONST BOOL T CALL PICK "
     "CONST INT (1 2 3) CONST INT (9 9) CONST BOOL F CALL PICK RET "
     "FUNC PICK IF POP 1 0 ELSE POP 1 1 ENDIF RET",
     "( 1 2 3 )\n( 9 9 )\n"},
    {"nested arms",
     "FUNC MAIN CONST INT 5 CALL SIGN CONST INT 0 CALL SIGN CONST INT -5 CALL SIGN RET "
     "FUNC SIGN COPY 1 0 CONST INT 0 < INT IF POP 1 0 CONST INT -1 ELSE "
     "COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST INT (0 0) ELSE POP 1 0 CONST INT 1 ENDIF "
     "ENDIF RET",
     "( 1 )\n( 0 0 )\n( -1 )\n"},
    {"an arm that exits, not taken",
     "FUNC MAIN CONST INT (7 8) CONST BOOL F IF CONST INT 0 EXIT ELSE CONST INT 3 ENDIF RET",
     "( 7 8 )\n( 3 )\n"},
    {"the other arm exits, not taken",
     "FUNC MAIN CONST INT (7 8) CONST BOOL T IF CONST INT 3 ELSE EXIT ENDIF RET",
     "( 7 8 )\n( 3 )\n"},
    {"a condition that is a vector",
     "FUNC MAIN CONST BOOL (F T) CONST INT (1) CONST SEGDES 2 EXTRACT BOOL IF CONST INT 1 ELSE "
     "CONST INT 2 ENDIF RET",
     "( 1 )\n"},
    {"every permutation",
     "FUNC TEST CONST INT (10 20 30 40 50) CONST INT (1 0 2 0 1) CONST INT (2 0 3) MAKE_SEGDES "
     "PERMUTE INT CONST INT (70 80) CONST INT (3 0) CONST INT (1 2 3 4 5) CONST SEGDES 2 "
     "CONST SEGDES 5 DPERMUTE INT CONST INT (10 20 30 40 50) CONST INT (2 9 0 1 -1) "
     "CONST BOOL (T F T T F) CONST SEGDES 5 CONST SEGDES 3 FPERMUTE INT "
     "CONST INT (10 20 30 40 50) CONST INT (1 1 0 2 0) CONST INT (2 0 3) MAKE_SEGDES "
     "CONST INT (3 0 2) MAKE_SEGDES BPERMUTE INT CONST INT (10 20 30) CONST INT (2 9 0 1) "
     "CONST BOOL (T F T T) CONST SEGDES 3 CONST SEGDES 4 BFPERMUTE INT CONST INT (10 20 30) "
     "CONST INT (2 9 0) CONST BOOL (T F T) CONST INT (7 8 9) CONST SEGDES 3 CONST SEGDES 3 "
     "DFPERMUTE INT RET",
     "( 20 10 40 50 30 )\n( 80 2 3 70 5 )\n( 30 40 10 )\n( 20 20 10 50 30 )\n( 30 0 10 20 )\n"
     "( 30 8 10 )\n"},
    {"the other vector instructions",
     "FUNC TEST CONST INT (10 20 30 40) CONST INT (1 0) CONST INT (3 1) MAKE_SEGDES EXTRACT "
     "INT "
     "CONST INT (10 20 30 40) CONST INT (2 0) CONST INT (99 98) CONST INT (3 1) MAKE_SEGDES "
     "REPLACE INT CONST INT (7 8 9) CONST INT (2 0 3) MAKE_SEGDES DIST INT "
     "CONST INT (0 5 100) CONST INT (1 2 -1) CONST INT (3 0 2) MAKE_SEGDES INDEX "
     "CONST INT (1 2 3 4 5) CONST BOOL (T F T T F) CONST INT (2 0 3) MAKE_SEGDES PACK INT "
     "CONST FLOAT (1.5 2.5) LENGTH FLOAT RET",
     "( 20 40 )\n( 10 20 99 98 )\n( 7 7 9 9 9 )\n( 0 1 2 100 99 )\n( 1 3 4 )\n[ 1 0 2 ]\n( 2 "
     ")\n"},
    {"scans, reductions, ranks",
     "FUNC TEST CONST INT (3 1 2 5 -4 7) CONST INT (3 0 2 1) MAKE_SEGDES COPY 2 0 +_SCAN INT "
     "CPOP 2 1 COPY 2 0 +_REDUCE INT CPOP 2 1 RANK_DOWN INT RET",
     "( 0 3 4 0 5 0 )\n( 6 0 1 7 )\n( 0 2 1 0 1 0 )\n"},
    {"descriptors",
     "FUNC TEST CONST SEGDES 5 LENGTHS CONST SEGDES (2 0 1) COPY 1 0 LENGTHS COPY 1 0 "
     "LENGTH INT MAKE_SEGDES CONST SEGDES () CONST INT () MAKE_SEGDES LENGTHS RET",
     "( 5 )\n[ 2 0 1 ]\n( 2 0 1 )\n[ 3 ]\n[ ]\n( )\n"},
    {"scalar arithmetic of all kinds",
     "FUNC TEST CONST INT 7 CONST INT -2 / INT CONST INT -7 CONST INT 3 % CONST FLOAT 2.5 "
     "ROUND "
     "CONST INT 3 I_TO_F SQRT FLOOR CONST BOOL T CONST INT 4 CONST INT 5 SELECT INT "
     "CONST INT 1 CONST INT 33 LSHIFT CONST BOOL T NOT BOOL B_TO_I RET",
     "( -3 )\n( -1 )\n( 3 )\n( 1 )\n( 4 )\n( 8589934592 )\n( 0 )\n"},
    {"constants of every type",
     "FUNC TEST CONST INT (1 -2) CONST FLOAT (1.0 -0.5) CONST BOOL (T F) CONST SEGDES (2 0 1) "
     "CONST CHAR \"Hi\" CONST CHAR \"\" CONST CHAR \"A\" CONST INT STDERR RET",
     "( 1 -2 )\n( 1.00000000000000e+00 -5.00000000000000e-01 )\n( T F )\n[ 2 0 1 ]\n( 72 105 "
     ")\n"
     "( )\n( 65 )\n( 2 )\n"},
    {"the same random numbers from the same seed",
     "FUNC TEST CALL DRAW CONST INT 0 SRAND INT POP 1 0 CALL DRAW CALL SAME RET "
     "FUNC DRAW CONST INT (1000 1000 1000) RAND RET "
     "FUNC SAME = INT CONST SEGDES 3 AND_REDUCE BOOL RET",
     "( T )\n"},
    {"assertions that hold",
     "FUNC TEST CONST BOOL (T T) CONST INT (1 2) CONST INT (3 4) ASSERT \"never\" CONST BOOL T "
     "CONST INT 1 CONST INT 2 ASSERT \"never\" RET",
     ""},
    {"kinds that grow in recursion run as stack code",
     "FUNC MAIN CONST INT 3 CONST INT 0 CALL GROW RET "
     "FUNC GROW COPY 1 1 CONST INT 0 = INT IF POP 1 1 ELSE CPOP 1 1 CONST INT 1 - INT CPOP 1 1 "
     "CONST BOOL T PAIR CALL GROW ENDIF RET",
     "pair(Pair,Bool) \n"},
    {"stack code calls typed functions",
     "FUNC MAIN CONST INT 4 CALL PILE +_REDUCE INT RET "
     "FUNC PILE COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST INT (5 6) CALL SHAPE ELSE "
     "CONST INT 1 - INT CONST BOOL F IF CONST INT 1 CALL PILE ELSE CALL PILE ENDIF ENDIF RET "
     "FUNC SHAPE COPY 1 0 LENGTH INT MAKE_SEGDES RET",
     "( 11 )\n"},
};

enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void expect(const struct program *p, struct machine_options options, const char *how,
                   const char *expected) {
  struct ran ran = run_text(p->text, options);
  cr_expect(printed(&ran, expected), "%s (%s):\n%s%s", p->name, how, ran.out, ran.diags);
  cr_expect_not(ran.leaked, "%s (%s): memory left", p->name, how);
  ran_free(&ran);
}

Test(machine, programs_print_what_they_should) {
  for (size_t k = 0; k < PROGRAMS; k++) {
    if (programs[k].expected)
      expect(&programs[k], quiet_options(), "typed", programs[k].expected);
  }
}

Test(machine, checked_execution_agrees) {
  for (size_t k = 0; k < PROGRAMS; k++) {
    struct ran typed = run_text(programs[k].text, quiet_options());
    struct machine_options options = quiet_options();
    options.checked = true;
    struct ran checked = run_text(programs[k].text, options);
    cr_expect_str_eq(typed.out, checked.out, "%s", programs[k].name);
    cr_expect_eq(typed.outcome, checked.outcome, "%s: %s", programs[k].name, checked.diags);
    ran_free(&typed);
    ran_free(&checked);
  }
}

Test(machine, profiled_execution_agrees) {
  struct machine_options options = quiet_options();
  options.profile = true;
  for (size_t k = 0; k < PROGRAMS; k++) {
    expect(&programs[k], options, "profiled", programs[k].expected);
  }
  options.checked = true;
  expect(&programs[0], options, "profiled and checked", programs[0].expected);
}

Test(machine, narrow_widths) {
  struct machine_options options = quiet_options();
  options.widths = (struct widths){CVL_I32, CVL_F32};
  static const struct program p = {
      "narrow",
      "FUNC MAIN CONST INT 2147483647 CONST INT 1 + INT CONST INT (2147483647 1) CONST INT (1 "
      "1) "
      "+ INT CONST FLOAT 0.1 CONST FLOAT (0.5 0.25) RET",
      "( -2147483648 )\n( -2147483648 2 )\n( 1.00000001490116e-01 )\n"
      "( 5.00000000000000e-01 2.50000000000000e-01 )\n"};
  expect(&p, options, "32 bits", p.expected);
  options.checked = true;
  expect(&p, options, "32 bits, checked", p.expected);
}

Test(machine, exit_prints_no_stack_but_what_was_written) {
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = quiet_options();
    options.checked = checked;
    struct ran ran = run_text("FUNC MAIN CONST INT (1 2) CALL STOP CONST INT 4 RET "
                              "FUNC STOP CONST CHAR \"bye\" WRITE CHAR EXIT RET",
                              options);
    cr_expect_eq(ran.outcome, MACHINE_EXIT, "%s", ran.diags);
    cr_expect_str_eq(ran.out, "");
    cr_expect_str_eq(ran.err, "bye");
    ran_free(&ran);
  }
}

Test(machine, reads_and_writes) {
  struct ran ran = run_with("FUNC MAIN READ INT POP 2 0 COPY 1 0 WRITE INT POP 2 0 READ FLOAT "
                            "POP 2 0 RET",
                            "(3 4) (1)", quiet_options(), 0);
  cr_expect(printed(&ran, "( 3 4 )\n( 1.00000000000000e+00 )\n"), "%s%s", ran.out, ran.diags);
  cr_expect_str_eq(ran.err, "( 3 4 )\n");
  ran_free(&ran);
}

Test(machine, timers_count_seconds) {
  struct ran ran =
      run_text("FUNC MAIN STOP_TIMER CONST FLOAT 0.0 >= FLOAT START_TIMER STOP_TIMER "
               "CONST FLOAT 10.0 < FLOAT RET",
               quiet_options());
  cr_expect(printed(&ran, "( T )\n( T )\n"), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

Test(machine, may_run_again) {
  struct heap heap;
  heap_init(&heap, 0);
  struct arena arena;
  arena_init(&arena, &heap);
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  cr_assert(setjmp(arena.out_of_memory) == 0);
  struct machine_options options = quiet_options();
  options.out = tmpfile();
  static const char text[] = "FUNC MAIN CONST INT (1 1) RAND CONST INT (1 2) CONST INT (0 1) "
                             "/ INT RET";
  static const char fine[] = "FUNC MAIN CONST INT (1 2) RET";
  struct vcode_program *bad =
      vcode_parse(&arena, "a", text, strlen(text), options.widths, &diags);
  struct vcode_program *good =
      vcode_parse(&arena, "b", fine, strlen(fine), options.widths, &diags);
  struct machine *m = machine_new(&options, &diags);
  for (int k = 0; k < 3; k++) {
    cr_expect_eq(machine_run(m, ir_build(&arena, bad, options.widths, &diags), &diags),
                 MACHINE_ERROR);
    cr_expect_eq(machine_run(m, ir_build(&arena, good, options.widths, &diags), &diags),
                 MACHINE_DONE);
  }
  cr_expect_eq(diags.errors, 3);
  machine_free(m);
  rewind(options.out);
  char line[100];
  for (int k = 0; k < 3; k++)
    cr_expect_str_eq(fgets(line, sizeof line, options.out), "( 1 2 )\n");
  fclose(options.out);
  arena_free(&arena);
}
