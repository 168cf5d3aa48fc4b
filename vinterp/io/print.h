/* print.h - values as text, the format of results and of WRITE (vcode.md, section 13.1). */
#ifndef RAVEL_PRINT_H
#define RAVEL_PRINT_H

#include "vinterp/io/streams.h"

struct machine;
struct machine_site;
struct value;

/* A destination of text. `write` returns false to stop the printing. */
struct consumer {
  bool (*write)(void *self, const char *bytes, size_t n);
  void *self;
};

/* Writes one line for the value, newline included; `exact`: floats with all digits. Elements
 * are fetched and written a buffer at a time, so the memory does not grow with the value.
 * Returns false if the consumer refused, or after a fault of the back end, which is then
 * recorded. */
bool print_value(struct machine *, const struct machine_site *, const struct value *,
                 bool exact, const struct consumer *);

/* Writes raw bytes: the low eight bits of each element of an INT vector, and nothing else. */
bool print_chars(struct machine *, const struct machine_site *, const struct value *,
                 const struct consumer *);

/* A consumer that writes to a stream of the program; the caller flushes it. */
struct stream_sink {
  struct consumer consumer; /* the argument of print_value */
  struct streams *streams;
  int64_t stream;
  struct stream_status status; /* status of the latest write */
};
void stream_sink_init(struct stream_sink *, struct streams *, int64_t stream);

#endif
