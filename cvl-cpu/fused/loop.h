/* loop.h - loops, within a strip. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_LOOP_H
#define RAVEL_CPU_FUSED_LOOP_H

#include "cvl-cpu/fused/worker.h"

/* Executes the loop whose first CARRY is the live step *step; then *step is its
 * last. False if it was stopped, which is recorded. */
bool fused_loop(struct fused_worker *, uint32_t *step, uint64_t first, uint64_t n);

#endif
