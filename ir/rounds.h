/* rounds.h - the rules of functions of a loop for many instances, for ir_build and ir_verify.
 */
#ifndef RAVEL_IR_ROUNDS_H
#define RAVEL_IR_ROUNDS_H

#include "ir/ir.h"

/* Returns whether any function of the program has a mark. */
bool rounds_any(const struct ir_program *);
/* Returns the first rule (ir.h) that function f, which has let-form, breaks, in words that
 * follow its name; NULL if it keeps all. The text is the arena's, or static. */
const char *rounds_fault(struct arena *, const struct ir_program *, uint32_t f);

#endif
