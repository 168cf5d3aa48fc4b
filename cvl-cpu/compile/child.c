/* child.c - see child.h. */
#include "cvl-cpu/compile/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static int attributes_set(posix_spawnattr_t *attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  int error = posix_spawnattr_setsigmask(attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(attributes, &defaults);
  /* the child leads a new group */
  if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
  if (error) return error;
  return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETPGROUP);
}

/* Lowers the priority of a child, and of the processes that it starts. With idle priority
 * (SCHED_IDLE), or a niceness of 19, it may never end beside a program that uses all
 * processors. */
static void make_nicer(pid_t child) {
  (void)setpriority(PRIO_PROCESS, (id_t)child, getpriority(PRIO_PROCESS, 0) + CHILD_NICENESS);
}

int child_start(pid_t *child, const posix_spawn_file_actions_t *actions, char *const *arguments,
                char *const *environment, bool background) {
  posix_spawnattr_t attributes;
  int error = posix_spawnattr_init(&attributes);
  if (error) return error;
  error = attributes_set(&attributes);
  if (!error)
    error = posix_spawn(child, arguments[0], actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  if (!error && background) make_nicer(*child);
  return error;
}

bool child_ended(pid_t child, int *status) {
  pid_t ended;
  do {
    ended = waitpid(child, status, WNOHANG);
  } while (ended < 0 && errno == EINTR);
  /* another thread has waited for the child: its status is not known */
  if (ended < 0) *status = -1;
  return ended != 0;
}

void child_pause_briefly(void) {
  enum { NANOSECONDS = 2000000 }; /* a compiler takes about a hundred times as long */
  nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
}

bool child_await(pid_t child, struct cvl_stop stop, int *status) {
  while (!child_ended(child, status)) {
    if (stop.asks && stop.asks(stop.with)) return false;
    child_pause_briefly();
  }
  return true;
}

void child_end(pid_t child) {
  enum { LOOKS = 50 }; /* the compiler gets time to remove its files */
  int status;
  kill(-child, SIGTERM);
  for (int i = 0; i < LOOKS; i++) {
    if (child_ended(child, &status)) {
      kill(-child, SIGKILL); /* the processes that the child has not waited for */
      return;
    }
    child_pause_briefly();
  }
  kill(-child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}
