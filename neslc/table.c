/* table.c - maps from pointers to pointers. */
#include "neslc/table.h"

#include <stdint.h>
#include <string.h>

enum { TABLE_FIRST_CAPACITY = 64 };

struct table *table_new(struct arena *arena) {
  struct table *table = arena_alloc(arena, sizeof *table);
  table->arena = arena;
  table->capacity = TABLE_FIRST_CAPACITY;
  table->entries = arena_alloc(arena, table->capacity * sizeof *table->entries);
  return table;
}

/* The entry of the key, or the free one where it would stand. */
static struct table_entry *find(const struct table *table, const void *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u; /* golden ratio: spreads */
  size_t i = (size_t)(hash >> 32) & (table->capacity - 1);
  while (table->entries[i].key && table->entries[i].key != key) {
    i = (i + 1) & (table->capacity - 1);
  }
  return &table->entries[i];
}

void *table_get(const struct table *table, const void *key) {
  return find(table, key)->value;
}

static void grow(struct table *table) {
  struct table old = *table;
  table->capacity *= 2;
  table->entries = arena_alloc(table->arena, table->capacity * sizeof *table->entries);
  for (size_t i = 0; i < old.capacity; i++) {
    if (old.entries[i].key) *find(table, old.entries[i].key) = old.entries[i];
  }
}

void table_set(struct table *table, const void *key, void *value) {
  if (2 * (table->count + 1) > table->capacity) grow(table);
  struct table_entry *entry = find(table, key);
  if (!entry->key) {
    entry->key = key;
    table->count++;
  }
  entry->value = value;
}
