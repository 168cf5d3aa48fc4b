/* liveness.h - computes last uses, or compares them with those that a function has. */
#ifndef RAVEL_IR_LIVENESS_H
#define RAVEL_IR_LIVENESS_H

#include "ir/ir.h"

struct liveness_fault {
  struct source_pos pos; /* of the instruction, or of the block's IF */
  const char *what;      /* "last use of an operand" ... */
  ir_var var;
};

/* Computes the liveness of f, which is typed and keeps the rules of scope. With an arena the
 * flags and drops are written, drops ascending; without one they are compared, and the first
 * difference is put in *fault (false is returned). Working memory is from scratch. */
bool liveness_of(struct arena *scratch, struct arena *arena, const struct ir_function *f,
                 struct liveness_fault *fault);

#endif
