/* choice.c - see choice.h. */
#include "cvl-cpu/fused/choice.h"

#include "cvl-cpu/compile/compile.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/ranges.h"

/* Writing the text of a superoperator and looking it up takes most of a millisecond: it pays
 * sooner where others of the program were found. Compiling it takes some tenths of a second, on
 * a processor that would mostly be idle. */
static const double look_after = 2e-3, look_sooner = 0.5e-3,
                    compile_after = 100e-3; /* seconds */
/* The least time of a node for each position. If a run will take longer than a look-up, the
 * look-up comes first. */
static const double seconds_of_node = 0.2e-9;

static void choice_settle(struct fused_choice *choice, bool compiled) {
  choice->stage = CHOICE_SETTLED;
  choice->use_compiled = compiled;
}

void fused_choice_fit(struct cvl_kernel *k) {
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
  return k->choice.evaluated + soon >= after;
}

bool fused_choose(struct cvl_kernel *k) {
  if (!k->c->compile_cache) return false;
  if (k->choice.stage == CHOICE_WATCHED) begin_first(k);
  if (k->choice.unasked) return k->compiled && fused_compiled_ready(k->compiled);
  struct fused_choice *choice = &k->choice;
  const double spent = choice->evaluated;
  if (choice->stage == CHOICE_WATCHED && look_up_pays(k)) {
    k->compiled = fused_compiled_new(k);
    choice->stage = CHOICE_MISSING;
    if (!k->compiled) {
      choice_settle(choice, false);
    } else if (fused_compiled_cached(k->compiled) && fused_compiled_ready(k->compiled)) {
      choice_settle(choice, true);
    }
  }
  if (choice->stage == CHOICE_MISSING &&
      (spent >= compile_after || fused_compiled_owed(k->compiled)))
    choice->stage = CHOICE_STARTED;
  if (choice->stage == CHOICE_STARTED) {
    if (fused_compiled_ready(k->compiled)) {
      choice_settle(choice, true);
    } else if (fused_compiled_failed(k->compiled)) {
      choice_settle(choice, false);
    }
  }
  return choice->use_compiled;
}

void fused_choice_end(struct cvl_kernel *k) {
  if (!k->compiled || fused_compiled_cached(k->compiled)) return;
  fused_compiled_spent(k->compiled, k->choice.evaluated);
}

bool fused_choice_open(const struct cvl_kernel *k) {
  return k->c->compile_cache && !k->choice.unasked && k->choice.stage != CHOICE_SETTLED;
}

double fused_clock(void) {
  return clock_seconds();
}

void fused_chosen(struct cvl_kernel *k, double seconds) {
  if (!k->choice.use_compiled) k->choice.evaluated += seconds;
}
