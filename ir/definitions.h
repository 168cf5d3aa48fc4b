/* definitions.h - the binding that defines each variable of a function. */
#ifndef RAVEL_IR_DEFINITIONS_H
#define RAVEL_IR_DEFINITIONS_H

#include "ir/ir.h"

/* Returns for each variable the binding that defines it, NULL for a parameter. The array is the
 * arena's; the pointers are into the blocks and valid until a block gets other bindings. */
struct ir_binding **ir_definitions(struct arena *, const struct ir_function *);

#endif
