/* heap.h - memory that is counted, limited, and can fail on demand.
 *
 * All host memory of Ravel comes from a `struct heap`, so that exceeding the limit is an
 * ordinary error and tests can fail the n-th allocation. A heap may be shared by threads.
 */
#ifndef RAVEL_HEAP_H
#define RAVEL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
struct heap; /* C++ does not know these atomics, and only passes heaps on */
#else
#include "base/stop.h"
#include <stdatomic.h>
struct heap {
  uint64_t limit;            /* bytes that may be live at once; 0: no limit */
  _Atomic uint64_t live;     /* bytes now allocated */
  _Atomic uint64_t peak;     /* most bytes ever allocated */
  _Atomic uint64_t count;    /* allocations asked for so far */
  _Atomic uint64_t failures; /* of them, refused */
  uint64_t fail_at;          /* the allocation with this number (from 1) fails; 0: none */
  const struct stop *stop;   /* arenas over this heap jump when it asks; NULL: they do not */
};
#endif

/* Makes a heap that has no allocations. */
void heap_init(struct heap *, uint64_t limit);
/* Returns bytes of memory aligned to 64, uninitialised, which the caller frees by heap_free.
 * NULL if the limit, the system or fail_at refuses. 0 bytes give a valid pointer. */
void *heap_alloc(struct heap *, size_t bytes);
/* Frees what heap_alloc gave for `bytes`; NULL is ignored. */
void heap_free(struct heap *, void *, size_t bytes);
/* Stops counting a block of `bytes`: from now on the caller owns it and frees it by free, even
 * when the heap no longer exists. */
void heap_leave(struct heap *, size_t bytes);
/* Counts bytes that the caller has from elsewhere, until heap_leave. Returns false and counts
 * nothing if the limit or fail_at refuses. */
bool heap_enter(struct heap *, size_t bytes);
/* Asks for huge pages for a block, if it is large. They cost a quarter of the page faults, and
 * far fewer misses of the address translation in gathers and scatters. */
void heap_ask_for_huge_pages(void *, size_t bytes);
/* Allocates new_bytes by heap_alloc, copies the lesser of both sizes and frees the old block.
 * Returns NULL on failure; the old block stays then. */
void *heap_grow(struct heap *, void *, size_t old_bytes, size_t new_bytes);

#endif
