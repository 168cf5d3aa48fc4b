/* scatter.h - scatters by compiled functions. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_SCATTER_H
#define RAVEL_CPU_FUSED_SCATTER_H

#include "cvl-cpu/fused/plan.h"

/* Decides how scatters are executed, their operands bound; makes their
 * results; after all chunks, false if an index occurs twice, or there is no memory; frees the
 * marks. */
void fused_scatter_bind(struct cvl_kernel *);
bool fused_scatter_results(struct cvl_kernel *, const struct cvl_value *operands);
bool fused_scatter_finish(struct cvl_kernel *);
void fused_scatter_end(struct cvl_kernel *);
/* By ranges of the destinations: how many. After the results have been made. */
uint64_t fused_scatter_ranges(const struct cvl_kernel *);

#endif
