/* heap.c - allocations that are counted and limited. */
#include "base/heap.h"
#include "base/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sanitizers.h"

enum {
  ALIGNMENT = 64,
  HUGE_PAGE = 2 << 20 /* where transparent huge pages begin to matter */
};

/* Today's machines cannot address more. */
#define LARGEST_BLOCK ((uint64_t)1 << 47)

#ifdef RAVEL_ASAN
/* A refused allocation is expected here, not a defect. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}
#endif

void heap_init(struct heap *heap, uint64_t limit) {
  heap->limit = limit;
  heap->fail_at = 0;
  heap->stop = NULL;
  atomic_init(&heap->live, 0);
  atomic_init(&heap->peak, 0);
  atomic_init(&heap->count, 0);
  atomic_init(&heap->failures, 0);
}

static size_t heap_rounded(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + (bytes == 0 ? ALIGNMENT : 0);
}

/* Takes bytes from the limit; false if they do not fit, and then no other thread has seen them
 * taken. */
static bool heap_reserve(struct heap *heap, size_t bytes) {
  uint64_t live = atomic_load(&heap->live), peak = atomic_load(&heap->peak);
  do {
    if (heap->limit != 0 && live + bytes > heap->limit) return false;
  } while (!atomic_compare_exchange_weak(&heap->live, &live, live + bytes));
  live += bytes;
  while (live > peak && !atomic_compare_exchange_weak(&heap->peak, &peak, live)) {
  }
  return true;
}

/* Counts one allocation more, and its bytes if it is permitted. */
static bool heap_count(struct heap *heap, size_t bytes) {
  uint64_t number = atomic_fetch_add(&heap->count, 1) + 1;
  if (number == heap->fail_at || bytes > LARGEST_BLOCK) return false;
  return heap_reserve(heap, heap_rounded(bytes));
}

bool heap_enter(struct heap *heap, size_t bytes) {
  const bool entered = heap_count(heap, bytes);
  if (!entered) atomic_fetch_add(&heap->failures, 1);
  return entered;
}

static void *heap_allocate(struct heap *heap, size_t bytes) {
  if (!heap_count(heap, bytes)) return NULL;
  void *block = aligned_alloc(ALIGNMENT, heap_rounded(bytes));
  if (block == NULL) atomic_fetch_sub(&heap->live, heap_rounded(bytes));
  return block;
}

void *heap_alloc(struct heap *heap, size_t bytes) {
  void *block = heap_allocate(heap, bytes);
  if (block == NULL) atomic_fetch_add(&heap->failures, 1);
  return block;
}

void heap_leave(struct heap *heap, size_t bytes) {
  const uint64_t live = atomic_fetch_sub(&heap->live, heap_rounded(bytes));
  invariant(live >= heap_rounded(bytes));
}

void heap_free(struct heap *heap, void *block, size_t bytes) {
  if (block == NULL) return;
  heap_leave(heap, bytes);
  free(block);
}

void *heap_grow(struct heap *heap, void *block, size_t old_bytes, size_t new_bytes) {
  void *grown = heap_alloc(heap, new_bytes);
  if (grown == NULL) return NULL;
  if (block != NULL) memcpy(grown, block, old_bytes < new_bytes ? old_bytes : new_bytes);
  heap_free(heap, block, old_bytes);
  return grown;
}

/* This is a wish: a failure changes nothing. */
void heap_ask_for_huge_pages(void *block, size_t bytes) {
  const uintptr_t first = ((uintptr_t)block + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
  const uintptr_t last = ((uintptr_t)block + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);
  if (first < last) (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
}
