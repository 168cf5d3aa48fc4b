/* origin.c - tables of origins, which have no two equal ones. */
#include "base/origin.h"

#include <string.h>

enum { MOST_INLINED = 32 }; /* calls that are kept around an inlined instruction */

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

static bool origins_equal(const struct origin *a, const struct origin *b) {
  return a->pos.line == b->pos.line && a->pos.column == b->pos.column &&
         a->inlined_at == b->inlined_at && same_text(a->file, b->file) &&
         same_text(a->function, b->function);
}

static uint32_t origin_add(struct origin_table *t, const struct origin *o) {
  t->list.count = t->numbers.items.count; /* without what failed before its number */
  *array_push(t->arena, &t->list) = *o;
  return scoped_map_add(&t->numbers, origin_hash(o));
}

void origin_table_init(struct origin_table *t, struct arena *arena,
                       const struct origin_table *other) {
  const struct origin none = {.file = "", .function = ""};
  *t = (struct origin_table){.arena = arena};
  scoped_map_init(&t->numbers, arena);
  origin_add(t, &none);
  for (size_t i = 1; other && i < other->list.count; i++) origin_add(t, &other->list.items[i]);
}

uint32_t origin_number(struct origin_table *t, struct origin o) {
  uint32_t next = scoped_map_first(&t->numbers, origin_hash(&o));
  while (next != 0 && !origins_equal(&t->list.items[next - 1], &o))
    next = scoped_map_earlier(&t->numbers, next);
  return next != 0 ? next - 1 : origin_add(t, &o);
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

/* Finds the first call, from inside, that has a location. */
static uint32_t located_call(const struct origin_table *t, uint32_t call) {
  while (call != 0 && t->list.items[call].pos.line == 0) call = t->list.items[call].inlined_at;
  return call;
}

uint32_t origin_inlined(struct origin_table *t, uint32_t inner, uint32_t call) {
  call = located_call(t, call);
  if (inner == 0 || call == 0) return inner;
  if (inlined_calls(t, inner) + inlined_calls(t, call) > MOST_INLINED) return inner;
  return behind_calls(t, inner, call);
}
