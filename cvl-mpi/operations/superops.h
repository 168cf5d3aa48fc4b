/* superops.h - the functions of the table for superoperators. */
#ifndef RAVEL_MPI_SUPEROPS_H
#define RAVEL_MPI_SUPEROPS_H

#include "cvl-mpi/operations/split.h"
#include "cvl/superop.h"

/* NULL where every run would be node by node. */
struct cvl_kernel *mpi_prepare(struct cvl_context *, const struct superop *);
/* The same of a step of another one (split.h). pieces: the descriptor of all reductions, a
 * parameter that nothing else has, whose segments may go on on other ranks, as blocks end
 * between blocks of CVL_REDUCE_BLOCK of them, or, if they are combinations, anywhere; or
 * SUPEROP_NONE. */
struct cvl_kernel *mpi_prepare_step(struct cvl_context *, const struct superop *,
                                    uint32_t pieces);
/* Prints, with RAVEL_MPI_EXPLAIN in the environment, how it was executed. */
void mpi_discard(struct cvl_context *, struct cvl_kernel *);
void mpi_prepared(struct cvl_context *);
void mpi_discard_step(struct cvl_context *, struct cvl_kernel *);
/* Its steps at these, if it was executed in some. */
const struct split *mpi_split(const struct cvl_kernel *, enum split_at);
bool mpi_run(struct cvl_context *, uint64_t site, struct cvl_kernel *,
             const struct cvl_value *operands, struct cvl_value *outs);

#endif
