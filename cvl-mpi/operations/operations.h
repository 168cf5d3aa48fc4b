/* operations.h - operations of the contract. They take the references of owned operands, and
 * return true unless all ranks know of the fault. */
#ifndef RAVEL_MPI_OPERATIONS_H
#define RAVEL_MPI_OPERATIONS_H

#include "cvl-mpi/private.h"

/* operations/local.c: executes an operation on vectors of one length, element by element, by
 * each rank on its block. */
bool local_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                struct cvl_value *out);
/* operations/segmented.c: executes a call whose last operand is the descriptor of its elements,
 * by each rank on its segments. */
bool segmented_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                    struct cvl_value *out);
/* whole_segments returns a view of which all blocks end between segments, or NULL if too many
 * elements would move. */
const struct view *whole_segments(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                                  const struct view *);
/* Do the same for blocks that may also end at multiples of `unit` elements from the beginning
 * of a segment. */
const struct view *cut_segments(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                                const struct view *, uint64_t unit);
bool ends_at(const struct view *, uint64_t unit);
/* Returns the distribution where each rank has the n elements that it passes. Exchanges the
 * numbers. */
struct distribution *kept_by_ranks(struct cvl_context *, uint64_t n);
/* operations/pack.c: makes results of PACK from the inner results that *vector and *segdes
 * hold; either may be NULL. Their sizes are deferred. */
void packed(struct cvl_context *, uint64_t site, const struct view *, enum cvl_elem,
            struct cvl_value *vector, struct cvl_value *segdes);
/* Returns the distribution of a vector with one element for each segment, each where its
 * segment begins. The caller owns it. */
struct distribution *by_segments(struct cvl_context *, const struct view *);
/* Calls on segments that cross ranks, with a view of their descriptor; they borrow the
 * operands. In operations/long.c: DIST and INDEX; REDUCE, with blocks that end between
 * segments, or at multiples of CVL_REDUCE_BLOCK in one. */
bool spread_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                 const struct view *, struct cvl_value *out);
bool blocks_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                 const struct view *, struct cvl_value *out);
/* Returns one element for each segment that begins on this rank: `n` of `local` from `first`
 * on, and `last` for a segment that goes on. `last` is taken; NULL: there is none. Returns
 * CVL_NOTHING if poisoned. */
struct cvl_value beginning_here(struct cvl_context *, uint64_t site,
                                const struct cvl_value *local, uint64_t first, uint64_t n,
                                const struct cvl_value *last);
/* Returns n copies of an inner scalar: an owned vector, or the scalar. CVL_NOTHING: poisoned.
 */
struct cvl_value repeated(struct cvl_context *, uint64_t site, struct cvl_value, uint64_t n);
/* The operands of INDEX for a block, as inner values: `start`, which is taken, and `stride`. A
 * constant stands for all segments. start_of_block returns the start of the block's first
 * segment increased by `skipped` strides; it is owned, or CVL_NOTHING if poisoned. */
struct index_start {
  struct cvl_value start, stride;
  bool constant; /* start is a constant */
  uint64_t segments, skipped;
};
struct cvl_value start_of_block(struct cvl_context *, uint64_t site, struct index_start);
/* The pieces of a rank's segments where blocks end at multiples of CVL_REDUCE_BLOCK from the
 * beginnings of segments. `head` counts the tree's blocks of a first segment that began
 * before. Then come whole segments. `tail` counts the blocks of a last segment that goes on,
 * if it is not the first. */
struct pieces {
  struct mpi_range block, segments;
  uint64_t head, tail;
};
struct pieces pieces_of(const struct view *, unsigned rank);
/* pieces_descriptor returns the inner descriptor of the pieces, owned. pieces_joined takes
 * `local`, one element for each piece, and returns the vector of one element for each segment,
 * from all ranks. */
struct cvl_value pieces_descriptor(struct cvl_context *, uint64_t site, const struct view *);
struct cvl_value pieces_joined(struct cvl_context *, uint64_t site, enum cvl_op, enum cvl_elem,
                               const struct view *, struct cvl_value local);
/* Returns whether a reduction or scan has the same bits in any order. */
bool is_exact(enum cvl_op, enum cvl_elem);
/* exchange/join.c: returns the reduction of one segment from partial results, in the order of
 * positions. Rank r has counts[r] of them, at least one in all; all ranks know the counts.
 * They are elements, or (of FLOATs) values of one level of the tree. Takes `counts` and
 * `local`. */
struct cvl_value one_reduced(struct cvl_context *, uint64_t site, enum cvl_op, enum cvl_elem,
                             uint64_t *counts, struct cvl_value local);
/* operations/scan.c: SCAN of INTs and BOOLs, and MAX and MIN of FLOATs. operations/tree.c:
 * other SCANs of FLOATs, with blocks that end between segments, or at multiples of
 * CVL_SCAN_TILE in one. operations/pack.c: PACK, with two results. */
bool scan_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
bool tree_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
bool pack_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
/* operations/sort.c: RANK and SORT. */
bool sort_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
/* operations/permute.c: gathers and scatters, which borrow their operands. Returns false, and
 * does nothing, if all ranks have all operands, or cannot know the segments. */
bool permute_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                  struct cvl_value *out);
/* Executes EXTRACT or REPLACE in segments that cross ranks; borrows the operands. */
bool element_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                  struct cvl_segdes *, struct cvl_value *out);
/* operations/together.c: every rank executes the whole call. */
bool together(struct cvl_context *, uint64_t site, const struct cvl_call *,
              struct cvl_value *out);
/* Whether operands have the sizes that the call wants. They may not after a fault that no rank
 * has asked for; then poisoned_call makes the results. */
bool sizes_fit(const struct cvl_call *);
bool poisoned_call(struct cvl_context *, const struct cvl_call *, struct cvl_value *out);
/* Drops the operands of a call. */
void call_drop(struct cvl_context *, const struct cvl_call *);

#endif
