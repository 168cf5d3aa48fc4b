/* flatten-private.h - what the files of the flattener share. README.md tells the ideas; in
 * short:
 *
 * Code is generated for one context at a time. In the serial context there is one instance; in
 * a lifted one there are k, all evaluated together. A value is represented by `struct rep`,
 * whose parts are
 *   - shared: the same for all instances, held once. All values of the serial context are;
 *   - one for each instance: scalars as a vector of k elements, sequences as a descriptor of k
 *     segments with their elements behind each other;
 *   - a view: a sequence for each instance which is one of the sequences of another value;
 * which one is said by a vector of k numbers (`owner`). A variable is brought into the context
 * of its use when it is used (context_lift): a scalar is spread or packed, a sequence becomes a
 * view or stays shared, and no element is copied until an operation wants them side by side
 * (rep_physical, rep_plain). Indexing never does.
 *
 * The virtual segment descriptors follow Lippmeier, Chakravarty, Keller, Leshchinskiy and
 * Peyton Jones, "Work efficient higher-order vectorisation" (2012).
 */
#ifndef RAVEL_NESLC_FLATTEN_PRIVATE_H
#define RAVEL_NESLC_FLATTEN_PRIVATE_H

#include "ir/numbering.h"
#include "neslc/checks.h"
#include "neslc/derive.h"
#include "neslc/flatten.h"
#include "neslc/table.h"

/* ---- values ---- */

enum rep_kind {
  REP_NOTHING, /* a function that captured nothing */
  REP_SCALAR,
  REP_PAIR,
  REP_SEQUENCE
};

struct rep {
  uint8_t kind;   /* enum rep_kind */
  uint8_t word;   /* SCALAR: TW_INT, TW_FLOAT, TW_BOOL */
  bool shared;    /* SCALAR, SEQUENCE: one for all instances */
  uint16_t parts; /* scalars, descriptors and functions: VALUE_MOST_COLUMNS at most */
  ir_var v;       /* SCALAR */
  const struct rep *left, *right; /* PAIR */
  /* SEQUENCE that is no view: */
  ir_var segdes;              /* one segment for each instance */
  ir_var outer;               /* a descriptor with one segment of as many places as instances */
  const struct rep *elements; /* in a context of one instance for each element */
  /* SEQUENCE that is a view; never shared: */
  const struct rep *base; /* the sequences, not shared, not a view; NULL: no view */
  ir_var owner;           /* which one, for each instance */
  bool packed;            /* those where `flags` is T (around: as packs are to use it) */
  bool whole;             /* packed, and none that has elements is left out */
  ir_var flags, around;
};

struct vars {
  struct arena *arena;
  ARRAY(ir_var) list;
};

/* ---- contexts ---- */

enum context_kind {
  CONTEXT_SERIAL, /* one instance */
  CONTEXT_LIFTED, /* of a lifted function: k instances from its caller */
  CONTEXT_EACH,   /* an instance for each element of `segdes`' segments */
  CONTEXT_PACKED  /* the instances of the parent where `flags` is T */
};

struct context {
  uint8_t kind; /* enum context_kind */
  struct context *parent;
  ir_var one;    /* a descriptor with one segment of k */
  ir_var segdes; /* EACH: a segment for each instance of the parent */
  ir_var flags;  /* PACKED: for the parent's instances */
  ir_var around; /* PACKED: a descriptor over the parent's instances, as packs are to use it */
};

static inline bool context_serial(const struct context *c) {
  return c->kind == CONTEXT_SERIAL;
}

/* ---- functions being made ---- */

/* Where a local's value is, while the body that binds it is generated. */
struct place {
  const struct rep *rep;
  struct context *context;
};

/* A body being generated: of a function, or of one expanded in place. */
struct frame {
  ARRAY(struct place) locals;  /* by number */
  uint32_t count;              /* generic variables ... */
  struct type **arguments;     /* ... and the ground types they are */
  const struct global *global; /* or NULL */
  unsigned depth;              /* of expansion */
  const char *calls;           /* that were expanded: as in names of origins, from `|` on */
};

struct block {
  struct block *outer;
  ARRAY(struct ir_binding) bindings;
  size_t known; /* values known when it was begun */
};

struct assumption { /* what the condition of an IF is in an arm of it */
  ir_var condition;
  bool value;
};

/* A function of the program to be made: a global or a lambda at ground types, for one or for
 * many instances, with its argument represented in some way. */
struct version {
  uint64_t hash;
  uint32_t function; /* index in the program */
  struct global *global;
  const struct core_lambda *lambda; /* or NULL */
  const struct derived *derived;    /* or NULL: eql, string ... at `argument` */
  bool lifted;
  struct type *argument;
  uint32_t count;
  struct type **arguments;    /* ground, for the generic variables */
  const char *signature;      /* of the representation: rep_signature */
  const struct rep *shape;    /* a rep with that signature; its variables mean nothing */
  const struct rep *captured; /* LAMBDA: likewise */
};

/* A place in the source, in a body that is being generated. It gets its number once something
 * is emitted there. */
struct origin_at {
  const struct source *source; /* NULL: nowhere */
  const struct global *global; /* the function it is in; or NULL */
  const char *calls;           /* frame.calls */
  uint32_t offset;
  uint32_t number; /* in origins; 0: none yet */
};

struct flattener {
  struct arena *arena;
  struct session *session;
  const struct flatten_options *options;
  struct complaints *complaints;
  jmp_buf refused; /* where it goes on when what is compiled cannot be: it was complained of */
  ARRAY(struct ir_function) functions;
  ARRAY(struct vars) kept;        /* by function: its `wanted` */
  ARRAY(struct version) versions; /* version i is functions[i + 1]; the entry is 0 */
  size_t made;                    /* versions below this have bodies */
  ARRAY(struct vcode_origin) origins;
  struct table derived; /* derive() */
  struct table traits;  /* struct global -> struct traits, as far as they are known: traits.c */

  /* The function being made: */
  ARRAY(const struct ir_kind *) kinds; /* of its variables */
  ARRAY(const struct ir_binding *)
  definitions; /* of each variable that is the first result of
                  a pure operation or a constant; else NULL */
  struct block *block;
  struct ir_numbering known;        /* operations that were executed where we are */
  struct context serial;            /* its context of one instance */
  ARRAY(struct assumption) assumed; /* in the arms around */
  struct frame *frame;
  struct vars layout;       /* of the parameters of the entry function */
  const ir_var *parameters; /* columns of options->parameters; NULL but in the entry function */
  struct origin_at at;      /* of what is emitted now */
  struct origin_at *origin_table; /* those that have numbers: open addressing */
  size_t origin_capacity;
  bool exact_floats;    /* the program writes floats that are to be read again */
  ARRAY(ir_var) wanted; /* results of operations that may fail, and are the only check for it */
  size_t expanded;      /* nodes of bodies expanded in it */
};

/* ---- emitting: flatten-emit.c, flatten-fold.c ---- */

/* A variable that has the value of the operation, if one is known without executing it. */
bool fold_operation(struct flattener *, enum opcode, const ir_var *operands, ir_var *result);
/* The operation that a variable is the result of, if its opcode is this one; or NULL. */
const struct ir_binding *defined_by(const struct flattener *, ir_var, enum opcode);
const struct vcode_constant *constant_of(const struct flattener *, ir_var);

extern const struct ir_kind flat_kinds[4]; /* INT FLOAT BOOL SEGDES */

ir_var flat_var(struct flattener *, const struct ir_kind *);
/* One operation; its first result. Equal pure operations are executed once. */
ir_var emit(struct flattener *, enum opcode, enum type_word, unsigned count,
            const ir_var *operands);
void emit_results(struct flattener *, enum opcode, enum type_word, unsigned count,
                  const ir_var *operands, unsigned results, ir_var *result);
#define EMIT(f, op, word, ...)                                                                 \
  emit((f), OPC_##op, TW_##word, sizeof((ir_var[]){__VA_ARGS__}) / sizeof(ir_var),             \
       (ir_var[]){__VA_ARGS__})
ir_var emit_constant(struct flattener *, const struct vcode_constant *);
ir_var emit_int(struct flattener *, int64_t);
ir_var emit_float(struct flattener *, double);
ir_var emit_bool(struct flattener *, bool);
ir_var emit_zero(struct flattener *, enum type_word);        /* a scalar 0, 0.0, F */
ir_var emit_one_segment(struct flattener *, int64_t length); /* constant descriptor */
/* The constant that a variable is known to be. */
bool known_int(struct flattener *, ir_var, int64_t *);
bool known_float(struct flattener *, ir_var, double *);
bool known_bool(struct flattener *, ir_var, bool *);

/* A check: fails with the text where flags are F. All of one length. Texts: see assert_text. */
void emit_assert(struct flattener *, ir_var flags, ir_var v, ir_var w, const char *text);

/* Ends the program with this text. */
void emit_stop(struct flattener *, const char *text);

/* Blocks: begin one, emit into it, end it; flat_if puts two of them into an IF. */
struct block *block_begin(struct flattener *);
struct ir_block *block_end(struct flattener *, struct block *, uint32_t count,
                           const ir_var *results);
struct ir_block *block_end_exit(struct flattener *, struct block *);
/* Results have the kinds of the first block's that yields. */
void flat_if(struct flattener *, ir_var condition, struct ir_block *then,
             struct ir_block *otherwise, uint32_t count, ir_var *results);
void emit_call(struct flattener *, uint32_t function, uint32_t count, const ir_var *operands,
               uint32_t result_count, const struct ir_kind *const *kinds, ir_var *results);
/* Origins name the function, and of expanded ones the places of the calls around them:
 * FUNCTION|PLACE|PLACE, innermost first. */
void set_origin(struct flattener *, const struct core *);
/* The number of the origin where the flattener is. */
uint32_t current_origin(struct flattener *);
/* frame.calls for a body that is expanded where the origin is now. */
const char *expanded_calls(struct flattener *);
/* Removes bindings that nothing uses, all through the program: flatten-dead.c. */
void flat_dead(struct flattener *, struct ir_program *);
bool binding_has_effect(const struct ir_binding *);
/* Moves what one arm of an IF uses alone into it, but for the variables `kept`: flatten-sink.c.
 */
void flat_sink(struct flattener *, struct ir_function *, const struct vars *kept);

/* ---- representations: flatten-rep.c ---- */

const struct rep *rep_scalar(struct flattener *, enum type_word, ir_var, bool shared);
const struct rep *rep_pair(struct flattener *, const struct rep *, const struct rep *);
const struct rep *rep_sequence(struct flattener *, ir_var segdes, ir_var outer,
                               const struct rep *elements, bool shared);
const struct rep *rep_view(struct flattener *, const struct rep *base, ir_var owner);
const struct rep *rep_nothing(struct flattener *);
/* Gives a sequence its elements, which may be made when it stands already. */
void rep_set_elements(struct flattener *, struct rep *sequence, const struct rep *elements);
bool rep_all_shared(const struct rep *);

/* Lengths of the sequences of a view, which has the instances of `one`. */
ir_var view_lengths(struct flattener *, const struct rep *view, ir_var one);
/* Of a sequence that is no view: lengths of its segments; where they begin; a descriptor with
 * one segment over all elements. */
ir_var seq_lengths(struct flattener *, const struct rep *);
ir_var seq_offsets(struct flattener *, const struct rep *);
ir_var seq_elements_one(struct flattener *, const struct rep *);
/* A descriptor of one segment with this many places (an INT scalar). */
ir_var one_segment(struct flattener *, ir_var length);

/* The value with a part for each instance of the context (in the serial context: unchanged). */
ir_var rep_each_scalar(struct flattener *, const struct context *, const struct rep *);
/* A sequence that is no view, and not shared unless the context is serial. Elements may still
 * be views or shared. */
const struct rep *rep_plain(struct flattener *, const struct context *, const struct rep *);
/* A view made plain; shared stays shared. */
const struct rep *rep_no_view(struct flattener *, const struct context *, const struct rep *);
/* Nothing shared, no views, at any level: the columns of value.h. */
const struct rep *rep_physical(struct flattener *, const struct context *, const struct rep *);
/* Elements as instances of a context of their own. */
struct context context_elements(struct flattener *, const struct rep *plain);

/* The instances `index` (absolute; as many as `to` has) of a value with the instances of `from`
 * (descriptors of one segment). */
const struct rep *rep_gather(struct flattener *, const struct rep *, ir_var index, ir_var from,
                             ir_var to);
/* The same, index and descriptors with matching segments; `absolute()` is asked only where
 * sequences need it. */
struct gather {
  ir_var index, from, to; /* as BPERMUTE takes them */
  ir_var base;            /* absolute index = index + base spread over `to`, a value for
                             each segment */
  bool absolute;          /* index is absolute already */
};
const struct rep *rep_gather_by(struct flattener *, const struct rep *, const struct gather *);

/* One value of all instances in `dest` (descriptor of one segment), from sources that say where
 * each of their instances goes; together they fill it. Sources: not shared (rep_physical). */
struct source_part {
  const struct rep *rep;
  ir_var index; /* destinations */
  ir_var one;   /* descriptor of one segment over its instances */
};
const struct rep *rep_merge(struct flattener *, const struct source_part *, unsigned count,
                            ir_var dest);

/* Brings a value into a context inside of the one where it is. */
const struct rep *context_lift(struct flattener *, const struct rep *,
                               const struct context *from, const struct context *to);

/* Columns: of physical values (value.h) and of arguments of versions. */
void rep_columns(const struct rep *physical, struct vars *);
const struct rep *rep_from_columns(struct flattener *, struct type *, ir_var outer, bool shared,
                                   const ir_var **next);
void type_kinds(struct flattener *, struct type *, const struct ir_kind ***, uint32_t *count);
/* Adds the layout of the columns of one value, as in struct ir_program: counted from the first
 * in `out`. */
void type_layout(struct flattener *, struct type *, struct vars *out);
/* Of what a value of a function type captured, as one tuple; NULL if nothing. */
struct type *type_captured(struct flattener *, struct type *function);
const struct rep *rep_empty(struct flattener *, struct type *); /* physical, no instances */
/* An argument's form as versions take it: outermost sequences shared, plain or views, all
 * inside physical. Its variables, and back. */
const struct rep *rep_argument(struct flattener *, const struct context *, const struct rep *);
const char *rep_signature(struct flattener *, const struct rep *argument);
void rep_argument_columns(const struct rep *argument, struct vars *);
const struct rep *rep_parameters(struct flattener *, const struct rep *shape, ir_var one);
/* A value of the host as constants. */
const struct rep *rep_constant(struct flattener *, const struct nesl_value *);

/* ---- expressions: flatten.c, flatten-each.c, flatten-if.c, flatten-call.c ---- */

const struct rep *flatten(struct flattener *, struct context *, const struct core *);
const struct rep *flatten_each(struct flattener *, struct context *, const struct core *);
/* Whether an apply-to-each is {* ... } and its elements have to be evaluated one after the
 * other; then: from its sources, which are plain and of one length. flatten-serial.c */
bool is_serial_each(struct flattener *, const struct context *, const struct core *);
const struct rep *flatten_serial_each(struct flattener *, struct context *, const struct core *,
                                      const struct rep *const *sources);
const struct rep *flatten_if(struct flattener *, struct context *, const struct core *);
/* The same of one whose condition has been evaluated. */
const struct rep *flatten_branches(struct flattener *, struct context *, const struct core *,
                                   const struct rep *condition);
/* An IF whose condition is not the same for all instances. */
const struct rep *flatten_split(struct flattener *, struct context *, const struct core *,
                                ir_var flags);
const struct rep *flatten_list(struct flattener *, struct context *, const struct core *);
const struct rep *flatten_apply(struct flattener *, struct context *, const struct core *);
/* An application of a named function whose argument has been evaluated. */
const struct rep *flatten_call(struct flattener *, struct context *, const struct core *,
                               const struct rep *argument);
void bind_pattern(struct flattener *, struct context *, const struct core_pattern *,
                  const struct rep *);
void bind_local(struct flattener *, struct context *, const struct local *, const struct rep *);
/* An expression that is_closed, evaluated once, if the context has instances. */
const struct rep *flatten_closed(struct flattener *, struct context *, const struct core *);
struct type *ground(struct flattener *, struct type *);
/* A literal all through: then its value, else false. */
bool literal_value(struct flattener *, const struct core *, struct nesl_value *);
/* Code that runs only if the context has instances, and gives shared values: `body` is
 * generated in the serial context. */
/* (rep_placeholder: a shared value of the type that nobody reads.) */
const struct rep *rep_placeholder(struct flattener *, struct type *);
const struct rep *flatten_if_any(struct flattener *, struct context *, struct type *result,
                                 const struct rep *(*body)(struct flattener *, void *),
                                 void *closure);

/* What is known of a function by looking at it: traits.c. */
struct traits {
  bool recursive; /* may call itself, perhaps through others */
  bool effects;   /* prints, exits, reads, draws random numbers, takes the time */
  uint32_t size;  /* nodes */
};
const struct traits *global_traits(struct flattener *, struct global *);
enum { SIMPLE_NODES = 24 }; /* of a branch: about what packing and merging would cost */
/* Whether an expression is cheap and cannot fail or have effects, scalar throughout: both arms
 * of an if may then be evaluated. `budget` nodes at most. */
bool is_simple(struct flattener *, const struct core *, unsigned *budget);
bool has_effects(struct flattener *, const struct core *);
/* The same of an expression of the body being generated: more is known of what it calls. */
bool has_effects_here(struct flattener *, const struct core *);
uint32_t core_size(struct flattener *, const struct core *);
/* Whether an expression has the same value in all instances: its free variables are shared, and
 * it has no effects. */
bool is_closed(struct flattener *, const struct core *);

/* ---- primitives: prims-*.c ---- */

/* The value of a primitive; `type` is that of the argument, `result` of the result. */
const struct rep *flatten_primitive(struct flattener *, struct context *, enum primitive,
                                    const struct rep *argument, struct type *type,
                                    struct type *result);
const struct rep *prim_scalar(struct flattener *, struct context *, enum primitive,
                              const struct rep *argument, struct type *result);
const struct rep *prim_sequence(struct flattener *, struct context *, enum primitive,
                                const struct rep *argument, struct type *type,
                                struct type *result);
const struct rep *prim_effect(struct flattener *, struct context *, enum primitive,
                              const struct rep *argument, struct type *type,
                              struct type *result);
enum type_word type_to_word(struct type *ground);

/* Complains that a value here would have too many columns, and ends the compilation. */
_Noreturn void refuse_columns(struct flattener *);
/* An internal error: a complaint, once. */
void unsupported(struct flattener *, const char *what);

#endif
