/* superops.h - the functions of the table for superoperators. */
#ifndef RAVEL_MPI_SUPEROPS_H
#define RAVEL_MPI_SUPEROPS_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

/* NULL where every run would be node by node. */
struct cvl_kernel *mpi_prepare(struct cvl_context *, const struct superop *);
void mpi_discard(struct cvl_context *, struct cvl_kernel *);
bool mpi_run(struct cvl_context *, uint64_t site, struct cvl_kernel *,
             const struct cvl_value *operands, struct cvl_value *outs);

#endif
