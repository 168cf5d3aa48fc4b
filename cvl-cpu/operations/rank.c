/* rank.c - stable ranks within segments, split over threads.
 *
 * Vector kernels rank short segments by comparisons. Others are ranked by radix sorting of
 * (key, position). The path of segment starts and elements is cut into chunks, and the chunk
 * that a segment starts in ranks it. Segments longer than RANK_LONG are ranked last, one after
 * the other, each by all threads together. RANK_LONG is a tuning value: with the spare buffer
 * about the second-level cache.
 */
#include <string.h>

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/operations/batches.h"
#include "cvl-cpu/operations/rank.h"

enum {
  ON_STACK = 256 /* elements that are sorted on the stack: at most RANK_LONG */
};

/* ---- the loop over segments ---- */

static void rank_segments(const struct rank_job *j, uint64_t first, uint64_t last, char *room) {
  struct batch batch;
  while (first < last) {
    uint64_t many = last - first;
    const uint64_t *offsets = batch_offsets(&batch, &j->s, first, &many);
    first += j->short_segments(j->x, offsets, many, j->out);
    if (first == last) return;
    /* Either the batch is done, or the segment at `first` is too long for the kernel. */
    const uint64_t p = segment_start(&j->s, first), n = segment_start(&j->s, first + 1) - p;
    if (n <= RANK_SOME) continue;
    if (n <= j->long_from) {
      j->medium_segment(j, p, n, room);
    } else {
      j->long_segments[p / j->long_from] = first + 1;
    }
    first++;
  }
}

static void rank_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct rank_job *j = arg;
  const struct path_coordinate from = segments_split(&j->s, first),
                               to = segments_split(&j->s, last);
  rank_segments(j, from.segment, to.segment, j->room + j->room_bytes * worker);
}

static bool rank_long_segments(struct cvl_context *c, uint64_t site, const struct rank_job *j) {
  for (uint64_t w = 0; w <= j->s.total / j->long_from; w++) {
    if (j->long_segments[w] == 0) continue;
    const uint64_t k = j->long_segments[w] - 1, p = segment_start(&j->s, k);
    if (!j->long_segment(c, site, j, p, segment_start(&j->s, k + 1) - p)) return false;
  }
  return true;
}

static bool rank_run(struct cvl_context *c, uint64_t site, struct rank_job *j) {
  j->long_from = tuned(c, RANK_LONG);
  if (j->s.total <= ON_STACK && j->s.count <= BATCH) {
    struct wide_item room[2 * ON_STACK];
    rank_segments(j, 0, j->s.count, (char *)room);
    return true;
  }
  const uint64_t windows = j->s.total / j->long_from + 1;
  j->room_bytes =
      (size_t)(j->s.total < j->long_from ? j->s.total : j->long_from) * j->room_each;
  const size_t long_segments_bytes = (size_t)windows * sizeof *j->long_segments;
  const size_t room_bytes = j->room_bytes * pool_threads(c->pool);
  char *scratch = scratch_alloc(c, site, long_segments_bytes + room_bytes);
  if (!scratch) return false;
  j->long_segments = (uint64_t *)(void *)scratch;
  j->room = scratch + long_segments_bytes;
  memset(j->long_segments, 0, long_segments_bytes);
  const uint64_t steps = segments_steps(&j->s);
  const uint64_t grain = grain_for(c, steps, sizeof(struct wide_item));
  const bool good = all_done(c, site, pool_for(c->pool, steps, grain, rank_chunk, j)) &&
                    rank_long_segments(c, site, j);
  scratch_free(c, scratch, long_segments_bytes + room_bytes);
  return good;
}

struct radix_keys rank_all_keys(const struct radix_keys *k, uint64_t chunks) {
  struct radix_keys all = k[0];
  for (uint64_t i = 1; i < chunks; i++) {
    all.varying |= k[i].varying | (k[i].least ^ all.least);
    if (k[i].least < all.least) all.least = k[i].least;
    if (k[i].most > all.most) all.most = k[i].most;
  }
  return all;
}

/* ---- one segment ---- */

/* Ranks a segment of n <= job.long_from elements at position p. */
static void rank_segment(const struct rank_job *j, uint64_t p, uint64_t n, char *room) {
  const char *x = j->x + p * j->element;
  const struct radix_keys keys = j->row->keys(x, n);
  const struct radix_format format = radix_format_for(&keys, n);
  j->row->items(x, 0, n, &format, room);
  radix_rank(&format, n, room, room + n * radix_item_bytes(&format), j->result,
             j->out + p * j->result);
}

struct long_segment {
  const struct rank_job *job;
  const char *x;
  uint64_t n, chunk; /* elements of the segment, and of a chunk */
  struct radix_format format;
  void *items;
  struct radix_keys *keys; /* the range of each chunk's keys */
};

static void long_segment_keys(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct long_segment *g = arg;
  (void)worker;
  g->keys[first / g->chunk] = g->job->row->keys(g->x + first * g->job->element, last - first);
}

static void long_segment_items(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct long_segment *g = arg;
  (void)worker;
  g->job->row->items(g->x, first, last - first, &g->format, g->items);
}

/* Ranks the items, given the keys of all chunks. */
static bool rank_items(struct cvl_context *c, uint64_t site, struct long_segment *g,
                       unsigned chunks, uint64_t *counts, char *out) {
  const struct radix_keys keys = rank_all_keys(g->keys, (g->n + g->chunk - 1) / g->chunk);
  g->format = radix_format_for(&keys, g->n);
  const size_t bytes = (size_t)g->n * radix_item_bytes(&g->format);
  void *spare = NULL;
  bool good = false;
  g->items = scratch_alloc(c, site, bytes);
  if (g->items) spare = scratch_alloc(c, site, bytes);
  if (spare) {
    good = touch_bytes(c, site, spare, bytes) &&
           touch_bytes(c, site, out, g->n * g->job->result) &&
           all_done(c, site,
                    pool_for(c->pool, g->n, g->chunk, long_segment_items, g) &&
                        radix_rank_parallel(c->pool, &g->format, g->n, chunks, g->items, spare,
                                            counts, g->job->result, out));
    scratch_free(c, spare, bytes);
  }
  if (g->items) scratch_free(c, g->items, bytes);
  return good;
}

static bool rank_long_segment(struct cvl_context *c, uint64_t site, const struct rank_job *j,
                              uint64_t p, uint64_t n) {
  const unsigned chunks = radix_chunks(c->pool, n);
  struct long_segment g = {
      .job = j, .x = j->x + p * j->element, .n = n, .chunk = n / chunks + 1};
  const size_t counts_bytes = radix_counts(chunks) * sizeof(uint64_t);
  const size_t bytes = counts_bytes + chunks * sizeof *g.keys;
  uint64_t *counts = scratch_alloc(c, site, bytes);
  if (!counts) return false;
  g.keys = (struct radix_keys *)(void *)((char *)counts + counts_bytes);
  const bool good = all_done(c, site, pool_for(c->pool, n, g.chunk, long_segment_keys, &g)) &&
                    rank_items(c, site, &g, chunks, counts, j->out + p * j->result);
  scratch_free(c, counts, bytes);
  return good;
}

static bool cpu_ranks_fit(struct cvl_context *c, uint64_t site, const struct segments *s) {
  const uint64_t most = c->int_elem == CVL_I32 ? INT32_MAX : INT64_MAX;
  if (s->total <= most) return true;
  for (uint64_t k = 0; k < s->count; k++) {
    const uint64_t n = segment_start(s, k + 1) - segment_start(s, k);
    if (n <= most) continue;
    return fault(c, (struct cvl_error){.kind = CVL_E_INT_RANGE,
                                       .site = site,
                                       .position = (int64_t)k,
                                       .value = (int64_t)n});
  }
  return true;
}

struct rank_job rank_job_for(const struct cvl_context *c, enum cvl_elem e, bool down) {
  const struct rank_row *row = &c->kernels->rank->row[e][c->int_elem][down];
  return (struct rank_job){.row = row,
                           .element = elem_info(e)->bytes,
                           .result = elem_info(c->int_elem)->bytes,
                           .room_each = 2 * sizeof(struct wide_item),
                           .short_segments = row->segments,
                           .medium_segment = rank_segment,
                           .long_segment = rank_long_segment};
}

void rank_job_of(struct rank_job *j, const struct cvl_value *v, const struct cvl_value *d) {
  j->s = value_segments(d);
  j->x = value_data(v);
}

void rank_alone(const struct rank_job *j, uint64_t n, char *room) {
  const uint64_t offsets[2] = {0, n};
  if (n > RANK_SOME) {
    j->medium_segment(j, 0, n, room);
  } else {
    (void)j->short_segments(j->x, offsets, 1, j->out);
  }
}

bool rank_into(struct cvl_context *c, uint64_t site, struct rank_job *j, enum cvl_elem elem,
               struct cvl_value *out) {
  j->result = elem_info(elem)->bytes;
  if (!cpu_ranks_fit(c, site, &j->s)) return false;
  if (!result_new(c, site, elem, j->s.total, NULL, out)) return false;
  j->out = result_data(out);
  if (rank_run(c, site, j)) return true;
  result_drop(c, out);
  return false;
}

bool cpu_rank(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_value *out) {
  struct rank_job j = rank_job_for(c, (enum cvl_elem)v->elem, op == OP_RANK_DOWN);
  rank_job_of(&j, v, d);
  return rank_into(c, site, &j, c->int_elem, out);
}
