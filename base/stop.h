/* stop.h - who may want work to end before it is done: a signal, or a limit of time.
 *
 * Whoever works long is given a `struct stop` and asks it now and then, so often that a tenth
 * of a second passes at most. What is asked to end leaves nothing half done behind: an arena
 * jumps as if memory had run out (arena.h), an operation of a back end fails with
 * CVL_E_STOPPED. Whoever began the work then asks again, and says why. Once it asks, it asks
 * until it is begun anew.
 */
#ifndef RAVEL_STOP_H
#define RAVEL_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum stop_reason { STOP_NOT, STOP_TIME, STOP_SIGNAL };

struct stop {
  const atomic_int *signal; /* number of the signal that asks; 0: none. Or NULL */
  double deadline;          /* of stop_clock; 0: none */
  double seconds;           /* what the limit of time was, for the message */
};

/* Seconds of a clock that only goes on. */
double stop_clock(void);
/* The limit of time begins now; 0 seconds: there is none. */
void stop_begin(struct stop *, double seconds);
/* Whether the work is to end, and why. NULL never asks. May be called by any thread. */
enum stop_reason stop_asks(const struct stop *);
/* The reason as a message; empty if there is none. */
void stop_describe(const struct stop *, char *text, size_t size);

#endif
