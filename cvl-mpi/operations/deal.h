/* deal.h - the functions of the table for calls by instances that are dealt out. */
#ifndef RAVEL_MPI_DEAL_H
#define RAVEL_MPI_DEAL_H

#include "cvl-mpi/private.h"

bool mpi_deal(struct cvl_context *, uint64_t site, struct cvl_deal *);
void mpi_collect(struct cvl_context *, uint64_t site, struct cvl_deal *, bool good,
                 uint32_t count, struct cvl_value *own, struct cvl_value *out);

#endif
