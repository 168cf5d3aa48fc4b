/* native.h - how native code of procedures is called: by whom holds vectors, for a range of the
 * instances of a batch call. The structs stand as text in every file that is compiled, and are
 * included by the back end that calls it: both must see the same.
 *
 * A thread executes one instance after the other. Vectors that live inside a call are in an
 * arena, a stack of blocks, and are popped when the call returns. Results are appended to
 * buffers, where the caller wants them; a caller that needs a result itself takes a buffer from
 * a pool, and gives it back.
 *
 * Threads may share the work of a call: one *lists* what it will do later, and another one that
 * has nothing to do gets a part of that (struct native_ahead).
 *
 * Native code that cannot go on - a check fails, memory runs out, calls are too deep, somebody
 * asks for the end - *gives up*: it returns false, and has had no effect. Whoever called it
 * executes the instances in another way, which reports.
 */
#ifndef RAVEL_PROCEDURES_NATIVE_H
#define RAVEL_PROCEDURES_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An argument. INTs, FLOATs and BOOLs are n elements, of the widths of the program, BOOLs
 * bytes. A descriptor is n segments: segment k is offsets[k] .. offsets[k + 1] of what it
 * describes. Its first offset is 0. */
struct native_value {
  const void *data;        /* elements, or NULL */
  const uint64_t *offsets; /* of a descriptor; or NULL */
  uint64_t n;
};

/* Memory that grows as results are appended: n elements, with room for more. A descriptor is
 * appended as the lengths of its segments, 64 bits each. */
struct native_buffer {
  char *at;
  uint64_t n;    /* elements */
  uint64_t room; /* bytes */
};

/* A buffer of the pool. */
struct native_pooled {
  struct native_buffer buffer;
  struct native_pooled *next; /* among those that are free, or in use */
};

/* A block of an arena; its memory follows, from the next multiple of 64 bytes on. */
struct native_block {
  struct native_block *next, *previous;
  uint64_t bytes; /* of the block, this head included */
};

struct native_arena {
  struct native_block *block; /* that is in use; NULL at first */
  char *at, *end;             /* what is free of it */
};

/* An arena of the pool. */
struct native_spare {
  struct native_arena arena;
  struct native_spare *next; /* among those that are free, or in use */
};

/* Work that a thread has listed: instances next .. last - 1 of a batch call that it executes,
 * or a call that it will make, which is one instance. It lies in the frame of who does the
 * work, and begins a struct with the arguments. Only its thread changes it. */
struct native_ahead {
  struct native_thread *of;
  struct native_ahead *outer, *inner; /* others that are listed */
  bool listed;
  uint64_t next, last;
  struct native_part *parts; /* that were given away, in the order of their instances */
  uint32_t result_count;     /* vectors that a part returns */
  /* Executes instances of it on any thread, which appends what they return to these buffers. */
  bool (*run)(struct native_thread *, struct native_ahead *, uint64_t first, uint64_t last,
              struct native_pooled *const *results);
};

/* Instances that another thread may execute. Whoever has listed them joins the part: then they
 * have been executed, and the buffers are the joining thread's. */
struct native_part {
  struct native_part *next;
  uint64_t bytes; /* of its memory, which who joins it releases */
  struct native_ahead *of;
  uint64_t first, last;
  struct native_pooled **results;
};

/* What native code is asked for: the bits of a thread's `asks`. */
enum {
  NATIVE_STOP = 1, /* to give up */
  NATIVE_SHARE = 2 /* for work */
};

/* What a thread keeps between calls of native code. All is zero at first, but for the last
 * members, which the back end sets. native_free frees what it holds. */
struct native_thread {
  struct native_arena own, *arena; /* the first one, and the present one; NULL: it is idle */
  struct native_pooled *free_buffers, *used_buffers;
  struct native_spare *free_arenas, *used_arenas;
  void *scratch; /* what a loop needs until it ends: parts of it (functions.h) */
  uint64_t scratch_bytes;
  uintptr_t lowest; /* calls whose frame is below this address of the stack give up */
  uint32_t *asks;   /* looked at in every call; any thread may change it */
  /* Listed work. `most_listed` is 0 if nobody would take it. */
  struct native_ahead *outermost, *innermost;
  uint32_t listed, most_listed;
  /* Functions of the back end. `allocate` returns memory aligned to 64 bytes, or NULL. `rank`
   * gives the ranks of n elements as INTs, `sort` the elements in order; both are stable,
   * ascending or descending, as the operations RANK and SORT do for one segment. They return
   * false without memory. `share` may make a part of the outermost work of the thread, which
   * has some. `join` executes a part, or waits until it has been executed; false: it has given
   * up. */
  void *with;
  void *(*allocate)(void *with, uint64_t bytes);
  void (*release)(void *with, void *, uint64_t bytes);
  bool (*rank)(void *with, bool is_float, bool down, const void *x, uint64_t n, void *ranks);
  bool (*sort)(void *with, bool is_float, bool down, const void *x, uint64_t n, void *sorted);
  void (*share)(struct native_thread *);
  bool (*join)(struct native_thread *, struct native_part *);
};

/* An entry of native code: executes instances first .. last - 1 of a batch call. Parameters and
 * results are those of the lifted function, without its first parameter; sizes are as in struct
 * ir_instances (ir/ir.h). What each instance returns is appended to results[k]. */
typedef bool native_entry(struct native_thread *, uint64_t first, uint64_t last,
                          const struct native_value *params, struct native_buffer *results);

/* ---- listed work ---- */

static inline void native_unlist(struct native_ahead *a) {
  struct native_thread *r = a->of;
  *(a->outer ? &a->outer->inner : &r->outermost) = a->inner;
  *(a->inner ? &a->inner->outer : &r->innermost) = a->outer;
  r->listed--;
  a->listed = false;
}

/* Makes a part of the last half of listed work, in memory that is given. Work of which nothing
 * is left is not listed any more. */
static inline void native_divide(struct native_ahead *a, struct native_part *part,
                                 uint64_t bytes, struct native_pooled **results) {
  const uint64_t middle = a->next + (a->last - a->next) / 2;
  *part = (struct native_part){.next = a->parts,
                               .bytes = bytes,
                               .of = a,
                               .first = middle,
                               .last = a->last,
                               .results = results};
  a->parts = part;
  a->last = middle;
  if (a->next == a->last) native_unlist(a);
}

/* ---- memory ---- */

static inline void native_give(struct native_thread *r, struct native_pooled *b) {
  b->next = r->free_buffers;
  r->free_buffers = b;
}

static inline void native_free_arena(struct native_thread *r, struct native_arena *a) {
  struct native_block *b = a->block;
  while (b && b->next) b = b->next;
  while (b) {
    struct native_block *previous = b->previous;
    r->release(r->with, b, b->bytes);
    b = previous;
  }
  *a = (struct native_arena){0};
}

static inline void native_free_buffers(struct native_thread *r, struct native_pooled **list) {
  for (struct native_pooled *b = *list, *next; b; b = next) {
    next = b->next;
    if (b->buffer.at) r->release(r->with, b->buffer.at, b->buffer.room);
    r->release(r->with, b, sizeof *b);
  }
  *list = NULL;
}

static inline void native_free_spares(struct native_thread *r, struct native_spare **list) {
  for (struct native_spare *s = *list, *next; s; s = next) {
    next = s->next;
    native_free_arena(r, &s->arena);
    r->release(r->with, s, sizeof *s);
  }
  *list = NULL;
}

/* Frees what a thread holds; it may go on, from nothing. */
static inline void native_free(struct native_thread *r) {
  native_free_arena(r, &r->own);
  native_free_buffers(r, &r->free_buffers);
  native_free_buffers(r, &r->used_buffers);
  native_free_spares(r, &r->free_arenas);
  native_free_spares(r, &r->used_arenas);
  r->arena = NULL;
  if (r->scratch) r->release(r->with, r->scratch, r->scratch_bytes);
  r->scratch = NULL;
  r->scratch_bytes = 0;
}

#endif
