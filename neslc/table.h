/* table.h - maps from pointers to pointers: names to what they mean.
 *
 * Names are interned (base/intern.h), so their addresses are keys. Memory is the arena's.
 */
#ifndef RAVEL_NESLC_TABLE_H
#define RAVEL_NESLC_TABLE_H

#include "base/arena.h"

struct table {
  struct arena *arena;
  struct table_entry {
    const void *key; /* NULL: free */
    void *value;
  } * entries;     /* open addressing, power of two */
  size_t capacity; /* entries that are not free never become free again */
  size_t count;
};

struct table *table_new(struct arena *);
/* What the key stands for, or NULL. */
void *table_get(const struct table *, const void *key);
void table_set(struct table *, const void *key, void *value);

#endif
