/* test-memory.c - heap and arena: limits, accounts, failure on demand, the jump. */
#include "base/tests/memory.h"
#include "base/text.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

TestSuite(heap, .init = memory_begin, .fini = memory_end);
TestSuite(arena, .init = memory_begin, .fini = memory_end);
TestSuite(text, .init = memory_begin, .fini = memory_end);
TestSuite(guard, .init = memory_begin, .fini = memory_end);

Test(heap, counts_what_is_live_and_the_peak) {
  void *a = heap_alloc(&heap, 1000), *b = heap_alloc(&heap, 0);
  cr_assert(a != NULL && b != NULL);
  cr_expect_eq((uintptr_t)a % 64, 0);
  cr_expect_geq(heap.live, 1000);
  uint64_t most = heap.live;
  heap_free(&heap, a, 1000);
  heap_free(&heap, b, 0);
  heap_free(&heap, NULL, 77);
  cr_expect_eq(heap.live, 0);
  cr_expect_eq(heap.peak, most);
  cr_expect_eq(heap.count, 2);
}

Test(heap, a_limit_refuses_and_takes_nothing) {
  heap.limit = 4096;
  void *half = heap_alloc(&heap, 2048);
  cr_assert_not_null(half);
  cr_expect_null(heap_alloc(&heap, 4096));
  cr_expect_null(heap_alloc(&heap, SIZE_MAX));
  cr_expect_eq(heap.live, 2048);
  void *rest = heap_alloc(&heap, 2048);
  cr_expect_not_null(rest);
  heap_free(&heap, half, 2048);
  heap_free(&heap, rest, 2048);
}

Test(heap, the_chosen_allocation_fails) {
  heap.fail_at = 2;
  void *first = heap_alloc(&heap, 8), *second = heap_alloc(&heap, 8);
  void *third = heap_alloc(&heap, 8);
  cr_expect(first != NULL && second == NULL && third != NULL);
  heap_free(&heap, first, 8);
  heap_free(&heap, third, 8);
}

Test(heap, memory_from_elsewhere_counts_too) {
  heap.limit = 4096;
  cr_expect(heap_enter(&heap, 4096));
  cr_expect_eq(heap.live, 4096);
  cr_expect_null(heap_alloc(&heap, 64));
  cr_expect_not(heap_enter(&heap, 64));
  heap_leave(&heap, 4096);
  heap.fail_at = heap.count + 1;
  cr_expect_not(heap_enter(&heap, 64));
  cr_expect_eq(heap.failures, 3);
  cr_expect_eq(heap.live, 0);
}

Test(heap, growing_keeps_the_content_or_the_old_block) {
  char *text = heap_alloc(&heap, 4);
  memcpy(text, "abc", 4);
  text = heap_grow(&heap, text, 4, 100000);
  cr_assert_not_null(text);
  cr_expect_str_eq(text, "abc");
  heap.fail_at = heap.count + 1;
  cr_expect_null(heap_grow(&heap, text, 100000, 200000));
  cr_expect_str_eq(text, "abc");
  heap_free(&heap, text, 100000);
}

static void *churn(void *unused) {
  for (size_t i = 0; i < 20000; i++) heap_free(&heap, heap_alloc(&heap, i % 500), i % 500);
  return unused;
}

Test(heap, accounts_stay_right_between_threads) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, churn, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  cr_expect_eq(heap.live, 0);
  cr_expect_eq(heap.count, THREADS * 20000);
  cr_expect_leq(heap.peak, THREADS * 512);
}

Test(arena, gives_zeroed_aligned_memory_that_stays) {
  cr_expect_eq(heap.count, 0);
  unsigned char *blocks[500];
  for (size_t i = 0; i < 500; i++) {
    blocks[i] = arena_alloc(&arena, i * 7);
    cr_expect_eq((uintptr_t)blocks[i] % 16, 0);
    for (size_t k = 0; k < i * 7; k++) cr_assert_eq(blocks[i][k], 0);
    memset(blocks[i], (int)(i & 255), i * 7);
  }
  for (size_t i = 1; i < 500; i++) cr_expect_eq(blocks[i][i * 7 - 1], i & 255);
  cr_expect_leq(heap.count, 12, "blocks grow: %llu were asked for",
                (unsigned long long)heap.count);
  arena_free(&arena);
  cr_expect_eq(heap.live, 0);
  cr_expect_str_eq(arena_printf(&arena, "%d and %s", 7, "more"), "7 and more");
  cr_expect_str_eq(arena_copy(&arena, "abcdef", 3), "abc");
}

Test(arena, frees_what_came_after_a_mark) {
  const struct arena_point empty = arena_mark(&arena);
  char *kept = arena_copy(&arena, "kept", 4);
  const uint64_t live = heap.live;
  const struct arena_point mark = arena_mark(&arena);
  char *first = arena_alloc(&arena, 64);
  for (int i = 0; i < 1000; i++) arena_alloc(&arena, 100);
  cr_expect_gt(heap.live, live);
  arena_free_since(&arena, mark);
  cr_expect_eq(heap.live, live);
  cr_expect_str_eq(kept, "kept");
  cr_expect_eq(arena_alloc(&arena, 64), first, "the memory is not given out again");
  arena_free_since(&arena, empty);
}

Test(arena, arrays_grow_and_keep_their_items) {
  ARRAY(int) list = {0};
  for (int i = 0; i < 100000; i++) *array_push(&arena, &list) = i;
  cr_expect_eq(list.count, 100000);
  for (int i = 0; i < 100000; i++) cr_assert_eq(list.items[i], i);
}

/* Fills the arena until it fails; true if it did. */
static bool memory_jumps(size_t bytes) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) != 0) return true;
  for (int i = 0; i < 1000; i++) arena_alloc(&arena, bytes);
  memory_guard_end(&guard);
  return false;
}

Test(arena, out_of_memory_jumps) {
  heap.limit = 1 << 20;
  cr_expect_not(memory_jumps(100));
  cr_expect(memory_jumps(5000));
  cr_expect(memory_jumps(SIZE_MAX - 3));
  arena_free(&arena);
  cr_expect_eq(heap.live, 0);
  heap.fail_at = heap.count + 1;
  cr_expect(memory_jumps(1));
}

/* ---- text ---- */

Test(text, what_is_printed_is_there_after_a_flush) {
  struct text t, moved;
  cr_assert(text_begin(&t, &heap));
  cr_expect_str_eq(t.bytes, "");
  for (int i = 0; i < 10000; i++) fprintf(t.stream, "%d ", i % 10);
  cr_expect(text_flush(&t));
  cr_expect(t.length == 20000 && strlen(t.bytes) == 20000);
  cr_expect_eq(memcmp(t.bytes + 19996, "8 9 ", 5), 0);
  text_clear(&t);
  fputs("again", t.stream);
  cr_expect(text_end(&t));
  moved = t;
  cr_expect_str_eq(moved.bytes, "again");
  text_free(&moved);
}

Test(text, lack_of_memory_is_reported) {
  struct text t;
  heap.limit = 100;
  cr_expect(!text_begin(&t, &heap));
  text_free(&t);
  heap.limit = 100000;
  cr_assert(text_begin(&t, &heap));
  for (int i = 0; i < 100000; i++) fputs("1234567", t.stream);
  cr_expect(!text_flush(&t));
  fputs("more", t.stream);
  cr_expect(!text_flush(&t));
  cr_expect_leq(t.length, 100000);
  text_clear(&t);
  fputs("fits", t.stream);
  cr_expect(text_end(&t));
  cr_expect_str_eq(t.bytes, "fits");
  text_free(&t);
}

/* ---- guards ---- */

static bool reported, inner_ended;

/* Fails within two guards: the inner one cleans up and passes on. */
static void fails_twice(void) {
  struct memory_guard inner;
  memory_guard_begin(&inner);
  if (setjmp(inner.jump)) {
    inner_ended = true;
    memory_failed();
  }
  arena_alloc(&arena, SIZE_MAX - 3);
  memory_guard_end(&inner);
}

Test(guard, failures_go_to_the_innermost_and_on_to_those_around_it) {
  struct memory_guard outer;
  memory_guard_begin(&outer);
  if (setjmp(outer.jump) == 0) {
    cr_expect(memory_jumps(SIZE_MAX - 3)); /* a guard of its own, which has ended */
    fails_twice();
    cr_expect_fail("nothing failed");
  } else {
    reported = true;
  }
  cr_expect(inner_ended);
  cr_expect(reported);
}

/* Each thread has its own guards: a failure of one never goes to another's. */
static void *fail_elsewhere(void *answer) {
  return memory_jumps(SIZE_MAX - 3) ? answer : NULL;
}

Test(guard, each_thread_has_its_own) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) cr_assert_fail("the other thread's failure came here");
  pthread_t thread;
  void *failed = NULL;
  cr_assert_eq(pthread_create(&thread, NULL, fail_elsewhere, &arena), 0);
  pthread_join(thread, &failed);
  cr_expect_eq(failed, &arena);
  memory_guard_end(&guard);
}

Test(guard, without_one_the_process_ends, .signal = SIGABRT) {
  arena_alloc(&arena, SIZE_MAX - 3);
}

/* ---- work that is asked to end ---- */

static bool rounds_jump(void) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) != 0) return true;
  for (int i = 0; i < 10000; i++) arena_poll(&arena);
  memory_guard_end(&guard);
  return false;
}

Test(arena, jumps_when_it_is_asked_to_end) {
  atomic_int signal = 0;
  struct stop stop = {.signal = &signal};
  heap.stop = &stop;
  stop_begin(&stop, 1e6);
  cr_expect_not(memory_jumps(5000));
  cr_expect_not(rounds_jump());
  signal = 2;
  cr_expect(memory_jumps(5000));
  cr_expect(rounds_jump());
  signal = 0;
  stop_begin(&stop, 1e-9);
  while (stop_asks(&stop) == STOP_NOT) {
  }
  cr_expect(memory_jumps(5000));
  cr_expect(rounds_jump());
  heap.stop = NULL;
  cr_expect_not(memory_jumps(5000));
}

Test(stop, says_why) {
  char text[100];
  atomic_int signal = 0;
  struct stop stop = {.signal = &signal};
  cr_expect_eq(stop_asks(NULL), STOP_NOT);
  stop_begin(&stop, 0);
  cr_expect_eq(stop_asks(&stop), STOP_NOT);
  stop_describe(&stop, text, sizeof text);
  cr_expect_str_eq(text, "");
  stop_begin(&stop, 1e-9);
  while (stop_asks(&stop) == STOP_NOT) {
  }
  cr_expect_eq(stop_asks(&stop), STOP_TIME);
  stop_describe(&stop, text, sizeof text);
  cr_expect_str_eq(text, "the time limit of 1e-09 seconds is over");
  signal = 2; /* SIGINT, and the more important */
  cr_expect_eq(stop_asks(&stop), STOP_SIGNAL);
  stop_describe(&stop, text, sizeof text);
  cr_expect_str_eq(text, "interrupted");
}

/* ---- progress ---- */

struct shown {
  pthread_t thread;
  int calls, most;
};

static bool show(void *data) {
  struct shown *s = data;
  cr_expect(pthread_equal(s->thread, pthread_self()));
  return ++s->calls < s->most;
}

/* Asks until the stop does, or for so many seconds. */
static enum stop_reason ask_for(const struct stop *stop, double seconds) {
  const double end = stop_clock() + seconds;
  enum stop_reason reason = STOP_NOT;
  while (reason == STOP_NOT && stop_clock() < end) reason = stop_asks(stop);
  return reason;
}

static void *ask_elsewhere(void *stop) {
  cr_expect_eq(ask_for(stop, 0.15), STOP_NOT);
  return NULL;
}

Test(stop, shows_progress_on_its_own_thread) {
  struct shown shown = {.thread = pthread_self(), .most = 3};
  struct stop stop = {.progress = show, .progress_data = &shown};
  pthread_t thread;
  cr_expect_eq(stop_asks(&stop), STOP_NOT);
  stop_begin(&stop, 0);
  cr_assert_eq(pthread_create(&thread, NULL, ask_elsewhere, &stop), 0);
  pthread_join(thread, NULL);
  cr_expect_eq(shown.calls, 0);
  const double start = stop_clock();
  cr_expect_eq(ask_for(&stop, 60), STOP_SIGNAL);
  cr_expect_geq(stop_clock() - start, 0.09, "called too often");
  cr_expect_eq(shown.calls, 3);
  char text[100];
  stop_describe(&stop, text, sizeof text);
  cr_expect_str_eq(text, "interrupted");
  cr_expect_eq(ask_for(&stop, 0.1), STOP_SIGNAL);
  cr_expect_eq(shown.calls, 3);
  stop_begin(&stop, 0);
  cr_expect_eq(stop_asks(&stop), STOP_NOT);
}

/* If a process works in step with others, its own request is not yet the one that counts. */
Test(stop, joint_requests_are_those_agreed_on) {
  atomic_int signal = SIGINT;
  char text[128];
  struct stop stop = {.signal = &signal}, apart;
  stop_begin(&stop, 1e-9);
  cr_expect_eq(stop_asks(&stop), STOP_SIGNAL);
  stop_join(&stop);
  cr_expect_eq(stop_asks(&stop), STOP_NOT);
  cr_expect_eq(stop_wants(&stop), STOP_SIGNAL);
  stop_describe(&stop, text, sizeof text);
  cr_expect_str_eq(text, "");
  while (!stop_overdue(&stop, 0)) {
  }
  stop_apart(&apart, &stop);
  cr_expect_eq(stop_asks(&apart), STOP_SIGNAL);
  stop_agree(&stop, STOP_TIME);
  cr_expect_eq(stop_asks(&stop), STOP_TIME);
  cr_expect_not(stop_overdue(&stop, 0));
  stop_describe(&stop, text, sizeof text);
  cr_expect_str_eq(text, "the time limit of 1e-09 seconds is over");
  stop_begin(&stop, 0);
  cr_expect_eq(stop_asks(&stop), STOP_NOT);
}
