/* scatter-job.h - what the files of COMBINE_SCATTER have in common. Private to
 * combine-scatter*.c:
 *
 *   scatter.c         indices; which way is taken
 *   scatter-exact.c   functions for which the order does not matter
 *   scatter-group.c   others: the elements of each destination are grouped side by side
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
  uint64_t ranges;         /* of the destinations */
  _Atomic uint64_t fault;  /* lowest position of an index out of range */
  bool checked;            /* all indices are known to be within range */
  char **own;              /* -exact.c: of each worker and column: an array of its own */
  struct group_job *group; /* -group.c */
};

/* Takes positions from `position` on: at[i] is where the index of the i-th points to. */
typedef void scatter_take(struct scatter_job *, uint64_t position, uint64_t n,
                          const uint64_t *at, void *with);
/* Hands the sources of steps first <= i < last, of segments_steps of the index, to `take`, some
 * at a time, in order, up to an index that is out of range, whose position is noted. */
void scatter_steps(struct scatter_job *, uint64_t first, uint64_t last, scatter_take *,
                   void *with);
/* The same for the sources of a range of destinations; others may be among them. */
void scatter_visit(struct scatter_job *, const struct range *, scatter_take *, void *with);

/* The values of column c from a position on; one if they are all the same. */
static inline const char *scatter_values(const struct scatter_job *j, uint32_t c,
                                         uint64_t position) {
  const struct scatter_column *column = &j->s->column[c];
  return column->values + (column->same ? 0 : position * j->bytes[c]);
}

/* Splits the destinations among threads, if there is enough work, and runs a loop over the
 * ranges.
 */
bool scatter_ranges(struct scatter_job *, uint64_t site, pool_body *);

/* The two ways. False without memory, or if it was asked to end; after a fault of an index
 * results do not matter. */
bool scatter_exactly(struct scatter_job *, uint64_t site);
bool scatter_grouped(struct scatter_job *, uint64_t site);

#endif
