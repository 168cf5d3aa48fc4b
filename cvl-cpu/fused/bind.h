/* bind.h - the start of a run: how each value is stored, given the operands. Private to this
 * folder. */
#ifndef RAVEL_CPU_FUSED_BIND_H
#define RAVEL_CPU_FUSED_BIND_H

#include "cvl-cpu/fused/plan.h"

/* Decides, given the operands, how every value is stored and which steps are
 * executed. Allocates nothing. */
void fused_bind(struct cvl_kernel *, const struct cvl_value *operands);
/* Repeats the constants that are spread, once for all runs; false: no memory. */
bool fused_repeat_constants(struct cvl_kernel *);
/* Writes n copies of an element. */
void fused_repeat(void *to, const void *one, size_t bytes, uint64_t n);
/* Computes the other uniform values; `room` has fused_room_bytes. */
size_t fused_room_bytes(const struct cvl_kernel *);
void fused_fill_room(struct cvl_kernel *, char *room);

/* Whether the index is j + *start at each position j < n, and in range: 0 <= index < limit. */
bool fused_counts_up(const struct fused_value *index, uint64_t n, uint64_t limit,
                     uint64_t *start);
/* Whether another parameter is the same vector: one may be borrowed and the other owned. */
bool fused_shared(const struct cvl_kernel *, const struct cvl_value *operands, uint32_t param);
/* The number of elements of a size of the superoperator, given the operands. */
uint64_t fused_size(const struct superop_size *, const struct cvl_value *operands);

#endif
