/* tune-search.c - see tune-search.h. */
#include "commands/tune-search.h"

#include <stdlib.h>
#include <string.h>

/* The time that a comparison takes, unless its runs are long. */
static const double comparison_seconds = 0.5;

/* ---- times ---- */

static int compare_seconds(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void summarise_times(struct tune_times *t) {
  double sorted[TUNE_MOST_RUNS];
  memcpy(sorted, t->seconds, t->runs * sizeof *sorted);
  qsort(sorted, t->runs, sizeof *sorted, compare_seconds);
  t->median = sorted[t->runs / 2];
  t->spread = t->median > 0 ? (sorted[3 * t->runs / 4] - sorted[t->runs / 4]) / t->median : 0;
}

static bool run_candidate_once(struct tune_search *s, const struct tuning *values,
                               struct tune_times *t) {
  const double seconds = s->run(s->with, values);
  if (seconds < 0) return false;
  if (t) t->seconds[t->runs++] = seconds;
  return true;
}

/* How often each side of a comparison runs: an odd number. */
static unsigned runs_for(double seconds) {
  const double wanted = seconds > 0 ? comparison_seconds / 2 / seconds : TUNE_MOST_RUNS;
  if (wanted >= TUNE_MOST_RUNS) return TUNE_MOST_RUNS;
  return wanted <= TUNE_LEAST_RUNS ? TUNE_LEAST_RUNS : (unsigned)wanted | 1;
}

/* ---- one comparison ---- */

struct comparison {
  struct tune_times old, new;
  bool gains;
  double ratio; /* of the medians */
};

/* Whether a candidate is hopeless after the first turns, so that others get the time. */
static bool is_hopeless(const struct comparison *c) {
  enum { TURNS = 3 };
  if (c->new.runs != TURNS) return false;
  for (unsigned i = 0; i < TURNS; i++) {
    if (c->new.seconds[i] < 1.1 * c->old.seconds[i]) return false;
  }
  return true;
}

static void judge(struct comparison *c) {
  unsigned faster = 0;
  summarise_times(&c->old);
  summarise_times(&c->new);
  for (unsigned i = 0; i < c->new.runs; i++) faster += c->new.seconds[i] < c->old.seconds[i];
  c->ratio = c->old.median > 0 ? c->new.median / c->old.median : 1;
  c->gains = c->ratio <= 1 - TUNE_GAIN && 4 * faster >= 3 * c->new.runs;
}

/* Runs both in turns, now one first and now the other, after a run of each that does not count.
 */
static bool compare_candidates(struct tune_search *s, const struct tuning *old,
                               const struct tuning *new, unsigned runs, struct comparison *c) {
  *c = (struct comparison){.ratio = 1};
  if (!run_candidate_once(s, old, NULL) || !run_candidate_once(s, new, NULL)) return false;
  while (c->new.runs < runs && !is_hopeless(c)) {
    const bool first = c->new.runs % 2 == 0;
    if (first && !run_candidate_once(s, old, &c->old)) return false;
    if (!run_candidate_once(s, new, &c->new)) return false;
    if (!first && !run_candidate_once(s, old, &c->old)) return false;
  }
  judge(c);
  return true;
}

/* ---- the search ---- */

struct state {
  struct tune_search *s;
  double end; /* by the clock */
  double ratio;
  unsigned runs;
};

static bool has_time(const struct state *state) {
  return state->s->clock(state->s->with) < state->end;
}

/* Twice or half of the value; 0 if that is not legal. */
static uint64_t next_value(enum tuning_id id, uint64_t value, bool up) {
  const uint64_t next = up ? 2 * value : value / 2;
  return tuning_is_legal(id, next) ? next : 0;
}

/* Compares the best with one value changed; keeps what gains. False: to end. */
static bool try_value(struct state *state, enum tuning_id id, uint64_t value, bool *gains) {
  struct tune_search *s = state->s;
  struct tuning candidate = s->best;
  struct comparison c;
  candidate.value[id] = value;
  if (!compare_candidates(s, &s->best, &candidate, state->runs, &c)) return false;
  const struct tune_trial trial = {TRIED_VALUE,           id,     value, c.new,
                                   state->ratio *c.ratio, c.gains};
  *gains = c.gains;
  s->trials++;
  s->tried(s->with, &trial);
  if (!c.gains) return true;
  s->best = candidate;
  state->ratio *= c.ratio;
  return true;
}

/* Goes one way as long as that gains. */
static bool go(struct state *state, enum tuning_id id, bool up, bool *any) {
  bool gains = true;
  while (gains) {
    const struct tuning now = tuning_complete(&state->s->best);
    const uint64_t value = next_value(id, now.value[id], up);
    if (value == 0) return true;
    if (!has_time(state)) {
      state->s->complete = false;
      return true;
    }
    if (!try_value(state, id, value, &gains)) return false;
    *any |= gains;
  }
  return true;
}

/* Compares the best with each other value. */
static bool try_all_values(struct state *state, enum tuning_id id) {
  const struct tuning_row *row = tuning_info(id);
  bool gains;
  for (uint64_t value = row->least; value <= row->most; value++) {
    const struct tuning now = tuning_complete(&state->s->best);
    if (value == now.value[id] || value == tuning_default(id)) continue;
    if (!has_time(state)) {
      state->s->complete = false;
      return true;
    }
    if (!try_value(state, id, value, &gains)) return false;
  }
  return true;
}

static bool search_value(struct state *state, enum tuning_id id) {
  if (tuning_info(id)->choice) return try_all_values(state, id);
  bool any = false;
  return go(state, id, true, &any) && (any || go(state, id, false, &any));
}

/* The times of the defaults, which also say how often candidates are to run. */
static bool measure_defaults(struct state *state) {
  struct tune_search *s = state->s;
  struct tune_trial trial = {.what = TRIED_DEFAULTS, .ratio = 1};
  if (!run_candidate_once(s, &s->best, NULL)) return false;
  do {
    if (!run_candidate_once(s, &s->best, &trial.times)) return false;
    summarise_times(&trial.times);
  } while (trial.times.runs < runs_for(trial.times.median));
  state->runs = runs_for(trial.times.median);
  s->tried(s->with, &trial);
  return true;
}

/* Whether the best is better than the defaults when they are compared anew. */
static bool confirm(struct state *state) {
  struct tune_search *s = state->s;
  const struct tuning none = {0};
  struct comparison c;
  if (memcmp(&s->best, &none, sizeof none) == 0) return true;
  if (!compare_candidates(s, &none, &s->best, state->runs, &c)) return false;
  const struct tune_trial trial = {
      .what = TRIED_BEST, .times = c.new, .ratio = c.ratio, .kept = c.gains};
  s->tried(s->with, &trial);
  if (c.gains) {
    s->ratio = c.ratio;
  } else {
    s->best = none;
  }
  return true;
}

bool tune_search(struct tune_search *s) {
  struct state state = {.s = s, .ratio = 1};
  s->best = (struct tuning){0};
  s->ratio = 1;
  s->trials = 0;
  s->complete = true;
  if (!measure_defaults(&state)) return false;
  state.end = s->clock(s->with) + s->seconds;
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    if (!tuning_concerns((enum tuning_id)id, s->backend)) continue;
    if (!search_value(&state, (enum tuning_id)id)) return false;
  }
  return confirm(&state);
}
