/* combine.h - reductions by a function of the program's own, in segments that go on on other
 * ranks.
 */
#ifndef RAVEL_MPI_COMBINE_H
#define RAVEL_MPI_COMBINE_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

/* A superoperator that is one combination of reductions, with its constants. */
struct combination {
  const struct superop *op;
  struct cvl_kernel *inner; /* of the inner back end; NULL: it executes the nodes */
  uint64_t site;
  const uint32_t *column; /* of each parameter: the output whose elements it has; SUPEROP_NONE:
                             it is a descriptor, or identities */
};

/* in: inner values of each parameter, owned as that says: elements of this rank's block,
 * identities of the segments of the view. Takes them; that of the descriptor of reductions is
 * not looked at. out[i]: of output i the segments that begin on this rank, not owned;
 * CVL_NOTHING: poisoned. All ranks call it. */
void combine_reduce(struct cvl_context *, const struct combination *, const struct view *,
                    struct cvl_value *in, struct cvl_value *out);

#endif
