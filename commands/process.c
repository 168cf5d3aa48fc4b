/* process.c - see process.h. */
#include "commands/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void process_begin(void) {
  /* Opened for reading only, a closed standard output stays one that cannot be written. */
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDONLY);
  if (fd > STDERR_FILENO) close(fd);
  signal(SIGPIPE, SIG_IGN);
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
