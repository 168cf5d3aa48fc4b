/* library.h - the functions of the language that are written in the language: library/.
 *
 * The files are part of the program: the build makes a C file of them. A session looks through
 * them in this order for lines that begin with `function` or `datatype`; it reads and checks a
 * function when it is first named (session_read). Where a function cannot be written in NESL
 * its body is the word `primitive`. The name of a function may be an operator there: `function
 * +(x, y) : ...`.
 *
 * A program may use these names for its own: then the library keeps to what is here.
 */
#ifndef RAVEL_NESLC_LIBRARY_H
#define RAVEL_NESLC_LIBRARY_H

#include "neslc/session.h"

struct library_file {
  const char *name; /* "library/scans.nesl" */
  const char *text; /* NUL behind the end */
  size_t length;
};

extern const struct library_file library_files[];
extern const size_t library_file_count;

/* Binds the constants of the library: pi, max_int, newline, stdin, user ... Before the files
 * are loaded. */
void library_bind_constants(struct session *);

#endif
