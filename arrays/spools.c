/* spools.c - builds columns: in memory, or in spools where they are too large. */
#include "arrays/arrays-private.h"

#include <string.h>
#include <sys/mman.h>

struct array_spool {
  struct array_spool *older;
  struct spool spool;
};

/* ---- all of them ---- */

void array_spools_end(struct array_spools *s) {
  while (s->newest) {
    struct array_spool *newest = s->newest;
    s->newest = newest->older;
    spool_end(&newest->spool);
    heap_free(s->heap, newest, sizeof *newest);
  }
}

bool array_spools_hold(const struct array_spools *s, const void *elements) {
  const uintptr_t at = (uintptr_t)elements;
  for (const struct array_spool *i = s->newest; i; i = i->older) {
    const uintptr_t begin = (uintptr_t)i->spool.data;
    if (i->spool.data && at >= begin && at - begin < i->spool.length) return true;
  }
  return false;
}

void array_spools_give_back(struct array_spools *s) {
  s->passed = 0;
  if (s->mapped) madvise((void *)(uintptr_t)s->mapped, s->length, MADV_DONTNEED);
  for (const struct array_spool *i = s->newest; i; i = i->older) {
    if (i->spool.data) spool_give_back(&i->spool, 0, i->spool.length);
  }
}

void array_passed(struct array_spools *s, uint64_t bytes) {
  enum { OFTEN = 32 << 20 };
  if (!s) return;
  s->passed += bytes;
  if (s->passed >= OFTEN) array_spools_give_back(s);
}

/* ---- one ---- */

bool array_spool_failed(struct arena *arena, const struct file_problem *why,
                        const char **problem) {
  return array_fail(arena, problem, "%s", why->text);
}

struct spool *array_spool(struct arena *arena, struct array_spools *s, const char **problem) {
  struct file_problem why;
  struct array_spool *new = heap_alloc(s->heap, sizeof *new);
  if (!new) {
    (void)array_fail(arena, problem, "out of memory");
    return NULL;
  }
  if (!spool_begin(&new->spool, s->heap, NULL, &why)) {
    heap_free(s->heap, new, sizeof *new);
    (void)array_spool_failed(arena, &why, problem);
    return NULL;
  }
  new->older = s->newest;
  s->newest = new;
  return &new->spool;
}

/* ---- growing ---- */

bool array_grow_begin(struct array_growing *g, struct arena *arena, enum array_leaf leaf,
                      struct array_spools *spools, const char **problem) {
  *g = (struct array_growing){.arena = arena, .leaf = leaf};
  if (!spools) return true;
  g->spool = array_spool(arena, spools, problem);
  return g->spool != NULL;
}

void array_grow_expect(struct array_growing *g, uint64_t count) {
  if (g->spool) return;
  g->items.items = arena_alloc(g->arena, (size_t)count * sizeof *g->items.items);
  g->items.capacity = (size_t)count;
}

static bool append_element(struct array_growing *g, const void *element, size_t bytes,
                           const char **problem) {
  struct file_problem why;
  return spool_append(g->spool, element, bytes, &why) ||
         array_spool_failed(g->arena, &why, problem);
}

bool array_grow_int(struct array_growing *g, int64_t x, const char **problem) {
  const uint8_t flag = x != 0;
  if (g->spool && g->leaf == ARRAY_BOOL) return append_element(g, &flag, sizeof flag, problem);
  if (g->spool) return append_element(g, &x, sizeof x, problem);
  *array_push(g->arena, &g->items) = x;
  return true;
}

bool array_grow_float(struct array_growing *g, double x, const char **problem) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return array_grow_int(g, bits, problem);
}

bool array_grow_end(struct array_growing *g, struct array_column *out, const char **problem) {
  struct file_problem why;
  *out = (struct array_column){.length = g->items.count};
  out->as.ints = g->items.items;
  if (!g->spool) return true;
  if (!spool_finish(g->spool, &why)) return array_spool_failed(g->arena, &why, problem);
  out->is_bytes = g->leaf == ARRAY_BOOL;
  out->length = g->spool->length / (out->is_bytes ? 1 : sizeof(int64_t));
  out->as.ints = (int64_t *)(uintptr_t)g->spool->data;
  return true;
}
