/* workers.c - what threads keep for native code, and the functions that it calls.
 *
 * Memory comes from the heap of the context, on any thread of its pool. It is kept for the next
 * call, and freed when memory gets short, unless a call is using it.
 */
#include "cvl-cpu/procedures/private.h"

#include <string.h>

#include "cvl-cpu/operations/rank.h"

enum {
  /* Bytes of stack that calls may take, and that are left to others. */
  STACK_MOST = 16 << 20,
  STACK_LEFT = 256 << 10,
  /* What the workers may keep between batch calls, for each thread. */
  KEPT_BYTES = 256 << 20
};

/* ---- memory ---- */

/* The head of a block. */
struct allocated {
  uint64_t bytes; /* with the head */
  _Alignas(64) char block[];
};

static void *worker_allocate(void *with, uint64_t bytes) {
  struct procedure_worker *w = with;
  if (bytes > SIZE_MAX / 8) return NULL;
  struct allocated *a = memory_take_apart(w->c->memory, sizeof *a + bytes);
  if (!a) return NULL;
  a->bytes = sizeof *a + bytes;
  atomic_fetch_add_explicit(&w->c->workers->held, a->bytes, memory_order_relaxed);
  return a->block;
}

static void worker_release(void *with, void *block, uint64_t bytes) {
  struct procedure_worker *w = with;
  (void)bytes;
  if (!block) return;
  struct allocated *a = (void *)((char *)block - offsetof(struct allocated, block));
  atomic_fetch_sub_explicit(&w->c->workers->held, a->bytes, memory_order_relaxed);
  memory_give_apart(w->c->memory, a, a->bytes);
}

static void worker_free(struct procedure_worker *w) {
  native_free(&w->native);
  worker_release(w, w->room, 0);
  w->room = NULL;
  w->room_bytes = 0;
}

/* ---- ranks and sorting ---- */

/* Makes room for a job on n elements. */
static bool worker_room(struct procedure_worker *w, uint64_t n, size_t each) {
  const uint64_t bytes = n > RANK_SOME ? n * each : 0;
  if (bytes <= w->room_bytes) return true;
  worker_release(w, w->room, 0);
  w->room_bytes = 0;
  w->room = worker_allocate(w, bytes + bytes / 4);
  if (w->room) w->room_bytes = bytes + bytes / 4;
  return w->room != NULL;
}

static bool worker_order(struct procedure_worker *w, struct rank_job *j, const void *x,
                         uint64_t n, void *out) {
  if (n == 0) return true;
  if (!worker_room(w, n, j->room_each)) return false;
  j->x = x;
  j->out = out;
  rank_alone(j, n, w->room);
  return true;
}

static enum cvl_elem elem_of(const struct cvl_context *c, bool is_float) {
  return is_float ? c->float_elem : c->int_elem;
}

static bool worker_rank(void *with, bool is_float, bool down, const void *x, uint64_t n,
                        void *ranks) {
  struct procedure_worker *w = with;
  struct rank_job j = rank_job_for(w->c, elem_of(w->c, is_float), down);
  if (w->c->int_elem == CVL_I32 && n > INT32_MAX) return false;
  return worker_order(w, &j, x, n, ranks);
}

static bool worker_sort(void *with, bool is_float, bool down, const void *x, uint64_t n,
                        void *sorted) {
  struct procedure_worker *w = with;
  struct rank_job j = sort_job_for(w->c, elem_of(w->c, is_float), down);
  return worker_order(w, &j, x, n, sorted);
}

/* ---- a thread ---- */

/* Returns the address down to which calls may use the calling thread's stack: half of it. */
static uintptr_t lowest_of_thread(void) {
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t bytes = 0;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return here;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!known || here < (uintptr_t)lowest + STACK_LEFT) return here;
  const uintptr_t half = (here - (uintptr_t)lowest) / 2;
  return here - (half < STACK_MOST ? half : STACK_MOST);
}

void procedure_worker_begin(struct procedure_worker *w) {
  w->native.arena = NULL;
  if (w->stack_is_set && pthread_equal(w->thread, pthread_self())) return;
  w->thread = pthread_self();
  w->native.lowest = lowest_of_thread();
  w->helps_above =
      w->native.lowest + ((uintptr_t)__builtin_frame_address(0) - w->native.lowest) / 2;
  w->stack_is_set = true;
}

struct native_pooled *procedure_take_buffer(struct procedure_worker *w) {
  struct native_thread *t = &w->native;
  struct native_pooled *p = t->free_buffers;
  if (p) {
    t->free_buffers = p->next;
  } else {
    p = worker_allocate(w, sizeof *p);
    if (!p) return NULL;
    *p = (struct native_pooled){0};
  }
  p->buffer.n = 0;
  return p;
}

void procedure_give_buffer(struct procedure_worker *w, struct native_pooled *p) {
  p->next = w->native.free_buffers;
  w->native.free_buffers = p;
}

/* ---- spans ---- */

/* Begins the lists of a new call. */
static void begin_spans(struct procedure_workers *workers) {
  for (unsigned i = 0; i < workers->count; i++) {
    struct procedure_worker *w = &workers->of[i];
    if (!w->spans) w->spans = memory_take_apart(w->c->memory, sizeof *w->spans);
    if (w->spans) w->spans->count = 0;
  }
}

void procedure_note_span(struct procedure_worker *w, uint64_t instances, uint64_t begin) {
  struct procedure_spans *spans = w->spans;
  if (!spans || spans->count == sizeof spans->of / sizeof spans->of[0]) return;
  spans->of[spans->count++] =
      (struct cvl_procedure_span){.thread = (unsigned)(w - w->c->workers->of),
                                  .instances = instances,
                                  .begin = (double)begin * 1e-9,
                                  .end = clock_seconds()};
}

uint32_t procedure_spans(struct cvl_context *c, struct cvl_procedure_span *out, uint32_t most) {
  uint32_t n = 0;
  for (unsigned i = 0; c->workers && i < c->workers->count; i++) {
    const struct procedure_spans *spans = c->workers->of[i].spans;
    for (uint32_t k = 0; spans && k < spans->count && n < most; k++) out[n++] = spans->of[k];
  }
  return n;
}

/* ---- the workers of a context ---- */

static size_t workers_bytes(unsigned count) {
  return sizeof(struct procedure_workers) + count * sizeof(struct procedure_worker);
}

/* Frees what idle workers keep, for memory_set_spare. */
static bool workers_spare(void *owner) {
  struct procedure_workers *workers = owner;
  if (pthread_mutex_trylock(&workers->lock) != 0) return false;
  const bool any = workers->held > 0;
  for (unsigned i = 0; i < workers->count; i++) worker_free(&workers->of[i]);
  pthread_mutex_unlock(&workers->lock);
  return any;
}

static struct procedure_workers *workers_new(struct cvl_context *c) {
  const unsigned count = pool_threads(c->pool);
  struct procedure_workers *workers = memory_take_apart(c->memory, workers_bytes(count));
  if (!workers) return NULL;
  memset(workers, 0, workers_bytes(count));
  workers->count = count;
  for (unsigned i = 0; i < count; i++) {
    workers->of[i].c = c;
    workers->of[i].native = (struct native_thread){.with = &workers->of[i],
                                                   .allocate = worker_allocate,
                                                   .release = worker_release,
                                                   .rank = worker_rank,
                                                   .sort = worker_sort};
  }
  if (pthread_mutex_init(&workers->lock, NULL) == 0) return workers;
  memory_give_apart(c->memory, workers, workers_bytes(count));
  return NULL;
}

struct procedure_workers *procedure_workers_begin(struct cvl_context *c) {
  if (!c->workers) {
    c->workers = workers_new(c);
    if (c->workers) memory_set_spare(c->memory, workers_spare, c->workers);
  }
  if (!c->workers) return NULL;
  pthread_mutex_lock(&c->workers->lock);
  if (c->spans) begin_spans(c->workers);
  return c->workers;
}

/* Native code that has given up may have left its arena and its pool as they were then. */
void procedure_workers_end(struct procedure_workers *workers, bool gave_up) {
  const bool much = workers->held > (uint64_t)KEPT_BYTES * workers->count;
  for (unsigned i = 0; i < workers->count; i++) {
    if (gave_up || much) worker_free(&workers->of[i]);
  }
  pthread_mutex_unlock(&workers->lock);
}

void procedure_workers_free(struct cvl_context *c) {
  struct procedure_workers *workers = c->workers;
  if (!workers) return;
  memory_set_spare(c->memory, NULL, NULL);
  for (unsigned i = 0; i < workers->count; i++) {
    struct procedure_worker *w = &workers->of[i];
    worker_free(w);
    if (w->spans) memory_give_apart(c->memory, w->spans, sizeof *w->spans);
  }
  pthread_mutex_destroy(&workers->lock);
  memory_give_apart(c->memory, workers, workers_bytes(workers->count));
  c->workers = NULL;
}
