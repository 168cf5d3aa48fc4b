/* fit.h - superoperators in the form that each rank executes on its block: what it needs of
 * the parameters, with own parameters for gathers and INDEX.
 */
#ifndef RAVEL_MPI_FIT_H
#define RAVEL_MPI_FIT_H

#include "cvl-mpi/private.h"
#include "cvl/superop.h"

/* The part of a parameter that a rank needs. */
enum need {
  NEED_NOTHING,
  NEED_DOMAIN,   /* an element for each position of its block */
  NEED_SEGDES,   /* the descriptor of its block */
  NEED_SEGMENTS, /* an element for each segment of its block, under `segdes` */
  NEED_START,    /* as SEGMENTS, for INDEX: the first segment's start is increased to what the
                    block begins with */
  NEED_FAR,      /* for a descriptor of sources: the segments that the rank's block has under
                    `segdes` */
  NEED_SOURCE    /* the elements of those segments; `segdes` is the parameter of NEED_FAR */
};

struct fit_param {
  uint8_t need;
  bool counts;     /* SEGDES: positions within its segments matter, for INDEX, REDUCE, SCAN */
  uint32_t segdes; /* number of another parameter */
  uint32_t origin; /* parameter of the original superoperator from which it is made;
                      SUPEROP_NONE: made from `constant` */
  struct cvl_value constant; /* START: the start, if it is constant */
  uint32_t stride;           /* START: a value of `op` */
  bool window;  /* START: it belongs to an index into windows. FAR: all its sources are
                   windows */
  int64_t high; /* FAR: the greatest distance of an index from a position (struct fit) */
};

/* *Windows* are sources of one segment whose only indices count from a constant on, by ones. A
 * block needs the source's elements from `low` to `high` behind its own positions. The INDEX
 * of such a gather is then decreased by `low`. */
struct fit {
  struct heap heap;
  struct arena arena;
  int64_t low;
  struct superop op; /* has the same nodes; its first parameters are those of the original */
  struct fit_param *params;
};

/* Makes the form of a superoperator, which must outlive it. With `starts` the starts of INDEX
 * are parameters, so that segments may cross ranks. Returns NULL if the superoperator is never
 * executed whole: it has scatters or copies, or a parameter has several needs. */
struct fit *fit_new(struct cvl_context *, const struct superop *, bool starts);
void fit_free(struct fit *); /* does nothing for NULL */

/* Returns the constant that a value is; NULL if it is not constant. */
const struct cvl_value *fit_constant(const struct superop *, uint32_t value);

#endif
