/* source.h - NESL source text, spans and positions in it, and errors about it.
 *
 * Every tree of the compiler carries spans, so that a message can quote and mark the source,
 * and a failing run can name its source line.
 */
#ifndef RAVEL_NESLC_SOURCE_H
#define RAVEL_NESLC_SOURCE_H

#include "base/diag.h"

/* A text that contains forms: a file, or a prompt's input. Owned by the session's arena:
 * functions refer to their source as long as they are defined. */
struct region;

struct source {
  const char *name; /* file name as the user gave it, "<prompt>", or "library/NAME.nesl" */
  const char *text; /* NUL behind the end; the text may contain NUL */
  size_t length;
  uint32_t first_line; /* number of the first line, for forms of a prompt: usually 1 */
  bool library;        /* of the library: errors within are reported at the call */
  bool closed;         /* names mean the library's first, whatever the program calls so */
  const struct source_mark *marks; /* source_index(); NULL: positions are counted */
  uint32_t mark_count;
  struct region *region; /* its region (region.h); NULL: its creator owns it */
  struct source *older;  /* session_add_source() */
};

/* Builds an index of positions: for a source with many forms, whose positions are computed
 * often. Memory is the arena's. */
void source_index(struct arena *, struct source *);

/* Bytes start <= i < end of a source's text. */
struct span {
  uint32_t start, end;
};

/* From the beginning of the first to the end of the second. */
static inline struct span span_over(struct span first, struct span second) {
  return (struct span){first.start, second.end};
}

/* Line and column of a byte; columns count characters (of UTF-8). */
struct source_pos source_position(const struct source *, uint32_t offset);
/* The byte where a line begins; false if there is no such line. */
bool source_line(const struct source *, uint32_t line, uint32_t *offset);
/* The number of bytes of the character at `offset` (below length): 1 .. 4 where it is valid
 * UTF-8, else 1. */
size_t source_character(const struct source *, uint32_t offset);

/* Kinds of errors, as `nesl --outcomes` names them. */
enum nesl_error {
  NESL_OK,
  NESL_PARSE,
  NESL_TYPE,
  NESL_UNBOUND,
  NESL_PATTERN,      /* not a legal pattern or variable */
  NESL_DUPLICATE,    /* a variable twice in a pattern */
  NESL_BUILTIN,      /* a library name redefined */
  NESL_UNKNOWN_TYPE, /* or class */
  NESL_NO_BODY,      /* declared only */
  NESL_SERIAL_ONLY,  /* within an apply-to-each */
  NESL_OPTIONAL_ARGUMENT,
  NESL_FIELD,     /* of a datatype: there is none of that name; missing, given twice */
  NESL_NONFINITE, /* infinity or NaN as a result, --classic */
  NESL_RUNTIME,
  NESL_USER, /* error(s) */
  NESL_LIMIT /* memory, time, nesting */
};
const char *nesl_error_name(enum nesl_error); /* "parse", "unknown-type" ... */

/* The errors of one form: the kind of the first, and all of them in diags. */
struct complaints {
  struct diag_list *diags;
  enum nesl_error first;
  uint32_t count;
  uint32_t warnings; /* of warn(), which are no errors */
  bool stopped;      /* the latest reports a stop (stop.h) */
};

/* Adds an error: FILE:LINE:COLUMN: error: MESSAGE, the line of the source, and marks under the
 * span (under its first line if it has several). */
void complain(struct complaints *, enum nesl_error, const struct source *, struct span,
              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A warning, in the same form; the form is no failure for it. */
void warn(struct complaints *, const struct source *, struct span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A note to the error before it, likewise with its line: "it is [int] because of this". */
void remark(struct complaints *, const struct source *, struct span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
