/* progress.h - a status line on a terminal during a long run. */
#ifndef RAVEL_PROGRESS_H
#define RAVEL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
  int fd;       /* of the terminal; -1: do nothing */
  double start; /* seconds of the monotonic clock */
  double next;  /* when the line is due again */
  bool shown;   /* a line is on the terminal */
};

/* Begins a run. Later calls do nothing unless fd is a terminal. */
void progress_begin(struct progress *, int fd, double first);
/* Shows function, elapsed time, live and peak memory, if the run is longer than `first`
 * seconds and the line is due (five times a second). It is cheap enough to be called once per
 * instruction if fd >= 0. */
void progress_update(struct progress *, const char *function, uint64_t live, uint64_t peak);
/* Erases the line, before anything else is written. */
void progress_erase(struct progress *);
/* Erases the line at the end of a run; nothing is shown until the next one begins. */
void progress_end(struct progress *);

#endif
