/* combine-scan.h - scans by a function of the program's own, in segments that go on on other
 * ranks.
 */
#ifndef RAVEL_MPI_COMBINE_SCAN_H
#define RAVEL_MPI_COMBINE_SCAN_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

struct combine_scan;

/* NULL if the superoperator, which has to live as long, is not one combination of scans, with a
 * parameter for each column and nothing else; or if the inner back end cannot go on with a scan
 * (run_tiles). */
struct combine_scan *combine_scan_new(struct cvl_context *, const struct superop *);
void combine_scan_free(struct cvl_context *, struct combine_scan *); /* NULL is fine */

/* `kernel`: the superoperator on the inner back end; NULL: there was no memory for it. The view
 * has blocks that end at multiples of CVL_REDUCE_BLOCK from the beginnings of segments. in:
 * inner values of each parameter, owned as that says: elements of this rank's block, identities
 * of the segments of the view; its descriptor is not looked at. Takes them. out[i]: this rank's
 * block of output i, not owned; CVL_NOTHING: poisoned. All ranks call it. */
void combine_scan_run(struct cvl_context *, uint64_t site, struct combine_scan *,
                      struct cvl_kernel *kernel, const struct view *, struct cvl_value *in,
                      struct cvl_value *out);

#endif
