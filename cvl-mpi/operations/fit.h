/* fit.h - a superoperator as each rank executes it on its block: what its parameters are for,
 * and parameters of their own for gathers and INDEX.
 */
#ifndef RAVEL_MPI_FIT_H
#define RAVEL_MPI_FIT_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

/* What a rank has of a parameter. */
enum need {
  NEED_NOTHING,
  NEED_DOMAIN,   /* an element for each position of its block */
  NEED_SEGDES,   /* the descriptor of its block */
  NEED_SEGMENTS, /* an element for each segment of its block under `segdes` */
  NEED_START, /* the same, as INDEX wants it: of the first segment what the block begins with */
  NEED_FAR,   /* those segments of a descriptor that its block has under `segdes` */
  NEED_SOURCE /* the elements of those, `segdes` being of NEED_FAR */
};

struct fit_param {
  uint8_t need;
  bool counts;     /* SEGDES: positions in its segments count, for INDEX, REDUCE, SCAN */
  uint32_t segdes; /* another parameter */
  uint32_t origin; /* parameter of the superoperator that it was made from; SUPEROP_NONE: */
  struct cvl_value constant; /* START: this */
  uint32_t stride;           /* START: a value of `op` */
  bool window;  /* START: of an index into windows. FAR: all such are; these begin, */
  int64_t high; /* FAR: and the last of them so far behind a position: struct fit */
};

/* *Windows* are sources whose only indices count from a constant on, by ones: of one segment a
 * block wants what is from `low` to `high` behind its own positions. Its INDEX then begins that
 * much less `low`. */
struct fit {
  struct heap heap;
  struct arena arena;
  int64_t low;
  struct superop
      op; /* the same nodes; first come the parameters of the one that it was made from */
  struct fit_param *params;
};

/* `starts`: the starts of INDEX are parameters, so that segments may go on on other ranks. The
 * superoperator has to live as long. NULL if it is never executed whole: there are scatters or
 * copies, or a parameter is for several things. */
struct fit *fit_new(struct cvl_context *, const struct superop *, bool starts);
void fit_free(struct fit *); /* NULL is fine */

/* The constant that a value is; NULL: a parameter. */
const struct cvl_value *fit_constant(const struct superop *, uint32_t value);
bool fit_has_index(const struct superop *);

#endif
