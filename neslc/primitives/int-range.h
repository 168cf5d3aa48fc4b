/* int-range.h - which FLOATs have an INT: the arguments of floor, ceil, trunc, round and
 * float_to_any, for both ways to execute them. */
#ifndef RAVEL_NESLC_INT_RANGE_H
#define RAVEL_NESLC_INT_RANGE_H

#include "neslc/types/checks.h"
#include "neslc/types/core.h"
#include "vcode/vcode.h"

/* An argument x has an INT if `from` <= x (with `above`: from < x) and x < `to` (with
 * `through`: x <= to); NaN has none. Bounds are FLOATs of the run. */
struct int_range {
  double from, to;
  bool above, through;
  enum check check; /* the message */
};

/* The range of a primitive that converts; false for others. */
bool int_range_of(enum primitive, struct widths, struct int_range *);

static inline bool int_range_has(const struct int_range *r, double x) {
  return (r->above ? x > r->from : x >= r->from) && (r->through ? x <= r->to : x < r->to);
}

/* What the message says of an argument beyond the range: v * 10^w, v of two digits.
 *   w = FLOOR(LOG(|x|) * INT_RANGE_PER_LOG + INT_RANGE_ABOVE) - 1
 *   v = ROUND(x * EXP(w * INT_RANGE_PER_DIGIT))
 * Of NaN and the infinities both are the least INT. A power of ten is so far from the steps of
 * FLOOR and ROUND that the errors of LOG and EXP do not matter. */
#define INT_RANGE_PER_LOG   0.43429448190325183
#define INT_RANGE_ABOVE     0.005
#define INT_RANGE_PER_DIGIT (-2.302585092994046)

#endif
