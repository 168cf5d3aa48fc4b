/* int-range.c - the bounds of conversions to INT, exact in the FLOATs of the run. */
#include "neslc/primitives/int-range.h"

#include <math.h>

/* The arguments of each primitive, exactly: floor takes least <= x < greatest + 1, ceil
 * least - 1 < x <= greatest, trunc least - 1 < x < greatest + 1, round
 * least - 1/2 <= x < greatest + 1/2. */
struct slack {
  enum primitive primitive;
  double below, beyond; /* how far arguments may be outside */
  bool above, through;  /* as in int_range */
  enum check check;
};

static const struct slack slacks[] = {
    {PRIM_FLOOR, 0, 1, false, false, CHECK_FLOOR_RANGE},
    {PRIM_CEIL, 1, 0, true, true, CHECK_CEIL_RANGE},
    {PRIM_TRUNC, 1, 1, true, false, CHECK_TRUNC_RANGE},
    {PRIM_ROUND, 0.5, 0.5, false, false, CHECK_ROUND_RANGE},
    {PRIM_FLOAT_TO_ANY, 0.5, 0.5, false, false, CHECK_ANY_RANGE}};

/* A bound that the FLOATs do not have lies between the power of two and the next FLOAT: then
 * the power itself decides. `power`: 2^(BITS - 1); `offset` is exact. */
static double nearest_bound(double power, double offset, bool narrow, bool *exact) {
  const double bound = power + offset;
  *exact = bound - power == offset && (!narrow || (double)(float)bound == bound);
  return *exact ? bound : power;
}

bool int_range_of(enum primitive p, struct widths widths, struct int_range *range) {
  const size_t count = sizeof slacks / sizeof *slacks;
  const double power = widths.int_elem == CVL_I32 ? 0x1p31 : 0x1p63;
  const bool narrow = widths.float_elem == CVL_F32;
  size_t i = 0;
  bool least_exact, greatest_exact;
  while (i < count && slacks[i].primitive != p) i++;
  if (i == count) return false;
  const struct slack *s = &slacks[i];
  range->from = nearest_bound(-power, -s->below, narrow, &least_exact);
  range->to = nearest_bound(power, s->beyond - 1, narrow, &greatest_exact);
  range->above = least_exact && s->above;
  range->through = greatest_exact && s->through;
  range->check = s->check;
  return true;
}
