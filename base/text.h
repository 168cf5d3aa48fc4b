/* text.h - text that is printed into memory: counted and limited as all memory is.
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
  bool lost; /* memory was lacking: not all of it is there */
};

/* Begins an empty text, which must stay where it is until text_free. False without memory. */
bool text_begin(struct text *, struct heap *);
/* Brings bytes and length up to date; false if memory was lacking, now or before. */
bool text_flush(struct text *);
/* Makes the text empty again. */
void text_clear(struct text *);
/* Closes the stream: the text is complete, and may be moved. False as of text_flush. */
bool text_end(struct text *);
/* Closes the stream, if that was not done, and frees the text; one that is all zero may be
 * freed. */
void text_free(struct text *);

#endif
