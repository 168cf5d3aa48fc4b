/* cpu.h - what the files of the multicore back end share: vectors, descriptors, the context,
 * its thread pool and its memory. Private to this room.
 *
 * Layers: cvl-cpu.c fills the table of the contract and takes values apart; the files named
 * after operations (elementwise.c, reduce.c, scan.c, ...) split the work over threads; the
 * kernels (kernels-NAME.c) are sequential loops over raw arrays, compiled once per instruction
 * set and chosen when a context opens.
 */
#ifndef RAVEL_CPU_H
#define RAVEL_CPU_H

#include "base/heap.h"
#include "cvl/cvl.h"

/* ---- threads (pool.c) ---- */

/* A pool of threads that sleep between operations and spin briefly before they do. One pool
 * belongs to one context; the calling thread is worker 0. */
struct pool;
struct pool *pool_new(struct heap *, unsigned threads); /* NULL: no memory or no thread */
void pool_free(struct pool *);
unsigned pool_threads(const struct pool *);
/* Runs body(arg, first, last, worker) over all of [0, items) in pieces of `grain` (the last
 * may be shorter), pieces taken dynamically in increasing order of `first`. Runs on the caller
 * alone when there is one piece. Returns when all is done. */
typedef void pool_body(void *arg, uint64_t first, uint64_t last, unsigned worker);
void pool_for(struct pool *, uint64_t items, uint64_t grain, pool_body *body, void *arg);

/* ---- memory (memory.c) ---- */

/* Vectors and scratch come from a caching allocator over the context's heap: size classes,
 * freed blocks kept for reuse (so large ones pay page faults once), huge pages asked for.
 * Blocks are aligned to 64 bytes and may be read up to 64 bytes past their end. */
struct memory;

/* ---- vectors and descriptors ---- */

struct cvl_vector {
  uint32_t references;
  uint8_t elem; /* enum cvl_elem */
  uint64_t length;
  size_t bytes; /* capacity of data */
  void *data;
};

enum segdes_form {
  SEGDES_EQUAL,  /* count segments of `equal` elements each */
  SEGDES_OFFSETS /* offsets[0 .. count], non-decreasing, offsets[0] = 0 */
};

struct cvl_segdes {
  uint32_t references;
  uint8_t form;
  uint64_t count, total;
  uint64_t equal;
  uint64_t *offsets; /* OFFSETS only */
  size_t bytes;      /* capacity of offsets */
};

/* A descriptor operand of any form, taken apart for reading: no allocation. */
struct segments {
  uint64_t count, total;
  uint64_t equal;          /* length of every segment if offsets is NULL */
  const uint64_t *offsets; /* count + 1, or NULL: segment k is [k*equal, (k+1)*equal) */
};

struct cpu_kernels; /* the kernels of one instruction set: kernels.h */

struct cvl_context {
  enum cvl_elem int_elem, float_elem;
  struct heap heap;
  struct memory *memory;
  struct pool *pool;
  const struct cpu_kernels *kernels;
  struct cvl_error error; /* the slot */
};

/* Scratch memory for one operation; NULL after recording a CVL_E_MEMORY fault. */
void *scratch_alloc(struct cvl_context *, uint64_t site, size_t bytes);
void scratch_free(struct cvl_context *, void *, size_t bytes);
/* A new vector with one reference, elements undefined; NULL after recording a fault. */
struct cvl_vector *vector_new(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n);
void vector_release(struct cvl_context *, struct cvl_vector *);
/* A new descriptor in OFFSETS form for count segments, offsets undefined. */
struct cvl_segdes *segdes_new(struct cvl_context *, uint64_t site, uint64_t count);
void segdes_release(struct cvl_context *, struct cvl_segdes *);

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
                           s->form == SEGDES_EQUAL ? NULL : s->offsets};
}
static inline uint64_t segment_start(const struct segments *s, uint64_t k) {
  return s->offsets ? s->offsets[k] : k * s->equal;
}
/* The segment that position p of the vector lies in (the last non-empty one that starts at or
 * before p): by division or binary search. p < total. */
uint64_t segment_at(const struct segments *, uint64_t p);

/* Records a fault (the lowest site wins, then the lowest position) and returns false. May be
 * called by the caller's thread only. */
bool fault(struct cvl_context *, struct cvl_error);

/* The operations, one file each; operands are borrowed here, cvl-cpu.c deals with `owned`.
 * `reuse` is a vector whose memory the result may take over (same element size and length,
 * one reference, owned), or NULL: then the function retains it and writes in place. */
bool cpu_reduce(struct cvl_context *, uint64_t site, enum cvl_op, const struct cvl_value *v,
                const struct cvl_value *d, struct cvl_value *out);
bool cpu_scan(struct cvl_context *, uint64_t site, enum cvl_op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_vector *reuse, struct cvl_value *out);
bool cpu_rank(struct cvl_context *, uint64_t site, enum cvl_op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_value *out);

#endif
