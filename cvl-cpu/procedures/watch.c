/* watch.c - a thread that asks whether batch calls are to end while native code executes them,
 * which may take any time and asks nobody.
 *
 * Beginning and ending a call costs no system call. The thread looks a hundred times a second
 * for calls. If there have been none for a while it sleeps until there is one.
 */
#include "cvl-cpu/procedures/private.h"

#include <signal.h>
#include <time.h>

#include "base/signals.h"

enum { PERIOD_NS = 10000000, IDLE_PERIODS = 50 };

struct procedure_watch {
  struct heap *heap;
  struct cvl_stop stop;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  struct procedure_watched *calls; /* that are being executed */
  bool sleeps, quit;
};

uint64_t procedure_watch_periods(double seconds) {
  return seconds > 0 ? 1 + (uint64_t)(seconds * 1e9 / PERIOD_NS) : 0;
}

/* Asks, if there is a call. A request is for all that are being executed. Some end after a time
 * in any case. */
static void watch_look(struct procedure_watch *w) {
  const bool asks = w->calls && w->stop.asks && w->stop.asks(w->stop.with);
  for (struct procedure_watched *call = w->calls; call; call = call->next) {
    const bool late = call->periods > 0 && --call->periods == 0;
    if (asks) atomic_store(&call->asked, true);
    if (asks || late) scheduler_stop(call->scheduler);
  }
}

static void watch_pause(struct procedure_watch *w) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += PERIOD_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void *watch_main(void *arg) {
  struct procedure_watch *w = arg;
  unsigned idle = 0;
  pthread_mutex_lock(&w->lock);
  while (!w->quit) {
    idle = w->calls ? 0 : idle + 1;
    w->sleeps = idle > IDLE_PERIODS;
    if (w->sleeps) {
      pthread_cond_wait(&w->wake, &w->lock);
      idle = 0;
    } else {
      watch_pause(w);
    }
    watch_look(w);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

static bool watch_start(struct procedure_watch *w) {
  pthread_condattr_t attributes;
  sigset_t all, before;
  if (pthread_mutex_init(&w->lock, NULL) != 0) return false;
  if (pthread_condattr_init(&attributes) != 0) return false;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  bool good = pthread_cond_init(&w->wake, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  signals_of_others(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  good = good && pthread_create(&w->thread, NULL, watch_main, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return good;
}

/* Without a watch, requests are seen only between ranges of instances. */
void procedure_watch_new(struct cvl_context *c) {
  if (c->watch) return;
  struct procedure_watch *w = heap_alloc(c->heap, sizeof *w);
  if (!w) return;
  *w = (struct procedure_watch){.heap = c->heap, .stop = c->stop};
  if (watch_start(w)) {
    c->watch = w;
  } else {
    heap_free(c->heap, w, sizeof *w);
  }
}

void procedure_watch_free(struct cvl_context *c) {
  struct procedure_watch *w = c->watch;
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->quit = true;
  pthread_cond_signal(&w->wake);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  pthread_cond_destroy(&w->wake);
  pthread_mutex_destroy(&w->lock);
  heap_free(w->heap, w, sizeof *w);
  c->watch = NULL;
}

static struct procedure_watch *watch_of(const struct cvl_context *c) {
  return c->parent ? c->parent->watch : c->watch;
}

void procedure_watch_begin(struct cvl_context *c, struct procedure_watched *call) {
  struct procedure_watch *w = watch_of(c);
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  call->next = w->calls;
  w->calls = call;
  if (w->sleeps) pthread_cond_signal(&w->wake);
  pthread_mutex_unlock(&w->lock);
}

void procedure_watch_end(struct cvl_context *c, struct procedure_watched *call) {
  struct procedure_watch *w = watch_of(c);
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  struct procedure_watched **at = &w->calls;
  while (*at != call) at = &(*at)->next;
  *at = call->next;
  pthread_mutex_unlock(&w->lock);
}
