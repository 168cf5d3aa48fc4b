/* hosts.h - the functions of the table for values from and to the host's memory, and slices. */
#ifndef RAVEL_MPI_HOSTS_H
#define RAVEL_MPI_HOSTS_H

#include "cvl-mpi/private.h"

/* Agrees on faults, and completes a value that is to be read. Returns false if there is a
 * fault. */
bool agree_on(struct cvl_context *, const struct cvl_value *);
bool mpi_from_host(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   const void *data, struct cvl_value *out);
bool mpi_segdes_from_host(struct cvl_context *, uint64_t site, uint64_t n,
                          const int64_t *lengths, struct cvl_value *out);
bool mpi_import(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                const void *data, struct cvl_notice done, struct cvl_value *out);
bool mpi_to_host(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                 void *dst);
bool mpi_scalar(struct cvl_context *, const struct cvl_value *, struct cvl_value *out);
bool mpi_from_first(struct cvl_context *, bool mine, void *data, uint64_t bytes);
bool mpi_own_range(struct cvl_context *, const struct cvl_value *, uint64_t *first,
                   uint64_t *n);
bool mpi_read_own(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                  void *dst);
bool mpi_slice(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t first,
               uint64_t n, struct cvl_value *out);
bool mpi_allocate(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                  struct cvl_value *out);
bool mpi_fill(struct cvl_context *, uint64_t site, const struct cvl_value *target,
              uint64_t first, const struct cvl_value *);
bool mpi_concatenate(struct cvl_context *, uint64_t site, uint64_t n,
                     const struct cvl_value *descriptors, struct cvl_value *out);

#endif
