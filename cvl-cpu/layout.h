/* layout.h - several arrays in one block of memory, each on lines of its own. */
#ifndef RAVEL_CPU_LAYOUT_H
#define RAVEL_CPU_LAYOUT_H

#include <stddef.h>

/* Returns where an array of so many bytes begins; *end is the end of those before it, and then
 * of this one. */
static inline size_t layout_next(size_t *end, size_t bytes) {
  enum { LINE = 64 };
  const size_t start = *end;
  *end += (bytes + LINE - 1) / LINE * LINE;
  return start;
}

#endif
