/* call.c - one run of a program: from arguments, values of the back end, to results.
 *
 * Stack, streams, random numbers and clock belong to the run. The work done here takes about
 * as long as a run of two instructions, so nothing is made unless it is needed.
 */
#include "base/check.h"
#include "vinterp/machine/machine-private.h"

/* ---- a caller's request ---- */

/* Arms options.fail_allocation. The machine and the back end count for themselves, so they take
 * turns: odd numbers 1, 3, 5 ... fail the machine's first, second, third allocation from now
 * on, even numbers the back end's. */
static void arm_failure(struct machine *m) {
  const uint64_t n = m->options.fail_allocation;
  m->heap->fail_at = n % 2 ? m->heap->count + (n + 1) / 2 : 0;
  m->backend->fail_allocation(m->context, n % 2 ? 0 : n / 2);
}

void machine_begin(struct machine *m, struct diag_list *diags) {
  m->diags = diags;
  m->runs++;
  m->faulted = m->interrupted = m->repeated = false;
  m->failure = (struct machine_failure){0};
  machine_program_use(m, NULL);
  if (m->options.fail_allocation) arm_failure(m);
}

void machine_end(struct machine *m) {
  if (!m->options.fail_allocation) return;
  m->heap->fail_at = 0;
  m->backend->fail_allocation(m->context, 0);
}

bool machine_drain(struct machine *m) {
  struct cvl_error e;
  do {
    e.kind = CVL_E_NONE;
    m->backend->check(m->context, true, &e);
  } while (e.kind != CVL_E_NONE && e.kind != CVL_E_DEVICE);
  return e.kind == CVL_E_NONE;
}

enum machine_outcome machine_outcome_of(const struct machine *m, enum step step) {
  if (step == STEP_DONE) return MACHINE_DONE;
  if (step == STEP_EXIT) return MACHINE_EXIT;
  return m->interrupted ? MACHINE_INTERRUPTED : MACHINE_ERROR;
}

/* ---- the beginning ---- */

void machine_keep_random(struct machine *m) {
  m->first_seed = m->seed;
  m->first_random = m->random_count;
}

static void begin_run(struct machine *m, const struct run *r) {
  machine_program_use(m, r->program);
  if (r->function) m->entry = *r->function;
  history_clear(&m->history);
  chunks_begin_run(m);
  procedure_calls_begin_run(m);
  m->top = m->depth = 0;
  m->fuel = 0;
  m->seed = m->first_seed;
  m->random_count = m->first_random;
  m->out = r->out;
  m->err = r->err;
  m->consumer = r->consumer;
  m->own = r->own;
  m->start = m->timer = stop_clock();
  if (m->options.progress_fd >= 0) {
    const double first = m->options.progress_seconds;
    progress_begin(&m->progress, m->options.progress_fd, first > 0 ? first : 1);
  }
}

/* Puts the arguments on the stack, which has room. */
static void push_arguments(struct machine *m, const struct run *r) {
  for (uint64_t k = 0; k < r->count; k++) {
    struct value v = value_of(r->arguments[k]);
    if (!v.flat.owned) value_retain(&m->store, &v);
    v.flat.owned = 0;
    m->stack[m->top++] = v;
  }
}

/* Releases the owned arguments of a run that does not get them. */
static void release_arguments(struct machine *m, const struct run *r) {
  for (uint64_t k = 0; k < r->count; k++) {
    struct value v = value_of(r->arguments[k]);
    if (v.flat.owned) value_release(&m->store, &v);
  }
}

struct machine_site machine_entry_site(const struct machine *m) {
  const uint32_t entry = m->entry;
  const struct code_function *f = &m->code->functions[entry];
  const bool stack = m->program->functions[entry].stack != NULL;
  return (struct machine_site){.location = stack ? f->stack_entry : f->entry};
}

/* Makes the frame of the entry function, with the arguments in it. */
static bool call_begin_frame(struct machine *m, const struct machine_site *site,
                             const struct run *r) {
  const struct code_function *f = &m->code->functions[m->entry];
  if (!machine_push_frame(m, site, m->entry, 0) ||
      !machine_reserve(m, site, r->count + f->slots + f->result_count)) {
    release_arguments(m, r);
    return false;
  }
  push_arguments(m, r);
  return true;
}

/* Finds where the called function begins: in its let-form if the arguments are those for which
 * that was inferred, else in its stack code, which fails where it finds that they are not. */
static bool begin_entry(struct machine *m, const struct run *r, uint32_t *location) {
  const struct code_function *f = &m->code->functions[m->entry];
  const struct ir_function *function = &m->program->functions[m->entry];
  const struct machine_site site = machine_entry_site(m);
  if (!call_begin_frame(m, &site, r)) return false;
  bool typed = f->runs_typed && r->count == f->param_count;
  if (typed && !machine_arguments_fit(m, &site, function, &typed)) return false;
  if (!typed && !function->stack) {
    return machine_fault(m, &site, "the entry function %s takes other arguments",
                         function->name->text);
  }
  *location = typed ? f->entry : f->stack_entry;
  if (typed) m->top = 0; /* they are slots of the frame now */
  return true;
}

/* ---- running ---- */

static enum step run_code(struct machine *m, uint32_t location) {
  const enum procedure_call native = procedure_entry_run(m);
  if (native != PROCEDURE_NOT) return native == PROCEDURE_DONE ? STEP_DONE : STEP_FAULT;
  const double begin = stop_clock();
  enum step step;
  do {
    step = code_is_stack(m->code, location) ? interpret(m, &location) : execute(m, &location);
    if (step == STEP_FAULT && chunks_resume(m, &location)) step = STEP_SWITCH;
  } while (step == STEP_SWITCH);
  if (step == STEP_DONE) procedure_entry_end(m, stop_clock() - begin);
  return step;
}

/* Runs the code, and stops the clock when the back end has done everything. */
static enum step run_timed(struct machine *m, uint32_t location, struct run_times *times) {
  const struct cvl_statistics before = m->backend->statistics(m->context);
  const double start = stop_clock();
  enum step step = run_code(m, location);
  if (step != STEP_DONE) return step;
  const struct machine_site site = machine_end_site(m);
  if (!machine_settle(m, &site)) return STEP_FAULT;
  times->seconds = stop_clock() - start;
  const struct cvl_statistics after = m->backend->statistics(m->context);
  times->launches = after.launches - before.launches;
  times->waits = after.waits - before.waits;
  return STEP_DONE;
}

/* Executes a function that was distributed: chunk by chunk, as if it had been called. */
static enum step run_distributed(struct machine *m, uint32_t location) {
  enum step step = execute_entry(m, &location);
  if (step == STEP_FAULT && chunks_resume(m, &location)) step = STEP_ON;
  return step == STEP_ON ? run_code(m, location) : step;
}

/* ---- the end ---- */

/* Releases the stack. After a run that came to its end nothing above the results holds a
 * counted value; after another one anything up to the capacity may. */
static void release_stack(struct machine *m, enum step step) {
  const uint64_t n = step == STEP_DONE ? m->top : m->capacity;
  for (uint64_t k = 0; k < n; k++) value_release(&m->store, &m->stack[k]);
#ifdef RAVEL_DEBUG
  for (uint64_t k = 0; k < m->capacity; k++) invariant(!value_is_counted(&m->stack[k]));
#endif
  m->top = m->depth = 0;
}

static void end_run(struct machine *m, enum step step) {
  if (m->options.progress_fd >= 0) progress_end(&m->progress);
  if (m->profile) {
    const struct cvl_statistics statistics = m->backend->statistics(m->context);
    profile_run(m->profile, stop_clock() - m->start, &statistics);
  }
  chunks_abandon(m);
  consumer_end(m);
  release_stack(m, step);
  streams_free(m->streams);
  m->streams = NULL;
  if (step != STEP_DONE) machine_drain(m);
  machine_program_use(m, NULL);
}

enum step machine_run_once(struct machine *m, const struct run *r) {
  enum step step = STEP_FAULT;
  uint32_t location = 0;
  begin_run(m, r);
  if (begin_entry(m, r, &location)) {
    step = r->times        ? run_timed(m, location, r->times)
           : m->dispatcher ? run_distributed(m, location)
                           : run_code(m, location);
  }
  if (step == STEP_DONE) {
    const struct machine_site site = machine_end_site(m);
    if (!machine_settle(m, &site) || (r->deliver && !r->deliver(m, &site, r->to)))
      step = STEP_FAULT;
  }
  end_run(m, step);
  return step;
}

/* ---- calls ---- */

/* Where the results of a call go. */
struct taken {
  struct cvl_value *results;
  uint64_t count;
};

/* Moves the results from the stack to the caller. */
static bool call_take_results(struct machine *m, const struct machine_site *site, void *to) {
  const struct taken *t = to;
  if (m->top != t->count) {
    return machine_fault(m, site, "the program has %llu results, not %llu",
                         (unsigned long long)m->top, (unsigned long long)t->count);
  }
  for (uint64_t k = 0; k < t->count; k++) {
    if (m->stack[k].form == VALUE_PAIR) return machine_pair_fault(m, site);
  }
  for (uint64_t k = 0; k < t->count; k++) t->results[k] = m->stack[k].flat;
  m->top = 0;
  for (uint64_t k = 0; k < t->count; k++) m->stack[k].form = CVL_NOTHING;
  return true;
}

void machine_use_consumer(struct machine *m, const struct machine_consumer *consumer) {
  m->call_consumer = consumer;
}

static enum machine_outcome machine_call_run(struct machine *m, const struct run *run,
                                             struct diag_list *diags) {
  machine_begin(m, diags);
  const enum step step = machine_run_once(m, run);
  if (step == STEP_DONE) machine_keep_random(m);
  machine_end(m);
  return machine_outcome_of(m, step);
}

enum machine_outcome machine_call(struct machine *m, struct machine_program *program,
                                  const struct cvl_value *arguments, uint64_t argument_count,
                                  struct cvl_value *results, uint64_t result_count,
                                  struct diag_list *diags) {
  struct taken taken = {results, result_count};
  const struct run run = {.program = program,
                          .arguments = arguments,
                          .count = argument_count,
                          .out = m->options.out,
                          .err = m->options.err,
                          .consumer = m->call_consumer,
                          .deliver = call_take_results,
                          .to = &taken};
  return machine_call_run(m, &run, diags);
}

enum machine_outcome machine_call_function(struct machine *m, struct machine_program *program,
                                           uint32_t function, const struct cvl_value *arguments,
                                           uint64_t count, struct cvl_value *results,
                                           uint64_t result_count, struct diag_list *diags) {
  struct taken taken = {results, result_count};
  const struct run run = {.program = program,
                          .function = &function,
                          .arguments = arguments,
                          .count = count,
                          .deliver = call_take_results,
                          .to = &taken};
  return machine_call_run(m, &run, diags);
}
