/* emit-helpers.h - functions that emitted C and CUDA call: FLOAT sums and products in the
 * reproducible tree of cvl.h, and positions under descriptors. Private to this room.
 */
#ifndef RAVEL_FUSED_EMIT_HELPERS_H
#define RAVEL_FUSED_EMIT_HELPERS_H

#include "fused-kernels/emit-expression.h"

/* "add", "mul", "max" ...: how the functions for a combination are called; the class follows.
 */
const char *emit_combination_name(const struct combine_row *);
/* Whether the order matters: the tree is needed. */
bool emit_is_ordered(const struct superop_node *);
/* All functions that any of the superoperators calls, each once; `cuda`: and kernels. */
void emit_helpers(const struct superop *const *, uint32_t count, struct widths, bool cuda,
                  FILE *);

#endif
