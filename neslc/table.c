/* table.c - maps from pointers to pointers. */
#include "neslc/table.h"

#include <stdint.h>

enum { TABLE_FIRST_CAPACITY = 64 };

void table_begin(struct table *table, struct arena *arena) {
  table->arena = arena;
  table->entries = NULL;
  table->capacity = table->count = 0;
}

struct table *table_new(struct arena *arena) {
  struct table *table = arena_alloc(arena, sizeof *table);
  table_begin(table, arena);
  return table;
}

/* The entry of the key, or the free entry for it. */
static struct table_entry *find(const struct table *table, const void *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u; /* golden ratio: spreads */
  size_t i = (size_t)(hash >> 32) & (table->capacity - 1);
  while (table->entries[i].key && table->entries[i].key != key) {
    i = (i + 1) & (table->capacity - 1);
  }
  return &table->entries[i];
}

static struct table_entry *find_few(struct table *table, const void *key) {
  for (size_t i = 0; i < table->count; i++) {
    if (table->few[i].key == key) return &table->few[i];
  }
  return NULL;
}

void *table_get(const struct table *table, const void *key) {
  if (table->entries) return find(table, key)->value;
  for (size_t i = 0; i < table->count; i++) {
    if (table->few[i].key == key) return table->few[i].value;
  }
  return NULL;
}

static void grow(struct table *table) {
  const struct table_entry *old = table->entries ? table->entries : table->few;
  const size_t old_count = table->entries ? table->capacity : table->count;
  const size_t capacity = table->entries ? 2 * table->capacity : TABLE_FIRST_CAPACITY;
  table->entries = arena_alloc(table->arena, capacity * sizeof *table->entries);
  table->capacity = capacity;
  for (size_t i = 0; i < old_count; i++) {
    if (old[i].key) *find(table, old[i].key) = old[i];
  }
}

/* The entry of the key, added if there is none; *added: whether it was. */
static struct table_entry *entry_of(struct table *table, const void *key, bool *added) {
  *added = false;
  if (!table->entries) {
    struct table_entry *entry = find_few(table, key);
    if (entry) return entry;
    if (table->count < TABLE_FEW) {
      *added = true;
      table->few[table->count] = (struct table_entry){key, NULL};
      return &table->few[table->count++];
    }
    grow(table);
  } else if (2 * (table->count + 1) > table->capacity) {
    grow(table);
  }
  struct table_entry *entry = find(table, key);
  if (!entry->key) {
    *added = true;
    entry->key = key;
    table->count++;
  }
  return entry;
}

void table_set(struct table *table, const void *key, void *value) {
  bool added;
  entry_of(table, key, &added)->value = value;
}

bool table_add(struct table *table, const void *key) {
  bool added;
  struct table_entry *entry = entry_of(table, key, &added);
  if (added) entry->value = table;
  return added;
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
  const struct table_entry *first = table->entries ? table->entries : table->few;
  const struct table_entry *end = first + (table->entries ? table->capacity : table->count);
  for (entry = entry ? entry + 1 : first; entry < end; entry++) {
    if (entry->key) return entry;
  }
  return NULL;
}
