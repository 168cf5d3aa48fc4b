/* regions.c - large blocks that split and merge, in reserved address space.
 *
 * A region begins with its head and the marks of its frames. Behind them one block follows the
 * next to the region's end, each with the size of the one before it (boundary tags, Knuth 2.5),
 * so that neighbours are found without a search. What has not been counted yet is not
 * accessible. The head of every block is in counted memory; of a free block nothing else needs
 * to be.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/sanitizers.h"
#include "cvl-cpu/memory/free-blocks.h"
#include "cvl-cpu/memory/regions.h"

#ifdef RAVEL_ASAN
#include <sanitizer/lsan_interface.h>
#define IS_ROOT(p, n) __lsan_register_root_region(p, n)
#define NO_ROOT(p, n) __lsan_unregister_root_region(p, n)
#else
#define IS_ROOT(p, n) ((void)(p), (void)(n))
#define NO_ROOT(p, n) ((void)(p), (void)(n))
#endif

enum {
  FRAME_BYTES = 4 << 10,  /* blocks have little in common at their ends */
  HUGE_BYTES = 2 << 20,   /* regions begin and end at multiples of it, and grow by it */
  REST_BYTES = 4 << 10,   /* a smaller rest stays with the block in front of it */
  PAGE_BYTES = 4 << 10,   /* addresses that differ by multiples of it are mistaken for equal */
  OFFSET_BYTES = 25 * 64, /* what every block is longer than a multiple of that */
  MARKS = 64              /* in a word */
};

#define REGION_BYTES  ((size_t)16 << 30) /* a region has at least so much, */
#define REGION_BLOCKS 4                  /* and room for so many blocks like its first */
#define LARGEST       ((size_t)1 << 47)  /* address space of today's machines */

struct region {
  struct region *next;
  size_t bytes;
  size_t ready;               /* so much of it can be accessed */
  _Atomic unsigned holders;   /* the regions it belongs to, and every block that is left */
  struct block *_Atomic back; /* blocks that were left and are free again: collected later */
  uint64_t marks[];           /* a bit for each frame: whether it counts */
};

struct regions {
  struct heap *heap;
  struct region *all;
  struct block *free;
  uint64_t counted, used; /* bytes */
};

/* ---- frames ---- */

/* The bits of word w among those of the frames [first, last), which it has some of. */
static uint64_t regions_mask_of(size_t w, size_t first, size_t last) {
  const size_t low = first > w * MARKS ? first - w * MARKS : 0;
  const size_t behind = (w + 1) * MARKS > last ? (w + 1) * MARKS - last : 0;
  return (UINT64_MAX << low) & (UINT64_MAX >> behind);
}

static size_t marked(const struct region *g, size_t first, size_t last) {
  size_t n = 0;
  for (size_t w = first / MARKS; w * MARKS < last; w++) {
    n += (size_t)__builtin_popcountll(g->marks[w] & regions_mask_of(w, first, last));
  }
  return n;
}

static void regions_mark(struct region *g, size_t first, size_t last, bool counts) {
  for (size_t w = first / MARKS; w * MARKS < last; w++) {
    const uint64_t mask = regions_mask_of(w, first, last);
    g->marks[w] = counts ? g->marks[w] | mask : g->marks[w] & ~mask;
  }
}

static size_t rounded_to(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

static size_t offset_of(const struct region *g, const void *p) {
  return (size_t)((const char *)p - (const char *)g);
}

/* Makes [0, end) accessible: the system may refuse. In steps of huge pages, so that each can be
 * one. */
static bool make_ready(struct region *g, size_t end) {
  if (end <= g->ready) return true;
  const size_t to = rounded_to(end, HUGE_BYTES);
  if (mprotect((char *)g + g->ready, to - g->ready, PROT_READ | PROT_WRITE)) return false;
  g->ready = to;
  return true;
}

/* Counts the frames of `bytes` at p that do not count yet. */
static bool regions_count(struct regions *r, struct region *g, const void *p, size_t bytes) {
  const size_t start = offset_of(g, p), end = rounded_to(start + bytes, FRAME_BYTES);
  const size_t first = start / FRAME_BYTES, last = end / FRAME_BYTES;
  const size_t more = (last - first - marked(g, first, last)) * FRAME_BYTES;
  if (more == 0) return true;
  if (!heap_enter(r->heap, more)) return false;
  if (!make_ready(g, end)) {
    heap_leave(r->heap, more);
    return false;
  }
  regions_mark(g, first, last, true);
  r->counted += more;
  return true;
}

/* The frames that have nothing but the inside of a block. */
static void frames_inside(const struct block *b, size_t *first, size_t *last) {
  const size_t start = offset_of(b->region, b);
  *first = rounded_to(start + sizeof *b, FRAME_BYTES) / FRAME_BYTES;
  *last = (start + b->bytes) / FRAME_BYTES;
  if (*last < *first) *last = *first;
}

/* Those of them that count no longer do; the bytes. */
static uint64_t uncount(struct regions *r, const struct block *b) {
  size_t first, last;
  frames_inside(b, &first, &last);
  const size_t less = marked(b->region, first, last) * FRAME_BYTES;
  if (less == 0) return 0;
  regions_mark(b->region, first, last, false);
  heap_leave(r->heap, less);
  r->counted -= less;
  return less;
}

/* Gives their memory back to the system, in its pages, which may be larger. Without success it
 * is only not available to others. */
static void regions_discard(const struct block *b) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), start = offset_of(b->region, b);
  const size_t first = rounded_to(start + sizeof *b, page);
  const size_t last = (start + b->bytes) / page * page;
  if (first < last) (void)madvise((char *)b->region + first, last - first, MADV_DONTNEED);
}

/* ---- neighbours ---- */

static struct block *block_after(const struct block *b) {
  const size_t end = offset_of(b->region, b) + b->bytes;
  return end == b->region->bytes ? NULL : (struct block *)(void *)((char *)b->region + end);
}

static struct block *block_before(struct block *b) {
  return b->before ? (struct block *)(void *)((char *)b - b->before) : NULL;
}

static void note_for_block_after(const struct block *b) {
  struct block *next = block_after(b);
  if (next) next->before = b->bytes;
}

static bool counts(const struct region *g, const void *p) {
  const size_t frame = offset_of(g, p) / FRAME_BYTES;
  return marked(g, frame, frame + 1) == 1;
}

/* b ends after `size` bytes, unless the rest is too small; the rest is free. */
static void regions_split(struct regions *r, struct block *b, size_t size) {
  if (b->bytes - size < REST_BYTES) return;
  struct block *rest = (struct block *)(void *)((char *)b + size);
  invariant(counts(b->region, rest));
  UNPOISON(rest, sizeof *rest);
  *rest = (struct block){
      .bytes = b->bytes - size, .before = size, .region = b->region, .state = BLOCK_FREE};
  b->bytes = size;
  note_for_block_after(rest);
  free_blocks_insert(&r->free, rest);
}

static void regions_merge(struct block *b, struct block *next) {
  b->bytes += next->bytes;
  note_for_block_after(b);
  POISON(next, sizeof *next);
}

static void regions_put_back(struct regions *r, struct block *b) {
  b->state = BLOCK_FREE;
  POISON(b + 1, b->bytes - sizeof *b);
  struct block *next = block_after(b), *before = block_before(b);
  if (next && next->state == BLOCK_FREE) {
    free_blocks_remove(&r->free, next);
    regions_merge(b, next);
  }
  if (before && before->state == BLOCK_FREE) {
    free_blocks_remove(&r->free, before);
    regions_merge(before, b);
    b = before;
  }
  free_blocks_insert(&r->free, b);
}

/* ---- regions ---- */

static void region_unhold(struct region *g) {
  if (atomic_fetch_sub_explicit(&g->holders, 1, memory_order_acq_rel) != 1) return;
  UNPOISON(g, g->ready);
  NO_ROOT(g, g->bytes);
  munmap(g, g->bytes);
}

/* Address space that begins at a multiple of HUGE_BYTES; NULL: there is not so much. What is
 * not accessible is not charged to anybody, even where the system promises no more than it has.
 */
static void *regions_reserve(size_t bytes) {
  char *p = mmap(NULL, bytes + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  const size_t before = -(uintptr_t)p & (HUGE_BYTES - 1);
  if (before) munmap(p, before);
  munmap(p + before + bytes, HUGE_BYTES - before);
  return p + before;
}

/* The first huge page is left to small ones: few programs that need it need all of it. */
static struct region *region_of(void *p, size_t bytes) {
  if (mprotect(p, HUGE_BYTES, PROT_READ | PROT_WRITE)) {
    munmap(p, bytes);
    return NULL;
  }
  struct region *g = p;
  *g = (struct region){.bytes = bytes, .ready = HUGE_BYTES};
  atomic_init(&g->holders, 1);
  heap_ask_for_huge_pages((char *)p + HUGE_BYTES, bytes - HUGE_BYTES);
  IS_ROOT(g, bytes);
  return g;
}

static size_t bytes_of_head(const struct region *g) {
  return rounded_to(sizeof *g + g->bytes / FRAME_BYTES / 8, sizeof(struct block));
}

/* A region with room for one block, or many where there is address space. */
static struct region *region_for(size_t size) {
  const size_t least = rounded_to(size + size / 1024 + FRAME_BYTES, HUGE_BYTES);
  size_t n = least > REGION_BYTES / REGION_BLOCKS ? REGION_BLOCKS * least : REGION_BYTES;
  void *p = regions_reserve(n);
  while (!p && n > least) {
    n = rounded_to(n / 2 > least ? n / 2 : least, HUGE_BYTES);
    p = regions_reserve(n);
  }
  return p ? region_of(p, n) : NULL;
}

/* A region more, all of it one free block of at least `size`. Its own head does not count: a
 * bit for each frame. */
static struct block *more_memory(struct regions *r, size_t size) {
  struct region *g = size < LARGEST / REGION_BLOCKS ? region_for(size) : NULL;
  if (!g) return NULL;
  const size_t head = bytes_of_head(g);
  struct block *b = (struct block *)(void *)((char *)g + head);
  if (!make_ready(g, head) || !regions_count(r, g, b, sizeof *b)) {
    region_unhold(g);
    return NULL;
  }
  *b = (struct block){.bytes = g->bytes - head, .region = g};
  free_blocks_insert(&r->free, b);
  g->next = r->all;
  r->all = g;
  return b;
}

struct regions *regions_new(struct heap *heap) {
  struct regions *r = heap_alloc(heap, sizeof *r);
  if (r) *r = (struct regions){.heap = heap};
  return r;
}

/* ---- blocks that were left ---- */

static void *regions_inside(struct block *b) {
  return b + 1;
}

static struct block *regions_block_of(void *memory) {
  return (struct block *)memory - 1;
}

void regions_leave(struct regions *r, void *memory) {
  struct block *b = regions_block_of(memory);
  invariant(b->state == BLOCK_USED);
  b->state = BLOCK_LEFT;
  r->used -= b->bytes;
  uncount(r, b);
  atomic_fetch_add_explicit(&b->region->holders, 1, memory_order_relaxed);
}

/* The tree is not this thread's: the block is put where the region's owner will find it. */
void regions_free_left(void *memory) {
  struct block *b = regions_block_of(memory);
  struct region *g = b->region;
  regions_discard(b);
  struct block *others = atomic_load_explicit(&g->back, memory_order_relaxed);
  do {
    b->left = others;
  } while (!atomic_compare_exchange_weak_explicit(&g->back, &others, b, memory_order_release,
                                                  memory_order_relaxed));
  region_unhold(g);
}

static void regions_collect(struct regions *r) {
  for (struct region *g = r->all; g; g = g->next) {
    if (!atomic_load_explicit(&g->back, memory_order_relaxed)) continue;
    struct block *b = atomic_exchange_explicit(&g->back, NULL, memory_order_acquire);
    while (b) {
      struct block *next = b->left;
      regions_put_back(r, b);
      b = next;
    }
  }
}

/* ---- taking and giving ---- */

/* Every block is as much longer than a multiple of PAGE_BYTES. So vectors of one length that
 * follow each other differ in their offsets, and stores to one are not mistaken for stores to
 * another that is read. */
static size_t size_for(size_t bytes) {
  return rounded_to(bytes + sizeof(struct block) + PAGE_BYTES - OFFSET_BYTES, PAGE_BYTES) -
         PAGE_BYTES + OFFSET_BYTES;
}

/* Counts what a block of `size` at b touches: the head of the rest, too. */
static bool count_block(struct regions *r, struct block *b, size_t size) {
  const size_t bytes = b->bytes - size < REST_BYTES ? b->bytes : size + sizeof *b;
  return regions_count(r, b->region, b, bytes);
}

void *regions_take(struct regions *r, size_t bytes) {
  if (bytes > LARGEST) return NULL;
  regions_collect(r);
  const size_t size = size_for(bytes);
  struct block *b = free_blocks_lowest(r->free, size);
  if (!b) b = more_memory(r, size);
  if (!b || !count_block(r, b, size)) return NULL;
  free_blocks_remove(&r->free, b);
  regions_split(r, b, size);
  b->state = BLOCK_USED;
  r->used += b->bytes;
  POISON(regions_inside(b), b->bytes - sizeof *b);
  UNPOISON(regions_inside(b), bytes);
  return regions_inside(b);
}

void regions_give(struct regions *r, void *memory) {
  struct block *b = regions_block_of(memory);
  invariant(b->state == BLOCK_USED);
  r->used -= b->bytes;
  regions_put_back(r, b);
}

/* ---- giving back to the system ---- */

/* Of the tree b, from right to left, until `bytes` no longer count; how many do. */
static uint64_t cpu_regions_release(struct regions *r, struct block *b, uint64_t bytes) {
  uint64_t released = 0;
  for (; b && released < bytes; b = b->left) {
    released += cpu_regions_release(r, b->right, bytes - released);
    if (released >= bytes) break;
    const uint64_t less = uncount(r, b);
    if (less) regions_discard(b);
    released += less;
  }
  return released;
}

uint64_t regions_release(struct regions *r, uint64_t bytes) {
  regions_collect(r);
  return cpu_regions_release(r, r->free, bytes);
}

uint64_t regions_counted(const struct regions *r) {
  return r->counted;
}

uint64_t regions_used(const struct regions *r) {
  return r->used;
}

void regions_free(struct regions *r) {
  if (!r) return;
  invariant(r->used == 0);
  regions_release(r, UINT64_MAX);
  if (r->counted) heap_leave(r->heap, (size_t)r->counted);
  for (struct region *g = r->all, *next; g; g = next) {
    next = g->next;
    region_unhold(g);
  }
  heap_free(r->heap, r, sizeof *r);
}
