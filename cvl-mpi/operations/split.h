/* split.h - superoperators in steps: nodes that communicate are executed one by one, and the
 * nodes between them are fused on each rank.
 */
#ifndef RAVEL_MPI_SPLIT_H
#define RAVEL_MPI_SPLIT_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

#include <stdio.h>

/* The nodes that are executed by themselves. */
enum split_at {
  SPLIT_AT_EXCHANGES,     /* scatters, which are never fused, and gathers */
  SPLIT_AT_LONG_SEGMENTS, /* scans and combinations, for segments that cross ranks; reductions
                             are by pieces then, unless something is packed */
  SPLIT_KINDS
};

struct split;

/* Splits a superoperator, which must outlive the result. Returns NULL if no two nodes would be
 * fused. */
struct split *split_new(struct cvl_context *, const struct superop *, enum split_at);
void split_free(struct cvl_context *, struct split *); /* does nothing for NULL */
/* Returns whether there is only one step, of reductions by pieces, which is executed whole. */
bool split_is_one(const struct split *);
/* Prints the nodes of a kernel's steps that are executed one by one: ": BPERMUTE, +_SCAN". */
void split_print(FILE *, const struct cvl_kernel *);
/* Executes the steps, as `run` of the contract does. */
bool split_run(struct cvl_context *, uint64_t site, const struct split *,
               const struct cvl_value *operands, struct cvl_value *outs);

#endif
