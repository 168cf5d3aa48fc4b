/* sizes-walk.h - the walk of the size analysis over one function, in order of execution.
 * Private to sizes*.c.
 */
#ifndef RAVEL_SIZES_WALK_H
#define RAVEL_SIZES_WALK_H

#include "fcode-opt/passes.h"
#include "fcode-opt/sizes-facts.h"

/* Facts on the elements of a vector. */
enum element_fact {
  ALL_NONNEGATIVE = 1, /* none is negative */
  ALL_NONZERO = 2,     /* none is zero */
  ALL_LENGTHS = 4,     /* non-negative, and their sum is at most 2^63-1 */
  ALL_THE_SAME = 8,    /* TERM_COUNT is the value of each */
  ALL_FACTS = ALL_NONNEGATIVE | ALL_NONZERO | ALL_LENGTHS | ALL_THE_SAME
};

/* Facts on one vector that are not terms; they do not pass between functions. */
struct element_facts {
  uint8_t facts;
  bool permutation; /* each segment of `range` holds every index of the segment once */
  ir_var range;     /* a descriptor of the vector: each element is an index within its segment;
                       IR_NO_VAR: none is known */
  ir_var lengths;   /* the descriptor whose LENGTHS these are, perhaps without some that are 0;
                       or IR_NO_VAR */
  ir_var nonempty;  /* BOOL: the descriptor whose segments are empty where it is F; or
                       IR_NO_VAR */
  ir_var flags;     /* the operand of the B_TO_I that made it; or IR_NO_VAR */
  ir_var equal[2];  /* BOOL scalar: the INTs that are equal if it is T; or IR_NO_VAR */
  ir_var
      greater[2]; /* BOOL: the INTs of which the first is greater where it is T; or IR_NO_VAR */
};

/* Facts that pass between functions: the equal terms of a list, and the known numbers. */
struct term_label {
  uint32_t class; /* equal within one list */
  bool known, nonnegative;
  int64_t number;
};

struct sizes_boundary {
  bool reached;              /* else no execution is known to come here: every fact holds */
  uint32_t count;            /* variables */
  uint32_t classes;          /* different labels */
  struct term_label *labels; /* TERMS_PER_VAR for each */
  uint8_t *facts;            /* enum element_fact of each */
};

/* The results of the analysis for one function. */
struct sizes_function {
  struct sizes_boundary entry, exit; /* of the parameters; of the parameters and results */
  bool queued;
  const struct ir_function *lifted; /* a lifted function that this is the procedure of; or NULL
                                     */
  /* per variable, as known when it was bound */
  uint32_t *classes; /* of TERM_SIZE and TERM_COUNT */
  uint32_t *assumed; /* the classes of terms assumed equal, at the end */
  int64_t *known;
  ir_var *first;       /* the first-bound vector of this length */
  ir_var *descriptors; /* the first-bound descriptor with this total, or IR_NO_VAR */
  /* per operation, by its first result: see struct sizes_verdict */
  bool *safe, *agrees, *depends;
};

struct sizes {
  struct opt *o;
  struct sizes_function *functions;
  uint32_t *queue; /* a ring of functions to be walked again */
  uint32_t queue_first, queue_count;
};

struct sizes_walk {
  struct sizes *sizes;
  struct facts *facts;
  uint32_t function;
  const struct ir_function *f;
  struct element_facts *elements; /* per variable */
  struct map pairs;    /* from a pair of classes to one more than the class of both */
  struct map families; /* from a class and a family of chunks to one more than both together */
};

static inline uint32_t term_size(ir_var v) {
  return TERMS_PER_VAR * v + TERM_SIZE;
}
static inline uint32_t term_count(ir_var v) {
  return TERMS_PER_VAR * v + TERM_COUNT;
}
static inline uint32_t term_same(ir_var v) {
  return TERMS_PER_VAR * v + TERM_SAME;
}

/* ---- batch calls: sizes-chunks.c ---- */

/* A lifted function is executed for chunks of the instances, so at its entry only those
 * facts of a call hold that hold for every chunk of its operands. Each term of its parameters
 * is in a *family* of terms that chunks change alike: equal terms of one family stay equal.
 * Numbers, but for those of what is shared, do not stay. */
struct sizes_chunks {
  const uint32_t *families; /* TERMS_PER_VAR for each parameter */
  const bool *numbers;      /* likewise: whether a known number stays */
};

struct sizes_chunks *chunks_of_call(struct sizes_walk *, const struct ir_binding *call);

/* The conclusion from the facts before an operation. */
struct sizes_verdict {
  bool agrees;  /* its sizes agree */
  bool safe;    /* it cannot fail */
  bool depends; /* one of these depends on a check */
};

/* sizes-rules.c: adds the facts that hold after an operation, and returns its verdict. */
struct sizes_verdict rules_execute(struct sizes_walk *, const struct ir_binding *);
/* Adds the facts that hold after constants and superoperators. */
void rules_constant(struct sizes_walk *, const struct ir_binding *);
struct sizes_verdict rules_fused(struct sizes_walk *, const struct ir_binding *);

#endif
