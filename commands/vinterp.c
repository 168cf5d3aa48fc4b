/* vinterp.c - the command that runs VCODE: options, loading, one run, what is said about it. */
#include "commands/options.h"
#include "commands/source.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
  STATUS_DONE = 0,
  STATUS_FAILED = 1,
  STATUS_USAGE = 2,
  STATUS_INTERRUPTED = 130,
  MAX_ERRORS_SHOWN = 20
};

/* ---- the process: descriptors and signals ---- */

/* Set by Ctrl-C; a signal handler has nothing else to write to. */
static volatile sig_atomic_t interrupted;

/* The first Ctrl-C asks the run to end, the second does not ask. */
static void on_interrupt(int signal_number) {
  (void)signal_number;
  if (interrupted) _exit(STATUS_INTERRUPTED);
  interrupted = 1;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: ends a read, too */
  sigemptyset(&action.sa_mask);
  struct sigaction inherited;
  if (sigaction(SIGINT, NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN) {
    sigaction(SIGINT, &action, NULL);
  }
  signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, with a message */
}

static void on_alarm(int signal_number) {
  (void)signal_number;
}

/* The machine looks at the clock itself, but not while it waits for input: alarms end the wait,
 * the first when the time is over, more in case it came between two waits. */
static void wake_when_over(double seconds) {
  enum { AGAIN_MICROSECONDS = 100000 };
  struct sigaction action = {.sa_handler = on_alarm};
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  double whole = seconds < 1e8 ? seconds : 1e8;
  struct itimerval timer = {.it_interval = {0, AGAIN_MICROSECONDS}};
  timer.it_value.tv_sec = (time_t)whole;
  timer.it_value.tv_usec = (suseconds_t)((whole - (double)timer.it_value.tv_sec) * 1e6) + 1;
  if (timer.it_value.tv_usec > 999999) timer.it_value.tv_usec = 999999;
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* Makes sure that 0, 1 and 2 are taken, so that no file the program opens becomes its standard
 * output. Opened for reading only, a closed standard output stays one that cannot be written.
 */
static void occupy_standard_descriptors(void) {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDONLY);
  if (fd > STDERR_FILENO) close(fd);
}

/* ---- loading ---- */

/* What a loaded program needs to stay alive. */
struct loaded {
  struct heap heap; /* of the program, within the memory limit */
  struct arena arena;
  struct heap message_heap; /* without limit: the program's must not silence messages */
  struct arena messages;
  struct diag_list diags;
  struct source source;
  const struct vcode_program *vcode;
  const struct ir_program *ir;
};

static void loaded_init(struct loaded *l, uint64_t memory_limit) {
  memset(l, 0, sizeof *l);
  heap_init(&l->heap, memory_limit ? memory_limit : machine_default_memory());
  arena_init(&l->arena, &l->heap);
  heap_init(&l->message_heap, 0);
  arena_init(&l->messages, &l->message_heap);
  diag_list_init(&l->diags, &l->messages);
}

static void loaded_free(struct loaded *l) {
  source_free(&l->source, &l->heap);
  arena_free(&l->arena);
  arena_free(&l->messages);
}

/* A binary file breaks every rule at once: keeps to the first one it broke. */
static void complain_of_binary(struct loaded *l) {
  struct diag first = l->diags.list.items[0];
  diag_list_init(&l->diags, &l->messages);
  diag_add(&l->diags, SEVERITY_ERROR, first.file, first.pos, NULL,
           "this is no VCODE program but a binary file: %s", first.message);
}

/* Reads, parses and verifies; false with diagnostics. */
static bool load(struct loaded *l, const struct command_options *o) {
  struct widths widths = o->machine.widths;
  if (!source_read(&l->source, &l->heap, o->file, &l->diags)) return false;
  l->vcode =
      vcode_parse(&l->arena, o->file, l->source.text, l->source.length, widths, &l->diags);
  if (!l->vcode) {
    if (l->diags.list.count > 0 && source_is_binary(&l->source)) complain_of_binary(l);
    return false;
  }
  if (o->dump == DUMP_VCODE) return true;
  l->ir = ir_build(&l->arena, l->vcode, widths, &l->diags);
  return l->ir != NULL;
}

/* ---- running ---- */

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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
static int run(struct loaded *l, const struct command_options *o) {
  struct machine_options options = o->machine;
  options.backend = strcmp(o->backend_name, "auto") == 0 ? cvl_backends()[0]
                                                         : cvl_backend_find(o->backend_name);
  options.interrupt = &interrupted;
  FILE *nothing = NULL;
  if (strcmp(o->file, "-") == 0) { /* the program was the whole input: READ finds its end */
    nothing = fopen("/dev/null", "re");
    options.in = nothing;
  }
  double start = seconds_now();
  int status = STATUS_FAILED;
  struct machine *machine = machine_new(&options, &l->diags);
  if (machine) {
    if (options.time_limit > 0) wake_when_over(options.time_limit);
    status = status_of(machine_run(machine, l->ir, &l->diags));
    double end = seconds_now();
    if (o->elapsed) fprintf(stderr, "elapsed time = %.6f seconds\n", end - start);
    if (options.profile) machine_profile(machine, stderr, o->json);
    machine_free(machine);
  }
  if (nothing) fclose(nothing);
  return status;
}

static void dump(const struct loaded *l, enum dump what) {
  if (what == DUMP_VCODE) {
    vcode_print(l->vcode, stdout);
  } else {
    ir_print(l->ir, stdout);
  }
}

/* Loads the program and does with it what was asked; the exit status. */
static int execute(const struct command_options *o) {
  struct loaded l;
  loaded_init(&l, o->machine.memory_limit);
  int status = STATUS_DONE;
  if (!load(&l, o)) {
    status = interrupted ? STATUS_INTERRUPTED : STATUS_FAILED;
  } else if (o->dump != DUMP_NOTHING) {
    dump(&l, o->dump);
  } else if (!o->check) {
    status = run(&l, o);
  }
  diag_print(&l.diags, "vinterp", MAX_ERRORS_SHOWN, stderr);
  loaded_free(&l);
  return status;
}

static void list_devices(void) {
  for (const struct cvl_backend *const *b = cvl_backends(); *b; b++) {
    printf("%s: %s\n", (*b)->name, (*b)->doc);
  }
}

int main(int argc, char **argv) {
  occupy_standard_descriptors();
  catch_signals();
  struct command_options options;
  int status = STATUS_DONE;
  if (!options_parse(&options, argc, argv)) return STATUS_USAGE;
  if (options.help) {
    options_help(stdout);
  } else if (options.version) {
    puts("vinterp (Ravel) " RAVEL_VERSION);
  } else if (options.devices) {
    list_devices();
  } else {
    status = execute(&options);
  }
  /* Output may be lost as late as now; whoever reads it must know. */
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && status == STATUS_DONE) {
    fprintf(stderr, "vinterp: error: standard output: %s\n", strerror(errno ? errno : EIO));
    status = STATUS_FAILED;
  }
  return status;
}
