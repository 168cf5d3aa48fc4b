/* process.c - see process.h. */
#include "commands/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Files that are half written; a signal handler has nothing else to go by. */
static struct temporaries temporaries;

struct permissions process_user(void) {
  return permissions_of_user(&temporaries);
}

struct permissions process_listing(struct permissions p) {
  p.temporaries = &temporaries;
  return p;
}

_Noreturn void process_leave(int status) {
  temporaries_unlink(&temporaries);
  _exit(status);
}

/* The default action follows when the handler returns: the signal is the parent's to see. */
static void on_end(int signal_number) {
  temporaries_unlink(&temporaries);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void catch_end(int signal_number) {
  struct sigaction action = {.sa_handler = on_end}, inherited;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal_number, NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN) {
    sigaction(signal_number, &action, NULL); /* not under nohup */
  }
}

void process_begin(void) {
  /* Opened for reading only, a closed standard output stays one that cannot be written. */
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDONLY);
  if (fd > STDERR_FILENO) close(fd);
  signal(SIGPIPE, SIG_IGN);
  catch_end(SIGTERM);
  catch_end(SIGHUP);
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int process_end(const char *command, int status) {
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && status == STATUS_DONE) {
    fprintf(stderr, "%s: error: standard output: %s\n", command, strerror(errno ? errno : EIO));
    return STATUS_FAILED;
  }
  return status;
}
