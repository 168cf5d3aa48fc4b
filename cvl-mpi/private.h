/* private.h - inside cvl-mpi: contexts, distributions, vectors, descriptors. README.md has the
 * ideas. Private to this folder.
 */
#ifndef RAVEL_MPI_PRIVATE_H
#define RAVEL_MPI_PRIVATE_H

#include "cvl-mpi/comm.h"
#include "cvl/call.h"

/* ---- distributions: distribution.c ---- */

/* Rank r has elements start[r] .. start[r + 1] of n. Reference counted, never changed. */
struct distribution {
  uint64_t references;
  unsigned ranks;
  uint64_t n;
  uint64_t start[]; /* ranks + 1; the first 0, the last n, none less than the one before */
};

struct range {
  uint64_t first, n;
};

/* ---- values: values.c ---- */

struct cvl_vector {
  uint64_t references;
  uint8_t elem;
  uint64_t n;
  struct distribution *at; /* NULL: all ranks have all elements */
  /* This rank's elements, of the inner back end, which the vector owns; CVL_NOTHING if this
   * rank has lost them by a fault. */
  struct cvl_value local;
  struct cvl_vector *next, **previous; /* all of the context */
};

/* What of a descriptor a rank needs for vectors of one distribution: its own block's segments.
 */
struct view {
  struct distribution *at; /* of the elements; NULL: this entry is free */
  struct cvl_value local;  /* inner descriptor of the segments as far as they are in the block;
                              CVL_NOTHING if lost */
  struct range segments;   /* which ones: those that begin in the block (at the very end: on the
                              last rank), and the one before if it goes on there */
};

/* All ranks have the lengths of all segments. */
struct cvl_segdes {
  uint64_t references;
  uint64_t count, total;
  struct cvl_value whole; /* inner; CVL_NOTHING if lost */
  uint64_t *offset;       /* count + 1, once a view was wanted */
  bool no_offsets;        /* some rank has no memory for them */
  struct view views[2];
  struct cvl_segdes *next, **previous;
};

/* ---- a context ---- */

/* What has to be added to the positions of faults that the inner back end may still find. */
struct shift {
  uint64_t site, sites; /* of operations site .. site + sites */
  uint64_t position, segment;
};

struct cvl_context {
  struct comm *comm;
  unsigned rank, ranks;
  const struct cvl_backend *b; /* the inner one */
  struct cvl_context *inner;
  enum cvl_elem int_elem, float_elem;
  const struct cvl_backend *table; /* this one */
  struct cvl_stop stop;
  uint64_t grain, whole, samples; /* see README.md, Distributions, and splitters.h */
  struct cvl_error mine;          /* this rank's first fault, not agreed on */
  struct cvl_error slot;          /* that of all ranks, agreed on */
  char text[256];                 /* of slot */
  struct shift *shifts;
  uint64_t shift_count, shift_capacity;
  struct cvl_vector *vectors;
  struct cvl_segdes *descriptors;
  struct distribution *latest; /* the canonical one that was wanted last */
  uint64_t armed_all,
      armed_own; /* allocations when fail_allocation was last called: of all, here */
};

/* ---- distribution.c ---- */

/* All return a reference for the caller. Without memory the job ends: they are small. */
struct distribution *distribution_canonical(struct cvl_context *, uint64_t n);
/* Rank r has counts[r] elements. */
struct distribution *distribution_of_counts(struct cvl_context *, const uint64_t *counts);
/* Elements first .. first + n of what is distributed so, where they are. */
struct distribution *distribution_slice(struct cvl_context *, const struct distribution *,
                                        uint64_t first, uint64_t n);
struct distribution *distribution_retain(struct distribution *);
void distribution_release(struct distribution *); /* NULL is fine */
bool distribution_same(const struct distribution *, const struct distribution *);
struct range distribution_range(const struct distribution *, unsigned rank);
/* Whether some rank has more than twice its share. */
bool distribution_is_skewed(const struct cvl_context *, const struct distribution *);
/* Whether a vector of n elements is on all ranks. */
bool is_whole(const struct cvl_context *, uint64_t n);

/* ---- memory of the host, small: ends the job without it ---- */

void *mpi_alloc(struct cvl_context *, size_t bytes);
/* The same, large: NULL after a fault of this rank. */
void *mpi_try_alloc(struct cvl_context *, uint64_t site, uint64_t bytes);

/* ---- values.c ---- */

/* A vector; takes the reference to `at`, and the inner value. n elements in all. */
struct cvl_value mpi_vector(struct cvl_context *, enum cvl_elem, uint64_t n,
                            struct distribution *at, struct cvl_value local);
/* A descriptor; takes the inner value of all segments. */
struct cvl_value mpi_segdes(struct cvl_context *, uint64_t count, uint64_t total,
                            struct cvl_value whole);

/* Sizes of any value. */
uint64_t mpi_length(const struct cvl_value *);
uint64_t mpi_count(const struct cvl_value *);
enum cvl_elem mpi_elem(const struct cvl_value *);
/* NULL if all ranks have all of it: of scalars, too. */
struct distribution *mpi_at(const struct cvl_value *);

/* The function of the table for such values. */
void mpi_retain(struct cvl_context *, const struct cvl_value *);
void mpi_release(struct cvl_context *, const struct cvl_value *);
/* Of an operand: releases it if it is owned. */
void mpi_drop(struct cvl_context *, const struct cvl_value *);

/* Operands of the inner back end are its values, which its operation takes if they are `owned`;
 * CVL_NOTHING where they are lost. Releases those that no operation has taken. */
bool any_lost(const struct cvl_value *inner, const bool *present, unsigned n);
void inner_drop(struct cvl_context *, const struct cvl_value *inner, unsigned n);
/* What a rank has of a vector or descriptor: its only reference is taken if the operand is
 * owned and nobody else holds it, and `may_take`. */
struct cvl_value inner_of(const struct cvl_value *, bool may_take);

/* The view of a descriptor for elements that are distributed so, which the descriptor keeps
 * until another two are wanted. NULL if it cannot be had: on all ranks. */
const struct view *segdes_view(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                               struct distribution *at);
/* The offsets of a descriptor on this rank, if all ranks have them; then also others'. */
bool segdes_offsets(struct cvl_context *, uint64_t site, struct cvl_segdes *);
/* With offsets: view->segments of any rank; those that begin there; the first segment that
 * begins at a position or behind it. */
struct range segdes_segments(const struct cvl_segdes *, const struct distribution *at,
                             unsigned rank);
struct range segdes_owned(const struct cvl_segdes *, const struct distribution *at,
                          unsigned rank);
uint64_t segdes_first_at(const struct cvl_segdes *, uint64_t position);
/* How many elements of segment k are in a block. */
uint64_t segdes_within(const struct cvl_segdes *, uint64_t k, struct range block);
void segdes_drop_views(struct cvl_context *, struct cvl_segdes *);
/* Frees all that is held. */
void mpi_values_free(struct cvl_context *);

static inline struct cvl_value nothing(void) {
  return (struct cvl_value){.form = CVL_NOTHING};
}
static inline struct shift at_site(uint64_t site) {
  return (struct shift){.site = site};
}
/* The call by the inner back end, which takes owned operands; results that are lost are
 * CVL_NOTHING. present: of each operand, whether the call has it; NULL: all. */
void inner_call(struct cvl_context *, const struct cvl_call *, const bool *present,
                struct shift, struct cvl_value out[CALL_RESULTS]);
/* Elements first .. first + n, owned; passes v as an operand. Fills `target` with v, which it
 * takes: false after a fault, or if it is lost. */
struct cvl_value inner_slice(struct cvl_context *, uint64_t site, struct cvl_value v,
                             uint64_t first, uint64_t n);
bool inner_fill(struct cvl_context *, uint64_t site, const struct cvl_value *target,
                uint64_t first, struct cvl_value v);
/* A size of the inner back end, exact. */
uint64_t inner_size(struct cvl_context *, struct cvl_size);

/* A descriptor that is kept in its value, as one with offsets. */
struct one_segment {
  struct cvl_segdes d;
  uint64_t offsets[2];
};
/* The descriptor of a value: &one->d if it is kept there. */
struct cvl_segdes *segdes_of(const struct cvl_value *, struct one_segment *one);

/* ---- moves.c: the same elements on other ranks. Borrow v; what they give is owned by the
 * caller, or borrowed from v. All ranks call them ---- */

/* All elements on all ranks. */
struct cvl_value move_whole(struct cvl_context *, uint64_t site, const struct cvl_value *v);
/* Those that this rank has under `at`. */
struct cvl_value move_to(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                         struct distribution *at, bool may_take);
/* ranges[r] on rank r; they may overlap. */
struct cvl_value move_ranges(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                             const struct range *ranges);
/* Inner elements in the host's memory, which the caller frees: takes v. NULL: lost. And back:
 * not owned; CVL_NOTHING for NULL. */
void *host_elements(struct cvl_context *, uint64_t site, struct cvl_value v, uint64_t n,
                    size_t bytes);
struct cvl_value device_elements(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                                 const void *data);
/* Elements of so many bytes to each rank and from each, by ranks. NULL: zeros are sent, what
 * comes is dropped. */
void exchange_elements(struct cvl_context *, size_t bytes, const void *from,
                       const uint64_t *from_counts, void *to, const uint64_t *to_counts);
/* Of inner elements that all ranks have, the block of this one: takes `whole`. */
struct cvl_value keep_block(struct cvl_context *, uint64_t site, struct cvl_value whole,
                            struct range block);

/* ---- faults.c ---- */

/* Records a fault of this rank. */
void fault_mine(struct cvl_context *, struct cvl_error);
void fault_memory(struct cvl_context *, uint64_t site, uint64_t bytes);
/* After an inner function returned `good`: moves what the inner back end has found to `mine`,
 * with positions of the whole vector. Returns whether there was no fault. */
bool absorb(struct cvl_context *, bool good, struct shift);
/* An exchange after which slot has the first fault of all ranks; true if there is none. Waits
 * for the inner back ends. */
bool agree(struct cvl_context *);
/* Whether all ranks say so. */
bool all_true(struct cvl_context *, bool mine);

/* ---- operations: all take the references of owned operands; true unless all ranks know
 * better ---- */

/* local.c: every rank its block, of vectors of one length. */
bool local_call(struct cvl_context *, uint64_t site, struct cvl_call *, struct cvl_value *out);
/* segmented.c: a call whose last operand is the descriptor of its elements, every rank its
 * segments. */
bool segmented_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                    struct cvl_value *out);
/* For others. As `at`, with blocks that end between segments; NULL if much moved for that.
 * The caller's. Whether blocks do so. */
struct distribution *whole_segments(struct cvl_context *, const struct cvl_segdes *,
                                    const struct distribution *at);
bool ends_between(struct cvl_context *, const struct cvl_segdes *,
                  const struct distribution *at);
/* Rank r has n elements there. Exchanges. Of how many elements of each segment that it touches
 * every rank keeps, the descriptor, with `total` in all (pack.c). */
struct distribution *kept_by_ranks(struct cvl_context *, uint64_t n);
struct cvl_value packed_descriptor(struct cvl_context *, uint64_t site,
                                   const struct cvl_segdes *, const struct distribution *at,
                                   const int64_t *mine, uint64_t total);
/* A vector from its blocks: on all ranks if it is short, and moved if one rank has
 * too much. Takes the reference to `at`. */
struct cvl_value settled(struct cvl_context *, uint64_t site, enum cvl_elem,
                         struct distribution *at, struct cvl_value local);
/* How what has one element for each segment lies, if it is where segments begin. The caller's.
 */
struct distribution *by_segments(struct cvl_context *, const struct cvl_segdes *,
                                 const struct distribution *at);
/* long.c: segments that go on on the next rank. They borrow the operands of the call. DIST and
 * INDEX, with results under `at`; REDUCE, with blocks that end between segments, or at
 * multiples of CVL_REDUCE_BLOCK in one. */
bool spread_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                 struct cvl_segdes *, struct distribution *at, struct cvl_value *out);
bool blocks_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                 struct cvl_segdes *, struct distribution *at, struct cvl_value *out);
/* scan.c: SCAN of INTs and BOOLs, MAX and MIN of FLOATs. tree.c: SCAN of FLOATs, with blocks
 * that end between segments, or at multiples of CVL_SCAN_TILE in one. pack.c: PACK, with two
 * results. */
bool scan_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               struct cvl_segdes *, struct distribution *at, struct cvl_value *out);
bool tree_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               struct cvl_segdes *, struct distribution *at, struct cvl_value *out);
bool pack_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               struct cvl_segdes *, struct distribution *at, struct cvl_value *out);
/* sort.c: RANK and SORT. */
bool sort_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               struct cvl_segdes *, struct distribution *at, struct cvl_value *out);
/* permute.c: gathers and scatters, which borrow their operands; false if all ranks have all of
 * them, or cannot know the segments. */
bool permute_call(struct cvl_context *, uint64_t site, const struct cvl_permute_args *,
                  struct cvl_value *out);
/* The same of EXTRACT and REPLACE in segments that go on on the next rank. */
bool element_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                  struct cvl_segdes *, struct cvl_value *out);
/* together.c: every rank all of it. */
bool together(struct cvl_context *, uint64_t site, const struct cvl_call *,
              struct cvl_value *out);
/* Drops the operands of a call. */
void call_drop(struct cvl_context *, const struct cvl_call *);

#endif
