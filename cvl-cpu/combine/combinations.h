/* combinations.h - the combinations of a superoperator, for who runs it. Private to fused/ and
 * this folder. */
#ifndef RAVEL_CPU_COMBINE_COMBINATIONS_H
#define RAVEL_CPU_COMBINE_COMBINATIONS_H

#include "cvl-cpu/fused/plan.h"

/* Operands of a combination's consumers, before which is the left result of the COLUMN. */
enum { COMBINE_VALUE = 1, COMBINE_IDENTITY = 2, COMBINE_INDEX = 2 };
/* How many combinations there are; describes them. */
uint32_t fused_combinations(const struct superop *);
void fused_combine_plan(struct cvl_kernel *);
/* Start of a run: identities; results. False: no memory, or a fault. */
void fused_combine_bind(struct cvl_kernel *, const struct cvl_value *operands);
bool fused_combine_results(struct cvl_kernel *);
/* Returns the bytes that a worker needs; the other function sets them up there. */
size_t fused_combine_worker_bytes(const struct cvl_kernel *);
void fused_combine_set_up(struct combine_worker *, char *memory);
/* Returns the bytes that all workers share; the other function sets them up. */
size_t fused_combine_common_bytes(const struct cvl_kernel *);
void fused_combine_lay_out(struct cvl_kernel *, char *memory);
/* Reduces `many` segments of a tile, the first one k, at position p, from which offsets are
 * counted. */
void fused_combine_group(struct combine_worker *, uint64_t k, uint64_t many, uint64_t p,
                         const uint64_t *offsets);
/* A tile of n elements, at position p, of the long segment that starts at a position. */
void fused_combine_tile(struct combine_worker *, uint64_t start, uint64_t p, uint64_t n);
/* The totals of all long segments, after all ranges. */
void fused_combine_finish(const struct combine_worker *);
/* The turn of a range, for scans: of its part 0 or 1. */
void fused_combine_totals(struct combine_worker *, const struct segment_range *, int number);
void fused_combine_advance(struct combine_worker *, const struct segment_range *, int number);
void fused_combine_write(struct combine_worker *, const struct segment_range *,
                         uint64_t segment, int number);
void fused_combine_scan(struct combine_worker *, uint64_t first, uint64_t last);
/* Executes a COMBINE_SCATTER whose first consumer is this node, after all ranges. */
bool fused_combine_scatter(struct cvl_kernel *, uint32_t node,
                           const struct cvl_value *operands);

#endif
