/* derive.h - bodies of the functions that follow the structure of a type: eql, select,
 * identity, order and ranks, _hash, string, and those of reading and writing values.
 *
 * At a ground argument type such a function is ordinary NESL: eql on [T] compares lengths and
 * then all({eql(a, b) : a in x; b in y}); string on [T] is seq_string({string(e) : e in x}).
 * The body is built as a core tree over library functions, so that flattener and direct
 * interpreter implement only the base cases.
 */
#ifndef RAVEL_NESLC_DERIVE_H
#define RAVEL_NESLC_DERIVE_H

#include "neslc/session.h"
#include "neslc/table.h"

struct derived {
  struct core_pattern *parameter; /* of the argument's type */
  struct core *body; /* NULL: a base case, which the caller executes itself: eql, select,
                        order and ranks of scalars, and no others */
  uint32_t local_count;
  bool shallow; /* the body is one call, of no function that follows the structure of a type */
};

/* Whether it follows the structure of its argument's type. */
bool is_derived(enum primitive);
/* The derived function of a primitive for a ground argument type, built once for each type:
 * `known` holds those built so far, in its arena; types must live as long. */
const struct derived *derive(struct session *, struct table *known, enum primitive,
                             struct type *argument);

#endif
