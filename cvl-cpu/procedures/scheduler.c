/* scheduler.c - work that threads share while they execute a batch call by native code.
 *
 * A thread that has nothing to do waits, and asks for work by a bit that native code looks at
 * in every call. A thread that sees it makes a part of the outermost work that it has listed
 * (procedures/native.h), which is the largest as a rule, and offers it. When it gets to that
 * part itself, it executes the part if nobody has begun it. Else it waits, and meanwhile
 * executes parts of others. It cannot wait for itself: what a thread begins while it waits is
 * younger than what it waits for.
 *
 * So a program whose threads are all busy does nothing but look at a word that does not change.
 */
#include "cvl-cpu/procedures/private.h"

/* A part that was executed in less than SHORT_NS is short. A helper that has executed one does
 * not ask for work for as long: taking a part costs both threads a microsecond. A thread looks
 * SPINS times for work before it sleeps. */
enum { SHORT_NS = 20000, SPINS = 2000 };

enum part_state { PART_OFFERED, PART_BEGUN, PART_DONE };

/* A part, and behind it the pointers to its results. */
struct part {
  struct native_part native;
  struct part *next; /* among those that are offered */
  enum part_state state;
  bool good; /* once it is done: it has not given up */
  struct native_pooled *results[];
};

bool scheduler_init(struct procedure_scheduler *s, unsigned threads, uint64_t ranges) {
  *s = (struct procedure_scheduler){.most_listed = threads > 1 ? 4 * threads + 8 : 0,
                                    .ranges = ranges};
  if (pthread_mutex_init(&s->lock, NULL) != 0) return false;
  if (pthread_cond_init(&s->changed, NULL) == 0) return true;
  pthread_mutex_destroy(&s->lock);
  return false;
}

void scheduler_end(struct procedure_scheduler *s) {
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
}

void scheduler_stop(struct procedure_scheduler *s) {
  __atomic_fetch_or(&s->asks, NATIVE_STOP, __ATOMIC_SEQ_CST);
}

bool scheduler_stops(const struct procedure_scheduler *s) {
  return __atomic_load_n(&s->asks, __ATOMIC_SEQ_CST) & NATIVE_STOP;
}

/* ---- under the lock ---- */

/* Something has changed that threads may wait for. */
static void scheduler_changed(struct procedure_scheduler *s) {
  const bool hungry = s->waiting > s->offered_count;
  const bool asks = __atomic_load_n(&s->asks, __ATOMIC_RELAXED) & NATIVE_SHARE;
  if (hungry && !asks) __atomic_fetch_or(&s->asks, NATIVE_SHARE, __ATOMIC_RELAXED);
  if (!hungry && asks) __atomic_fetch_and(&s->asks, ~(uint32_t)NATIVE_SHARE, __ATOMIC_RELAXED);
  __atomic_fetch_add(&s->changes, 1, __ATOMIC_RELAXED);
  if (s->sleeping > 0) pthread_cond_broadcast(&s->changed);
}

/* Takes a part from the list of those that are offered. */
static void remove_offered(struct procedure_scheduler *s, struct part *part) {
  struct part **at = &s->offered;
  while (*at != part) at = &(*at)->next;
  *at = part->next;
  s->offered_count--;
}

/* ---- waiting ---- */

static void spin(const struct procedure_scheduler *s, uint32_t seen) {
  for (unsigned i = 0; i < SPINS; i++) {
    if (__atomic_load_n(&s->changes, __ATOMIC_RELAXED) != seen) return;
    pause_briefly();
  }
}

/* Waits, with the lock, until something changes, or for a shorter time; asks for work if it can
 * take some. */
static void await_change(struct procedure_scheduler *s, bool asks) {
  s->waiting += asks;
  scheduler_changed(s);
  const uint32_t seen = s->changes;
  pthread_mutex_unlock(&s->lock);
  spin(s, seen);
  pthread_mutex_lock(&s->lock);
  if (s->changes == seen) {
    s->sleeping++;
    pthread_cond_wait(&s->changed, &s->lock);
    s->sleeping--;
  }
  s->waiting -= asks;
  scheduler_changed(s);
}

/* ---- executing ---- */

static void give_results(struct procedure_worker *w, struct part *part, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) procedure_give_buffer(w, part->results[k]);
}

static bool execute_part(struct procedure_worker *w, struct part *part) {
  struct native_ahead *of = part->native.of;
  uint32_t taken = 0;
  for (; taken < of->result_count; taken++) {
    part->results[taken] = procedure_take_buffer(w);
    if (!part->results[taken]) break;
  }
  const bool good = taken == of->result_count && of->run(&w->native, of, part->native.first,
                                                         part->native.last, part->results);
  if (!good) give_results(w, part, taken);
  return good;
}

/* Executes a part, with the lock, which is given back meanwhile. Returns how long it took, in
 * nanoseconds. */
static uint64_t run_part(struct procedure_scheduler *s, struct procedure_worker *w,
                         struct part *part) {
  remove_offered(s, part);
  part->state = PART_BEGUN;
  scheduler_changed(s);
  pthread_mutex_unlock(&s->lock);
  const uint64_t begin = pool_clock();
  const bool good = execute_part(w, part);
  if (!good) scheduler_stop(s);
  const uint64_t taken = pool_clock() - begin;
  pthread_mutex_lock(&s->lock);
  part->good = good;
  part->state = PART_DONE;
  scheduler_changed(s);
  return taken;
}

/* ---- native code asks ---- */

static void worker_share(struct native_thread *r) {
  struct procedure_worker *w = r->with;
  struct procedure_scheduler *s = w->scheduler;
  struct native_ahead *of = r->outermost;
  struct part *part;
  pthread_mutex_lock(&s->lock);
  const bool wanted = s->waiting > s->offered_count;
  pthread_mutex_unlock(&s->lock);
  if (!wanted) return;
  const uint64_t bytes = sizeof(struct part) + of->result_count * sizeof part->results[0];
  part = r->allocate(r->with, bytes);
  if (!part) return;
  part->state = PART_OFFERED;
  part->next = NULL;
  native_divide(of, &part->native, bytes, part->results);
  pthread_mutex_lock(&s->lock);
  struct part **at = &s->offered;
  while (*at) at = &(*at)->next;
  *at = part;
  s->offered_count++;
  scheduler_changed(s);
  pthread_mutex_unlock(&s->lock);
}

static bool worker_join(struct native_thread *r, struct native_part *native) {
  struct procedure_worker *w = r->with;
  struct procedure_scheduler *s = w->scheduler;
  struct part *part = (struct part *)(void *)native;
  const bool helps = (uintptr_t)__builtin_frame_address(0) > w->helps_above;
  pthread_mutex_lock(&s->lock);
  while (part->state != PART_DONE) {
    if (part->state == PART_OFFERED)
      (void)run_part(s, w, part);
    else if (helps && s->offered)
      (void)run_part(s, w, s->offered);
    else
      await_change(s, helps);
  }
  pthread_mutex_unlock(&s->lock);
  return part->good;
}

void scheduler_adopt(struct procedure_scheduler *s, struct procedure_worker *w) {
  w->scheduler = s;
  w->native.asks = &s->asks;
  w->native.most_listed = s->most_listed;
  w->native.share = worker_share;
  w->native.join = worker_join;
}

/* ---- threads ---- */

void scheduler_range_done(struct procedure_scheduler *s) {
  pthread_mutex_lock(&s->lock);
  s->ranges--;
  scheduler_changed(s);
  pthread_mutex_unlock(&s->lock);
}

/* Leaves others alone for a while, with the lock, which is given back meanwhile. */
static void rest(struct procedure_scheduler *s) {
  pthread_mutex_unlock(&s->lock);
  const uint64_t end = pool_clock() + SHORT_NS;
  while (pool_clock() < end) pause_briefly();
  pthread_mutex_lock(&s->lock);
}

void scheduler_help(struct procedure_scheduler *s, struct procedure_worker *w) {
  pthread_mutex_lock(&s->lock);
  while (s->ranges > 0 && !scheduler_stops(s)) {
    if (!s->offered) {
      await_change(s, true);
      continue;
    }
    const uint64_t taken = run_part(s, w, s->offered);
    if (w->spans) procedure_note_span(w, 0, pool_clock() - taken);
    if (taken < SHORT_NS) rest(s);
  }
  pthread_mutex_unlock(&s->lock);
}
