/* session.h - the top level: definitions, and the checker's entry point.
 * (NESL specification, section 4.)
 *
 * A session owns every tree, type and value of a prompt or of a program: in one arena until the
 * session ends, or in regions that are freed when nothing mentions them (region.h). A form is
 * read (front/syntax.h), checked here, compiled (flatten/flatten.h) or interpreted
 * (reference/direct.h) elsewhere, and its results are bound here.
 */
#ifndef RAVEL_NESLC_SESSION_H
#define RAVEL_NESLC_SESSION_H

#include "neslc/region.h"

struct session {
  struct arena *arena; /* of the form that is executed, if it has a region (region.h) */
  struct intern names;
  struct table *globals;       /* name -> struct global, the newest with that name */
  struct table *types;         /* name -> struct datatype */
  struct table *library;       /* name -> struct global of the library, even if redefined */
  struct table *library_types; /* name -> struct datatype of the library, likewise */
  struct later_text *later;    /* later.h: of the text that is read, or NULL */
  struct module *program;      /* modules.h: what is no module; */
  struct module *module;       /* what is read now: that, or a module; */
  struct module *modules;      /* all */
  uint64_t round;              /* changes when files may have: with each form of the program */
  uint32_t next_number;        /* of globals and lambdas */
  bool in_library;             /* while the library is read: `primitive` is a body */
  bool argument_checks;        /* set arg_check; initially true */
  bool overflow_checks;        /* of what is read from now on: docs/language.md, Numbers */
  bool warned_of_escapes;      /* that strings without `e` have none */
  bool classic;

  /* Finds the type of a file of arrays for read_npy("FILE"); or returns NULL and sets a
   * message. `format`: "npy", "npz", "csv"; `settings`: those behind a signature (arrays.h).
   * NULL itself where files may not be opened. */
  struct type *(*file_type)(void *context, const char *format, const char *settings,
                            const char *name, size_t length, const char **problem);
  void *file_context;

  /* region.h; heap is NULL where everything is in the arena: */
  struct heap *heap;
  struct arena *lasting;  /* of names and tables */
  struct region *region;  /* of the form that is executed, or NULL */
  struct region *regions; /* all */
  struct source *sources; /* to look for positions in, newest first */
  struct global *cells;   /* every global that is not of the library, newest first */
  uint64_t collect_at;    /* live bytes that start a collection */
  uint64_t loose;         /* bytes of unnamed definitions since the last collection */
};

/* A session that knows the names of the library. NULL, and errors in diags, only if the library
 * is broken or memory runs out (the arena jumps). */
struct session *session_new(struct arena *, bool classic, struct diag_list *);

/* Functions of the library are read and checked when they are first looked up, by the following
 * functions or by the checker: until then only their name, form->source and form->at.start are
 * known, and their scheme has no type. Memory may run out (the arena jumps): the next use reads
 * the function again. */
struct global *session_read(struct session *, struct global *); /* itself; NULL for NULL */

/* The global of that name, or of `m.name` for what is imported as m; NULL if there is none. */
struct global *session_global(struct session *, const char *name);
/* The library's function of that name, whatever the user redefined; NULL if there is none. */
struct global *session_library(struct session *, const char *name);
/* Returns the datatype that the name means where the session reads now; NULL if none. */
const struct datatype *session_type(struct session *, const struct name *);
/* The global that its name refers to now, perhaps itself. */
struct global *session_current(struct session *, const struct global *);
/* Calls visit for every global, read or not, in alphabetical order of names. Jumps as an arena
 * does if there is no memory for the list. */
void session_each(struct session *, void (*visit)(void *, struct global *), void *context);
/* The defined name nearest to this one, or NULL if none is near. */
const char *session_nearest(struct session *, const char *name);

/* The result of checking a form. */
struct checked {
  const struct form *form;
  /* EXPRESSION, ASSIGN: */
  struct core *value; /* its type is what is printed; may keep variables (ground: int) */
  uint32_t local_count;
  struct core_pattern *pattern; /* ASSIGN: locals named as the globals to bind */
  /* FUNCTION, DATATYPE: defined already */
  struct global *global;
  const char *notice; /* "Redefining X with a new type. ..." or NULL */
  const char *note;   /* for a prompt: that a name is the library's, too, when it is first used;
                         or NULL */
};

/* Reads and checks a text that is a type, with a `;` behind it. NULL after errors. */
struct type *session_read_type(struct session *, const struct source *, struct complaints *);

/* Checks a form: names, patterns, types, classes, serial-only functions, optional arguments.
 * FUNCTION and DATATYPE define their names; the others define nothing. False after errors; then
 * the session is unchanged. Not for commands. */
bool check_form(struct session *, const struct form *, struct complaints *, struct checked *);

/* Traverses everything that the evaluation of the expression may reach, before it is evaluated.
 * Reports errors and returns true for a call of a function that is only declared
 * (NESL_NO_BODY), or a parallel call that is serial-only because of a later redefinition
 * (NESL_SERIAL_ONLY). */
bool session_find_missing(struct session *, const struct core *, struct complaints *);

/* Binds a global's name to it, replacing an older global. */
void session_name(struct session *, struct global *);
/* Binds the name (`it`, or a variable of the pattern) to a value, by the rules of section 4.2.
 * `scheme`: its type, generic for function values. The columns are copied. */
struct global *session_bind(struct session *, const struct name *, const struct scheme *,
                            const struct nesl_value *);
/* Binds the name as session_bind does, but borrows the elements of the columns: they must last
 * as long as the variable is used. */
struct global *session_import(struct session *, const struct name *, const struct scheme *,
                              const struct nesl_value *);
/* Binds all variables of an evaluated form: `it`, or those of the pattern. */
void session_bind_checked(struct session *, const struct checked *, const struct nesl_value *);

#endif
