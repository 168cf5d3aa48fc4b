/* test-machine.c - programs print the same when they are typed, checked or profiled. */
#include "base/tests/memory.h"
#include "vinterp/tests/fixture.h"
#include "vinterp/tests/programs.h"
#include <string.h>
#include <unistd.h>

TestSuite(machine, .init = memory_begin, .fini = memory_end);

static void machine_expect(const struct program *p, struct machine_options options,
                           const char *how, const char *expected) {
  struct ran ran = run_text(p->text, options);
  cr_expect(printed(&ran, expected), "%s (%s):\n%s%s", p->name, how, ran.out, ran.diags);
  cr_expect_not(ran.leaked, "%s (%s): memory left", p->name, how);
  ran_free(&ran);
}

Test(machine, programs_print_what_they_should) {
  for (size_t k = 0; k < program_count; k++) {
    if (programs[k].expected)
      machine_expect(&programs[k], test_options(), "typed", programs[k].expected);
  }
}

Test(machine, checked_execution_agrees) {
  for (size_t k = 0; k < program_count; k++) {
    struct ran typed = run_text(programs[k].text, test_options());
    struct machine_options options = test_options();
    options.checked = true;
    struct ran checked = run_text(programs[k].text, options);
    cr_expect_str_eq(typed.out, checked.out, "%s", programs[k].name);
    cr_expect_eq(typed.outcome, checked.outcome, "%s: %s", programs[k].name, checked.diags);
    ran_free(&typed);
    ran_free(&checked);
  }
}

/* The optimiser leaves such programs: they have no stack code to run checked, and no names
 * except those of the let-form. */
Test(machine, typed_functions_need_no_stack_code) {
  for (size_t k = 0; k < program_count; k++) {
    struct machine_options options = test_options();
    options.checked = k % 2;
    struct ran ran = run_let_form(programs[k].text, options);
    cr_expect(printed(&ran, programs[k].expected), "%s:\n%s%s", programs[k].name, ran.out,
              ran.diags);
    cr_expect_not(ran.leaked, "%s", programs[k].name);
    ran_free(&ran);
  }
}

Test(machine, profiled_execution_agrees) {
  struct machine_options options = test_options();
  options.profile = true;
  for (size_t k = 0; k < program_count; k++) {
    machine_expect(&programs[k], options, "profiled", programs[k].expected);
  }
  options.checked = true;
  machine_expect(&programs[0], options, "profiled and checked", programs[0].expected);
}

Test(machine, narrow_widths) {
  struct machine_options options = test_options();
  options.widths = (struct widths){CVL_I32, CVL_F32};
  static const struct program p = {
      "narrow",
      "FUNC MAIN CONST INT 2147483647 CONST INT 1 + INT CONST INT (2147483647 1) CONST INT (1 "
      "1) "
      "+ INT CONST FLOAT 0.1 CONST FLOAT (0.5 0.25) RET",
      "( -2147483648 )\n( -2147483648 2 )\n( 1.00000001490116e-01 )\n"
      "( 5.00000000000000e-01 2.50000000000000e-01 )\n"};
  machine_expect(&p, options, "32 bits", p.expected);
  options.checked = true;
  machine_expect(&p, options, "32 bits, checked", p.expected);
}

Test(machine, exit_prints_no_stack_but_what_was_written) {
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = test_options();
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
                            "(3 4) (1)", test_options(), 0);
  cr_expect(printed(&ran, "( 3 4 )\n( 1.00000000000000e+00 )\n"), "%s%s", ran.out, ran.diags);
  cr_expect_str_eq(ran.err, "( 3 4 )\n");
  ran_free(&ran);
}

Test(machine, timers_count_seconds) {
  struct ran ran =
      run_text("FUNC MAIN STOP_TIMER CONST FLOAT 0.0 >= FLOAT START_TIMER STOP_TIMER "
               "CONST FLOAT 10.0 < FLOAT RET",
               test_options());
  cr_expect(printed(&ran, "( T )\n( T )\n"), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

Test(machine, may_run_again) {
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  struct machine_options options = test_options();
  options.out = tmpfile();
  static const char text[] = "FUNC MAIN CONST INT (1 1) RAND CONST INT (1 2) CONST INT (0 1) "
                             "/ INT RET";
  static const char fine[] = "FUNC MAIN CONST INT (1 2) RET";
  struct machine *m = machine_new(&options, &diags);
  for (int k = 0; k < 3; k++) {
    cr_expect_eq(machine_run(m, program_of(&arena, text, options.widths, &diags), &diags),
                 MACHINE_ERROR);
    cr_expect_eq(machine_run(m, program_of(&arena, fine, options.widths, &diags), &diags),
                 MACHINE_DONE);
  }
  cr_expect_eq(diags.errors, 3);
  machine_free(m);
  rewind(options.out);
  char line[100];
  for (int k = 0; k < 3; k++)
    cr_expect_str_eq(fgets(line, sizeof line, options.out), "( 1 2 )\n");
  fclose(options.out);
}

/* A machine is part of another process, which SIGPIPE would end. */
Test(machine, results_that_nobody_reads_are_an_error_not_a_signal) {
  static const char text[] = "FUNC MAIN CONST INT (1 2) RET";
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  close(ends[0]);
  struct machine_options options = test_options();
  options.out = fdopen(ends[1], "w");
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  struct machine *machine = machine_new(&options, &diags);
  cr_assert(machine);
  cr_expect_eq(machine_run(machine, program_of(&arena, text, options.widths, &diags), &diags),
               MACHINE_ERROR);
  cr_expect_eq(diags.errors, 1);
  machine_free(machine);
}
