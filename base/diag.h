/* diag.h - diagnostics: the source location, the message with values, and the trace of calls.
 *
 * A diagnostic prints as
 *     FILE:LINE:COLUMN: error: MESSAGE
 *       note lines, one per entry of the trace
 * with the origin (origin.h) first where there is one:
 *     prog.nesl:12:3: error: MESSAGE (at prog.vcode:88:1)
 */
#ifndef RAVEL_DIAG_H
#define RAVEL_DIAG_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdio.h>

/* A position in a source file; line and column count from 1, 0 means unknown. */
struct source_pos {
  uint32_t line, column;
};

struct origin; /* origin.h */

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

struct diag {
  enum severity severity;
  const char *file; /* NULL: of the command itself ("vinterp: error: ...") */
  struct source_pos pos;
  const struct origin *origin; /* what it was compiled from, or NULL */
  const char *message;
};

enum {
  DIAG_MEMORY = 16 << 20
}; /* bytes for the messages of a command, separate from the memory
      of the program */

/* A list of diagnostics in an arena. Without memory nothing can be added: `lost` counts
 * the messages that did not fit, and diag_print reports that. */
struct diag_list {
  struct arena *arena;
  ARRAY(struct diag) list;
  size_t errors; /* added so far */
  size_t lost;   /* could not be kept for want of memory */
};

void diag_list_init(struct diag_list *, struct arena *);
/* Adds a diagnostic; message is formatted into the arena, file and origin are borrowed. */
void diag_add(struct diag_list *, enum severity, const char *file, struct source_pos,
              const struct origin *origin, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Prints all to stream, in order of insertion, up to `limit` errors (0: all). `program` is the
 * command's name for diagnostics without a file. */
void diag_print(const struct diag_list *, const char *program, size_t limit, FILE *stream);

#endif
