/* map.h - hash maps from 64-bit keys, in an arena.
 *
 * A `struct map` maps a key to one number. A `struct scoped_map` is for keys that are hashes of
 * larger data: it maps a key to several numbers, the latest first, and removes the latest items
 * of all keys together when a scope ends.
 */
#ifndef RAVEL_MAP_H
#define RAVEL_MAP_H

#include "base/arena.h"
#include <stdint.h>

struct map_slot {
  uint64_t key;
  uint32_t value;
  uint32_t stamp; /* equal to the map's: the slot is in use */
};

struct map {
  struct arena *arena;
  struct map_slot *slots; /* open addressing, a power of two */
  uint32_t count, capacity;
  uint32_t stamp; /* one more after each map_clear */
};

/* Makes a map in which no key has a value. It allocates nothing yet. */
void map_init(struct map *, struct arena *);
/* Removes the values of all keys in constant time. The memory stays. */
void map_clear(struct map *);
/* The value of a key, 0 if it has none. */
uint32_t map_get(const struct map *, uint64_t key);
/* The value of a key for modification, 0 if it had none; valid until the next map_at. Ends in
 * memory_failed without memory. */
uint32_t *map_at(struct map *, uint64_t key);

/* Returns one key for two numbers. */
static inline uint64_t map_pair(uint32_t a, uint32_t b) {
  return (uint64_t)a << 32 | b;
}
/* Adds a word to a hash. */
static inline uint64_t map_mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

/* ---- several items of a key, with scopes ---- */

struct scoped_item {
  uint64_t key;
  uint32_t earlier; /* the item before it with this key, from 1; 0: none */
};

struct scoped_map {
  struct map latest; /* of each key, from 1 */
  ARRAY(struct scoped_item) items;
};

void scoped_map_init(struct scoped_map *, struct arena *);
void scoped_map_clear(struct scoped_map *);
/* Adds an item and returns its index: 0, 1, 2 ... The caller keeps its data under this index.
 */
uint32_t scoped_map_add(struct scoped_map *, uint64_t key);
/* Removes all items except the first `count`. */
void scoped_map_close(struct scoped_map *, size_t count);
/* The items of a key are visited from the latest to the first. `next` is 1 more than an item's
 * index, or 0 if there are no more. */
static inline uint32_t scoped_map_first(const struct scoped_map *m, uint64_t key) {
  return map_get(&m->latest, key);
}
static inline uint32_t scoped_map_earlier(const struct scoped_map *m, uint32_t item) {
  return m->items.items[item - 1].earlier;
}

#endif
