/* output.h - files that a command writes: whole or not at all (base/replace.h). */
#ifndef RAVEL_OUTPUT_H
#define RAVEL_OUTPUT_H

#include "base/diag.h"
#include "base/replace.h"
#include "vinterp/machine.h"

/* A file that is being written, or standard output for "-": print to `stream`. */
struct output_file {
  FILE *stream;
  bool standard;
  const struct stop *stop;        /* if it is */
  struct replacement replacement; /* if it is not standard output */
};

/* Begins a file that the user named; it must be ended or abandoned, and *output must not move
 * until then. False with a diagnostic. */
bool output_begin(struct output_file *, const char *file, struct diag_list *);
/* Begins an output with permissions: a program's. */
bool output_begin_as(struct output_file *, const struct permissions *, const char *file,
                     struct diag_list *);
/* Replaces the contents of the file by what was printed; false with a diagnostic if that fails,
 * and then the file is unchanged. */
bool output_end(struct output_file *, const char *file, struct diag_list *);
/* Leaves the file unchanged. */
void output_abandon(struct output_file *);

/* Makes a folder with these permissions unless it is there. False with a diagnostic. */
bool output_folder(const char *path, unsigned mode, struct diag_list *);

/* The folder of the cache: $XDG_CACHE_HOME/ravel or ~/.cache/ravel, created if it does not
 * exist. False with a diagnostic. */
bool output_cache_folder(char *path, size_t size, struct diag_list *);

/* Whether superoperators are compiled by the machine's C compiler. */
enum native_wish {
  NATIVE_WHEN_IT_PAYS, /* the default */
  NATIVE_OFF,
  NATIVE_BESIDE, /* all of them, while the program runs */
  NATIVE_BEFORE  /* all of them, and the program waits */
};
/* Reads the value of --native, NULL if it has none. False if it is invalid. */
bool output_native_wish(const char *text, enum native_wish *);
/* Sets the options of the machine for a wish. Compiled code is kept in the folder of the cache,
 * whose path is written to path[size] and borrowed. Measured runs wait for all compilations. If
 * there is no such folder: false with a diagnostic, or with the default wish nothing is
 * compiled and there is no diagnostic. */
bool output_native(enum native_wish, bool measured, char *path, size_t size,
                   struct machine_options *, struct diag_list *);

/* Adds a diagnostic with the system's text for an error number; returns false. */
bool output_complain(struct diag_list *, const char *file, int error);

#endif
