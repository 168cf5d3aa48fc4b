/* values.h - vectors, and values of them. */
#ifndef RAVEL_MPI_VALUES_H
#define RAVEL_MPI_VALUES_H

#include "cvl-mpi/private.h"

/* Return a new vector of n elements in all. They take the reference to `at` and the inner
 * value `local`. mpi_vector returns `local` itself if that is a CVL_SCALAR on all ranks;
 * mpi_vector_object always makes an object, which may be deferred. */
struct cvl_value mpi_vector(struct cvl_context *, enum cvl_elem, uint64_t n,
                            struct distribution *at, struct cvl_value local);
struct cvl_value mpi_vector_object(struct cvl_context *, enum cvl_elem, uint64_t n,
                                   struct distribution *at, struct cvl_value local);
/* Returns a descriptor with these fields; takes what they refer to. */
struct cvl_value mpi_segdes(struct cvl_context *, struct cvl_segdes);

/* Sizes and element type of any value. */
uint64_t mpi_length(const struct cvl_value *);
uint64_t mpi_count(const struct cvl_value *);
enum cvl_elem mpi_elem(const struct cvl_value *);
/* Returns the element of a value that is a CVL_SCALAR on all ranks, else NULL. Such values are
 * the same on all ranks and not results of a fault, so ranks may branch on them. */
const struct cvl_value *mpi_certain(const struct cvl_value *);
/* Returns the distribution of a value; NULL if all ranks have all of it, as they do of
 * scalars. */
struct distribution *mpi_at(const struct cvl_value *);

/* The `retain` and `release` of the table. */
void mpi_retain(struct cvl_context *, const struct cvl_value *);
void mpi_release(struct cvl_context *, const struct cvl_value *);
/* Releases an operand if it is owned. */
void mpi_drop(struct cvl_context *, const struct cvl_value *);

/* Releases a value of the inner back end, which may be CVL_NOTHING, and sets it to
 * CVL_NOTHING. */
void release_inner(struct cvl_context *, struct cvl_value *);
/* Operands of the inner back end are values of it, which its operation takes if they are
 * `owned`. They are CVL_NOTHING where they are poisoned. inner_drop releases owned operands
 * that no operation has taken. */
void inner_drop(struct cvl_context *, const struct cvl_value *inner, unsigned n);
/* Returns this rank's inner value of a vector or descriptor. It takes the value out of the
 * vector if `may_take`, the operand is owned, and nobody else holds it. */
struct cvl_value inner_of(const struct cvl_value *, bool may_take);

/* Frees a vector and a descriptor that nobody refers to any more. Both may be NULL. */
void mpi_unwanted(struct cvl_context *, struct cvl_vector *, struct cvl_segdes *);
/* Frees all vectors and descriptors. */
void mpi_values_free(struct cvl_context *);

static inline struct cvl_value nothing(void) {
  return (struct cvl_value){.form = CVL_NOTHING};
}
static inline struct shift at_site(uint64_t site) {
  return (struct shift){.site = site};
}
/* Calls the inner back end, which takes owned operands. Poisoned results are CVL_NOTHING.
 * `present` says which operands the call has; NULL: all. */
void inner_call(struct cvl_context *, const struct cvl_call *, const bool *present,
                struct shift, struct cvl_value out[CALL_RESULTS]);
/* inner_slice returns elements first .. first + n, owned, and passes v as an operand.
 * inner_fill copies v into `target` from `first` on, and takes v. It returns false after a
 * fault, or if v is poisoned. */
struct cvl_value inner_slice(struct cvl_context *, uint64_t site, struct cvl_value v,
                             uint64_t first, uint64_t n);
bool inner_fill(struct cvl_context *, uint64_t site, const struct cvl_value *target,
                uint64_t first, struct cvl_value v);
/* Copies elements first .. first + n to the host. Returns false after a fault, or if v is
 * poisoned. */
bool inner_read(struct cvl_context *, uint64_t site, const struct cvl_value *v, uint64_t first,
                uint64_t n, void *to);
/* Returns the exact value of a size of the inner back end. */
uint64_t inner_size(struct cvl_context *, struct cvl_size);

/* A descriptor that is kept in its value, in the form of one with offsets. */
struct one_segment {
  struct cvl_segdes d;
  uint64_t offsets[2];
};
/* Returns the descriptor of a value, &one->d if it is kept in the value. */
struct cvl_segdes *segdes_of(const struct cvl_value *, struct one_segment *one);

#endif
