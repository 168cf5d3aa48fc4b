/* zip.h - archives as numpy writes and reads them: files that are stored or, where zlib is
 * there, deflated, by numpy.savez_compressed.
 *
 * What is written is stored, and has the extensions for archives of more than 4 GiB, whatever
 * its size.
 */
#ifndef RAVEL_ARRAYS_ZIP_H
#define RAVEL_ARRAYS_ZIP_H

#include "arrays/arrays-private.h"

struct zip_member {
  const char *name;   /* NUL-terminated */
  const char *stored; /* its bytes in the archive */
  size_t stored_length, length;
  uint64_t offset; /* of its header, in the archive */
  uint32_t check;  /* CRC-32 */
  bool deflated;
};

struct zip {
  struct arena *arena;
  ARRAY(struct zip_member) members;
  struct array_spills *spills; /* where large members are inflated to, or NULL */
  FILE *out;                   /* of an archive that is written */
  uint64_t written;            /* bytes */
  const char **problem;
};

/* Finds the members of an archive, whose bytes stay the caller's. */
bool zip_read(struct zip *, const char *bytes, size_t length);
/* Returns the bytes of a member, as many as its length. They are in the archive or, if the
 * member is deflated, in scratch or a spill. Their check is compared. NULL after setting the
 * problem. */
const char *zip_bytes(struct zip *, const struct zip_member *, struct arena *scratch);
/* Returns at most *length bytes from the start of a member, and does not check them. *length
 * becomes how many they are. */
const char *zip_head(struct zip *, const struct zip_member *, struct arena *scratch,
                     size_t *length);

/* Writes a member. `write` writes its contents, twice: first to find their length and check. */
bool zip_add(struct zip *, const char *name, bool (*write)(void *context, FILE *),
             void *context);
/* Writes the directory behind all members. */
void zip_end(struct zip *);

/* ---- zlib ---- */

/* Returns the next state of a check, which begins with 0. */
uint32_t zip_check(uint32_t check, const char *bytes, size_t length);
/* Inflates the first `length` bytes of a member, which has at least as many, into scratch.
 * Returns NULL after setting the problem: if there are fewer or, for a whole member, not
 * exactly as many. */
const char *zip_inflate(struct zip *, const struct zip_member *, struct arena *scratch,
                        size_t length);
/* Inflates all bytes of a member into a spill. */
const char *zip_inflate_spilled(struct zip *, const struct zip_member *, struct arena *scratch);

#endif
