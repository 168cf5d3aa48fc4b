/* source.h - a program's text, read whole. */
#ifndef RAVEL_SOURCE_H
#define RAVEL_SOURCE_H

#include "arrays/arrays.h"
#include "base/diag.h"
#include "base/find-source.h"
#include "base/permissions.h"

struct source_text {
  char *text;
  size_t length, capacity;
  bool mapped; /* from the file, which must not become shorter meanwhile (process.h); */
  int fd;      /* that is this one */
};

enum { SOURCE_MAX = 1 << 29 }; /* bytes of a text */

/* Reads a file that the user named, or standard input for "-": all ranks of a job get what rank
 * 0 has there. A text has no NUL: reading ends
 * with the block that has one, so that reading a device such as /dev/zero ends, and the parser
 * complains. False with a diagnostic if reading fails, or if the text is longer than SOURCE_MAX
 * or the heap's limit. Release with source_free in every case. */
bool source_read(struct source_text *, struct heap *, const char *file, struct diag_list *);
/* Reads an array of this format, which may be longer, with the permissions of the one who named
 * the file. Reading ends if the first bytes do not fit the format. */
bool source_read_array(struct source_text *, struct heap *, const struct permissions *,
                       const char *file, enum array_format, struct diag_list *);
/* Reads a source that was found where another names it. */
bool source_load(struct source_text *, struct heap *, const struct source_search *,
                 const char *path, struct diag_list *);
/* Reads an array, or maps it: an ordinary file of a megabyte or more is mapped, and counts
 * nothing in the heap. */
bool source_map_array(struct source_text *, struct heap *, const struct permissions *,
                      const char *file, enum array_format, struct diag_list *);
/* Whether a file that is mapped is as long as it was: one whose last page alone has become
 * shorter reads as zeros. */
bool source_is_whole(const struct source_text *);
void source_free(struct source_text *, struct heap *);

/* Whether a file begins as scripts do, with #! for the system. */
bool source_is_script(const char *file);
/* Whether the name of a file ends in .npy or .csv, and the format. */
bool source_array_format(const char *file, enum array_format *);

/* Whether the text has bytes that no text has, so that one complaint is enough. */
bool source_is_binary(const struct source_text *);

#endif
