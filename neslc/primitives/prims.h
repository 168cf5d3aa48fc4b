/* prims.h - declarations common to the files of primitives. Private to them. */
#ifndef RAVEL_NESLC_PRIMS_H
#define RAVEL_NESLC_PRIMS_H

#include "neslc/flatten/private.h"

/* A check whose text reports no numbers (it ends in {}). */
void emit_check(struct flattener *, ir_var flags, const char *text);
/* The elements of a plain sequence of scalars, one for each. */
ir_var element_scalars(struct flattener *, const struct rep *plain);
/* The constant, for each instance. */
ir_var each_int(struct flattener *, const struct context *, int64_t);
/* The primitives that move elements: prims-move.c. */
const struct rep *prim_move(struct flattener *, struct context *, enum primitive,
                            const struct rep *argument, struct type *type, struct type *result);

#endif
