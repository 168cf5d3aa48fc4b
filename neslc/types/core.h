/* core.h - checked NESL: typed trees in which every name is resolved.
 *
 * The checker makes them from front/syntax.h; the flattener (flatten/flatten.h) and the direct
 * interpreter (reference/direct.h) execute them. Operators, indexing, ranges, strings of a form
 * are applications of library functions; optional arguments have been filled in; several
 * generators stay several (no zip is called for them). Types may contain the generic variables
 * of the function around them, whose ground types an executor has to know.
 */
#ifndef RAVEL_NESLC_CORE_H
#define RAVEL_NESLC_CORE_H

#include "neslc/front/syntax.h"
#include "neslc/types/types.h"
#include "neslc/value.h"
#include "tables/tables.h"

/* A variable of a parameter, let, lambda or generator: bound once. */
struct local {
  const struct name *name;
  struct type *type;
  struct span at;
  uint32_t number; /* 0, 1 ... within the function (or form) it belongs to, lambdas included */
};

enum core_pattern_kind { PATTERN_LOCAL, PATTERN_PAIR, PATTERN_CONTENTS };
struct core_pattern {
  uint8_t kind;
  struct type *type;
  struct local *local;               /* LOCAL */
  struct core_pattern *left, *right; /* PAIR; CONTENTS: left, of the value of a datatype */
};

enum core_kind {
  CORE_INT,    /* integer */
  CORE_FLOAT,  /* real */
  CORE_BOOL,   /* integer 0 or 1 */
  CORE_CHAR,   /* integer */
  CORE_STRING, /* string: of type [char] */
  CORE_EMPTY,  /* [] of the node's type */
  CORE_LOCAL,
  CORE_GLOBAL, /* a function as a value, or a global variable's value */
  CORE_PAIR,   /* left, right */
  CORE_APPLY,  /* left(right) */
  CORE_LAMBDA,
  CORE_IF,   /* third ? left : right */
  CORE_LET,  /* pattern = left in right */
  CORE_LOOP, /* pattern = left; while third holds it is right: the last value of pattern */
  CORE_LIST, /* [items...] */
  CORE_EACH,
  CORE_TIME /* time(left): a pair of the value and seconds */
};

struct core_generator {
  struct core_pattern *pattern;
  struct core *source;
};

struct core {
  uint8_t kind; /* enum core_kind */
  struct type *type;
  const struct source *source;
  struct span at;
  union {
    int64_t integer;
    double real;
    struct {
      const char *text;
      size_t length;
    } string;
    struct local *local;
    struct {
      struct global *global;
      uint32_t count;          /* of its scheme's variables */
      struct type **arguments; /* their types in this use; within the function itself
                                  (monomorphic recursion) its own generic variables */
    } use;
    struct {
      struct core *left, *right, *third;
      struct core_pattern *pattern;
    } part;
    struct core_lambda *lambda;
    struct {
      struct core **items;
      size_t count;
    } list;
    struct {
      struct core_generator *generators;
      size_t count;
      struct core *body, *sieve; /* sieve may be NULL */
      bool serial;               /* {* ... } */
    } each;
  } as;
};

/* pattern => body. Its identity type has one argument for each generic variable (of the
 * function around it) that its body or its captured variables mention, in `variables`. */
struct core_lambda {
  uint32_t number; /* unique in the session */
  const struct source *source;
  struct span at;
  struct core_pattern *parameter;
  struct core *body;
  uint32_t captured_count;
  struct local **captured; /* locals from around it, in order of first mention; a value of the
                              lambda is these, as a right-nested tuple */
  uint32_t scheme_count;   /* generic variables of the function or form around it: of a form
                              only where its value is a function whose type is open */
  uint32_t variable_count;
  struct type **variables; /* those it mentions; ->number < scheme_count */
  struct region *region;   /* region.h: it is of; or NULL */
};

enum global_kind { GLOBAL_FUNCTION, GLOBAL_VARIABLE, GLOBAL_CONSTRUCTOR };

/* The meaning of a top-level name. Functions compiled earlier refer to the struct: a
 * redefinition with the same type updates it (and its version), one with another type makes
 * another struct. */
struct global {
  const struct name *name;
  uint8_t kind; /* enum global_kind */
  bool library; /* of the library: a redefinition never updates it */
  bool serial_only;
  uint32_t number;  /* unique in the session */
  uint32_t version; /* changes with each new body or value */
  struct scheme scheme;
  const struct form *form; /* where it was defined; NULL for it and what nothing defined */
  const char *documentation;

  /* FUNCTION: exactly one of body and primitive; neither if it was only declared. */
  struct core_pattern *parameter;
  struct core *body;
  uint32_t local_count; /* numbers of locals are below this */
  int primitive;        /* enum primitive, or -1 */
  uint32_t optional_count;
  struct core_option {
    const struct name *name;
    const struct syntax *value; /* checked at each call */
  } * options;                  /* trailing parameters with := */

  /* VARIABLE */
  struct nesl_value value;

  /* CONSTRUCTOR */
  const struct datatype *datatype;

  /* region.h: */
  struct module *module;  /* of the definition: modules.h */
  struct region *region;  /* of the definition or value; NULL: of the session's arena */
  struct global *older;   /* made before */
  struct global *waiting; /* while it is traced */
  bool reached;
};

/* The callee if the expression is an application of a named function: the flattener then knows
 * the target without looking at identities. NULL otherwise. */
static inline struct global *core_callee(const struct core *e) {
  if (e->kind != CORE_APPLY || e->as.part.left->kind != CORE_GLOBAL) return NULL;
  struct global *g = e->as.part.left->as.use.global;
  return g->kind == GLOBAL_VARIABLE ? NULL : g;
}

/* Whether the expression binds its `pattern`. */
static inline bool core_has_pattern(const struct core *e) {
  return e->kind == CORE_LET || e->kind == CORE_LOOP;
}

/* ---- construction: core.c ---- */

struct core *core_new(struct arena *, enum core_kind, struct type *, const struct source *,
                      struct span at);
struct core_pattern *pattern_new(struct arena *, enum core_pattern_kind, struct type *);

/* ---- traversal: core-walk.c ---- */

/* Calls visit for the direct subexpressions, bodies of lambdas included. `parallel`: whether
 * the subexpression is evaluated once for each element. */
void core_parts(const struct core *, void (*visit)(void *, struct core *, bool parallel),
                void *context);
/* Calls visit for each local that the expression itself binds: by its pattern, parameter or
 * generators. Locals have numbers of their own, so that the order does not matter. */
void core_binds(const struct core *, void (*visit)(void *, struct local *), void *context);

/* ---- primitives ---- */

/* Functions that are not written in NESL: primitives/primitives.def. In files of the library,
 * and only there, a function body may be `primitive`: then the function of that name is the
 * primitive of primitives/primitives.def. */
enum primitive {
#define PRIMITIVE(id, name, group, opcode, fails, effect, derived, doc) PRIM_##id,
#include "neslc/primitives/primitives.def"
  PRIMITIVES
};

enum primitive_group {
  PRIMITIVE_SCALAR,
  PRIMITIVE_REDUCE,
  PRIMITIVE_SCAN,
  PRIMITIVE_RANK,
  PRIMITIVE_SEQUENCE,
  PRIMITIVE_EFFECT,
  PRIMITIVE_DERIVED
};
enum primitive_effect { PRIMITIVE_FREE, PRIMITIVE_ORDERED, PRIMITIVE_SERIAL };
enum { PRIMITIVE_SAFE = false, PRIMITIVE_FAILS = true };

/* A row of primitives/primitives.def, which documents the columns. */
struct primitive_info {
  const char *name;
  enum primitive_group group;
  enum opcode opcode; /* OPC_COUNT for none */
  bool may_fail;
  enum primitive_effect effect;
};
const struct primitive_info *primitive_info(enum primitive); /* primitives/primitives.c */
/* The primitive of that name, or -1. */
int primitive_named(const char *name);

/* Writes a checked tree with its types, for --print-after check and tests. */
void core_show(const struct core *, FILE *);

#endif
