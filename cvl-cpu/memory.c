/* memory.c - the caching allocator behind vectors, descriptors and scratch.
 *
 * Data-parallel programs allocate and free vectors of the same few sizes over and over. Fresh
 * memory costs a page fault per page and the zeroing of it, several times what the operation
 * itself costs, so freed blocks are cached by size class and reused, and large ones ask for
 * huge pages. The heap counts cached blocks as live; when it refuses, all of them are returned
 * to it and the request is repeated.
 *
 * Lengths that follow the data hardly ever repeat, so a kept block also serves requests of
 * more than half its size. A head before each block therefore says its class.
 *
 * Only the thread that owns the context allocates, so there are no locks.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/sanitizers.h"
#include "cvl-cpu/cpu.h"

#ifdef RAVEL_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum {
  UNIT = 64,                /* sizes are multiples of this */
  STEPS_LOG = 3,            /* 2^3 classes to a doubling: at most an eighth is wasted */
  CLASSES = 456,            /* enough for any size_t */
  KEEP_AT_LEAST = 64 << 20, /* bytes kept however little was ever in use */
  JUNK = 0xa5               /* what debug builds fill a block with */
};

/* What lies before a block; a whole UNIT, to keep the block aligned. */
struct head {
  struct head *next; /* while it is kept */
  unsigned class;
  _Alignas(UNIT) char block[];
};

struct memory {
  struct heap *heap;
  struct head *kept[CLASSES];
  uint64_t kept_bytes;
  uint64_t used_bytes, most_used; /* blocks given out, in class sizes */
  uint64_t held, peak;            /* by vectors and descriptors, for statistics */
  uint64_t count, fail_at;
};

/* The class of a request: u units, its head and the slack behind it included, for u < 16, then
 * m * 2^e units with 8 <= m < 16. */
static unsigned class_of(size_t bytes) {
  const uint64_t u = ((uint64_t)bytes + sizeof(struct head) + VECTOR_SLACK + UNIT - 1) / UNIT;
  unsigned e = 0;
  if (u >> (STEPS_LOG + 1)) e = 63 - (unsigned)__builtin_clzll(u) - STEPS_LOG;
  const uint64_t m = (u + (UINT64_C(1) << e) - 1) >> e;
  return (e << STEPS_LOG) + (unsigned)m;
}

struct memory *memory_new(struct heap *heap) {
  struct memory *m = heap_alloc(heap, sizeof *m);
  if (!m) return NULL;
  memset(m, 0, sizeof *m);
  m->heap = heap;
  return m;
}

/* The bytes of the blocks of class c, with all that belongs to them: class_of the other way
 * round. */
static size_t size_of_class(unsigned c) {
  const unsigned e = c < 16 ? 0 : (c >> STEPS_LOG) - 1;
  return (size_t)(c - (e << STEPS_LOG)) << e << 6;
}

/* Gives every kept block back to the heap. */
static void give_back_kept(struct memory *m) {
  for (unsigned c = 0; c < CLASSES; c++) {
    const size_t size = size_of_class(c);
    while (m->kept[c]) {
      struct head *h = m->kept[c];
      UNPOISON(h, size);
      m->kept[c] = h->next;
      heap_free(m->heap, h, size);
    }
  }
  m->kept_bytes = 0;
}

void memory_free(struct memory *m) {
  if (!m) return;
  give_back_kept(m);
  heap_free(m->heap, m, sizeof *m);
}

static struct head *fresh_block(struct memory *m, unsigned c) {
  const size_t size = size_of_class(c);
  struct head *h = heap_alloc(m->heap, size);
  if (!h && m->kept_bytes) {
    give_back_kept(m);
    h = heap_alloc(m->heap, size);
  }
  if (!h) return NULL;
  h->class = c;
  heap_ask_for_huge_pages(h, size);
  return h;
}

/* The smallest kept block of class c or larger, but less than twice the size; NULL: none. */
static struct head *kept_block(struct memory *m, unsigned c) {
  const unsigned twice = c + (1 << STEPS_LOG);
  for (unsigned i = c; i < twice && i < CLASSES; i++) {
    struct head *h = m->kept[i];
    if (!h) continue;
    m->kept[i] = h->next;
    m->kept_bytes -= size_of_class(i);
    return h;
  }
  return NULL;
}

void *memory_take(struct memory *m, size_t bytes) {
  m->count++;
  if (m->count == m->fail_at || bytes > SIZE_MAX / 4) return NULL;
  const unsigned c = class_of(bytes);
  struct head *h = kept_block(m, c);
  if (!h) h = fresh_block(m, c);
  if (!h) return NULL;
  const size_t size = size_of_class(h->class);
  POISON(h->block, size - sizeof *h);
  UNPOISON(h->block, bytes + VECTOR_SLACK);
  m->used_bytes += size;
  if (m->used_bytes > m->most_used) m->most_used = m->used_bytes;
#ifdef RAVEL_DEBUG
  memset(h->block, JUNK, bytes + VECTOR_SLACK);
#endif
  return h->block;
}

/* What may be kept depends on what the program has needed at once: half as much again in all.
 * When that is exceeded the sizes in demand have changed, so all that is kept goes. */
static bool room_to_keep(const struct memory *m, size_t size) {
  return m->used_bytes + m->kept_bytes + size <=
         m->most_used + m->most_used / 2 + KEEP_AT_LEAST;
}

static struct head *head_of(void *block) {
  return (struct head *)(void *)((char *)block - offsetof(struct head, block));
}

void memory_give(struct memory *m, void *block, size_t bytes) {
  if (!block) return;
  struct head *h = head_of(block);
  invariant(class_of(bytes) <= h->class);
  const size_t size = size_of_class(h->class);
  m->used_bytes -= size;
  if (!room_to_keep(m, size)) give_back_kept(m);
  h->next = m->kept[h->class];
  m->kept[h->class] = h;
  m->kept_bytes += size;
  POISON(h->block, size - sizeof *h);
}

void memory_leave(struct memory *m, void *block, size_t bytes) {
  struct head *h = head_of(block);
  invariant(class_of(bytes) <= h->class);
  const size_t size = size_of_class(h->class);
  m->used_bytes -= size;
  UNPOISON(h, size);
  heap_leave(m->heap, size);
}

void memory_free_left(void *block) {
  free(head_of(block)); /* as heap_leave says */
}

void memory_fail(struct memory *m, uint64_t n) {
  m->fail_at = n ? m->count + n : 0;
}

void memory_hold(struct memory *m, size_t bytes) {
  m->held += bytes;
  if (m->held > m->peak) m->peak = m->held;
}

void memory_unhold(struct memory *m, size_t bytes) {
  m->held -= bytes;
}

struct cvl_statistics memory_statistics(const struct memory *m) {
  return (struct cvl_statistics){
      .live_bytes = m->held, .peak_bytes = m->peak, .allocations = m->count};
}
