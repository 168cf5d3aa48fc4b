/* random-nesl-private.h - what the files of the generator share.
 *
 *   random-nesl-types.c        types, names, scopes
 *   random-nesl-expressions.c  expressions of a given type
 *   random-nesl-recursions.c   functions that are applied to each, and call themselves
 *   random-nesl-forms.c        functions, datatypes, globals: whole programs
 *   random-nesl-shrink.c       texts of programs; smaller programs
 */
#ifndef RAVEL_RANDOM_NESL_PRIVATE_H
#define RAVEL_RANDOM_NESL_PRIVATE_H

#include "commands/tests/random-nesl.h"

/* ---- types ---- */

enum rtype_kind { R_INT, R_FLOAT, R_BOOL, R_CHAR, R_SEQUENCE, R_PAIR, R_DATA, R_FUNCTION };

struct rtype {
  enum rtype_kind kind;
  const struct rtype *left, *right;   /* SEQUENCE: left; FUNCTION: from left to right */
  const struct function *constructor; /* DATA, FUNCTION: a function that returns its values */
};

/* A function of the program: constructors and functions that return closures, too. */
struct function {
  const char *name;
  const struct rtype *parameter, *result;
  bool counts; /* the first component of the parameter limits how often it calls itself */
};

/* ---- trees ---- */

/* A text with a part at each \1. */
struct node {
  const struct rtype *type; /* of an expression; NULL: text that may be left out */
  const char *text;
  struct node **parts;
  size_t part_count;
  const char *least; /* the shortest text that may replace it; NULL: none */
};

struct variable {
  const char *name;
  const struct rtype *type;
  bool kept; /* must not be hidden */
};

struct random_program {
  struct arena *arena;
  ARRAY(struct node *) forms;
};

/* The program that is generated, and the names that are in scope. */
typedef struct generator {
  struct arena *arena;
  uint64_t random;
  struct random_program *program;
  ARRAY(struct variable) scope;
  ARRAY(const struct function *) functions;
  const struct function *self; /* the function that is being generated, if it may call itself */
  const char *counter;         /* and its count */
  unsigned names;
  int budget; /* nodes that may still be added to this form */
  int self_calls;
  bool risky;  /* one expression that may fail may still be added */
  bool nested; /* mostly an apply-to-each within another, and conditionals in them */
} gen;

#define LENGTH(array) (sizeof(array) / sizeof *(array))
enum { MOST_PARTS = 16 };

/* Variables of a pattern that are in scope later. */
struct pending {
  struct variable items[MOST_PARTS];
  size_t count;
};

/* ---- random-nesl-types.c ---- */

extern const struct rtype base_types[4];

uint64_t next_random(uint64_t *state);
/* A number below n; true with a probability of so many percent. */
unsigned below(gen *, unsigned n);
bool chance(gen *, unsigned percent);

bool same(const struct rtype *, const struct rtype *);
/* Whether values contain functions: such a type has no notation. */
bool has_function(const struct rtype *);
const struct rtype *make_type(gen *, enum rtype_kind, const struct rtype *left,
                              const struct rtype *right, const struct function *);
const struct rtype *sequence_of(gen *, const struct rtype *);
const struct rtype *pair_of(gen *, const struct rtype *, const struct rtype *);
/* A type of at most this many nested sequences. */
const struct rtype *some_type(gen *, unsigned nesting);
/* A type in NESL's notation. */
char *type_text_of(gen *, const struct rtype *);
/* The least expression of a type, as text. */
const char *least(gen *, const struct rtype *);
/* type: NULL for text that may be left out. */
struct node *node(gen *, const struct rtype *type, const char *text, struct node **parts,
                  size_t count);

const char *fresh_name(gen *);
void declare(gen *, const char *name, const struct rtype *, bool kept);
/* The text of a pattern for a type; its variables are in scope after declare_all. */
const char *pattern(gen *, const struct rtype *, struct pending *);
void declare_all(gen *, struct pending *);
/* A variable in scope of this type (or, if `result`, a function with this result); NULL: none.
 */
const struct variable *variable_of(gen *, const struct rtype *, bool result);

/* ---- random-nesl-expressions.c ---- */

/* A literal, a variable, or a tuple or list of these. */
struct node *leaf(gen *, const struct rtype *);
/* An expression of at most this depth. */
struct node *make(gen *, const struct rtype *, int depth);

/* ---- random-nesl-recursions.c ---- */

/* A recursive function on scalars; two that call each other. */
void add_scalars(gen *);
void add_partners(gen *);
/* A recursive function of the program applied to each element; NULL: there is none. */
struct node *applied(gen *);

/* ---- random-nesl-forms.c ---- */

void add_form(gen *, const char *text, struct node *body);
/* A function with a name of its own; add_function: from now on it may be called. */
struct function *new_function(gen *, const char *prefix, const struct rtype *parameter,
                              const struct rtype *result);
void add_function(gen *, const struct function *);
/* ": T -> U", or nothing if one of them has no notation. */
const char *annotation(gen *, const struct rtype *from, const struct rtype *to);

#endif
