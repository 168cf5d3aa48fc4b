/* expressions.h - code for expressions (flatten.c, each.c, if.c, list.c, serial.c, split.c). */
#ifndef RAVEL_NESLC_FLATTEN_EXPRESSIONS_H
#define RAVEL_NESLC_FLATTEN_EXPRESSIONS_H

#include "neslc/flatten/private.h"

const struct rep *flatten(struct flattener *, struct context *, const struct core *);
const struct rep *flatten_each(struct flattener *, struct context *, const struct core *);
/* Whether an apply-to-each is {* ... } and its elements have to be evaluated one after the
 * other; then: from its sources, which are plain and of one length. serial.c */
bool is_serial_each(struct flattener *, const struct context *, const struct core *);
const struct rep *flatten_serial_each(struct flattener *, struct context *, const struct core *,
                                      const struct rep *const *sources);
const struct rep *flatten_if(struct flattener *, struct context *, const struct core *);
/* Flattens an `if` whose condition has been evaluated. */
const struct rep *flatten_branches(struct flattener *, struct context *, const struct core *,
                                   const struct rep *condition);
/* Flags of a check, which count where the mask is T. */
ir_var masked_check(struct flattener *, ir_var flags);
/* An IF whose condition is not the same for all instances. */
const struct rep *flatten_split(struct flattener *, struct context *, const struct core *,
                                ir_var flags);
const struct rep *flatten_list(struct flattener *, struct context *, const struct core *);
/* The list of n > 0 values of a context, of this ground type. */
const struct rep *list_of(struct flattener *, const struct context *, struct type *,
                          const struct rep *const *values, size_t n);
const struct rep *flatten_apply(struct flattener *, struct context *, const struct core *);
/* An application of a named function whose argument has been evaluated. */
const struct rep *flatten_call(struct flattener *, struct context *, const struct core *,
                               const struct rep *argument);
void bind_pattern(struct flattener *, struct context *, const struct core_pattern *,
                  const struct rep *);
void bind_local(struct flattener *, struct context *, const struct local *, const struct rep *);
/* An is_closed expression, evaluated once if the context has instances. */
const struct rep *flatten_closed(struct flattener *, struct context *, const struct core *);
struct type *ground(struct flattener *, struct type *);
/* The value of an expression that consists of literals; false if it does not. */
bool literal_value(struct flattener *, const struct core *, struct nesl_value *);
/* A shared value of the type whose contents are not used. */
const struct rep *rep_placeholder(struct flattener *, struct type *);
/* Code that runs only if the context has instances, with shared results: `body` is generated in
 * the serial context. */
const struct rep *flatten_if_any(struct flattener *, struct context *, struct type *result,
                                 const struct rep *(*body)(struct flattener *, void *),
                                 void *closure);

#endif
