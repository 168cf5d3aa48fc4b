/* combine-scatter-group.c - COMBINE_SCATTER by any function: each destination becomes a
 * segment, its default and behind it its elements in their order. The segments are then
 * reduced. Threads first count, then group.
 */
#include "cvl-cpu/combine-scatter-job.h"
#include "cvl-cpu/long-segments.h"

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static void count_step(struct scatter_job *j, const struct range *r, uint64_t position,
                       uint64_t n, uint64_t *at, void *with) {
  (void)position, (void)with;
  for (uint64_t i = 0; i < n; i++) {
    if (at[i] >= r->low && at[i] < r->high) j->ends[at[i]]++;
  }
}

/* Counts the elements of each destination, the default included. */
static void count_ranges(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct scatter_job *j = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    const struct range r = range_of(&j->s->far, j->ranges, i);
    for (uint64_t d = r.low; d < r.high; d++) j->ends[d] = 1;
    scatter_visit(j, &r, count_step, NULL);
    j->range_starts[i] = 0;
    for (uint64_t d = r.low; d < r.high; d++) j->range_starts[i] += j->ends[d];
  }
}

static void group_step(struct scatter_job *j, const struct range *r, uint64_t position,
                       uint64_t n, uint64_t *at, void *with) {
  (void)with;
  for (uint64_t i = 0; i < n; i++) {
    at[i] = at[i] >= r->low && at[i] < r->high ? j->ends[at[i]]++ : NOWHERE;
  }
  for (uint32_t c = 0; c < j->s->columns; c++) {
    const char *v = scatter_values(j, c, position);
    uint64_t repeated[SCATTER_STEP];
    if (j->s->column[c].same) {
      for (uint64_t i = 0; i < n; i++)
        memcpy((char *)repeated + i * j->bytes[c], v, j->bytes[c]);
      v = (const char *)repeated;
    }
    move_width(j->move, j->bytes[c])->scatter(n, v, at, 0, NOWHERE, j->grouped.at[c]);
  }
}

/* Groups the default and behind it the elements of each destination; ends[d] is then where they
 * end. */
static void group_ranges(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct scatter_job *j = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    const struct range r = range_of(&j->s->far, j->ranges, i);
    uint64_t start = j->range_starts[i];
    for (uint64_t d = r.low; d < r.high; d++) {
      const uint64_t count = j->ends[d];
      for (uint32_t c = 0; c < j->s->columns; c++) {
        memcpy(j->grouped.at[c] + start * j->bytes[c],
               j->s->column[c].defaults + d * j->bytes[c], j->bytes[c]);
      }
      j->ends[d] = start + 1;
      start += count;
    }
    scatter_visit(j, &r, group_step, NULL);
  }
}

static struct order_columns columns_from(const struct scatter_job *j,
                                         const struct order_columns *x, uint64_t i) {
  struct order_columns at = {{NULL}};
  for (uint32_t c = 0; c < j->s->columns; c++) at.at[c] = x->at[c] + i * j->bytes[c];
  return at;
}

static struct order_columns results(const struct scatter_job *j, uint64_t d) {
  struct order_columns out = {{NULL}};
  for (uint32_t c = 0; c < j->s->columns; c++) out.at[c] = j->s->column[c].out;
  return columns_from(j, &out, d);
}

/* Reduces a segment of more than a tile, tile by tile; their totals are written in front of the
 * elements, which nobody reads any more. */
static void reduce_long(struct scatter_job *j, const struct order_function *f, uint64_t d,
                        uint64_t from, uint64_t to, char *scratch) {
  const struct order_columns all = columns_from(j, &j->grouped, from), out = results(j, d);
  const uint64_t n = to - from, tiles = n / ORDER_TILE;
  for (uint64_t i = 0; i * ORDER_TILE < n; i++) {
    const struct order_columns x = columns_from(j, &all, i * ORDER_TILE),
                               totals = columns_from(j, &all, i);
    order_roots(f, &x, least(n - i * ORDER_TILE, ORDER_TILE), &totals, scratch);
  }
  order_total(f, &all, tiles, (unsigned)__builtin_popcountll(n % ORDER_TILE), &out, scratch);
}

/* Reduces the segments of destinations first <= d < last. offsets[d]: where segment d begins.
 */
static void reduce_chunk(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct scatter_job *j = job;
  char *scratch;
  const struct order_function *f = j->s->function(j->s->with, worker, &scratch);
  const uint64_t *offsets = j->ends - 1; /* segment d ends at ends[d] */
  const uint64_t total = j->ends[j->s->far.total - 1];
  const struct segments s = {j->s->far.total, total, 0, offsets};
  const uint64_t to = segments_split(&s, last).segment;
  for (uint64_t d = segments_split(&s, first).segment; d < to;) {
    uint64_t many = 0;
    while (d + many < to && many < ORDER_TILE &&
           offsets[d + many + 1] - offsets[d] <= ORDER_TILE) {
      many++;
    }
    const struct order_columns out = results(j, d);
    if (many == 0) {
      reduce_long(j, f, d, offsets[d], offsets[d + 1], scratch);
    } else {
      order_reduce(f, &j->grouped, (struct order_segments){offsets + d, many}, &out, scratch);
    }
    d += many > 0 ? many : 1;
  }
}

static bool scatter_in_order(struct scatter_job *j, uint64_t site) {
  uint64_t start = 0;
  if (!scatter_ranges(j, site, count_ranges)) return false;
  if (j->fault != UINT64_MAX) return true;
  for (uint64_t i = 0; i < j->ranges; i++) {
    const uint64_t count = j->range_starts[i];
    j->range_starts[i] = start;
    start += count;
  }
  if (!scatter_ranges(j, site, group_ranges)) return false;
  const uint64_t steps = j->s->far.total + start;
  return all_done(j->c, site,
                  pool_for(j->c->pool, steps, grain_for(j->c, steps, WIDEST), reduce_chunk, j));
}

/* With memory for the ends of segments, the starts of ranges and the grouped elements. */
bool scatter_grouped(struct scatter_job *j, uint64_t site) {
  const uint64_t n = j->s->near.total + j->s->far.total, threads = pool_threads(j->c->pool);
  const size_t ends = (j->s->far.total + 1) * sizeof *j->ends;
  size_t bytes = ends + threads * sizeof *j->range_starts;
  for (uint32_t c = 0; c < j->s->columns; c++) bytes += n * j->bytes[c] + 2 * VECTOR_SLACK;
  char *block = scratch_alloc(j->c, site, bytes);
  if (!block) return false;
  j->ends = (uint64_t *)(void *)block + 1;
  j->ends[-1] = 0;
  j->range_starts = (uint64_t *)(void *)(block + ends);
  char *at = block + ends + threads * sizeof *j->range_starts;
  for (uint32_t c = 0; c < j->s->columns; c++) {
    j->grouped.at[c] = at + (VECTOR_SLACK - (uintptr_t)at % VECTOR_SLACK) % VECTOR_SLACK;
    at = j->grouped.at[c] + n * j->bytes[c] + VECTOR_SLACK;
  }
  const bool done = scatter_in_order(j, site);
  scratch_free(j->c, block, bytes);
  return done;
}
