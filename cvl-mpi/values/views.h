/* views.h - what of a descriptor ranks know for vectors of one distribution. */
#ifndef RAVEL_MPI_VIEWS_H
#define RAVEL_MPI_VIEWS_H

#include "cvl-mpi/private.h"

/* Returns the view of a descriptor for elements of this distribution. The descriptor keeps it
 * until VIEWS - 1 others have been wanted. Returns NULL, on all ranks, if it is not available.
 */
const struct view *segdes_view(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                               struct distribution *at);
/* Returns the view for blocks whose ends have been moved from those of `near`, each within the
 * segment that crosses the end, or to the end of that segment. Takes the reference to `at`;
 * exchanges nothing. */
const struct view *segdes_view_near(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                                    const struct view *near, struct distribution *at);
void segdes_drop_views(struct cvl_context *, struct cvl_segdes *);

/* Return the segments that a rank's block touches (view->segments there), and those that begin
 * in it. */
struct mpi_range view_segments(const struct view *, unsigned rank);
struct mpi_range view_owned(const struct view *, unsigned rank);
/* Returns the rank on which the segment begins that crosses into the block of `rank`. */
unsigned view_beginner(const struct view *, unsigned rank);
/* Returns view->segments of all ranks; the caller frees them. */
struct mpi_range *view_ranges(struct cvl_context *, const struct view *);
/* Return whether the first segment of a rank's block begins before the block, and whether the
 * last one goes on behind it. */
bool view_comes_in(const struct view *, unsigned rank);
bool view_goes_on(const struct view *, unsigned rank);
/* Returns the index, within view->segments, of the segment that has a position of the block. */
uint64_t view_segment_at(const struct view *, uint64_t position);
/* Return where segment k of view->segments begins (k may be one more than the last: the end of
 * that), and how many of its elements are in this rank's block. */
uint64_t view_offset(const struct view *, uint64_t k);
uint64_t view_within(const struct view *, uint64_t k, struct mpi_range block);
/* Returns how many of the positions begin .. end are in a block. */
uint64_t within_block(uint64_t begin, uint64_t end, struct mpi_range block);

#endif
