/* gather.h - gathers within a strip. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_GATHER_H
#define RAVEL_CPU_FUSED_GATHER_H

#include "cvl-cpu/fused/worker.h"

/* Finds the groups, and the gathers that may copy runs. */
void fused_gather_plan(struct cvl_kernel *);
/* Whether a gather copies runs in this run: its own operands and those of the INDEX are bound.
 */
bool fused_copies_runs(const struct cvl_kernel *, uint32_t gather);
/* Do what fused_step does, for a gather or pick, and for a gather of runs. */
uint64_t fused_gather(struct fused_worker *, uint32_t gather, uint64_t first, uint64_t n,
                      void *out);
uint64_t fused_copy_runs(struct fused_worker *, uint32_t gather, uint64_t first, uint64_t n,
                         char *out);
/* The index at a position of a gather of runs. */
int64_t fused_runs_index(const struct cvl_kernel *, uint32_t gather, uint64_t position);

/* Whether two nodes have the same operation, and the same operands except the first. */
static inline bool fused_same_index(const struct superop_node *a,
                                    const struct superop_node *b) {
  if (a->op != b->op) return false;
  for (unsigned i = 1; i < a->operand_count; i++) {
    if (a->operands[i] != b->operands[i]) return false;
  }
  return true;
}

#endif
