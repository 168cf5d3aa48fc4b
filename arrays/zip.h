/* zip.h - archives as numpy writes and reads them: files that are stored, not compressed.
 *
 * What is written has the extensions for archives of more than 4 GiB, whatever its size.
 */
#ifndef RAVEL_ARRAYS_ZIP_H
#define RAVEL_ARRAYS_ZIP_H

#include "arrays/arrays-private.h"

struct zip_member {
  const char *name; /* NUL-terminated */
  const char *bytes;
  size_t length;
  uint64_t offset; /* of its header, in the archive */
  uint32_t check;  /* CRC-32 */
};

struct zip {
  struct arena *arena;
  ARRAY(struct zip_member) members;
  FILE *out;        /* of an archive that is written */
  uint64_t written; /* bytes */
  const char **problem;
};

/* Finds the members of an archive, whose bytes stay the caller's, and checks them. */
bool zip_read(struct zip *, const char *bytes, size_t length);
/* Writes a member, whose contents `write` writes: twice, first to find their length and check.
 */
bool zip_add(struct zip *, const char *name, bool (*write)(void *context, FILE *),
             void *context);
/* Writes the directory behind all members. */
void zip_end(struct zip *);

/* The next state of a check, which begins with 0. */
uint32_t zip_check(uint32_t check, const char *bytes, size_t length);

#endif
