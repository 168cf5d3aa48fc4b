/* regions.c - large blocks that split and merge, in reserved address space.
 *
 * A region begins with its head and the marks of its frames. Behind these, one block follows
 * the next up to the region's end. Each has the size of the block before it (boundary tags,
 * Knuth 2.5), so that neighbours are found without a search. Memory that has never been counted
 * is not accessible. The head of every block is in counted memory; the rest of a free block
 * need not be.
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
  FRAME_BYTES = 4 << 10, /* a frame; blocks share few frames at their ends */
  /* regions begin and end at multiples of it, and become accessible in steps of it */
  HUGE_BYTES = 2 << 20,
  REST_BYTES = 4 << 10,   /* a smaller rest stays with the block before it */
  PAGE_BYTES = 4 << 10,   /* addresses that differ by multiples of it are mistaken for equal */
  OFFSET_BYTES = 25 * 64, /* the size of every block is a multiple of PAGE_BYTES plus this */
  MARKS = 64              /* marks in a word */
};

#define REGION_BYTES ((size_t)16 << 30) /* the least address space of a region, */
/* which has room for so many blocks like its first one */
#define REGION_BLOCKS 4
#define LARGEST       ((size_t)1 << 47) /* address space of current machines */

struct region {
  struct region *next;
  size_t bytes;
  size_t ready;             /* the bytes that are accessible */
  _Atomic unsigned holders; /* the struct regions that has it, and every block that is left */
  struct memory_block *_Atomic back; /* left blocks that are free again, to be collected */
  uint64_t marks[];                  /* a bit for each frame: whether it is counted */
};

struct regions {
  struct heap *heap;
  struct region *all;
  struct memory_block *free;
  uint64_t counted, used; /* bytes */
};

/* ---- frames ---- */

/* Returns the bits of word w that belong to frames [first, last). The word has some of them. */
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

/* Makes [0, end) accessible, in steps of huge pages, so that each step can be one. False if the
 * system refuses. */
static bool make_ready(struct region *g, size_t end) {
  if (end <= g->ready) return true;
  const size_t to = rounded_to(end, HUGE_BYTES);
  if (mprotect((char *)g + g->ready, to - g->ready, PROT_READ | PROT_WRITE)) return false;
  g->ready = to;
  return true;
}

/* Counts the frames of `bytes` at p that are not counted yet. False if the heap or the system
 * refuses. */
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

/* Finds the frames that lie inside a block, without its head. */
static void frames_inside(const struct memory_block *b, size_t *first, size_t *last) {
  const size_t start = offset_of(b->region, b);
  *first = rounded_to(start + sizeof *b, FRAME_BYTES) / FRAME_BYTES;
  *last = (start + b->bytes) / FRAME_BYTES;
  if (*last < *first) *last = *first;
}

/* Uncounts the frames inside a free block. Returns their bytes. */
static uint64_t uncount(struct regions *r, const struct memory_block *b) {
  size_t first, last;
  frames_inside(b, &first, &last);
  const size_t less = marked(b->region, first, last) * FRAME_BYTES;
  if (less == 0) return 0;
  regions_mark(b->region, first, last, false);
  heap_leave(r->heap, less);
  r->counted -= less;
  return less;
}

/* Gives the memory inside a free block back to the system, in its pages, which may be larger
 * than frames. If that fails, the memory is only not available to others. */
static void regions_discard(const struct memory_block *b) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), start = offset_of(b->region, b);
  const size_t first = rounded_to(start + sizeof *b, page);
  const size_t last = (start + b->bytes) / page * page;
  if (first < last) (void)madvise((char *)b->region + first, last - first, MADV_DONTNEED);
}

/* ---- neighbours ---- */

static struct memory_block *block_after(const struct memory_block *b) {
  const size_t end = offset_of(b->region, b) + b->bytes;
  return end == b->region->bytes ? NULL
                                 : (struct memory_block *)(void *)((char *)b->region + end);
}

static struct memory_block *block_before(struct memory_block *b) {
  return b->before ? (struct memory_block *)(void *)((char *)b - b->before) : NULL;
}

static void note_for_block_after(const struct memory_block *b) {
  struct memory_block *next = block_after(b);
  if (next) next->before = b->bytes;
}

static bool counts(const struct region *g, const void *p) {
  const size_t frame = offset_of(g, p) / FRAME_BYTES;
  return marked(g, frame, frame + 1) == 1;
}

/* Splits b after `size` bytes, unless the rest is too small. The rest is free. */
static void regions_split(struct regions *r, struct memory_block *b, size_t size) {
  if (b->bytes - size < REST_BYTES) return;
  struct memory_block *rest = (struct memory_block *)(void *)((char *)b + size);
  invariant(counts(b->region, rest));
  UNPOISON(rest, sizeof *rest);
  *rest = (struct memory_block){
      .bytes = b->bytes - size, .before = size, .region = b->region, .state = BLOCK_FREE};
  b->bytes = size;
  note_for_block_after(rest);
  free_blocks_insert(&r->free, rest);
}

static void regions_merge(struct memory_block *b, struct memory_block *next) {
  b->bytes += next->bytes;
  note_for_block_after(b);
  POISON(next, sizeof *next);
}

static void regions_put_back(struct regions *r, struct memory_block *b) {
  b->state = BLOCK_FREE;
  POISON(b + 1, b->bytes - sizeof *b);
  struct memory_block *next = block_after(b), *before = block_before(b);
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

/* Reserves address space that begins at a multiple of HUGE_BYTES. NULL if there is too little.
 * Inaccessible memory is charged to nobody, even where the system does not overcommit. */
static void *regions_reserve(size_t bytes) {
  char *p = mmap(NULL, bytes + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  const size_t before = -(uintptr_t)p & (HUGE_BYTES - 1);
  if (before) munmap(p, before);
  munmap(p + before + bytes, HUGE_BYTES - before);
  return p + before;
}

/* Makes a region of reserved memory. Its first huge page has ordinary pages, since few programs
 * that need some of it need all of it. */
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
  return rounded_to(sizeof *g + g->bytes / FRAME_BYTES / 8, sizeof(struct memory_block));
}

/* Makes a region with room for one block, or for many if there is address space. */
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

/* Adds a region that is one free block of at least `size`. The region's own head, which has a
 * bit for each frame, is not counted. */
static struct memory_block *more_memory(struct regions *r, size_t size) {
  struct region *g = size < LARGEST / REGION_BLOCKS ? region_for(size) : NULL;
  if (!g) return NULL;
  const size_t head = bytes_of_head(g);
  struct memory_block *b = (struct memory_block *)(void *)((char *)g + head);
  if (!make_ready(g, head) || !regions_count(r, g, b, sizeof *b)) {
    region_unhold(g);
    return NULL;
  }
  *b = (struct memory_block){.bytes = g->bytes - head, .region = g};
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

static void *regions_inside(struct memory_block *b) {
  return b + 1;
}

static struct memory_block *regions_block_of(void *memory) {
  return (struct memory_block *)memory - 1;
}

void regions_leave(struct regions *r, void *memory) {
  struct memory_block *b = regions_block_of(memory);
  invariant(b->state == BLOCK_USED);
  b->state = BLOCK_LEFT;
  r->used -= b->bytes;
  uncount(r, b);
  atomic_fetch_add_explicit(&b->region->holders, 1, memory_order_relaxed);
}

/* The tree belongs to another thread. The block is put where the region's owner will collect
 * it. */
void regions_free_left(void *memory) {
  struct memory_block *b = regions_block_of(memory);
  struct region *g = b->region;
  regions_discard(b);
  struct memory_block *others = atomic_load_explicit(&g->back, memory_order_relaxed);
  do {
    b->left = others;
  } while (!atomic_compare_exchange_weak_explicit(&g->back, &others, b, memory_order_release,
                                                  memory_order_relaxed));
  region_unhold(g);
}

static void regions_collect(struct regions *r) {
  for (struct region *g = r->all; g; g = g->next) {
    if (!atomic_load_explicit(&g->back, memory_order_relaxed)) continue;
    struct memory_block *b = atomic_exchange_explicit(&g->back, NULL, memory_order_acquire);
    while (b) {
      struct memory_block *next = b->left;
      regions_put_back(r, b);
      b = next;
    }
  }
}

/* ---- taking and giving ---- */

/* Returns a block's size, a multiple of PAGE_BYTES plus OFFSET_BYTES. So consecutive vectors of
 * one length differ in their offsets within a page. Otherwise the processor would mistake
 * stores to one for stores to another that is being read. */
static size_t size_for(size_t bytes) {
  return rounded_to(bytes + sizeof(struct memory_block) + PAGE_BYTES - OFFSET_BYTES,
                    PAGE_BYTES) -
         PAGE_BYTES + OFFSET_BYTES;
}

/* Counts the memory that a block of `size` at b touches, the head of the rest included. */
static bool count_block(struct regions *r, struct memory_block *b, size_t size) {
  const size_t bytes = b->bytes - size < REST_BYTES ? b->bytes : size + sizeof *b;
  return regions_count(r, b->region, b, bytes);
}

void *regions_take(struct regions *r, size_t bytes) {
  if (bytes > LARGEST) return NULL;
  regions_collect(r);
  const size_t size = size_for(bytes);
  struct memory_block *b = free_blocks_lowest(r->free, size);
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
  struct memory_block *b = regions_block_of(memory);
  invariant(b->state == BLOCK_USED);
  r->used -= b->bytes;
  regions_put_back(r, b);
}

/* ---- giving back to the system ---- */

/* Uncounts free blocks of the tree b, from right to left, until `bytes` are uncounted. Returns
 * how many were. */
static uint64_t cpu_regions_release(struct regions *r, struct memory_block *b, uint64_t bytes) {
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
