/* private.h - inside cvl-mpi: contexts, distributions, vectors, descriptors. README.md has the
 * ideas. Private to this folder.
 */
#ifndef RAVEL_MPI_PRIVATE_H
#define RAVEL_MPI_PRIVATE_H

#include "cvl-mpi/exchange/comm.h"
#include "cvl/call.h"
#include "cvl/processes.h"
#include "cvl/sharing.h"
#include "cvl/slices.h"
#include "cvl/tiles.h"

/* ---- distributions: values/distribution.c ---- */

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

/* ---- values: values/values.c ---- */

struct deferred; /* exchange/deferred.h: what a value may wait for */

struct cvl_vector {
  uint64_t references;
  uint8_t elem;
  uint64_t n;                /* while its size is not known, a bound */
  struct deferred *deferred; /* or NULL */
  bool certain; /* one element, a CVL_SCALAR, that is on all ranks, and no result of a fault */
  struct distribution *at; /* NULL: all ranks have all elements */
  /* This rank's elements, of the inner back end, which the vector owns; CVL_NOTHING if this
   * rank has poisoned them by a fault. */
  struct cvl_value local;
  bool wanted_whole;     /* by all ranks, so far once */
  bool copied;           /* all ranks have a copy of all, for when they want it again: */
  struct cvl_value copy; /* inner; CVL_NOTHING if poisoned */
  struct cvl_vector *next, **previous; /* all of the context */
};

/* A border between two blocks, or the beginning or end of all elements. */
struct border {
  uint64_t first; /* the first segment that begins there or behind it */
  uint64_t begin,
      end; /* of the one before that, which may go on behind the border; 0 if none */
};

struct shared_offsets {
  unsigned users; /* views */
  uint64_t *word;
};

/* What ranks know of a descriptor for vectors of one distribution. */
struct view {
  struct distribution *at; /* of the elements; NULL: this entry is free */
  struct border *borders;  /* of all ranks: block r is between r and r + 1 */
  struct range segments;   /* of this rank's block: those that begin in it (at the very end: on
                              the   last rank), and the one before if it goes on there */
  const uint64_t *offset;  /* of these segments: where they begin, and the last one ends */
  struct shared_offsets *own; /* these, if they are not the descriptor's */
  struct cvl_value local; /* inner descriptor of the segments as far as they are in the block;
                             CVL_NOTHING if poisoned */
  uint64_t used;          /* by which use of the descriptor's views last */
};

enum { VIEWS = 3 };

/* Of up to `whole` segments (README.md, Distributions) all ranks have all lengths; of more each
 * rank has those of some segments. */
struct cvl_segdes {
  uint64_t references;
  uint64_t count, total; /* as n of a vector */
  struct deferred *deferred;
  struct distribution *held; /* which segments a rank has; NULL: all ranks have all */
  uint64_t *base;         /* held: where the first segment of each rank begins, and the end */
  struct cvl_value whole; /* not held: inner; CVL_NOTHING if poisoned */
  uint64_t *offset; /* of what this rank has: where segments begin, and the last one ends; not
                       held: once they were wanted */
  bool poisoned;    /* the lengths, on all ranks */
  struct view views[VIEWS];
  uint64_t uses; /* of views */
  struct cvl_segdes *next, **previous;
};

/* ---- a context ---- */

/* What has to be added to the positions of faults that the inner back end may still find. */
struct shift {
  uint64_t site, sites; /* of operations site .. site + sites */
  uint64_t position, segment;
};

struct fault {
  struct cvl_error error;
  uint64_t call; /* in which it was found, since the last agreement */
};

/* Blocks of the tree of trees.h that n elements have. */
static inline uint64_t tree_blocks(uint64_t n) {
  return n / CVL_REDUCE_BLOCK + (n % CVL_REDUCE_BLOCK > 0);
}
static inline uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

enum { COPIES = 16 };

struct cvl_context {
  struct comm *comm;
  unsigned rank, ranks;
  const struct cvl_backend *b; /* the inner one */
  struct cvl_context *inner;
  enum cvl_elem int_elem, float_elem;
  const struct cvl_backend *table; /* this one */
  struct cvl_stop stop;
  bool explains;           /* how superoperators are executed, and what was sent */
  bool fails;              /* allocations may be let fail on this rank */
  bool armed;              /* tests let allocations fail: on the same ranks all know of it */
  struct comm_counts most; /* of all ranks, when the statistics were last asked for */
  bool unsure; /* elements have come to all ranks without an agreement since the last one */
  uint64_t grain, whole, samples; /* see README.md, Distributions, and operations/splitters.h */
  uint64_t calls,
      site;          /* how many functions of the table since the last agreement; of the last */
  struct fault mine; /* this rank's first, not agreed on */
  uint64_t faults;   /* of this rank, so far */
  enum cvl_error_kind alone; /* one of them since the last agreement that others need not have;
                                or CVL_E_NONE */
  uint64_t faults_before;    /* the steps of a superoperator: after more, nothing that an
                                ASSERT proves holds, and steps are lost; else UINT64_MAX */
  struct fault slot;         /* that of all ranks, agreed on */
  char text[256];            /* of slot */
  struct shift *shifts;
  uint64_t shift_count, shift_capacity;
  struct cvl_vector *vectors;
  struct cvl_segdes *descriptors;
  struct distribution *latest;               /* the canonical one that was wanted last */
  struct deferred *deferred, **deferred_end; /* in the order in which they were entered */
  uint64_t last_symbol, *sizes;      /* of sizes that were deferred: exchange/deferred.c */
  struct cvl_vector *copies[COPIES]; /* of which all ranks have a copy, the oldest first */
  unsigned copy_count;
  uint64_t copied_bytes, copied_most;
  struct room *rooms; /* of mpi_try_alloc */
  uint64_t room_count, room_capacity;
  uint64_t hosts_own, hosts_fail; /* allocations of mpi_try_alloc since then; which one fails */
  uint64_t armed_all,
      armed_own; /* allocations when fail_allocation was last called: of all, here */
};

/* ---- values/distribution.c ---- */

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
/* The rank that has a position. */
unsigned distribution_owner(const struct distribution *, uint64_t position);
/* The same range for every rank; the block of each. The caller frees them. */
struct range *ranges_same(struct cvl_context *, uint64_t first, uint64_t n);
struct range *ranges_of_blocks(struct cvl_context *, const struct distribution *);
/* Whether no rank's range has more elements than its share of n, and a few. */
bool within_share(const struct cvl_context *, const struct range *, uint64_t n);
/* Whether some rank has more than twice its share. */
bool distribution_is_skewed(const struct cvl_context *, const struct distribution *);
/* Whether a vector of n elements is on all ranks. */
bool is_whole(const struct cvl_context *, uint64_t n);

/* ---- memory of the host: values/memory.c. Small: ends the job without it ---- */

void *mpi_alloc(struct cvl_context *, size_t bytes);
/* Ends the job: what one rank alone could not do, the others would wait for. */
_Noreturn void mpi_no_memory(const struct cvl_context *);
/* The same, large: NULL after a fault of this rank. Freed by mpi_free, which may keep it for
 * the next one, as may be what mpi_alloc gave; NULL is fine. */
void *mpi_try_alloc(struct cvl_context *, uint64_t site, uint64_t bytes);
void mpi_free(struct cvl_context *, void *);
/* Frees all that is held and kept. */
void mpi_rooms_free(struct cvl_context *);

/* ---- values/values.c ---- */

/* A vector; takes the reference to `at`, and the inner value. n elements in all. What is on all
 * ranks, and a CVL_SCALAR there, may be given back as that. Or always as an object, which may
 * have to wait for what it is. */
struct cvl_value mpi_vector(struct cvl_context *, enum cvl_elem, uint64_t n,
                            struct distribution *at, struct cvl_value local);
struct cvl_value mpi_vector_object(struct cvl_context *, enum cvl_elem, uint64_t n,
                                   struct distribution *at, struct cvl_value local);
/* A descriptor; takes what it has. */
struct cvl_value mpi_segdes(struct cvl_context *, struct cvl_segdes);

/* Sizes of any value. */
uint64_t mpi_length(const struct cvl_value *);
uint64_t mpi_count(const struct cvl_value *);
enum cvl_elem mpi_elem(const struct cvl_value *);
/* The element of a value that is a CVL_SCALAR on all ranks, or NULL: such values are the same
 * on all ranks, and no results of a fault, so that ranks may decide by them. */
const struct cvl_value *mpi_certain(const struct cvl_value *);
/* NULL if all ranks have all of it: of scalars, too. */
struct distribution *mpi_at(const struct cvl_value *);

/* The function of the table for such values. */
void mpi_retain(struct cvl_context *, const struct cvl_value *);
void mpi_release(struct cvl_context *, const struct cvl_value *);
/* Of an operand: releases it if it is owned. */
void mpi_drop(struct cvl_context *, const struct cvl_value *);

/* Of the inner back end; afterwards it is CVL_NOTHING, as it may be before. */
void release_inner(struct cvl_context *, struct cvl_value *);
/* Operands of the inner back end are its values, which its operation takes if they are `owned`;
 * CVL_NOTHING where they are poisoned. Releases those that no operation has taken. */
bool any_poisoned(const struct cvl_value *inner, const bool *present, unsigned n);
void inner_drop(struct cvl_context *, const struct cvl_value *inner, unsigned n);
/* What a rank has of a vector or descriptor: its only reference is taken if the operand is
 * owned and nobody else holds it, and `may_take`. */
struct cvl_value inner_of(const struct cvl_value *, bool may_take);

/* Frees what nobody wants any more of a vector and a descriptor, which may be NULL. */
void mpi_unwanted(struct cvl_context *, struct cvl_vector *, struct cvl_segdes *);
/* Frees all that is held. */
void mpi_values_free(struct cvl_context *);

static inline struct cvl_value nothing(void) {
  return (struct cvl_value){.form = CVL_NOTHING};
}
static inline struct shift at_site(uint64_t site) {
  return (struct shift){.site = site};
}
/* The call by the inner back end, which takes owned operands; results that are poisoned are
 * CVL_NOTHING. present: of each operand, whether the call has it; NULL: all. */
void inner_call(struct cvl_context *, const struct cvl_call *, const bool *present,
                struct shift, struct cvl_value out[CALL_RESULTS]);
/* Elements first .. first + n, owned; passes v as an operand. Fills `target` with v, which it
 * takes: false after a fault, or if it is poisoned. */
struct cvl_value inner_slice(struct cvl_context *, uint64_t site, struct cvl_value v,
                             uint64_t first, uint64_t n);
bool inner_fill(struct cvl_context *, uint64_t site, const struct cvl_value *target,
                uint64_t first, struct cvl_value v);
/* Copies elements first .. first + n to the host; false after a fault, or if v is poisoned. */
bool inner_read(struct cvl_context *, uint64_t site, const struct cvl_value *v, uint64_t first,
                uint64_t n, void *to);
/* A size of the inner back end, exact. */
uint64_t inner_size(struct cvl_context *, struct cvl_size);

/* A descriptor that is kept in its value, as one with offsets. */
struct one_segment {
  struct cvl_segdes d;
  uint64_t offsets[2];
};
/* The descriptor of a value: &one->d if it is kept there. */
struct cvl_segdes *segdes_of(const struct cvl_value *, struct one_segment *one);

/* ---- values/descriptors.c: the lengths of segments, here and on other ranks. All ranks call
 * them
 * ---- */

/* Of `count` segments, of which every rank has the inner descriptor, which this takes. The
 * first keeps it however many they are. */
struct cvl_value segdes_of_whole(struct cvl_context *, uint64_t count, uint64_t total,
                                 struct cvl_value whole);
struct cvl_value segdes_from_whole(struct cvl_context *, uint64_t site, uint64_t count,
                                   uint64_t total, struct cvl_value whole);
/* Every rank has the lengths of the segments that it has under `held`, and gives both away;
 * NULL: they are poisoned. There is room for one more. sums: those of all ranks' lengths, if
 * these are right; NULL: ranks tell each other. Faults: NEGATIVE_LENGTH, TOTAL. Where lengths
 * are poisoned, wrong, or without memory, all ranks have poisoned all. */
struct cvl_value segdes_of_lengths(struct cvl_context *, uint64_t site,
                                   struct distribution *held, int64_t *lengths,
                                   const uint64_t *sums);
/* d, whose lengths were not known, is `made`, of as many segments; takes that. Or of one
 * segment, of d->total elements. */
void segdes_become(struct cvl_context *, struct cvl_segdes *d, struct cvl_value made);
void segdes_is_one(struct cvl_context *, struct cvl_segdes *d);
/* Whether the lengths can be had, on all ranks. */
bool segdes_is_known(struct cvl_context *, uint64_t site, struct cvl_segdes *);
/* Where the segments ranges[r] begin, on rank r, and where the last of them ends: one word more
 * than segments. The caller frees them; NULL without memory. Only if they are known. */
uint64_t *segdes_offsets(struct cvl_context *, uint64_t site, const struct cvl_segdes *,
                         const struct range *ranges);
/* Where n segments begin, which all ranks ask for (count: the end). Only if they are known. */
void segdes_look_up(struct cvl_context *, const struct cvl_segdes *, uint64_t n,
                    uint64_t *segments);
/* Of segments ranges[r], the same on all ranks, their elements. Only if they are known. */
void segdes_ranges(struct cvl_context *, const struct cvl_segdes *, struct range *ranges);
/* Segments ranges[r] of a descriptor, on rank r; all of them, on all ranks: an inner
 * descriptor, to be passed on; CVL_NOTHING if poisoned. */
struct cvl_value segdes_segments(struct cvl_context *, uint64_t site, const struct cvl_value *,
                                 const struct range *ranges);
struct cvl_value segdes_everywhere(struct cvl_context *, uint64_t site,
                                   const struct cvl_value *);
/* Whether ranks have different segments of a value. */
bool segdes_is_held(const struct cvl_value *);
/* MAKE_SEGDES of what is not on all ranks; LENGTHS of what is held. */
bool make_segdes_call(struct cvl_context *, uint64_t site, const struct cvl_value *lengths,
                      struct cvl_value *out);
bool lengths_call(struct cvl_context *, uint64_t site, const struct cvl_value *,
                  struct cvl_value *out);

/* ---- values/views.c ---- */

/* The view of a descriptor for elements that are distributed so, which the descriptor keeps
 * until another two have been wanted. NULL if it cannot be had: on all ranks. */
const struct view *segdes_view(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                               struct distribution *at);
/* The same for blocks whose ends have been moved from those of `near`, each within the segment
 * that goes on there or to its end. Exchanges nothing; takes the reference. */
const struct view *segdes_view_near(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                                    const struct view *near, struct distribution *at);
void segdes_drop_views(struct cvl_context *, struct cvl_segdes *);

/* view->segments of any rank; those that begin there. */
struct range view_segments(const struct view *, unsigned rank);
struct range view_owned(const struct view *, unsigned rank);
/* The rank on which the segment begins that goes on on `rank`. */
unsigned view_beginner(const struct view *, unsigned rank);
/* view->segments of all ranks; the caller frees them. */
struct range *view_ranges(struct cvl_context *, const struct view *);
/* Whether the first segment of a rank's block has begun before; whether the last one goes on.
 */
bool view_comes_in(const struct view *, unsigned rank);
bool view_goes_on(const struct view *, unsigned rank);
/* Which of view->segments has a position of the block, counted from the first of them. */
uint64_t view_segment_at(const struct view *, uint64_t position);
/* Of view->segments: where segment k begins (one more than the last: where that ends); how many
 * elements of it are in this rank's block. */
uint64_t view_offset(const struct view *, uint64_t k);
uint64_t view_within(const struct view *, uint64_t k, struct range block);
/* How many positions from `begin` to `end` are in a block. */
uint64_t within_block(uint64_t begin, uint64_t end, struct range block);

/* ---- exchange/moves.c: the same elements on other ranks. Borrow v; what they give is owned by
 * the caller, or borrowed from v. All ranks call them ---- */

/* ranges[r] on rank r; they may overlap. Of a vector that all ranks want all of again, they
 * keep a copy; what they want of it then is there. */
struct cvl_value move_kept(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                           const struct range *ranges);
/* Of a vector that is freed, or all copies. */
void copy_drop(struct cvl_context *, struct cvl_vector *);
void copies_drop(struct cvl_context *);
/* All elements of a vector in blocks on all ranks, sent anew. Of any vector, or a copy. */
struct cvl_value move_all(struct cvl_context *, uint64_t site, const struct cvl_value *v);
struct cvl_value move_whole(struct cvl_context *, uint64_t site, const struct cvl_value *v);
/* Those that this rank has under `at`. */
struct cvl_value move_to(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                         struct distribution *at, bool may_take);
/* ranges[r] on rank r; they may overlap. */
struct cvl_value move_ranges(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                             const struct range *ranges);
/* Inner elements in the host's memory, which the caller frees: takes v. NULL: poisoned. And
 * back: not owned; CVL_NOTHING for NULL. */
void *host_elements(struct cvl_context *, uint64_t site, struct cvl_value v, uint64_t n,
                    size_t bytes);
/* The same where they are, if the inner back end lends them, else copied: until lent_end. Takes
 * v. */
struct lent {
  const void *data; /* NULL: poisoned */
  void *copy;
  struct cvl_export exported;
};
struct lent lent_elements(struct cvl_context *, uint64_t site, struct cvl_value v, uint64_t n,
                          size_t bytes);
void lent_end(struct cvl_context *, struct lent *);
struct cvl_value device_elements(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                                 const void *data);
/* Elements of so many bytes to each rank and from each, by ranks. NULL: zeros are sent, what
 * comes is dropped. */
void exchange_elements(struct cvl_context *, size_t bytes, const void *from,
                       const uint64_t *from_counts, void *to, const uint64_t *to_counts);
/* answers[i], of so many bytes, is there on rank holder[i], which all ranks know; then on all.
 */
void gather_answers(struct cvl_context *, uint64_t n, const unsigned *holder, size_t bytes,
                    void *answers);
/* Of inner elements that all ranks have, the block of this one: takes `whole`. */
struct cvl_value keep_block(struct cvl_context *, uint64_t site, struct cvl_value whole,
                            struct range block);

/* ---- exchange/faults.c ---- */

/* Begins an operation. Agreements have none, since what is a scalar on one rank, poisoned on
 * another, may be computed without the table on the first. */
void mpi_enter(struct cvl_context *, const char *function, uint64_t site);
/* What is to be added to the positions of faults that operations of these sites find, now or
 * later: of several, what was noted last. */
void note_shift(struct cvl_context *, struct shift);
/* Records a fault of this rank. */
void fault_mine(struct cvl_context *, struct cvl_error);
void fault_memory(struct cvl_context *, uint64_t site, uint64_t bytes);
/* After an inner function returned `good`: moves what the inner back end has found to `mine`,
 * with positions of the whole vector. Returns whether there was no fault. */
bool absorb(struct cvl_context *, bool good, struct shift);
/* An exchange after which slot has the first fault of all ranks; true if there is none. Waits
 * for the inner back ends. What is deferred is said along, all of it or what is not heavy: so
 * values that have arrived are no results of a fault, or the slot is not empty. */
bool agree_with(struct cvl_context *, bool heavy);
bool agree(struct cvl_context *);
/* Of something that all ranks have, or none: whether this one has it. If it has not, for a
 * fault that the others need not have (no memory), it makes sure that they do: they would go on
 * as if all had it, and the job ends then. Not where tests let allocations fail: ranks ask each
 * other in any case. */
bool have_all(const struct cvl_context *, bool mine);
/* Whether all ranks say so. */
bool all_true(struct cvl_context *, bool mine);

/* ---- operations: all take the references of owned operands; true unless all ranks know
 * better ---- */

/* operations/local.c: every rank its block, of vectors of one length. */
bool local_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                struct cvl_value *out);
/* operations/segmented.c: a call whose last operand is the descriptor of its elements, every
 * rank its segments. */
bool segmented_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                    struct cvl_value *out);
/* For others. As a view, with blocks that end between segments; NULL if much moved for that.
 * Whether blocks do so. */
const struct view *whole_segments(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                                  const struct view *);
bool ends_between(const struct view *);
/* The same for blocks that end there, or so many elements, or a multiple, from the beginning of
 * a segment. */
const struct view *cut_segments(struct cvl_context *, uint64_t site, struct cvl_segdes *,
                                const struct view *, uint64_t unit);
bool ends_at(const struct view *, uint64_t unit);
/* Rank r has n elements there. Exchanges. */
struct distribution *kept_by_ranks(struct cvl_context *, uint64_t n);
/* operations/pack.c: of inner results of PACK, which they are before, the vector, the
 * descriptor, or both: not NULL. How many elements there are is deferred. */
void packed(struct cvl_context *, uint64_t site, const struct view *, enum cvl_elem,
            struct cvl_value *vector, struct cvl_value *segdes);
/* How what has one element for each segment lies, if it is where segments begin. The caller's.
 */
struct distribution *by_segments(struct cvl_context *, const struct view *);
/* Of calls on segments that go on on the next rank, with a view of their descriptor. They
 * borrow the operands of the call. operations/long.c: DIST and INDEX; REDUCE, with blocks that
 * end between segments, or at multiples of CVL_REDUCE_BLOCK in one. */
bool spread_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                 const struct view *, struct cvl_value *out);
bool blocks_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                 const struct view *, struct cvl_value *out);
/* Of inner results, one element for each segment that begins on this rank: `n` from `first` on,
 * and `last`, which it takes, of one that goes on; NULL: there is none. CVL_NOTHING: poisoned.
 */
struct cvl_value beginning_here(struct cvl_context *, uint64_t site,
                                const struct cvl_value *local, uint64_t first, uint64_t n,
                                const struct cvl_value *last);
/* n times an inner scalar; owned, or the scalar. CVL_NOTHING: poisoned. */
struct cvl_value repeated(struct cvl_context *, uint64_t site, struct cvl_value, uint64_t n);
/* What INDEX has for each segment of a block, as inner values: of starts, which it takes, and
 * strides. Constants stand for all segments. What it gives begins `skipped` elements behind the
 * first start; owned; CVL_NOTHING: poisoned. */
struct index_start {
  struct cvl_value start, stride;
  bool constant; /* start is one */
  uint64_t segments, skipped;
};
struct cvl_value start_of_block(struct cvl_context *, uint64_t site, struct index_start);
/* The pieces of a rank's segments, where blocks end at multiples of CVL_REDUCE_BLOCK from their
 * beginnings: blocks of the tree of a first one that has begun before, `head` of them; whole
 * ones; and `tail` blocks of a last one that goes on, if it is not the first. */
struct pieces {
  struct range block, segments;
  uint64_t head, tail;
};
struct pieces pieces_of(const struct view *, unsigned rank);
/* Their inner descriptor, owned; and of an element for each piece the vector of segments, from
 * all ranks. Takes `local`. */
struct cvl_value pieces_descriptor(struct cvl_context *, uint64_t site, const struct view *);
struct cvl_value pieces_joined(struct cvl_context *, uint64_t site, enum cvl_op, enum cvl_elem,
                               const struct view *, struct cvl_value local);
/* Whether a reduction or scan gives the same bits in any order. */
bool is_exact(enum cvl_op, enum cvl_elem);
/* exchange/join.c: the reduction of one segment, from what ranks have reduced of it, in the
 * order of positions: counts[r] values of rank r, at least one in all, which all ranks know;
 * elements, or of one level of the tree (of FLOATs). Takes both. */
struct cvl_value one_reduced(struct cvl_context *, uint64_t site, enum cvl_op, enum cvl_elem,
                             uint64_t *counts, struct cvl_value local);
/* operations/scan.c: SCAN of INTs and BOOLs, MAX and MIN of FLOATs. operations/tree.c: SCAN of
 * FLOATs, with blocks that end between segments, or at multiples of CVL_SCAN_TILE in one.
 * operations/pack.c: PACK, with two results. */
bool scan_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
bool tree_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
bool pack_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
/* operations/sort.c: RANK and SORT. */
bool sort_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
               const struct view *, struct cvl_value *out);
/* operations/permute.c: gathers and scatters, which borrow their operands; false if all ranks
 * have all of them, or cannot know the segments. */
bool permute_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                  struct cvl_value *out);
/* The same of EXTRACT and REPLACE in segments that go on on the next rank. */
bool element_call(struct cvl_context *, uint64_t site, const struct cvl_call *,
                  struct cvl_segdes *, struct cvl_value *out);
/* operations/together.c: every rank all of it. */
bool together(struct cvl_context *, uint64_t site, const struct cvl_call *,
              struct cvl_value *out);
/* Whether operands have the sizes that the call wants. After a fault that no rank has asked for
 * they may not: then its results are poisoned. */
bool sizes_fit(const struct cvl_call *);
bool poisoned_call(struct cvl_context *, const struct cvl_call *, struct cvl_value *out);
/* Drops the operands of a call. */
void call_drop(struct cvl_context *, const struct cvl_call *);

#endif
