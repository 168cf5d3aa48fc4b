/* combine.h - reductions by a user-defined function in segments that cross ranks. */
#ifndef RAVEL_MPI_COMBINE_H
#define RAVEL_MPI_COMBINE_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

/* A superoperator that is one combination of reductions, with its constants. */
struct mpi_combination {
  const struct superop *op;
  struct cvl_kernel *inner; /* the kernel of the inner back end; NULL: that executes the
                               nodes one by one */
  uint64_t site;
  const uint32_t *column; /* for each parameter the output whose elements it has; SUPEROP_NONE:
                             it is a descriptor, or identities */
};

/* Executes the reductions on this rank's block; collective.
 *
 *    in   an inner value for each parameter, which is taken if it is owned: elements of this
 *         rank's block, identities of the view's segments; the descriptor of the reductions is
 *         not read
 *    out  for each output the segments that begin on this rank, not owned; CVL_NOTHING:
 * poisoned
 */
void combine_reduce(struct cvl_context *, const struct mpi_combination *, const struct view *,
                    struct cvl_value *in, struct cvl_value *out);

#endif
