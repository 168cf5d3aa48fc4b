/* test-tune-search.c - the search for tuning values, over times that a formula gives. */
#include "commands/tune-search.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* A machine whose runs take as long as the formula says; its clock is the sum of them. */
struct model {
  double (*seconds)(const struct tuning *, uint64_t run);
  const char *backend; /* NULL: cpu */
  double now;
  uint64_t runs, most_runs;
  unsigned trials, defaults, best, kept;
};

static double tune_search_run(void *with, const struct tuning *values) {
  struct model *m = with;
  const struct tuning all = tuning_complete(values);
  if (m->runs == m->most_runs) return -1;
  const double seconds = m->seconds(&all, m->runs++);
  m->now += seconds;
  return seconds;
}

static double clock_of(void *with) {
  return ((struct model *)with)->now;
}

static void tune_search_note(void *with, const struct tune_trial *t) {
  struct model *m = with;
  m->trials += t->what == TRIED_VALUE;
  m->defaults += t->what == TRIED_DEFAULTS;
  m->best += t->what == TRIED_BEST;
  m->kept += t->kept;
}

static struct tune_search test_search(struct model *m, double seconds, bool *good) {
  struct tune_search s = {.backend = m->backend ? m->backend : "cpu",
                          .seconds = seconds,
                          .run = tune_search_run,
                          .clock = clock_of,
                          .tried = tune_search_note,
                          .with = m};
  m->most_runs = m->most_runs ? m->most_runs : UINT64_MAX;
  *good = tune_search(&s);
  cr_expect(s.trials == m->trials);
  return s;
}

/* 0 .. 1, the same for each run. */
static double tune_search_noise(uint64_t run) {
  run = (run + 1) * 0x9e3779b97f4a7c15u;
  return (double)(run >> 40) / (double)(1 << 24);
}

static double log_of(const struct tuning *t, enum tuning_id id) {
  return log2((double)t->value[id]);
}

/* Best at 1M of one value and 32K of another, with noise of a tenth. */
static double bowl(const struct tuning *t, uint64_t run) {
  const double a = fabs(log_of(t, TUNE_CPU_CHUNK_BYTES) - 20);
  const double b = fabs(log_of(t, TUNE_CPU_RANK_LONG) - 15);
  return 0.01 * (1 + 0.2 * a + 0.2 * b) * (1 + 0.1 * tune_search_noise(run));
}

Test(tune_search, finds_the_best_of_two_values) {
  struct model m = {.seconds = bowl};
  bool good;
  const struct tune_search s = test_search(&m, 1e9, &good);
  struct tuning wanted = {0};
  wanted.value[TUNE_CPU_CHUNK_BYTES] = 1 << 20;
  wanted.value[TUNE_CPU_RANK_LONG] = 32 << 10;
  cr_assert(good && s.complete);
  cr_expect(memcmp(&s.best, &wanted, sizeof wanted) == 0);
  cr_expect(s.ratio > 0.5 && s.ratio < 0.7, "%f", s.ratio); /* of 1.6 */
  cr_expect(m.defaults == 1 && m.best == 1);
}

/* Runs differ by a third, whatever the values are, and become slower and slower. */
static double only_noise(const struct tuning *t, uint64_t run) {
  (void)t;
  return 0.01 * (1 + 0.3 * tune_search_noise(run) + 0.0005 * (double)run);
}

Test(tune_search, noise_is_no_gain) {
  struct model m = {.seconds = only_noise};
  const struct tuning none = {0};
  bool good;
  const struct tune_search s = test_search(&m, 1e9, &good);
  cr_assert(good && s.complete && s.ratio == 1);
  cr_expect(memcmp(&s.best, &none, sizeof none) == 0);
}

/* Half of the runs take twice as long, so that medians jump. */
static double tune_search_jumps(const struct tuning *t, uint64_t run) {
  (void)t;
  return tune_search_noise(run) < 0.5 ? 0.01 : 0.02;
}

Test(tune_search, a_median_that_jumps_is_no_gain) {
  struct model m = {.seconds = tune_search_jumps};
  bool good;
  test_search(&m, 1e9, &good);
  cr_expect(good && m.kept == 0, "%u", m.kept);
}

/* A gain of a fiftieth is less than what counts. */
static double small_gain(const struct tuning *t, uint64_t run) {
  (void)run;
  return t->value[TUNE_CPU_STREAM_BYTES] > 8 << 20 ? 0.0098 : 0.01;
}

Test(tune_search, a_small_gain_is_none) {
  struct model m = {.seconds = small_gain};
  bool good;
  const struct tune_search s = test_search(&m, 1e9, &good);
  cr_assert(good);
  cr_expect(s.best.value[TUNE_CPU_STREAM_BYTES] == 0 && s.ratio == 1);
}

/* A value that gains only in the beginning has only been lucky. */
static double at_first(const struct tuning *t, uint64_t run) {
  return t->value[TUNE_CPU_SERIAL_BYTES] == 256 << 10 && run < 100 ? 0.005 : 0.01;
}

Test(tune_search, the_best_is_compared_anew) {
  struct model m = {.seconds = at_first};
  const struct tuning none = {0};
  bool good;
  const struct tune_search s = test_search(&m, 1e9, &good);
  cr_assert(good && m.best == 1);
  cr_expect(memcmp(&s.best, &none, sizeof none) == 0 && s.ratio == 1);
}

Test(tune_search, ends_when_the_time_is_over) {
  struct model m = {.seconds = bowl};
  bool good;
  const struct tune_search s = test_search(&m, 1.5, &good);
  cr_assert(good && !s.complete);
  cr_expect(m.trials > 0 && m.trials < 6, "%u", m.trials);
}

Test(tune_search, ends_when_a_run_does_not) {
  for (uint64_t most = 0; most < 120; most += 7) {
    struct model m = {.seconds = bowl, .most_runs = most + 1};
    bool good;
    test_search(&m, 1e9, &good);
    cr_expect(!good);
  }
}

/* One of several ways is better, and those before it are not. */
static double fifth(const struct tuning *t, uint64_t run) {
  (void)run;
  const uint64_t way = t->value[TUNE_CUDA_REDUCE_KERNEL];
  return way == 5 ? 0.005 : way == 0 ? 0.01 : 0.02;
}

Test(tune_search, every_choice_is_tried) {
  struct model m = {.seconds = fifth, .backend = "cuda-variants"};
  bool good;
  const struct tune_search s = test_search(&m, 1e9, &good);
  cr_assert(good);
  cr_expect(s.best.value[TUNE_CUDA_REDUCE_KERNEL] == 5 && s.ratio == 0.5, "%f", s.ratio);
}

/* Illegal values are never tried. */
static double legal(const struct tuning *t, uint64_t run) {
  (void)run;
  for (unsigned id = 0; id < TUNING_COUNT; id++)
    cr_assert(tuning_is_legal((enum tuning_id)id, t->value[id]));
  return 0.001 * (24 - log_of(t, TUNE_CPU_RANK_LONG)); /* the most is the best */
}

Test(tune_search, values_stay_legal) {
  struct model m = {.seconds = legal};
  bool good;
  const struct tune_search s = test_search(&m, 1e9, &good);
  cr_assert(good);
  cr_expect(s.best.value[TUNE_CPU_RANK_LONG] == tuning_info(TUNE_CPU_RANK_LONG)->most);
}
