/* source.h - a program's text, read whole. */
#ifndef RAVEL_SOURCE_H
#define RAVEL_SOURCE_H

#include "base/diag.h"

struct source_text {
  char *text;
  size_t length, capacity;
};

/* Reads a file, or standard input for "-". False with a diagnostic about the file if that fails
 * or the heap's limit is reached. Release with source_free in every case. */
bool source_read(struct source_text *, struct heap *, const char *file, struct diag_list *);
void source_free(struct source_text *, struct heap *);

/* Whether the text has bytes no text has: then one complaint about it is enough. */
bool source_is_binary(const struct source_text *);

#endif
