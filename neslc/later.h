/* later.h - functions of a text that call functions which the text defines later.
 *
 * Before the forms of a text are read one after another, the text is looked through for the
 * words `function NAME`. A function that names one of these, which is not defined yet, is
 * checked after it. Functions that name each other, directly or through others, are checked
 * together: within their bodies their types have no variables that each use determines anew, as
 * the type of a function within its own body. So types are inferred for the strongly connected
 * components of the graph of calls (Tarjan, Depth-first search and linear graph algorithms,
 * 1972).
 *
 * A name means what the text defined before; else what it defines later; else what the session
 * or the library has. Forms that are no functions see what was defined before them.
 */
#ifndef RAVEL_NESLC_LATER_H
#define RAVEL_NESLC_LATER_H

#include "neslc/session.h"

struct checker;

/* A definition of a text. */
struct later {
  const struct name *name;
  uint32_t at;           /* where its form begins */
  struct later *next;    /* of the same name */
  bool done;             /* checked with a function before it: */
  enum nesl_error error; /* NESL_OK, or what is wrong with it, which has been reported */
  struct global *global;
  const char *notice, *note;
};

/* The definitions of a text; the arena's of its source. */
struct later_text {
  struct arena *arena;
  struct reader reader; /* as it was before the first form */
  uint32_t at;          /* where the form begins that is checked now */
  struct table *names;  /* name -> the first struct later of this name */
};

/* Looks through the text that the reader is about to read: for session->later. */
struct later_text *later_look(struct session *, const struct reader *);

/* A form is checked now: what begins before it is no longer ahead. */
void later_reach(struct session *, const struct form *);
/* The definition that a form is; NULL if it is of no such text. */
struct later *later_of(const struct session *, const struct form *);
/* The definition of this name that the text has next; NULL: none, or of another text. */
const struct later *later_named(const struct session *, const struct source *,
                                const struct name *);
/* Whether it is a function that was defined before its turn, which has not come. */
bool later_is_ahead(const struct session *, const struct global *);
/* Whether a function names another that has to be defined first, given what the name means now:
 * then it is noted. */
bool later_is_meant(struct checker *, const struct name *, const struct global *now);
/* Remarks on an error in a function that is checked before its turn. */
void later_remark(struct checker *);
/* Whether the function was checked already: its definition, or its error is counted again. */
bool later_was_defined(struct checker *, const struct later *, struct checked *);
/* Defines the functions that a function needs, and the function. */
bool later_define(struct checker *, struct later *, const struct form *, struct checked *);

#endif
