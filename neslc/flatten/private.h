/* private.h - the state of the flattener: values, contexts, functions under construction. What
 * a file offers to others is declared in the header of its name.
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
   * `part_count` of them, or 0. Only elements of pulled sequences make parts that are not
   * shared. */
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
  struct present explained; /* the last call of one */
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

/* Reports that a value would have too many columns, and ends the compilation. */
_Noreturn void refuse_columns(struct flattener *);
/* Reports an internal error, once. */
void unsupported(struct flattener *, const char *what);

#endif
