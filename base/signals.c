/* signals.c - see signals.h. */
#include "base/signals.h"

void signals_of_others(sigset_t *set) {
  static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
  sigfillset(set);
  for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(set, own[i]);
}
