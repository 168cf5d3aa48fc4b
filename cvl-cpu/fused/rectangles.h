/* rectangles.h - whole rows, by rectangles of affine runs. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_RECTANGLES_H
#define RAVEL_CPU_FUSED_RECTANGLES_H

#include "cvl-cpu/fused/worker.h"

/* Whether this run, in which some gather is affine, may execute whole rows
 * by rectangles. Executes rows from a position on, of n positions at most: returns how many
 * positions, 0 if it does not begin a row, or not here. */
bool fused_rectangles_suit(const struct cvl_kernel *);
uint64_t fused_rectangles(struct fused_worker *, uint64_t first, uint64_t n);

#endif
