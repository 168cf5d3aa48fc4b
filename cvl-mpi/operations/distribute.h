/* distribute.h - the functions of the table for batch calls that are distributed. */
#ifndef RAVEL_MPI_DISTRIBUTE_H
#define RAVEL_MPI_DISTRIBUTE_H

#include "cvl-mpi/private.h"

bool mpi_distribute(struct cvl_context *, uint64_t site, struct cvl_distributed_call *);
void mpi_collect(struct cvl_context *, uint64_t site, struct cvl_distributed_call *, bool good,
                 uint32_t count, struct cvl_value *own, struct cvl_value *out);

#endif
