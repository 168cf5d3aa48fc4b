/* instances.h - the rules of lifted functions and of their procedures, for ir_build and
 * ir_verify. */
#ifndef RAVEL_IR_INSTANCES_H
#define RAVEL_IR_INSTANCES_H

#include "ir/ir.h"

/* Returns whether any function of the program is lifted. */
bool instances_any(const struct ir_program *);

/* Returns for each function the effects that executing it may have, its callees included: a set
 * of enum instances_effect. */
uint8_t *instances_effects(struct arena *, const struct ir_program *);

/* Returns the first rule (ir.h) that function f, which has let-form, breaks with this mark, in
 * words that follow its name; NULL if it keeps all. `effects` are those of instances_effects.
 * The text is the arena's, or static. */
const char *instances_fault(struct arena *, const struct ir_program *, uint32_t f,
                            const struct ir_instances *, const uint8_t *effects);

/* Returns the first rule of procedures (ir.h) that the link of function f, which is lifted,
 * breaks, likewise; NULL if it keeps all. */
const char *procedure_fault(struct arena *, const struct ir_program *, uint32_t f,
                            const uint8_t *effects);

#endif
