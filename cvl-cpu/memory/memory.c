/* memory.c - the caching allocator behind vectors, descriptors and scratch memory.
 *
 * Fresh memory costs a page fault for each page, and clearing it: several times the cost of an
 * operation. So freed blocks are used again. Large blocks are in regions, where they split and
 * merge (regions.h). Lengths that follow the data hardly ever repeat, and memory that was
 * cleared once serves any of them. Small blocks are kept by size class, and serve requests of
 * more than half their size. Kept blocks count as live in the heap. When the heap refuses, all
 * of them are given back and the request is repeated.
 *
 * Only the thread that owns the context allocates. A sub-context has memory of its own over the
 * heap of its parent, so that its thread gets back what it freed, which is in its cache. When
 * the heap refuses, all sub-contexts give back what they keep. Hence each has a lock, which is
 * rarely contended.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/sanitizers.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/memory/regions.h"

enum {
  UNIT = 64,              /* sizes are multiples of this */
  STEPS_LOG = 3,          /* 2^3 classes to a doubling: at most an eighth is wasted */
  CLASSES = 72,           /* as many as requests below LARGE_BYTES need */
  LARGE = CLASSES,        /* in place of a class: the block is in a region */
  LARGE_BYTES = 64 << 10, /* smaller blocks fit the second-level cache, and are soon cleared */
  /* bytes above the result of the last trim that are worth another one */
  LOOK_BYTES = 16 << 20,
  PERIOD = 16,        /* a period lasts until so many times the held bytes were taken */
  SUB_KEEP = 1 << 20, /* `keep` of a sub-context; there may be many */
  JUNK = 0xa5         /* what debug builds fill a block with */
};

/* The head before a block. It takes a whole UNIT, to keep the block aligned. */
struct head {
  struct head *next; /* next of its class, while it is kept */
  unsigned class;
  _Alignas(UNIT) char block[];
};

struct memory {
  struct heap *heap;
  struct regions *regions;
  uint64_t keep; /* bytes, however little was ever in use */
  struct head *kept[CLASSES];
  uint64_t kept_bytes, small_bytes; /* small blocks, kept and in use, in class sizes */
  uint64_t taken;                   /* bytes taken in this period */
  /* the most bytes in use at once, in this period and the one before */
  uint64_t most, most_before;
  uint64_t trimmed; /* bytes used and kept after the last trim of this period */
  /* bytes of vectors and descriptors, for statistics: now, and the most since
   * memory_restart_peak and before it */
  uint64_t held, recent, peak;
  uint64_t count, fail_at;
  bool (*spare)(void *owner); /* memory_set_spare; or NULL */
  void *owner;
  struct memory *parent;  /* for a sub-context; else NULL */
  struct memory *sibling; /* for a sub-context: the parent's next one */
  struct memory *subs;    /* memories of sub-contexts, open or not */
  /* sum of the peaks of sub-contexts closed since none was open; locked */
  uint64_t subs_peak;
  unsigned open_subs; /* how many are open; locked */
  /* allocations of sub-contexts: all, while fail_at is set; else those of closed ones */
  _Atomic uint64_t taken_by_subs;
  /* protects a sub-context's blocks, or the parent's list of subs */
  pthread_mutex_t lock;
};

/* ---- small blocks ---- */

/* Returns the class of a request. In units that include head and slack, class u has u units for
 * u < 16. Larger classes have m * 2^e units with 8 <= m < 16. */
static unsigned memory_class_of(size_t bytes) {
  const uint64_t u = ((uint64_t)bytes + sizeof(struct head) + VECTOR_SLACK + UNIT - 1) / UNIT;
  unsigned e = 0;
  if (u >> (STEPS_LOG + 1)) e = 63 - (unsigned)__builtin_clzll(u) - STEPS_LOG;
  const uint64_t m = (u + (UINT64_C(1) << e) - 1) >> e;
  return (e << STEPS_LOG) + (unsigned)m;
}

/* Returns the bytes of a block of class c, head and slack included: the inverse of
 * memory_class_of. */
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

/* Returns the smallest kept block of class c or larger, but less than twice the size; NULL if
 * there is none. */
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

static struct head *small_block(struct memory *m, size_t bytes) {
  const unsigned c = memory_class_of(bytes);
  struct head *h = kept_block(m, c);
  if (!h) {
    h = heap_alloc(m->heap, size_of_class(c));
    if (!h) return NULL;
    h->class = c;
  }
  const size_t size = size_of_class(h->class);
  m->small_bytes += size;
  POISON(h->block, size - sizeof *h);
  UNPOISON(h->block, bytes + VECTOR_SLACK);
  return h;
}

static void memory_keep(struct memory *m, struct head *h) {
  const size_t size = size_of_class(h->class);
  m->small_bytes -= size;
  m->kept_bytes += size;
  h->next = m->kept[h->class];
  m->kept[h->class] = h;
  POISON(h->block, size - sizeof *h);
}

static void leave_small(struct memory *m, struct head *h) {
  const size_t size = size_of_class(h->class);
  m->small_bytes -= size;
  UNPOISON(h, size);
  heap_leave(m->heap, size);
}

/* ---- what is kept ---- */

static uint64_t memory_used(const struct memory *m) {
  return m->small_bytes + regions_used(m->regions);
}

static uint64_t used_and_kept(const struct memory *m) {
  return m->small_bytes + m->kept_bytes + regions_counted(m->regions);
}

/* Gives back all that is kept. False if there was nothing. */
static bool give_back_all(struct memory *m) {
  const bool any = m->kept_bytes > 0;
  give_back_kept(m);
  return regions_release(m->regions, UINT64_MAX) > 0 || any;
}

/* Returns how much may be used and kept in all: half as much again as the program has lately
 * needed at once. If more is kept, the requested sizes have changed. */
static uint64_t bound(const struct memory *m) {
  const uint64_t most = m->most > m->most_before ? m->most : m->most_before;
  return most + most / 2 + m->keep;
}

/* Gives back some of what is kept, if it exceeds the bound. Blocks that lie far apart count
 * more than their sizes, so a trim that could not reach the bound is repeated only when there
 * is more. */
static void memory_trim(struct memory *m) {
  const uint64_t now = used_and_kept(m);
  if (now <= bound(m) || now < m->trimmed + LOOK_BYTES) return;
  regions_release(m->regions, now - bound(m));
  if (used_and_kept(m) > bound(m)) give_back_kept(m);
  m->trimmed = used_and_kept(m);
}

/* Counts taken bytes, and trims. A period ends when a program has taken many times as much as
 * is held for it. Clearing memory that was given back in vain is then little work beside what
 * was done with the rest. */
static void note_taken(struct memory *m, size_t bytes) {
  m->taken += bytes;
  const uint64_t now = memory_used(m);
  if (now > m->most) m->most = now;
  if (m->taken / PERIOD > used_and_kept(m) + m->keep) {
    m->most_before = m->most;
    m->most = now;
    m->taken = m->trimmed = 0;
  }
  memory_trim(m);
}

/* ---- sub-contexts ---- */

static void memory_lock(struct memory *m) {
  if (m->parent) pthread_mutex_lock(&m->lock);
}

static void memory_unlock(struct memory *m) {
  if (m->parent) pthread_mutex_unlock(&m->lock);
}

static bool release_spare(struct memory *m) {
  return m->spare && m->spare(m->owner);
}

/* Gives back all that a context and its sub-contexts keep. The parent's own memory may be
 * touched, since no thread uses it while sub-contexts are open. */
static bool give_back_everywhere(struct memory *m) {
  struct memory *parent = m->parent ? m->parent : m;
  pthread_mutex_lock(&parent->lock);
  bool any = give_back_all(parent);
  any |= release_spare(parent);
  for (struct memory *sub = parent->subs; sub; sub = sub->sibling) {
    memory_lock(sub);
    any |= give_back_all(sub);
    memory_unlock(sub);
    any |= release_spare(sub);
  }
  pthread_mutex_unlock(&parent->lock);
  return any;
}

bool memory_enter_sub(struct memory *parent) {
  const uint64_t before = atomic_fetch_add(&parent->taken_by_subs, 1);
  return parent->count + before + 1 != parent->fail_at;
}

/* Counts an allocation. False if it is this allocation's turn to fail. Allocations of
 * sub-contexts count as the parent's; they are counted one by one while one of them is to
 * fail. */
static bool memory_enter(struct memory *m) {
  m->count++;
  if (m->count + m->taken_by_subs == m->fail_at) return false;
  return !m->parent || !m->parent->fail_at || memory_enter_sub(m->parent);
}

/* ---- the interface ---- */

struct memory *memory_new(struct heap *heap, uint64_t keep) {
  struct memory *m = heap_alloc(heap, sizeof *m);
  if (!m) return NULL;
  memset(m, 0, sizeof *m);
  m->heap = heap;
  m->keep = keep;
  m->regions = regions_new(heap);
  if (m->regions && pthread_mutex_init(&m->lock, NULL) == 0) return m;
  regions_free(m->regions);
  heap_free(heap, m, sizeof *m);
  return NULL;
}

struct memory *memory_new_sub(struct memory *parent) {
  struct memory *m = memory_new(parent->heap, SUB_KEEP);
  if (!m) return NULL;
  m->parent = parent;
  pthread_mutex_lock(&parent->lock);
  m->sibling = parent->subs;
  parent->subs = m;
  pthread_mutex_unlock(&parent->lock);
  return m;
}

void memory_open_sub(struct memory *m) {
  pthread_mutex_lock(&m->parent->lock);
  m->parent->open_subs++;
  pthread_mutex_unlock(&m->parent->lock);
}

static uint64_t highest(const struct memory *m) {
  return m->recent > m->peak ? m->recent : m->peak;
}

/* Adds a closed sub-context's peak. Sub-contexts that were open together may have had their
 * peaks at the same time. */
static void add_peak(struct memory *parent, uint64_t peak) {
  pthread_mutex_lock(&parent->lock);
  parent->subs_peak += peak;
  if (--parent->open_subs == 0) {
    const uint64_t all = parent->held + parent->subs_peak;
    if (all > parent->recent) parent->recent = all;
    parent->subs_peak = 0;
  }
  pthread_mutex_unlock(&parent->lock);
}

void memory_close_sub(struct memory *m) {
  struct memory *parent = m->parent;
  add_peak(parent, highest(m));
  if (!parent->fail_at) atomic_fetch_add(&parent->taken_by_subs, m->count);
  m->held = m->recent = m->peak = m->count = m->fail_at = 0;
}

void memory_free(struct memory *m) {
  if (!m) return;
  for (struct memory *sub = m->subs, *next; sub; sub = next) {
    next = sub->sibling;
    memory_free(sub);
  }
  give_back_kept(m);
  regions_free(m->regions);
  pthread_mutex_destroy(&m->lock);
  heap_free(m->heap, m, sizeof *m);
}

static bool is_large(size_t bytes) {
  return bytes >= LARGE_BYTES;
}

static struct head *large_block(struct memory *m, size_t bytes) {
  struct head *h = regions_take(m->regions, sizeof *h + bytes + VECTOR_SLACK);
  if (h) h->class = LARGE;
  return h;
}

static struct head *block_for(struct memory *m, size_t bytes) {
  memory_lock(m);
  struct head *h = is_large(bytes) ? large_block(m, bytes) : small_block(m, bytes);
  if (h) note_taken(m, bytes);
  memory_unlock(m);
  return h;
}

void *memory_take(struct memory *m, size_t bytes) {
  if (!memory_enter(m) || bytes > SIZE_MAX / 4) return NULL;
  struct head *h = block_for(m, bytes);
  if (!h && give_back_everywhere(m)) h = block_for(m, bytes);
  if (!h) return NULL;
#ifdef RAVEL_DEBUG
  memset(h->block, JUNK, bytes + VECTOR_SLACK);
#endif
  return h->block;
}

static struct head *memory_head_of(void *block) {
  return (struct head *)(void *)((char *)block - offsetof(struct head, block));
}

void memory_give(struct memory *m, void *block, size_t bytes) {
  if (!block) return;
  struct head *h = memory_head_of(block);
  invariant(is_large(bytes) ? h->class == LARGE : memory_class_of(bytes) <= h->class);
  memory_lock(m);
  if (is_large(bytes)) {
    regions_give(m->regions, h);
  } else {
    memory_keep(m, h);
  }
  memory_unlock(m);
}

void memory_leave(struct memory *m, void *block, size_t bytes) {
  struct head *h = memory_head_of(block);
  invariant(is_large(bytes) ? h->class == LARGE : memory_class_of(bytes) <= h->class);
  memory_lock(m);
  if (is_large(bytes)) {
    regions_leave(m->regions, h);
  } else {
    leave_small(m, h);
  }
  memory_unlock(m);
}

void memory_free_left(void *block) {
  struct head *h = memory_head_of(block);
  if (h->class == LARGE) {
    regions_free_left(h);
  } else {
    free(h); /* heap_leave requires it */
  }
}

void *memory_take_apart(struct memory *m, size_t bytes) {
  if (!memory_enter_sub(m->parent ? m->parent : m) || bytes > SIZE_MAX / 4) return NULL;
  void *block = heap_alloc(m->heap, bytes + VECTOR_SLACK);
  if (!block && give_back_everywhere(m)) block = heap_alloc(m->heap, bytes + VECTOR_SLACK);
  return block;
}

void memory_give_apart(struct memory *m, void *block, size_t bytes) {
  if (block) heap_free(m->heap, block, bytes + VECTOR_SLACK);
}

void memory_set_spare(struct memory *m, bool (*release)(void *owner), void *owner) {
  m->spare = release;
  m->owner = owner;
}

void memory_fail(struct memory *m, uint64_t n) {
  m->fail_at = n ? m->count + m->taken_by_subs + n : 0;
}

void memory_hold(struct memory *m, size_t bytes) {
  m->held += bytes;
  if (m->held > m->recent) m->recent = m->held;
}

void memory_unhold(struct memory *m, size_t bytes) {
  m->held -= bytes;
}

void memory_restart_peak(struct memory *m) {
  if (m->recent > m->peak) m->peak = m->recent;
  m->recent = m->held;
}

struct cvl_statistics memory_statistics(const struct memory *m) {
  return (struct cvl_statistics){.live_bytes = m->held,
                                 .peak_bytes = highest(m),
                                 .recent_peak_bytes = m->recent,
                                 .allocations = m->count + m->taken_by_subs};
}
