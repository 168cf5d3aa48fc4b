/* deferred.h - results that wait for the other ranks until somebody wants one of them. Then
 * one collective completes all of them. Private to this folder.
 *
 * A deferred vector or descriptor exists when its operation returns, but lacks what comes from
 * other ranks: the number of elements they keep, their sums, their elements. A function that
 * takes operands first calls `want`. Reading sizes or elements of a value that is still
 * deferred violates an assertion.
 */
#ifndef RAVEL_MPI_DEFERRED_H
#define RAVEL_MPI_DEFERRED_H

#include "cvl-mpi/private.h"

struct deferred;

/* The most elements of one value that all ranks may get from all in a round. */
enum { MOST_SAID = 8192 };

/* The functions of a kind of deferred value. */
struct deferred_kind {
  /* The kind exchanges by itself, or needs memory of the inner back end, when it arrives. So
   * it may fail then, and an agreement does not complete it on its way. */
  bool heavy;
  /* Writes the p->bytes that this rank sends to all others. Not called if there are none. */
  void (*say)(struct cvl_context *, struct deferred *, void *to);
  /* Completes the result. The bytes of rank r begin at all + r * stride. */
  void (*arrive)(struct cvl_context *, struct deferred *, const char *all, size_t stride);
  /* Releases other memory of the value; NULL: there is none. Called last, also if nobody wants
   * the value. */
  void (*drop)(struct cvl_context *, struct deferred *);
};

/* The first member of each kind's struct. */
struct deferred {
  struct deferred *next, **previous;
  const struct deferred_kind *kind;
  uint64_t site, symbol;     /* symbol of struct cvl_size; 0: sizes are known */
  size_t bytes;              /* the number that every rank sends */
  struct cvl_vector *vector; /* the results that wait for this; each may be NULL */
  struct cvl_segdes *segdes;
};

/* Enters p, which is of mpi_alloc and is taken, as what a vector and a descriptor wait for;
 * each may be NULL. Their sizes are upper bounds unless they are known. */
void deferred_add(struct cvl_context *, struct deferred *p, bool sizes_known,
                  const struct cvl_value *vector, const struct cvl_value *segdes);
/* Drops what a released vector or descriptor waits for, and returns true: it can be freed.
 * Returns false if somebody may still ask for its size; then mpi_unwanted frees it later. */
bool deferred_forget(struct cvl_context *, struct deferred *p);
void deferred_drop_all(struct cvl_context *);
/* Notes the size that p's symbol stands for. */
void deferred_size(struct cvl_context *, const struct deferred *p, uint64_t n);

/* Completes the operands: if one is deferred, all deferred values are completed. */
void want(struct cvl_context *, const struct cvl_value *operands, unsigned n);
/* Completes all deferred values, and agrees on all faults found by then. */
void settle_all(struct cvl_context *);
/* Returns the size that a symbol stands for. If it is not known yet, all deferred values that
 * are not heavy are completed. */
uint64_t size_known(struct cvl_context *, uint64_t symbol);
/* Returns what a value waits for; NULL: it is complete. */
struct deferred *waits_for(const struct cvl_value *);

/* A collective that completes deferred values (heavy ones only with `heavy`) and exchanges
 * `head` bytes of the caller. The caller begins it, writes its bytes to `mine`, gathers, reads
 * those of rank r at all + r * bytes, and ends it. */
struct round {
  struct deferred *list;
  size_t head, bytes;
  char *mine, *all;
};
struct round round_begin(struct cvl_context *, bool heavy, size_t head);
void round_gather(struct cvl_context *, struct round *);
void round_end(struct cvl_context *, struct round *);

/* Returns a vector of these blocks. A short one moves to all ranks, and one of which a rank
 * has too much is distributed anew; both are deferred. Takes the reference to `at`. */
struct cvl_value settled(struct cvl_context *, uint64_t site, enum cvl_elem,
                         struct distribution *at, struct cvl_value local);
/* Does the same for a vector that exists. */
void settle_blocks(struct cvl_context *, uint64_t site, const struct cvl_value *vector);

#endif
