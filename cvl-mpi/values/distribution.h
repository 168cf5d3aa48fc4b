/* distribution.h - which elements each rank has. */
#ifndef RAVEL_MPI_DISTRIBUTION_H
#define RAVEL_MPI_DISTRIBUTION_H

#include "cvl-mpi/private.h"

/* These functions return a reference that the caller owns. Where memory runs out the job ends,
 * since distributions are small. */
struct distribution *distribution_canonical(struct cvl_context *, uint64_t n);
/* Makes the distribution where rank r has counts[r] elements. */
struct distribution *distribution_of_counts(struct cvl_context *, const uint64_t *counts);
/* Makes the distribution of elements first .. first + n when they stay where they are. */
struct distribution *distribution_slice(struct cvl_context *, const struct distribution *,
                                        uint64_t first, uint64_t n);
struct distribution *distribution_retain(struct distribution *);
void distribution_release(struct distribution *); /* does nothing for NULL */
bool distribution_same(const struct distribution *, const struct distribution *);
struct mpi_range distribution_range(const struct distribution *, unsigned rank);
/* Returns the rank that has a position. */
unsigned distribution_owner(const struct distribution *, uint64_t position);
/* Return a range for each rank: the same for all, or each rank's block. The caller frees them
 * with mpi_free. */
struct mpi_range *ranges_same(struct cvl_context *, uint64_t first, uint64_t n);
struct mpi_range *ranges_of_blocks(struct cvl_context *, const struct distribution *);
/* Returns whether no rank's range has more elements than its share of n plus a grain. */
bool within_share(const struct cvl_context *, const struct mpi_range *, uint64_t n);
/* Returns whether some rank has more than twice its share. */
bool distribution_is_skewed(const struct cvl_context *, const struct distribution *);
/* Returns whether a vector of n elements is on all ranks. */
bool is_whole(const struct cvl_context *, uint64_t n);

#endif
