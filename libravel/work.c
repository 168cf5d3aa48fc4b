/* work.c - runs the compiler, guarded against lack of memory, on a stack that is large enough.
 */
#include "base/signals.h"
#include "libravel/private.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum ravel_code ravel_guarded(struct ravel_context *c, ravel_work *work, void *data) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return ravel_fail_memory(c);
  const enum ravel_code code = work(c, data);
  memory_guard_end(&guard);
  return code;
}

enum ravel_code ravel_in_form(struct ravel_context *c, ravel_work *work, void *data) {
  session_collect(c->session);
  struct region *region = session_begin_form(c->session);
  if (!region) return ravel_fail_memory(c);
  const enum ravel_code code = ravel_guarded(c, work, data);
  session_end_form(c->session, region);
  return code;
}

struct deep {
  struct ravel_context *c;
  ravel_work *work;
  void *data;
  enum ravel_code code;
};

static void *work_deep(void *deep) {
  struct deep *d = deep;
  d->code = ravel_guarded(d->c, d->work, d->data);
  return NULL;
}

/* Stacks are cheap: only the pages that are used take memory. Signals are for other threads. */
static bool begin_thread(struct deep *d, pthread_t *thread) {
  const size_t bytes = (size_t)64 << 20;
  pthread_attr_t attributes;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0) return false;
  signals_of_others(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const bool begun = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                     pthread_create(thread, &attributes, work_deep, d) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return begun;
}

static bool joined_soon(pthread_t thread) {
  enum { NANOSECONDS = 20000000, SECOND = 1000000000 };
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += NANOSECONDS;
  end.tv_sec += end.tv_nsec / SECOND;
  end.tv_nsec %= SECOND;
  return pthread_timedjoin_np(thread, NULL, &end) == 0;
}

enum ravel_code ravel_deep(struct ravel_context *c, ravel_work *work, void *data) {
  struct deep d = {.c = c, .work = work, .data = data};
  pthread_t thread;
  if (c->deep) return ravel_guarded(c, work, data);
  stop_begin(&c->stop, c->options.seconds);
  c->deep = true;
  if (!begin_thread(&d, &thread)) {
    work_deep(&d); /* on this stack, then */
  } else if (!c->progress) {
    pthread_join(thread, NULL);
  } else {
    while (!joined_soon(thread)) (void)stop_asks(&c->stop); /* calls progress */
  }
  c->deep = false;
  return d.code;
}
