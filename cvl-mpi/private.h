/* private.h - inside cvl-mpi: contexts, distributions, vectors, descriptors. README.md
 * explains the ideas. Private to this folder.
 */
#ifndef RAVEL_MPI_PRIVATE_H
#define RAVEL_MPI_PRIVATE_H

#include "base/number.h"
#include "cvl-mpi/exchange/comm.h"
#include "cvl/call.h"
#include "cvl/processes.h"
#include "cvl/sharing.h"
#include "cvl/slices.h"
#include "cvl/tiles.h"

/* ---- distributions: values/distribution.c ---- */

/* Rank r has elements start[r] .. start[r + 1] of n. Distributions are reference counted and
 * never change. */
struct distribution {
  uint64_t references;
  unsigned ranks;
  uint64_t n;
  uint64_t start[]; /* ranks + 1 positions, ascending: the first is 0, the last is n */
};

struct mpi_range {
  uint64_t first, n;
};

/* ---- values: values/values.c ---- */

struct deferred; /* exchange/deferred.h */

struct cvl_vector {
  uint64_t references;
  uint8_t elem;
  uint64_t n;                /* elements; an upper bound while the size is not known */
  struct deferred *deferred; /* NULL if the vector is complete */
  bool certain; /* the vector is one CVL_SCALAR, known to all ranks, and not the result of a
                   fault */
  struct distribution *at; /* NULL: all ranks have all elements */
  /* This rank's elements: a value of the inner back end, owned by the vector. It is
   * CVL_NOTHING if a fault has poisoned them on this rank. */
  struct cvl_value local;
  bool wanted_whole; /* all ranks have wanted all elements once */
  bool copied;       /* all ranks keep a copy of all elements, in case they are wanted again */
  struct cvl_value copy;               /* inner value; CVL_NOTHING if poisoned */
  struct cvl_vector *next, **previous; /* the list of all vectors of the context */
};

/* A border between two blocks, or the beginning or end of all elements. */
struct border {
  uint64_t first;      /* the first segment that begins at the border or behind it */
  uint64_t begin, end; /* positions where the segment before that begins and ends; it may cross
                          the border; 0 if there is none */
};

struct shared_offsets {
  unsigned users; /* the number of views that use them */
  uint64_t *word;
};

/* The part of a descriptor that ranks know for vectors of one distribution. */
struct view {
  struct distribution *at; /* distribution of the elements; NULL: this entry is free */
  struct border *borders;  /* the same on all ranks; block r lies between borders r and r + 1 */
  struct mpi_range
      segments;           /* segments that begin in this rank's block (for the very end: of the
                         last rank), and the one before them if it crosses into the block */
  const uint64_t *offset; /* where these segments begin, and where the last one ends */
  struct shared_offsets *own; /* the memory of `offset`, if it is not the descriptor's */
  struct cvl_value local;     /* inner descriptor of the parts of the segments that are in the
                                 block; CVL_NOTHING if poisoned */
  uint64_t used;              /* value of the descriptor's `uses` when the view was last used */
};

enum { VIEWS = 3 };

/* All ranks have all lengths of a descriptor of up to `whole` segments (README.md,
 * Distributions). If there are more, each rank has the lengths of some segments. */
struct cvl_segdes {
  uint64_t references;
  uint64_t count, total; /* upper bounds while they are not known */
  struct deferred *deferred;
  struct distribution *held; /* the segments that each rank has; NULL: all ranks have all */
  uint64_t *base; /* held: position where the first segment of each rank begins, and the end */
  struct cvl_value whole; /* not held: inner descriptor; CVL_NOTHING if poisoned */
  uint64_t *offset; /* positions where this rank's segments begin, and where the last one ends;
                       NULL if not held and not yet wanted */
  bool poisoned;    /* the lengths are poisoned on all ranks */
  struct view views[VIEWS];
  uint64_t uses; /* the number of uses of views so far */
  struct cvl_segdes *next, **previous;
};

/* ---- a context ---- */

/* The amounts to add to the positions of faults that the inner back end may still find. */
struct shift {
  uint64_t site, sites; /* the shift holds for operations site .. site + sites */
  uint64_t position, segment;
};

struct fault {
  struct cvl_error error;
  uint64_t call; /* number of the call that found it, counted from the last agreement */
};

/* Returns the number of blocks that n elements have in the tree of trees.h. */
static inline uint64_t tree_blocks(uint64_t n) {
  return n / CVL_REDUCE_BLOCK + (n % CVL_REDUCE_BLOCK > 0);
}

enum { COPIES = 16 };

struct cvl_context {
  struct comm *comm;
  unsigned rank, ranks;
  const struct cvl_backend *b; /* the inner back end */
  struct cvl_context *inner;
  enum cvl_elem int_elem, float_elem;
  const struct cvl_backend *table; /* the table of this back end */
  struct cvl_stop stop;
  bool explains; /* whether to print how superoperators are executed and what was sent */
  bool fails;    /* whether tests may let allocations fail on this rank */
  bool armed;    /* tests let allocations fail now; the same on all ranks */
  struct comm_counts most; /* the greatest of all ranks, from the last call of statistics */
  bool unsure; /* elements have come to all ranks since the last agreement, which may be results
                  of a fault */
  uint64_t grain, whole, samples; /* see README.md, Distributions, and operations/splitters.h */
  uint64_t calls, site; /* the number of calls of the table since the last agreement, and the
                           site of the last one */
  struct fault mine;    /* this rank's first fault that is not agreed on */
  uint64_t faults;      /* the number of faults of this rank so far */
  enum cvl_error_kind alone; /* the last fault since the agreement that other ranks need not
                                have; or CVL_E_NONE */
  uint64_t faults_before; /* limit of `faults` during the steps of a superoperator: beyond it no
                             ASSERT proves anything, and steps are poisoned; else UINT64_MAX */
  struct fault slot;      /* the first fault of all ranks, agreed on */
  char text[256];         /* the text of slot's error */
  struct shift *shifts;
  uint64_t shift_count, shift_capacity;
  struct cvl_vector *vectors;
  struct cvl_segdes *descriptors;
  struct distribution *latest; /* the canonical distribution that was wanted last */
  struct deferred *deferred, **deferred_end; /* list in the order in which they were entered */
  uint64_t last_symbol, *sizes;              /* `sizes`: exchange/deferred.c */
  struct cvl_vector *copies[COPIES]; /* vectors that all ranks have copied, the oldest first */
  unsigned copy_count;
  uint64_t copied_bytes, copied_most;
  struct room *rooms; /* memory that mpi_try_alloc keeps */
  uint64_t room_count, room_capacity;
  uint64_t hosts_own, hosts_fail; /* calls of mpi_try_alloc since fail_allocation was last
                                     called; the number of the one that fails */
  uint64_t armed_all, armed_own;  /* allocations when fail_allocation was last called: the
                                     greatest of all ranks; this rank's */
};

/* ---- values/distribution.c ---- */

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

/* ---- memory of the host: values/memory.c ---- */

void *mpi_alloc(struct cvl_context *, size_t bytes);
/* Ends the job. One rank alone must not skip an allocation: the others would wait for it. */
_Noreturn void mpi_no_memory(const struct cvl_context *);
/* mpi_alloc allocates small, zeroed memory; it ends the job where memory runs out.
 * mpi_try_alloc allocates large memory, which is not zeroed; it returns NULL after a fault of
 * this rank. mpi_free takes memory of both, and NULL. It may keep large memory for the next
 * mpi_try_alloc. */
void *mpi_try_alloc(struct cvl_context *, uint64_t site, uint64_t bytes);
void mpi_free(struct cvl_context *, void *);
/* Frees all memory of mpi_try_alloc, used or kept. */
void mpi_rooms_free(struct cvl_context *);

/* ---- values/values.c ---- */

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

/* ---- values/descriptors.c: lengths of segments, here and on other ranks. Collective ---- */

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

/* ---- values/views.c ---- */

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

/* ---- exchange/moves.c: elements moved to other ranks. Functions borrow v; their results are
 * owned by the caller or borrowed from v. Collective ---- */

/* Returns elements ranges[r] on rank r; ranges may overlap. If all ranks want all elements for
 * the second time, they keep a copy, and later calls read that. */
struct cvl_value move_kept(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                           const struct mpi_range *ranges);
/* Drop the copy of a vector that is freed, or all copies. */
void copy_drop(struct cvl_context *, struct cvl_vector *);
void copies_drop(struct cvl_context *);
/* Return all elements on all ranks. move_all sends those of a vector in blocks anew;
 * move_whole takes any value and may return a kept copy. */
struct cvl_value move_all(struct cvl_context *, uint64_t site, const struct cvl_value *v);
struct cvl_value move_whole(struct cvl_context *, uint64_t site, const struct cvl_value *v);
/* Returns the elements that this rank has under `at`. */
struct cvl_value move_to(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                         struct distribution *at, bool may_take);
/* Returns elements ranges[r] on rank r; ranges may overlap. */
struct cvl_value move_ranges(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                             const struct mpi_range *ranges);
/* Returns a copy of inner elements in the host's memory, which the caller frees; takes v.
 * NULL: poisoned. device_elements is the inverse: its result is not owned, and CVL_NOTHING if
 * data is NULL. */
void *host_elements(struct cvl_context *, uint64_t site, struct cvl_value v, uint64_t n,
                    size_t bytes);
/* Elements readable by the host: exported by the inner back end if it can, else copied. They
 * stay until host_elements_end. host_elements_of takes v. */
struct host_elements {
  const void *data; /* NULL: poisoned */
  void *copy;
  struct cvl_export exported;
};
struct host_elements host_elements_of(struct cvl_context *, uint64_t site, struct cvl_value v,
                                      uint64_t n, size_t bytes);
void host_elements_end(struct cvl_context *, struct host_elements *);
struct cvl_value device_elements(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                                 const void *data);
/* Sends elements of so many bytes to each rank, and receives from each, in the order of ranks.
 * from = NULL sends zeros; to = NULL drops what is received. */
void exchange_elements(struct cvl_context *, size_t bytes, const void *from,
                       const uint64_t *from_counts, void *to, const uint64_t *to_counts);
/* Completes answers[0 .. n), each of so many bytes: before the call answers[i] is set on rank
 * holder[i], afterwards on all ranks. All ranks know `holder`. */
void gather_answers(struct cvl_context *, uint64_t n, const unsigned *holder, size_t bytes,
                    void *answers);
/* Returns this rank's block of inner elements that all ranks have; takes `whole`. */
struct cvl_value keep_block(struct cvl_context *, uint64_t site, struct cvl_value whole,
                            struct mpi_range block);

/* ---- exchange/faults.c ---- */

/* Begins an operation: counts the call, and notes its site and name. Agreements do not call it:
 * a value may be a scalar on one rank and poisoned on another, and the first may then compute
 * without the table. */
void mpi_enter(struct cvl_context *, const char *function, uint64_t site);
/* Notes what to add to the positions of faults that operations of these sites find, now or
 * later. The shift that was noted last counts. */
void note_shift(struct cvl_context *, struct shift);
/* Records a fault of this rank. */
void fault_mine(struct cvl_context *, struct cvl_error);
void fault_memory(struct cvl_context *, uint64_t site, uint64_t bytes);
/* Returns `good`, the result of an inner function. If it is false, the fault of the inner back
 * end is moved to `mine`, with positions in the whole vector. Notes the shift for faults that
 * are found later. */
bool absorb(struct cvl_context *, bool good, struct shift);
/* Exchanges faults: afterwards `slot` has the first fault of all ranks. Returns whether there
 * is none. Waits for the inner back ends. The same exchange completes deferred values: all
 * with `heavy`, else those that are not heavy. So completed values are not results of a fault,
 * unless the slot is set. */
bool agree_with(struct cvl_context *, bool heavy);
bool agree(struct cvl_context *);
/* Tells whether this rank has a value that all ranks have, or none; returns `mine`. If this
 * rank lacks it for a fault that the others need not have (no memory), it checks that they
 * fail, too (comm_meet); the job ends if they do not. While tests let allocations fail,
 * nothing is checked, since ranks ask each other anyway. */
bool have_all(const struct cvl_context *, bool mine);
/* Returns whether `mine` is true on all ranks. */
bool all_true(struct cvl_context *, bool mine);

/* ---- operations: they take the references of owned operands. They return true unless all
 * ranks know of the fault ---- */

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
