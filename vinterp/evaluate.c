/* evaluate.c - a program from its beginning to its end: once, or again and again on the same
 * arguments.
 *
 * Code, constants, prepared superoperators and arguments that are held belong to the program
 * and serve all its runs; stack, streams, random numbers and clock belong to one run.
 */
#include "base/check.h"
#include "vinterp/machine-private.h"

#include "vinterp/streams.h"

/* What is to be done with a program. */
struct task {
  const struct machine_item *items; /* arguments */
  uint64_t count;
  struct machine_repetition *repetition; /* or NULL: one run */
  struct machine_results *results;       /* what the last run leaves; NULL: it is printed */
  FILE *silence;                         /* what runs after the first write */
};

/* ---- a program ---- */

/* Arms options.fail_allocation. The machine and the back end count for themselves, so they take
 * turns: odd numbers 1, 3, 5 ... fail the machine's first, second, third allocation of the
 * program, even numbers the back end's. */
static void arm_failure(struct machine *m) {
  uint64_t n = m->options.fail_allocation;
  m->heap.fail_at = n % 2 ? m->heap.count + (n + 1) / 2 : 0;
  m->backend->fail_allocation(m->context, n % 2 ? 0 : n / 2);
}

static void disarm_failure(struct machine *m) {
  m->heap.fail_at = 0;
  m->backend->fail_allocation(m->context, 0);
}

/* The code, measured or not; made anew if that has changed. */
static bool make_code(struct machine *m) {
  code_free(m->code, &m->store);
  m->code = code_new(&m->heap, m->program, m->options.checked, m->measured);
  return m->code != NULL;
}

static size_t rows_bytes(const struct machine *m) {
  return m->program->function_count * sizeof *m->profile_rows;
}

/* The rows of the profile, if there is one. */
static bool make_rows(struct machine *m) {
  if (!m->profile) return true;
  m->profile_rows = heap_alloc(&m->heap, rows_bytes(m));
  if (!m->profile_rows) return false;
  for (uint32_t f = 0; f < m->program->function_count; f++) {
    m->profile_rows[f] = profile_function(m->profile, m->program->functions[f].name->text);
  }
  return true;
}

static void free_rows(struct machine *m) {
  heap_free(&m->heap, m->profile_rows, rows_bytes(m));
  m->profile_rows = NULL;
}

/* Always STEP_FAULT. */
static enum step fail_beginning(struct machine *m) {
  char message[128] = "out of memory before the program began";
  if (machine_asks_to_stop(m)) machine_describe_stop(m, message, sizeof message);
  m->faulted = true;
  m->failure.cause = MACHINE_CAUSE_LIMIT;
  diag_add(m->diags, SEVERITY_ERROR, m->program->file, (struct source_pos){0, 0}, NULL, "%s",
           message);
  return STEP_FAULT;
}

static bool begin_program(struct machine *m, const struct ir_program *program, bool repeated,
                          struct diag_list *diags) {
  m->program = program;
  m->diags = diags;
  m->repeated = repeated;
  m->faulted = m->interrupted = false;
  m->failure = (struct machine_failure){0};
  arm_failure(m);
  return make_code(m) && fused_new(m, program) && make_rows(m);
}

/* Waits for everything and forgets faults that nobody will hear of. False if the device has
 * failed: it does nothing more, says so whenever it is asked, and what it was still to do may
 * hold values. */
static bool drain(struct machine *m) {
  struct cvl_error e;
  do {
    e.kind = CVL_E_NONE;
    m->backend->check(m->context, true, &e);
  } while (e.kind != CVL_E_NONE && e.kind != CVL_E_DEVICE);
  return e.kind == CVL_E_NONE;
}

/* Gives back everything that was made for the program. */
static void end_program(struct machine *m) {
  machine_forget_held(m);
  fused_free(m);
  code_free(m->code, &m->store);
  m->code = NULL;
  free_rows(m);
  disarm_failure(m);
  if (drain(m)) {
    invariant(m->backend->statistics(m->context).live_bytes == 0); /* all was released */
  }
}

/* ---- one run ---- */

void machine_keep_random(struct machine *m) {
  m->first_seed = m->seed;
  m->first_random = m->random_count;
}

/* All runs of a program begin in the same state. */
static bool begin_run(struct machine *m, FILE *out, FILE *err) {
  history_clear(&m->history);
  m->top = m->depth = 0;
  m->fuel = 0;
  m->seed = m->first_seed;
  m->random_count = m->first_random;
  m->start = m->timer = machine_clock();
  if (m->options.progress_fd >= 0) progress_begin(&m->progress, m->options.progress_fd);
  m->streams = streams_new(&m->heap, m->options.in, out, err, &m->options.permissions);
  if (m->streams) streams_set_stop(m->streams, m->options.stop);
  return m->streams != NULL;
}

/* Gives back everything the run held. What lies above the live part of the stack holds no
 * counted value, so all of it may be gone through. */
static void end_run(struct machine *m) {
  if (m->options.progress_fd >= 0) progress_erase(&m->progress);
  if (m->profile) {
    const struct cvl_statistics statistics = m->backend->statistics(m->context);
    profile_run(m->profile, machine_clock() - m->start, &statistics);
  }
  for (uint64_t k = 0; k < m->capacity; k++) value_release(&m->store, &m->stack[k]);
  streams_free(m->streams);
  m->streams = NULL;
  m->depth = 0;
  drain(m);
}

/* Puts the arguments on the stack: the first time from host memory. */
static bool load_arguments(struct machine *m, const struct machine_site *site,
                           const struct task *t) {
  const struct machine_repetition *r = t->repetition;
  if (m->held) {
    machine_push_held(m);
    return true;
  }
  if (!machine_push_items(m, site, t->items, t->count)) return false;
  if (m->repeated && (!machine_hold(m, site) || !machine_settle(m, site))) return false;
  if (r && r->loaded) r->loaded(r->context);
  return true;
}

/* Begins the entry function on the arguments: its let-form if they are what that was inferred
 * for, else its stack code, which fails where it finds that they are not. */
static bool begin_entry(struct machine *m, const struct task *t, uint32_t *location) {
  uint32_t entry = m->program->entry;
  const struct code_function *f = &m->code->functions[entry];
  const struct ir_function *function = &m->program->functions[entry];
  struct machine_site site = {.location = function->stack ? f->stack_entry : f->entry};
  if (!machine_push_frame(m, &site, entry, 0) ||
      !machine_reserve(m, &site, t->count + f->slots + f->result_count) ||
      !load_arguments(m, &site, t)) {
    return false;
  }
  bool typed = f->runs_typed && t->count == f->param_count;
  if (typed && !machine_arguments_fit(m, &site, function, &typed)) return false;
  if (!typed && !function->stack) {
    return machine_fault(m, &site, "the entry function %s takes other arguments",
                         function->name->text);
  }
  *location = typed ? f->entry : f->stack_entry;
  if (typed) m->top = 0; /* they are slots of the frame now */
  return true;
}

static enum step run_code(struct machine *m, uint32_t location) {
  enum step step;
  do {
    step = code_is_stack(m->code, location) ? interpret(m, &location) : execute(m, &location);
  } while (step == STEP_SWITCH);
  return step;
}

/* The same with a clock that stops when the back end has done everything. */
static enum step run_timed(struct machine *m, uint32_t location, struct machine_repetition *r,
                           double *seconds) {
  const struct cvl_statistics before = m->backend->statistics(m->context);
  const double start = machine_clock();
  enum step step = run_code(m, location);
  if (step != STEP_DONE) return step;
  const struct machine_site site = machine_end_site(m);
  if (!machine_settle(m, &site)) return STEP_FAULT;
  *seconds = machine_clock() - start;
  const struct cvl_statistics after = m->backend->statistics(m->context);
  r->launches = after.launches - before.launches;
  r->waits = after.waits - before.waits;
  return STEP_DONE;
}

/* Hands over what the program left. */
static bool deliver(struct machine *m, const struct task *t) {
  const struct machine_site site = machine_end_site(m);
  if (!t->results) return machine_print_results(m);
  return machine_settle(m, &site) && machine_collect(m, &site, t->results);
}

enum turn { RUN_FIRST = 1, RUN_LAST = 2 };

/* One run, timed unless `seconds` is NULL. The first writes what the program writes; the last
 * delivers. */
static enum step one_run(struct machine *m, const struct task *t, unsigned turn,
                         double *seconds) {
  FILE *out = turn & RUN_FIRST ? m->options.out : t->silence;
  FILE *err = turn & RUN_FIRST ? m->options.err : t->silence;
  enum step step = STEP_FAULT;
  uint32_t location = 0;
  if (!begin_run(m, out, err)) {
    fail_beginning(m);
  } else if (begin_entry(m, t, &location)) {
    step = seconds ? run_timed(m, location, t->repetition, seconds) : run_code(m, location);
  }
  struct pipe_guard guard; /* whoever reads may be gone: a failed write, no signal */
  pipe_guard_begin(&guard);
  if (step == STEP_DONE && turn & RUN_LAST && !deliver(m, t)) step = STEP_FAULT;
  end_run(m);
  fflush(out);
  fflush(err);
  pipe_guard_end(&guard);
  return step;
}

/* ---- again and again ---- */

/* The first run, with a profile of its own for its counts: every instruction is waited for. */
static enum step counted_run(struct machine *m, const struct task *t) {
  struct profile *profile = m->profile;
  uint32_t *rows = m->profile_rows;
  const bool measured = m->measured;
  enum step step = STEP_FAULT;
  m->profile = profile_new(&m->heap, m->backend->name, true);
  m->profile_rows = NULL;
  m->measured = true;
  if (m->profile && make_rows(m) && make_code(m)) {
    step = one_run(m, t, RUN_FIRST, NULL);
    t->repetition->totals = profile_totals(m->profile);
  } else {
    fail_beginning(m);
  }
  free_rows(m);
  profile_free(m->profile);
  m->profile = profile;
  m->profile_rows = rows;
  m->measured = measured;
  if (step == STEP_DONE && !make_code(m)) return fail_beginning(m);
  return step;
}

static enum step repeat(struct machine *m, const struct task *t) {
  struct machine_repetition *r = t->repetition;
  enum step step = STEP_DONE;
  unsigned first = RUN_FIRST;
  if (r->counts) {
    step = counted_run(m, t);
    first = 0;
  }
  if (step == STEP_DONE) step = one_run(m, t, first, NULL);
  for (uint64_t k = 0; k < r->runs && step == STEP_DONE; k++) {
    step = one_run(m, t, k + 1 == r->runs ? RUN_LAST : 0, &r->seconds[k]);
  }
  r->peak_bytes = m->backend->statistics(m->context).peak_bytes;
  return step;
}

static enum machine_outcome evaluate(struct machine *m, const struct ir_program *program,
                                     const struct task *t, struct diag_list *diags) {
  const bool repeated = t->repetition && t->repetition->runs > 0;
  enum step step = STEP_FAULT;
  if (!begin_program(m, program, repeated, diags)) {
    fail_beginning(m);
  } else {
    step = repeated ? repeat(m, t) : one_run(m, t, RUN_FIRST | RUN_LAST, NULL);
  }
  end_program(m);
  if (step == STEP_DONE) return MACHINE_DONE;
  if (step == STEP_EXIT) return MACHINE_EXIT;
  return m->interrupted ? MACHINE_INTERRUPTED : MACHINE_ERROR;
}

enum machine_outcome machine_run_on(struct machine *m, const struct ir_program *program,
                                    const struct machine_item *arguments,
                                    uint64_t argument_count, struct diag_list *diags) {
  const struct task task = {.items = arguments, .count = argument_count};
  return evaluate(m, program, &task, diags);
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
  struct task task = {arguments, argument_count, repetition, results, NULL};
  *results = (struct machine_results){0};
  if (repetition->runs > 0) task.silence = fopen("/dev/null", "we");
  if (repetition->runs > 0 && !task.silence) {
    m->failure = (struct machine_failure){.cause = MACHINE_CAUSE_LIMIT};
    diag_add(diags, SEVERITY_ERROR, "/dev/null", (struct source_pos){0, 0}, NULL,
             "cannot be opened");
    return MACHINE_ERROR;
  }
  const enum machine_outcome outcome = evaluate(m, program, &task, diags);
  if (task.silence) fclose(task.silence);
  return outcome;
}
