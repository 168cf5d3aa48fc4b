/* test-need.c - needs of chunks (chunk-need.c): lines go through measured points, and neither
 * way of executing a call, by the machine alone or by its team, is given up for ever.
 */
#include "vinterp/machine/machine-private.h"

#include <criterion/criterion.h>

enum { WEIGHT = 1 << 20, CALLS = 1000 };

/* A machine that has measured chunks of its only function. */
struct measured {
  struct chunk_need need;
  struct machine machine;
};

/* The team is never used; only its existence matters. */
static void need_begin(struct measured *x) {
  *x = (struct measured){0};
  x->machine.needs = &x->need;
  x->machine.team = (struct team *)x;
}

static void learn(struct measured *x, bool team, double weight, double seconds) {
  struct cut whole = {0};
  struct cut cut = {.team = team ? x->machine.team : NULL,
                    .measured = {.weight = weight, .bytes = weight, .seconds = seconds}};
  chunk_learn(&x->machine, &whole, &cut);
  cr_expect_eq(whole.spent, seconds);
}

/* Ends a call that was executed in one way, in so many seconds. */
static void end_call(struct measured *x, bool team, double seconds) {
  struct cut cut = {.spent = seconds, .counts.threads = team ? 2 : 0};
  chunk_measure_cut(&x->machine, &cut);
}

static double need_expected(const struct measured *x, bool team) {
  const struct chunk_way *way = team ? &x->need.team : &x->need.alone;
  return chunk_line_at(&way->seconds, WEIGHT);
}

/* Returns after how many calls in one way the other one is expected to be faster. That took
 * `factor` times as long when it was measured. Returns 0 if it never is. */
static int calls_until_tried(bool chosen, double seconds, double factor) {
  struct measured x;
  need_begin(&x);
  learn(&x, chosen, WEIGHT, seconds);
  learn(&x, !chosen, WEIGHT, factor * seconds);
  for (int k = 1; k <= CALLS; k++) {
    end_call(&x, chosen, seconds);
    cr_assert_float_eq(need_expected(&x, chosen), seconds, seconds * 1e-9);
    if (need_expected(&x, !chosen) < seconds) return k;
  }
  return 0;
}

Test(need, what_was_not_chosen_is_tried_again) {
  for (int team = 0; team < 2; team++) {
    const int soon = calls_until_tried(team, 1e-3, 1.5),
              late = calls_until_tried(team, 1e-3, 8);
    cr_expect(soon > 1 && soon < 20, "tried again after %d calls", soon);
    cr_expect(late > soon && late < 100, "tried again after %d calls", late);
  }
}

Test(need, calls_that_take_long_are_not_tried_the_other_way) {
  for (int team = 0; team < 2; team++) cr_expect_eq(calls_until_tried(team, 0.1, 1.5), 0);
}

Test(need, what_was_measured_often_is_doubted_less) {
  struct measured once, often;
  need_begin(&once);
  need_begin(&often);
  learn(&once, true, WEIGHT, 4e-3);
  for (int k = 0; k < 20; k++) learn(&often, true, WEIGHT, 4e-3);
  for (int k = 0; k < 10; k++) {
    end_call(&once, false, 1e-3);
    end_call(&often, false, 1e-3);
  }
  cr_expect_lt(need_expected(&once, true), 2e-3);
  cr_expect_gt(need_expected(&often, true), 3e-3);
}

Test(need, a_line_goes_through_the_fixed_part) {
  struct measured x;
  need_begin(&x);
  learn(&x, false, 1000, 2.0 + 1.0);
  learn(&x, false, 8000, 2.0 + 8.0);
  cr_expect_float_eq(x.need.alone.seconds.fixed, 2.0, 1e-9);
  cr_expect_float_eq(x.need.alone.seconds.each, 1e-3, 1e-12);
  /* If only one way has been measured, its time stands for both. */
  cr_expect_float_eq(x.need.team.seconds.fixed, 2.0, 1e-9);
}
