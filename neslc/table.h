/* table.h - maps from pointers to pointers: names to what they mean, nodes to what a walk made
 * of them.
 *
 * Names are interned (base/intern.h), so their addresses are keys. Memory is the arena's. A
 * table of a few entries needs none: most types are small, and walks over them are many.
 */
#ifndef RAVEL_NESLC_TABLE_H
#define RAVEL_NESLC_TABLE_H

#include <stdbool.h>

#include "base/arena.h"

enum { TABLE_FEW = 12 };

struct table_entry {
  const void *key; /* NULL: free */
  void *value;
};

struct table {
  struct arena *arena;
  struct table_entry *entries; /* open addressing, power of two; NULL: those of `few` */
  size_t capacity;             /* of entries; those that are not free never become free again */
  size_t count;
  struct table_entry few[TABLE_FEW]; /* the first `count` of them, in no order */
};

/* An empty table in the arena; or one that stands anywhere and grows in the arena. */
struct table *table_new(struct arena *);
void table_begin(struct table *, struct arena *);
/* What the key stands for, or NULL. */
void *table_get(const struct table *, const void *key);
void table_set(struct table *, const void *key, void *value);
/* Adds a key for its own sake; false if it was there already. */
bool table_add(struct table *, const void *key);
/* Follows a key to what it stands for, that to what it stands for, and so on, to the first that
 * is no key: where entries say that two are the same, the one that stands for all. What lies on
 * the way leads there directly from now on. */
const void *table_root(struct table *, const void *key);
/* The entries one after the other, in no order: the first for NULL; NULL behind the last. The
 * table must not be changed meanwhile. */
const struct table_entry *table_next(const struct table *, const struct table_entry *);

#endif
