/* private.h - declarations common to the files of the flattener.
 *
 * Code is generated for one context at a time. In the serial context there is one instance; in
 * a lifted one there are k, all evaluated together. A value is represented by `struct rep`: a
 * tree whose scalars and sequences are each
 *   - shared: the same for all instances, held once. All values of the serial context are so;
 *   - one for each instance: k scalars are a vector of k elements, k sequences are a descriptor
 *     of k segments and the concatenation of their elements;
 *   - a view (sequences only): the sequence of instance i is number owner[i] of its base;
 *   - pulled (sequences only): a function from the index to the element.
 *
 * A use of a variable lifts its value into the context of the use (context_lift): a scalar is
 * distributed or packed, a sequence becomes a view or stays shared. Elements are copied only
 * for an operation that needs them contiguous (rep_physical, rep_plain). Indexing needs no
 * copy.
 *
 * The virtual segment descriptors follow Lippmeier, Chakravarty, Keller, Leshchinskiy and
 * Peyton Jones, "Work efficient higher-order vectorisation" (2012).
 */
#ifndef RAVEL_NESLC_FLATTEN_PRIVATE_H
#define RAVEL_NESLC_FLATTEN_PRIVATE_H

#include "ir/numbering.h"
#include "ir/walk.h"
#include "neslc/flatten/flatten.h"
#include "neslc/primitives/derive.h"
#include "neslc/table.h"
#include "neslc/types/checks.h"

/* ---- values ---- */

enum rep_kind {
  REP_NOTHING, /* a function that captured nothing */
  REP_SCALAR,
  REP_PAIR,
  REP_SEQUENCE,
  REP_PULLED /* a sequence whose elements are computed where they are used: pull.c */
};

struct rep {
  uint8_t kind; /* enum rep_kind */
  uint8_t word; /* SCALAR: TW_INT, TW_FLOAT, TW_BOOL */
  bool shared;  /* SCALAR, SEQUENCE: one for all instances */
  uint16_t
      columns; /* number of scalars, descriptors and functions: at most VALUE_MOST_COLUMNS */
  ir_var v;    /* SCALAR */
  const struct rep *left, *right; /* PAIR; PULLED: what the function captured, the length */
  uint32_t function; /* PULLED: from the index to the element; a number in `pulled` */
  /* SEQUENCE that is no view: */
  ir_var segdes; /* one segment for each instance */
  ir_var outer;  /* a descriptor with one segment, as long as there are instances */
  const struct rep *elements; /* in a context with one instance for each element */
  bool series;                /* shared: the elements are start, start + stride ... */
  ir_var start, stride;
  /* its elements one by one, values of its context, where code goes element by element;
   * `part_count` of them, or 0. Only elements of pulled sequences make parts that are not shared. */
  const struct rep *const *parts;
  uint32_t part_count;
  /* SEQUENCE that is a view; never shared: */
  const struct rep *base; /* the sequences, not shared, not a view; NULL: no view */
  ir_var owner;           /* for each instance the index of its sequence in `base` */
  bool packed; /* the instances where `flags` is T; `around`: the descriptor of `flags`, for
                  PACK */
  bool whole;  /* packed, and only empty sequences are left out */
  ir_var flags, around;
};

struct vars {
  struct arena *arena;
  ARRAY(ir_var) list;
};

/* ---- contexts ---- */

enum context_kind {
  CONTEXT_SERIAL, /* one instance */
  CONTEXT_LIFTED, /* of a lifted function: the caller passes k instances */
  CONTEXT_EACH,   /* an instance for each element of `segdes`' segments */
  CONTEXT_PACKED  /* the instances of the parent where `flags` is T */
};

struct context {
  uint8_t kind; /* enum context_kind */
  struct context *parent;
  ir_var one;    /* a descriptor with one segment of length k */
  ir_var segdes; /* EACH: a segment for each instance of the parent */
  ir_var flags;  /* PACKED: one flag for each instance of the parent */
  ir_var around; /* PACKED: the descriptor of `flags`, for PACK */
};

static inline bool context_serial(const struct context *c) {
  return c->kind == CONTEXT_SERIAL;
}

/* ---- functions under construction ---- */

/* The value of a local while the body that binds it is generated, and its context. */
struct bound_rep {
  const struct rep *rep;
  struct context *context;
};

/* A body being generated: that of a function, or one expanded at its call. */
struct flat_frame {
  ARRAY(struct bound_rep) locals; /* by number */
  uint32_t count;                 /* of generic variables ... */
  struct type **arguments;        /* ... and their ground types */
  const struct global *global;    /* or NULL */
  unsigned depth;                 /* of nested expansions */
  uint32_t inlined_at;            /* the origin of the call it is expanded at; else 0 */
};

struct flat_block {
  struct flat_block *outer;
  ARRAY(struct ir_binding) bindings;
  size_t known; /* mark of the value numbering at its beginning */
};

struct assumption { /* the value of an IF's condition within one of its arms */
  ir_var condition;
  bool value;
};

/* The functions that a loop becomes: loop.c. */
enum loop_function { LOOP_SERIAL, LOOP_MANY, LOOP_STEP, LOOP_TREE, LOOP_GROW };

/* A loop and the variables from around it that its condition and its step mention. */
struct loop {
  const struct core *core;
  uint32_t captured_count;
  struct local **captured;
  uint8_t function; /* enum loop_function: which of its functions is meant */
};

/* A function of the generated program: a global, lambda or derived function or a loop for given
 * ground types, given representations of its arguments, and one instance or many. */
struct specialisation {
  uint64_t hash;
  uint32_t function; /* index in the program */
  struct global *global;
  const struct core_lambda *lambda; /* or NULL */
  const struct derived *derived;    /* or NULL: eql, string ... for the type `argument` */
  const struct loop *loop;          /* or NULL; `global` is the function around it */
  bool lifted;
  bool apart; /* of procedures: see `apart` of the flattener */
  struct type *argument, *result;
  uint32_t count;
  struct type **arguments;    /* ground, for the generic variables */
  const char *signature;      /* of the arguments' representations: rep_signature */
  const struct rep *shape;    /* a rep with that signature; its variables are not used */
  const struct rep *captured; /* LAMBDA: likewise */
};

/* The expression that is being generated. Its origin is made with the first operation emitted
 * for it. */
struct present {
  const struct source *source; /* NULL: none */
  const struct global *global; /* the function around it; or NULL */
  uint32_t offset;             /* core_mark */
  uint32_t inlined_at;         /* as in the frame */
  uint32_t origin;             /* 0: none yet */
};

/* While the function of a combination is generated (combine.c), for its left and right
 * operands of all positions at once: everything becomes elementwise, both arms of conditionals
 * included, and what it checks becomes a flag. */
struct combining {
  const char *refused;  /* why this cannot be: it "..."; or NULL */
  ir_var good;          /* where all checks hold; NO_VAR: there are none */
  const char *text;     /* of the checks */
  struct present at;    /* the first check, or the call if there are several */
  ARRAY(ir_var) proven; /* results of operations that may fail, but not here */
};

enum code_effect {
  EFFECT_NONE,
  EFFECT_DRAWS,      /* random numbers, the same number of times in every execution */
  EFFECT_DRAWS_SOME, /* random numbers, conditionally */
  EFFECT_CALLS,      /* it calls what has some effect */
  EFFECT_OTHER
};

/* A function whose code is generated. */
struct made_function {
  enum code_effect effect; /* of a body: instances.c */
  struct vars wanted;
  bool removable;       /* it cannot fail and has no effect */
  const char *unmarked; /* it "...", so it lost its mark: check_marks */
};

struct trial;
struct closed_values;
struct explanation;

struct flattener {
  struct arena *arena;
  struct session *session;
  const struct flatten_options *options;
  struct complaints *complaints;
  jmp_buf refused; /* continues where compilation is refused, after the complaint */
  ARRAY(struct ir_function) functions;
  ARRAY(struct made_function) made_functions; /* by function */
  ARRAY(struct specialisation)
  specialisations; /* specialisation i is functions[i + 1]; functions[0] is the entry point */
  size_t made;     /* specialisations below this have bodies */
  uint32_t making; /* the function under construction; of a body, that around it */
  struct origin_table origins;
  struct table derived; /* derive() */
  struct table traits;  /* struct global -> struct traits, where computed: traits.c */

  /* The function under construction: */
  ARRAY(const struct ir_kind *) kinds; /* of its variables */
  ARRAY(const struct ir_binding *)
  definitions; /* of each variable that is the first result of
                  a pure operation or a constant; else NULL */
  struct flat_block *block;
  struct ir_numbering
      known;             /* value numbering: operations executed before the current position */
  struct context serial; /* its serial context */
  ARRAY(struct assumption) assumed; /* in the enclosing arms */
  struct flat_frame *frame;
  struct vars layout; /* of the parameters of the entry function */
  const ir_var
      *parameters; /* columns of options->parameters; NULL except in the entry function */
  struct present at;
  bool exact_floats; /* the program writes floats, which must be read back exactly */
  ARRAY(ir_var)
  wanted;          /* results of operations whose failure is itself the check: not removable */
  size_t expanded; /* nodes of the bodies expanded in it */
  /* The function is a procedure, or of one: it is executed for one instance by one thread. So
   * apply-to-each over a list that is written out is code for each of its elements. */
  bool apart;
  struct combining *combining; /* or NULL */
  /* Where the arm is taken that is being generated, for all instances of the context: what may
   * fail fails only there (if.c). NO_VAR: everywhere. */
  ir_var mask;
  struct present explained;    /* the last call of one */
  ARRAY(const struct superop *) superops;
  const struct name *pulled_name;    /* "_pulled" */
  const struct name *simple_name;    /* "_is_simple" */
  ARRAY(const struct call *) pulled; /* the functions of pulled sequences */
  uint32_t repeated;                 /* how often the code here stands for parts around it */
  struct trial *trial;               /* instances.c; or NULL */
  struct closed_values *closed;      /* closed.c; or NULL */
  struct table inlined;              /* bodies that are no functions, by expression: likewise */
  ARRAY(bool) needed;                /* scratch of outline.c, per variable */
  ARRAY(const struct explanation *) explanations; /* for options->explain */
};

#define NO_VAR UINT32_MAX

/* ---- emitting: emit.c, fold.c ---- */

/* Finds a variable that already has the operation's value, without executing it. */
bool fold_operation(struct flattener *, enum opcode, const ir_var *operands, ir_var *result);
/* The definition of a variable if it is an operation with this opcode; else NULL. */
const struct ir_binding *defined_by(const struct flattener *, ir_var, enum opcode);
const struct vcode_constant *constant_of(const struct flattener *, ir_var);

extern const struct ir_kind flat_kinds[4]; /* INT FLOAT BOOL SEGDES */

ir_var flat_var(struct flattener *, const struct ir_kind *);
/* Emits one operation and returns its first result. Equal pure operations are executed once. */
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
void emit_fused(struct flattener *, const struct superop *, const ir_var *operands,
                ir_var *results);
/* The constant value of a variable, if known. */
bool known_int(struct flattener *, ir_var, int64_t *);
bool known_float(struct flattener *, ir_var, double *);
bool known_bool(struct flattener *, ir_var, bool *);

/* From here on the sums of these ints in segments are a variable that exists. */
void remember_sums(struct flattener *, ir_var v, ir_var segdes, ir_var sums);

/* A check: the program fails with the text if a flag is F, and the mask is T; v and w are
 * reported. All have one length. Texts: see assert_text. Within a combination: see
 * combining_check. */
void emit_assert(struct flattener *, ir_var flags, ir_var v, ir_var w, const char *text);

/* Ends the program with this text. */
void emit_stop(struct flattener *, const char *text);

/* Blocks: begin one, emit into it, end it; flat_if puts two of them into an IF. */
struct flat_block *block_begin(struct flattener *);
/* Ends a block whose code is not executed. */
void block_abandon(struct flattener *, struct flat_block *);
struct ir_block *block_end(struct flattener *, struct flat_block *, uint32_t count,
                           const ir_var *results);
struct ir_block *block_end_exit(struct flattener *, struct flat_block *);
/* Results have the kinds of the first block's that yields. */
void flat_if(struct flattener *, ir_var condition, struct ir_block *then,
             struct ir_block *otherwise, uint32_t count, ir_var *results);
void emit_call(struct flattener *, uint32_t function, uint32_t count, const ir_var *operands,
               uint32_t result_count, const struct ir_kind *const *kinds, ir_var *results);
/* Makes an expression the one that is being generated. */
void set_present(struct flattener *, const struct core *);
/* The origin of its operations; also of the bodies expanded at it. */
uint32_t present_origin(struct flattener *);
/* That of the call of a body that was made a function. */
struct present call_of_body(struct flattener *);
/* Removes unused bindings from the whole program: dead.c. */
void flat_dead(struct flattener *, struct ir_program *);
/* Whether a binding is executed even if its results are not used. */
bool binding_has_effect(const struct flattener *, const struct ir_binding *);
/* Sets a function that is made, in the program; `kept` are the results of its operations whose
 * failure is a check. Its parameters are the first variables. */
void flat_function(struct flattener *, uint32_t index, const struct name *, uint32_t params,
                   const struct ir_kind **kinds, uint32_t var_count, struct ir_block *body,
                   struct vars kept);
/* Moves bindings that only one arm of an IF uses into that arm, except the variables `kept`:
 * sink.c.
 */
void flat_sink(struct flattener *, struct ir_function *, const struct vars *kept);

/* ---- representations: rep.c ---- */

const struct rep *rep_scalar(struct flattener *, enum type_word, ir_var, bool shared);
const struct rep *rep_pair(struct flattener *, const struct rep *, const struct rep *);
const struct rep *rep_pulled(struct flattener *, uint32_t function, const struct rep *captured,
                             const struct rep *length);
const struct rep *rep_sequence(struct flattener *, ir_var segdes, ir_var outer,
                               const struct rep *elements, bool shared);
/* A shared sequence of which the elements are known one by one. */
const struct rep *rep_with_parts(struct flattener *, const struct rep *,
                                 const struct rep *const *parts, uint32_t count);
const struct rep *rep_view(struct flattener *, const struct rep *base, ir_var owner);
/* A shared sequence of which is known that it is a series: copies of it need not be gathered.
 */
const struct rep *rep_series(struct flattener *, const struct rep *shared, ir_var start,
                             ir_var stride);
const struct rep *rep_nothing(struct flattener *);
/* Sets the elements of a sequence, where its descriptor is needed to compute them. */
void rep_set_elements(struct flattener *, struct rep *sequence, const struct rep *elements);
bool rep_all_shared(const struct rep *);
/* Whether both are of one form and consist of the same variables. */
bool rep_same(const struct rep *, const struct rep *);

/* The lengths of a view's sequences; `one`: the descriptor of its context. */
ir_var view_lengths(struct flattener *, const struct rep *view, ir_var one);
/* For a sequence that is no view: the lengths of its segments; their offsets; a descriptor of
 * one segment over all elements. */
ir_var seq_lengths(struct flattener *, const struct rep *);
ir_var seq_offsets(struct flattener *, const struct rep *);
ir_var seq_elements_one(struct flattener *, const struct rep *);
/* A descriptor of one segment with this length (an INT scalar). */
ir_var one_segment(struct flattener *, ir_var length);

/* A scalar with one element for each instance of the context (unchanged in the serial
 * context). */
ir_var rep_each_scalar(struct flattener *, const struct context *, const struct rep *);
/* A sequence that is no view, and not shared unless the context is serial. Elements may still
 * be views or shared. */
const struct rep *rep_plain(struct flattener *, const struct context *, const struct rep *);
/* Copies the elements of a view; a shared sequence stays shared. */
const struct rep *rep_no_view(struct flattener *, const struct context *, const struct rep *);
/* Nothing shared, no views, at any level: the columns of value.h. */
const struct rep *rep_physical(struct flattener *, const struct context *, const struct rep *);
/* The context that has one instance for each element. */
struct context context_elements(struct flattener *, const struct rep *plain);

/* The instances `index` (absolute; as many as `to` has) of a value with the instances of `from`
 * (descriptors of one segment). */
const struct rep *rep_gather(struct flattener *, const struct rep *, ir_var index, ir_var from,
                             ir_var to);
/* A gather by index and descriptors of matching segments. The absolute index is computed only
 * where sequences need it. */
struct gather {
  ir_var index, from, to; /* as BPERMUTE takes them */
  bool flagged;           /* where `flags` is F, nothing is read, and the value is 0 */
  ir_var flags;
  ir_var base;            /* absolute index = index + base distributed over `to`; base has
                             one value for each segment */
  bool absolute;          /* index is absolute already */
};
const struct rep *rep_gather_by(struct flattener *, const struct rep *, const struct gather *);

/* Combines sources into one value with the instances of `dest` (a descriptor of one segment).
 * Each source gives the destination index of each of its instances; together they cover `dest`.
 * Sources are not shared (rep_physical). */
struct merge_source {
  const struct rep *rep;
  ir_var index; /* destinations */
  ir_var one;   /* descriptor of one segment over its instances */
};
const struct rep *rep_merge(struct flattener *, const struct merge_source *, unsigned count,
                            ir_var dest);

/* Lifts a value into a context inside its own. */
const struct rep *context_lift(struct flattener *, const struct rep *,
                               const struct context *from, const struct context *to);

/* Columns of physical values (value.h) and of arguments of specialisations. */
void rep_columns(const struct rep *physical, struct vars *);
const struct rep *rep_from_columns(struct flattener *, struct type *, ir_var outer, bool shared,
                                   const ir_var **next);
void type_kinds(struct flattener *, struct type *, const struct ir_kind ***, uint32_t *count);
/* Appends the layout of one value's columns, as in struct ir_program; indices count from the
 * first entry of `out`. */
void type_layout(struct flattener *, struct type *, struct vars *out);
/* The type of the tuple of captured values of a function type; NULL if it captured nothing. */
struct type *type_captured(struct flattener *, struct type *function);
const struct rep *rep_empty(struct flattener *, struct type *); /* physical, no instances */
/* An argument in the form that specialisations take: outermost sequences are shared, plain or
 * views; what they contain is physical. Its columns, and parameters of that form. */
const struct rep *rep_argument(struct flattener *, const struct context *, const struct rep *);
const char *rep_signature(struct flattener *, const struct rep *argument);
void rep_argument_columns(const struct rep *argument, struct vars *);
const struct rep *rep_parameters(struct flattener *, const struct rep *shape, ir_var one);
/* Make parameters as rep_parameters does, in two steps, for parameters of several contexts: the
 * variables of all come first.
 */
const struct rep *rep_parameter_variables(struct flattener *, const struct rep *shape);
const struct rep *rep_parameters_finished(struct flattener *, const struct rep *, ir_var one);
/* A value of the host as constants. */
const struct rep *rep_constant(struct flattener *, const struct nesl_value *);

/* ---- calls: call.c; pulled sequences: pull.c ---- */

/* The callee of a call, its ground types and its argument. */
struct call {
  struct global *global;            /* or NULL */
  const struct core_lambda *lambda; /* or NULL */
  const struct derived *derived;    /* or NULL */
  const struct loop *loop;          /* or NULL */
  uint32_t count;                   /* of the ground types of its generic variables */
  struct type **arguments;
  const struct rep *captured; /* lambda: its captured values; or NULL */
  const struct rep *argument;
  struct type *argument_type, *result_type;
};
/* Finds the callee from the type of a function value; false if there is none. */
bool unfold_identity(struct flattener *, struct type *function, const struct rep *value,
                     struct call *);
/* The function for a call; `argument` and `captured` have the form of rep_argument. */
uint32_t function_of_call(struct flattener *, const struct call *, const struct rep *captured,
                          const struct rep *argument, bool lifted, bool apart);
/* Whether there is room for functions that the program does not need to have. */
bool room_for_functions(const struct flattener *);
/* A call of that function; in the serial context, of the one for one instance. `guarded`: it is
 * made only if there are instances. */
const struct rep *call_specialisation(struct flattener *, struct context *, const struct call *,
                                      bool guarded);
/* The value of the callee's body, generated here. */
const struct rep *call_expanded(struct flattener *, struct context *, const struct call *);

/* The sequence of g(0) .. g(n - 1) without computing its elements; NULL if g is no lambda.
 * `argument` is the pair of g and n, `type` its type. */
const struct rep *pulled_sequence(struct flattener *, const struct rep *argument,
                                  struct type *type);
const struct rep *pulled_element(struct flattener *, struct context *, const struct rep *pulled,
                                 const struct rep *index);
/* How many elements a sequence is known to have, if they can be had one by one: those of a pulled
 * sequence or of one that all share; else 0. */
uint32_t known_parts(struct flattener *, const struct context *, const struct rep *);
/* These elements. */
const struct rep *const *rep_parts(struct flattener *, struct context *, const struct rep *,
                                   uint32_t count);
/* The sequence with computed elements: it is no view, and not shared unless the context is
 * serial. Of a value of another form, itself. */
const struct rep *rep_computed(struct flattener *, const struct context *, const struct rep *);

/* ---- loops: loop.c ---- */

const struct rep *flatten_loop(struct flattener *, struct context *, const struct core *);
/* Begins one of the functions of a loop: makes its parameters; their number. Then: the rest. */
struct loop_parameters {
  ir_var level, top; /* TREE, GROW */
  ir_var one, ids;   /* lifted */
  const struct rep *captured, *state;
  uint32_t count;
};
void loop_begin(struct flattener *, const struct specialisation *, struct loop_parameters *);
void loop_body(struct flattener *, const struct specialisation *,
               const struct loop_parameters *, struct vars *results);
/* The final state of the loop for one instance, by a call of its function. */
const struct rep *loop_called(struct flattener *, const struct loop *, const struct rep *first);
/* Its mark (ir/ir.h). */
enum vcode_rounds loop_rounds(enum loop_function);
/* Generates MANY as a recursion that the optimiser makes a superoperator of. Returns false if
 * it will not: the code is to be abandoned. */
bool loop_elementwise(struct flattener *, const struct specialisation *,
                      const struct loop_parameters *, struct vars *results);
/* The variables that parts of an expression mention and that are bound around it. */
void find_captured(struct flattener *, const struct core *, struct core *const *parts,
                   size_t count, struct loop *out);
/* Their values as a right-nested tuple. */
const struct rep *captured_values(struct flattener *, struct context *, uint32_t count,
                                  struct local *const *captured);
void bind_captured(struct flattener *, struct context *, uint32_t count,
                   struct local *const *captured, const struct rep *values);
/* The instances of a context where flags are T. */
struct context *context_packed(struct flattener *, struct context *, ir_var flags);
/* The positions in the parent of the instances of a packed context. */
ir_var instance_positions(struct flattener *, const struct context *packed);
/* The values `all`, overwritten by `some` for the instances of `packed`, which are at `at`;
 * sequences stay as they are. */
const struct rep *scatter_over(struct flattener *, const struct context *,
                               const struct rep *all, const struct rep *some,
                               const struct context *packed, ir_var at);

/* ---- expressions: flatten.c, each.c, if.c, call.c ---- */

const struct rep *flatten(struct flattener *, struct context *, const struct core *);
const struct rep *flatten_each(struct flattener *, struct context *, const struct core *);
/* Whether an apply-to-each is {* ... } and its elements have to be evaluated one after the
 * other; then: from its sources, which are plain and of one length. serial.c */
bool is_serial_each(struct flattener *, const struct context *, const struct core *);
const struct rep *flatten_serial_each(struct flattener *, struct context *, const struct core *,
                                      const struct rep *const *sources);
const struct rep *flatten_if(struct flattener *, struct context *, const struct core *);
/* Flattens an `if` whose condition has been evaluated. */
const struct rep *flatten_branches(struct flattener *, struct context *, const struct core *,
                                   const struct rep *condition);
/* Flags of a check, which count where the mask is T. */
ir_var masked_check(struct flattener *, ir_var flags);
/* An IF whose condition is not the same for all instances. */
const struct rep *flatten_split(struct flattener *, struct context *, const struct core *,
                                ir_var flags);
const struct rep *flatten_list(struct flattener *, struct context *, const struct core *);
/* The list of n > 0 values of a context, of this ground type. */
const struct rep *list_of(struct flattener *, const struct context *, struct type *,
                          const struct rep *const *values, size_t n);
const struct rep *flatten_apply(struct flattener *, struct context *, const struct core *);
/* An application of a named function whose argument has been evaluated. */
const struct rep *flatten_call(struct flattener *, struct context *, const struct core *,
                               const struct rep *argument);
void bind_pattern(struct flattener *, struct context *, const struct core_pattern *,
                  const struct rep *);
void bind_local(struct flattener *, struct context *, const struct local *, const struct rep *);
/* An is_closed expression, evaluated once if the context has instances. */
const struct rep *flatten_closed(struct flattener *, struct context *, const struct core *);
struct type *ground(struct flattener *, struct type *);
/* The value of an expression that consists of literals; false if it does not. */
bool literal_value(struct flattener *, const struct core *, struct nesl_value *);
/* A shared value of the type whose contents are not used. */
const struct rep *rep_placeholder(struct flattener *, struct type *);
/* Code that runs only if the context has instances, with shared results: `body` is generated in
 * the serial context. */
const struct rep *flatten_if_any(struct flattener *, struct context *, struct type *result,
                                 const struct rep *(*body)(struct flattener *, void *),
                                 void *closure);

struct traits;

/* ---- explanations, if options->explain: explain.c ---- */

/* Explains the code at a source location (no line is written if that is NULL): "sort takes
 * rounds". */
void explain(struct flattener *, const struct source *, uint32_t offset, const char *what,
             const char *became);
/* Whether the function that it became is lifted when all functions are made. */
void explain_by_instances(struct flattener *, const struct source *, uint32_t offset,
                          const char *what, uint32_t function);
void explain_specialisation(struct flattener *, const struct specialisation *);
void write_explanations(struct flattener *);

/* ---- lifted functions: instances.c, mark.c ---- */

/* The value of the body of an apply-to-each: of code here, or of a batch call. */
const struct rep *flatten_body(struct flattener *, struct context *, const struct core *each);
/* Notes the elements of a sequence for each instance, while a body is tried. */
void trial_holds(struct flattener *, const struct rep *elements);
/* Marks the function of a specialisation that is lifted: from the form of its argument, with
 * what it captured, and its physical result. */
void mark_specialisation(struct flattener *, const struct specialisation *,
                         const struct rep *argument, const struct rep *result);
/* Removes the marks of functions whose effects do not permit them, and links to procedures that
 * have any. */
void check_marks(struct flattener *, const struct ir_program *);

/* `callee` says what a function does. */
enum code_effect block_effect(const struct ir_block *,
                              enum code_effect (*callee)(const void *, uint32_t function),
                              const void *context);

/* The application of a callee that unfold_identity found. */
const struct rep *apply_callee(struct flattener *, struct context *, struct call *);

/* ---- procedures: procedure.c ---- */

/* The form that a value of a lifted context has in the procedure: one instance of it. Views
 * stay: base and owner are what the lifted function gets. */
const struct rep *procedure_form(struct flattener *, const struct rep *);
/* Gives the function of a lifted specialisation, which is marked, its procedure. */
void procedure_link(struct flattener *, const struct specialisation *);
/* Returns which functions only links to procedures lead to. */
const bool *procedures_only(struct flattener *);
/* Returns for each function its index in the program, where those that only links lead to are
 * behind the others, and names all by these indices. */
const uint32_t *procedures_last(struct flattener *);
/* Puts the functions into that order. */
void procedures_move(struct flattener *, struct ir_program *, const uint32_t *order);
/* Whether a specialisation is a procedure whose arguments contain views. It does nothing but
 * make sequences of them and call the one without: its result, from its parameters. */
bool procedure_takes_views(const struct specialisation *);
const struct rep *procedure_viewed(struct flattener *, const struct specialisation *,
                                 const struct rep *argument);

/* ---- what a body computes once for all instances: closed.c ---- */

/* Notes the value of an expression, or of a call, that is the same for all instances, while a
 * body is generated that may become a function. */
void closed_note(struct flattener *, const struct core *, const struct rep *value);
void closed_note_call(struct flattener *, const struct call *, const struct core *body,
                      const struct rep *value);
/* While the procedure is generated: that value, if it is known around the call and its
 * variables have the same values; else NULL. */
const struct rep *closed_find(struct flattener *, const struct context *, const struct core *);
const struct rep *closed_find_call(struct flattener *, const struct call *,
                                   const struct core *body);

/* ---- combinations: combine.c, combine-nodes.c ---- */

/* The result of a call of reduce, scan ... of the library as that of a superoperator; NULL if
 * the call is no such, or takes rounds. */
const struct rep *flatten_combination(struct flattener *, struct context *,
                                      const struct call *);
/* Within the function of a combination: */
void combining_refuse(struct flattener *, const char *why);
void combining_check(struct flattener *, ir_var flags, const char *text);
const struct rep *combining_call(struct flattener *, struct context *, const struct call *,
                                 const struct traits *);

/* One column of a combination. */
enum column_source {
  FROM_ELEMENTS, /* one for each element */
  FROM_SEGMENTS, /* one for each segment */
  FROM_ONE       /* one for all, perhaps a constant */
};
struct combined {
  uint8_t word;       /* enum type_word */
  uint8_t from;       /* enum column_source, of ... */
  ir_var v;           /* ... its elements */
  ir_var identity;    /* one for each segment, or a constant; NO_VAR: any */
  ir_var defaults;    /* SCATTER */
  ir_var left, right; /* the operands of the function, and ... */
  ir_var value;       /* ... its value: variables of the code of the function */
  bool wanted;        /* its result is */
  ir_var result;
};
struct flat_combination {
  uint32_t op; /* SUPEROP_COMBINE_... */
  ARRAY(struct combined) columns;
  const struct flat_block *code; /* of the function */
  ir_var first;                  /* variables below this are not of that code */
  ir_var all;                    /* in that code: the descriptor of all positions */
  ir_var segdes, one;            /* of the elements: their segments, and as one segment */
  ir_var index, into; /* SCATTER: the index, and the segments of defaults and results */
};
/* Finds what the function needs beside its operands, and makes columns of it. False if it is
 * not elementwise, with the reason in `combining`. */
bool combination_find(struct flattener *, struct flat_combination *);
/* Emits the superoperator; sets the results of columns. */
void combination_emit(struct flattener *, struct flat_combination *);

/* Properties of a function, found by inspection of its body: traits.c. */
struct traits {
  bool recursive; /* may call itself, perhaps through others */
  bool effects;   /* prints, exits, reads, draws random numbers, takes the time */
  bool others;    /* one of these, and not only random numbers */
  uint32_t size;  /* nodes */
};
const struct traits *global_traits(struct flattener *, struct global *);
/* Pulled elements that are computed one by one, those around included; and of each side of a
 * square. */
enum { PARTS_MOST = 128, PARTS_MOST_NESTED = 11 };
enum { SIMPLE_NODES = 24 }; /* of a branch: about the cost of packing and merging instead */
/* Of a branch with elements of sequences, or checks: those are what the branches of conditionals
 * mostly have, and packing moves whatever they mention. */
enum { MASKED_NODES = 100, MASKED_ELEMENTS = 8 };
/* Whether an expression is cheap, scalar throughout, and can neither fail nor have effects:
 * both arms of an `if` may then be evaluated. At most `budget` nodes. */
bool is_simple(struct flattener *, const struct core *, unsigned *budget);
/* Whether both arms of an `if` may be evaluated if what they check, and the elements that they
 * take from sequences, count only where the arm is taken: otherwise they are simple. */
bool may_be_masked(struct flattener *, const struct core *);
/* Whether the body of a function value is simple; the type names the function. */
bool is_simple_function(struct flattener *, struct type *, const struct rep *);
bool has_effects(struct flattener *, const struct core *);
/* Returns whether an expression of the body being generated has effects: more callees are known
 * there. */
bool has_effects_here(struct flattener *, const struct core *);
/* Whether it has none but random numbers. */
bool only_draws(struct flattener *, const struct core *);
uint32_t core_size(struct flattener *, const struct core *);
/* Whether an expression has the same value in all instances: its free variables are shared, and
 * it has no effects. */
bool is_closed(struct flattener *, const struct core *);

/* ---- primitives: primitives/prims-*.c ---- */

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

/* Reports that a value would have too many columns, and ends the compilation. */
_Noreturn void refuse_columns(struct flattener *);
/* Reports an internal error, once. */
void unsupported(struct flattener *, const char *what);

#endif
