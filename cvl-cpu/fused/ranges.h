/* ranges.h - superoperators by a compiled function for ranges of their positions, or of their
 * segments (fused-kernels/loops/range.h): threads take ranges, and call it. Private to this
 * folder.
 */
#ifndef RAVEL_CPU_FUSED_RANGES_H
#define RAVEL_CPU_FUSED_RANGES_H

#include "cvl-cpu/fused/plan.h"

/* Whether k->run, of which `one` is known, suits the function: what it was compiled for as one
 * segment, or as strides of 1, is. */
bool fused_ranges_suit(const struct cvl_kernel *);

/* Whether threads can share k->run: not where the last of several positions that write an
 * element counts, and it takes more than computing everything in each. */
bool fused_ranges_share(const struct cvl_kernel *, const struct cvl_value *operands);

enum ranges_outcome {
  RANGES_DONE,
  RANGES_UNFIT, /* nothing has been done: something is at fault, which evaluation reports */
  RANGES_FAILED /* no memory, or a stop, which is recorded */
};

enum ranges_outcome fused_ranges_run(struct cvl_kernel *, const struct cvl_value *operands);

#endif
