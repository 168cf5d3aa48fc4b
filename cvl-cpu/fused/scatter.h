/* scatter.h - scatters in ranges. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_SCATTER_H
#define RAVEL_CPU_FUSED_SCATTER_H

#include "cvl-cpu/fused/plan.h"

/* How threads share a run. */
enum fused_scattering {
  SCATTER_IN_RANGES,       /* each writes what its ranges say, or there are no scatters */
  SCATTER_BY_DESTINATIONS, /* each does all positions, and writes some of the destinations */
  SCATTER_APART            /* not by ranges */
};

/* Decides it. ordered: several positions may write an element. units: of the run. */
enum fused_scattering fused_scattering(const struct cvl_kernel *, bool ordered, uint64_t units);
/* How many parts the destinations have, if they are shared. */
uint64_t fused_scatter_parts(const struct cvl_kernel *);
/* Makes the results, and marks; frees the marks, and with `check` returns false if some element
 * is not marked, or there is no memory. */
bool fused_scatter_begin(struct cvl_kernel *, const struct cvl_value *operands);
bool fused_scatter_end(struct cvl_kernel *, bool check);

#endif
