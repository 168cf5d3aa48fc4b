/* emit-kernel-plan.h - functions for both the plan and the text of kernels. Private to this
 * room.
 */
#ifndef RAVEL_FUSED_EMIT_KERNEL_PLAN_H
#define RAVEL_FUSED_EMIT_KERNEL_PLAN_H

#include "fused-kernels/emit-kernel.h"

/* The descriptor of a position's segment, for a node that needs it; else SUPEROP_NONE. */
uint32_t kernel_near(const struct superop_node *);
/* The descriptor that the index of a gather refers to. */
uint32_t kernel_far(const struct superop_node *);
/* Whether the node is a DIST of a CONST: the same everywhere, whatever its descriptor. */
bool kernel_constant_spread(const struct superop *, const struct superop_node *);
/* Whether nodes of this task look up the segments of positions under descriptor v. The segment
 * of a slot is known. */
bool kernel_looks_up(const struct fused_kernel *, uint32_t v, enum fused_task);

/* An empty plan, and room for it in the arena. */
void fused_kernel_room(struct arena *, const struct superop *, struct widths,
                       struct fused_kernel *);
/* Whether the node is a consumer of a combination. */
bool kernel_is_tree(const struct superop_node *);
/* The value whose elements a reduction, or a consumer of a combination, combines. */
uint32_t kernel_combined(const struct superop *, const struct superop_node *);

#endif
