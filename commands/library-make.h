/* library-make.h - a library while it is made. */
#ifndef RAVEL_COMMANDS_LIBRARY_MAKE_H
#define RAVEL_COMMANDS_LIBRARY_MAKE_H

#include "commands/library.h"
#include "commands/nesl.h"
#include "commands/neslc-options.h"

struct making {
  struct nesl *n;
  const struct neslc_options *o;
  struct library l;
};

/* Adds an error; returns false for the caller to pass on. */
bool library_wrong(struct making *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns a text in the arena as it may stand in a comment of C. */
const char *library_comment(struct arena *, const char *text);
/* Finds the function that --entry F[:TYPES] describes, and the type of its argument. Returns
 * NULL with diagnostics. */
struct global *library_target(struct making *, const char *text, struct type **argument);
/* Compiles the function that --entry describes and adds it to the library, whose array has
 * room. False with diagnostics; memory_failed. */
bool library_make_entry(struct making *, const char *text);

#endif
