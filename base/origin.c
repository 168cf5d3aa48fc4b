/* origin.c - tables of origins without equal ones. */
#include "base/origin.h"
#include "base/map.h"

#include <string.h>

enum {
  FIRST_CAPACITY = 64,
  MOST_INLINED = 32 /* calls that are kept around an inlined instruction */
};

static uint64_t text_hash(uint64_t hash, const char *text) {
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
  return hash;
}

static uint64_t origin_hash(const struct origin *o) {
  uint64_t hash = text_hash(text_hash(0, o->file), o->function);
  hash = map_mix(hash, map_pair(o->pos.line, o->pos.column));
  return map_mix(hash, o->inlined_at);
}

static bool same_text(const char *a, const char *b) {
  return a == b || strcmp(a, b) == 0;
}

static bool same_origin(const struct origin *a, const struct origin *b) {
  return a->pos.line == b->pos.line && a->pos.column == b->pos.column &&
         a->inlined_at == b->inlined_at && same_text(a->file, b->file) &&
         same_text(a->function, b->function);
}

/* A slot is empty too if its origin was taken back: with it went all that were added later. */
static bool is_empty(const struct origin_table *t, uint32_t slot) {
  return slot == 0 || slot >= t->list.count;
}

/* The slot of an equal origin, or the empty one where it goes. */
static uint32_t *slot_of(const struct origin_table *t, const struct origin *o) {
  uint64_t i = origin_hash(o) >> 32;
  for (;; i++) {
    uint32_t *slot = &t->slots[i & (t->capacity - 1)];
    if (is_empty(t, *slot) || same_origin(&t->list.items[*slot], o)) return slot;
  }
}

static void make_slots(struct origin_table *t, uint32_t capacity) {
  t->slots = arena_alloc(t->arena, capacity * sizeof *t->slots);
  memset(t->slots, 0, capacity * sizeof *t->slots);
  t->capacity = capacity;
  for (uint32_t i = 1; i < t->list.count; i++) *slot_of(t, &t->list.items[i]) = i;
}

void origin_table_init(struct origin_table *t, struct arena *arena,
                       const struct origin_table *other) {
  const size_t count = other ? other->list.count : 0;
  *t = (struct origin_table){.arena = arena};
  *array_push(arena, &t->list) = (struct origin){.function = ""};
  for (size_t i = 1; i < count; i++) *array_push(arena, &t->list) = other->list.items[i];
  make_slots(t, count > 0 && other->capacity > 0 ? other->capacity : FIRST_CAPACITY);
}

uint32_t origin_number(struct origin_table *t, struct origin o) {
  if (2 * t->list.count >= t->capacity) make_slots(t, 2 * t->capacity);
  uint32_t *slot = slot_of(t, &o);
  if (!is_empty(t, *slot)) return *slot;
  *array_push(t->arena, &t->list) = o;
  *slot = (uint32_t)t->list.count - 1;
  return *slot;
}

static unsigned inlined_calls(const struct origin_table *t, uint32_t number) {
  unsigned depth = 0;
  for (; number != 0; number = t->list.items[number].inlined_at) depth++;
  return depth;
}

static uint32_t behind_calls(struct origin_table *t, uint32_t inner, uint32_t call) {
  struct origin o = t->list.items[inner];
  o.inlined_at = o.inlined_at ? behind_calls(t, o.inlined_at, call) : call;
  return origin_number(t, o);
}

uint32_t origin_inlined(struct origin_table *t, uint32_t inner, uint32_t call) {
  if (inner == 0 || call == 0) return inner;
  if (inlined_calls(t, inner) + inlined_calls(t, call) > MOST_INLINED) return inner;
  return behind_calls(t, inner, call);
}
