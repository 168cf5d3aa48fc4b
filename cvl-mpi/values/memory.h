/* memory.h - memory of the host. */
#ifndef RAVEL_MPI_MEMORY_H
#define RAVEL_MPI_MEMORY_H

#include "cvl-mpi/private.h"

void *mpi_alloc(struct cvl_context *, size_t bytes);
/* Ends the job. One rank alone must not skip an allocation: the others would wait for it. */
_Noreturn void mpi_no_memory(const struct cvl_context *);
/* mpi_alloc allocates small, zeroed memory; it ends the job where memory runs out.
 * mpi_try_alloc allocates large memory, which is not zeroed; it returns NULL after a fault of
 * this rank. mpi_free takes memory of both, and NULL. It may keep large memory for the next
 * mpi_try_alloc. */
void *mpi_try_alloc(struct cvl_context *, uint64_t site, uint64_t bytes);
void mpi_free(struct cvl_context *, void *);
/* Frees all memory of mpi_try_alloc, used or kept. */
void mpi_rooms_free(struct cvl_context *);

#endif
