/* output.h - files that a command writes: whole or not at all (base/replace.h). */
#ifndef RAVEL_OUTPUT_H
#define RAVEL_OUTPUT_H

#include "base/diag.h"
#include "base/replace.h"
#include "vinterp/machine.h"

/* A file on its way, or standard output for "-": print to `stream`. */
struct output {
  FILE *stream;
  bool standard;
  const struct stop *stop;        /* if it is */
  struct replacement replacement; /* if it is not standard output */
};

/* Begins a file that the user named; it must be ended or abandoned, and stay where it is until
 * then. False with a diagnostic. */
bool output_begin(struct output *, const char *file, struct diag_list *);
/* The same with permissions: those of a program. */
bool output_begin_as(struct output *, const struct permissions *, const char *file,
                     struct diag_list *);
/* The file has what was printed, or, false with a diagnostic, what it had before. */
bool output_end(struct output *, const char *file, struct diag_list *);
/* The file has what it had before. */
void output_abandon(struct output *);

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
/* Fills in what a wish means to the machine, in the folder above, whose path is written to
 * path[size] and borrowed. Measured runs wait for what is compiled in any case: all that was
 * asked for, and what a back end needs. False with a diagnostic; where nobody has asked and
 * there is no folder, nothing is compiled and nothing said. */
bool output_native(enum native_wish, bool measured, char *path, size_t size,
                   struct machine_options *, struct diag_list *);

/* Adds the system's words on an error number; returns false. */
bool output_complain(struct diag_list *, const char *file, int error);

#endif
