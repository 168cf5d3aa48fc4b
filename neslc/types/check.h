/* check.h - declarations common to the files of the checker.
 *
 *   check.c           entry point: forms that are values; resolution of their types
 *   check-forms.c     what may be defined, redefinition, datatypes
 *   check-function.c  definitions of functions, alone or several together
 *   check-exp.c       expressions
 *   check-apply.c     applications: arguments, optional arguments, powers, time
 *   check-fields.c    records: fields by name
 *   check-files.c     read_npy("FILE"), whose type depends on the file
 *   check-names.c     resolution of names: scopes, captured variables, globals
 *   check-pattern.c   patterns
 *   check-string.c    strings, and e"..." with escapes
 *   check-type.c      types as written
 *   check-lambda.c    the types on which lambdas depend, once those of a form are known
 *   check-reach.c     what the evaluation of an expression may reach
 *   check-errors.c    the wording of type errors
 *
 * A part with an error gets a fresh variable as its type, which unifies with everything: a
 * mistake is reported once, and later ones are found too. Errors are counted; a form with
 * errors defines nothing.
 */
#ifndef RAVEL_NESLC_CHECK_H
#define RAVEL_NESLC_CHECK_H

#include "neslc/session.h"
#include "neslc/table.h"

/* A variable in scope. */
struct binding {
  struct local *local;
  unsigned depth; /* of the lambda it belongs to */
  const struct binding *outer;
};

/* The lambda that is being checked; depth 0 is the function or form itself. */
struct lambda_frame {
  unsigned depth;
  ARRAY(struct local *) captured;
  struct lambda_frame *outer;
};

/* Data of a lambda, kept until the form's types are known. */
struct lambda_note {
  struct core_lambda *lambda;
  struct type *identity;
  bool *mentions; /* generic variables by number */
  uint8_t visit;  /* of the search for lambdas that contain themselves */
};

/* Functions that are checked together, since each may call the others. */
struct group {
  struct checker **members;
  size_t count;
};

struct later; /* later.h */

struct checker {
  struct session *session;
  struct arena *arena;
  struct complaints *complaints;
  const struct source *source; /* of the text that is being checked */
  const struct binding *scope;
  struct lambda_frame *frame;
  uint32_t local_count;
  unsigned parallel; /* apply-to-eaches around */
  bool serial_only;  /* a serial-only function was mentioned */

  /* The function that is being defined: monomorphic until it is complete. */
  struct global *self;
  struct type *self_type, *self_identity;
  ARRAY(struct core *) self_uses;   /* in all of the group */
  const struct core *parallel_self; /* a use within an apply-to-each, or NULL: of the group */
  const struct syntax *parameters;
  const struct syntax *applied; /* the function of the latest application */
  const struct group *group;    /* what is defined together, self among it; or NULL */
  ARRAY(struct later *) later;  /* functions to be defined first, which it names */
  const struct name *datatype;  /* that is being defined */

  ARRAY(struct lambda_note) lambdas;
  ARRAY(struct core *) parallel_calls; /* of function values, within an apply-to-each */
};

enum pattern_use { PATTERN_OF_LET, PATTERN_OF_PARAMETERS, PATTERN_OF_ASSIGNMENT };

/* ---- check-exp.c ---- */

/* Never NULL; reports errors. */
struct core *check_expression(struct checker *, const struct syntax *);
struct core *core_make(struct checker *, enum core_kind, const struct syntax *, struct type *);
/* A tuple of at least one component. */
struct core *core_tuple(struct checker *, const struct syntax *, struct core **components,
                        uint32_t count);
/* A reference to a local of the function or lambda it stands in. */
struct core *core_local(struct checker *, const struct syntax *, struct local *);

/* ---- check-apply.c ---- */

struct core *check_apply(struct checker *, const struct syntax *);
/* A use of a global: its type is a fresh instance, with the location of this use. */
struct core *check_global_use(struct checker *, const struct syntax *, struct global *);

/* ---- check-fields.c ---- */

/* Checks e.name. */
struct core *check_field(struct checker *, const struct syntax *);
/* Whether an argument, or the argument of a pattern, has name := value in it. */
bool gives_fields(const struct syntax *argument);
/* An application of the constructor to such an argument. */
struct core *check_record(struct checker *, const struct syntax *apply,
                          const struct datatype *);
/* Whether an expression that is applied to such an argument may be a record. */
bool may_be_record(struct checker *, const struct core *, const struct syntax *argument);
/* Then: a copy of it with other fields. */
struct core *check_copy(struct checker *, const struct syntax *apply, struct core *record);
/* Whether name := pattern for some fields is legal within a pattern of the datatype. */
bool fields_are_legal(struct checker *, const struct syntax *argument, const struct datatype *,
                      enum pattern_use);
/* Then: the pattern of the record's type, with `check` for the patterns within. */
typedef struct core_pattern *field_pattern(void *context, const struct syntax *, struct type *);
struct core_pattern *check_field_patterns(struct checker *, const struct syntax *argument,
                                          struct type *record, field_pattern *check,
                                          void *context);

/* ---- check-files.c ---- */

/* The function that is called: with optional arguments, for the library's read_csv and
 * write_csv those that have them; for its constructor of matrices the one that checks. */
struct global *array_function(struct checker *, struct global *function, bool has_options);
/* Whether this is read_npy("FILE") or read_csv("FILE"), the library's. */
bool names_array_file(struct checker *, const struct global *function,
                      const struct syntax *argument);
/* Its argument, with a value of the type before it. `options`: those of the function, NULL
 * where the default is meant. */
struct core *check_array_file(struct checker *, const struct global *function,
                              const struct syntax *argument,
                              const struct syntax *const *options);

/* ---- check-names.c ---- */

struct core *check_name(struct checker *, const struct syntax *);
/* The checker of a function that is being defined; NULL for others. */
struct checker *checker_of(const struct checker *, const struct global *);
/* The function or constructor that an expression names; else NULL. Reports nothing. */
struct global *named_function(struct checker *, const struct syntax *);
/* The module that stands on the left of m.x, if m is no variable; else NULL. And m.x as a NAME;
 * NULL if the module does not define it, which may be reported. check-names.c */
struct module;
const struct module *module_before_dot(struct checker *, const struct syntax *);
const struct syntax *module_member(struct checker *, const struct syntax *);
void complain_no_member(struct checker *, const struct module *, const struct name *,
                        struct span at);
/* Whether a name means something that was defined or is in scope. */
bool is_bound(struct checker *, const struct syntax *);
/* The name that the user wrote: read_csv where the library's `_read_csv` is called. */
const char *written_name(const struct global *);
void scope_push(struct checker *, struct local *);

/* ---- check-string.c ---- */

/* A string, plain or with escapes. */
struct core *check_string(struct checker *, const struct syntax *);

/* ---- check-pattern.c ---- */

/* Whether this is a pattern, independent of what it matches; reports an error if not. This is
 * checked first, so that such an error is reported first. */
bool pattern_is_legal(struct checker *, const struct syntax *, enum pattern_use);
/* Binds a legal pattern to values of the type: its variables are in scope from now on. `first`
 * is the scope before the group of patterns in which no variable may occur twice. */
struct core_pattern *check_pattern(struct checker *, const struct syntax *, struct type *,
                                   enum pattern_use, const struct binding *first);

/* ---- check-type.c ---- */

bool base_type_named(const struct name *, enum type_tag *);

/* Variables of an annotation and what they stand for. */
struct type_names {
  ARRAY(struct type_name {
    const struct name *name;
    struct type *type;
  })
  list;
};

/* Makes fresh variables of the classes in the constraints. */
void check_constraints(struct checker *, const struct syntax_annotation *, struct type_names *);
/* The type of values of a datatype, of any arguments. */
struct type *fresh_data(struct checker *, const struct datatype *);
/* The type that is written; identities of functions are fresh variables. */
struct type *check_type(struct checker *, const struct syntax_type *,
                        const struct type_names *);

/* ---- check-lambda.c ---- */

/* Sets the generic variables that each lambda mentions, and reports lambdas that would contain
 * themselves. */
void finish_lambdas(struct checker *, const struct scheme *);
/* Complains of serial-only function values that are called in parallel. */
void check_parallel_calls(struct checker *);

/* ---- check-reach.c ---- */

/* Whether a call of this needs the machine's state: it cannot run in parallel. */
bool identity_is_serial(const struct type *identity);

/* ---- check-function.c ---- */

bool check_function(struct checker *, const struct form *, struct checked *);
/* Checks functions that call each other, with checkers like this one, and defines them. */
bool check_functions(struct checker *like, const struct form *const *, size_t count,
                     struct checked *const *out);
/* Checks a function for the functions that are defined later and it names; defines nothing. */
void check_mentions(struct checker *like, const struct form *, struct later ***mentions,
                    size_t *count);

/* ---- check-forms.c ---- */

/* Gives the session a definition. */
void define_global(struct checker *, struct global *, struct checked *);
/* A copy of a form in the session's arena, where its parts are already. */
const struct form *form_kept(struct checker *, const struct form *);
bool check_datatype(struct checker *, const struct form *, struct checked *);
/* Whether a type nests at most TYPE_MOST_DEPTH deep; reports an error if not. */
bool check_depth(struct checker *, struct span, struct type *);
/* Whether another component of a tuple follows: one in parentheses is a component itself. */
static inline bool tuple_continues(const struct syntax *e) {
  return e->kind == SYNTAX_PAIR && !e->parenthesised;
}
/* Whether a name may be defined by the user; complains if not. */
bool check_definable(struct checker *, const struct name *, struct span);
const char *redefinition_notice(struct checker *, const struct name *);
/* Notes that the name that is defined is one of the library, too, if it was not defined before.
 */
void note_name(struct checker *, const struct name *, struct checked *);
/* Whether the global is the user's, of this kind and type: then a redefinition updates it. */
bool global_is_updated(struct session *, const struct global *, enum global_kind,
                       const struct scheme *);
/* A new global, not in the session yet. */
struct global *global_make(struct session *, enum global_kind, const struct name *);

/* ---- check-errors.c ---- */

/* Why two types do not unify: the innermost parts that differ. */
struct clash {
  enum unify_result result;
  struct type *a, *b;
};
/* type_unify() that fills a clash; true if they unify. */
bool unify(struct checker *, struct clash *, struct type *a, struct type *b);
/* Reports a type error: the message, the reason, and the locations that determined both types.
 */
void complain_clash(struct checker *, struct span, const struct clash *, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));
/* The argument of a function is wrong: the component `argument` (from 0) of `count`, or all of
 * it if the numbers differ. */
void complain_argument(struct checker *, const struct syntax *apply, const struct core *callee,
                       const struct core *argument, const struct core *part, unsigned number,
                       const struct clash *);
/* If the datatype was assumed for a value because of a field, remarks on it. */
void remark_on_assumption(struct checker *, const struct type *record);
/* A serial-only function, called in parallel. */
void complain_serial(struct checker *, struct span, const char *function);
/* A type within a message. */
const char *shown(struct checker *, struct type *);
/* A copy of the type with this source location. */
struct type *type_from(struct checker *, struct type *, struct span);

#endif
