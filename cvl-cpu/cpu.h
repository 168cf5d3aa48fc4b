/* cpu.h - declarations for all files of the multicore back end: vectors, descriptors, the
 * context, its thread pool and its memory. Private to this room.
 *
 * Layers: cvl-cpu.c fills the table of the contract and takes values apart; the files named
 * after operations (operations/elementwise.c, operations/reduce.c, operations/scan.c, ...)
 * split the work over threads; the kernels (kernels-NAME.c) are sequential loops over raw
 * arrays, compiled once per instruction set and chosen when a context opens.
 */
#ifndef RAVEL_CPU_H
#define RAVEL_CPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/heap.h"
#include "cvl/call.h"
#include "cvl/sharing.h"
#include "cvl/trees.h"
#include "cvl/tuning.h"

/* ---- threads (pool.c) ---- */

/* A pool of threads that sleep between operations and spin briefly before they do. One pool
 * belongs to one context; the calling thread is worker 0. */
struct pool;
/* threads: 0 means processors_available (base/processors.h). spin: looks of an idle thread
 * before it sleeps. wake_after: microseconds that the caller works alone, in one loop or
 * several, before it wakes threads that sleep. NULL: no memory or no thread. */
struct pool *pool_new(struct heap *, unsigned threads, uint64_t spin, uint64_t wake_after);
void pool_free(struct pool *);
unsigned pool_threads(const struct pool *);
/* Runs body(arg, first, last, worker) over all of [0, items) in chunks that begin at multiples
 * of `grain` (the last may be shorter), taken dynamically, in any order: neighbours mostly by
 * the same thread. A grain of 1 says that each item is worth a thread. Runs on the caller alone
 * when there is one chunk. Returns when all is done;
 * or false when it was asked to end: then chunks are missing, but each one that was begun is
 * whole, and so are those before it where they are taken in order.
 */
typedef void pool_body(void *arg, uint64_t first, uint64_t last, unsigned worker);
bool pool_for(struct pool *, uint64_t items, uint64_t grain, pool_body *body, void *arg)
    __attribute__((warn_unused_result));
/* The same with chunks taken in increasing order of `first`: for a body that waits for the
 * chunks before its own. */
bool pool_for_in_order(struct pool *, uint64_t items, uint64_t grain, pool_body *body,
                       void *arg) __attribute__((warn_unused_result));
/* Who may ask loops to end: asked before each chunk. Nobody until this is called. */
void pool_set_stop(struct pool *, struct cvl_stop);
/* For a body whose chunks are long: whether it is to return at once. The loop will have been
 * asked to end. */
bool pool_asked(struct pool *);

/* ---- memory (memory/memory.c) ---- */

/* Vectors and scratch come from a caching allocator over the context's heap: small blocks in
 * size classes, large ones in regions (memory/regions.h), freed blocks kept for reuse. Blocks
 * are aligned to 64 bytes and may be read up to 64 bytes past their end. */
struct memory;
/* keep: freed bytes that are kept however little was ever in use. NULL: no memory. */
struct memory *memory_new(struct heap *, uint64_t keep);
void memory_free(struct memory *); /* every block must have been returned */
/* That of a sub-context, for one thread more; freed with its parent's. NULL: no memory. */
struct memory *memory_new_sub(struct memory *parent);
/* Counts one more allocation of the parent's sub-contexts; false if it is its turn to fail. */
bool memory_enter_sub(struct memory *parent);
/* The memory of a sub-context that has been opened. */
void memory_open_sub(struct memory *);
/* The sub-context is closed, and nothing is held: its counts go to the parent, and what it
 * keeps, within the limit, is for the next one. */
void memory_close_sub(struct memory *);
/* A block of at least `bytes`, contents undefined; NULL when the heap refuses although all
 * cached blocks have been given back, or when it is this allocation's turn to fail. */
void *memory_take(struct memory *, size_t bytes);
/* Takes back what memory_take gave for the same `bytes`; NULL is ignored. */
void memory_give(struct memory *, void *, size_t bytes);
/* The n-th memory_take from now fails; 0: none. */
void memory_fail(struct memory *, uint64_t n);
/* Leaves a block that memory_take gave for `bytes` to the caller, who calls memory_free_left,
 * on any thread, perhaps after memory_free. */
void memory_leave(struct memory *, void *, size_t bytes);
void memory_free_left(void *);
/* Counts bytes as held by vectors and descriptors, or no longer. */
void memory_hold(struct memory *, size_t bytes);
void memory_unhold(struct memory *, size_t bytes);
struct cvl_statistics memory_statistics(const struct memory *);
/* Begins the recent peak of the statistics anew. */
void memory_restart_peak(struct memory *);

/* ---- vectors and descriptors ---- */

/* Whose memory the elements of a vector are in: memory/exported.c. What is not OWN is not
 * written.
 */
enum vector_memory {
  MEMORY_OWN,      /* behind the head, in the same block */
  MEMORY_BORROWED, /* somebody's, who is called at the end: only read */
  MEMORY_LENT,     /* as OWN, but others read it, who may stay for longer */
  MEMORY_SLICE     /* another vector's: memory/slice.c */
};

/* The data of a vector or descriptor follows its head in the same block, unless it is
 * somebody else's. */
enum { HEAD_BYTES = 64 };

/* The head of every vector and descriptor: they are in a list of the context, so that closing
 * it frees those that were not released. */
struct held {
  struct held *next, *previous;
  size_t bytes; /* of the block: the head and the data behind it */
  uint32_t references;
  uint8_t memory; /* of a vector: enum vector_memory */
  uint8_t form;   /* of a descriptor: enum segdes_form */
  bool of_sub;    /* of a sub-context, not of its parent */
};

struct cvl_vector {
  struct held held;
  uint8_t elem; /* enum cvl_elem */
  uint64_t length;
  void *data; /* aligned to the element */
  union {
    struct exported *exported; /* LENT */
    struct cvl_vector *base;   /* SLICE: has a reference to it; NULL: the parent's */
  };
};

enum segdes_form {
  SEGDES_EQUAL,  /* count segments of `equal` elements each */
  SEGDES_OFFSETS /* offsets[0 .. count], non-decreasing, offsets[0] = 0 */
};

struct cvl_segdes {
  struct held held;
  uint64_t count, total;
  uint64_t equal;
  uint64_t *offsets; /* OFFSETS only */
};

/* A descriptor operand of any form, taken apart for reading: no allocation. */
struct segments {
  uint64_t count, total;
  uint64_t equal;          /* length of every segment if offsets is NULL */
  const uint64_t *offsets; /* count + 1, or NULL: segment k is [k*equal, (k+1)*equal) */
};

/* ---- a context ---- */

struct cpu_kernels; /* the kernels of one instruction set: kernels/kernels.h */

struct cvl_context {
  struct cvl_context *parent; /* of a sub-context; else NULL */
  enum cvl_elem int_elem, float_elem;
  struct tuning tuning; /* all values */
  struct cvl_stop stop;
  uint64_t memory_limit;       /* of the options; the heap's includes the context's own needs */
  struct heap own_heap, *heap; /* of a sub-context: that of its parent */
  struct memory *memory;
  struct held *held;                   /* all vectors and descriptors */
  struct cvl_kernel *prepared;         /* all superoperators made ready */
  struct ahead *ahead;                 /* or NULL: compile/ahead.h */
  struct compile_cache *compile_cache; /* or NULL: compile/compile.h */
  struct pool *pool;
  const struct cpu_kernels *kernels;
  const void *map_rows;   /* struct map_rows of these widths: kernels/map.h */
  struct cvl_error error; /* the slot */
  /* Sub-contexts that are closed, for the next time. */
  pthread_mutex_t idle_lock;
  struct cvl_context *idle;
  /* Of a sub-context: the next idle one; its copies of the parent's kernels, by their numbers.
   */
  struct cvl_context *next_idle;
  struct cvl_kernel **copies;
  uint32_t copy_room;
};

/* A tuning value (tables/tuning.def, docs/internals/cpu.md): tuned(c, STREAM_BYTES). */
#define tuned(c, id) ((c)->tuning.value[TUNE_CPU_##id])

enum {
  STAGING_BYTES = COMPILED_CPU_STAGING_BYTES,
  VECTOR_SLACK = 64 /* bytes behind every block that belong to nobody */
};

/* Grain for pool_for over `items` that take `bytes` each: all of them where the pool would
 * cost more than it gains, but no more than one thread takes between two looks at whether it is
 * to end; otherwise a multiple of 64. */
uint64_t grain_for(const struct cvl_context *, uint64_t items, uint64_t bytes);

/* Scratch memory for one operation; NULL after recording a CVL_E_MEMORY fault. */
void *scratch_alloc(struct cvl_context *, uint64_t site, size_t bytes);
void scratch_free(struct cvl_context *, void *, size_t bytes);
/* A new vector with one reference, elements undefined; NULL after recording a fault. */
struct cvl_vector *vector_new(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n);
void vector_release(struct cvl_context *, struct cvl_vector *);
/* A vector whose memory is not its OWN alone, and that nobody holds any more: calls whom it was
 * borrowed from, or releases the vector that it is a slice of, and gives its block back or
 * leaves it to those who read it. */
void vector_free_shared(struct cvl_context *, struct cvl_vector *);
/* A new descriptor in OFFSETS form for count segments, offsets undefined. */
struct cvl_segdes *segdes_new(struct cvl_context *, uint64_t site, uint64_t count);
/* One of count segments of one length. */
struct cvl_segdes *segdes_new_equal(struct cvl_context *, uint64_t site, uint64_t count,
                                    uint64_t length);
void segdes_release(struct cvl_context *, struct cvl_segdes *);
/* Whether the n > 0 segments between n + 1 offsets are of one length. */
bool offsets_all_equal(const uint64_t *offsets, uint64_t n);
/* In debug builds aborts if a new descriptor contradicts the comments above. */
void segdes_check(const struct cvl_segdes *);

/* Room for a result of n elements: a scalar if n is 1, else `reuse` retained (or NULL: a new
 * vector). False after recording a fault; *out is then not set. */
bool result_new(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                struct cvl_vector *reuse, struct cvl_value *out);
/* Where its elements go. `out` must stay where it is while they are written. */
static inline void *result_data(struct cvl_value *out) {
  return out->form == CVL_SCALAR ? (void *)&out->as : out->as.vector->data;
}
/* Drops a result that will not be delivered. */
void result_drop(struct cvl_context *, struct cvl_value *out);

/* The elements of a scalar or vector operand; valid while the value is. */
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
/* The segment of position p (the last non-empty one that starts at or before p): by division or
 * binary search. p < total. */
uint64_t segment_at(const struct segments *, uint64_t p);
/* The first segment that starts at or after position p; count if there is none. */
uint64_t segment_from(const struct segments *, uint64_t p);

/* Element i of a vector of INTs of so many bytes. */
static inline int64_t int_element(const void *ints, uint64_t i, size_t bytes) {
  return bytes == sizeof(int64_t) ? ((const int64_t *)ints)[i] : ((const int32_t *)ints)[i];
}
/* x as an INT of so many bytes, wrapping, with its sign. */
static inline int64_t int_wrapped(uint64_t x, size_t bytes) {
  return bytes == sizeof x ? (int64_t)x : (int64_t)(int32_t)(uint32_t)x;
}

/* A coordinate of the path that visits, in order, the start of each segment and then its
 * elements: `segment` starts and `position` elements are before it. The elements from
 * `position` on up to the start of `segment` belong to an earlier segment, which is segment - 1
 * if they exist. The path has count + total steps. Splitting it evenly splits any shape evenly,
 * however long, short or empty its segments: the merge path of Odeh, Green and others. */
struct path_coordinate {
  uint64_t segment, position;
};
struct path_coordinate segments_split(const struct segments *, uint64_t step);
static inline uint64_t segments_steps(const struct segments *s) {
  return s->count + s->total;
}

/* How many of n flags are set. False if it was asked to end. */
bool cpu_count_flags(struct cvl_context *, uint64_t site, const uint8_t *flags, uint64_t n,
                     uint64_t *count);

/* Hands `done` on, the result of a loop of the pool; records a CVL_E_STOPPED if it is false. */
bool all_done(struct cvl_context *, uint64_t site, bool done);
/* Records a fault (the lowest site wins, then the lowest position) and returns false. May be
 * called by the caller's thread only. */
bool fault(struct cvl_context *, struct cvl_error);

/* The same for an index into segment k of s. */
bool segment_fault(struct cvl_context *, uint64_t site, enum cvl_error_kind, uint64_t position,
                   int64_t index, const struct segments *s, uint64_t k);

/* Releases every vector and descriptor, whoever holds it. */
void release_all(struct cvl_context *);
/* Copies bytes, or sets them to zero, on all threads where that pays. False after recording
 * that the operation was asked to end. */
bool copy_bytes(struct cvl_context *, uint64_t site, void *to, const void *from, uint64_t bytes)
    __attribute__((warn_unused_result));
bool clear_bytes(struct cvl_context *, uint64_t site, void *to, uint64_t bytes)
    __attribute__((warn_unused_result));
/* Writes to every page of memory whose contents do not matter yet and which is written in no
 * order: a thread that did that first would have the kernel make all pages in one chunk, for
 * seconds. False as above. */
bool touch_bytes(struct cvl_context *, uint64_t site, void *to, uint64_t bytes)
    __attribute__((warn_unused_result));

/* The vector behind an operand, if its memory may become a result with elements of this size:
 * passed with its reference, and the only one, and nobody else's memory; else NULL. The result
 * of length 1 is kept in its value. */
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
/* *lowest = the lesser of *lowest and x; for the lowest fault of a parallel loop. */
static inline void note_lowest(_Atomic uint64_t *lowest, uint64_t x) {
  uint64_t seen = atomic_load_explicit(lowest, memory_order_relaxed);
  while (x < seen && !atomic_compare_exchange_weak_explicit(
                         lowest, &seen, x, memory_order_relaxed, memory_order_relaxed)) {
  }
}

/* The operations, one file each; operands are borrowed here, cvl-cpu.c deals with `owned`.
 * `reuse` is a vector whose memory the result may take over (same element size and length,
 * one reference, owned), or NULL: then the function retains it and overwrites the operand. */
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
/* known: that every index is in range, and none occurs twice, since the same index has
 * permuted another vector; PERMUTE then does not look. */
bool cpu_permute(struct cvl_context *, uint64_t site, const struct cvl_call *, bool known,
                 struct cvl_value *out);
/* The index of a scatter that nobody has written: in segment r of the source, starts[r],
 * starts[r] + strides[r] and so on. Its segments need not be those of the source. */
struct cpu_runs {
  struct segments segments;
  const void *starts, *strides; /* INTs */
};
/* DPERMUTE by such an index, or FPERMUTE of all; index and flags are not looked at. */
bool cpu_scatter_runs(struct cvl_context *, uint64_t site, const struct cvl_permute *,
                      const struct cpu_runs *, struct cvl_value *out);
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
/* sub.c: opens and closes a sub-context; frees all that are closed. */
struct cvl_context *cpu_open_sub(struct cvl_context *);
void cpu_close_sub(struct cvl_context *);
void cpu_free_subs(struct cvl_context *);
/* The kernel to run in this context: of one of its parent's, its own copy; NULL: no memory.
 * Discards all copies of a kernel. */
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
