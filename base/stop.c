/* stop.c - see stop.h. */
#include "base/stop.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double progress_seconds = 0.05;

static double seconds_of_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double stop_clock(void) {
  return seconds_of_clock(CLOCK_MONOTONIC);
}

/* Returns stop_clock's time, some milliseconds old, in a quarter of the time. */
static double coarse_clock(void) {
  return seconds_of_clock(CLOCK_MONOTONIC_COARSE);
}

void stop_begin(struct stop *stop, double seconds) {
  stop->seconds = seconds;
  stop->deadline = seconds > 0 ? stop_clock() + seconds : 0;
  stop->next = coarse_clock() + progress_seconds;
  stop->thread = pthread_self();
  stop->begun = true;
  atomic_store(&stop->refused, false);
  atomic_store(&stop->agreed, STOP_NOT);
}

/* stop_begin was given the struct without const: callers pass it on to code that only asks. */
static struct stop *own_stop(const struct stop *stop) {
  return (struct stop *)(uintptr_t)stop;
}

/* Calls progress if it is due and this is its thread. */
static void call_progress(const struct stop *asked) {
  if (!asked->begun || !pthread_equal(asked->thread, pthread_self())) return;
  if (coarse_clock() < asked->next) return;
  struct stop *stop = own_stop(asked);
  if (!stop->progress(stop->progress_data)) atomic_store(&stop->refused, true);
  stop->next = coarse_clock() + progress_seconds;
}

static bool is_joint(const struct stop *stop) {
  return atomic_load_explicit(&stop->joint, memory_order_relaxed);
}

static enum stop_reason agreed_by_all(const struct stop *stop) {
  return (enum stop_reason)atomic_load_explicit(&stop->agreed, memory_order_relaxed);
}

/* Returns the reason that this process alone has. */
static enum stop_reason own_reason(const struct stop *stop) {
  if (stop->signal && atomic_load_explicit(stop->signal, memory_order_relaxed) != 0)
    return STOP_SIGNAL;
  if (atomic_load_explicit(&stop->refused, memory_order_relaxed)) return STOP_SIGNAL;
  return stop->deadline > 0 && stop_clock() > stop->deadline ? STOP_TIME : STOP_NOT;
}

enum stop_reason stop_asks(const struct stop *stop) {
  return stop && is_joint(stop) ? agreed_by_all(stop) : stop_wants(stop);
}

void stop_join(const struct stop *stop) {
  if (stop) atomic_store(&own_stop(stop)->joint, true);
}

void stop_agree(const struct stop *stop, enum stop_reason reason) {
  atomic_store(&own_stop(stop)->agreed, (int)reason);
}

void stop_apart(struct stop *apart, const struct stop *stop) {
  *apart = (struct stop){.signal = stop->signal,
                         .progress = stop->progress,
                         .progress_data = stop->progress_data,
                         .deadline = stop->deadline,
                         .seconds = stop->seconds,
                         .next = stop->next,
                         .thread = stop->thread,
                         .begun = stop->begun};
}

bool stop_overdue(const struct stop *stop, double seconds) {
  return stop && is_joint(stop) && agreed_by_all(stop) == STOP_NOT && stop->deadline > 0 &&
         stop_clock() > stop->deadline + seconds;
}

enum stop_reason stop_wants(const struct stop *stop) {
  if (!stop) return STOP_NOT;
  enum stop_reason reason = own_reason(stop);
  if (!stop->progress || reason != STOP_NOT) return reason;
  call_progress(stop);
  return own_reason(stop);
}

void stop_describe(const struct stop *stop, char *text, size_t size) {
  int number;
  switch (!stop ? STOP_NOT : is_joint(stop) ? agreed_by_all(stop) : own_reason(stop)) {
  case STOP_NOT: snprintf(text, size, "%s", ""); return;
  case STOP_TIME:
    snprintf(text, size, "the time limit of %g seconds is over", stop->seconds);
    return;
  case STOP_SIGNAL:
    number = stop->signal ? atomic_load(stop->signal) : 0;
    if (number == SIGINT || number == 0) {
      snprintf(text, size, "interrupted");
    } else {
      snprintf(text, size, "ended by a signal: %s", strsignal(number));
    }
    return;
  }
}
