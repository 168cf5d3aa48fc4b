/* deferred.h - results that wait for the other ranks until somebody wants one of them: then
 * there is one collective for all that wait. Private to this folder.
 *
 * Such a vector or descriptor is there when its operation returns, but lacks what follows from
 * other ranks: how many elements they keep, their sums, their elements. Who takes operands says
 * so first (`want`); whoever reads sizes or elements of a value that still waits has forgotten
 * it, which is an assertion.
 */
#ifndef RAVEL_MPI_DEFERRED_H
#define RAVEL_MPI_DEFERRED_H

#include "cvl-mpi/private.h"

struct deferred;

/* How many elements of a value all ranks may get from all. */
enum { MOST_SAID = 8192 };

/* What waits, and what becomes of it. */
struct deferred_kind {
  /* It exchanges by itself, or needs memory of the inner back end when it arrives, so that it
   * may fail then: an agreement does not do that on its way. */
  bool heavy;
  /* Writes what this rank says to the others, p->bytes; not called if there are none. */
  void (*say)(struct cvl_context *, struct deferred *, void *to);
  /* Completes the result; rank r has said what begins at all + r * stride. */
  void (*arrive)(struct cvl_context *, struct deferred *, const char *all, size_t stride);
  /* Releases what it has besides: NULL: nothing. Called last, also if nobody wants it. */
  void (*drop)(struct cvl_context *, struct deferred *);
};

/* The first member of what a kind has. */
struct deferred {
  struct deferred *next, **previous;
  const struct deferred_kind *kind;
  uint64_t site, symbol;     /* of struct cvl_size; 0: sizes are known */
  size_t bytes;              /* that every rank says */
  struct cvl_vector *vector; /* whose it is; NULL: of none */
  struct cvl_segdes *segdes;
};

/* Enters p, which it takes (of mpi_alloc), as what the vector or the descriptor waits for: NULL
 * for none. Their sizes are bounds if they are not known. */
void deferred_add(struct cvl_context *, struct deferred *p, bool sizes_known,
                  const struct cvl_value *vector, const struct cvl_value *segdes);
/* Whether a vector or descriptor that is released can be freed, and what it waits for be
 * dropped. If a size is not known, which somebody may still ask for, it cannot: mpi_unwanted
 * later. */
bool deferred_forget(struct cvl_context *, struct deferred *p);
void deferred_drop_all(struct cvl_context *);
/* Notes the size that p's symbol stands for. */
void deferred_size(struct cvl_context *, const struct deferred *p, uint64_t n);

/* Operands are to be complete: if one waits, all that waits is completed. */
void want(struct cvl_context *, const struct cvl_value *operands, unsigned n);
void want_all(struct cvl_context *);
/* The same, with an agreement on all that has been found then. */
void settle_all(struct cvl_context *);
/* What a symbol stands for; if it is not known yet, all that is not heavy is completed. */
uint64_t size_known(struct cvl_context *, uint64_t symbol);
/* What a value waits for; NULL: nothing. */
struct deferred *waits_for(const struct cvl_value *);

/* A collective in which all that waits, or what is not heavy, is said with `head` bytes of the
 * caller: begin, write those to `mine`, gather, read them at all + r * bytes, end. */
struct round {
  struct deferred *list;
  size_t head, bytes;
  char *mine, *all;
};
struct round round_begin(struct cvl_context *, bool heavy, size_t head);
void round_gather(struct cvl_context *, struct round *);
void round_end(struct cvl_context *, struct round *);

/* A vector from its blocks: on all ranks if it is short, and moved if one rank has too much.
 * Takes the reference to `at`. */
struct cvl_value settled(struct cvl_context *, uint64_t site, enum cvl_elem,
                         struct distribution *at, struct cvl_value local);
/* The same for a vector that is there. */
void settle_blocks(struct cvl_context *, uint64_t site, const struct cvl_value *vector);

#endif
