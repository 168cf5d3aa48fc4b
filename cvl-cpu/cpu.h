/* cpu.h - declarations for all files of the multicore back end: vectors, descriptors, the
 * context, its thread pool and its memory. Private to this room.
 *
 * The room has three layers. cvl-cpu.c fills the table of the contract and takes values apart.
 * Files named after operations (operations/elementwise.c, operations/reduce.c,
 * operations/scan.c, ...) split the work over threads. Kernels (kernels/) are sequential loops
 * over raw arrays, compiled once per instruction set and chosen when a context opens.
 */
#ifndef RAVEL_CPU_H
#define RAVEL_CPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/heap.h"
#include "base/number.h"
#include "cvl/call.h"
#include "cvl/sharing.h"
#include "cvl/trees.h"
#include "cvl/tuning.h"

/* ---- threads (pool.c) ---- */

/* A pool of threads, which spin briefly and then sleep between operations. One pool belongs to
 * one context; the calling thread is worker 0. */
struct pool;
/* A pause within a loop that looks for what another thread does. */
static inline void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
/* Nanoseconds of a clock that only goes on; seconds of it. */
uint64_t pool_clock(void);
static inline double clock_seconds(void) {
  return 1e-9 * (double)pool_clock();
}
/* Opens a pool. threads: 0 means processors_available (base/processors.h). spin: how often an
 * idle thread looks for work before it sleeps. wake_after: how long the caller works alone, in
 * one loop or several, before it wakes threads that sleep; in microseconds. NULL: no memory or
 * no thread. */
struct pool *pool_new(struct heap *, unsigned threads, uint64_t spin, uint64_t wake_after);
void pool_free(struct pool *);
unsigned pool_threads(const struct pool *);
/* Runs body(arg, first, last, worker) over all of [0, items), in chunks that begin at multiples
 * of `grain` (the last may be shorter). Threads take chunks dynamically, in any order;
 * neighbouring chunks are mostly taken by the same thread. A grain of 1 means that each item is
 * worth a thread. A single chunk runs on the caller alone. Returns true when all is done, or
 * false when the loop was asked to end. Then chunks are missing, but each chunk that was begun
 * is complete; if chunks are taken in order, so are all before it. */
typedef void pool_body(void *arg, uint64_t first, uint64_t last, unsigned worker);
bool pool_for(struct pool *, uint64_t items, uint64_t grain, pool_body *body, void *arg)
    __attribute__((warn_unused_result));
/* Does what pool_for does, with chunks taken in increasing order of `first`: for a body that
 * waits for earlier chunks. */
bool pool_for_in_order(struct pool *, uint64_t items, uint64_t grain, pool_body *body,
                       void *arg) __attribute__((warn_unused_result));
/* Sets who may ask loops to end; it is asked before each chunk. At first nobody is. */
void pool_set_stop(struct pool *, struct cvl_stop);
/* Whether the body is to return at once: for a body whose chunks are long. If so, the loop
 * counts as asked to end. */
bool pool_asked(struct pool *);

/* ---- memory (memory/memory.c) ---- */

/* Vectors and scratch memory come from a caching allocator over the context's heap. Small
 * blocks are in size classes, large ones in regions (memory/regions.h), and freed blocks are
 * kept for reuse. Blocks are aligned to 64 bytes and may be read up to 64 bytes past their
 * end. */
struct memory;
/* Opens an allocator. keep: freed bytes that are kept even if little was ever in use. NULL: no
 * memory. */
struct memory *memory_new(struct heap *, uint64_t keep);
void memory_free(struct memory *); /* every block must have been returned */
/* Opens the allocator of a sub-context, for one thread more. It is freed with its parent's.
 * NULL: no memory. */
struct memory *memory_new_sub(struct memory *parent);
/* Counts one more allocation for the parent of sub-contexts. False if it is this allocation's
 * turn to fail. */
bool memory_enter_sub(struct memory *parent);
/* Prepares the memory of a sub-context that has been opened. */
void memory_open_sub(struct memory *);
/* Ends the use by a sub-context, which holds nothing any more. Its counts are added to the
 * parent's. What it keeps, within the limit, is for the next sub-context. */
void memory_close_sub(struct memory *);
/* Returns a block of at least `bytes`, whose contents are undefined. NULL if the heap refuses
 * although all cached blocks have been given back, or if it is this allocation's turn to
 * fail. */
void *memory_take(struct memory *, size_t bytes);
/* Takes back what memory_take gave for the same `bytes`; NULL is ignored. */
void memory_give(struct memory *, void *, size_t bytes);
/* Makes the n-th memory_take from now fail; 0: none. */
void memory_fail(struct memory *, uint64_t n);
/* Leaves a block that memory_take gave for `bytes` to the caller, who calls memory_free_left.
 * That may be on any thread, and after memory_free. */
void memory_leave(struct memory *, void *, size_t bytes);
void memory_free_left(void *);
/* Returns what memory_take does, on any thread of the context, while the context's own thread
 * takes nothing by other functions. The memory is not kept: memory_give_apart frees it. */
void *memory_take_apart(struct memory *, size_t bytes);
void memory_give_apart(struct memory *, void *, size_t bytes);
/* Sets a function that frees what its owner could do without. It is called before memory is
 * refused, on any thread, and returns whether there was anything. */
void memory_set_spare(struct memory *, bool (*release)(void *owner), void *owner);
/* Count bytes that vectors and descriptors hold, or no longer hold. */
void memory_hold(struct memory *, size_t bytes);
void memory_unhold(struct memory *, size_t bytes);
struct cvl_statistics memory_statistics(const struct memory *);
/* Restarts the recent peak of the statistics. */
void memory_restart_peak(struct memory *);

/* ---- vectors and descriptors ---- */

/* Who owns the memory of a vector's elements (memory/sharing.c). Only OWN memory may be
 * written. */
enum vector_memory {
  MEMORY_OWN,      /* behind the head, in the same block */
  MEMORY_BORROWED, /* an owner outside, who is called at the end; only read */
  /* as OWN, but exported: others read it, and may do so after the vector's end */
  MEMORY_EXPORTED,
  MEMORY_SLICE /* part of another vector's memory: memory/slice.c */
};

/* The data of a vector or descriptor follows its head in the same block, unless another owner
 * has it. */
enum { HEAD_BYTES = 64 };

/* The head of every vector and descriptor. All heads are in a list of the context, so that
 * closing it frees those that were not released. */
struct held {
  struct held *next, *previous;
  size_t bytes; /* bytes of the block: the head and the data behind it */
  uint32_t references;
  uint8_t memory; /* for a vector: enum vector_memory */
  uint8_t form;   /* for a descriptor: enum segdes_form */
  bool of_sub;    /* a sub-context holds it, not its parent */
};

struct cvl_vector {
  struct held held;
  uint8_t elem; /* enum cvl_elem */
  uint64_t length;
  void *data; /* aligned to the element */
  union {
    struct exported *exported; /* if EXPORTS */
    /* if a SLICE: the vector it has a reference to; NULL: the parent has it */
    struct cvl_vector *base;
  };
};

enum segdes_form {
  SEGDES_EQUAL,  /* `count` segments of `equal` elements each */
  SEGDES_OFFSETS /* offsets[0 .. count], non-decreasing, offsets[0] = 0 */
};

struct cvl_segdes {
  struct held held;
  uint64_t count, total;
  uint64_t equal;
  uint64_t *offsets; /* for OFFSETS only */
};

/* A descriptor operand of any form, taken apart for reading, without an allocation. */
struct segments {
  uint64_t count, total;
  uint64_t equal;          /* length of every segment, if offsets is NULL */
  const uint64_t *offsets; /* count + 1, or NULL: segment k is [k*equal, (k+1)*equal) */
};

/* ---- a context ---- */

struct cpu_kernels;       /* kernels of one instruction set: kernels/kernels.h */
struct procedure_workers; /* procedures/private.h */
struct procedure_watch;

struct cvl_context {
  struct cvl_context *parent; /* for a sub-context; else NULL */
  enum cvl_elem int_elem, float_elem;
  struct tuning tuning; /* all values */
  struct cvl_stop stop;
  bool spans; /* the option; false in a sub-context */
  /* the option; the limit of the heap includes the context's own needs */
  uint64_t memory_limit;
  struct heap own_heap, *heap; /* a sub-context uses the heap of its parent */
  struct memory *memory;
  struct held *held;                   /* list of all vectors and descriptors */
  struct cvl_kernel *prepared;         /* list of all prepared superoperators */
  struct ahead *ahead;                 /* compile/ahead.h, or NULL */
  struct compile_cache *compile_cache; /* compile/compile.h, or NULL */
  struct pool *pool;
  struct procedure_workers *workers; /* what threads keep for native code; or NULL */
  struct procedure_watch *watch;     /* of the parent only: ends native code; or NULL */
  const struct cpu_kernels *kernels;
  const void *map_rows;   /* struct map_rows for these widths: kernels/map.h */
  struct cvl_error error; /* the error slot */
  /* Closed sub-contexts, which will be opened again. */
  pthread_mutex_t idle_lock;
  struct cvl_context *idle;
  /* For a sub-context: the next idle one, and its copies of the parent's kernels, by their
   * numbers. */
  struct cvl_context *next_idle;
  struct cvl_kernel **copies;
  uint32_t copy_room;
};

/* A tuning value (tables/tuning.def, docs/internals/cpu.md), for example tuned(c,
 * STREAM_BYTES). */
#define tuned(c, id) ((c)->tuning.value[TUNE_CPU_##id])

enum {
  STAGING_BYTES = COMPILED_CPU_STAGING_BYTES,
  VECTOR_SLACK = 64 /* unused bytes behind every block */
};

/* Returns the grain for pool_for over `items` that take `bytes` each. It is all items where the
 * pool would cost more than it gains, else a multiple of 64. Chunks are short
 * enough for a thread to ask often whether it is to end. */
uint64_t grain_for(const struct cvl_context *, uint64_t items, uint64_t bytes);

/* Returns scratch memory for one operation; NULL after recording a CVL_E_MEMORY fault. */
void *scratch_alloc(struct cvl_context *, uint64_t site, size_t bytes);
void scratch_free(struct cvl_context *, void *, size_t bytes);
/* Returns a new vector with one reference, whose elements are undefined; NULL after recording a
 * fault. */
struct cvl_vector *vector_new(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n);
void vector_release(struct cvl_context *, struct cvl_vector *);
/* Frees a vector that nobody holds any more, and whose memory is not OWN. Calls the lender's
 * notice, or releases the vector that it is a slice of. The block is given back, or left to
 * those who still read it. */
void vector_free_shared(struct cvl_context *, struct cvl_vector *);
/* Returns a new descriptor in OFFSETS form for `count` segments; the offsets are undefined.
 * NULL after recording a fault. */
struct cvl_segdes *segdes_new(struct cvl_context *, uint64_t site, uint64_t count);
/* Returns a new descriptor of `count` segments of one length. */
struct cvl_segdes *segdes_new_equal(struct cvl_context *, uint64_t site, uint64_t count,
                                    uint64_t length);
void segdes_release(struct cvl_context *, struct cvl_segdes *);
/* Whether the n > 0 segments between n + 1 offsets have the same length. */
bool offsets_all_equal(const uint64_t *offsets, uint64_t n);
/* Aborts, in debug builds, if a new descriptor contradicts the comments above. */
void segdes_check(const struct cvl_segdes *);

/* Makes room for a result of n elements: a scalar if n is 1, else `reuse` retained, or a new
 * vector if `reuse` is NULL. False after recording a fault; *out is then not set. */
bool result_new(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                struct cvl_vector *reuse, struct cvl_value *out);
/* Returns where the elements of a result go. `out` must stay in place while they are
 * written. */
static inline void *result_data(struct cvl_value *out) {
  return out->form == CVL_SCALAR ? (void *)&out->as : out->as.vector->data;
}
/* Drops a result that will not be delivered. */
void result_drop(struct cvl_context *, struct cvl_value *out);

/* Returns the elements of a scalar or vector operand, which are valid as long as the value. */
static inline const void *value_data(const struct cvl_value *v) {
  return v->form == CVL_SCALAR ? (const void *)&v->as : v->as.vector->data;
}
static inline uint64_t value_length(const struct cvl_value *v) {
  return v->form == CVL_SCALAR ? 1 : v->as.vector->length;
}
static inline struct segments value_segments(const struct cvl_value *d) {
  if (d->form == CVL_ONE_SEGMENT) {
    return (struct segments){1, d->as.one_segment, d->as.one_segment, NULL};
  }
  const struct cvl_segdes *s = d->as.segdes;
  return (struct segments){s->count, s->total, s->equal,
                           s->held.form == SEGDES_EQUAL ? NULL : s->offsets};
}
static inline uint64_t segment_start(const struct segments *s, uint64_t k) {
  return s->offsets ? s->offsets[k] : k * s->equal;
}
/* Returns the segment of position p < total: the last non-empty segment that starts at or
 * before p. Uses division or binary search. */
uint64_t segment_at(const struct segments *, uint64_t p);
/* Returns the first segment that starts at or after position p; `count` if there is none. */
uint64_t segment_from(const struct segments *, uint64_t p);

/* Returns element i of a vector of INTs of `bytes` bytes each. */
static inline int64_t int_element(const void *ints, uint64_t i, size_t bytes) {
  return bytes == sizeof(int64_t) ? ((const int64_t *)ints)[i] : ((const int32_t *)ints)[i];
}
/* Returns x as an INT of `bytes` bytes, wrapped, with its sign. */
static inline int64_t int_wrapped(uint64_t x, size_t bytes) {
  return bytes == sizeof x ? (int64_t)x : (int64_t)(int32_t)(uint32_t)x;
}

/* A coordinate of the path that visits, in order, the start of each segment and then its
 * elements. `segment` starts and `position` elements are before it. Elements between `position`
 * and the start of `segment` belong to an earlier segment, which is segment - 1 if they exist.
 * The path has count + total steps. An even split of it splits any shape evenly, however long,
 * short or empty the segments are: the merge path of Odeh, Green and others. */
struct path_coordinate {
  uint64_t segment, position;
};
struct path_coordinate segments_split(const struct segments *, uint64_t step);
static inline uint64_t segments_steps(const struct segments *s) {
  return s->count + s->total;
}

/* Counts the set flags among n. False if it was asked to end. */
bool cpu_count_flags(struct cvl_context *, uint64_t site, const uint8_t *flags, uint64_t n,
                     uint64_t *count);

/* Returns `done`, the result of a loop of the pool, after recording a CVL_E_STOPPED if it is
 * false. */
bool all_done(struct cvl_context *, uint64_t site, bool done);
/* Records a fault and returns false. The slot keeps the fault of the lowest site, then of the
 * lowest position. Only the caller's thread may call it. */
bool fault(struct cvl_context *, struct cvl_error);

/* Records a fault of an index into segment k of s, and returns false. */
bool segment_fault(struct cvl_context *, uint64_t site, enum cvl_error_kind, uint64_t position,
                   int64_t index, const struct segments *s, uint64_t k);

/* Frees every vector and descriptor, whoever holds it. */
void release_all(struct cvl_context *);
/* Copies bytes, or sets them to zero, on all threads where that pays. False after recording
 * that the operation was asked to end. */
bool copy_bytes(struct cvl_context *, uint64_t site, void *to, const void *from, uint64_t bytes)
    __attribute__((warn_unused_result));
bool clear_bytes(struct cvl_context *, uint64_t site, void *to, uint64_t bytes)
    __attribute__((warn_unused_result));
/* Writes to every page of memory that will be written in no particular order, and whose
 * contents do not matter yet. Otherwise the thread that wrote first would have the system make
 * all pages in one chunk, for seconds. Returns false as copy_bytes does. */
bool touch_bytes(struct cvl_context *, uint64_t site, void *to, uint64_t bytes)
    __attribute__((warn_unused_result));

/* Returns the vector of an operand if its memory may become a result with elements of `bytes`
 * bytes, else NULL. Its reference must have been passed and be the only one, and its memory
 * OWN. A result of length 1 is kept in its value. */
static inline struct cvl_vector *value_reusable(const struct cvl_value *v, size_t bytes) {
  return v->form == CVL_VECTOR && v->owned && v->as.vector->held.references == 1 &&
                 v->as.vector->held.memory == MEMORY_OWN && v->as.vector->length != 1 &&
                 elem_info((enum cvl_elem)v->elem)->bytes == bytes
             ? v->as.vector
             : NULL;
}
static inline size_t elem_bytes(uint8_t elem) {
  return elem_info((enum cvl_elem)elem)->bytes;
}
/* Sets *lowest to the lesser of *lowest and x: for the lowest fault of a parallel loop. */
static inline void note_lowest(_Atomic uint64_t *lowest, uint64_t x) {
  uint64_t seen = atomic_load_explicit(lowest, memory_order_relaxed);
  while (x < seen && !atomic_compare_exchange_weak_explicit(
                         lowest, &seen, x, memory_order_relaxed, memory_order_relaxed)) {
  }
}

/* The operations, one file each. Operands are borrowed here; cvl-cpu.c deals with `owned`.
 * `reuse` is NULL, or a vector whose memory the result may take over. It has the same element
 * size and length, is owned, and has one reference. The function then retains it and overwrites
 * the operand. */
unsigned cpu_devices(struct cvl_device *out, unsigned most, const char **why);
bool cpu_from_host(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   const void *data, struct cvl_value *out);
bool cpu_to_host(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                 void *dst);
bool cpu_import(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                const void *data, struct cvl_notice done, struct cvl_value *out);
bool cpu_generate(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                  const struct cvl_filler *, struct cvl_value *out);
bool cpu_generate_segdes(struct cvl_context *, uint64_t site, uint64_t n,
                         const struct cvl_filler *, struct cvl_value *out);
bool cpu_export(struct cvl_context *, const struct cvl_value *, struct cvl_export *);
bool cpu_slice(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t first,
               uint64_t n, struct cvl_value *out);
bool cpu_allocate(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                  struct cvl_value *out);
bool cpu_fill(struct cvl_context *, uint64_t site, const struct cvl_value *target,
              uint64_t first, const struct cvl_value *);
bool cpu_concatenate(struct cvl_context *, uint64_t site, uint64_t n,
                     const struct cvl_value *descriptors, struct cvl_value *out);
bool cpu_elementwise(struct cvl_context *, uint64_t site, enum cvl_op, unsigned arity,
                     const struct cvl_value *operands, struct cvl_value *out);
bool cpu_permute(struct cvl_context *, uint64_t site, const struct cvl_call *,
                 struct cvl_value *out);
bool cpu_extract(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                 const struct cvl_value *index, const struct cvl_value *d,
                 struct cvl_value *out);
bool cpu_replace(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                 const struct cvl_value *index, const struct cvl_value *w,
                 const struct cvl_value *d, struct cvl_value *out);
bool cpu_dist(struct cvl_context *, uint64_t site, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_value *out);
bool cpu_index(struct cvl_context *, uint64_t site, const struct cvl_value *start,
               const struct cvl_value *stride, const struct cvl_value *d,
               struct cvl_value *out);
bool cpu_pack(struct cvl_context *, uint64_t site, const struct cvl_value *v,
              const struct cvl_value *flags, const struct cvl_value *d, struct cvl_value *out,
              struct cvl_value *out_d);
bool cpu_make_segdes(struct cvl_context *, uint64_t site, const struct cvl_value *lengths,
                     struct cvl_value *out);
bool cpu_segdes_from_host(struct cvl_context *, uint64_t site, uint64_t n,
                          const int64_t *lengths, struct cvl_value *out);
bool cpu_lengths(struct cvl_context *, uint64_t site, const struct cvl_value *d,
                 struct cvl_value *out);
bool cpu_length_of(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                   struct cvl_value *out);
bool cpu_random(struct cvl_context *, uint64_t site, const struct cvl_random *,
                const struct cvl_value *bounds, struct cvl_value *out);
bool cpu_assert_all(struct cvl_context *, uint64_t site, const struct cvl_value *flags,
                    const struct cvl_value *v, const struct cvl_value *w);
#define SEGMENTED(kind, function)                                                              \
  bool cpu_##function(struct cvl_context *, uint64_t site, enum cvl_op,                        \
                      const struct cvl_value *v, const struct cvl_value *d,                    \
                      struct cvl_value *out);
#include "cvl/segmented.def"
/* operations/scan-tiles.c */
bool cpu_scan_totals(struct cvl_context *, uint64_t site, enum cvl_op,
                     const struct cvl_value *v, struct cvl_value *out);
bool cpu_scan_tiles(struct cvl_context *, uint64_t site, enum cvl_op, bool begins,
                    const struct cvl_value *v, const struct cvl_value *before,
                    struct cvl_value *out);
/* sub.c: open and close a sub-context; free all closed ones. */
struct cvl_context *cpu_open_sub(struct cvl_context *);
void cpu_close_sub(struct cvl_context *);
void cpu_free_subs(struct cvl_context *);
/* Returns the kernel to run in this context; for a kernel of its parent that is a copy. NULL:
 * no memory. The other function discards all copies of a kernel. */
struct cvl_kernel *cpu_kernel_of(struct cvl_context *, struct cvl_kernel *);
void cpu_discard_copies(struct cvl_context *, const struct cvl_kernel *);
struct cvl_kernel *cpu_prepare(struct cvl_context *, const struct superop *);
struct cvl_kernel *cpu_prepare_copy(struct cvl_context *, const struct cvl_kernel *);
void cpu_discard(struct cvl_context *, struct cvl_kernel *);
bool cpu_run(struct cvl_context *, uint64_t site, struct cvl_kernel *,
             const struct cvl_value *operands, struct cvl_value *outs);
bool cpu_run_tiles(struct cvl_context *, uint64_t site, struct cvl_kernel *,
                   const struct cvl_value *operands, const struct cvl_value *before,
                   struct cvl_value *outs);

#endif
