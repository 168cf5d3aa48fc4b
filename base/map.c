/* map.c - linear probing; at most half of the slots are in use. */
#include "base/map.h"
#include "base/check.h"

#include <stdbool.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

void map_init(struct map *m, struct arena *arena) {
  *m = (struct map){.arena = arena, .stamp = 1};
}

void map_clear(struct map *m) {
  m->count = 0;
  if (++m->stamp != 0) return;
  memset(m->slots, 0, m->capacity * sizeof *m->slots); /* all stamps were used */
  m->stamp = 1;
}

static bool in_use(const struct map *m, const struct map_slot *slot) {
  return slot->stamp == m->stamp;
}

/* The slot of a key, or the free one where it belongs. */
static struct map_slot *map_find_slot(const struct map *m, uint64_t key) {
  uint32_t at = (uint32_t)(map_mix(0, key) >> 20) & (m->capacity - 1);
  while (in_use(m, &m->slots[at]) && m->slots[at].key != key) at = (at + 1) & (m->capacity - 1);
  return &m->slots[at];
}

/* Makes room for another key. Keys that have lost their values are left behind. */
static void map_grow(struct map *m) {
  struct map larger = {.arena = m->arena, .stamp = 1};
  uint32_t valued = 0;
  for (uint32_t i = 0; i < m->capacity; i++)
    valued += in_use(m, &m->slots[i]) && m->slots[i].value != 0;
  larger.capacity = FIRST_CAPACITY;
  while (larger.capacity < 4 * (valued + 1)) larger.capacity *= 2;
  larger.slots = arena_alloc(m->arena, larger.capacity * sizeof *larger.slots);
  for (uint32_t i = 0; i < m->capacity; i++) {
    const struct map_slot *slot = &m->slots[i];
    if (!in_use(m, slot) || slot->value == 0) continue;
    *map_find_slot(&larger, slot->key) =
        (struct map_slot){slot->key, slot->value, larger.stamp};
    larger.count++;
  }
  *m = larger;
}

uint32_t map_get(const struct map *m, uint64_t key) {
  if (m->count == 0) return 0;
  const struct map_slot *slot = map_find_slot(m, key);
  return in_use(m, slot) ? slot->value : 0;
}

uint32_t *map_at(struct map *m, uint64_t key) {
  if (2 * m->count >= m->capacity) map_grow(m);
  struct map_slot *slot = map_find_slot(m, key);
  if (!in_use(m, slot)) {
    *slot = (struct map_slot){key, 0, m->stamp};
    m->count++;
  }
  return &slot->value;
}

void scoped_map_init(struct scoped_map *m, struct arena *arena) {
  *m = (struct scoped_map){0};
  map_init(&m->latest, arena);
}

void scoped_map_clear(struct scoped_map *m) {
  map_clear(&m->latest);
  m->items.count = 0;
}

uint32_t scoped_map_add(struct scoped_map *m, uint64_t key) {
  uint32_t *latest = map_at(&m->latest, key);
  *array_push(m->latest.arena, &m->items) = (struct scoped_item){key, *latest};
  *latest = (uint32_t)m->items.count;
  return *latest - 1;
}

void scoped_map_close(struct scoped_map *m, size_t count) {
  invariant(count <= m->items.count);
  while (m->items.count > count) {
    const struct scoped_item *last = &m->items.items[--m->items.count];
    map_find_slot(&m->latest, last->key)->value = last->earlier;
  }
}
