/* table.c - maps from pointers to pointers: a list of entries, with an index from a dozen on.
 */
#include "neslc/table.h"

#include <stdint.h>
#include <string.h>

void table_begin(struct table *table, struct arena *arena) {
  table->arena = arena;
  table->entries = NULL;
  table->count = 0;
  table->capacity = TABLE_FEW;
}

struct table *table_new(struct arena *arena) {
  struct table *table = arena_alloc(arena, sizeof *table);
  table_begin(table, arena);
  return table;
}

static const struct table_entry *first_entry(const struct table *table) {
  return table->entries ? table->entries : table->few;
}

/* The number of a key's entry, from 1; 0: it has none. */
static uint32_t table_find(const struct table *table, const void *key) {
  if (table->entries) return map_get(&table->index, (uintptr_t)key);
  uint32_t number = (uint32_t)table->count;
  while (number > 0 && table->few[number - 1].key != key) number--;
  return number;
}

void *table_get(const struct table *table, const void *key) {
  const uint32_t number = table_find(table, key);
  return number ? first_entry(table)[number - 1].value : NULL;
}

/* The entries are in the arena then, and in the index. */
static void table_grow(struct table *table) {
  const struct table_entry *old = first_entry(table);
  struct table_entry *entries =
      arena_alloc(table->arena, 2 * table->capacity * sizeof *entries);
  memcpy(entries, old, table->count * sizeof *entries);
  if (!table->entries) {
    map_init(&table->index, table->arena);
    for (uint32_t i = 0; i < table->count; i++)
      *map_at(&table->index, (uintptr_t)entries[i].key) = i + 1;
  }
  table->entries = entries;
  table->capacity *= 2;
}

static uint32_t table_append(struct table *table, const void *key) {
  if (table->count == table->capacity) table_grow(table);
  if (table->entries) *map_at(&table->index, (uintptr_t)key) = (uint32_t)table->count + 1;
  return (uint32_t)++table->count;
}

void table_set(struct table *table, const void *key, void *value) {
  uint32_t number = table_find(table, key);
  if (number == 0) number = table_append(table, key);
  struct table_entry *entries = table->entries ? table->entries : table->few;
  entries[number - 1] = (struct table_entry){key, value};
}

bool table_add(struct table *table, const void *key) {
  if (table_find(table, key)) return false;
  table_set(table, key, table);
  return true;
}

const void *table_root(struct table *table, const void *key) {
  const void *root = key, *next;
  while ((next = table_get(table, root))) root = next;
  while ((next = table_get(table, key)) && next != root) {
    table_set(table, key, (void *)(uintptr_t)root);
    key = next;
  }
  return root;
}

const struct table_entry *table_next(const struct table *table,
                                     const struct table_entry *entry) {
  entry = entry ? entry + 1 : first_entry(table);
  return entry < first_entry(table) + table->count ? entry : NULL;
}
