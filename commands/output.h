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

/* Whether superoperators are compiled by the machine's C compiler. */
enum native_wish {
  NATIVE_WHEN_IT_PAYS, /* nothing was said */
  NATIVE_OFF,
  NATIVE_BESIDE, /* all of them, while the program runs */
  NATIVE_BEFORE  /* all of them, and the program waits */
};
/* What may follow --native; text is NULL if nothing does. False if it is something else. */
bool output_native_wish(const char *text, enum native_wish *);
/* machine_options.native for a wish, in the folder above; *option is its text or NULL. Measured
 * runs wait for what is compiled in any case: all that was asked for, and what a back end needs.
 * False with a diagnostic; where nobody has asked and there is no folder, nothing is compiled
 * and nothing said. */
bool output_native(enum native_wish, bool measured, char *text, size_t size,
                   const char **option, struct diag_list *);

/* Adds the system's words on an error number; returns false. */
bool output_complain(struct diag_list *, const char *file, int error);

#endif
