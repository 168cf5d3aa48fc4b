/* copy.h - a program in memory of its own, so that what its making left behind can be freed. */
#ifndef RAVEL_IR_COPY_H
#define RAVEL_IR_COPY_H

#include "ir/ir.h"

/* Copies a program that was not built from stack code and has no pairs; returns NULL for
 * others. Its memory is `to`. Elements of constants that are not in `from` are borrowed by
 * both, and so are source files and functions that origins name. Ends in memory_failed. */
struct ir_program *ir_copy(struct arena *to, const struct ir_program *,
                           const struct arena *from);

#endif
