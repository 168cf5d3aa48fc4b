/* strip.h - evaluation of a strip. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_STRIP_H
#define RAVEL_CPU_FUSED_STRIP_H

#include "cvl-cpu/fused/worker.h"

/* Executes the steps for positions first .. first + n - 1, at most a strip.
 * False after a fault, which is recorded. */
bool fused_strip(struct fused_worker *, uint64_t first, uint64_t n);
/* Does what fused_strip does for n rows of a column. */
void fused_strip_column(struct fused_worker *, uint64_t first, uint64_t n);
/* Sets the walks of all steps to a position. */
void fused_walks_at(struct fused_worker *, uint64_t position);
/* The vectors to prefetch: first the parameters, then added ones. An added one is a parameter
 * whose elements are read in order, from `at` on for position 0. */
void fused_streams_begin(struct fused_worker *);
void fused_stream(struct fused_worker *, uint32_t param, const char *at);
/* Executes one step for such positions; returns n or the first faulting position, counted from
 * `first`. */
uint64_t fused_step(struct fused_worker *, uint32_t node, uint64_t first, uint64_t n);
/* Records a fault. */
void fused_note(struct cvl_kernel *, uint32_t node, uint64_t position);

#endif
