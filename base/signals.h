/* signals.h - which signals the threads of a library leave to others. */
#ifndef RAVEL_SIGNALS_H
#define RAVEL_SIGNALS_H

#include <signal.h>

/* Returns all signals but those that a thread causes itself by what it executes, such as
 * reading memory of a mapped file that is gone. Where such a signal is blocked, it ends the
 * process without its handler. */
void signals_of_others(sigset_t *);

#endif
