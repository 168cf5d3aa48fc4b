/* sizes-walk.h - following one function, in order of execution, and what each operation
 * establishes. Private to sizes*.c.
 */
#ifndef RAVEL_SIZES_WALK_H
#define RAVEL_SIZES_WALK_H

#include "fcode-opt/passes.h"
#include "fcode-opt/sizes-facts.h"

/* What is known of the elements of a vector. */
enum element_fact {
  ALL_NATURAL = 1,  /* none is negative */
  ALL_NONZERO = 2,  /* none is zero */
  ALL_LENGTHS = 4,  /* natural, and their sum is within 2^63-1 */
  ALL_THE_SAME = 8, /* TERM_COUNT is the value of each */
  ALL_FACTS = ALL_NATURAL | ALL_NONZERO | ALL_LENGTHS | ALL_THE_SAME
};

/* What is known of one INT vector beyond terms, within its function. */
struct element_facts {
  uint8_t facts;
  bool permutation; /* each segment of `range` holds every index of the segment once */
  ir_var range;     /* a descriptor: laid out under it, each element is an index within its
                       segment; IR_NO_VAR: none is known */
  ir_var lengths;   /* the descriptor whose LENGTHS it is, some 0 perhaps left out, or
                       IR_NO_VAR */
  ir_var nonempty;  /* of a BOOL vector: the descriptor whose segments are empty wherever it is
                       F, or IR_NO_VAR */
  ir_var flags;     /* the BOOL vector whose B_TO_I it is, or IR_NO_VAR */
  ir_var equal[2];  /* of one BOOL: the INTs that are equal if it is T, or IR_NO_VAR */
};

/* Facts that pass between functions: of a list of terms, which are equal, and the numbers. */
struct term_label {
  uint32_t class; /* equal within one list */
  bool known, natural;
  int64_t number;
};

struct boundary {
  bool reached;              /* else: nothing has come here yet, so that everything holds */
  uint32_t count;            /* variables */
  uint32_t classes;          /* different labels */
  struct term_label *labels; /* TERMS_PER_VAR for each */
  uint8_t *facts;            /* enum element_fact of each */
};

/* What is kept of a function. */
struct sizes_function {
  struct boundary entry, exit; /* of the parameters; of parameters and results */
  bool queued;
  /* of every variable: when it was bound */
  uint32_t *classes; /* of TERM_SIZE and TERM_COUNT */
  uint32_t *likely;  /* at the end, of TERM_SIZE and TERM_COUNT */
  int64_t *known;
  ir_var *first;       /* the first vector that is as long, then */
  ir_var *descriptors; /* the first descriptor with this total, or IR_NO_VAR */
  /* of the operation with this first result */
  bool *safe, *agrees, *rests;
};

struct sizes {
  struct opt *o;
  struct sizes_function *functions;
  uint32_t *queue; /* a ring of functions to be followed again */
  uint32_t queue_first, queue_count;
};

struct walk {
  struct sizes *sizes;
  struct facts *facts;
  uint32_t function;
  const struct ir_function *f;
  struct element_facts *elements; /* of every variable */
  struct map pairs;               /* of classes, to one more than the class of both */
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

/* What is known of an operation before it is executed. */
struct verdict {
  bool agrees; /* its sizes do */
  bool safe;   /* it cannot fail */
  bool rests;  /* but only because of something that was checked before */
};

/* sizes-rules.c: the operation is executed. */
struct verdict rules_execute(struct walk *, const struct ir_binding *);
/* Likewise of constants and superoperators. */
void rules_constant(struct walk *, const struct ir_binding *);
void rules_fused(struct walk *, const struct ir_binding *);

#endif
