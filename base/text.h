/* text.h - text printed into memory, which is counted and limited.
 */
#ifndef RAVEL_TEXT_H
#define RAVEL_TEXT_H

#include "base/heap.h"

#include <stdbool.h>
#include <stdio.h>

struct text {
  FILE *stream; /* print here */
  char *bytes;  /* what was printed, and a NUL; up to date after text_flush */
  size_t length;
  size_t capacity;
  struct heap *heap;
  bool lost; /* memory ran out: the text is incomplete */
};

/* Begins an empty text, whose struct must not move until text_end or text_free. Returns false
 * without memory. */
bool text_begin(struct text *, struct heap *);
/* Updates bytes and length. Returns false if memory ran out, now or before. */
bool text_flush(struct text *);
/* Makes the text empty again. */
void text_clear(struct text *);
/* Closes the stream: the text is complete, and may be moved. Returns what text_flush returns.
 */
bool text_end(struct text *);
/* Closes the stream if it is open, and frees the text; an all-zero one may be freed. */
void text_free(struct text *);

#endif
