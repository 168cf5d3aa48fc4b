/* copy.h - a program in memory of its own, so that what its making left behind can be freed. */
#ifndef RAVEL_IR_COPY_H
#define RAVEL_IR_COPY_H

#include "ir/ir.h"

/* A copy of a program that was not built from stack code and has no pairs; else NULL. Its
 * memory is `to`; elements of constants that are not `from`'s are borrowed by both. Source
 * files and functions that origins name are borrowed. Ends in memory_failed. */
struct ir_program *ir_copy(struct arena *to, const struct ir_program *,
                           const struct arena *from);

#endif
