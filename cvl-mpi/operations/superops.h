/* superops.h - the functions of the table for superoperators. */
#ifndef RAVEL_MPI_SUPEROPS_H
#define RAVEL_MPI_SUPEROPS_H

#include "cvl-mpi/operations/split.h"
#include "cvl/superop.h"

/* Prepares a superoperator. Returns NULL if every run would be node by node. */
struct cvl_kernel *mpi_prepare(struct cvl_context *, const struct superop *);
/* Prepares a step of another superoperator (split.h). `pieces` is SUPEROP_NONE, or a parameter
 * that nothing else uses: the descriptor of all reductions. Its segments may cross ranks.
 * Blocks then end between the tree's blocks of CVL_REDUCE_BLOCK elements, or anywhere for exact
 * reductions and for combinations. */
struct cvl_kernel *mpi_prepare_step(struct cvl_context *, const struct superop *,
                                    uint32_t pieces);
/* Frees a kernel. With RAVEL_MPI_EXPLAIN in the environment it prints how often the kernel was
 * executed in each way. */
void mpi_discard(struct cvl_context *, struct cvl_kernel *);
void mpi_prepared(struct cvl_context *);
void mpi_discard_step(struct cvl_context *, struct cvl_kernel *);
/* Returns the kernel's steps of this kind, if it was executed in some; else NULL. */
const struct split *mpi_split(const struct cvl_kernel *, enum split_at);
bool mpi_run(struct cvl_context *, uint64_t site, struct cvl_kernel *,
             const struct cvl_value *operands, struct cvl_value *outs);

#endif
