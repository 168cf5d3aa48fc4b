/* intern.h - each name once: equal strings become equal pointers. */
#ifndef RAVEL_INTERN_H
#define RAVEL_INTERN_H

#include "base/map.h"

struct name {
  uint32_t length;
  uint32_t number; /* 0, 1, 2 ... in order of first use: an index for side tables */
  char text[];     /* NUL-terminated; may contain no NUL inside */
};

struct intern {
  struct arena *arena;
  ARRAY(const struct name *) names; /* by number */
  struct scoped_map numbers;        /* by hash */
};

void intern_init(struct intern *, struct arena *);
/* Returns the unique name with these bytes, which it adds if it is new. Ends in memory_failed
 * without memory. */
const struct name *intern_name(struct intern *, const char *text, size_t length);

/* Counts the edits (insertions, deletions, replacements, swaps of neighbours) between two
 * strings, for "did you mean". It counts no further than limit + 1. */
unsigned edit_distance(const char *a, const char *b, unsigned limit);

/* Finds the name nearest to the one that was written, if any is near enough not to be another
 * word. If several are equally near, the first in the alphabet is taken. */
struct nearest_name {
  const char *wanted, *best; /* NULL: none is near */
  unsigned least;            /* edits to best; before there is one, one more than may be */
};
struct nearest_name nearest_to(const char *wanted);
/* Considers one more name, which must live as long as the result is used. */
void nearest_try(struct nearest_name *, const char *name);

#endif
