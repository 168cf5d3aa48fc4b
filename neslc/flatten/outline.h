/* outline.h - a body as a lifted function (ir/ir.h): made of the block into which
 * it was generated, so that it has the code that would stand there otherwise.
 *
 * What the body uses of each instance is bound to new variables, its *inputs*, while it is
 * generated. All else that the block mentions is the same for all instances. The inputs and
 * what is shared become parameters, what the value of the body consists of becomes results.
 */
#ifndef RAVEL_NESLC_FLATTEN_OUTLINE_H
#define RAVEL_NESLC_FLATTEN_OUTLINE_H

#include "neslc/flatten/private.h"

/* A variable of the function for one around it; or the number of instances. */
struct body_input {
  ir_var outer, inner;
  uint32_t
      of; /* IR_EACH, IR_SHARED for the first, or the input whose segments' elements it is */
};

/* The result of the function that a variable of the value is. */
struct body_output {
  ir_var inner;
  uint32_t of; /* IR_EACH, or the output whose segments' elements it is */
};

/* The origin of a variable's value. */
enum body_origin {
  FROM_BODY,   /* the function */
  FROM_AROUND, /* the code around the call */
  FROM_INPUT,  /* an input */
  FROM_COUNT   /* the number of instances, or a comparison of it: both */
};

struct outline {
  struct flattener *f;
  struct context *around; /* of the instances */
  struct context inside;  /* the same within the function */
  ir_var first;           /* variables below this are of the code around */
  ARRAY(struct body_input) inputs;
  struct flat_block *code;
  bool effects;            /* the body may have some, ... */
  enum code_effect effect; /* ... and has */
  uint8_t *froms;          /* enum body_origin, of each variable from `first` on */
  ARRAY(const struct ir_binding *) before; /* what is executed around it, before the call */
  struct ir_block body;                    /* the rest */
  ARRAY(struct body_output) outputs;
  const char *copied;     /* why some of the value would have to be: it "..." */
  ARRAY(ir_var) operands; /* of the call */
  ir_var end;             /* variables from here on are made after the body ... */
  ir_var apart; /* ... and from here on by the procedure, those before around the call */
  bool has_procedure;
  struct ir_block one;     /* its body, with its results */
  struct vars one_checked; /* those of its operations whose failure is a check */
};

/* Inputs for a value of the context around: the value that the body is generated with. */
const struct rep *outline_input(struct outline *, const struct rep *);
/* Whether all variables of a value are of the code around. */
bool outline_is_around(const struct outline *, const struct rep *);
/* Values that the body computes once for all instances (closed.c). */
struct closed_values {
  const struct outline
      *outline; /* of the body that is its procedure now; NULL: they are noted */
  const struct flat_block *block; /* of the body: values that belong to an arm are not noted */
  ARRAY(const struct closed_value *) list;
};

/* Begins: makes the context inside, and then the block. */
void outline_begin(struct outline *, struct flattener *, struct context *around);
/* Separates the code into that around the call and that of the function. */
void outline_separate(struct outline *);
/* Then: what computes the value of a variable. */
enum body_origin outline_from(const struct outline *, ir_var);
/* Finds the results that a value consists of; false if some of it would have to be copied, with
 * the reason in `copied`. */
bool outline_outputs(struct outline *, const struct rep *value);
/* Makes f->needed false for all variables. */
void outline_need_nothing(struct flattener *);
/* Removes what is not needed from the function. */
void outline_clean(struct outline *, size_t wanted);
/* Ends the block, and emits what is executed before the call. */
void outline_leave(struct outline *);
/* Makes the function and emits the call; the value around. `wanted` is the number of f->wanted
 * when the block was begun. */
const struct rep *outline_call(struct outline *, const struct rep *value, size_t wanted);

/* The procedure, behind outline_leave: outline-procedure.c. Its inputs are those of the
 * function, for one instance, in a block of its own. */
const struct rep *outline_one_input(struct outline *, const struct rep *input);
/* Makes the procedure of that block. `value` is the value of the body in the function, `one`
 * for one instance; `wanted` is the number of f->wanted when the block was begun. False if some
 * result of the function is not found in `one`. */
bool outline_procedure(struct outline *, const struct rep *value, const struct rep *one,
                       const struct flat_block *, size_t wanted);

/* Makes the function with its procedure, and the operands of its call: outline-function.c.
 * Returns its number. */
uint32_t outline_function(struct outline *, size_t wanted);

#endif
