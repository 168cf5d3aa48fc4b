/* table.h - maps from pointers to pointers: names to their meanings, nodes to results of a
 * walk.
 *
 * Names are interned (base/intern.h), so their addresses are keys. Memory is the arena's. A
 * table of a few entries needs none: most types are small, and walks over them are many.
 */
#ifndef RAVEL_NESLC_TABLE_H
#define RAVEL_NESLC_TABLE_H

#include <stdbool.h>

#include "base/map.h"

enum { TABLE_FEW = 12 };

struct table_entry {
  const void *key;
  void *value;
};

struct table {
  struct arena *arena;
  struct table_entry *entries; /* in the order in which they were added; NULL: those of `few` */
  size_t count, capacity;
  struct map index; /* of `entries`: the number of a key's, from 1 */
  struct table_entry few[TABLE_FEW];
};

/* An empty table in the arena; or one whose struct is the caller's and which grows in the
 * arena. */
struct table *table_new(struct arena *);
void table_begin(struct table *, struct arena *);
/* The value of the key, or NULL. */
void *table_get(const struct table *, const void *key);
void table_set(struct table *, const void *key, void *value);
/* Adds a key without a value; false if it was there already. */
bool table_add(struct table *, const void *key);
/* Union-find: follows a key to its value, that to its value, and so on, to the first that is no
 * key, the representative; compresses the path. */
const void *table_root(struct table *, const void *key);
/* Iterates over the entries, in the order in which they were added: the first for NULL; NULL
 * after the last. The table must not be changed meanwhile. */
const struct table_entry *table_next(const struct table *, const struct table_entry *);

#endif
