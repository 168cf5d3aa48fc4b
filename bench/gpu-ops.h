/* gpu-ops.h - what the two halves of bench-gpu-ops share. */
#ifndef RAVEL_BENCH_GPU_OPS_H
#define RAVEL_BENCH_GPU_OPS_H

#include "bench/device.h"

/* in[0] + DIST of in[1]; in[0] + INDEX of in[1] by in[2]. */
bool run_dist_add(struct bench *, const struct work *, struct cvl_value *out);
bool run_index_add(struct bench *, const struct work *, struct cvl_value *out);

/* The segmented operations on n elements, in each shape of segments. */
void measure_shapes(struct device *, uint64_t n);

#endif
