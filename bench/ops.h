/* ops.h - functions that the two halves of bench-ops share. */
#ifndef RAVEL_BENCH_OPS_H
#define RAVEL_BENCH_OPS_H

#include "bench/device.h"

/* Compute in[0] + DIST of in[1], and in[0] + INDEX of in[1] by in[2]. */
bool run_dist_add(struct bench *, const struct work *, struct cvl_value *out);
bool run_index_add(struct bench *, const struct work *, struct cvl_value *out);

/* Returns the bytes that RANK moves for an element of `size` bytes. */
double rank_bytes(double size);

/* Measures the segmented operations on n elements, in each shape of segments. */
void measure_shapes(struct device *, uint64_t n);
/* Measures RANK in the shapes of unequal segments. `ids` says whether the back end was opened
 * with expanded segment ids (RAVEL_CUDA_IDS); the name of the row shows it. */
void measure_ranks_under(struct device *, uint64_t n, bool ids);

#endif
