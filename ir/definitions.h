/* definitions.h - which binding each variable of a function is a result of. */
#ifndef RAVEL_IR_DEFINITIONS_H
#define RAVEL_IR_DEFINITIONS_H

#include "ir/ir.h"

/* Per variable its binding, NULL for a parameter; in the arena. Bindings are those in the
 * blocks: valid until a block is given others. */
struct ir_binding **ir_definitions(struct arena *, const struct ir_function *);

#endif
