/* combine-scatter-job.h - what the files of COMBINE_SCATTER have in common. Private to
 * combine-scatter*.c:
 *
 *   combine-scatter.c         indices; which way is taken
 *   combine-scatter-exact.c   functions for which the order does not matter
 *   combine-scatter-few.c     few destinations: their elements are reduced as they come
 *   combine-scatter-group.c   any: the elements of each destination are grouped side by side
 */
#ifndef RAVEL_CPU_COMBINE_SCATTER_JOB_H
#define RAVEL_CPU_COMBINE_SCATTER_JOB_H

#include <string.h>

#include "cvl-cpu/combine-scatter.h"
#include "cvl-cpu/locate.h"
#include "cvl-cpu/ranges.h"

enum { SCATTER_STEP = LOCATE_MOST, WIDEST = sizeof(uint64_t) };

struct scatter_job {
  struct cvl_context *c;
  const struct combine_scatter *s;
  const struct move_kernels *move;
  const struct move_int *ints;
  size_t bytes[SUPEROP_COLUMNS_MAX];
  size_t item;            /* bytes of all columns */
  uint64_t ranges;        /* of the destinations */
  _Atomic uint64_t fault; /* lowest position of an index out of range */
  char **own;             /* -exact.c: of each worker and column: an array of its own */
  /* -group.c */
  uint64_t *ends;         /* counts; then where the next element of a destination goes */
  uint64_t *range_starts; /* the first element of each range, among the grouped */
  struct order_columns grouped;
  /* -few.c */
  struct few_store *store;
};

/* Locates the indices from w->position on, at most SCATTER_STEP and before `end`. Returns how
 * many; 0 after a fault, which is recorded. */
uint64_t scatter_locate(struct scatter_job *, struct walk *, uint64_t end, uint64_t *at);

typedef void scatter_take(struct scatter_job *, const struct range *, uint64_t position,
                          uint64_t n, uint64_t *at, void *with);
/* Hands the sources of a range of destinations to `take`, a step at a time, in order; others
 * may be among them. */
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

/* The three ways. False without memory, or if it was asked to end; after a fault of an index
 * results do not matter. */
bool scatter_exactly(struct scatter_job *, uint64_t site);
bool scatter_few(struct scatter_job *, uint64_t site);
bool scatter_grouped(struct scatter_job *, uint64_t site);
/* Whether there are few destinations. */
bool scatter_is_few(const struct scatter_job *);

#endif
