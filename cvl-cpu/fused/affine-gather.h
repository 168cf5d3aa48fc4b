/* affine-gather.h - gathers by indices that are affine for a while. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_AFFINE_GATHER_H
#define RAVEL_CPU_FUSED_AFFINE_GATHER_H

#include "cvl-cpu/fused/worker.h"

/* Decides which indices may be affine at all, and which are in this run. */
void fused_affine_plan(struct cvl_kernel *);
void fused_affine_bind(struct cvl_kernel *);
/* Whether affine runs suit a gather by an INDEX, both bound. */
bool fused_affine_suits(const struct cvl_kernel *, uint32_t gather);
/* How many of n positions from `first` on belong to one affine run; sets w->gathered. */
uint64_t fused_affine_run(struct fused_worker *, uint64_t first, uint64_t n);
/* Whether the affine run gives the result of a step for these positions. */
bool fused_affine_has(struct fused_worker *, uint32_t node, uint64_t first, uint64_t n);
/* How many rows from this one on, at most `most`, are affine in all columns, and by columns
 * also contiguous there: their rectangles are w->rectangles from 0 on. By columns: sets
 * w->gathered for n rows of a column, whose buffers begin at position `first`; for positions
 * that are evaluated by all steps. */
uint64_t fused_affine_rows(struct fused_worker *, uint64_t row, uint64_t most);
void fused_affine_column(struct fused_worker *, uint64_t column, uint64_t first, uint64_t n);
void fused_affine_none(struct fused_worker *);
/* Returns the bytes that a worker needs; the other function sets them up there. */
size_t fused_affine_bytes(const struct cvl_kernel *);
void fused_affine_set_up(struct fused_worker *, char *memory);

#endif
