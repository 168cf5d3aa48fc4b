/* ops.h - what the two halves of bench-ops share. */
#ifndef RAVEL_BENCH_OPS_H
#define RAVEL_BENCH_OPS_H

#include "bench/device.h"

/* in[0] + DIST of in[1]; in[0] + INDEX of in[1] by in[2]. */
bool run_dist_add(struct bench *, const struct work *, struct cvl_value *out);
bool run_index_add(struct bench *, const struct work *, struct cvl_value *out);

/* Bytes that RANK moves for an element of `size` bytes. */
double rank_bytes(double size);

/* The segmented operations on n elements, in each shape of segments. */
void measure_shapes(struct device *, uint64_t n);
/* RANK in the shapes of unequal segments. `ids`: whether the back end was opened with expanded
 * segment ids (RAVEL_CUDA_IDS), which says the name of the row. */
void measure_ranks_under(struct device *, uint64_t n, bool ids);

#endif
