/* fused-choice.c - see fused-choice.h. */
#include "cvl-cpu/fused-choice.h"

#include <math.h>
#include <time.h>

#include "cvl-cpu/fused-native.h"
#include "cvl-cpu/native-compile.h"

/* To write the text of a superoperator and look for it takes a good part of a millisecond, to
 * compile it some tenths of a second: but on a processor that would mostly be idle. */
static const double look_after = 2e-3, compile_after = 100e-3; /* seconds */
/* So much of either says which is quicker: some runs, or a long one. */
static const double try_for = 2e-3, try_once = 20e-3;
enum { TRY_RUNS = 3 };

/* What a place takes at each node, at least: a look that costs less than the run comes first.
 */
static const double least_of_node = 0.2e-9;

/* What a run takes beside its places, in places. */
static const double places_of_a_run = 1000;

/* How many times as long as the first turns took one way stays, before the next ones. */
static const double rest_after_turns = 16;

static void settle(struct fused_choice *choice, bool compiled, double rest) {
  choice->stage = CHOICE_SETTLED;
  choice->compiled = compiled;
  choice->since = 0;
  choice->rest = rest;
}

static bool tried(const struct fused_trial *t) {
  return t->seconds >= (t->runs >= TRY_RUNS ? try_for : try_once);
}

/* In turns, as runs of a loop may become shorter and shorter. */
static void try_next(struct fused_choice *choice) {
  const struct fused_trial *e = &choice->evaluated, *n = &choice->native;
  if (tried(e) && tried(n)) {
    const double rest =
        choice->rest > 0 ? 2 * choice->rest : rest_after_turns * (e->seconds + n->seconds);
    settle(choice, n->seconds * e->work < e->seconds * n->work, rest);
  } else {
    choice->compiled = tried(e) || (!tried(n) && !choice->compiled);
  }
}

/* Both begin anew: earlier runs may have been of other data. */
static void begin_trial(struct fused_choice *choice) {
  choice->stage = CHOICE_TRIED;
  choice->compiled = false; /* the other is next */
  choice->evaluated = choice->native = (struct fused_trial){0};
}

bool fused_choose(struct cvl_kernel *k) {
  if (!k->c->native) return false;
  if (!native_when_it_pays(k->c->native)) return k->native && fused_native_ready(k->native);
  struct fused_choice *choice = &k->choice;
  const double spent = choice->evaluated.seconds;
  const double soon = least_of_node * (double)k->n * k->op->node_count;
  if (choice->stage == CHOICE_WATCHED && spent + soon >= look_after) {
    k->native = fused_native_new(k);
    choice->stage = CHOICE_MISSING;
    if (!k->native) {
      settle(choice, false, INFINITY);
    } else if (fused_native_kept(k->native) && fused_native_ready(k->native)) {
      begin_trial(choice);
    }
  } else if (choice->stage == CHOICE_MISSING && spent >= compile_after) {
    choice->stage = CHOICE_STARTED;
  }
  if (choice->stage == CHOICE_STARTED) {
    if (fused_native_ready(k->native)) {
      begin_trial(choice);
    } else if (fused_native_failed(k->native)) {
      settle(choice, false, INFINITY);
    }
  } else if (choice->stage == CHOICE_SETTLED && choice->since >= choice->rest) {
    begin_trial(choice);
  }
  if (choice->stage == CHOICE_TRIED) try_next(choice);
  return choice->compiled;
}

bool fused_choice_open(const struct cvl_kernel *k) {
  return k->c->native && native_when_it_pays(k->c->native) &&
         (k->choice.stage != CHOICE_SETTLED || k->choice.rest < INFINITY);
}

double fused_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void fused_chosen(struct cvl_kernel *k, double seconds) {
  struct fused_choice *choice = &k->choice;
  struct fused_trial *t = choice->compiled ? &choice->native : &choice->evaluated;
  t->seconds += seconds;
  t->work += (double)k->n + places_of_a_run;
  t->runs++;
  choice->since += seconds;
}
