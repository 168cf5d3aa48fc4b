/* stop.c - see stop.h. */
#include "base/stop.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double stop_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void stop_begin(struct stop *stop, double seconds) {
  stop->seconds = seconds;
  stop->deadline = seconds > 0 ? stop_clock() + seconds : 0;
}

enum stop_reason stop_asks(const struct stop *stop) {
  if (!stop) return STOP_NOT;
  if (stop->signal && atomic_load_explicit(stop->signal, memory_order_relaxed) != 0)
    return STOP_SIGNAL;
  return stop->deadline > 0 && stop_clock() > stop->deadline ? STOP_TIME : STOP_NOT;
}

void stop_describe(const struct stop *stop, char *text, size_t size) {
  int number;
  switch (stop_asks(stop)) {
  case STOP_NOT: snprintf(text, size, "%s", ""); return;
  case STOP_TIME:
    snprintf(text, size, "the time limit of %g seconds is over", stop->seconds);
    return;
  case STOP_SIGNAL:
    number = *stop->signal;
    if (number == SIGINT) {
      snprintf(text, size, "interrupted");
    } else {
      snprintf(text, size, "ended by a signal: %s", strsignal(number));
    }
    return;
  }
}
