/* machine.c - making a machine, and questions to it after a run. */
#include "vinterp/machine/machine-private.h"

#include <stdlib.h>
#include <string.h>

enum {
  DEFAULT_DEPTH = 1000000,
  /* The machine itself (stack, frames, code, buffers) gets one part in so many of the memory
   * limit, and vectors get the rest. So two limits together cannot exceed the one. */
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

bool machine_procedures_named(const char *name, enum machine_procedures *found) {
  static const char *const names[] = {[MACHINE_PROCEDURES_AUTO] = "auto",
                                      [MACHINE_PROCEDURES_OFF] = "off",
                                      [MACHINE_PROCEDURES_ALWAYS] = "always"};
  for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
    if (strcmp(name, names[k]) != 0) continue;
    *found = (enum machine_procedures)k;
    return true;
  }
  return false;
}

static struct machine *fail_new(struct machine *m, struct diag_list *diags, const char *why) {
  diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0, 0}, NULL,
           "cannot make a machine: %s", why);
  machine_free(m);
  return NULL;
}

void machine_set_depth(struct machine *m, uint64_t max_depth) {
  m->max_depth = max_depth ? max_depth : DEFAULT_DEPTH;
}

struct machine *machine_new(const struct machine_options *options, struct diag_list *diags) {
  struct machine *m = calloc(1, sizeof *m);
  if (!m) return fail_new(NULL, diags, "out of memory");
  m->options = *options;
  m->first_seed = options->seed;
  m->widths = options->widths;
  m->backend = options->backend;
  machine_set_depth(m, options->max_depth);
  uint64_t memory = machine_memory(options);
  m->heap = &m->own_heap;
  heap_init(m->heap, memory / MACHINE_PART);
  m->heap->stop = options->stop;
  if (options->profile) {
    m->profile = profile_new(m->heap, m->backend->name, !options->undisturbed);
    if (!m->profile) return fail_new(m, diags, "out of memory");
  }
  m->measured = (m->profile && !options->undisturbed) || options->trace;
  const struct machine_tuned *tuned = NULL;
  if (options->tuning.of) tuned = options->tuning.of(options->tuning.with, m->backend, options);
  if (m->profile && tuned) profile_tuned(m->profile, tuned->from);
  m->vector_limit =
      m->backend->own_memory && !options->memory_limit ? 0 : memory - memory / MACHINE_PART;
  struct cvl_options cvl = {.int_elem = options->widths.int_elem,
                            .float_elem = options->widths.float_elem,
                            .threads = options->threads,
                            .device = options->device,
                            .opens_late = options->opens_late,
                            .memory_limit = m->vector_limit,
                            .compile = options->compile,
                            .compile_waits = options->compile_waits,
                            .compile_directory = options->compile_directory,
                            .zig = options->zig,
                            .kernels = options->kernels,
                            .stop = {machine_ends_operations, m},
                            .measure = options->profile,
                            .spans = options->trace,
                            .say = options->say,
                            .tuning = tuned ? tuned->values : NULL};
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
  if (m->backend->processes) stop_join(options->stop);
  if (options->trace) { /* not earlier, since another back end may be tried */
    m->trace = trace_new(m->heap, options->trace, stop_clock(), TRACE_MAX_EVENTS);
    if (!m->trace) return fail_new(m, diags, "out of memory");
  }
  m->store = (struct value_store){m->backend, m->context, m->heap};
  chunks_init(m);
  procedure_calls_init(m);
  if (!team_init(m)) return fail_new(m, diags, "out of memory");
  return m;
}

void machine_free(struct machine *m) {
  if (!m) return;
  distribute_free(m);
  heap_free(m->heap, m->stack, m->capacity * sizeof *m->stack);
  heap_free(m->heap, m->frames, m->frame_capacity * sizeof *m->frames);
  history_free(&m->history, m->heap);
  chunks_free(m);
  team_free(m);
  profile_free(m->profile);
  trace_free(m->trace);
  if (m->context) m->backend->close(m->context);
  free(m);
}

const struct cvl_backend *machine_backend(const struct machine *m) {
  return m->backend;
}

const struct machine_failure *machine_failure(const struct machine *m) {
  return &m->failure;
}

struct machine_totals machine_totals(const struct machine *m) {
  return m->profile ? profile_totals(m->profile) : (struct machine_totals){0};
}

void machine_random(const struct machine *m, uint64_t *seed, uint64_t *number) {
  *seed = m->first_seed;
  *number = m->first_random;
}

void machine_set_random(struct machine *m, uint64_t seed, uint64_t number) {
  m->first_seed = seed;
  m->first_random = number;
}

void machine_profile_begin(struct machine *m) {
  if (!m->profile) return;
  const struct cvl_statistics now = m->backend->statistics(m->context);
  profile_begin(m->profile, &now);
}

void machine_profile(const struct machine *m, FILE *out, bool json) {
  if (m->profile) profile_print(m->profile, out, json);
}
