/* modules.h - files whose definitions have names in a space of their own: import "file" as m.
 *
 * A definition f of a module is the global `m.f` of the session: that is its name in messages,
 * traces and generated code. While a module is read, names mean its own definitions or the
 * library's; elsewhere m.f is looked up through what the program, or the module that is being
 * read, has imported as m. So every definition stays what it was when its module is imported
 * again, under another name or by another module.
 */
#ifndef RAVEL_NESLC_MODULES_H
#define RAVEL_NESLC_MODULES_H

#include "neslc/session.h"

struct module {
  const struct name
      *prefix;       /* of its names, before the dot; NULL: of the program, which has none */
  const char *file;  /* which it is, for comparison: a path without links */
  const char *shown; /* the same as messages name it */
  struct table *imports;     /* name -> struct module: what it has imported */
  struct table *defined;     /* names, while it is read */
  struct module *older;      /* all modules of the session */
  struct module *importer;   /* while it is read, or what it imports */
  uint64_t length, hash;     /* of its text when it was read last */
  uint64_t current, renewed; /* session->round in which it was compared, and read, last */
  bool complete;             /* all of its forms succeeded */
  bool reading;
};

/* ---- names ---- */

/* The name of a definition where one is made now: of the module that is read. */
const struct name *module_own(struct session *, const struct name *);
/* Returns the global that a name means where the session reads now; NULL if none. It has been
 * read. */
struct global *module_find(struct session *, const struct name *);
/* Returns the module that the session imported here under this name; NULL if none. */
struct module *module_imported(const struct session *, const struct name *);
/* The names that a module defines: their globals and datatypes; NULL if there is none. */
struct global *module_global(struct session *, const struct module *, const struct name *);
const struct datatype *module_type(struct session *, const struct module *,
                                   const struct name *);
/* The defined name nearest to this one, without the module's; NULL if none is near. */
const char *module_nearest(struct session *, const struct module *, const char *name);
/* "m.x" of something that is imported here and defines x, a global or a type; NULL if nothing
 * does. */
const char *module_with(struct session *, const struct name *);
const char *module_with_type(struct session *, const struct name *);
/* Whether a global may be mentioned by its name where the session reads now. */
bool module_is_visible(struct session *, const struct global *);

/* ---- importing ---- */

/* There is no file that a form names; `looked` lists where it was looked for. */
void module_complain_missing(struct complaints *, const struct form *, const char *name,
                             const char *looked);

/* How files are read and forms executed: the caller's. */
struct module_files {
  /* The text of a file: NULL after complaining. */
  const struct source *(*read)(void *context, const char *file, const char *shown);
  /* Executes the forms of the module that the session reads; false after complaining. */
  bool (*execute)(void *context, const struct source *);
  void *context;
};

/* The module that is imported, and the form that imports it. */
struct module_request {
  const struct name *name;  /* for the definitions */
  const char *file, *shown; /* copied */
  const struct source *source;
  struct span at;
};

/* Imports a file: reads it, unless it was read before and neither its text nor that of what it
 * imports has changed since; texts are compared once in each session->round. False after
 * complaining; then what is good of a file has its names. */
bool module_import(struct session *, const struct module_request *, const struct module_files *,
                   struct complaints *);
/* Reads the words of the command import "file" as name: the file as it is written, and the
 * name, which without `as` is the last of the file's path without extension. Returns false
 * after complaining. */
bool module_read_words(struct session *, const struct form *, struct complaints *,
                       const char **file, const struct name **name);

#endif
