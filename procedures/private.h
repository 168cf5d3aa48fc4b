/* private.h - declarations common to the files of procedures. */
#ifndef RAVEL_PROCEDURES_PRIVATE_H
#define RAVEL_PROCEDURES_PRIVATE_H

#include "base/text.h"
#include "fused-kernels/loops/loops.h"
#include "ir/walk.h"
#include "procedures/procedures.h"

#include <stdio.h>

/* ---- how variables are held: forms.c ---- */

/* What is known of the variables of a function. */
struct forms {
  uint8_t *of;  /* of every variable: enum form */
  bool *one;    /* of every descriptor: its total is 1 */
  ir_var *base; /* of LENGTHS and STARTS: the descriptor, which is SEGMENTS */
  const struct cvl_value **constant; /* of scalars, and of SAME: the value, if it is known */
  bool *fixed;      /* of every parameter: calls that have more of it give up */
  uint8_t *results; /* of every result: enum form */
  bool *result_one;
};

/* Marks the variables of a function that are only read element by element: reads.c. */
bool *find_read_by_element(struct arena *, const struct ir_program *,
                           const struct ir_function *);
/* Returns the forms of the variables of all wanted functions, by function. */
struct forms *find_forms(struct arena *, const struct ir_program *, const bool *wanted);

/* ---- a text ---- */

struct procedures_text {
  struct arena *arena;
  const struct ir_program *program;
  struct forms *forms; /* of every function */
  bool *printed;       /* of every function: it is in the text */
  const bool *repeats; /* of every function: calls may lead to itself, or to one that does */
  bool *shares;        /* of every function that has been printed: threads may share a call */
  uint32_t scratch;    /* parts of scratch memory that it needs (functions.h) */
  struct text whole, functions;
  FILE *out; /* of the functions */
};

/* Where a call appends a result: to the buffer of a result, so that the totals of these
 * descriptors come before it. */
struct placed {
  uint32_t result, count;
  ir_var *before;
};

struct function_text {
  struct procedures_text *t;
  const struct ir_function *f;
  const struct forms *forms;
  uint32_t number;
  bool loops;                   /* it has calls of itself that are rounds of a loop */
  uint32_t *returned;           /* of every variable: `append` of struct held */
  const struct placed **placed; /* of every variable: where its call appends it; or NULL */
  bool *listed; /* of every variable: the call whose first result it is may have been given away
                 */
};

/* ---- which functions call which: call-graph.c ---- */

/* The function that a call executes: the procedure, of a lifted one; or IR_NO_PROCEDURE. */
uint32_t callee_of(const struct ir_program *, const struct ir_binding *);
/* Return, of every function, whether calls lead to a function that they may lead to again: of
 * the wanted ones, where procedures call procedures; where lifted functions call each other. */
const bool *find_repeating_procedures(struct arena *, const struct ir_program *,
                                      const bool *wanted);
const bool *find_repeating_lifted(struct arena *, const struct ir_program *);
/* Marks the wanted functions that lead to marked ones. */
void mark_callers(struct arena *, const struct ir_program *, const bool *wanted, bool *marks);

/* ---- superoperators ---- */

/* Does what print_kernel does (fused-kernels/loops/loops.h), in the text. */
void print_in_text(struct procedures_text *, const struct superop *, const struct held *params,
                   const struct held *outputs, bool keeps);

/* ---- copies: print-copies.c ---- */

/* Does the same for a superoperator of copies. Variables from `free_variable` on
 * are free. */
void print_copies(struct procedures_text *, const struct superop *, const struct held *params,
                  const struct held *outputs, uint32_t free_variable, bool keeps);
bool may_print_copies(struct arena *, const struct superop *);

/* ---- functions: print-function.c, function-*.c ---- */

static inline bool is_descriptor(const struct ir_kind *kind) {
  return kind->tag == IR_SEGDES;
}
/* "INT", "FLOAT", "uint8_t": elements. */
const char *type_of_kind(const struct ir_kind *);
/* Writes the head of a function, pF, up to the parenthesis that closes its parameters. */
void print_head(struct procedures_text *, uint32_t function);
/* Writes a template for each parameter of a function, by its form: the number is the
 * variable's. print_params declares them, each behind a comma. */
void put_params(const struct procedures_text *, uint32_t function,
                const char *const *templates);
void print_params(const struct procedures_text *, uint32_t function);
/* Writes what lists a call of a function, and makes it for another thread: function-work.c. */
void print_call_work(struct procedures_text *, uint32_t function);
void print_procedure(struct procedures_text *, uint32_t function);
/* Writes a variable of a function as an argument of this form. */
void print_argument(FILE *, const struct ir_kind *, ir_var, enum form has, enum form wanted);
/* Whether an operation is one that print_procedure knows. */
bool may_print_operation(struct arena *, const struct ir_binding *, const struct ir_function *);
/* ---- superoperators of one operation: operation.c ---- */

/* The superoperator for an operation on vectors, complete; NULL if it has none. */
const struct superop *operation_as_superop(struct arena *, const struct ir_binding *,
                                           const struct ir_function *);
/* The superoperator for a node of another one. Its parameters are the operands that are no
 * constants. NULL if it has none. */
const struct superop *node_as_superop(struct arena *, const struct superop *of,
                                      const struct superop_node *);

/* ---- results of calls that are in place: concatenation.c ---- */

/* Finds the calls of a block with which the function ends that append to its own results. */
void find_placed(const struct function_text *, const struct ir_block *, const uint32_t *uses);

/* ---- calls for ranges of instances: print-batch.c ---- */

/* Writes the head of the function that executes a range, fF, as print_head does. Its arguments
 * are vectors and starts of segments, its results buffers. */
void print_batch_head(struct procedures_text *, uint32_t lifted);
void print_batch(struct procedures_text *, uint32_t lifted);
/* Writes the entry (native.h); that of the program's entry function. */
void print_entry(struct procedures_text *, uint32_t lifted);
void print_main_entry(struct procedures_text *);

#endif
