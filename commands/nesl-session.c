/* nesl-session.c - begins and ends a session. */
#include "commands/nesl.h"
#include "commands/output.h"
#include "commands/process.h"

#include <stdlib.h>
#include <unistd.h>

/* The names of the library are looked for here; it may be broken, or too large for the memory.
 */
static bool make_session(struct nesl *n) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  n->session = session_new(&n->arena, n->options->widths.int_elem == CVL_I32, &n->diags);
  memory_guard_end(&guard);
  if (!n->session) return false;
  n->session->argument_checks = !n->options->unchecked;
  n->session->overflow_checks = n->options->check_overflow;
  n->session->file_type = nesl_type_of_file;
  n->session->file_context = n;
  session_collect_from_now(n->session);
  return true;
}

static bool show_progress(void *context) {
  struct nesl *n = context;
  if (n->evaluator && n->evaluator->progress) n->evaluator->progress(n->evaluator);
  return true;
}

/* Long evaluations have a status line if a person watches. */
static void begin_progress(struct nesl *n, struct nesl_options *options) {
  static const double seconds = 2;
  const bool waits = options->mode == NESL_PROMPT || options->mode == NESL_RUN;
  if (!waits || options->tune_seconds > 0 || !isatty(STDERR_FILENO)) return;
  options->machine.progress_fd = STDERR_FILENO;
  options->machine.progress_seconds = seconds;
  n->stop->progress_data = n;
  n->stop->progress = show_progress;
}

bool nesl_begin(struct nesl *n, struct nesl_options *options, FILE *out, struct stop *stop) {
  n->options = options;
  n->out = out;
  n->stop = stop;
  n->print_length = options->print_length;
  n->print_total = options->print_total;
  n->verbose = true;
  n->extent = EVALUATE_ALL;
  heap_init(&n->heap, machine_memory(&options->machine));
  arena_init(&n->arena, &n->heap);
  arena_init(&n->arguments, &n->heap);
  nesl_forget(n);
  options->machine.out = out;
  options->machine.widths = options->widths;
  options->machine.stop = stop;
  begin_progress(n, options);
  options->machine.permissions = process_listing(options->machine.permissions);
  const bool tunes = options->tune_seconds > 0; /* then the machine has its tuning */
  if (!output_native(options->native, options->repeat > 0 || tunes, options->cache,
                     sizeof options->cache, &options->machine, &n->diags)) {
    return false;
  }
  if (!tunes && !tuned_begin(&options->tuned, options->tuning,
                             options->has_identity ? &options->identity : NULL,
                             &options->machine, &n->diags)) {
    return false;
  }
  n->evaluator = options->direct ? evaluator_direct(options, &n->diags)
                                 : evaluator_compiled(options, &n->heap, &n->diags);
  if (n->evaluator && make_session(n)) return true;
  if (n->diags.errors == 0) {
    diag_add(&n->diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL,
             "out of memory: a session needs more than --memory allows");
  }
  return false;
}

void nesl_end(struct nesl *n) {
  if (n->stop) n->stop->progress = NULL;
  n->run_seconds = n->evaluator ? n->evaluator->seconds : 0;
  if (n->evaluator) n->evaluator->close(n->evaluator);
  nesl_stream_end(n);
  nesl_ranks_end(n);
  nesl_mapped_end(n);
  if (n->session) session_free(n->session);
  free(n->last_loaded);
  arena_free(&n->arguments);
  arena_free(&n->arena);
  arena_free(&n->messages);
}
