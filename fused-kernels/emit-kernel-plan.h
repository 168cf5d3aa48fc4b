/* emit-kernel-plan.h - functions for both the plan and the text of kernels. Private to this
 * room.
 */
#ifndef RAVEL_FUSED_EMIT_KERNEL_PLAN_H
#define RAVEL_FUSED_EMIT_KERNEL_PLAN_H

#include "fused-kernels/emit-kernel.h"

/* The descriptor that the index of a gather refers to. */
uint32_t kernel_far(const struct superop_node *);
/* Whether nodes of this task look up the segments of positions under descriptor v. The segment
 * of a slot is known. */
bool kernel_looks_up(const struct fused_kernel *, uint32_t v, enum fused_task);

/* Adds the members of packs: `add` has the member's kind and number, and a value of its type.
 */
typedef void kernel_add_member(struct fused_kernel *, enum fused_member_kind, uint32_t number,
                               uint32_t value);
void packs_add_members(struct fused_kernel *, kernel_add_member *add);

/* Whether a value is an operand of the kernel: a parameter, or the result of a loop that
 * another kernel executes. */
static inline bool kernel_is_operand(const struct fused_kernel *k, uint32_t v) {
  return k->schedule.definitions[v] == SUPEROP_NONE;
}
/* Whether the kernel of the last loop does the rest, too. */
bool loops_do_the_rest(const struct superop *);
/* Marks the nodes that a kernel which leaves this need neither execute nor check, because of
 * loops. */
void loops_mark_elsewhere(const struct superop *, unsigned leave, bool *is);
void loops_add_members(struct fused_kernel *, kernel_add_member *add);

/* Whether node k is a scan that has a kernel of its own; the first scatter of a group that has;
 * a scatter of such a group; whether it is in the group of `first`. */
bool scans_own(const struct superop *, uint32_t k);
bool scatters_own(const struct superop *, uint32_t k);
bool scatters_elsewhere(const struct superop *, uint32_t k);
bool scatters_in_group(const struct superop *, uint32_t first, uint32_t k);
/* The operands that a kernel of a group needs, a bit each. */
uint8_t scatters_operands(const struct superop *, uint32_t first, unsigned leave);
/* Whether a kernel of a group looks up the segments of sources under descriptor v. */
bool scatters_look_up(const struct fused_kernel *, uint32_t v);
void scatters_add_members(struct fused_kernel *, kernel_add_member *add);
/* Whether a node is a consumer that is executed apart where it has no kernel of its own. */
bool kernel_is_apart(const struct superop_node *);
/* The bytes that computing these values loads at a position: of parameters, and by gathers. All
 * that it needs becomes wanted, too; *checked: some of that may fail. */
size_t kernel_loaded(const struct superop *, bool *wanted, bool *checked);
/* Whether what a consumer needs may be computed by a kernel of its own, and again by another.
 */
bool kernel_is_light(const struct superop *);
enum { KERNEL_LIGHT_NODES = 24 }; /* more take many registers */

/* An empty plan, and room for it in the arena. */
void fused_kernel_room(struct arena *, const struct superop *, struct widths,
                       const struct tuning *, struct fused_kernel *);

#endif
