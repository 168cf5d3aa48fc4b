/* scatter-exact.c - COMBINE_SCATTER by functions whose results do not depend on the order. Each
 * element is combined with what its destination holds. If destinations are much fewer than
 * elements, each thread has an array of its own, and these are combined at the end.
 */
#include "cvl-cpu/combine/scatter-job.h"

/* Combines v[i * step] into out[at[i]] where low <= at[i] < high; everywhere if high is
 * NOWHERE. */
typedef void accumulate(uint64_t n, const void *v, uint64_t step, const uint64_t *at,
                        uint64_t low, uint64_t high, void *out);
/* Combines x[i] into out[i]. */
typedef void merge(uint64_t n, const void *x, void *out);
/* Sets out[i] to the neutral element. */
typedef void clear(uint64_t n, void *out);

struct exact_row {
  accumulate *accumulate;
  merge *merge;
  clear *clear;
};

#define COMBINE_NUMBERS "cvl-cpu/combine/scatter-rows.h"
#define COMBINE_FLAGS   "cvl-cpu/combine/scatter-rows.h"
#include "cvl-cpu/combine/types.h"

#define ROW(op, kind)                                                                          \
  [OP_##op] = {accumulate_##op##_##kind, merge_##op##_##kind, clear_##op##_##kind},
static const struct exact_row exact_rows[CVL_ELEM_COUNT][OP_COUNT] = {
#include "cvl-cpu/combine/table.h"
};

static const struct exact_row *scatter_exact_row_of(const struct scatter_column *c) {
  return &exact_rows[c->elem][c->exact];
}

/* Combines elements into one range of destinations, or into all of them. */
static void accumulate_step(struct scatter_job *j, uint64_t position, uint64_t n,
                            const uint64_t *at, void *with) {
  const struct range *r = with;
  for (uint32_t c = 0; c < j->s->columns; c++) {
    const struct scatter_column *column = &j->s->column[c];
    scatter_exact_row_of(column)->accumulate(n, scatter_values(j, c, position), !column->same,
                                             at, r->low, j->ranges == 1 ? NOWHERE : r->high,
                                             column->out);
  }
}

static void accumulate_ranges(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct scatter_job *j = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    struct range r = range_of(&j->s->far, j->ranges, i);
    for (uint32_t c = 0; c < j->s->columns; c++) {
      const size_t bytes = j->bytes[c];
      memcpy(j->s->column[c].out + r.low * bytes, j->s->column[c].defaults + r.low * bytes,
             (r.high - r.low) * bytes);
    }
    scatter_visit(j, &r, accumulate_step, &r);
  }
}

static char *own(struct scatter_job *j, unsigned worker, uint32_t c) {
  return j->own[worker * SUPEROP_COLUMNS_MAX + c];
}

static void accumulate_own_step(struct scatter_job *j, uint64_t position, uint64_t n,
                                const uint64_t *at, void *with) {
  const unsigned *worker = with;
  for (uint32_t c = 0; c < j->s->columns; c++) {
    const struct scatter_column *column = &j->s->column[c];
    scatter_exact_row_of(column)->accumulate(n, scatter_values(j, c, position), !column->same,
                                             at, 0, NOWHERE, own(j, *worker, c));
  }
}

static void accumulate_own(void *job, uint64_t first, uint64_t last, unsigned worker) {
  scatter_steps(job, first, last, accumulate_own_step, &worker);
}

/* The first worker's array is the result, which begins with the defaults. The others begin with
 * neutral elements. */
static bool accumulate_apart(struct scatter_job *j, uint64_t site, char *arrays) {
  const unsigned threads = pool_threads(j->c->pool);
  const uint64_t total = j->s->far.total, steps = segments_steps(&j->s->near);
  char **own_of = j->own = (char **)(void *)arrays;
  arrays += threads * SUPEROP_COLUMNS_MAX * sizeof *own_of;
  for (unsigned t = 0; t < threads; t++) {
    for (uint32_t c = 0; c < j->s->columns; c++) {
      const struct scatter_column *column = &j->s->column[c];
      own_of[t * SUPEROP_COLUMNS_MAX + c] = t == 0 ? column->out : arrays;
      if (t == 0) {
        memcpy(column->out, column->defaults, total * j->bytes[c]);
      } else {
        scatter_exact_row_of(column)->clear(total, arrays);
        arrays += (total * j->bytes[c] + VECTOR_SLACK - 1) / VECTOR_SLACK * VECTOR_SLACK;
      }
    }
  }
  if (!all_done(
          j->c, site,
          pool_for(j->c->pool, steps, grain_for(j->c, steps, 2 * WIDEST), accumulate_own, j))) {
    return false;
  }
  for (unsigned t = 1; t < threads; t++) {
    for (uint32_t c = 0; c < j->s->columns; c++) {
      scatter_exact_row_of(&j->s->column[c])->merge(total, own(j, t, c), j->s->column[c].out);
    }
  }
  return true;
}

/* Whether every thread gets an array of its own: if that takes less time than reading all
 * indices. */
static bool may_be_apart(const struct scatter_job *j) {
  enum { LESS = 4 };
  const unsigned threads = pool_threads(j->c->pool);
  const uint64_t n = j->s->near.total;
  return threads > 1 && n > tuned(j->c, SERIAL_BYTES) / WIDEST &&
         j->s->far.total <= n / threads / LESS;
}

bool scatter_exactly(struct scatter_job *j, uint64_t site) {
  if (!may_be_apart(j)) return scatter_ranges(j, site, accumulate_ranges);
  size_t bytes = 0;
  for (uint32_t c = 0; c < j->s->columns; c++) {
    bytes += (j->s->far.total * j->bytes[c] + VECTOR_SLACK - 1) / VECTOR_SLACK * VECTOR_SLACK;
  }
  const unsigned threads = pool_threads(j->c->pool);
  bytes = (threads - 1) * bytes + threads * SUPEROP_COLUMNS_MAX * sizeof *j->own;
  char *arrays = scratch_alloc(j->c, site, bytes);
  if (!arrays) return false;
  const bool done = accumulate_apart(j, site, arrays);
  scratch_free(j->c, arrays, bytes);
  return done;
}
