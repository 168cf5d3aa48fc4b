/* machine.c - making a machine, running a program on it, printing what it leaves. */
#include "vinterp/machine-private.h"

#include "vinterp/print.h"
#include "vinterp/streams.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  DEFAULT_DEPTH = 1000000,
  /* One part in so many of the memory limit is for the machine itself (stack, frames, code,
   * buffers), the rest for vectors: two limits that cannot exceed the one together. */
  MACHINE_PART = 8
};

struct machine_options machine_default_options(void) {
  return (struct machine_options){.widths = {CVL_I64, CVL_F64},
                                  .device = -1,
                                  .progress_fd = -1,
                                  .out = stdout,
                                  .err = stderr,
                                  .in = stdin};
}

static struct machine *fail_new(struct machine *m, struct diag_list *diags, const char *why) {
  diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0, 0}, NULL,
           "cannot make a machine: %s", why);
  machine_free(m);
  return NULL;
}

struct machine *machine_new(const struct machine_options *options, struct diag_list *diags) {
  struct machine *m = calloc(1, sizeof *m);
  if (!m) return fail_new(NULL, diags, "out of memory");
  m->options = *options;
  m->widths = options->widths;
  m->backend = options->backend;
  m->max_depth = options->max_depth ? options->max_depth : DEFAULT_DEPTH;
  uint64_t memory = options->memory_limit ? options->memory_limit : machine_default_memory();
  heap_init(&m->heap, memory / MACHINE_PART);
  if (options->profile) {
    m->profile = profile_new(&m->heap, m->backend->name, !options->undisturbed);
    if (!m->profile) return fail_new(m, diags, "out of memory");
  }
  m->measured = (m->profile && !options->undisturbed) || options->trace;
  struct cvl_options cvl = {.int_elem = options->widths.int_elem,
                            .float_elem = options->widths.float_elem,
                            .threads = options->threads,
                            .device = options->device,
                            .memory_limit = m->backend->own_memory && !options->memory_limit
                                                ? 0
                                                : memory - memory / MACHINE_PART,
                            .native = options->native,
                            .kernels = options->kernels,
                            .measure = options->profile};
  const char *why = "the back end gives no reason";
  if (m->backend->version != CVL_VERSION) {
    return fail_new(m, diags, "the back end is of another version");
  }
  m->context = m->backend->open(&cvl, &why);
  if (!m->context) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0, 0}, NULL,
             "the back end %s cannot be had: %s", m->backend->name, why);
    machine_free(m);
    return NULL;
  }
  if (options->trace) { /* not before: another back end may be tried */
    m->trace = trace_new(&m->heap, options->trace, machine_clock(), TRACE_MAX_EVENTS);
    if (!m->trace) return fail_new(m, diags, "out of memory");
  }
  m->store = (struct value_store){m->backend, m->context, &m->heap};
  return m;
}

void machine_free(struct machine *m) {
  if (!m) return;
  heap_free(&m->heap, m->stack, m->capacity * sizeof *m->stack);
  heap_free(&m->heap, m->frames, m->frame_capacity * sizeof *m->frames);
  history_free(&m->history, &m->heap);
  profile_free(m->profile);
  trace_free(m->trace);
  if (m->context) m->backend->close(m->context);
  free(m);
}

/* ---- one run ---- */

/* Arms options.fail_allocation. The machine and the back end count for themselves, so they take
 * turns: odd numbers 1, 3, 5 ... fail the machine's first, second, third allocation of the
 * run, even numbers the back end's. */
static void arm_failure(struct machine *m) {
  uint64_t n = m->options.fail_allocation;
  m->heap.fail_at = n % 2 ? m->heap.count + (n + 1) / 2 : 0;
  m->backend->fail_allocation(m->context, n % 2 ? 0 : n / 2);
}

/* Waits for everything and forgets faults that nobody will be told of. False if the device has
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

static bool begin_run(struct machine *m, const struct ir_program *program) {
  history_clear(&m->history);
  m->program = program;
  m->faulted = m->interrupted = false;
  m->failure = (struct machine_failure){0};
  m->top = m->depth = 0;
  m->fuel = 0;
  m->seed = m->options.seed;
  m->random_count = 0;
  m->start = m->timer = machine_clock();
  m->deadline = m->start + m->options.time_limit;
  arm_failure(m);
  if (m->options.progress_fd >= 0) progress_begin(&m->progress, m->options.progress_fd);
  m->streams = streams_new(&m->heap, m->options.in, m->options.out, m->options.err,
                           m->options.allow_files, m->options.allow_spawn);
  m->code = code_new(&m->heap, program, m->options.checked, m->measured);
  if (!m->streams || !m->code || !fused_new(m, program)) return false;
  if (!m->profile) return true;
  size_t bytes = program->function_count * sizeof *m->profile_rows;
  m->profile_rows = heap_alloc(&m->heap, bytes);
  if (!m->profile_rows) return false;
  for (uint32_t f = 0; f < program->function_count; f++) {
    m->profile_rows[f] = profile_function(m->profile, program->functions[f].name->text);
  }
  return true;
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
  fused_free(m);
  code_free(m->code, &m->store);
  heap_free(&m->heap, m->profile_rows, m->program->function_count * sizeof *m->profile_rows);
  streams_free(m->streams);
  m->code = NULL;
  m->streams = NULL;
  m->profile_rows = NULL;
  m->depth = 0;
  m->heap.fail_at = 0;
  m->backend->fail_allocation(m->context, 0);
  if (drain(m)) {
    assert(m->backend->statistics(m->context).live_bytes == 0 && "a value was never released");
  }
}

/* Runs the entry function on these items: its let-form if they are what that was inferred for,
 * else its stack code, which fails where it finds that they are not. */
static enum step run_entry(struct machine *m, const struct machine_item *items,
                           uint64_t count) {
  uint32_t entry = m->program->entry;
  const struct code_function *f = &m->code->functions[entry];
  const struct ir_function *function = &m->program->functions[entry];
  struct machine_site site = {.location = function->stack ? f->stack_entry : f->entry};
  if (!machine_push_frame(m, &site, entry, 0) ||
      !machine_reserve(m, &site, count + f->slots + f->result_count) ||
      !machine_push_items(m, &site, items, count)) {
    return STEP_FAULT;
  }
  bool typed = f->runs_typed && count == f->param_count && machine_arguments_fit(m, function);
  if (!typed && !function->stack) {
    machine_fault(m, &site, "the entry function %s takes other arguments",
                  function->name->text);
    return STEP_FAULT;
  }
  uint32_t location = typed ? f->entry : f->stack_entry;
  if (typed) m->top = 0; /* they are slots of the frame now */
  enum step step;
  do {
    step = code_is_stack(m->code, location) ? interpret(m, &location) : execute(m, &location);
  } while (step == STEP_SWITCH);
  return step;
}

/* ---- results ---- */

/* What is to be printed, until it is known that all of it can be: in memory while it is short,
 * then in a temporary file. */
struct results {
  struct heap *heap;
  char *text;
  size_t used, capacity;
  FILE *file;
};

enum { RESULTS_FIRST = 1 << 12, RESULTS_IN_MEMORY = 1 << 20 };

/* Room for n more bytes in memory; false if they had better go to a file. */
static bool results_fit(struct results *r, size_t n) {
  if (n <= r->capacity - r->used) return true;
  size_t capacity = r->capacity ? r->capacity : RESULTS_FIRST;
  while (capacity < RESULTS_IN_MEMORY && capacity - r->used < n) capacity *= 2;
  if (capacity - r->used < n || capacity == r->capacity) return false;
  char *text = heap_grow(r->heap, r->text, r->capacity, capacity);
  if (!text) return false;
  r->text = text;
  r->capacity = capacity;
  return true;
}

static bool results_write(void *self, const char *bytes, size_t n) {
  struct results *r = self;
  if (!r->file && results_fit(r, n)) {
    memcpy(r->text + r->used, bytes, n);
    r->used += n;
    return true;
  }
  if (!r->file) {
    r->file = tmpfile();
    if (!r->file) return false;
    if (r->used && fwrite(r->text, 1, r->used, r->file) != r->used) return false;
  }
  return fwrite(bytes, 1, n, r->file) == n;
}

/* Sends what was kept to out. */
static bool results_send(struct results *r, FILE *out) {
  if (!r->file) return fwrite(r->text, 1, r->used, out) == r->used;
  if (fflush(r->file) != 0) return false;
  rewind(r->file);
  char piece[RESULTS_FIRST];
  size_t n;
  while ((n = fread(piece, 1, sizeof piece, r->file)) > 0) {
    if (fwrite(piece, 1, n, out) != n) return false;
  }
  return !ferror(r->file);
}

/* The time of a program ends with its last instruction. What tells a wait for input of a limit
 * must not cut off its results: they may wait for a slow reader. */
static void alarms_block(sigset_t *before) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, before);
}

static bool fail_results(struct machine *m, const char *why) {
  if (!m->faulted) {
    diag_add(m->diags, SEVERITY_ERROR, m->program->file, (struct source_pos){0, 0}, NULL,
             "cannot print the results: %s", why);
  }
  m->faulted = true;
  return false;
}

/* Where a fault of the results is told: at the entry function's end. */
static struct machine_site end_site(const struct machine *m) {
  const struct ir_function *f = &m->program->functions[m->program->entry];
  uint32_t end = m->code->functions[m->program->entry].stack_entry;
  if (f->stack) end += f->stack->length - 1;
  return (struct machine_site){m->site, end};
}

/* Prints the stack, all of it or nothing. */
static bool print_results(struct machine *m) {
  struct machine_site site = end_site(m);
  if (!machine_settle(m, &site)) return false;
  if (m->top == 0 || !streams_results_wanted(m->streams)) return true;
  if (m->options.progress_fd >= 0) progress_erase(&m->progress); /* perhaps the same terminal */
  struct results r = {.heap = &m->heap};
  struct sink sink = {results_write, &r};
  bool ok = true;
  errno = 0;
  for (uint64_t k = 0; k < m->top && ok; k++) {
    ok = print_value(m, &site, &m->stack[k], &sink);
  }
  if (!ok) {
    fail_results(m, errno ? strerror(errno) : "out of memory");
  } else if (!results_send(&r, m->options.out) || fflush(m->options.out) != 0) {
    int error = errno;
    bool asked_to_end = m->options.interrupt && *m->options.interrupt;
    ok = asked_to_end ? machine_poll(m, &site) : fail_results(m, strerror(error));
  }
  if (r.file) fclose(r.file);
  heap_free(&m->heap, r.text, r.capacity);
  return ok;
}

/* One run; what it leaves goes into *results, or is printed if that is NULL. */
static enum machine_outcome run(struct machine *m, const struct ir_program *program,
                                const struct machine_item *items, uint64_t count,
                                struct machine_results *results, struct diag_list *diags) {
  m->diags = diags;
  enum step step = STEP_FAULT;
  if (begin_run(m, program)) {
    step = run_entry(m, items, count);
  } else {
    m->faulted = true;
    m->failure.cause = MACHINE_CAUSE_LIMIT;
    diag_add(diags, SEVERITY_ERROR, program->file, (struct source_pos){0, 0}, NULL,
             "out of memory before the program began");
  }
  struct pipe_guard guard; /* whoever reads may be gone: a failed write, no signal */
  pipe_guard_begin(&guard);
  sigset_t before;
  alarms_block(&before);
  if (step == STEP_DONE && results) {
    struct machine_site site = end_site(m);
    if (!machine_settle(m, &site) || !machine_collect(m, &site, results)) step = STEP_FAULT;
  } else if (step == STEP_DONE) {
    if (!print_results(m)) step = STEP_FAULT;
  }
  end_run(m);
  fflush(m->options.out);
  fflush(m->options.err);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pipe_guard_end(&guard);
  if (step == STEP_DONE) return MACHINE_DONE;
  if (step == STEP_EXIT) return MACHINE_EXIT;
  return m->interrupted ? MACHINE_INTERRUPTED : MACHINE_ERROR;
}

enum machine_outcome machine_run(struct machine *m, const struct ir_program *program,
                                 struct diag_list *diags) {
  return run(m, program, NULL, 0, NULL, diags);
}

enum machine_outcome machine_evaluate(struct machine *m, const struct ir_program *program,
                                      const struct machine_item *arguments,
                                      uint64_t argument_count, struct machine_results *results,
                                      struct diag_list *diags) {
  *results = (struct machine_results){0};
  return run(m, program, arguments, argument_count, results, diags);
}

const struct machine_failure *machine_failure(const struct machine *m) {
  return &m->failure;
}

struct machine_totals machine_totals(const struct machine *m) {
  return m->profile ? profile_totals(m->profile) : (struct machine_totals){0};
}

void machine_profile(const struct machine *m, FILE *out, bool json) {
  if (m->profile) profile_print(m->profile, out, json);
}
