/* scatter-group.c - COMBINE_SCATTER by any function. The elements of each destination become a
 * segment, behind its default and in their order. Then the segments are reduced.
 *
 * Elements are first sorted, without changing their order, into *buckets*. A bucket is a number
 * of consecutive destinations: those whose numbers are equal after a shift. The positions are
 * divided into *chunks*, and a thread takes one chunk at a time and reads only its indices. It
 * counts the elements of each bucket, which gives their places, and then moves them. If there
 * are few destinations, each is a bucket, whose elements are the segment. If there are more, a
 * bucket is small enough for the caches; its elements are sorted once more, and reduced at
 * once.
 */
#include "cvl-cpu/combine/scatter-job.h"

enum {
  BUCKETS_OF_ONE = 1024, /* the most buckets if each has one destination */
  BUCKETS_OF_MORE = 256, /* the usual number otherwise; millions of destinations have more */
  SHIFT_MOST = 16,       /* limits destinations in a bucket: their numbers have 16 bits */
  CHUNKS = 4,            /* for each thread, since threads do not run evenly */
  CHUNK_STEPS = 4096     /* the least number of segments and elements in a chunk */
};

struct group_job {
  struct scatter_job *j;
  unsigned shift;
  uint64_t buckets, chunks;
  /* slots of a chunk; rows are so wide that threads do not write to the same lines */
  uint64_t row;
  uint64_t *slots;  /* for each chunk and bucket: a count, then the place of the next element */
  uint64_t *starts; /* where each bucket begins, and the end of the last */
  uint64_t *tiles;  /* where its tiles begin, if a bucket is one destination; and the end */
  struct order_columns sorted; /* the elements, bucket by bucket */
  /* destination of each element within its bucket, unless that has only one */
  uint16_t *within;
  /* A bucket is grouped in memory of the worker, or in memory of its own if it has many
   * elements. */
  uint64_t *own_starts; /* where each large bucket begins in `own` */
  uint64_t own_items, most_items;
  struct order_columns own;
  char *workers;
  size_t worker_bytes;
};

static struct order_columns columns_from(const struct scatter_job *j,
                                         const struct order_columns *x, uint64_t i) {
  struct order_columns at = {{NULL}};
  for (uint32_t c = 0; c < j->s->columns; c++) at.at[c] = x->at[c] + i * j->bytes[c];
  return at;
}

static struct order_columns scatter_group_results(const struct scatter_job *j, uint64_t d) {
  struct order_columns out = {{NULL}};
  for (uint32_t c = 0; c < j->s->columns; c++) out.at[c] = j->s->column[c].out;
  return columns_from(j, &out, d);
}

/* Sets item i of `to` to the default of destination d. */
static inline void put_default(const struct scatter_job *j, const struct order_columns *to,
                               uint64_t i, uint64_t d) {
  for (uint32_t c = 0; c < j->s->columns; c++) {
    const size_t bytes = j->bytes[c];
    memcpy(to->at[c] + i * bytes, j->s->column[c].defaults + d * bytes, bytes);
  }
}

/* ---- from positions to buckets ---- */

static void count_step(struct scatter_job *j, uint64_t position, uint64_t n, const uint64_t *at,
                       void *with) {
  uint64_t *counts = with;
  const unsigned shift = j->group->shift;
  (void)position;
  for (uint64_t i = 0; i < n; i++) counts[at[i] >> shift]++;
}

/* Hands the elements of a chunk to `take`. */
static void visit_chunk(const struct group_job *g, uint64_t chunk, scatter_take *take) {
  const uint64_t steps = segments_steps(&g->j->s->near), each = steps / g->chunks + 1;
  const uint64_t first = least_of(chunk * each, steps);
  scatter_steps(g->j, first, least_of(first + each, steps), take, g->slots + chunk * g->row);
}

static void count_chunks(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct group_job *g = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    memset(g->slots + i * g->row, 0, g->buckets * sizeof *g->slots);
    visit_chunk(g, i, count_step);
  }
}

/* Returns the place of element i of a step, and counts it. A cache line of a bucket is written
 * long after the line before it, and hardware does not foresee that, so it is prefetched
 * meanwhile. */
static inline uint64_t scatter_group_take_slot(const struct group_job *g, uint64_t at,
                                               uint64_t *slots, size_t bytes) {
  const uint64_t slot = slots[at >> g->shift]++;
  __builtin_prefetch(g->sorted.at[0] + VECTOR_SLACK + slot * bytes, 1);
  if (g->shift == 0) return slot;
  __builtin_prefetch(g->within + VECTOR_SLACK / sizeof *g->within + slot, 1);
  g->within[slot] = (uint16_t)(at & ((UINT64_C(1) << g->shift) - 1));
  return slot;
}

/* Moves the elements of column c: element i goes to to[i]. */
static void move_column(const struct scatter_job *j, uint32_t c, uint64_t position, uint64_t n,
                        const uint64_t *to) {
  const char *v = scatter_values(j, c, position);
  uint64_t repeated[SCATTER_STEP];
  if (j->s->column[c].same) {
    for (uint64_t i = 0; i < n; i++) memcpy((char *)repeated + i * j->bytes[c], v, j->bytes[c]);
    v = (const char *)repeated;
  }
  move_width(j->move, j->bytes[c])->scatter(n, v, to, 0, NOWHERE, j->group->sorted.at[c]);
}

static void move_columns(struct scatter_job *j, uint64_t position, uint64_t n,
                         const uint64_t *at, void *with) {
  uint64_t to[SCATTER_STEP];
  for (uint64_t i = 0; i < n; i++)
    to[i] = scatter_group_take_slot(j->group, at[i], with, j->bytes[0]);
  for (uint32_t c = 0; c < j->s->columns; c++) move_column(j, c, position, n, to);
}

#define MOVES(suffix, type)                                                                    \
  /* Moves elements if there is only one column. */                                            \
  static void move_##suffix(struct scatter_job *j, uint64_t position, uint64_t n,              \
                            const uint64_t *at, void *with) {                                  \
    const struct group_job *g = j->group;                                                      \
    const type *v = (const type *)(const void *)scatter_values(j, 0, position);                \
    type *out = (type *)(void *)g->sorted.at[0];                                               \
    const uint64_t step = !j->s->column[0].same;                                               \
    for (uint64_t i = 0; i < n; i++)                                                           \
      out[scatter_group_take_slot(g, at[i], with, sizeof *v)] = v[i * step];                   \
  }                                                                                            \
  /* Copies a bucket's elements, grouped by destination. */                                    \
  static void group_##suffix(uint64_t n, const uint16_t *within, uint64_t *ends,               \
                             const void *from, void *to) {                                     \
    const type *v = from;                                                                      \
    type *out = to;                                                                            \
    for (uint64_t i = 0; i < n; i++) out[ends[within[i]]++] = v[i];                            \
  }
MOVES(u8, uint8_t)
MOVES(u32, uint32_t)
MOVES(u64, uint64_t)
#undef MOVES

static scatter_take *move_for(const struct scatter_job *j) {
  if (j->s->columns > 1) return move_columns;
  return j->bytes[0] == 8 ? move_u64 : j->bytes[0] == 4 ? move_u32 : move_u8;
}

static void move_chunks(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct group_job *g = job;
  (void)worker;
  for (uint64_t i = first; i < last; i++) visit_chunk(g, i, move_for(g->j));
}

/* Turns counts into places. A bucket of one destination begins with its default. */
static void lay_out_buckets(struct group_job *g) {
  uint64_t at = 0, tiles = 0;
  for (uint64_t p = 0; p < g->buckets; p++) {
    g->starts[p] = at;
    g->tiles[p] = tiles;
    if (g->shift == 0) put_default(g->j, &g->sorted, at++, p);
    for (uint64_t i = 0; i < g->chunks; i++) {
      uint64_t *slot = &g->slots[i * g->row + p];
      const uint64_t count = *slot;
      *slot = at;
      at += count;
    }
    tiles += (at - g->starts[p] + ORDER_TILE - 1) / ORDER_TILE;
  }
  g->starts[g->buckets] = at;
  g->tiles[g->buckets] = tiles;
}

/* ---- buckets of one destination ---- */

/* Returns how many buckets from p on, each of at most a tile, are reduced together. Together
 * they fit one tile. */
static uint64_t short_buckets(const struct group_job *g, uint64_t p, uint64_t end) {
  uint64_t many = 0;
  while (p + many < end && g->starts[p + many + 1] - g->starts[p] <= ORDER_TILE) many++;
  return many;
}

/* Writes the totals of the subtrees of a tile of bucket p before its elements, which are not
 * read again. */
static void reduce_tile(const struct group_job *g, const struct order_function *f, uint64_t p,
                        uint64_t tile, char *scratch) {
  const uint64_t at = g->starts[p] + tile * ORDER_TILE;
  const struct order_columns x = columns_from(g->j, &g->sorted, at);
  order_roots(f, &x, least_of(g->starts[p + 1] - at, ORDER_TILE), &x, scratch);
}

/* Reduces tiles first <= t < last, where all buckets' tiles are numbered consecutively. */
static void reduce_tiles(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct group_job *g = job;
  char *scratch;
  const struct order_function *f = g->j->s->function(g->j->s->with, worker, &scratch);
  const struct segments s = {g->buckets, g->tiles[g->buckets], 0, g->tiles};
  uint64_t p = segment_at(&s, first);
  for (uint64_t t = first; t < last;) {
    while (g->tiles[p + 1] <= t) p++;
    if (g->tiles[p + 1] - g->tiles[p] > 1) {
      reduce_tile(g, f, p, t - g->tiles[p], scratch);
      t++;
      continue;
    }
    const uint64_t many = short_buckets(g, p, least_of(p + (last - t), g->buckets));
    const struct order_columns out = scatter_group_results(g->j, p);
    order_reduce(f, &g->sorted, (struct order_segments){g->starts + p, many}, &out, scratch);
    p += many;
    t += many;
  }
}

/* Reduces a bucket of several tiles from their totals. */
static void reduce_totals(struct group_job *g, uint64_t p) {
  struct scatter_job *j = g->j;
  char *scratch;
  const struct order_function *f = j->s->function(j->s->with, 0, &scratch);
  const struct order_columns x = columns_from(j, &g->sorted, g->starts[p]),
                             out = scatter_group_results(j, p);
  const uint64_t n = g->starts[p + 1] - g->starts[p], tiles = n / ORDER_TILE;
  const unsigned roots = (unsigned)__builtin_popcountll(n % ORDER_TILE);
  for (uint32_t c = 0; c < j->s->columns; c++) {
    const size_t bytes = j->bytes[c];
    for (uint64_t i = 1; i < tiles; i++)
      memcpy(x.at[c] + i * bytes, x.at[c] + i * ORDER_TILE * bytes, bytes);
    memmove(x.at[c] + tiles * bytes, x.at[c] + tiles * ORDER_TILE * bytes, roots * bytes);
  }
  order_total(f, &x, tiles, roots, &out, scratch);
}

static bool reduce_buckets_of_one(struct group_job *g, uint64_t site) {
  struct scatter_job *j = g->j;
  const uint64_t tiles = g->tiles[g->buckets];
  const uint64_t grain = grain_for(j->c, tiles, ORDER_TILE * WIDEST);
  if (!all_done(j->c, site, pool_for(j->c->pool, tiles, grain, reduce_tiles, g))) return false;
  for (uint64_t p = 0; p < g->buckets; p++) {
    if (g->tiles[p + 1] - g->tiles[p] > 1) reduce_totals(g, p);
  }
  return true;
}

/* ---- buckets of several destinations ---- */

/* A bucket that is being grouped. */
struct bucket {
  uint64_t from, n;      /* elements */
  uint64_t first, count; /* destinations */
  /* for each destination: a count, then the place of its next element; ends[-1] is 0 */
  uint64_t *ends;
  struct order_columns groups; /* elements and defaults */
};

static uint64_t destinations(const struct group_job *g, uint64_t p) {
  return least_of(g->j->s->far.total - (p << g->shift), UINT64_C(1) << g->shift);
}

static struct bucket bucket_of(const struct group_job *g, uint64_t p, unsigned worker) {
  char *memory = g->workers + worker * g->worker_bytes;
  struct bucket x = {.from = g->starts[p],
                     .n = g->starts[p + 1] - g->starts[p],
                     .first = p << g->shift,
                     .count = destinations(g, p),
                     .ends = (uint64_t *)(void *)memory + 1};
  x.ends[-1] = 0;
  memory += ((UINT64_C(1) << g->shift) + 1) * sizeof *x.ends;
  for (uint32_t c = 0; c < g->j->s->columns; c++) {
    x.groups.at[c] = memory;
    memory += (g->most_items + VECTOR_SLACK) * WIDEST;
  }
  if (x.n + x.count > g->most_items) x.groups = columns_from(g->j, &g->own, g->own_starts[p]);
  return x;
}

/* Finds the place for each destination's elements, and writes its default before them. */
static void lay_out_groups(const struct group_job *g, const struct bucket *x) {
  const uint16_t *within = g->within + x->from;
  uint64_t start = 0;
  for (uint64_t d = 0; d < x->count; d++) x->ends[d] = 1;
  for (uint64_t i = 0; i < x->n; i++) x->ends[within[i]]++;
  for (uint64_t d = 0; d < x->count; d++) {
    const uint64_t count = x->ends[d];
    put_default(g->j, &x->groups, start, x->first + d);
    x->ends[d] = start + 1;
    start += count;
  }
}

static void group_columns(const struct group_job *g, const struct bucket *x) {
  const struct scatter_job *j = g->j;
  for (uint64_t i = 0; i < x->n; i += SCATTER_STEP) {
    const uint64_t n = least_of(x->n - i, SCATTER_STEP);
    const uint16_t *within = g->within + x->from + i;
    uint64_t to[SCATTER_STEP];
    for (uint64_t k = 0; k < n; k++) to[k] = x->ends[within[k]]++;
    for (uint32_t c = 0; c < j->s->columns; c++) {
      const char *v = g->sorted.at[c] + (x->from + i) * j->bytes[c];
      move_width(j->move, j->bytes[c])->scatter(n, v, to, 0, NOWHERE, x->groups.at[c]);
    }
  }
}

/* Moves the elements. Afterwards ends[d] is the end of those for destination d. */
static void group_bucket(const struct group_job *g, const struct bucket *x) {
  const size_t bytes = g->j->bytes[0];
  const uint16_t *within = g->within + x->from;
  const char *v = g->sorted.at[0] + x->from * bytes;
  char *to = x->groups.at[0];
  if (g->j->s->columns > 1) {
    group_columns(g, x);
  } else if (bytes == 8) {
    group_u64(x->n, within, x->ends, v, to);
  } else if (bytes == 4) {
    group_u32(x->n, within, x->ends, v, to);
  } else {
    group_u8(x->n, within, x->ends, v, to);
  }
}

/* Reduces a segment that is longer than a tile, tile by tile. The totals are written before the
 * elements, which are not read again. */
static void reduce_long(const struct scatter_job *j, const struct order_function *f,
                        const struct order_columns *all, uint64_t n,
                        const struct order_columns *out, char *scratch) {
  for (uint64_t i = 0; i * ORDER_TILE < n; i++) {
    const struct order_columns x = columns_from(j, all, i * ORDER_TILE),
                               totals = columns_from(j, all, i);
    order_roots(f, &x, least_of(n - i * ORDER_TILE, ORDER_TILE), &totals, scratch);
  }
  order_total(f, all, n / ORDER_TILE, (unsigned)__builtin_popcountll(n % ORDER_TILE), out,
              scratch);
}

static void reduce_groups(const struct scatter_job *j, const struct bucket *x,
                          const struct order_function *f, char *scratch) {
  const uint64_t *offsets = x->ends - 1; /* segment d ends at ends[d] */
  for (uint64_t d = 0; d < x->count;) {
    uint64_t many = 0;
    while (d + many < x->count && many < ORDER_TILE &&
           offsets[d + many + 1] - offsets[d] <= ORDER_TILE) {
      many++;
    }
    const struct order_columns out = scatter_group_results(j, x->first + d);
    if (many == 0) {
      const struct order_columns all = columns_from(j, &x->groups, offsets[d]);
      reduce_long(j, f, &all, offsets[d + 1] - offsets[d], &out, scratch);
    } else {
      order_reduce(f, &x->groups, (struct order_segments){offsets + d, many}, &out, scratch);
    }
    d += many > 0 ? many : 1;
  }
}

static void reduce_buckets(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct group_job *g = job;
  char *scratch;
  const struct order_function *f = g->j->s->function(g->j->s->with, worker, &scratch);
  for (uint64_t p = first; p < last && !pool_asked(g->j->c->pool); p++) {
    const struct bucket x = bucket_of(g, p, worker);
    lay_out_groups(g, &x);
    group_bucket(g, &x);
    reduce_groups(g->j, &x, f, scratch);
  }
}

/* Decides how large a bucket may be, destinations included, to be grouped in memory of a
 * worker. Larger ones get memory of their own. */
static void size_up_buckets(struct group_job *g) {
  const uint64_t average = (g->j->s->near.total + g->j->s->far.total) / g->buckets;
  g->most_items = 2 * average + ORDER_TILE;
  g->own_items = 0;
  for (uint64_t p = 0; p < g->buckets; p++) {
    const uint64_t items = g->starts[p + 1] - g->starts[p] + destinations(g, p);
    g->own_starts[p] = g->own_items;
    if (items > g->most_items) g->own_items += items + VECTOR_SLACK;
  }
}

static bool reduce_buckets_of_more(struct group_job *g, uint64_t site) {
  struct scatter_job *j = g->j;
  const unsigned threads = pool_threads(j->c->pool);
  size_up_buckets(g);
  g->worker_bytes =
      ((UINT64_C(1) << g->shift) + 1 + j->s->columns * (g->most_items + VECTOR_SLACK)) * WIDEST;
  const size_t own = g->own_items * WIDEST,
               bytes = threads * g->worker_bytes + own * j->s->columns;
  char *memory = scratch_alloc(j->c, site, bytes);
  if (!memory) return false;
  g->workers = memory;
  for (uint32_t c = 0; c < j->s->columns; c++)
    g->own.at[c] = memory + threads * g->worker_bytes + c * own;
  const uint64_t grain = g->chunks == 1 ? g->buckets : 1;
  const bool done =
      all_done(j->c, site, pool_for(j->c->pool, g->buckets, grain, reduce_buckets, g));
  scratch_free(j->c, memory, bytes);
  return done;
}

/* ---- the whole ---- */

static bool scatter_in_buckets(struct group_job *g, uint64_t site) {
  struct scatter_job *j = g->j;
  if (!all_done(j->c, site, pool_for(j->c->pool, g->chunks, 1, count_chunks, g))) return false;
  if (j->fault != UINT64_MAX) return true;
  j->checked = true;
  lay_out_buckets(g);
  if (!all_done(j->c, site, pool_for(j->c->pool, g->chunks, 1, move_chunks, g))) return false;
  return g->shift == 0 ? reduce_buckets_of_one(g, site) : reduce_buckets_of_more(g, site);
}

static size_t lines(size_t bytes) {
  return (bytes + 2 * VECTOR_SLACK - 1) / VECTOR_SLACK * VECTOR_SLACK;
}

static struct group_job scatter_group_plan(struct scatter_job *j) {
  struct group_job g = {.j = j, .chunks = 1};
  const uint64_t work = segments_steps(&j->s->near), far = j->s->far.total;
  const uint64_t chunks = (uint64_t)pool_threads(j->c->pool) * CHUNKS;
  if (grain_for(j->c, work, WIDEST) < work && pool_threads(j->c->pool) > 1)
    g.chunks = least_of(chunks, work / CHUNK_STEPS + 1);
  while (far > BUCKETS_OF_ONE && (far - 1) >> g.shift >= BUCKETS_OF_MORE &&
         g.shift < SHIFT_MOST)
    g.shift++;
  g.buckets = ((far - 1) >> g.shift) + 1;
  g.row = lines(g.buckets * sizeof *g.slots) / sizeof *g.slots;
  return g;
}

/* Allocates memory for counts and starts, and for the elements in buckets. */
bool scatter_grouped(struct scatter_job *j, uint64_t site) {
  struct group_job g = scatter_group_plan(j);
  const uint64_t n = j->s->near.total, items = n + (g.shift == 0 ? g.buckets : 0);
  const size_t tables = lines((g.chunks * g.row + 3 * g.buckets + 2) * sizeof *g.slots);
  const size_t within = g.shift > 0 ? lines(n * sizeof *g.within) : 0;
  size_t bytes = tables + within;
  for (uint32_t c = 0; c < j->s->columns; c++) bytes += lines(items * j->bytes[c]);
  char *memory = scratch_alloc(j->c, site, bytes);
  if (!memory) return false;
  g.slots = (uint64_t *)(void *)memory;
  g.starts = g.slots + g.chunks * g.row;
  g.tiles = g.starts + g.buckets + 1;
  g.own_starts = g.tiles + g.buckets + 1;
  g.within = (uint16_t *)(void *)(memory + tables);
  char *at = memory + tables + within;
  for (uint32_t c = 0; c < j->s->columns; at += lines(items * j->bytes[c]), c++)
    g.sorted.at[c] = at;
  j->group = &g;
  const bool done = scatter_in_buckets(&g, site);
  scratch_free(j->c, memory, bytes);
  return done;
}
