/* choice.c - see choice.h. */
#include "cvl-cpu/fused/choice.h"

#include <math.h>

#include "cvl-cpu/compile/compile.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/ranges.h"

/* Writing the text of a superoperator and looking it up takes most of a millisecond: it pays
 * sooner where others of the program were found. Compiling it takes some tenths of a second, on
 * a processor that would mostly be idle. */
static const double look_after = 2e-3, look_sooner = 0.5e-3,
                    compile_after = 100e-3; /* seconds */
/* A trial is long enough to compare after TRY_RUNS runs of try_for seconds, or after try_once.
 * Its first run does not count unless it takes try_once: code that was just loaded, and memory
 * that nobody has written yet, may take several times as long. */
static const double try_for = 2e-3, try_once = 20e-3;
enum { TRY_RUNS = 4 };

/* The least time of a node for each position. If a run will take longer than a look-up, the
 * look-up comes first. */
static const double seconds_of_node = 0.2e-9;

/* The fixed cost of a run, in positions. */
static const double overhead_of_run = 1000;

/* Settled: of runs that are shorter than this, one in TIMED_OF is timed. */
static const double brief_run = 20e-6; /* seconds */
enum { TIMED_OF = 8 };

/* Compiled code is the faster way as a rule: it is used for so many seconds before the first
 * trial, and for this multiple of its first run, unless it is slower than evaluation was. The
 * way that won the first trials stays for this multiple of their time. */
static const double rest_at_first = 30e-3, first_multiple = 4, rest_multiple = 16;

static void choice_settle(struct fused_choice *choice, bool compiled, double rest) {
  choice->stage = CHOICE_SETTLED;
  choice->use_compiled = compiled;
  choice->since = 0;
  choice->rest = rest;
}

static bool tried(const struct fused_trial *t) {
  return t->seconds >= (t->runs >= TRY_RUNS ? try_for : try_once);
}

/* Alternates between both ways, since runs within a loop may become shorter and shorter. */
static void try_next(struct fused_choice *choice) {
  const struct fused_trial *e = &choice->evaluated, *n = &choice->compiled;
  if (tried(e) && tried(n)) {
    const double rest =
        choice->was_tried ? 2 * choice->rest : rest_multiple * (e->seconds + n->seconds);
    choice->was_tried = true;
    choice_settle(choice, n->seconds * e->work < e->seconds * n->work, rest);
  } else {
    choice->use_compiled = tried(e) || (!tried(n) && !choice->use_compiled);
  }
}

/* Both trials begin at zero: earlier runs may have had other data. */
static void begin_trial(struct fused_choice *choice) {
  choice->stage = CHOICE_TRIED;
  choice->use_compiled = false; /* the other is next */
  choice->evaluated = choice->compiled = (struct fused_trial){0};
}

/* Functions are of no use once a run has several segments where they have one. */
static void drop_unsuited(struct cvl_kernel *k) {
  if (!k->compiled || fused_ranges_suit(k)) return;
  fused_compiled_free(k->compiled);
  k->compiled = NULL;
  k->choice = (struct fused_choice){.evaluated = k->choice.evaluated};
}

void fused_choice_begin(struct cvl_kernel *k) {
  const struct compile_cache *cache = k->c->compile_cache;
  struct fused_choice *choice = &k->choice;
  if (!cache || compile_when_it_pays(cache) || choice->stage != CHOICE_WATCHED) return;
  k->compiled = fused_compiled_new(k);
  choice->stage = CHOICE_MISSING;
  choice->unasked = !k->compiled || fused_compiled_unasked(k->compiled);
}

static bool has_one_segment(const struct cvl_kernel *k) {
  for (uint32_t p = 0; p < k->op->param_count; p++) {
    if (k->op->kinds[p] == SUPEROP_SEGDES && !k->run.one[p]) return false;
  }
  return true;
}

/* At the first run. Where that has one segment, other superoperators probably have, too: their
 * functions are compiled together with these. */
static void begin_first(struct cvl_kernel *k) {
  if (compile_when_it_pays(k->c->compile_cache)) return;
  fused_choice_begin(k);
  if (!has_one_segment(k)) return;
  for (struct cvl_kernel *other = k->c->prepared; other; other = other->next) {
    if (!other->op->copies) fused_choice_begin(other);
  }
}

/* Whether a run will pay, or those before have paid, for looking the superoperator up. */
static bool look_up_pays(const struct cvl_kernel *k) {
  const double soon = seconds_of_node * (double)k->run.n * k->op->node_count;
  const double after = compile_has_found(k->c->compile_cache) ? look_sooner : look_after;
  return k->choice.evaluated.seconds + soon >= after;
}

bool fused_choose(struct cvl_kernel *k) {
  if (!k->c->compile_cache) return false;
  drop_unsuited(k);
  if (k->choice.stage == CHOICE_WATCHED) begin_first(k);
  if (k->choice.unasked) return k->compiled && fused_compiled_ready(k->compiled);
  struct fused_choice *choice = &k->choice;
  const double spent = choice->evaluated.seconds;
  if (choice->stage == CHOICE_WATCHED && look_up_pays(k)) {
    k->compiled = fused_compiled_new(k);
    choice->stage = CHOICE_MISSING;
    if (!k->compiled) {
      choice_settle(choice, false, INFINITY);
    } else if (fused_compiled_cached(k->compiled) && fused_compiled_ready(k->compiled)) {
      choice_settle(choice, true, rest_at_first);
    }
  }
  if (choice->stage == CHOICE_MISSING &&
      (spent >= compile_after || fused_compiled_owed(k->compiled)))
    choice->stage = CHOICE_STARTED;
  if (choice->stage == CHOICE_STARTED) {
    if (fused_compiled_ready(k->compiled)) {
      choice_settle(choice, true, rest_at_first);
    } else if (fused_compiled_failed(k->compiled)) {
      choice_settle(choice, false, INFINITY);
    }
  } else if (choice->stage == CHOICE_SETTLED && choice->since >= choice->rest) {
    begin_trial(choice);
  }
  if (choice->stage == CHOICE_TRIED) try_next(choice);
  return choice->use_compiled;
}

void fused_choice_end(struct cvl_kernel *k) {
  if (!k->compiled || fused_compiled_cached(k->compiled)) return;
  fused_compiled_spent(k->compiled, k->choice.evaluated.seconds);
}

bool fused_choice_open(struct cvl_kernel *k) {
  struct fused_choice *choice = &k->choice;
  if (!k->c->compile_cache || choice->unasked) return false;
  if (choice->stage != CHOICE_SETTLED) return true;
  if (choice->rest == INFINITY) return false;
  return !choice->brief || ++choice->untimed >= TIMED_OF;
}

double fused_clock(void) {
  return clock_seconds();
}

/* Compiled code has not been tried against evaluation: when it is to be. */
static void plan_first_trial(struct fused_choice *choice, double seconds) {
  const struct fused_trial *e = &choice->evaluated, *n = &choice->compiled;
  if (choice->rest < first_multiple * seconds) choice->rest = first_multiple * seconds;
  if (tried(n) && e->runs > 1 && n->seconds * e->work > e->seconds * n->work) choice->rest = 0;
}

void fused_chosen(struct cvl_kernel *k, double seconds) {
  struct fused_choice *choice = &k->choice;
  struct fused_trial *t = choice->use_compiled ? &choice->compiled : &choice->evaluated;
  const bool untried = choice->stage == CHOICE_SETTLED && !choice->was_tried;
  const bool warms =
      (untried || choice->stage == CHOICE_TRIED) && t->runs == 0 && seconds < try_once;
  t->runs++;
  if (!warms) {
    t->seconds += seconds;
    t->work += (double)k->run.n + overhead_of_run;
  }
  choice->since += seconds * (choice->brief ? TIMED_OF : 1);
  if (untried && choice->use_compiled) plan_first_trial(choice, seconds);
  choice->brief = choice->stage == CHOICE_SETTLED && seconds < brief_run;
  choice->untimed = 0;
}
