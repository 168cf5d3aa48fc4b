/* concatenate.h - scatters of contiguous vectors: concatenations. Private to this folder and
 * combine/. */
#ifndef RAVEL_CPU_FUSED_CONCATENATE_H
#define RAVEL_CPU_FUSED_CONCATENATE_H

#include "cvl-cpu/fused/plan.h"

/* _plan finds the scatters that may be concatenations. _bind decides which are
 * in this run, after their operands are bound. */
void fused_concatenate_plan(struct cvl_kernel *);
void fused_concatenate_bind(struct cvl_kernel *, uint32_t scatter,
                            const struct cvl_value *operands);
/* One consumer less needs the value. */
void fused_drop_use(struct fused_value *);
/* Whether flags are uniform and T. */
bool fused_is_true(const struct fused_value *flags);
/* Makes the result of v->concatenated_by, for v to be written to. */
bool fused_concatenate_room(struct cvl_kernel *, struct fused_value *v,
                            const struct cvl_value *operands);
/* Executes a concatenated scatter, after all steps. */
bool fused_concatenate(struct cvl_kernel *, uint32_t scatter, const struct cvl_value *operands);

#endif
