/* spills.c - builds columns: in memory, or in spills where they are too large. */
#include "arrays/arrays-private.h"

#include <string.h>
#include <sys/mman.h>

struct array_spill {
  struct array_spill *older;
  struct spill spill;
};

/* ---- all of them ---- */

void array_spills_end(struct array_spills *s) {
  while (s->newest) {
    struct array_spill *newest = s->newest;
    s->newest = newest->older;
    spill_end(&newest->spill);
    heap_free(s->heap, newest, sizeof *newest);
  }
}

bool array_spills_hold(const struct array_spills *s, const void *elements) {
  const uintptr_t at = (uintptr_t)elements;
  for (const struct array_spill *i = s->newest; i; i = i->older) {
    const uintptr_t begin = (uintptr_t)i->spill.data;
    if (i->spill.data && at >= begin && at - begin < i->spill.length) return true;
  }
  return false;
}

void array_spills_give_back(struct array_spills *s) {
  s->passed = 0;
  if (s->mapped) madvise((void *)(uintptr_t)s->mapped, s->length, MADV_DONTNEED);
  for (const struct array_spill *i = s->newest; i; i = i->older) {
    if (i->spill.data) spill_give_back(&i->spill, 0, i->spill.length);
  }
}

void array_passed(struct array_spills *s, uint64_t bytes) {
  enum { OFTEN = 32 << 20 };
  if (!s) return;
  s->passed += bytes;
  if (s->passed >= OFTEN) array_spills_give_back(s);
}

/* ---- one ---- */

bool array_spill_failed(struct arena *arena, const struct file_problem *why,
                        const char **problem) {
  return array_fail(arena, problem, "%s", why->text);
}

struct spill *array_spill(struct arena *arena, struct array_spills *s, const char **problem) {
  struct file_problem why;
  struct array_spill *new = heap_alloc(s->heap, sizeof *new);
  if (!new) {
    (void)array_fail(arena, problem, "out of memory");
    return NULL;
  }
  if (!spill_begin(&new->spill, s->heap, NULL, &why)) {
    heap_free(s->heap, new, sizeof *new);
    (void)array_spill_failed(arena, &why, problem);
    return NULL;
  }
  new->older = s->newest;
  s->newest = new;
  return &new->spill;
}

/* ---- growing ---- */

bool array_grow_begin(struct array_growing *g, struct arena *arena, enum array_leaf leaf,
                      struct array_spills *spills, const char **problem) {
  *g = (struct array_growing){.arena = arena, .leaf = leaf};
  if (!spills) return true;
  g->spill = array_spill(arena, spills, problem);
  return g->spill != NULL;
}

void array_grow_expect(struct array_growing *g, uint64_t count) {
  if (g->spill) return;
  g->items.items = arena_alloc(g->arena, (size_t)count * sizeof *g->items.items);
  g->items.capacity = (size_t)count;
}

static bool append_element(struct array_growing *g, const void *element, size_t bytes,
                           const char **problem) {
  struct file_problem why;
  return spill_append(g->spill, element, bytes, &why) ||
         array_spill_failed(g->arena, &why, problem);
}

bool array_grow_int(struct array_growing *g, int64_t x, const char **problem) {
  const uint8_t flag = x != 0;
  if (g->spill && g->leaf == ARRAY_BOOL) return append_element(g, &flag, sizeof flag, problem);
  if (g->spill) return append_element(g, &x, sizeof x, problem);
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
  if (!g->spill) return true;
  if (!spill_finish(g->spill, &why)) return array_spill_failed(g->arena, &why, problem);
  out->is_bytes = g->leaf == ARRAY_BOOL;
  out->length = g->spill->length / (out->is_bytes ? 1 : sizeof(int64_t));
  out->as.ints = (int64_t *)(uintptr_t)g->spill->data;
  return true;
}
