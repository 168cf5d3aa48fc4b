/* nesl.c - the command for NESL: it reads options and files, and runs one of its modes
 * (nesl.h). */
#include "commands/nesl.h"
#include "commands/process.h"
#include "commands/ranks-input.h"
#include "commands/source.h"

#include <string.h>

/* ---- modes ---- */

static const struct source *read_operand(struct nesl *n, unsigned i) {
  const struct source *source = nesl_read_file(n, n->options->operands[i]);
  if (!source) nesl_complain(n);
  return source;
}

/* Loads the files first .. end-1 of those named; false if one has errors. */
static bool load_operands(struct nesl *n, unsigned first, unsigned end, bool silent) {
  bool fine = true, was_silent = n->silent;
  n->silent = silent;
  for (unsigned i = first; i < end && fine && !n->leave; i++) {
    const struct source *source = read_operand(n, i);
    fine = source && nesl_run_file(n, source) == 0;
  }
  n->silent = was_silent;
  return fine;
}

static int run_command_line(struct nesl *n) {
  const struct nesl_options *o = n->options;
  bool calls = o->entry != NULL;
  if (!load_operands(n, 0, calls ? 1 : o->operand_count, true)) return STATUS_FAILED;
  nesl_forget(n);
  const struct source *source =
      calls ? nesl_entry_source(n) : nesl_typed_source(n, o->expression);
  if (!source) nesl_complain(n);
  n->reading = (struct nesl_reading){.typed = true};
  n->is_call = calls;
  n->measures = o->repeat > 0;
  if (o->output_count > 0) n->silent = true;
  if (!source || nesl_run_source(n, source) > 0) return STATUS_FAILED;
  if (o->output_count == 0 || n->written || nesl_write_results(n)) return STATUS_DONE;
  nesl_complain(n);
  return STATUS_FAILED;
}

/* The expression comes first, the files after it. */
static int run_cost(struct nesl *n) {
  const struct source *source = nesl_typed_source(n, n->options->operands[0]);
  if (!source) nesl_complain(n);
  if (!source || !load_operands(n, 1, n->options->operand_count, true)) return STATUS_FAILED;
  n->reading = (struct nesl_reading){.typed = true};
  return nesl_cost(n, source);
}

static int run_mode(struct nesl *n) {
  const struct nesl_options *o = n->options;
  if (o->expression || o->entry) return run_command_line(n);
  if (o->mode == NESL_PROMPT) {
    bool fine = load_operands(n, 0, o->operand_count, false);
    int status = nesl_prompt(n);
    return fine ? status : STATUS_FAILED;
  }
  if (o->mode == NESL_COST) return run_cost(n);
  const struct source *source = read_operand(n, 0);
  if (!source) return STATUS_FAILED;
  n->reading = (struct nesl_reading){.file = source->name};
  switch (o->mode) {
  case NESL_TEST: return nesl_test(n, source);
  case NESL_OUTCOMES_OF: return nesl_outcomes(n, source);
  case NESL_CHECK: n->silent = true; break;
  case NESL_RUN:
  case NESL_COST:
  case NESL_PROMPT: break;
  }
  return nesl_run_source(n, source) == 0 ? STATUS_DONE : STATUS_FAILED;
}

static int run_session(struct nesl *n, struct nesl_options *options, FILE *out) {
  int status = STATUS_FAILED;
  if (nesl_begin(n, options, out, process_stop())) {
    if (options->mode == NESL_CHECK) n->extent = EVALUATE_NOTHING;
    status = run_mode(n);
    if (n->interrupted && options->mode != NESL_PROMPT) status = STATUS_INTERRUPTED;
  } else {
    nesl_complain(n);
  }
  return status;
}

/* Each form has a memory guard of its own; this one is for everything else. */
static int run_guarded(struct nesl *n, struct nesl_options *options, FILE *out) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    fputs("nesl: error: out of memory\n", stderr);
    return STATUS_FAILED;
  }
  const int status = run_session(n, options, out);
  memory_guard_end(&guard);
  return status;
}

/* A session that prints its results to `out`; its exit status. */
static int run_session_once(struct nesl_options *options, FILE *out, double *seconds) {
  struct nesl n = {0};
  heap_init(&n.message_heap, DIAG_MEMORY);
  arena_init(&n.messages, &n.message_heap);
  const int status = run_guarded(&n, options, out);
  nesl_end(&n);
  *seconds = n.run_seconds;
  return status;
}

/* A session that prints to standard output, or captures what forms print; its exit status. */
static int run_and_measure(struct nesl_options *options, bool captures, bool one_by_one) {
  struct nesl n = {0};
  FILE *out = stdout;
  heap_init(&n.message_heap, DIAG_MEMORY);
  arena_init(&n.messages, &n.message_heap);
  heap_init(&n.capture_heap, machine_memory(&options->machine));
  if (captures) out = text_begin(&n.capture, &n.capture_heap) ? n.capture.stream : NULL;
  if (!out) { /* not even for a message */
    fputs("nesl: error: out of memory\n", stderr);
    return STATUS_FAILED;
  }
  n.limits_forms = one_by_one;
  const int status = run_guarded(&n, options, out);
  nesl_end(&n);
  text_free(&n.capture);
  return status;
}

/* Whether more is to be tested: nobody would see it where the output is lost. */
static bool test_goes_on(int status) {
  return status != STATUS_INTERRUPTED && process_reaches(stdout);
}

/* Tests each file in a session of its own; returns the greatest status. */
static int test_files(const struct nesl_options *options) {
  int greatest = STATUS_DONE;
  bool found = false;
  for (unsigned i = 0; i < options->operand_count && test_goes_on(greatest); i++) {
    struct nesl_options one = *options;
    one.operands[0] = options->operands[i];
    one.operand_count = 1;
    one.found = &found;
    const int status = run_and_measure(&one, true, true);
    if (status > greatest) greatest = status;
  }
  if (!options->only || found || !test_goes_on(greatest)) return greatest;
  fprintf(stderr, "nesl: error: --only %s: there is no property of this name\n", options->only);
  return STATUS_USAGE;
}

static int execute_mode(struct nesl_options *options) {
  const bool captures = options->mode == NESL_OUTCOMES_OF;
  const bool one_by_one = captures || options->mode == NESL_PROMPT;
  if (options->mode == NESL_TEST) return test_files(options);
  if (!one_by_one) process_limit(options->seconds);
  if (options->mode == NESL_CHECK) options->native = NATIVE_OFF; /* which makes its directory */
  nesl_identify(options);
  if (options->tune_seconds > 0) return nesl_tune(options, run_session_once);
  return run_and_measure(options, captures, one_by_one);
}

static int nesl_command_line(int argc, char **argv) {
  struct nesl_options options;
  if (!nesl_options_parse(&options, argc, argv)) return STATUS_USAGE;
  if (shared_answered(&options.shared, nesl_options_help, "nesl (Ravel) " RAVEL_VERSION)) {
    if (!options.shared.help) run_describe_compiler();
    return STATUS_DONE;
  }
  int status;
  process_share_input(ranks_broadcast);
  if (run_tuning_listed("nesl", options.tuning, &status)) return status;
  return execute_mode(&options);
}

int main(int argc, char **argv) {
  return process_main("nesl", nesl_command_line, argc, argv);
}
