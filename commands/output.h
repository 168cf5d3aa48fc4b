/* output.h - files that a command writes: whole or not at all. */
#ifndef RAVEL_OUTPUT_H
#define RAVEL_OUTPUT_H

#include "base/diag.h"

/* Puts text[0..length) into a file, or on standard output for "-". The file appears with all of
 * it or stays as it was: the text goes to a file beside it, which then takes its name (what is
 * no ordinary file, as /dev/null, is written directly). Ctrl-C waits meanwhile. False with a
 * diagnostic. */
bool output_write(const char *file, const char *text, size_t length, struct diag_list *);

/* A text on its way to a file: print to `stream`. */
struct output {
  FILE *stream;
  char *text;
  size_t length;
};

/* False with a diagnostic if memory is not to be had. */
bool output_begin(struct output *, const char *file, struct diag_list *);
/* Writes what was printed, as output_write does, and frees it. */
bool output_end(struct output *, const char *file, struct diag_list *);

/* Where what may be made again is kept: $XDG_CACHE_HOME/ravel or ~/.cache/ravel, made if it is
 * not there. False with a diagnostic. */
bool output_cache_folder(char *path, size_t size, struct diag_list *);
/* The same for machine_options.native, whose runs wait for compilations if wanted. */
bool output_native_folder(char *option, size_t size, bool waits, struct diag_list *);

/* Adds the system's words on an error number; returns false. */
bool output_complain(struct diag_list *, const char *file, int error);

#endif
