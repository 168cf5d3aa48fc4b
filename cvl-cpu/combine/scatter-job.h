/* scatter-job.h - declarations that the files of COMBINE_SCATTER share. Private to scatter*.c:
 *
 *   scatter.c         locates the indices, and chooses one of the two ways
 *   scatter-exact.c   functions for which the order does not matter
 *   scatter-group.c   other functions: the elements of each destination are grouped side by
 * side
 */
#ifndef RAVEL_CPU_COMBINE_SCATTER_JOB_H
#define RAVEL_CPU_COMBINE_SCATTER_JOB_H

#include <string.h>

#include "cvl-cpu/combine/scatter.h"
#include "cvl-cpu/operations/locate.h"
#include "cvl-cpu/operations/ranges.h"

enum { SCATTER_STEP = LOCATE_MOST / 2, WIDEST = sizeof(uint64_t) };

struct scatter_job {
  struct cvl_context *c;
  const struct combine_scatter *s;
  const struct move_kernels *move;
  const struct move_int *ints;
  size_t bytes[SUPEROP_COLUMNS_MAX];
  uint64_t ranges;         /* how many ranges the destinations are split into */
  _Atomic uint64_t fault;  /* lowest position of an index out of range */
  bool checked;            /* all indices are known to be within range */
  char **own;              /* scatter-exact.c: an array for each worker and column */
  struct group_job *group; /* scatter-group.c */
};

/* Takes the positions from `position` on: at[i] is the destination of the i-th of them. */
typedef void scatter_take(struct scatter_job *, uint64_t position, uint64_t n,
                          const uint64_t *at, void *with);
/* Hands sources to `take`, some at a time and in order: steps first <= i < last of the index
 * (segments_steps). Stops at the first index that is out of range, and records its position. */
void scatter_steps(struct scatter_job *, uint64_t first, uint64_t last, scatter_take *,
                   void *with);
/* Hands the sources of a range of destinations to `take`. Sources of other ranges may be among
 * them. */
void scatter_visit(struct scatter_job *, const struct range *, scatter_take *, void *with);

/* Returns the values of column c from a position on, or the only one if all are the same. */
static inline const char *scatter_values(const struct scatter_job *j, uint32_t c,
                                         uint64_t position) {
  const struct scatter_column *column = &j->s->column[c];
  return column->values + (column->same ? 0 : position * j->bytes[c]);
}

/* Splits the destinations among threads, if there is enough work, and runs a loop over the
 * ranges. */
bool scatter_ranges(struct scatter_job *, uint64_t site, pool_body *);

/* The two ways. They return false without memory, or if asked to end. After a fault of an index
 * the results do not matter. */
bool scatter_exactly(struct scatter_job *, uint64_t site);
bool scatter_grouped(struct scatter_job *, uint64_t site);

#endif
