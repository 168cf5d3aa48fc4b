/* moves.h - elements moved to other ranks. Functions borrow v; their results are owned by the
 * caller or borrowed from v. Collective. */
#ifndef RAVEL_MPI_MOVES_H
#define RAVEL_MPI_MOVES_H

#include "cvl-mpi/private.h"

/* Returns elements ranges[r] on rank r; ranges may overlap. If all ranks want all elements for
 * the second time, they keep a copy, and later calls read that. */
struct cvl_value move_kept(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                           const struct mpi_range *ranges);
/* Drop the copy of a vector that is freed, or all copies. */
void copy_drop(struct cvl_context *, struct cvl_vector *);
void copies_drop(struct cvl_context *);
/* Return all elements on all ranks. move_all sends those of a vector in blocks anew;
 * move_whole takes any value and may return a kept copy. */
struct cvl_value move_all(struct cvl_context *, uint64_t site, const struct cvl_value *v);
struct cvl_value move_whole(struct cvl_context *, uint64_t site, const struct cvl_value *v);
/* Returns the elements that this rank has under `at`. */
struct cvl_value move_to(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                         struct distribution *at, bool may_take);
/* Returns elements ranges[r] on rank r; ranges may overlap. */
struct cvl_value move_ranges(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                             const struct mpi_range *ranges);
/* Returns a copy of inner elements in the host's memory, which the caller frees; takes v.
 * NULL: poisoned. device_elements is the inverse: its result is not owned, and CVL_NOTHING if
 * data is NULL. */
void *host_elements(struct cvl_context *, uint64_t site, struct cvl_value v, uint64_t n,
                    size_t bytes);
/* Elements readable by the host: exported by the inner back end if it can, else copied. They
 * stay until host_elements_end. host_elements_of takes v. */
struct host_elements {
  const void *data; /* NULL: poisoned */
  void *copy;
  struct cvl_export exported;
};
struct host_elements host_elements_of(struct cvl_context *, uint64_t site, struct cvl_value v,
                                      uint64_t n, size_t bytes);
void host_elements_end(struct cvl_context *, struct host_elements *);
struct cvl_value device_elements(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                                 const void *data);
/* Sends elements of so many bytes to each rank, and receives from each, in the order of ranks.
 * from = NULL sends zeros; to = NULL drops what is received. */
void exchange_elements(struct cvl_context *, size_t bytes, const void *from,
                       const uint64_t *from_counts, void *to, const uint64_t *to_counts);
/* Completes answers[0 .. n), each of so many bytes: before the call answers[i] is set on rank
 * holder[i], afterwards on all ranks. All ranks know `holder`. */
void gather_answers(struct cvl_context *, uint64_t n, const unsigned *holder, size_t bytes,
                    void *answers);
/* Returns this rank's block of inner elements that all ranks have; takes `whole`. */
struct cvl_value keep_block(struct cvl_context *, uint64_t site, struct cvl_value whole,
                            struct mpi_range block);

#endif
