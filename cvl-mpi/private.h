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

/* ---- distributions ---- */

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

/* ---- values ---- */

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

#endif
