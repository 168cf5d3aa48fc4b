/* pool.c - the threads of a context.
 *
 * OpenMP is not used because gcc's runtime confuses ThreadSanitizer, and because a context must
 * own its threads; docs/internals/cpu.md compares them.
 *
 * One loop is open at a time. A worker joins it by counting itself in and then checking whether
 * the loop is still open. The caller closes the loop when no chunk is left, and waits for those
 * counted in. So a worker that wakes late finds the loop closed and nobody waits for it, and no
 * worker ever sees the fields of a loop change. Both sides write one flag and then read the
 * other's, hence sequential consistency (Dekker's argument).
 *
 * Chunks that need no order are distributed as contiguous ranges, one for each thread. A thread
 * that has finished its range takes chunks from the next thread's (Blumofe and Leiserson's
 * stealing, of one chunk at a time). So a thread reads in order, and reads in the next loop
 * what it wrote in this one.
 *
 * Waking a thread costs as much as a short loop. So sleepers are woken when the caller has
 * worked alone for a while, in this loop and those before it. A caller that computes little
 * wakes nobody, and waking costs little beside the loops that several threads execute. Threads
 * that still spin join at once.
 *
 * A loop may be asked to end: a thread checks this before it takes a chunk. A chunk that was
 * taken is finished, so that no chunk waits for ever for an earlier one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/processors.h"
#include "base/signals.h"
#include "cvl-cpu/cpu.h"

/* Rounds of waiting for workers between two looks at whether to end. Such a look takes about as
 * long. */
enum { ROUNDS_UNASKED = 1024 };
enum { LINE = 64 };

struct worker {
  struct pool *pool;
  pthread_t thread;
  unsigned number;
  /* The worker's range of the open loop, from which any thread takes: the first item not yet
   * taken, and the end of the range. */
  _Alignas(LINE) _Atomic uint64_t next;
  uint64_t end;
};

struct pool {
  struct heap *heap;
  unsigned threads;
  unsigned started; /* threads that run, without the caller */
  /* Rounds of one pause instruction (some 40 to 140 cycles) before an idle worker sleeps. The
   * default is about 30 microseconds. That is longer than a serial operation between two
   * parallel ones, and shorter than anything a person or a scheduler notices. 0 where threads
   * outnumber processors. */
  uint64_t spin;
  /* The open loop. The caller writes it while the loop is closed and no worker is counted
   * in. */
  pool_body *body;
  void *arg;
  uint64_t grain, chunks;
  /* In nanoseconds: how long the caller works alone before sleepers are woken, and how long it
   * has done so. `begun` is when it would have begun if it had worked without a pause. */
  uint64_t wake_after, alone, begun;
  bool may_wake; /* sleepers have not been woken for the open loop */
  struct cvl_stop stop;
  _Atomic bool stopped;                   /* whether the open loop was asked to end */
  _Alignas(LINE) _Atomic uint64_t ticket; /* counts from 2; odd while a loop is open */
  _Alignas(LINE) _Atomic unsigned joined;
  _Alignas(LINE) _Atomic unsigned sleepers;
  _Atomic bool quit;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  struct worker workers[]; /* one for each thread; the first is the caller */
};

bool pool_asked(struct pool *p) {
  if (atomic_load_explicit(&p->stopped, memory_order_relaxed)) return true;
  if (!p->stop.asks || !p->stop.asks(p->stop.with)) return false;
  atomic_store_explicit(&p->stopped, true, memory_order_relaxed);
  return true;
}

void pool_set_stop(struct pool *p, struct cvl_stop stop) {
  p->stop = stop;
}

uint64_t pool_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Wakes as many sleepers as there are chunks for, besides the caller's. */
static void wake_sleepers(struct pool *p) {
  const unsigned sleepers = atomic_load(&p->sleepers);
  p->may_wake = false;
  p->alone = 0;
  if (sleepers == 0) return;
  pthread_mutex_lock(&p->lock);
  if (p->chunks > sleepers) {
    pthread_cond_broadcast(&p->wake);
  } else {
    for (uint64_t i = 1; i < p->chunks; i++) pthread_cond_signal(&p->wake);
  }
  pthread_mutex_unlock(&p->lock);
}

/* Called between two chunks of the caller. Wakes sleepers if the loop takes long. */
static void wake_if_long(struct pool *p) {
  if (p->may_wake && pool_clock() - p->begun >= p->wake_after) wake_sleepers(p);
}

/* Begins to measure the caller's work, or ends it. Items that are distributed one by one are
 * long: each is worth a thread. */
static void begin_waking(struct pool *p) {
  if (atomic_load(&p->sleepers) == 0) {
    p->alone = 0;
    return;
  }
  p->may_wake = true;
  if (p->grain == 1 || p->alone >= p->wake_after) {
    wake_sleepers(p);
  } else {
    p->begun = pool_clock() - p->alone;
  }
}

static void end_waking(struct pool *p) {
  if (p->may_wake) p->alone = pool_clock() - p->begun;
  p->may_wake = false;
}

static void pool_take_range(struct pool *p, struct worker *from, unsigned worker) {
  const uint64_t end = from->end, grain = p->grain;
  while (atomic_load_explicit(&from->next, memory_order_relaxed) < end) {
    if (pool_asked(p)) return;
    const uint64_t first = atomic_fetch_add_explicit(&from->next, grain, memory_order_relaxed);
    if (first >= end) return;
    p->body(p->arg, first, end - first < grain ? end : first + grain, worker);
    if (worker == 0) wake_if_long(p);
  }
}

static void take_chunks(struct pool *p, unsigned worker) {
  for (unsigned i = worker; i <= p->started; i++) pool_take_range(p, &p->workers[i], worker);
  for (unsigned i = 0; i < worker; i++) pool_take_range(p, &p->workers[i], worker);
}

/* Waits until a loop other than `seen` opens. Returns its ticket, or 0 to quit. */
static uint64_t await_loop(struct pool *p, uint64_t seen) {
  for (uint64_t round = 0; round < p->spin; round++) {
    const uint64_t now = atomic_load_explicit(&p->ticket, memory_order_relaxed);
    if ((now & 1) && now != seen) return now;
    if (atomic_load_explicit(&p->quit, memory_order_relaxed)) return 0;
    pause_briefly();
  }
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleepers, 1);
  uint64_t now;
  for (;;) {
    now = atomic_load(&p->ticket);
    if (atomic_load(&p->quit)) now = 0;
    if (now == 0 || ((now & 1) && now != seen)) break;
    pthread_cond_wait(&p->wake, &p->lock);
  }
  atomic_fetch_sub(&p->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
  return now;
}

static void *worker_main(void *arg) {
  const struct worker *w = arg;
  struct pool *p = w->pool;
  uint64_t seen = 0;
  while ((seen = await_loop(p, seen)) != 0) {
    atomic_fetch_add(&p->joined, 1);
    /* By now another loop than `seen` may be open, which serves as well. */
    const uint64_t now = atomic_load(&p->ticket);
    if (now & 1) {
      take_chunks(p, w->number);
      seen = now;
    }
    atomic_fetch_sub(&p->joined, 1);
  }
  return NULL;
}

/* Distributes the chunks to the first threads, as so many ranges. Chunks left over go to the
 * first of them, one each. */
static void distribute_items(struct pool *p, uint64_t items, unsigned ranges) {
  const uint64_t chunks = p->chunks;
  uint64_t begin = 0;
  for (unsigned i = 0; i <= p->started; i++) {
    const uint64_t dealt = i < ranges ? chunks / ranges + (i < chunks % ranges) : 0;
    const uint64_t left = items - begin;
    struct worker *w = &p->workers[i];
    atomic_store_explicit(&w->next, begin, memory_order_relaxed);
    begin += dealt * p->grain < left ? dealt * p->grain : left;
    w->end = begin;
  }
}

/* Waits for the chunks that the workers have taken. It asks whether to end, since that may have
 * to happen on this thread. */
static void await_workers(struct pool *p) {
  for (unsigned round = 1; atomic_load(&p->joined) != 0; round++) {
    pause_briefly();
    if (round % ROUNDS_UNASKED == 0) (void)pool_asked(p);
  }
}

static bool was_done(const struct pool *p) {
  return !atomic_load_explicit(&p->stopped, memory_order_relaxed);
}

static bool run_loop(struct pool *p, uint64_t items, uint64_t grain, bool in_order,
                     pool_body *body, void *arg) {
  if (items == 0) return true;
  atomic_store_explicit(&p->stopped, false, memory_order_relaxed);
  if (items <= grain) {
    body(arg, 0, items, 0);
    return was_done(p);
  }
  p->body = body;
  p->arg = arg;
  p->grain = grain;
  p->chunks = (items + grain - 1) / grain;
  distribute_items(p, items, in_order ? 1 : p->started + 1);
  if (p->started == 0) {
    take_chunks(p, 0);
    return was_done(p);
  }
  atomic_fetch_add(&p->ticket, 1); /* opens the loop */
  begin_waking(p);
  take_chunks(p, 0);
  end_waking(p);
  atomic_fetch_add(&p->ticket, 1); /* closes the loop */
  await_workers(p);
  return was_done(p);
}

bool pool_for(struct pool *p, uint64_t items, uint64_t grain, pool_body *body, void *arg) {
  return run_loop(p, items, grain, false, body, arg);
}

bool pool_for_in_order(struct pool *p, uint64_t items, uint64_t grain, pool_body *body,
                       void *arg) {
  return run_loop(p, items, grain, true, body, arg);
}

static size_t pool_bytes(unsigned threads) {
  return sizeof(struct pool) + threads * sizeof(struct worker);
}

/* Starts the workers. They block signals, which are for the threads that wait for them: a
 * signal that a worker took would not end the read or the sleep that it is meant to end. */
static bool start_workers(struct pool *p) {
  /* The size is independent of the process's limit. Bodies take some 100 KB, but recursion of
   * native code takes half of what there is. */
  enum { STACK_BYTES = 8 << 20 };
  sigset_t all, before;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  signals_of_others(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool good = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0;
  while (good && p->started + 1 < p->threads) {
    struct worker *w = &p->workers[p->started + 1];
    w->pool = p;
    w->number = p->started + 1;
    good = pthread_create(&w->thread, &attributes, worker_main, w) == 0;
    p->started += good;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return good;
}

struct pool *pool_new(struct heap *heap, unsigned threads, uint64_t spin, uint64_t wake_after) {
  const unsigned processors = processors_available();
  if (threads == 0) threads = processors;
  struct pool *p = heap_alloc(heap, pool_bytes(threads));
  if (!p) return NULL;
  p->heap = heap;
  p->threads = threads;
  p->started = 0;
  p->wake_after = 1000 * wake_after;
  p->alone = 0;
  p->may_wake = false;
  p->stop = (struct cvl_stop){0};
  atomic_init(&p->stopped, false);
  p->spin = processors >= threads ? spin : 0;
  for (unsigned i = 0; i < threads; i++) atomic_init(&p->workers[i].next, 0);
  atomic_init(&p->ticket, 2); /* 0 means quit */
  atomic_init(&p->joined, 0);
  atomic_init(&p->sleepers, 0);
  atomic_init(&p->quit, false);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  if (!start_workers(p)) {
    pool_free(p);
    return NULL;
  }
  return p;
}

void pool_free(struct pool *p) {
  if (!p) return;
  atomic_store(&p->quit, true);
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  for (unsigned i = 1; i <= p->started; i++) pthread_join(p->workers[i].thread, NULL);
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  heap_free(p->heap, p, pool_bytes(p->threads));
}

unsigned pool_threads(const struct pool *p) {
  return p->threads;
}
