/* primitive.h - code for primitives (primitives/prims-*.c). */
#ifndef RAVEL_NESLC_FLATTEN_PRIMITIVE_H
#define RAVEL_NESLC_FLATTEN_PRIMITIVE_H

#include "neslc/flatten/private.h"

/* The value of a primitive; `type` is that of the argument, `result` of the result. */
const struct rep *flatten_primitive(struct flattener *, struct context *, enum primitive,
                                    const struct rep *argument, struct type *type,
                                    struct type *result);
const struct rep *prim_scalar(struct flattener *, struct context *, enum primitive,
                              const struct rep *argument, struct type *result);
const struct rep *prim_sequence(struct flattener *, struct context *, enum primitive,
                                const struct rep *argument, struct type *type,
                                struct type *result);
const struct rep *prim_effect(struct flattener *, struct context *, enum primitive,
                              const struct rep *argument, struct type *type,
                              struct type *result);
enum type_word type_to_word(struct type *ground);

#endif
