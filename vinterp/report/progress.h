/* progress.h - a status line on a terminal while a long run goes on. */
#ifndef RAVEL_PROGRESS_H
#define RAVEL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
  int fd;       /* of the terminal; -1: do nothing */
  double start; /* seconds of the monotonic clock */
  double next;  /* when the line is due again */
  bool shown;   /* a line stands on the terminal */
};

/* Begins a run; does nothing later unless fd is a terminal. */
void progress_begin(struct progress *, int fd, double first);
/* Shows function, elapsed time, live and peak memory if the run is longer than `first` seconds
 * and the line is due (five times a second). Cheap enough to call once per instruction when fd
 * >= 0. */
void progress_update(struct progress *, const char *function, uint64_t live, uint64_t peak);
/* Takes the line away: before anything else is written. */
void progress_erase(struct progress *);
/* The same at the end of a run: nothing is shown until the next one begins. */
void progress_end(struct progress *);

#endif
