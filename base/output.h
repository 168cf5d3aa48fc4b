/* output.h - bytes on their way to a FILE, collected so that not each of them costs a call and
 * a lock. */
#ifndef RAVEL_OUTPUT_H
#define RAVEL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { OUTPUT_BYTES = 16384 };

/* A zeroed struct is empty. output_flush writes what has been collected. */
struct output {
  FILE *file;
  bool failed; /* not all of it could be written so far */
  size_t used;
  char bytes[OUTPUT_BYTES];
};

void output_flush(struct output *);
/* Appends n bytes, of which there may be any number. */
void output_bytes(struct output *, const char *bytes, size_t n);

/* Returns room for n bytes, at most OUTPUT_BYTES. The caller writes there and adds to `used`.
 */
static inline char *output_room(struct output *o, size_t n) {
  if (n > OUTPUT_BYTES - o->used) output_flush(o);
  return o->bytes + o->used;
}

static inline void output_char(struct output *o, char c) {
  *output_room(o, 1) = c;
  o->used++;
}

static inline void output_text(struct output *o, const char *text) {
  const size_t n = strlen(text);
  if (n > OUTPUT_BYTES - o->used) {
    output_bytes(o, text, n);
    return;
  }
  memcpy(o->bytes + o->used, text, n);
  o->used += n;
}

#endif
