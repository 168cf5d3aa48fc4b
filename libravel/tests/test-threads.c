/* test-threads.c - threads with a context each, a context that is handed around, and
 * interruptions at random, from a thread and from a signal handler.
 *
 * Without Criterion, so that it is cheap under the thread sanitizer: test-threads [SECONDS]
 */
#include "libravel/arrow.h"
#include "libravel/dlpack.h"
#include "ravel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 8, KINDS = 7, CONVERTED = 5, BORROWED = 6, LENGTH = 3000, ELEMENTS = 60000 };

static const char definitions[] =
    "function noise(n) = {rem(i * 7919 + 13, 10007) : i in index(n)};\n"
    "function sorted(n) = let v = sort(noise(n)) in v[n / 2] + v[0];\n"
    "function ranked(n) = sum({i * r : i in index(n); r in rank(noise(n))});\n"
    "function mapped(n) = sum({rem(i * i + 3 * i, 101) : i in noise(n)});\n"
    "function halves(v) = if #v < 2 then v else\n"
    "  let p = v[#v / 2]; parts = {halves(w) : w in\n"
    "    [{x in v | x < p}, {x in v | x > p}]} in parts[0] ++ {x in v | x == p} ++ parts[1];\n"
    "function recursive(n) = let v = halves(noise(n)) in v[n / 3];\n"
    "function gathered(n) = let v = noise(n) in sum(v -> {rem(x, n) : x in v});\n"
    "function imported(v) = sum({rem(x * 31, 17) : x in v});\n";
static const char *const names[KINDS] = {"sorted",   "ranked",   "mapped",  "recursive",
                                         "gathered", "imported", "imported"};

static atomic_uint wrong, interrupted, done;
static atomic_int tensors; /* that are not deleted */

static double threads_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void threads_complain(const struct ravel_context *c, const char *what) {
  fprintf(stderr, "test-threads: %s: %s\n", what, ravel_message(c));
  atomic_fetch_add(&wrong, 1);
}

static unsigned threads_next_random(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* ---- arguments ---- */

static void delete_tensor(struct DLManagedTensorVersioned *t) {
  free(t->dl_tensor.data);
  free(t->dl_tensor.shape);
  free(t);
  atomic_fetch_sub(&tensors, 1);
}

/* Makes ints that are as wide as the context's, which imports them, or that it converts. */
static struct DLManagedTensorVersioned *make_tensor(bool wide) {
  struct DLManagedTensorVersioned *t = calloc(1, sizeof *t);
  int64_t *shape = malloc(sizeof *shape);
  void *data = malloc(ELEMENTS * sizeof(int64_t));
  if (!t || !shape || !data) abort();
  for (int i = 0; i < ELEMENTS; i++) {
    if (wide) {
      ((int64_t *)data)[i] = i;
    } else {
      ((int32_t *)data)[i] = i;
    }
  }
  *shape = ELEMENTS;
  t->version.major = 1;
  t->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  t->deleter = delete_tensor;
  t->dl_tensor = (DLTensor){.data = data,
                            .device = {.device_type = kDLCPU},
                            .ndim = 1,
                            .dtype = {kDLInt, wide ? 64 : 32, 1},
                            .shape = shape};
  atomic_fetch_add(&tensors, 1);
  return t;
}

static enum ravel_code make_argument(struct ravel_context *c, unsigned kind,
                                     struct ravel_value **out) {
  if (kind < CONVERTED) return ravel_int(c, LENGTH, out);
  return ravel_import_dlpack(c, make_tensor(kind == BORROWED), out);
}

/* ---- a context and its functions ---- */

struct worker {
  struct ravel_context *c;
  struct ravel_function *f[KINDS];
  int64_t expected[KINDS];
  unsigned threads; /* of the back end */
};

/* One call; RAVEL_OK with the result, or its code. */
static enum ravel_code threads_call(struct worker *w, unsigned kind, int64_t *x) {
  struct ravel_value *n = NULL, *result = NULL;
  enum ravel_code code = make_argument(w->c, kind, &n);
  if (code == RAVEL_OK) code = ravel_call(w->c, w->f[kind], &n, 1, &result);
  if (code == RAVEL_OK) code = ravel_get_int(w->c, result, x);
  ravel_release(n);
  ravel_release(result);
  return code;
}

/* Another call, that may be interrupted; one that is not gives what it gave before. */
static void call_and_check(struct worker *w, unsigned kind) {
  int64_t x = 0;
  const enum ravel_code code = threads_call(w, kind, &x);
  if (code == RAVEL_INTERRUPTED) {
    atomic_fetch_add(&interrupted, 1);
  } else if (code != RAVEL_OK) {
    threads_complain(w->c, names[kind]);
  } else if (x != w->expected[kind]) {
    fprintf(stderr, "test-threads: %s is %lld, not %lld\n", names[kind], (long long)x,
            (long long)w->expected[kind]);
    atomic_fetch_add(&wrong, 1);
  } else {
    atomic_fetch_add(&done, 1);
  }
}

static enum ravel_code threads_open_context(struct worker *w) {
  char threads[16];
  struct ravel_options *options = ravel_options_new();
  snprintf(threads, sizeof threads, "%u", w->threads);
  ravel_options_set(options, "backend", "cpu");
  ravel_options_set(options, "threads", threads);
  enum ravel_code code = ravel_context_new(options, &w->c);
  ravel_options_free(options);
  if (code == RAVEL_OK) code = ravel_define(w->c, "threads.nesl", definitions, 0);
  for (unsigned k = 0; k < KINDS && code == RAVEL_OK; k++) {
    code = ravel_find(w->c, names[k], k < CONVERTED ? "int" : "[int]", &w->f[k]);
    if (code == RAVEL_OK) code = threads_call(w, k, &w->expected[k]);
  }
  if (code != RAVEL_OK) threads_complain(w->c, "beginning");
  return code;
}

/* ---- a context for each thread ---- */

static void *work_alone(void *data) {
  struct worker *w = data;
  if (threads_open_context(w) == RAVEL_OK) {
    for (unsigned i = 0; i < 3 * KINDS; i++) call_and_check(w, i % KINDS);
  }
  ravel_context_free(w->c);
  return NULL;
}

static void each_its_own(void) {
  struct worker workers[THREADS] = {{0}};
  pthread_t threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    workers[i].threads = 1 + i % 3;
    pthread_create(&threads[i], NULL, work_alone, &workers[i]);
  }
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (unsigned k = 0; k < KINDS; k++) {
    for (unsigned i = 1; i < THREADS; i++) {
      if (workers[i].expected[k] != workers[0].expected[k]) {
        fprintf(stderr, "test-threads: %s differs between contexts\n", names[k]);
        atomic_fetch_add(&wrong, 1);
      }
    }
  }
}

/* ---- a context that is handed around ---- */

struct shared {
  pthread_mutex_t mutex;
  struct worker worker;
};

static void *work_in_turns(void *data) {
  struct shared *s = data;
  for (unsigned i = 0; i < 2 * KINDS; i++) {
    pthread_mutex_lock(&s->mutex);
    call_and_check(&s->worker, i % KINDS);
    pthread_mutex_unlock(&s->mutex);
  }
  return NULL;
}

static void handed_around(void) {
  struct shared s = {.mutex = PTHREAD_MUTEX_INITIALIZER, .worker = {.threads = 2}};
  pthread_t threads[THREADS];
  if (threads_open_context(&s.worker) == RAVEL_OK) {
    for (unsigned i = 0; i < THREADS; i++) {
      pthread_create(&threads[i], NULL, work_in_turns, &s);
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
  ravel_context_free(s.worker.c);
}

/* ---- streams of results in temporary files, read by other threads ---- */

struct reading {
  pthread_t thread;
  struct ArrowArrayStream stream;
  int64_t sum;
};

static int64_t threads_sum_of(const struct ArrowArray *a) {
  const int64_t *offsets = (const int64_t *)a->buffers[1] + a->offset;
  const int64_t *elements = a->children[0]->buffers[1];
  int64_t sum = 0;
  for (int64_t i = offsets[0]; i < offsets[a->length]; i++) sum += elements[i];
  return sum;
}

static void *read_stream(void *data) {
  struct reading *r = data;
  struct ArrowArray a;
  while (r->stream.get_next(&r->stream, &a) == 0 && a.release) {
    r->sum += threads_sum_of(&a);
    a.release(&a);
  }
  r->stream.release(&r->stream);
  return NULL;
}

static enum ravel_code open_with_files(struct ravel_context **c, struct ravel_function **f) {
  static const char text[] =
      "function rows(n) : int -> [[int]] = {let a = plus_scan(index(x)); k = rank(a)\n"
      "  in permute(a, k) : x in {rem(i, 7) : i in index(n)}};\n";
  struct ravel_options *options = ravel_options_new();
  ravel_options_set(options, "backend", "cpu");
  ravel_options_set(options, "threads", "2");
  ravel_options_set(options, "chunks", "300");
  ravel_options_set(options, "spool", "1");
  enum ravel_code code = ravel_context_new(options, c);
  ravel_options_free(options);
  if (code == RAVEL_OK) code = ravel_define(*c, "threads.nesl", text, 0);
  return code == RAVEL_OK ? ravel_find(*c, "rows", NULL, f) : code;
}

/* The value is released at once: the stream has what it reads. */
static enum ravel_code begin_reading(struct ravel_context *c, struct ravel_function *f,
                                     struct reading *r) {
  struct ravel_value *n = NULL, *rows = NULL;
  enum ravel_code code = ravel_int(c, LENGTH, &n);
  if (code == RAVEL_OK) code = ravel_call(c, f, &n, 1, &rows);
  if (code == RAVEL_OK) code = ravel_export_stream(c, rows, 100, &r->stream);
  ravel_release(n);
  ravel_release(rows);
  if (code == RAVEL_OK) pthread_create(&r->thread, NULL, read_stream, r);
  return code;
}

/* While the context goes on, and is freed. */
static void read_elsewhere(void) {
  struct ravel_context *c = NULL;
  struct ravel_function *f = NULL;
  struct reading readings[THREADS] = {{0}};
  unsigned begun = 0;
  enum ravel_code code = open_with_files(&c, &f);
  while (code == RAVEL_OK && begun < THREADS) {
    code = begin_reading(c, f, &readings[begun]);
    begun += code == RAVEL_OK;
  }
  if (code != RAVEL_OK) threads_complain(c, "a stream for others");
  ravel_context_free(c);
  for (unsigned i = 0; i < begun; i++) {
    pthread_join(readings[i].thread, NULL);
    if (readings[i].sum == readings[0].sum && readings[i].sum > LENGTH) continue;
    fprintf(stderr, "test-threads: a stream has other elements on another thread\n");
    atomic_fetch_add(&wrong, 1);
  }
}

/* ---- interruptions ---- */

static atomic_bool over;
static _Atomic(struct ravel_context *) signalled;

static void on_signal(int number) {
  (void)number;
  ravel_interrupt(atomic_load(&signalled));
}

static void *work_until_over(void *data) {
  for (unsigned i = 0; !atomic_load(&over); i++) call_and_check(data, i % KINDS);
  return NULL;
}

/* Interrupts at random until the time is over: the first context by a signal that its thread
 * gets, the others from here. */
static void interrupt_at_random(struct worker *workers, const pthread_t *threads,
                                unsigned count, double seconds) {
  const double end = threads_now() + seconds;
  unsigned state = 1;
  while (threads_now() < end) {
    const unsigned which = threads_next_random(&state) % count;
    nanosleep(&(struct timespec){.tv_nsec = threads_next_random(&state) % 3000000}, NULL);
    if (which == 0) {
      pthread_kill(threads[0], SIGUSR1);
    } else {
      ravel_interrupt(workers[which].c);
    }
  }
  atomic_store(&over, true);
}

/* Afterwards contexts work as before, but for an interruption that came last. */
static void check_afterwards(struct worker *w) {
  int64_t x = 0;
  (void)threads_call(w, 0, &x);
  for (unsigned k = 0; k < KINDS; k++) {
    if (threads_call(w, k, &x) != RAVEL_OK) threads_complain(w->c, "after interruptions");
    if (x != w->expected[k]) threads_complain(w->c, "another result after interruptions");
  }
}

static void interruptions(double seconds) {
  enum { COUNT = 4 };
  struct worker workers[COUNT] = {{0}};
  pthread_t threads[COUNT];
  bool fine = true;
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  for (unsigned i = 0; i < COUNT; i++) {
    workers[i].threads = 1 + i % 2;
    fine &= threads_open_context(&workers[i]) == RAVEL_OK;
  }
  atomic_store(&signalled, workers[0].c);
  for (unsigned i = 0; i < COUNT && fine; i++) {
    pthread_create(&threads[i], NULL, work_until_over, &workers[i]);
  }
  if (fine) interrupt_at_random(workers, threads, COUNT, seconds);
  for (unsigned i = 0; i < COUNT && fine; i++) pthread_join(threads[i], NULL);
  for (unsigned i = 0; i < COUNT && fine; i++) check_afterwards(&workers[i]);
  for (unsigned i = 0; i < COUNT; i++) ravel_context_free(workers[i].c);
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  each_its_own();
  handed_around();
  read_elsewhere();
  const unsigned before = interrupted;
  interruptions(seconds);
  printf("%u calls, %u interrupted, %u wrong\n", done, interrupted, wrong);
  if (tensors != 0) fprintf(stderr, "test-threads: %d tensors are not deleted\n", tensors);
  if (before > 0 || tensors != 0) return 1; /* of nobody's doing */
  return wrong != 0 || interrupted == 0;
}
