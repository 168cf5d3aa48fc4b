/* chunked-programs.h - programs with calls by instances, some of which fail. */
#ifndef RAVEL_CHUNKED_PROGRAMS_H
#define RAVEL_CHUNKED_PROGRAMS_H

#include <stddef.h>

struct chunked {
  const char *name, *text;
  const char *word; /* of the diagnostic; NULL: it does not fail */
};

extern const struct chunked chunked[];
extern const size_t chunked_count;

#endif
