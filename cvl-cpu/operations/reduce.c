/* reduce.c - reductions of segments, split over threads.
 *
 * The path of segment starts and elements (struct path_coordinate) is cut into chunks of equal
 * cost. The chunk that a segment starts in reduces it, unless it is longer than REDUCE_WHOLE. A
 * block of such a long segment is reduced by the chunk that it starts in. At the end the totals
 * of the segment's blocks, contiguous in scratch memory, are reduced by the same rule. So no
 * thread gets more than a chunk and REDUCE_WHOLE elements, whatever the segments.
 */
#include <string.h>

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/reduce.h"
#include "cvl-cpu/operations/batches.h"
#include "cvl-cpu/operations/long-segments.h"

enum {
  SEGMENT_COST = 8 /* bytes of memory traffic for a segment: its offset */
};

struct job {
  struct segments s;
  const struct reduce_row *row;
  size_t element; /* bytes of an element */
  const char *x;
  char *out;
  char *totals; /* of the blocks of long segments (long-segments.h); NULL: there are none */
  /* [w]: 1 + the long segment that starts in window w of REDUCE_WHOLE positions */
  uint64_t *long_segments;
};

static uint64_t reduce_blocks_of(uint64_t n) {
  return units_of(n, CVL_REDUCE_BLOCK);
}

/* Reduces segments first <= k < last, except long ones. */
static void reduce_segments(const struct job *j, uint64_t first, uint64_t last) {
  struct batch batch;
  if (!j->s.offsets && j->s.equal <= REDUCE_EQUAL) {
    j->row->equal(j->x + first * j->s.equal * j->element, j->s.equal, last - first,
                  j->out + first * j->element);
    return;
  }
  while (first < last) {
    uint64_t many = last - first;
    const uint64_t *offsets = batch_offsets(&batch, &j->s, first, &many);
    j->row->segments(j->x, offsets, many, j->out + first * j->element);
    first += many;
  }
}

/* Reduces the blocks of long segment k that start at low <= position < high. */
static void reduce_long_segment(const struct job *j, uint64_t k, uint64_t low, uint64_t high) {
  const uint64_t start = segment_start(&j->s, k), end = segment_start(&j->s, k + 1);
  const uint64_t from = low > start ? reduce_blocks_of(low - start) : 0;
  const uint64_t to =
      high < end ? reduce_blocks_of(high - start) : reduce_blocks_of(end - start);
  if (from >= to) return;
  if (from == 0) j->long_segments[start / REDUCE_WHOLE] = k + 1;
  const uint64_t begin = start + from * CVL_REDUCE_BLOCK;
  const uint64_t stop =
      to < reduce_blocks_of(end - start) ? start + to * CVL_REDUCE_BLOCK : end;
  j->row->blocks(j->x + begin * j->element, stop - begin,
                 j->totals + (block_totals_at(start, REDUCE_WHOLE) + from) * j->element);
}

static void reduce_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct job *j = arg;
  (void)worker;
  const struct path_coordinate from = segments_split(&j->s, first),
                               to = segments_split(&j->s, last);
  reduce_segments(j, from.segment, to.segment);
  if (!j->totals) return;
  /* First comes the long segment that started earlier, then those that start here. */
  if (from.segment > 0) {
    const uint64_t k = from.segment - 1;
    const uint64_t start = segment_start(&j->s, k), end = segment_start(&j->s, k + 1);
    if (end > from.position && end - start > REDUCE_WHOLE) {
      reduce_long_segment(j, k, from.position, to.position);
    }
  }
  uint64_t p = from.position;
  while (p < to.position) {
    /* Looks only at the ends of windows: a long segment covers such an end, so few segments are
     * examined. */
    uint64_t k = segment_at(&j->s, p + REDUCE_WHOLE - 1 < j->s.total ? p + REDUCE_WHOLE - 1
                                                                     : j->s.total - 1);
    const uint64_t start = segment_start(&j->s, k), end = segment_start(&j->s, k + 1);
    /* A segment that starts behind this chunk, but within the window, belongs to another
     * chunk. */
    if (k >= from.segment && start < to.position && end - start > REDUCE_WHOLE) {
      reduce_long_segment(j, k, start, to.position);
      p = end;
    } else {
      p += REDUCE_WHOLE;
    }
  }
}

void finish_long_segments(const struct segments *s, uint64_t whole,
                          const uint64_t *long_segments, const struct reduce_row *row,
                          size_t element, char *all_totals, char *out) {
  for (uint64_t w = 0; w <= s->total / whole; w++) {
    if (long_segments[w] == 0) continue;
    const uint64_t k = long_segments[w] - 1, start = segment_start(s, k);
    uint64_t n = reduce_blocks_of(segment_start(s, k + 1) - start);
    char *totals = all_totals + block_totals_at(start, whole) * element;
    for (; n > 1; n = reduce_blocks_of(n)) row->blocks(totals, n, totals);
    memcpy(out + k * element, totals, element);
  }
}

/* Runs the job with memory for long segments. */
static bool reduce_with_long_segments(struct cvl_context *c, uint64_t site, struct job *j,
                                      uint64_t grain) {
  const uint64_t windows = j->s.total / REDUCE_WHOLE + 1;
  const size_t long_segments_bytes = (size_t)windows * sizeof *j->long_segments;
  const size_t totals_bytes =
      (size_t)(block_totals_at(j->s.total, REDUCE_WHOLE) + 1) * j->element;
  char *scratch = scratch_alloc(c, site, long_segments_bytes + totals_bytes);
  if (!scratch) return false;
  j->long_segments = (uint64_t *)(void *)scratch;
  j->totals = scratch + long_segments_bytes;
  memset(j->long_segments, 0, long_segments_bytes);
  const bool done = pool_for(c->pool, segments_steps(&j->s), grain, reduce_chunk, j);
  if (done)
    finish_long_segments(&j->s, REDUCE_WHOLE, j->long_segments, j->row, j->element, j->totals,
                         j->out);
  scratch_free(c, scratch, long_segments_bytes + totals_bytes);
  return all_done(c, site, done);
}

bool cpu_reduce(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
                const struct cvl_value *d, struct cvl_value *out) {
  const enum cvl_elem e = (enum cvl_elem)v->elem;
  struct job j = {.s = value_segments(d),
                  .row = &c->kernels->reduce->row[e][op],
                  .element = elem_info(e)->bytes,
                  .x = value_data(v)};
  if (!result_new(c, site, e, j.s.count, NULL, out)) return false;
  j.out = result_data(out);
  const uint64_t serial = tuned(c, SERIAL_BYTES);
  if (j.s.total <= serial / j.element && j.s.count <= serial / SEGMENT_COST &&
      j.s.total <= REDUCE_WHOLE) {
    reduce_segments(&j, 0, j.s.count);
    return true;
  }
  const uint64_t steps = segments_steps(&j.s);
  const uint64_t grain = grain_for(c, steps, j.element);
  const bool good = j.s.total <= REDUCE_WHOLE
                        ? all_done(c, site, pool_for(c->pool, steps, grain, reduce_chunk, &j))
                        : reduce_with_long_segments(c, site, &j, grain);
  if (!good) result_drop(c, out);
  return good;
}
