/* combine-scan.h - scans by a user-defined function in segments that cross ranks. */
#ifndef RAVEL_MPI_COMBINE_SCAN_H
#define RAVEL_MPI_COMBINE_SCAN_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

struct combine_scan;

/* Prepares a superoperator, which must outlive the result, for such scans. Returns NULL if it
 * is not one combination of scans with a parameter for each column, or does anything else.
 * Returns NULL, too, if the inner back end lacks run_tiles. */
struct combine_scan *combine_scan_new(struct cvl_context *, const struct superop *);
void combine_scan_free(struct cvl_context *, struct combine_scan *); /* does nothing for NULL */

/* Executes the scans on this rank's block; collective.
 *
 *    kernel  the superoperator on the inner back end; NULL: there was no memory for it
 *    view    its blocks end at multiples of CVL_REDUCE_BLOCK from the beginnings of segments
 *    in      an inner value for each parameter, which is taken if it is owned: elements of this
 *            rank's block, identities of the view's segments; the descriptor is not read
 *    out     this rank's block of each output, not owned; CVL_NOTHING: poisoned */
void combine_scan_run(struct cvl_context *, uint64_t site, struct combine_scan *,
                      struct cvl_kernel *kernel, const struct view *, struct cvl_value *in,
                      struct cvl_value *out);

#endif
