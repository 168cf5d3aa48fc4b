/* test-pool.c - the thread pool: every item is done once, chunks are in order or distributed,
 * loops are back to back, and workers sleep between loops. It is meant to run under
 * ThreadSanitizer as well. */
#include <criterion/criterion.h>
#include <sched.h>
#include <time.h>

#include "cvl-cpu/cpu.h"

enum { ITEMS = 10000, SPIN = 500, WAKE = 20 };

struct tally {
  unsigned char seen[ITEMS]; /* not atomic: two threads on one item are a race */
  _Atomic uint64_t items, chunks;
  _Atomic bool out_of_order;
  uint64_t grain;
};

static void tally_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct tally *t = arg;
  (void)worker;
  cr_assert_eq(first % t->grain, 0);
  cr_assert_leq(last - first, t->grain);
  for (uint64_t i = first; i < last; i++) t->seen[i]++;
  atomic_fetch_add(&t->items, last - first);
  atomic_fetch_add(&t->chunks, 1);
}

typedef bool pool_loop(struct pool *, uint64_t, uint64_t, pool_body *, void *);

static void check_loop(pool_loop *loop, struct pool *p, uint64_t items, uint64_t grain) {
  struct tally *t = calloc(1, sizeof *t);
  t->grain = grain;
  cr_assert(loop(p, items, grain, tally_chunk, t));
  cr_assert_eq(t->items, items);
  cr_assert_eq(t->chunks, (items + grain - 1) / grain);
  for (uint64_t i = 0; i < ITEMS; i++) cr_assert_eq(t->seen[i], i < items, "item %d", (int)i);
  free(t);
}

Test(pool, takes_every_item_once) {
  for (unsigned threads = 1; threads <= 5; threads++) {
    struct heap h;
    heap_init(&h, 0);
    struct pool *p = pool_new(&h, threads, SPIN, WAKE);
    cr_assert_not_null(p);
    cr_assert_eq(pool_threads(p), threads);
    const uint64_t items[] = {0, 1, 2, 63, 64, 65, 1000, ITEMS};
    const uint64_t grains[] = {1, 7, 64, 5000, 20000};
    for (int i = 0; i < 8; i++) {
      for (int g = 0; g < 5; g++) {
        check_loop(pool_for, p, items[i], grains[g]);
        check_loop(pool_for_in_order, p, items[i], grains[g]);
      }
    }
    pool_free(p);
    cr_assert_eq(h.live, 0);
  }
}

static void add_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  _Atomic uint64_t *sum = arg;
  (void)worker;
  atomic_fetch_add(sum, last - first);
}

/* The loops have different bodies and arguments, so that a worker that mixed up two loops would
 * show. */
Test(pool, runs_loops_back_to_back) {
  struct heap h;
  heap_init(&h, 0);
  struct pool *p = pool_new(&h, 4, SPIN, WAKE);
  for (int round = 0; round < 3000; round++) {
    _Atomic uint64_t even = 0, odd = 0;
    cr_assert(pool_for(p, 100, 9, add_chunk, &even));
    cr_assert(pool_for(p, 77, 5, add_chunk, &odd));
    cr_assert_eq(even, 100);
    cr_assert_eq(odd, 77);
  }
  pool_free(p);
}

Test(pool, has_by_default_a_thread_for_each_processor_of_the_mask) {
  struct heap h;
  cpu_set_t set, one;
  heap_init(&h, 0);
  cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
  CPU_ZERO(&one);
  for (int k = 0; CPU_COUNT(&one) == 0; k++) {
    if (CPU_ISSET(k, &set)) CPU_SET(k, &one);
  }
  cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
  struct pool *p = pool_new(&h, 0, SPIN, WAKE);
  cr_expect_eq(pool_threads(p), 1);
  pool_free(p);
}

Test(pool, wakes_sleepers) {
  struct heap h;
  heap_init(&h, 0);
  struct pool *p = pool_new(&h, 3, SPIN, WAKE);
  for (int round = 0; round < 20; round++) {
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    check_loop(pool_for, p, ITEMS, 50);
  }
  pool_free(p);
}

/* Each chunk waits until two threads are inside, so it ends only if a worker really joins. */
static void meet_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  _Atomic unsigned *inside = arg;
  (void)first, (void)last, (void)worker;
  atomic_fetch_add(inside, 1);
  const time_t start = time(NULL);
  while (atomic_load(inside) < 2) {
    if (time(NULL) - start > 300) return;
  }
}

Test(pool, workers_do_join) {
  struct heap h;
  heap_init(&h, 0);
  struct pool *p = pool_new(&h, 2, SPIN, WAKE);
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* the worker sleeps by now */
  _Atomic unsigned inside = 0;
  const time_t start = time(NULL);
  cr_assert(pool_for(p, 2, 1, meet_chunk, &inside));
  cr_assert_lt(time(NULL) - start, 300);
  pool_free(p);
}

/* Notes whether a thread other than the caller takes a chunk; each takes 20 microseconds. */
static void helped_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  _Atomic bool *helped = arg;
  struct timespec begun, now;
  (void)first, (void)last;
  if (worker != 0) atomic_store(helped, true);
  clock_gettime(CLOCK_MONOTONIC, &begun);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < 20000);
}

/* Whether any thread joins so many loops of four chunks, between which all go to sleep. */
static bool is_helped(uint64_t wake_after, int loops) {
  struct heap h;
  heap_init(&h, 0);
  struct pool *p = pool_new(&h, 3, 1, wake_after);
  _Atomic bool helped = false;
  for (int k = 0; k < loops && !helped; k++) {
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    cr_assert(pool_for(p, 4 * 9, 9, helped_chunk, &helped));
  }
  pool_free(p);
  return helped;
}

/* The caller would have to work alone for a second. */
Test(pool, little_work_wakes_nobody) {
  cr_assert(!is_helped(1000000, 20));
}

/* Each loop takes less than 0.4 milliseconds, some of them more. */
Test(pool, work_of_several_loops_adds_up) {
  cr_assert(is_helped(400, 2000));
}

/* Runs a loop in a pool of its own. */
static void run_on(unsigned threads, pool_loop *loop, uint64_t items, uint64_t grain,
                   pool_body *body, void *arg) {
  struct heap h;
  heap_init(&h, 0);
  struct pool *p = pool_new(&h, threads, SPIN, WAKE);
  loop(p, items, grain, body, arg);
  pool_free(p);
  cr_assert_eq(h.live, 0);
}

static void pool_order_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct tally *t = arg;
  (void)last, (void)worker;
  /* Chunks are taken in increasing order: one thread never gets an earlier chunk after a later
   * one. */
  static _Thread_local uint64_t latest;
  if (first && first < latest) t->out_of_order = true;
  latest = first;
}

Test(pool, hands_out_chunks_in_increasing_order_if_asked) {
  struct tally *t = calloc(1, sizeof *t);
  run_on(3, pool_for_in_order, ITEMS, 3, pool_order_chunk, t);
  cr_assert_not(t->out_of_order);
  free(t);
}

/* The chunks that two threads begin with. The threads wait for each other there. */
struct beginnings {
  _Atomic unsigned inside, count;
  uint64_t first[4];
};

static void begin_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct beginnings *b = arg;
  (void)last, (void)worker;
  b->first[atomic_fetch_add(&b->count, 1)] = first;
  meet_chunk(&b->inside, 0, 0, 0);
}

Test(pool, gives_neighbours_to_one_thread) {
  struct beginnings b = {0};
  run_on(2, pool_for, 4, 1, begin_chunk, &b);
  cr_assert_eq(b.count, 4);
  cr_assert_eq(b.first[0] + b.first[1], 2); /* 0 and 2, not 0 and 1 */
}

/* A thread that is done takes chunks from others: the caller waits in its first chunk for all
 * the others; or the other thread does, if it took even that before the caller began. */
struct theft {
  _Atomic uint64_t done;
  _Atomic unsigned stolen;
  _Atomic bool all;
};

static void theft_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct theft *t = arg;
  (void)last;
  const time_t start = time(NULL);
  if (first == 0) t->all = worker == 1;
  while (first == 0 && t->done < 9 && time(NULL) - start <= 300) continue;
  if (first > 0 && first < 5 && worker == 1) t->stolen++;
  t->done++;
}

Test(pool, takes_what_others_have_left) {
  struct theft t = {0};
  run_on(2, pool_for, 10, 1, theft_chunk, &t);
  cr_assert_eq(t.done, 10);
  cr_assert(t.stolen == 4 || t.all, "%u", t.stolen);
}

Test(pool, fails_without_memory) {
  struct heap h;
  heap_init(&h, 16);
  cr_assert_null(pool_new(&h, 2, SPIN, WAKE));
}

/* ---- ends ---- */

struct ending {
  _Atomic uint64_t looks, begun, ended;
  uint64_t from;
  _Atomic uint64_t highest; /* end of the last chunk that was begun */
};

static bool ends(void *ending) {
  struct ending *e = ending;
  return atomic_fetch_add(&e->looks, 1) + 1 >= e->from;
}

static void ending_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct ending *e = arg;
  (void)first;
  (void)worker;
  atomic_fetch_add(&e->begun, 1);
  uint64_t seen = e->highest;
  while (last > seen && !atomic_compare_exchange_weak(&e->highest, &seen, last)) {
  }
  atomic_fetch_add(&e->ended, 1);
}

/* If the end is requested at some look, no more chunks are begun than there were looks before
 * it. Each is finished, and they are consecutive. */
Test(pool, loops_end_when_they_are_asked_to) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (uint64_t from = 1; from < 120; from += 7) {
      struct heap h;
      heap_init(&h, 0);
      struct pool *p = pool_new(&h, threads, SPIN, WAKE);
      struct ending e = {.from = from};
      pool_set_stop(p, (struct cvl_stop){ends, &e});
      const bool done = pool_for_in_order(p, 100, 1, ending_chunk, &e);
      cr_assert_eq(done, from > 100, "%u threads, from %d", threads, (int)from);
      cr_assert_eq(e.begun, e.ended);
      cr_assert_eq(e.begun, from > 100 ? 100 : from - 1);
      cr_assert_eq(e.highest, e.begun);
      pool_set_stop(p, (struct cvl_stop){0});
      check_loop(pool_for, p, ITEMS, 50);
      pool_free(p);
    }
  }
}
