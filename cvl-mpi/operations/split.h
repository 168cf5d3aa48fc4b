/* split.h - a superoperator in steps: what communicates is executed by itself, what is between
 * is fused on each rank. */
#ifndef RAVEL_MPI_SPLIT_H
#define RAVEL_MPI_SPLIT_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

#include <stdio.h>

/* What is executed by itself: */
enum split_at {
  SPLIT_AT_EXCHANGES,     /* scatters, which are never fused, and gathers */
  SPLIT_AT_LONG_SEGMENTS, /* scans and combinations, for segments of several ranks; reductions
                             are of pieces then, if nothing is packed */
  SPLIT_KINDS
};

struct split;

/* NULL if no two nodes are left to be fused. The superoperator has to live as long. */
struct split *split_new(struct cvl_context *, const struct superop *, enum split_at);
void split_free(struct cvl_context *, struct split *); /* NULL is fine */
/* Whether it is one step, of reductions by pieces, which has been executed whole. */
bool split_is_one(const struct split *);
/* What of a kernel's steps is executed by itself, or node by node: ": BPERMUTE, +_SCAN". */
void split_print(FILE *, const struct cvl_kernel *);
/* As the contract's `run`. */
bool split_run(struct cvl_context *, uint64_t site, const struct split *,
               const struct cvl_value *operands, struct cvl_value *outs);

#endif
