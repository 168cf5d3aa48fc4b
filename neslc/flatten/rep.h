/* rep.h - representations of values (private.h): made, lifted into contexts, copied. */
#ifndef RAVEL_NESLC_FLATTEN_REP_H
#define RAVEL_NESLC_FLATTEN_REP_H

#include "neslc/flatten/private.h"

const struct rep *rep_scalar(struct flattener *, enum type_word, ir_var, bool shared);
const struct rep *rep_pair(struct flattener *, const struct rep *, const struct rep *);
const struct rep *rep_pulled(struct flattener *, uint32_t function, const struct rep *captured,
                             const struct rep *length);
const struct rep *rep_sequence(struct flattener *, ir_var segdes, ir_var outer,
                               const struct rep *elements, bool shared);
/* A shared sequence of which the elements are known one by one. */
const struct rep *rep_with_parts(struct flattener *, const struct rep *,
                                 const struct rep *const *parts, uint32_t count);
const struct rep *rep_view(struct flattener *, const struct rep *base, ir_var owner);
/* A shared sequence of which is known that it is a series: copies of it need not be gathered.
 */
const struct rep *rep_series(struct flattener *, const struct rep *shared, ir_var start,
                             ir_var stride);
const struct rep *rep_nothing(struct flattener *);
/* Sets the elements of a sequence, where its descriptor is needed to compute them. */
void rep_set_elements(struct flattener *, struct rep *sequence, const struct rep *elements);
bool rep_all_shared(const struct rep *);
/* Whether both are of one form and consist of the same variables. */
bool rep_same(const struct rep *, const struct rep *);

/* The lengths of a view's sequences; `one`: the descriptor of its context. */
ir_var view_lengths(struct flattener *, const struct rep *view, ir_var one);
/* For a sequence that is no view: the lengths of its segments; their offsets; a descriptor of
 * one segment over all elements. */
ir_var seq_lengths(struct flattener *, const struct rep *);
ir_var seq_offsets(struct flattener *, const struct rep *);
ir_var seq_elements_one(struct flattener *, const struct rep *);
/* A descriptor of one segment with this length (an INT scalar). */
ir_var one_segment(struct flattener *, ir_var length);

/* A scalar with one element for each instance of the context (unchanged in the serial
 * context). */
ir_var rep_each_scalar(struct flattener *, const struct context *, const struct rep *);
/* A sequence that is no view, and not shared unless the context is serial. Elements may still
 * be views or shared. */
const struct rep *rep_plain(struct flattener *, const struct context *, const struct rep *);
/* Copies the elements of a view; a shared sequence stays shared. */
const struct rep *rep_no_view(struct flattener *, const struct context *, const struct rep *);
/* Nothing shared, no views, at any level: the columns of value.h. */
const struct rep *rep_physical(struct flattener *, const struct context *, const struct rep *);
/* The context that has one instance for each element. */
struct context context_elements(struct flattener *, const struct rep *plain);

/* The instances `index` (absolute; as many as `to` has) of a value with the instances of `from`
 * (descriptors of one segment). */
const struct rep *rep_gather(struct flattener *, const struct rep *, ir_var index, ir_var from,
                             ir_var to);
/* A gather by index and descriptors of matching segments. The absolute index is computed only
 * where sequences need it. */
struct gather {
  ir_var index, from, to; /* as BPERMUTE takes them */
  bool flagged;           /* where `flags` is F, nothing is read, and the value is 0 */
  ir_var flags;
  ir_var base;   /* absolute index = index + base distributed over `to`; base has
                    one value for each segment */
  bool absolute; /* index is absolute already */
};
const struct rep *rep_gather_by(struct flattener *, const struct rep *, const struct gather *);

/* Combines sources into one value with the instances of `dest` (a descriptor of one segment).
 * Each source gives the destination index of each of its instances; together they cover `dest`.
 * Sources are not shared (rep_physical). */
struct merge_source {
  const struct rep *rep;
  ir_var index; /* destinations */
  ir_var one;   /* descriptor of one segment over its instances */
};
const struct rep *rep_merge(struct flattener *, const struct merge_source *, unsigned count,
                            ir_var dest);

/* Lifts a value into a context inside its own. */
const struct rep *context_lift(struct flattener *, const struct rep *,
                               const struct context *from, const struct context *to);

/* Columns of physical values (value.h) and of arguments of specialisations. */
void rep_columns(const struct rep *physical, struct vars *);
const struct rep *rep_from_columns(struct flattener *, struct type *, ir_var outer, bool shared,
                                   const ir_var **next);
void type_kinds(struct flattener *, struct type *, const struct ir_kind ***, uint32_t *count);
/* Appends the layout of one value's columns, as in struct ir_program; indices count from the
 * first entry of `out`. */
void type_layout(struct flattener *, struct type *, struct vars *out);
/* The type of the tuple of captured values of a function type; NULL if it captured nothing. */
struct type *type_captured(struct flattener *, struct type *function);
const struct rep *rep_empty(struct flattener *, struct type *); /* physical, no instances */
/* An argument in the form that specialisations take: outermost sequences are shared, plain or
 * views; what they contain is physical. Its columns, and parameters of that form. */
const struct rep *rep_argument(struct flattener *, const struct context *, const struct rep *);
const char *rep_signature(struct flattener *, const struct rep *argument);
void rep_argument_columns(const struct rep *argument, struct vars *);
const struct rep *rep_parameters(struct flattener *, const struct rep *shape, ir_var one);
/* Make parameters as rep_parameters does, in two steps, for parameters of several contexts: the
 * variables of all come first.
 */
const struct rep *rep_parameter_variables(struct flattener *, const struct rep *shape);
const struct rep *rep_parameters_finished(struct flattener *, const struct rep *, ir_var one);
/* A value of the host as constants. */
const struct rep *rep_constant(struct flattener *, const struct nesl_value *);

#endif
