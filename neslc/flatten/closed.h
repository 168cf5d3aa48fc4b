/* closed.h - what a body computes once for all instances. */
#ifndef RAVEL_NESLC_FLATTEN_CLOSED_H
#define RAVEL_NESLC_FLATTEN_CLOSED_H

#include "neslc/flatten/private.h"

/* Notes the value of an expression, or of a call, that is the same for all instances, while a
 * body is generated that may become a function. */
void closed_note(struct flattener *, const struct core *, const struct rep *value);
void closed_note_call(struct flattener *, const struct call *, const struct core *body,
                      const struct rep *value);
/* While the procedure is generated: that value, if it is known around the call and its
 * variables have the same values; else NULL. */
const struct rep *closed_find(struct flattener *, const struct context *, const struct core *);
const struct rep *closed_find_call(struct flattener *, const struct call *,
                                   const struct core *body);

#endif
