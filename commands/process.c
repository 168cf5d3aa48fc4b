/* process.c - see process.h. */
#include "commands/process.h"
#include "base/job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* All that signal handlers use, besides the temporaries. */
static struct {
  atomic_int asked;  /* the signal that asks the command to end, or 0 */
  atomic_int alarms; /* since then */
  timer_t timer;     /* of repeated SIGALRMs */
  bool has_timer;
} signals;

static struct stop stop = {.signal = &signals.asked};

/* ---- files ---- */

/* Files that are half written, for the signals. */
static struct temporaries temporaries;

struct permissions process_user(void) {
  return process_listing(permissions_of_user(NULL));
}

struct permissions process_listing(struct permissions p) {
  p.temporaries = &temporaries;
  p.stop = &stop;
  return p;
}

/* ---- signals ---- */

struct stop *process_stop(void) {
  return &stop;
}

/* After so many seconds sends SIGALRM repeatedly, which ends a wait for input or output. One
 * alarm is not enough: it may come between the test of the reason and the wait. */
static void wake_from(double seconds) {
  enum { AGAIN_NANOSECONDS = 20000000 };
  if (!signals.has_timer) return;
  const double most = 1e8; /* three years */
  const double first = seconds < most ? seconds : most;
  struct itimerspec t = {.it_interval = {.tv_nsec = seconds > 0 ? AGAIN_NANOSECONDS : 0}};
  t.it_value.tv_sec = (time_t)first;
  t.it_value.tv_nsec = (long)((first - (double)t.it_value.tv_sec) * 1e9);
  timer_settime(signals.timer, 0, &t, NULL);
}

/* Ends the process as the signal does without a handler, without half-written files. */
static void end_by(int number) {
  sigset_t only;
  temporaries_unlink(&temporaries);
  sigemptyset(&only);
  sigaddset(&only, number);
  signal(number, SIG_DFL);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

/* The message of a rank when it ends its job; rank 0 comes first, the others if that does not
 * help. */
static struct {
  bool is; /* this process is one of several */
  const char *backend;
  process_share *share;
  double patience; /* seconds behind the limit of time */
  int alarms;      /* behind a signal: 20 ms each */
  int errors;
  char late[160], interrupted[160];
} rank = {.errors = STDERR_FILENO};

/* Ends the process, and so its job: the others have not come to a step where all end. */
static void abort_job(const char *message, int status) {
  temporaries_unlink(&temporaries);
  const ssize_t ignored = write(rank.errors, message, strlen(message));
  (void)ignored;
  _exit(status);
}

/* Ends the process if it does not end by itself soon after SIGTERM or SIGHUP, and a rank that
 * waits for others after any signal, or when the limit of time is over. */
static void on_alarm(int number) {
  enum { PATIENCE = 50 }; /* alarms: a second */
  (void)number;
  if (rank.is && stop_overdue(&stop, rank.patience)) abort_job(rank.late, STATUS_FAILED);
  if (signals.asked == 0) return;
  signals.alarms++;
  if (signals.alarms <= (rank.is ? rank.alarms : PATIENCE)) return;
  if (signals.asked != SIGINT) end_by(signals.asked);
  if (rank.is) abort_job(rank.interrupted, STATUS_INTERRUPTED);
}

static void on_growth(int number) {
  (void)number; /* the write fails, which is reported */
}

/* The first signal asks the command to end, the second ends it. */
static void on_request(int number) {
  const int error = errno;
  if (signals.asked == number && number == SIGINT) {
    temporaries_unlink(&temporaries);
    _exit(STATUS_INTERRUPTED);
  }
  if (signals.asked == number) end_by(number);
  signals.alarms = 0;
  signals.asked = number;
  wake_from(0.02);
  errno = error;
}

/* ---- mapped files ---- */

enum { MAPPED_MOST = 32 };

/* For the signal: a range that is not in use begins at 0. */
static struct mapped {
  _Atomic uintptr_t begin;
  size_t length;
  char message[PATH_MAX + 128];
} mapped[MAPPED_MOST];

void process_mapped(const void *begin, size_t length, const char *file) {
  struct mapped *m = mapped;
  while (m < mapped + MAPPED_MOST && m->begin != 0) m++;
  if (m == mapped + MAPPED_MOST) return;
  m->length = length;
  snprintf(
      m->message, sizeof m->message,
      "%s: error: another process has made the file shorter while it was read; it must not "
      "change before the end\n",
      file);
  m->begin = (uintptr_t)begin;
}

void process_unmapped(const void *begin) {
  for (struct mapped *m = mapped; m < mapped + MAPPED_MOST; m++) {
    if (m->begin == (uintptr_t)begin) m->begin = 0;
  }
}

static const struct mapped *mapped_at(uintptr_t address) {
  for (const struct mapped *m = mapped; m < mapped + MAPPED_MOST; m++) {
    if (m->begin != 0 && address >= m->begin && address - m->begin < m->length) return m;
  }
  return NULL;
}

/* Several threads may find it at once; one speaks. Any other cause is a crash as without a
 * handler, which leaves no half-written file either. */
static void on_lost_memory(int number, siginfo_t *info, void *context) {
  static atomic_flag begun = ATOMIC_FLAG_INIT;
  const struct mapped *m = mapped_at((uintptr_t)info->si_addr);
  (void)context;
  if (!m) {
    end_by(number);
    return;
  }
  while (atomic_flag_test_and_set(&begun)) pause();
  temporaries_unlink(&temporaries);
  const ssize_t ignored = write(rank.errors, m->message, strlen(m->message));
  (void)ignored;
  _exit(STATUS_FAILED);
}

static void catch_lost_memory(void) {
  struct sigaction action = {.sa_sigaction = on_lost_memory, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}

static void handle_signal(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler}; /* no SA_RESTART: ends a wait, too */
  struct sigaction inherited;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
    sigaction(number, &action, NULL);
}

static void catch_signals(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  signal(SIGPIPE, SIG_IGN);
  catch_lost_memory();
  handle_signal(SIGALRM, on_alarm);
  handle_signal(SIGXFSZ, on_growth); /* a handler is not inherited by what is executed */
  signals.has_timer = timer_create(CLOCK_MONOTONIC, &event, &signals.timer) == 0;
  handle_signal(SIGINT, on_request);
  handle_signal(SIGTERM, on_request);
  handle_signal(SIGHUP, on_request);
}

/* Written before it is needed: handlers of signals may not. */
static void prepare_messages(double seconds) {
  const unsigned number = job_of_process().rank;
  snprintf(rank.late, sizeof rank.late,
           "ravel: error: the time limit of %g seconds is over, and rank %u has not come to a "
           "step where all ranks end\n",
           seconds, number);
  snprintf(rank.interrupted, sizeof rank.interrupted,
           "ravel: error: interrupted; rank %u has not come to a step where all ranks end\n",
           number);
}

void process_limit(double seconds) {
  if (rank.is) prepare_messages(seconds);
  stop_begin(&stop, seconds);
  if (!signals.asked) wake_from(seconds > 0 ? seconds : 0);
}

bool process_forget_interrupt(void) {
  const bool was = signals.asked == SIGINT;
  if (was) signals.asked = 0;
  process_limit(0);
  return was;
}

int process_failed(void) {
  return signals.asked ? STATUS_INTERRUPTED : STATUS_FAILED;
}

/* ---- beginning and end ---- */

static void take_descriptors(void) {
  /* Opened for reading only, so that writing to a closed standard output still fails. */
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDONLY);
  if (fd > STDERR_FILENO) close(fd);
}

/* The errno of the first failed write to standard output, or 0. */
static int lost;

static bool lose_output(const FILE *out) {
  if (out == stdout && lost == 0) lost = errno;
  return false;
}

static bool process_flush(FILE *out) {
  errno = 0;
  return (fflush(out) == 0 && !ferror(out)) || lose_output(out);
}

bool process_reaches(FILE *out) {
  if (process_flush(out)) return true;
  if (stop_asks(&stop) == STOP_NOT) return false;
  clearerr(out);
  return true;
}

bool process_write(FILE *out, const char *text, size_t length) {
  enum { CHUNK = 1 << 20 };
  for (size_t done = 0; done < length && stop_asks(&stop) == STOP_NOT; done += CHUNK) {
    const size_t chunk = length - done < CHUNK ? length - done : CHUNK;
    errno = 0;
    if (fwrite(text + done, 1, chunk, out) != chunk) return lose_output(out);
  }
  return stop_asks(&stop) == STOP_NOT;
}

/* The exit status: `status`, unless something could not be written to standard output, or to
 * standard error, where profiles and the like go. */
static int flushed(const char *name, int status) {
  if (!process_flush(stdout) && status == STATUS_DONE) {
    const int error = lost ? lost : EIO;
    char text[128];
    if (stop_asks(&stop) != STOP_NOT) {
      stop_describe(&stop, text, sizeof text);
      fprintf(stderr, "%s: error: %s\n", name, text);
    } else {
      fprintf(stderr, "%s: error: standard output: %s\n", name,
              strerror_r(error, text, sizeof text));
    }
    return process_failed();
  }
  return status == STATUS_DONE && ferror(stderr) ? STATUS_FAILED : status;
}

struct execution {
  const char *name;
  int (*command)(int argc, char **argv);
  int argc;
  char **argv;
  int status;
};

static void *execute_in_thread(void *execution) {
  struct execution *e = execution;
  e->status = flushed(e->name, e->command(e->argc, e->argv));
  return NULL;
}

/* A large stack is cheap: only the pages that are used take memory. */
static bool execute_on_stack(struct execution *e, size_t bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                       pthread_create(&thread, &attributes, execute_in_thread, e) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) return false;
  sigset_t all, before; /* signals must interrupt the waits of the working thread */
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_join(thread, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return true;
}

/* ---- ranks of a job ---- */

/* The value of --backend, if it is given. */
static const char *backend_argument(int argc, char **argv) {
  static const char option[] = "--backend";
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], option, sizeof option - 1) != 0) continue;
    const char *behind = argv[i] + sizeof option - 1;
    if (*behind == '=') return behind + 1;
    if (*behind == '\0' && i + 1 < argc) return argv[i + 1];
  }
  return NULL;
}

bool process_is_rank(void) {
  return rank.is;
}

bool process_follows(void) {
  return rank.is && job_of_process().rank > 0;
}

void process_share_input(process_share *share) {
  rank.share = share;
}

process_share *process_shares(void) {
  return rank.is ? rank.share : NULL;
}

const char *process_ranks_backend(void) {
  return rank.backend;
}

/* Silences all ranks of a job that runs one program, except rank 0. Messages that end a job out
 * of order still have a way to the user: RAVEL_ERRORS names the descriptor
 * (cvl-mpi/exchange/comm.c). */
static void silence_ranks(int argc, char **argv) {
  const char *backend = backend_argument(argc, argv);
  char number[16];
  const bool together =
      !backend || strncmp(backend, "mpi", 3) == 0 || strcmp(backend, "auto") == 0;
  rank.is = job_of_process().count > 1 && together;
  rank.backend = !backend || strcmp(backend, "auto") == 0 ? "mpi" : backend;
  /* Rank 0: longer than any operation takes, and shorter than mpirun waits until it kills the
   * ranks. The others: so long that mpirun has ended them, even on a busy machine. */
  rank.patience = process_follows() ? 10 : 2;
  rank.alarms = process_follows() ? 500 : 20;
  prepare_messages(0);
  if (!process_follows()) return;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), errors = dup(STDERR_FILENO);
  if (nowhere < 0 || errors < 0) return;
  rank.errors = errors;
  snprintf(number, sizeof number, "%d", errors);
  setenv("RAVEL_ERRORS", number, 1);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

/* A rank that ends with an error while the first one still works on would have its job ended
 * before the first can say why: most often it is about to fail for the same reason. */
static void let_first_speak(int status) {
  const bool together = stop_asks(&stop) != STOP_NOT; /* the first ends for that, too */
  const struct timespec t = {.tv_sec = together ? 0 : 1, .tv_nsec = together ? 200000000 : 0};
  if (process_follows() && status != STATUS_DONE) nanosleep(&t, NULL);
}

int process_main(const char *name, int (*command)(int argc, char **argv), int argc,
                 char **argv) {
  struct execution e = {.name = name, .command = command, .argc = argc, .argv = argv};
  take_descriptors();
  silence_ranks(argc, argv);
  catch_signals();
  if (!execute_on_stack(&e, (size_t)64 << 20) && !execute_on_stack(&e, (size_t)8 << 20)) {
    execute_in_thread(&e); /* without a thread: on the caller's stack */
  }
  let_first_speak(e.status);
  if (signals.asked != 0 && signals.asked != SIGINT) end_by(signals.asked);
  return e.status;
}
