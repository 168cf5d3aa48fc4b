/* print.h - values as text, the format of results and of WRITE (vcode.md, section 13.1). */
#ifndef RAVEL_PRINT_H
#define RAVEL_PRINT_H

#include <stdbool.h>
#include <stddef.h>

struct machine;
struct streams;
struct value;

/* Where text goes. `write` returns false to stop the printing. */
struct sink {
  bool (*write)(void *self, const char *bytes, size_t n);
  void *self;
};

/* Writes one line for the value, newline included. The elements are fetched and written in
 * pieces, so the memory needed does not grow with the value. False if the sink refused or the
 * error slot of the back end was not empty (then nothing more is written). */
bool print_value(struct machine *, const struct value *, const struct sink *);

/* The same for raw bytes: the low eight bits of each element of an INT vector, nothing added.
 */
bool print_chars(struct machine *, const struct value *, const struct sink *);

#endif
