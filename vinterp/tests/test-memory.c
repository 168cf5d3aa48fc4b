/* test-memory.c - every allocation fails once. Each time the run has an ordinary error, or the
 * right result. Nothing leaks (the sanitizer of the test build watches the vectors), and no
 * part of a result is printed.
 */
#include "vinterp/tests/fixture.h"
#include <criterion/criterion.h>
#include <string.h>

struct tiny {
  const char *text, *expected;
};

static const struct tiny programs[] = {
    {"FUNC MAIN CONST INT (1 2 3) CONST INT (4 5 6) + INT COPY 1 0 LENGTH INT RET",
     "( 5 7 9 )\n( 3 )\n"},
    {"FUNC MAIN CONST INT 6 CALL FIB RET FUNC FIB COPY 1 0 CONST INT 2 < INT IF ELSE COPY 1 0 "
     "CONST INT 1 - INT CALL FIB CPOP 1 1 CONST INT 2 - INT CALL FIB + INT ENDIF RET",
     "( 8 )\n"},
    {"FUNC MAIN CONST INT (5 1 4 2) CONST BOOL (T F T T) CONST INT (2 2) MAKE_SEGDES PACK INT "
     "COPY 2 0 +_SCAN INT CPOP 2 1 RANK_UP INT RET",
     "( 0 0 4 )\n( 0 1 0 )\n"},
    {"FUNC MAIN CONST FLOAT 1.5 CONST INT (1 2) PAIR COPY 1 0 CONST BOOL T PAIR UNPAIR POP 1 0 "
     "UNPAIR RET",
     "pair(Float,Int) \n( 1.50000000000000e+00 )\n( 1 2 )\n"},
    {"FUNC MAIN CONST INT 2 CONST BOOL T IF CONST INT (3 4) ELSE ENDIF CONST SEGDES (1 2) "
     "LENGTHS READ INT POP 2 0 RET",
     "( 2 )\n( 3 4 )\n( 1 2 )\n( 7 8 )\n"},
};

enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* Returns whether the run ended well; if not, expects that it ended in an error and printed
 * nothing. */
static bool ended_well(const struct tiny *p, const struct ran *ran, uint64_t n) {
  bool well = ran->loaded && ran->outcome == MACHINE_DONE;
  cr_expect_str_eq(ran->out, well ? p->expected : "", "failure %lu of %s", n, p->text);
  cr_expect_not(ran->leaked, "failure %lu of %s", n, p->text);
  if (!well && ran->loaded) cr_expect_eq(ran->errors, 1, "%lu: %s", n, ran->diags);
  return well;
}

Test(memory, every_allocation_of_loading_fails_once) {
  for (size_t k = 0; k < PROGRAMS; k++) {
    struct ran whole = run_with(programs[k].text, "(7 8)", test_options(), 0);
    uint64_t allocations = whole.load_allocations;
    cr_assert_gt(allocations, 0, "%s", whole.diags);
    ran_free(&whole);
    for (uint64_t n = 1; n <= allocations; n++) {
      struct ran ran = run_with(programs[k].text, "(7 8)", test_options(), n);
      cr_expect_not(ran.loaded, "failure %lu of %s", n, programs[k].text);
      ended_well(&programs[k], &ran, n);
      ran_free(&ran);
    }
  }
}

static void memory_sweep(struct machine_options options) {
  for (size_t k = 0; k < PROGRAMS; k++) {
    uint64_t failures = 0;
    /* Odd numbers fail in the machine, even ones in the back end. So two runs in sequence that
     * end well show that both are done. */
    for (uint64_t n = 1, well = 0; well < 2; n++) {
      options.fail_allocation = n;
      struct ran ran = run_with(programs[k].text, "(7 8)", options, 0);
      bool ok = ended_well(&programs[k], &ran, n);
      well = ok ? well + 1 : 0;
      failures += !ok;
      ran_free(&ran);
      cr_assert_lt(n, 1000);
    }
    cr_expect_gt(failures, 3, "%s", programs[k].text);
  }
}

Test(memory, every_allocation_of_a_run_fails_once) {
  memory_sweep(test_options());
}

Test(memory, every_allocation_of_a_checked_run_fails_once) {
  struct machine_options options = test_options();
  options.checked = true;
  memory_sweep(options);
}
