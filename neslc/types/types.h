/* types.h - NESL's types and their classes; unification; schemes; printing.
 * (NESL specification, section 5, and 10.3.)
 *
 * Types are terms in an arena with shared parts: acyclic graphs, which may be much larger as
 * trees. A variable has a class and, once unified, a link to its type: inspect types through
 * type_of() only. A variable belongs to the form that is being checked, or is generic: of a
 * scheme. There are no levels in between, since only forms are polymorphic. Function types
 * carry an identity, the function that the value is. An identity is a variable until it is
 * known; then it is a global function or a lambda expression, with the types on which its code
 * still depends.
 */
#ifndef RAVEL_NESLC_TYPES_H
#define RAVEL_NESLC_TYPES_H

#include <stdbool.h>

#include "base/intern.h"
#include "neslc/front/source.h"

struct global;
struct core_lambda;

enum type_tag {
  TYPE_INT,
  TYPE_FLOAT,
  TYPE_BOOL,
  TYPE_CHAR,
  TYPE_STREAM,   /* the library's type of files: represented as an INT */
  TYPE_SEQUENCE, /* part[0] */
  TYPE_PAIR,     /* part[0], part[1] */
  TYPE_FUNCTION, /* argument part[0], result part[1], identity part[2] */
  TYPE_DATA,     /* a datatype and its arguments */
  TYPE_IDENTITY, /* of a function: global or lambda, and its arguments */
  TYPE_VARIABLE  /* not yet known, or of a scheme */
};

enum type_class {
  CLASS_ANY,
  CLASS_SCALAR,
  CLASS_ORDINAL, /* and sequences and tuples of these */
  CLASS_NUMBER,
  CLASS_LOGICAL,
  CLASS_SORTABLE, /* numbers, and sequences and tuples of ordinals */
  CLASS_EQUATED,  /* scalars of `ordinal`, which it is written as: of == and /= */
  CLASSES
};
const char *type_class_name(enum type_class);

struct datatype {
  const struct name *name;
  uint32_t parameter_count;
  uint32_t shown_count;     /* parameters that are written; after them the hidden identities of
                               functions in the contents */
  struct type **parameters; /* variables of the scheme */
  struct type *contents;    /* over them */
  uint32_t field_count;     /* of named fields: the contents are their tuple; or 0 */
  const struct name **fields;
  uint32_t order;             /* greater than that of those defined before */
  struct global *constructor; /* contents -> the type */
};

struct type {
  uint8_t tag;     /* enum type_tag */
  uint8_t klass;   /* VARIABLE: enum type_class */
  bool generic;    /* VARIABLE: of a scheme; never linked */
  uint32_t number; /* VARIABLE: in order of making; generic: index in its scheme */
  struct type *part[3];
  struct type *link; /* VARIABLE: what it was unified with, or NULL */
  const struct datatype *data;
  const struct name *assumed;       /* DATA: the field for which it was assumed; NULL */
  const struct global *global;      /* IDENTITY of a function or constructor, else NULL */
  const struct core_lambda *lambda; /* IDENTITY of a lambda expression, else NULL */
  uint32_t argument_count;          /* DATA, IDENTITY: arguments */
  struct type **arguments;
  struct span from; /* the source location that determined this type, for messages */
  const struct source *from_source; /* NULL: unknown */
};

/* Follows links to the type, and shortens them. Never NULL for non-NULL. */
static inline struct type *type_of(struct type *t) {
  while (t->link) {
    if (t->link->link) t->link = t->link->link;
    t = t->link;
  }
  return t;
}

/* Whether it consists of others. */
bool type_has_parts(const struct type *);

/* Types nest this deep: walks over them are recursive. */
enum { TYPE_MOST_DEPTH = 4000 };
/* Whether a type nests deeper. `scratch`, here and below, holds what a walk over a large type
 * remembers. */
bool type_is_deep(struct arena *scratch, struct type *);

/* Construction; memory is the arena's. Base types without a source location are shared
 * constants. */
struct type *type_base(struct arena *, enum type_tag);
struct type *type_sequence(struct arena *, struct type *element);
struct type *type_pair(struct arena *, struct type *left, struct type *right);
struct type *type_function(struct arena *, struct type *argument, struct type *result,
                           struct type *identity);
struct type *type_data(struct arena *, const struct datatype *, struct type **arguments);
struct type *type_identity(struct arena *, const struct global *, const struct core_lambda *,
                           uint32_t count, struct type **arguments);
struct type *type_variable(struct arena *, enum type_class);

enum unify_result {
  UNIFY_OK,
  UNIFY_CLASH,
  UNIFY_CLASS,
  UNIFY_INFINITE,
  UNIFY_DEEP, /* it would nest deeper than TYPE_MOST_DEPTH */
  UNIFY_IDENTITY
};
/* Makes both the same, linking variables. On failure some variables may be linked already;
 * *a_part and *b_part are the innermost parts that clash. */
enum unify_result type_unify(struct arena *scratch, struct type *a, struct type *b,
                             struct type **a_part, struct type **b_part);

/* ---- schemes ---- */

struct scheme {
  uint32_t count;
  struct type **variables; /* generic, with their classes, index = number */
  struct type *type;       /* over them */
};

/* Turns every variable left in the type (identities too) into a generic one: it changes in the
 * whole typed tree that shares them. */
struct scheme type_generalise(struct arena *, struct type *);
/* A copy with fresh variables, which shares within itself what the scheme's type does;
 * arguments[i] (of scheme->count) is what variable i became. */
struct type *type_instantiate(struct arena *, const struct scheme *, struct type **arguments);
/* Copies a scheme's type as type_instantiate does; every part of the copy gets this source
 * location. */
struct type *type_instantiate_at(struct arena *, const struct scheme *, struct type **arguments,
                                 const struct source *, struct span);
/* A copy without source locations, which shares only datatypes, functions and names with the
 * type. The copy of a scheme includes its variables. */
struct type *type_copy(struct arena *, struct type *);
struct scheme scheme_copy(struct arena *, const struct scheme *);
/* The number of a datatype's field; field_count if it has none of that name. */
uint32_t datatype_field(const struct datatype *, const struct name *);
/* Returns the contents of a datatype's values, with its arguments. */
struct type *type_contents(struct arena *, struct type *data);
/* Whether two schemes are the same but for the names of variables, identities included. */
bool scheme_same(struct arena *scratch, const struct scheme *, const struct scheme *);
/* The type with generic variable i replaced by arguments[i]; variables that nothing determined
 * become int, and so do generic ones of count and above. The result has no variables: it is
 * ground. A type that is ground already is returned unchanged; types are not hash-consed. */
struct type *type_ground(struct arena *, struct type *, uint32_t count,
                         struct type **arguments);
/* Equality of ground types, identities and their arguments included; and a hash of them. */
bool type_same(struct arena *scratch, const struct type *, const struct type *);
uint64_t type_hash(struct arena *scratch, const struct type *);

/* Writes `[int], int` with the outermost rules of 10.3: names a b c ... in order of first
 * appearance, and, if `context`, " :: (a in any; ...)". Of a long type the first
 * TYPE_MOST_TEXT bytes or so, and "...". Without memory: memory_failed. */
enum { TYPE_MOST_TEXT = 500 };
void type_show(struct type *, bool context, FILE *);
/* Writes the type into the arena as type_show does. */
const char *type_text(struct arena *, struct type *, bool context);
/* All of the text of a type, without a context: of one that has few parts, as types of data do.
 */
const char *type_text_whole(struct arena *, struct type *);

/* Whether values of the (ground) type consist of INT, BOOL, FLOAT columns only, no sequences.
 */
bool type_is_flat(struct type *);

#endif
