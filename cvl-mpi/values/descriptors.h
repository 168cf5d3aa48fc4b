/* descriptors.h - lengths of segments, here and on other ranks. Collective. */
#ifndef RAVEL_MPI_DESCRIPTORS_H
#define RAVEL_MPI_DESCRIPTORS_H

#include "cvl-mpi/private.h"

/* Return a descriptor of `count` segments from the inner descriptor, which every rank has;
 * they take it. The first function keeps it on all ranks however large `count` is. */
struct cvl_value segdes_of_whole(struct cvl_context *, uint64_t count, uint64_t total,
                                 struct cvl_value whole);
struct cvl_value segdes_from_whole(struct cvl_context *, uint64_t site, uint64_t count,
                                   uint64_t total, struct cvl_value whole);
/* Returns a descriptor from the lengths of the segments that each rank has under `held`; takes
 * both. `lengths` is NULL if they are poisoned, and has room for one more. `sums` are the sums
 * of each rank's lengths; if it is NULL, ranks exchange them. Faults: NEGATIVE_LENGTH, TOTAL.
 * Where lengths are poisoned, wrong, or without memory on one rank, all are poisoned on all
 * ranks. */
struct cvl_value segdes_of_lengths(struct cvl_context *, uint64_t site,
                                   struct distribution *held, int64_t *lengths,
                                   const uint64_t *sums);
/* Complete a descriptor d whose lengths were not known: it gets those of `made`, which has as
 * many segments and is taken; or it is one segment of d->total elements. */
void segdes_become(struct cvl_context *, struct cvl_segdes *d, struct cvl_value made);
void segdes_is_one(struct cvl_context *, struct cvl_segdes *d);
/* Returns whether the lengths are available: the same on all ranks. */
bool segdes_is_known(struct cvl_context *, uint64_t site, struct cvl_segdes *);
/* Returns the positions where the segments ranges[r] begin, for this rank r, and where the
 * last of them ends: one word more than segments. The caller frees them. Returns NULL if
 * memory runs out. The lengths must be known. */
uint64_t *segdes_offsets(struct cvl_context *, uint64_t site, const struct cvl_segdes *,
                         const struct mpi_range *ranges);
/* Replaces n numbers of segments by the positions where these begin; `count` stands for the
 * end. All ranks ask for the same ones. The lengths must be known. */
void segdes_look_up(struct cvl_context *, const struct cvl_segdes *, uint64_t n,
                    uint64_t *segments);
/* Replaces each of the ranges of segments, which are the same on all ranks, by the range of
 * their elements. The lengths must be known. */
void segdes_ranges(struct cvl_context *, const struct cvl_segdes *, struct mpi_range *ranges);
/* Return an inner descriptor of segments ranges[r] on rank r, or of all segments on all ranks.
 * The caller passes it on; it is CVL_NOTHING if poisoned. */
struct cvl_value segdes_segments(struct cvl_context *, uint64_t site, const struct cvl_value *,
                                 const struct mpi_range *ranges);
struct cvl_value segdes_everywhere(struct cvl_context *, uint64_t site,
                                   const struct cvl_value *);
/* Returns whether ranks have different segments of a value. */
bool segdes_is_held(const struct cvl_value *);
/* MAKE_SEGDES of lengths that are not on all ranks, and LENGTHS of a held descriptor. */
bool make_segdes_call(struct cvl_context *, uint64_t site, const struct cvl_value *lengths,
                      struct cvl_value *out);
bool lengths_call(struct cvl_context *, uint64_t site, const struct cvl_value *,
                  struct cvl_value *out);

#endif
