/* vinterp.c - the command that runs VCODE and FCODE: options, loading, one run, its profile. */
#include "commands/output.h"
#include "commands/process.h"
#include "commands/program-arguments.h"
#include "commands/ranks-input.h"
#include "commands/run-options.h"
#include "commands/vinterp-options.h"
#include "commands/vinterp-tune.h"
#include "fcode-opt/fcode-opt.h"
#include "vinterp/choose.h"
#include <errno.h>
#include <string.h>

/* ---- running ---- */

static int status_of(enum machine_outcome outcome) {
  switch (outcome) {
  case MACHINE_DONE:
  case MACHINE_EXIT: return STATUS_DONE;
  case MACHINE_ERROR: break;
  case MACHINE_INTERRUPTED: return STATUS_INTERRUPTED;
  }
  return STATUS_FAILED;
}

/* The arguments that a loaded program is run on. */
struct arguments {
  const struct machine_item *items;
  uint64_t count;
};

/* Runs a loaded program; the exit status. *began: whether there was a machine to run it. */
static int run_on_backend(struct program *p, const struct command_options *o,
                          const struct machine_options *options, const struct arguments *a,
                          bool *began) {
  double start = stop_clock();
  struct machine *machine = run_machine(o->backend_name, options, &p->diags);
  *began = machine != NULL;
  if (!*began) return STATUS_FAILED;
  int status = status_of(machine_run_on(machine, p->ir, a->items, a->count, &p->diags));
  double end = stop_clock();
  if (o->elapsed) fprintf(stderr, "elapsed time = %.6f seconds\n", end - start);
  if (options->profile) machine_profile(machine, stderr, o->json);
  machine_free(machine);
  return status;
}

/* Runs the program with its arguments and tuning values, or searches those values. */
static int run_program_with_values(struct program *p, const struct command_options *o,
                                   struct machine_options *options, bool *began) {
  struct arguments a = {0};
  struct tuned_program identity = {0};
  struct tuned tuned;
  options->arguments = o->arguments;
  options->argument_count = o->argument_count;
  if (!program_arguments(p, o->arguments, o->argument_count, &a.items, &a.count))
    return STATUS_FAILED;
  const bool tunes = o->tune_seconds > 0, known = tunes || tuned_any();
  const struct vinterp_task task = {p, o, options, a.items, a.count};
  if (known) identity = vinterp_identity(&task);
  if (tunes) return vinterp_tune(&task, &identity);
  if (!tuned_begin(&tuned, o->tuning, known ? &identity : NULL, options, &p->diags))
    return STATUS_FAILED;
  return run_on_backend(p, o, options, &a, began);
}

/* Opens what the run needs, runs, and closes it again; the exit status. */
static int prepare_and_run(struct program *p, const struct command_options *o) {
  struct machine_options options = o->machine;
  options.widths = p->widths;
  options.stop = process_stop();
  options.permissions = process_listing(options.permissions);
  if (!output_native(o->native, o->tune_seconds > 0, p->cache_path, sizeof p->cache_path,
                     &options, &p->diags)) {
    return STATUS_FAILED;
  }
  struct output_file trace;
  FILE *nothing = NULL;
  if (strcmp(o->source.file, "-") ==
      0) { /* the program was the whole input: READ finds its end */
    nothing = fopen("/dev/null", "re");
    if (!nothing) {
      output_complain(&p->diags, "/dev/null", errno);
      return STATUS_FAILED;
    }
    options.in = nothing;
  }
  int status = STATUS_FAILED;
  bool began = false;
  if (!o->trace) {
    status = run_program_with_values(p, o, &options, &began);
  } else if (output_begin(&trace, o->trace, &p->diags)) {
    options.trace = trace.stream;
    status = run_program_with_values(p, o, &options, &began);
    if (!began) {
      output_abandon(&trace);
    } else if (!output_end(&trace, o->trace, &p->diags) && status == STATUS_DONE) {
      status = STATUS_FAILED;
    }
  }
  if (nothing) fclose(nothing);
  return status;
}

static bool prepare_program(struct program *p, const struct command_options *o) {
  if (o->dump == DUMP_VCODE) return program_parse(p, &o->source);
  if (!program_load(p, &o->source)) return false;
  if (o->optimise) {
    struct fcode_opt_options optimiser = fcode_opt_default_options();
    optimiser.fuse = !o->no_fusion;
    p->ir = fcode_opt(&p->arena, p->ir, &optimiser, NULL, NULL, &p->diags);
  }
  return p->ir != NULL;
}

/* Reads and checks the program, optimises it if asked; false with diagnostics. */
static bool load_program_file(struct program *p, const struct command_options *o) {
  p->heap.stop = process_stop();
  const bool fine = prepare_program(p, o) || program_stopped(p, o->source.file);
  p->heap.stop = NULL; /* no memory guard is active from here on */
  return fine;
}

/* Prints a program. False without memory. */
static bool print_program_as(const struct program *p, enum dump what, FILE *out) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  if (what == DUMP_VCODE) {
    vcode_print(p->vcode, out);
  } else {
    ir_print(p->ir, out);
  }
  memory_guard_end(&guard);
  return true;
}

static int dump_program(struct program *p, const struct command_options *o) {
  struct output_file out;
  if (!output_begin(&out, "-", &p->diags)) return STATUS_FAILED;
  const bool printed = print_program_as(p, o->dump, out.stream) ||
                       output_complain(&p->diags, o->source.file, ENOMEM);
  if (output_end(&out, "-", &p->diags) && printed) return STATUS_DONE;
  program_stopped(p, o->source.file);
  return process_failed();
}

/* Loads the program and does with it what was asked; the exit status. */
static int execute_options(const struct command_options *o) {
  struct program p;
  program_init(&p, machine_memory(&o->machine));
  process_limit(o->seconds);
  int status = STATUS_DONE;
  if (!load_program_file(&p, o)) {
    status = process_failed();
  } else if (o->dump != DUMP_NOTHING) {
    status = dump_program(&p, o);
  } else if (!o->check) {
    status = prepare_and_run(&p, o);
  }
  diag_print(&p.diags, "vinterp", MAX_ERRORS_SHOWN, stderr);
  program_free(&p);
  return status;
}

static int vinterp_command(int argc, char **argv) {
  struct command_options options;
  if (!options_parse(&options, argc, argv)) return STATUS_USAGE;
  if (shared_answered(&options.shared, options_help, "vinterp (Ravel) " RAVEL_VERSION)) {
    return STATUS_DONE;
  }
  int status;
  process_share_input(ranks_broadcast);
  if (run_tuning_listed("vinterp", options.tuning, &status)) return status;
  if (!options.devices) return execute_options(&options);
  choose_list(stdout);
  run_describe_compiler();
  return STATUS_DONE;
}

int main(int argc, char **argv) {
  return process_main("vinterp", vinterp_command, argc, argv);
}
