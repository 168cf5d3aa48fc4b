/* vinterp.c - the command that runs VCODE and FCODE: options, loading, one run, what is said
 * about it. */
#include "commands/choose.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/process.h"
#include "fcode-opt/fcode-opt.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- signals ---- */

/* Set by Ctrl-C; a signal handler has nothing else to write to. */
static volatile sig_atomic_t interrupted;

/* Ends a wait for input by coming. The machine may have looked at `interrupted` just before it
 * began to wait: then another alarm finds it waiting. */
static void on_alarm(int signal_number) {
  (void)signal_number;
  if (interrupted) alarm(1);
}

static void catch_alarms(void) {
  struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
}

static void stop_alarms(void) {
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

/* The first Ctrl-C asks the run to end, the second does not ask. */
static void on_interrupt(int signal_number) {
  (void)signal_number;
  if (interrupted) process_leave(STATUS_INTERRUPTED);
  interrupted = 1;
  catch_alarms();
  alarm(1);
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: ends a read, too */
  sigemptyset(&action.sa_mask);
  struct sigaction inherited;
  if (sigaction(SIGINT, NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN) {
    sigaction(SIGINT, &action, NULL);
  }
}

/* The machine looks at the clock itself, but not while it waits for input: alarms end the wait,
 * the first when the time is over, more in case it came between two waits. */
static void wake_when_over(double seconds) {
  enum { AGAIN_MICROSECONDS = 100000 };
  catch_alarms();
  double whole = seconds < 1e8 ? seconds : 1e8;
  struct itimerval timer = {.it_interval = {0, AGAIN_MICROSECONDS}};
  timer.it_value.tv_sec = (time_t)whole;
  timer.it_value.tv_usec = (suseconds_t)((whole - (double)timer.it_value.tv_sec) * 1e6) + 1;
  if (timer.it_value.tv_usec > 999999) timer.it_value.tv_usec = 999999;
  setitimer(ITIMER_REAL, &timer, NULL);
}

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

/* Runs a loaded program; the exit status. */
static int run(struct program *p, const struct command_options *o,
               const struct machine_options *options) {
  double start = seconds_now();
  struct machine *machine = choose_machine(o->backend_name, options, &p->diags);
  if (!machine) return STATUS_FAILED;
  if (options->time_limit > 0) wake_when_over(options->time_limit);
  int status = status_of(machine_run(machine, p->ir, &p->diags));
  stop_alarms();
  double end = seconds_now();
  if (o->elapsed) fprintf(stderr, "elapsed time = %.6f seconds\n", end - start);
  if (options->profile) machine_profile(machine, stderr, o->json);
  machine_free(machine);
  return status;
}

/* Opens what the run needs, runs, and closes it again; the exit status. */
static int prepare_and_run(struct program *p, const struct command_options *o) {
  struct machine_options options = o->machine;
  options.widths = p->widths;
  options.interrupt = &interrupted;
  options.permissions = process_listing(options.permissions);
  if (!output_native(o->native, false, p->cache_path, sizeof p->cache_path, &options.native,
                     &p->diags)) {
    return STATUS_FAILED;
  }
  struct output trace;
  FILE *nothing = NULL;
  if (strcmp(o->source.file, "-") ==
      0) { /* the program was the whole input: READ finds its end */
    nothing = fopen("/dev/null", "re");
    options.in = nothing;
  }
  int status = STATUS_FAILED;
  if (!o->trace) {
    status = run(p, o, &options);
  } else if (output_begin(&trace, o->trace, &p->diags)) {
    options.trace = trace.stream;
    status = run(p, o, &options);
    if (!output_end(&trace, o->trace, &p->diags) && status == STATUS_DONE) {
      status = STATUS_FAILED;
    }
  }
  if (nothing) fclose(nothing);
  return status;
}

/* Reads and checks the program, optimises it if asked; false with diagnostics. */
static bool load(struct program *p, const struct command_options *o) {
  if (o->dump == DUMP_VCODE) return program_parse(p, &o->source);
  if (!program_load(p, &o->source)) return false;
  if (o->optimise) {
    struct fcode_opt_options optimiser = fcode_opt_default_options();
    optimiser.fuse = !o->no_fusion;
    p->ir = fcode_opt(&p->arena, p->ir, &optimiser, NULL, NULL, &p->diags);
  }
  return p->ir != NULL;
}

static void dump(const struct program *p, enum dump what) {
  if (what == DUMP_VCODE) {
    vcode_print(p->vcode, stdout);
  } else {
    ir_print(p->ir, stdout);
  }
}

/* Loads the program and does with it what was asked; the exit status. */
static int execute(const struct command_options *o) {
  struct program p;
  program_init(&p, machine_memory(&o->machine));
  int status = STATUS_DONE;
  if (!load(&p, o)) {
    status = interrupted ? STATUS_INTERRUPTED : STATUS_FAILED;
  } else if (o->dump != DUMP_NOTHING) {
    dump(&p, o->dump);
  } else if (!o->check) {
    status = prepare_and_run(&p, o);
  }
  diag_print(&p.diags, "vinterp", MAX_ERRORS_SHOWN, stderr);
  program_free(&p);
  return status;
}

int main(int argc, char **argv) {
  process_begin();
  catch_signals();
  struct command_options options;
  int status = STATUS_DONE;
  if (!options_parse(&options, argc, argv)) return STATUS_USAGE;
  if (options.help) {
    options_help(stdout);
  } else if (options.version) {
    puts("vinterp (Ravel) " RAVEL_VERSION);
  } else if (options.devices) {
    choose_list(stdout);
  } else {
    status = execute(&options);
  }
  return process_end("vinterp", status);
}
