/* stop.h - requests to end work early: a signal, a time limit, or a function that is asked.
 *
 * Long work polls a `struct stop`, at least every tenth of a second. Work that is asked to end
 * leaves no partial results: an arena jumps as if memory had run out (arena.h), an operation of
 * a back end fails with CVL_E_STOPPED. The caller of the work then polls again and reports the
 * reason. A request stays until stop_begin.
 */
#ifndef RAVEL_STOP_H
#define RAVEL_STOP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum stop_reason { STOP_NOT, STOP_TIME, STOP_SIGNAL };

struct stop {
  const atomic_int *signal;     /* number of the pending signal; 0: none. Or NULL */
  bool (*progress)(void *data); /* called by stop_asks on the thread of stop_begin, now and
                                   then; false asks for an end like a signal. Or NULL */
  void *progress_data;
  /* Set by stop_begin, and by stop_asks on its thread. */
  double deadline;     /* of stop_clock; 0: none */
  double seconds;      /* the time limit, for the message */
  double next;         /* when progress is called again */
  pthread_t thread;    /* the thread that calls it ... */
  bool begun;          /* ... if stop_begin has been called */
  atomic_bool refused; /* progress has returned false */
  /* Only in a process that works in step with others: */
  atomic_bool joint;
  atomic_int agreed; /* the reason on which all have agreed, enum stop_reason */
};

/* Returns the seconds of a monotonic clock. */
double stop_clock(void);
/* Starts the time limit; 0 seconds: none. From now on this thread calls progress. */
void stop_begin(struct stop *, double seconds);
/* Returns whether the work is to end, and why. NULL never asks. Any thread may call it. On that
 * of stop_begin it calls progress, at most every 0.05 s. */
enum stop_reason stop_asks(const struct stop *);
/* From now on processes end together: stop_asks returns only what stop_agree was given, on all
 * processes at the same step, until stop_begin. NULL is ignored. */
void stop_join(const struct stop *);
void stop_agree(const struct stop *, enum stop_reason);
/* Returns what stop_asks would return if this process were on its own. */
enum stop_reason stop_wants(const struct stop *);
/* Makes a stop for work that such a process does alone. It has the same request, and the other
 * processes need not agree. */
void stop_apart(struct stop *own, const struct stop *);
/* Returns whether the time limit has been over for so long and nothing was agreed on. */
bool stop_overdue(const struct stop *, double seconds);
/* Writes the reason as a message, which is empty if there is none. Calls nothing. */
void stop_describe(const struct stop *, char *text, size_t size);

#endif
