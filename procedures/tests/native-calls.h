/* native-calls.h - for tests of native code: its text compiled as a back end compiles it, and a
 * thread to call it with, whose memory is counted, poisoned, and can fail on demand. A second
 * thread may take parts of the work. It is no thread of the system: it executes them while the
 * first one shares its work, or waits.
 */
#ifndef RAVEL_PROCEDURES_TESTS_NATIVE_CALLS_H
#define RAVEL_PROCEDURES_TESTS_NATIVE_CALLS_H

#include "fused-kernels/tests/emitted.h"
#include "procedures/native.h"
#include "procedures/procedures.h"

/* ---- a thread ---- */

enum { CALLING_STACK = 2 << 20 /* bytes */ };

struct calling {
  struct native_thread thread, second;
  struct widths widths;
  uint32_t asks;
  uint64_t live;    /* bytes */
  uint64_t count;   /* allocations so far */
  uint64_t fail_at; /* the allocation with this number, from 1, fails; 0: none */
  bool refuses;     /* the second thread gives up */
  uint64_t random, parts;
};

static inline void *calling_allocate(void *with, uint64_t bytes) {
  struct calling *c = with;
  if (++c->count == c->fail_at) return NULL;
  void *at = NULL;
  cr_assert_eq(posix_memalign(&at, 64, bytes), 0);
  memset(at, 0xa5, bytes);
  c->live += bytes;
  return at;
}

static inline void calling_release(void *with, void *at, uint64_t bytes) {
  struct calling *c = with;
  memset(at, 0x5a, bytes);
  c->live -= bytes;
  free(at);
}

/* ---- the second thread ---- */

enum calling_manner { BY_ITSELF, BY_SECOND_AT_ONCE, BY_SECOND_LATER, NOT_AT_ALL, MANNERS };

struct calling_part {
  struct native_part native;
  enum calling_manner manner;
  bool done, good;
  struct native_pooled *results[];
};

static inline struct native_pooled *calling_take_buffer(struct native_thread *r) {
  struct native_pooled *b = r->free_buffers;
  if (b) {
    r->free_buffers = b->next;
  } else {
    b = r->allocate(r->with, sizeof *b);
    if (b) *b = (struct native_pooled){0};
  }
  if (b) b->buffer.n = 0;
  return b;
}

/* Executes a part by one of the threads. */
static inline void calling_execute(struct native_thread *by, struct calling_part *p) {
  const struct calling *c = by->with;
  struct native_ahead *of = p->native.of;
  uint32_t taken = 0;
  p->good = !c->refuses || by == &c->thread;
  while (p->good && taken < of->result_count) {
    p->results[taken] = calling_take_buffer(by);
    if (p->results[taken])
      taken++;
    else
      p->good = false;
  }
  p->good = p->good && of->run(by, of, p->native.first, p->native.last, p->results);
  for (uint32_t k = 0; !p->good && k < taken; k++) native_give(by, p->results[k]);
  p->done = true;
}

static inline void calling_share(struct native_thread *r) {
  struct calling *c = r->with;
  struct native_ahead *of = r->outermost;
  const uint64_t bytes = sizeof(struct calling_part) + of->result_count * sizeof(void *);
  c->random ^= c->random << 13, c->random ^= c->random >> 7, c->random ^= c->random << 17;
  const enum calling_manner manner = (enum calling_manner)(c->random % MANNERS);
  if (manner == NOT_AT_ALL) return;
  struct calling_part *p = r->allocate(r->with, bytes);
  if (!p) return;
  p->manner = manner;
  p->done = false;
  native_divide(of, &p->native, bytes, p->results);
  c->parts++;
  if (manner == BY_SECOND_AT_ONCE && r == &c->thread) calling_execute(&c->second, p);
}

static inline bool calling_join(struct native_thread *r, struct native_part *part) {
  struct calling *c = r->with;
  struct calling_part *p = (struct calling_part *)(void *)part;
  if (!p->done) calling_execute(p->manner == BY_SECOND_LATER ? &c->second : r, p);
  return p->good;
}

/* The thread shares its work from now on. */
static inline void calling_shares(struct calling *c, uint64_t seed) {
  c->random = 88172645463325252 ^ (seed << 20);
  c->asks = NATIVE_SHARE;
  c->thread.most_listed = c->second.most_listed = 3;
}

/* ---- ranks and sorting ---- */

/* Element i of INTs or FLOATs of these widths. */
static inline double calling_real(const void *x, enum cvl_elem elem, uint64_t i) {
  return elem == CVL_F64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static inline int64_t calling_int(const void *x, enum cvl_elem elem, uint64_t i) {
  return elem == CVL_I64 ? ((const int64_t *)x)[i] : ((const int32_t *)x)[i];
}

/* Whether element a comes before element b; NaNs come last. */
static inline bool calling_before(const struct calling *c, bool is_float, bool down,
                                  const void *x, uint64_t a, uint64_t b) {
  if (is_float) {
    const double p = calling_real(x, c->widths.float_elem, a),
                 q = calling_real(x, c->widths.float_elem, b);
    return down ? p > q : p < q;
  }
  const int64_t p = calling_int(x, c->widths.int_elem, a),
                q = calling_int(x, c->widths.int_elem, b);
  return down ? p > q : p < q;
}

/* The rank of each element, by comparing all pairs. */
static inline bool calling_rank(void *with, bool is_float, bool down, const void *x, uint64_t n,
                                void *ranks) {
  struct calling *c = with;
  if (++c->count == c->fail_at) return false;
  for (uint64_t i = 0; i < n; i++) {
    int64_t rank = 0;
    for (uint64_t j = 0; j < n; j++) {
      rank += calling_before(c, is_float, down, x, j, i) ||
              (j < i && !calling_before(c, is_float, down, x, i, j));
    }
    if (c->widths.int_elem == CVL_I64)
      ((int64_t *)ranks)[i] = rank;
    else
      ((int32_t *)ranks)[i] = (int32_t)rank;
  }
  return true;
}

static inline bool calling_sort(void *with, bool is_float, bool down, const void *x, uint64_t n,
                                void *sorted) {
  struct calling *c = with;
  int64_t *ranks = calloc(n + 1, sizeof *ranks);
  const enum cvl_elem elem = is_float ? c->widths.float_elem : c->widths.int_elem;
  const size_t bytes = elem_info(elem)->bytes;
  const bool done = calling_rank(with, is_float, down, x, n, ranks);
  for (uint64_t i = 0; i < n && done; i++)
    memcpy((char *)sorted + (uint64_t)calling_int(ranks, c->widths.int_elem, i) * bytes,
           (const char *)x + i * bytes, bytes);
  free(ranks);
  return done;
}

static inline void calling_begin(struct calling *c, struct widths widths) {
  *c = (struct calling){.widths = widths};
  c->thread.lowest = (uintptr_t)__builtin_frame_address(0) - CALLING_STACK;
  c->thread.asks = &c->asks;
  c->thread.with = c;
  c->thread.allocate = calling_allocate;
  c->thread.release = calling_release;
  c->thread.rank = calling_rank;
  c->thread.sort = calling_sort;
  c->thread.share = calling_share;
  c->thread.join = calling_join;
  c->second = c->thread;
}

/* All memory is given back. */
static inline void calling_end(struct calling *c) {
  native_free(&c->thread);
  native_free(&c->second);
  cr_expect_eq(c->live, 0);
}

static inline void calling_free_results(struct calling *c, struct native_buffer *results,
                                        uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (results[i].at) calling_release(c, results[i].at, results[i].room);
    results[i] = (struct native_buffer){0};
  }
}

/* ---- compiling ---- */

#ifdef NATIVE_SANITIZE
#define NATIVE_FLAGS "-O1 -g1 -fno-sanitize-recover=all -fsanitize=" NATIVE_SANITIZE
#else
#define NATIVE_FLAGS "-march=native"
#endif

/* Writes a text as a file of the directory, whose entries have names that begin with `prefix`.
 */
static inline void write_text(const struct built *b, const char *prefix,
                              const struct procedures *p) {
  char name[64];
  snprintf(name, sizeof name, "%s.c", prefix);
  FILE *file = create(b, name);
  fprintf(file, "#define RAVEL_ENTRY(name) %s_##name\n", prefix);
  fwrite(p->text, 1, p->length, file);
  fclose(file);
}

/* Compiles all files of the directory, with more options. */
static inline void compile_native(struct built *b, const char *more) {
  static const char *const flags[] = {FUSED_C_FLAGS, NATIVE_FLAGS};
  char command[1024];
  int n = snprintf(command, sizeof command, "cd %s && " NATIVE_COMPILER, b->directory);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    n += snprintf(command + n, sizeof command - (size_t)n, " %s", flags[i]);
  snprintf(command + n, sizeof command - (size_t)n, " %s *.c -o emitted.so -lm", more);
  cr_assert_eq(system(command), 0, "%s", command);
  snprintf(command, sizeof command, "%s/emitted.so", b->directory);
  b->library = dlopen(command, RTLD_NOW | RTLD_LOCAL);
  cr_assert_not_null(b->library, "%s", dlerror());
}

static inline native_entry *entry_of(const struct built *b, const char *prefix,
                                     const struct cvl_procedure *p) {
  char name[96];
  snprintf(name, sizeof name, "%s_%s", prefix, p->entry);
  native_entry *entry;
  *(void **)&entry = dlsym(b->library, name);
  cr_assert_not_null((void *)(uintptr_t)entry, "%s", name);
  return entry;
}

#endif
