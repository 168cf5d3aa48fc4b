/* combine-scatter.c - see combine-scatter.h.
 *
 * Where the order does not matter, elements are combined one by one with what their destination
 * holds: in an array of each thread, if there are much less destinations than elements, which
 * are combined at the end; else by each thread into a range of the destinations, for which it
 * reads all indices (ranges.h).
 *
 * Where it does, each destination becomes a segment: its default, and behind it its elements in
 * their order. Threads have ranges of destinations: they count, then place. The segments are
 * then reduced.
 */
#include "cvl-cpu/combine-scatter.h"

#include <string.h>

#include "cvl-cpu/locate.h"
#include "cvl-cpu/long-segments.h"
#include "cvl-cpu/ranges.h"

enum { STEP = LOCATE_MOST, WIDEST = sizeof(uint64_t) };

struct job {
  struct cvl_context *c;
  const struct combine_scatter *s;
  const struct move_kernels *move;
  const struct move_int *ints;
  size_t bytes[SUPEROP_COLUMNS_MAX];
  uint64_t ranges;        /* of the destinations */
  char **own;             /* of each worker and column: an array of its own */
  uint64_t *ends;         /* counts; then where the next element of a destination goes */
  uint64_t *range_starts; /* the first element of each range, among the placed */
  struct order_columns placed;
  _Atomic uint64_t fault; /* lowest position of an index out of range */
};

/* ---- indices ---- */

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Locates the indices from w->position on, at most STEP and before `end`. Returns how many; 0
 * after a fault, which is recorded. */
static uint64_t locate(struct job *j, struct walk *w, uint64_t end, uint64_t *at) {
  const uint64_t begin = w->position, n = least(end - begin, STEP);
  const char *index = (const char *)j->s->index + begin * elem_bytes((uint8_t)j->c->int_elem);
  const uint64_t found =
      walk_in_one(w, begin + n)
          ? locate_in_one(j->ints, &j->s->far, w, begin + n, index, NULL, at)
          : locate_across(j->move, j->ints, &j->s->far, w, begin + n, index, NULL, at);
  if (found == n) return n;
  note_lowest(&j->fault, begin + found);
  return 0;
}

typedef void take(struct job *, const struct range *, uint64_t position, uint64_t n,
                  uint64_t *at);

/* Hands the sources of a range of destinations to `take`, a step at a time, in order; others
 * may be among them. */
static void visit_range(struct job *j, const struct range *r, take *taken) {
  const struct segments *near = &j->s->near;
  uint64_t at[STEP + SPREAD_SLACK / sizeof(uint64_t)];
  const uint64_t end = segment_start(near, r->past), first = segment_start(near, r->first);
  struct walk w = walk_from(near, (struct path_coordinate){r->first, first});
  while (w.position < end && !pool_asked(j->c->pool)) {
    const uint64_t position = w.position, n = locate(j, &w, end, at);
    if (n == 0) return;
    taken(j, r, position, n, at);
  }
}

static const char *values_at(const struct job *j, uint32_t c, uint64_t position) {
  const struct scatter_column *column = &j->s->column[c];
  return column->values + (column->same ? 0 : position * j->bytes[c]);
}

/* ---- where order does not matter ---- */

/* out[at[i]] = it combined with v[i * step] where low <= at[i] < high. */
typedef void accumulate(uint64_t n, const void *v, uint64_t step, const uint64_t *at,
                        uint64_t low, uint64_t high, void *out);
/* out[i] = it combined with x[i]. */
typedef void merge(uint64_t n, const void *x, void *out);
/* out[i] = what is neutral. */
typedef void clear(uint64_t n, void *out);

struct exact_row {
  accumulate *accumulate;
  merge *merge;
  clear *clear;
};

#define COMBINE_NUMBERS "cvl-cpu/combine-scatter-rows.h"
#define COMBINE_FLAGS   "cvl-cpu/combine-scatter-rows.h"
#include "cvl-cpu/combine-types.h"

#define ROW(op, kind)                                                                          \
  [OP_##op] = {accumulate_##op##_##kind, merge_##op##_##kind, clear_##op##_##kind},
static const struct exact_row exact_rows[CVL_ELEM_COUNT][OP_COUNT] = {
#include "cvl-cpu/combine-table.h"
};

static const struct exact_row *row_of(const struct scatter_column *c) {
  return &exact_rows[c->elem][c->exact];
}

static void accumulate_step(struct job *j, const struct range *r, uint64_t position, uint64_t n,
                            uint64_t *at) {
  for (uint32_t c = 0; c < j->s->columns; c++) {
    const struct scatter_column *column = &j->s->column[c];
    row_of(column)->accumulate(n, values_at(j, c, position), !column->same, at, r->low, r->high,
                               column->out);
  }
}

static void accumulate_ranges(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    const struct range r = range_of(&j->s->far, j->ranges, i);
    for (uint32_t c = 0; c < j->s->columns; c++) {
      const size_t bytes = j->bytes[c];
      memcpy(j->s->column[c].out + r.low * bytes, j->s->column[c].defaults + r.low * bytes,
             (r.high - r.low) * bytes);
    }
    visit_range(j, &r, accumulate_step);
  }
}

static char *own(struct job *j, unsigned worker, uint32_t c) {
  return j->own[worker * SUPEROP_COLUMNS_MAX + c];
}

static void accumulate_own(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = job;
  uint64_t at[STEP + SPREAD_SLACK / sizeof(uint64_t)];
  const uint64_t total = j->s->far.total;
  struct walk w = walk_from(&j->s->near, segments_split(&j->s->near, first));
  const uint64_t end = segments_split(&j->s->near, last).position;
  while (w.position < end && !pool_asked(j->c->pool)) {
    const uint64_t position = w.position, n = locate(j, &w, end, at);
    if (n == 0) return;
    for (uint32_t c = 0; c < j->s->columns; c++) {
      const struct scatter_column *column = &j->s->column[c];
      row_of(column)->accumulate(n, values_at(j, c, position), !column->same, at, 0, total,
                                 own(j, worker, c));
    }
  }
}

static bool accumulate_all(struct job *j, uint64_t site) {
  const uint64_t work = segments_steps(&j->s->near) + segments_steps(&j->s->far);
  j->ranges = grain_for(j->c, work, WIDEST) >= work ? 1 : pool_threads(j->c->pool);
  return all_done(j->c, site, pool_for(j->c->pool, j->ranges, 1, accumulate_ranges, j));
}

/* The first worker has the result, with the defaults; the others what is neutral. */
static bool accumulate_apart(struct job *j, uint64_t site, char *arrays) {
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
        row_of(column)->clear(total, arrays);
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
      row_of(&j->s->column[c])->merge(total, own(j, t, c), j->s->column[c].out);
    }
  }
  return true;
}

/* Whether every thread gets an array of its own: it takes less than reading all indices does.
 */
static bool may_be_apart(const struct job *j) {
  enum { LESS = 4 };
  const unsigned threads = pool_threads(j->c->pool);
  const uint64_t n = j->s->near.total;
  return threads > 1 && n > SERIAL_BYTES / WIDEST && j->s->far.total <= n / threads / LESS;
}

static bool scatter_exactly(struct job *j, uint64_t site) {
  if (!may_be_apart(j)) return accumulate_all(j, site);
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

/* ---- where it does ---- */

static void count_step(struct job *j, const struct range *r, uint64_t position, uint64_t n,
                       uint64_t *at) {
  (void)position;
  for (uint64_t i = 0; i < n; i++) {
    if (at[i] >= r->low && at[i] < r->high) j->ends[at[i]]++;
  }
}

/* Counts the elements of each destination, the default included. */
static void count_ranges(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    const struct range r = range_of(&j->s->far, j->ranges, i);
    for (uint64_t d = r.low; d < r.high; d++) j->ends[d] = 1;
    visit_range(j, &r, count_step);
    j->range_starts[i] = 0;
    for (uint64_t d = r.low; d < r.high; d++) j->range_starts[i] += j->ends[d];
  }
}

static void place_step(struct job *j, const struct range *r, uint64_t position, uint64_t n,
                       uint64_t *at) {
  for (uint64_t i = 0; i < n; i++) {
    at[i] = at[i] >= r->low && at[i] < r->high ? j->ends[at[i]]++ : NOWHERE;
  }
  for (uint32_t c = 0; c < j->s->columns; c++) {
    const char *v = values_at(j, c, position);
    uint64_t repeated[STEP];
    if (j->s->column[c].same) {
      for (uint64_t i = 0; i < n; i++)
        memcpy((char *)repeated + i * j->bytes[c], v, j->bytes[c]);
      v = (const char *)repeated;
    }
    move_width(j->move, j->bytes[c])->scatter(n, v, at, 0, NOWHERE, j->placed.at[c]);
  }
}

/* Places the default and behind it the elements of each destination; ends[d] is then where they
 * end. */
static void place_ranges(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    const struct range r = range_of(&j->s->far, j->ranges, i);
    uint64_t start = j->range_starts[i];
    for (uint64_t d = r.low; d < r.high; d++) {
      const uint64_t count = j->ends[d];
      for (uint32_t c = 0; c < j->s->columns; c++) {
        memcpy(j->placed.at[c] + start * j->bytes[c],
               j->s->column[c].defaults + d * j->bytes[c], j->bytes[c]);
      }
      j->ends[d] = start + 1;
      start += count;
    }
    visit_range(j, &r, place_step);
  }
}

static struct order_columns columns_from(const struct job *j, const struct order_columns *x,
                                         uint64_t i) {
  struct order_columns at = {{NULL}};
  for (uint32_t c = 0; c < j->s->columns; c++) at.at[c] = x->at[c] + i * j->bytes[c];
  return at;
}

static struct order_columns results(const struct job *j, uint64_t d) {
  struct order_columns out = {{NULL}};
  for (uint32_t c = 0; c < j->s->columns; c++) out.at[c] = j->s->column[c].out;
  return columns_from(j, &out, d);
}

/* Reduces a segment of more than a tile, tile by tile; their totals are written in front of the
 * elements, which nobody reads any more. */
static void reduce_long(struct job *j, const struct order_function *f, uint64_t d,
                        uint64_t from, uint64_t to, char *scratch) {
  const struct order_columns all = columns_from(j, &j->placed, from), out = results(j, d);
  const uint64_t n = to - from, tiles = n / ORDER_TILE;
  for (uint64_t i = 0; i * ORDER_TILE < n; i++) {
    const struct order_columns x = columns_from(j, &all, i * ORDER_TILE),
                               totals = columns_from(j, &all, i);
    order_parts(f, &x, least(n - i * ORDER_TILE, ORDER_TILE), &totals, scratch);
  }
  order_total(f, &all, tiles, (unsigned)__builtin_popcountll(n % ORDER_TILE), &out, scratch);
}

/* Reduces the segments of destinations first <= d < last. offsets[d]: where segment d begins.
 */
static void reduce_chunk(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = job;
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
      order_reduce(f, &j->placed, (struct order_segments){offsets + d, many}, &out, scratch);
    }
    d += many > 0 ? many : 1;
  }
}

static bool scatter_in_order(struct job *j, uint64_t site) {
  const uint64_t work = segments_steps(&j->s->near) + segments_steps(&j->s->far);
  uint64_t start = 0;
  j->ranges = grain_for(j->c, work, 2 * WIDEST) >= work ? 1 : pool_threads(j->c->pool);
  if (!all_done(j->c, site, pool_for(j->c->pool, j->ranges, 1, count_ranges, j))) return false;
  if (j->fault != UINT64_MAX) return true;
  for (uint64_t i = 0; i < j->ranges; i++) {
    const uint64_t count = j->range_starts[i];
    j->range_starts[i] = start;
    start += count;
  }
  if (!all_done(j->c, site, pool_for(j->c->pool, j->ranges, 1, place_ranges, j))) return false;
  const uint64_t steps = j->s->far.total + start;
  return all_done(j->c, site,
                  pool_for(j->c->pool, steps, grain_for(j->c, steps, WIDEST), reduce_chunk, j));
}

/* With memory for the ends of segments, the starts of ranges and the placed elements. */
static bool scatter_placed(struct job *j, uint64_t site) {
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
    j->placed.at[c] = at + (VECTOR_SLACK - (uintptr_t)at % VECTOR_SLACK) % VECTOR_SLACK;
    at = j->placed.at[c] + n * j->bytes[c] + VECTOR_SLACK;
  }
  const bool done = scatter_in_order(j, site);
  scratch_free(j->c, block, bytes);
  return done;
}

/* ---- both ---- */

bool cpu_combine_scatter(struct cvl_context *c, uint64_t site,
                         const struct combine_scatter *s) {
  struct job j = {.c = c,
                  .s = s,
                  .move = c->kernels->move,
                  .ints = move_int(c->kernels->move, c->int_elem),
                  .fault = UINT64_MAX};
  bool exact = true;
  for (uint32_t i = 0; i < s->columns; i++) {
    j.bytes[i] = elem_bytes(s->column[i].elem);
    exact &= s->column[i].exact != OP_NONE;
  }
  if (s->far.total == 0 && s->near.total == 0) return true;
  if (exact || s->near.total == 0 || s->far.total == 0 ? !scatter_exactly(&j, site)
                                                       : !scatter_placed(&j, site)) {
    return false;
  }
  if (j.fault == UINT64_MAX) return true;
  const uint64_t k = segment_at(&s->near, j.fault);
  return segment_fault(c, site, CVL_E_INDEX, j.fault,
                       int_element(s->index, j.fault, elem_bytes((uint8_t)c->int_elem)),
                       &s->far, k);
}
