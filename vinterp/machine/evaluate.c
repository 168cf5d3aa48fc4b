/* evaluate.c - a program from its beginning to its end: it is prepared, run once or repeatedly
 * on the same arguments, and forgotten.
 */
#include "base/check.h"
#include "vinterp/machine/machine-private.h"

/* A program's evaluation. */
struct task {
  const struct machine_item *items; /* arguments */
  uint64_t count;
  struct machine_repetition *repetition; /* NULL: one run */
  struct machine_results *results; /* gets the stack of the last run; NULL: it is printed */
  FILE *silence;                   /* output of the runs after the first one */
  struct cvl_value *values;        /* the items in the back end */
};

static bool is_repeated(const struct task *t) {
  return t->repetition && t->repetition->runs > 0;
}

/* ---- arguments ---- */

/* Makes values of the items. A single run takes them. */
static bool make_values(struct machine *m, const struct machine_site *site, struct task *t) {
  const size_t bytes = (size_t)t->count * sizeof *t->values;
  t->values = heap_alloc(m->heap, bytes);
  if (!t->values) return machine_memory_fault(m, site, bytes);
  for (uint64_t k = 0; k < t->count; k++) t->values[k] = (struct cvl_value){0};
  for (uint64_t k = 0; k < t->count; k++) {
    struct value value = {.form = CVL_NOTHING};
    if (!machine_from_item(m, site, &t->items[k], &value)) return false;
    t->values[k] = value.flat;
    t->values[k].owned = !is_repeated(t) && value_is_counted(&value);
  }
  return true;
}

static bool evaluate_load(struct machine *m, const struct machine_program *p, struct task *t) {
  const struct machine_repetition *r = t->repetition;
  machine_program_use(m, p);
  const struct machine_site site = machine_entry_site(m);
  const bool ok = make_values(m, &site, t) && (!is_repeated(t) || machine_settle(m, &site));
  if (ok && r && r->loaded) r->loaded(r->context);
  return ok;
}

/* Frees the values. `passed`: a run has taken those that were owned. */
static void evaluate_unload(struct machine *m, struct task *t, bool passed) {
  for (uint64_t k = 0; t->values && k < t->count; k++) {
    if (!passed || !t->values[k].owned) machine_release(m, &t->values[k]);
  }
  heap_free(m->heap, t->values, (size_t)t->count * sizeof *t->values);
}

/* ---- one run ---- */

/* Prints the results. If the reader is gone, that is a failed write, not a signal. */
static bool print_results(struct machine *m, const struct machine_site *site, void *to) {
  (void)to;
  struct pipe_guard guard;
  pipe_guard_begin(&guard);
  const bool ok = machine_print_results(m, site);
  if (m->options.out) fflush(m->options.out);
  pipe_guard_end(&guard);
  return ok;
}

static bool evaluate_collect_results(struct machine *m, const struct machine_site *site,
                                     void *to) {
  return machine_collect(m, site, to);
}

enum turn { RUN_FIRST = 1, RUN_LAST = 2 };

/* Executes one run, timed unless `times` is NULL. The first run writes what the program
 * writes; the last one delivers results. */
static enum step one_run(struct machine *m, const struct machine_program *p,
                         const struct task *t, unsigned turn, struct run_times *times) {
  struct run run = {.program = p,
                    .arguments = t->values,
                    .count = t->count,
                    .out = turn & RUN_FIRST ? m->options.out : t->silence,
                    .err = turn & RUN_FIRST ? m->options.err : t->silence,
                    .times = times,
                    .to = t->results};
  if (t->results && t->repetition && !is_repeated(t)) {
    run.consumer = t->repetition->consumer;
    run.own = t->repetition->own;
  }
  for (uint64_t k = 0; run.consumer && k < t->count; k++)
    consumer_note_argument(m, &t->items[k], &t->values[k]);
  if (turn & RUN_LAST) run.deliver = t->results ? evaluate_collect_results : print_results;
  return machine_run_once(m, &run);
}

/* ---- repeated runs ---- */

/* Executes a run with its own profile, for counts: every instruction is waited for. */
static enum step counted_run(struct machine *m, struct machine_program *p,
                             const struct task *t) {
  struct profile *profile = m->profile;
  const bool measured = m->measured, possible = m->chunks.possible;
  const bool procedures = m->calls.possible;
  enum step step = STEP_FAULT;
  m->chunks.possible = possible && !t->repetition->uncut;
  m->calls.possible = false; /* what native code does is not counted */
  m->profile = profile_new(m->heap, m->backend->name, true);
  m->measured = true;
  if (m->profile && machine_program_lower(m, p)) {
    step = one_run(m, p, t, 0, NULL);
    t->repetition->totals = profile_totals(m->profile);
  } else {
    machine_fail_beginning(m, p->program);
  }
  profile_free(m->profile);
  m->profile = profile;
  m->measured = measured;
  m->chunks.possible = possible;
  m->calls.possible = procedures;
  if (step == STEP_DONE && !machine_program_lower(m, p)) {
    machine_fail_beginning(m, p->program);
    return STEP_FAULT;
  }
  return step;
}

static enum step timed_run(struct machine *m, const struct machine_program *p,
                           const struct task *t, uint64_t k) {
  struct machine_repetition *r = t->repetition;
  struct run_times times;
  const enum step step = one_run(m, p, t, k + 1 == r->runs ? RUN_LAST : 0, &times);
  if (step != STEP_DONE) return step;
  r->seconds[k] = times.seconds;
  r->launches = times.launches;
  r->waits = times.waits;
  return step;
}

static enum step evaluate_repeat(struct machine *m, struct machine_program *p,
                                 const struct task *t) {
  struct machine_repetition *r = t->repetition;
  struct run_times first;
  enum step step = one_run(m, p, t, RUN_FIRST, &first);
  if (step == STEP_DONE) r->first_seconds = first.seconds;
  if (step == STEP_DONE && r->counts) step = counted_run(m, p, t);
  for (uint64_t k = 0; k < r->runs && step == STEP_DONE; k++) step = timed_run(m, p, t, k);
  r->peak_bytes = m->backend->statistics(m->context).peak_bytes;
  return step;
}

/* ---- a program ---- */

static uint64_t live_bytes(const struct machine *m) {
  return m->backend->statistics(m->context).live_bytes;
}

static enum step run_program(struct machine *m, struct machine_program *p, struct task *t) {
  enum step step = STEP_FAULT;
  m->repeated = is_repeated(t);
  const bool loaded = evaluate_load(m, p, t);
  if (loaded) {
    step =
        m->repeated ? evaluate_repeat(m, p, t) : one_run(m, p, t, RUN_FIRST | RUN_LAST, NULL);
  }
  evaluate_unload(m, t, loaded);
  return step;
}

/* Prepares superoperators if that cannot wait. A device waits for running work when kernels
 * are loaded, so kernels on disk are made ready before the program begins. Superoperators that
 * must be compiled before the program runs are compiled together. Otherwise each is prepared
 * when it is first wanted. */
static bool prepare_ahead(struct machine *m, struct machine_program *p) {
  const bool waits = m->options.compile == CVL_COMPILE_ALL && m->options.compile_waits;
  return !(m->backend->prepared || waits) || machine_program_prepare(m, p);
}

static enum machine_outcome machine_evaluate(struct machine *m,
                                             const struct ir_program *program, struct task *t,
                                             struct diag_list *diags) {
  enum step step = STEP_FAULT;
  machine_begin(m, diags);
  const uint64_t live = live_bytes(m);
  struct machine_program *p = machine_program_new(m, program);
  if (p && prepare_ahead(m, p)) step = run_program(m, p, t);
  machine_program_use(m, NULL);
  machine_program_free(m, p);
  machine_end(m);
  if (machine_drain(m)) invariant(live_bytes(m) == live); /* everything was released */
  return machine_outcome_of(m, step);
}

enum machine_outcome machine_run_on(struct machine *m, const struct ir_program *program,
                                    const struct machine_item *arguments,
                                    uint64_t argument_count, struct diag_list *diags) {
  struct task task = {.items = arguments, .count = argument_count};
  return machine_evaluate(m, program, &task, diags);
}

enum machine_outcome machine_run(struct machine *m, const struct ir_program *program,
                                 struct diag_list *diags) {
  return machine_run_on(m, program, NULL, 0, diags);
}

enum machine_outcome machine_repeat(struct machine *m, const struct ir_program *program,
                                    const struct machine_item *arguments,
                                    uint64_t argument_count,
                                    struct machine_repetition *repetition,
                                    struct machine_results *results, struct diag_list *diags) {
  struct task task = {.items = arguments,
                      .count = argument_count,
                      .repetition = repetition,
                      .results = results};
  *results = (struct machine_results){0};
  if (repetition->runs > 0) task.silence = fopen("/dev/null", "we");
  if (repetition->runs > 0 && !task.silence) {
    m->failure = (struct machine_failure){.cause = MACHINE_CAUSE_LIMIT};
    diag_add(diags, SEVERITY_ERROR, "/dev/null", (struct source_pos){0, 0}, NULL,
             "cannot be opened");
    return MACHINE_ERROR;
  }
  const enum machine_outcome outcome = machine_evaluate(m, program, &task, diags);
  if (task.silence) fclose(task.silence);
  return outcome;
}
