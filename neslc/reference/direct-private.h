/* direct-private.h - declarations common to the files of the direct interpreter.
 *
 *   direct.c            entry point: memory, stack, results of a run
 *   direct-eval.c       expressions, patterns, environments
 *   direct-call.c       calls: functions at ground types, closures, constructors
 *   direct-primitives.c  dispatch of primitives; effects; derived functions
 *   direct-events.c     printing and failing in the order of section 6.8
 *   direct-scalars.c    primitives on scalars
 *   direct-sequences.c  primitives on sequences; direct-reduce.c: reductions, scans, ranks
 *   direct-trace.c      calls and their results, for a trace
 *   direct-value.c      trees to and from the flat columns of value.h
 *
 * All data of a run are in an arena of its own. Functions that can fail return false after
 * direct_fail(); only a failed allocation jumps.
 */
#ifndef RAVEL_NESLC_DIRECT_PRIVATE_H
#define RAVEL_NESLC_DIRECT_PRIVATE_H

#include <inttypes.h>

#include "cvl/cvl.h"
#include "neslc/failure.h"
#include "neslc/primitives/derive.h"
#include "neslc/reference/direct.h"
#include "neslc/types/checks.h"

/* ---- values ---- */

enum datum_kind {
  DATUM_INT, /* chars and streams too */
  DATUM_FLOAT,
  DATUM_BOOL, /* integer 0 or 1 */
  DATUM_PAIR,
  DATUM_SEQUENCE,
  DATUM_FUNCTION
};

/* A value as a tree. A value of a datatype is its contents. Immutable. */
struct datum {
  uint8_t kind; /* enum datum_kind */
  union {
    int64_t integer;
    double real;
    const struct datum_pair *pair;
    const struct datum_sequence *sequence;
    const struct datum_function *function;
  } as;
};

struct datum_pair {
  struct datum left, right;
  double size; /* S of section 8 */
};

struct datum_sequence {
  uint64_t count;
  const struct datum *items;
  double size;
};

struct datum_function {
  const struct direct_specialisation
      *specialisation;          /* the global or lambda, and the types it is used at */
  const struct datum *captured; /* of a lambda */
  double size;
};

static inline struct datum datum_int(int64_t x) {
  return (struct datum){.kind = DATUM_INT, .as.integer = x};
}
static inline struct datum datum_bool(bool x) {
  return (struct datum){.kind = DATUM_BOOL, .as.integer = x};
}
static inline struct datum datum_float(double x) {
  return (struct datum){.kind = DATUM_FLOAT, .as.real = x};
}

/* S(v) of section 8. */
double datum_size(struct datum);

/* ---- a run ---- */

/* A function at ground types. There is one for each (function, types), so pointers compare
 * them. Code outside of functions has one with neither global nor lambda. */
struct direct_specialisation {
  const struct global *global; /* or NULL */
  const struct core_lambda *lambda;
  uint32_t count; /* generic variables of the global, or of the function around the lambda */
  struct type **types;
  uint32_t arity;        /* of a primitive: components of its argument, by its scheme */
  struct type *argument; /* of a primitive: its declared type; see ground_argument() */
  struct direct_specialisation *next; /* in its bucket of the hash table */
  uint64_t hash;
};

/* The variables of one activation of a function. */
struct direct_frame {
  struct datum *locals;
  uint32_t count;                                     /* slots */
  const struct direct_specialisation *specialisation; /* the code that runs here */
  const struct core *call; /* the application that made it, or NULL */
  /* The tail calls that replaced the code, the latest first, each once; NULL behind them. */
  const struct core *tails[FAILURE_MOST_CALLS];
  struct direct_frame *caller;
};

/* Why evaluation stopped. */
struct failure {
  enum nesl_error kind;
  const char *message;
  const uint32_t *key; /* its position, for comparison with other instances */
  size_t key_count;
  const struct failure_location *trail; /* innermost first */
  size_t trail_count;
  struct direct_instances instances; /* if the options ask for them */
};

/* Output, kept until all instances have run. */
struct event {
  const uint32_t *key;
  size_t key_count;
  size_t number; /* in order of happening */
  const char *text;
  size_t length;
};

enum { DIRECT_FREE_LISTS = 32, DIRECT_ARGUMENTS = 6 };

struct direct {
  struct session *session;
  struct arena *arena; /* of the run */
  const struct direct_options *options;
  struct widths widths;
  struct direct_cost cost; /* so far; depth along the current path */
  uint64_t steps, calls;   /* calls: active now */
  unsigned traced;         /* calls of the program's functions that are active, with a trace */
  uint64_t seed, random_count;
  bool drew_in_instances; /* random numbers */
  const char *stack_end;  /* no deeper than here */
  bool stopped;           /* it was asked to end */

  /* The current position: one number for each subexpression and call entered; those evaluated
   * earlier compare less. See direct-events.c. */
  ARRAY(uint32_t) path;
  size_t parallel;                         /* apply-to-eaches around */
  size_t parallel_path;                    /* path.count at the outermost of them */
  ARRAY(struct direct_instance) instances; /* that are being evaluated, outermost first */
  ARRAY(struct event) events;
  struct failure failure; /* valid after a function returned false */

  struct slots *free_slots[DIRECT_FREE_LISTS]; /* by binary logarithm of their number */
  struct direct_specialisation **specialisations;
  size_t specialisation_count, specialisation_capacity;
  struct memo {
    const void *node, *context;
    void *value;
  } * memos;
  size_t memo_count, memo_capacity;
  struct table derived; /* derive() */
};

/* A FLOAT as the run keeps it: rounded to its width. */
static inline double rounded(const struct direct *d, double x) {
  return d->widths.float_elem == CVL_F32 ? (double)(float)x : x;
}

static inline void charge(struct direct *d, double work, double depth) {
  d->cost.work += work;
  d->cost.depth += depth;
}

/* ---- direct-eval.c ---- */

bool direct_eval(struct direct *, struct direct_frame *, const struct core *, struct datum *);
/* Evaluates a subexpression; `part` is its index in the order of evaluation. */
bool direct_eval_part(struct direct *, struct direct_frame *, const struct core *,
                      uint32_t part, struct datum *);
void direct_bind(struct direct *, struct direct_frame *, const struct core_pattern *,
                 struct datum);
/* A call whose value is that of the function that makes it: it needs no frame of its own. */
struct direct_tail {
  const struct core *apply; /* NULL: there is none */
  const struct direct_specialisation *specialisation;
  const struct datum *captured;
};
/* Evaluates the body of a function: its value, or the call that ends it, which is not made yet.
 * Outside of an apply-to-each only, since the keys of events do not grow. */
bool direct_eval_body(struct direct *, struct direct_frame *, const struct core *,
                      struct direct_tail *, struct datum *);
/* Evaluates e in `from` and binds it in `to`, without building pairs that the pattern takes
 * apart. */
bool direct_eval_bind(struct direct *, struct direct_frame *from, const struct core *e,
                      struct direct_frame *to, const struct core_pattern *);

/* ---- direct-call.c ---- */

bool direct_apply(struct direct *, struct direct_frame *, const struct core *apply,
                  struct datum *);
/* Applies a function as direct_apply does, but a call of one with a body may be left to the
 * caller. */
bool direct_apply_last(struct direct *, struct direct_frame *, const struct core *apply,
                       struct direct_tail *, struct datum *);
/* A function as a value. */
bool direct_global_value(struct direct *, struct direct_frame *, const struct core *,
                         struct datum *);
struct datum direct_closure(struct direct *, struct direct_frame *, const struct core_lambda *);
/* The specialisation of this function at these ground types. Then: a type of its code with its
 * generic variables replaced; the ground argument type of a primitive. */
const struct direct_specialisation *find_specialisation(struct direct *, const struct global *,
                                                        const struct core_lambda *,
                                                        uint32_t count, struct type **types);
struct type *ground_type(struct direct *, const struct direct_specialisation *, struct type *);
struct type *ground_argument(struct direct *, const struct direct_specialisation *);
/* The memoised value for a node and a context, valid until the next call; *found: whether there
 * was one. */
void **direct_memo(struct direct *, const void *node, const void *context, bool *found);

/* ---- direct-trace.c ---- */

/* Calls a function of the program, whose frame is open, and reports that to the trace. */
bool direct_apply_traced(struct direct *, struct direct_frame *from, struct direct_frame *to,
                         const struct core *apply, struct datum *out);

/* ---- primitives ---- */

/* A call of a primitive: its arguments, and its application for reports of failures. */
struct primitive_call {
  enum primitive primitive;
  const struct direct_specialisation *specialisation;
  struct datum argument[DIRECT_ARGUMENTS];
  struct direct_frame *frame;
  const struct core *apply;
};

/* The body of a primitive that follows the structure of its argument's type; NULL for others.
 */
const struct derived *direct_derived(struct direct *, const struct primitive_call *);
/* Executes a primitive whose derived function, if it has one, has no body. */
bool direct_primitive(struct direct *, const struct primitive_call *, struct datum *);
/* Execute the primitives of one group; reductions, scans and ranks are together. Each charges
 * what section 8 and the tables of section 9 say beyond the 1 of the call itself. */
bool direct_scalar(struct direct *, const struct primitive_call *, struct datum *);
bool direct_sequence(struct direct *, const struct primitive_call *, struct datum *);
bool direct_reduction(struct direct *, const struct primitive_call *, struct datum *);
/* One operation of operations.def on scalars; false if its check fails. */
bool direct_operation(struct direct *, enum cvl_op, const struct datum *operands, size_t count,
                      struct datum *);

/* Construction of values. Items are in the arena already. */
struct datum datum_pair(struct direct *, struct datum left, struct datum right);
struct datum datum_sequence(struct direct *, const struct datum *items, uint64_t count);
struct datum datum_string(struct direct *, const char *text, size_t length);
struct datum *direct_items(struct direct *, uint64_t count);

/* ---- direct-events.c ---- */

/* Notes a failure at an application and returns false. */
bool direct_fail(struct direct *, struct direct_frame *, const struct core *at, enum nesl_error,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A primitive's check failed, on these two INTs. */
bool direct_check_fails(struct direct *, const struct primitive_call *, enum check, int64_t v,
                        int64_t w);
/* The text of a check with its numbers instead of {v} and {w}, and {} left out. */
const char *direct_worded(struct direct *, const char *text, int64_t v, int64_t w);
/* Writes text now, or after the enclosing apply-to-each. */
void direct_print(struct direct *, const char *text, size_t length);
/* Whether a failure comes before another in the order of section 6.8. */
bool direct_failed_earlier(const struct failure *, const struct failure *);
/* Writes the kept output that precedes the failure (or all, for NULL). */
void direct_settle(struct direct *, const struct failure *);
/* Reports the failure that stopped the run. */
void direct_report(struct direct *, struct complaints *);

static inline void direct_enter(struct direct *d, uint32_t part) {
  *array_push(d->arena, &d->path) = part;
}
static inline void direct_leave(struct direct *d) {
  d->path.count--;
}

/* ---- direct-value.c ---- */

/* The tree of a value, and the value of a tree: its columns are made in `arena`. */
struct datum direct_from_columns(struct direct *, struct type *ground,
                                 const struct nesl_value *);
struct nesl_value direct_to_columns(struct direct *, struct arena *, struct type *ground,
                                    struct datum);

#endif
