/* ranges.h - a run of a superoperator: threads take ranges of its positions, or of its
 * segments, which a compiled function executes (fused-kernels/loops/range.h), or which are
 * evaluated (strips/strips.h). Private to this folder.
 */
#ifndef RAVEL_CPU_FUSED_RANGES_H
#define RAVEL_CPU_FUSED_RANGES_H

#include "cvl-cpu/fused/plan.h"

/* Whether k->run, of which `one` is known, suits the compiled function: what it was compiled
 * for as one segment, or as strides of 1, is. */
bool fused_ranges_suit(const struct cvl_kernel *);

enum ranges_outcome {
  RANGES_DONE,
  /* nothing has been done: something is at fault; or the last of several positions that write
   * an element counts, and threads cannot share that */
  RANGES_UNFIT,
  RANGES_FAILED /* no memory, or a stop, which is recorded */
};

/* As k->run.way says: BY_STRIPS, or BY_FUNCTION. */
enum ranges_outcome fused_ranges_run(struct cvl_kernel *, const struct cvl_value *operands);

#endif
