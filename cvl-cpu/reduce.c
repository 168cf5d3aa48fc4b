/* reduce.c - reductions of segments, split over threads.
 *
 * The path of segment starts and elements (struct place) is cut into pieces of equal cost. The
 * piece that a segment starts in reduces it, unless it is longer than REDUCE_WHOLE: such a
 * giant is a row of blocks, and the piece that a block starts in reduces the block. When all
 * is done the totals of a giant's blocks, side by side in scratch memory, are reduced by the
 * same rule. So no shape leaves a thread with more than a piece and REDUCE_WHOLE elements.
 */
#include <string.h>

#include "cvl-cpu/batches.h"
#include "cvl-cpu/kernels-reduce.h"
#include "cvl-cpu/kernels.h"
#include "cvl-cpu/parts.h"

enum {
  SEGMENT_COST = 8 /* bytes of memory traffic a segment adds: its offset */
};

struct job {
  struct segments s;
  const struct reduce_row *row;
  size_t element; /* bytes */
  const char *x;
  char *out;
  char *totals;     /* of the blocks of giants, see parts.h; NULL: there are none */
  uint64_t *giants; /* [w]: 1 + the giant that starts in window w of REDUCE_WHOLE positions */
};

static uint64_t blocks_of(uint64_t n) {
  return units_of(n, CVL_REDUCE_BLOCK);
}

/* The segments first <= k < last, giants left out. */
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

/* The blocks of giant k that start at low <= position < high. */
static void reduce_giant(const struct job *j, uint64_t k, uint64_t low, uint64_t high) {
  const uint64_t start = segment_start(&j->s, k), end = segment_start(&j->s, k + 1);
  const uint64_t from = low > start ? blocks_of(low - start) : 0;
  const uint64_t to = high < end ? blocks_of(high - start) : blocks_of(end - start);
  if (from >= to) return;
  if (from == 0) j->giants[start / REDUCE_WHOLE] = k + 1;
  const uint64_t begin = start + from * CVL_REDUCE_BLOCK;
  const uint64_t stop = to < blocks_of(end - start) ? start + to * CVL_REDUCE_BLOCK : end;
  j->row->blocks(j->x + begin * j->element, stop - begin,
                 j->totals + (giant_base(start, REDUCE_WHOLE) + from) * j->element);
}

static void reduce_piece(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct job *j = arg;
  (void)worker;
  const struct place from = segments_split(&j->s, first), to = segments_split(&j->s, last);
  reduce_segments(j, from.segment, to.segment);
  if (!j->totals) return;
  /* The giant that began earlier and goes on here, then those that start here. */
  if (from.segment > 0) {
    const uint64_t k = from.segment - 1;
    const uint64_t start = segment_start(&j->s, k), end = segment_start(&j->s, k + 1);
    if (end > from.position && end - start > REDUCE_WHOLE) {
      reduce_giant(j, k, from.position, to.position);
    }
  }
  uint64_t p = from.position;
  while (p < to.position) {
    /* Look at the windows' ends only: a giant covers one, so few segments are looked at. */
    uint64_t k = segment_at(&j->s, p + REDUCE_WHOLE - 1 < j->s.total ? p + REDUCE_WHOLE - 1
                                                                     : j->s.total - 1);
    const uint64_t start = segment_start(&j->s, k), end = segment_start(&j->s, k + 1);
    /* One that starts behind this piece, but within the window, is another piece's. */
    if (k >= from.segment && start < to.position && end - start > REDUCE_WHOLE) {
      reduce_giant(j, k, start, to.position);
      p = end;
    } else {
      p += REDUCE_WHOLE;
    }
  }
}

void finish_giants(const struct segments *s, uint64_t whole, const uint64_t *giants,
                   const struct reduce_row *row, size_t element, char *all_totals, char *out) {
  for (uint64_t w = 0; w <= s->total / whole; w++) {
    if (giants[w] == 0) continue;
    const uint64_t k = giants[w] - 1, start = segment_start(s, k);
    uint64_t n = blocks_of(segment_start(s, k + 1) - start);
    char *totals = all_totals + giant_base(start, whole) * element;
    for (; n > 1; n = blocks_of(n)) row->blocks(totals, n, totals);
    memcpy(out + k * element, totals, element);
  }
}

/* Runs the job with memory for giants. */
static bool reduce_with_giants(struct cvl_context *c, uint64_t site, struct job *j,
                               uint64_t grain) {
  const uint64_t windows = j->s.total / REDUCE_WHOLE + 1;
  const size_t giants_bytes = (size_t)windows * sizeof *j->giants;
  const size_t totals_bytes = (size_t)(giant_base(j->s.total, REDUCE_WHOLE) + 1) * j->element;
  char *scratch = scratch_alloc(c, site, giants_bytes + totals_bytes);
  if (!scratch) return false;
  j->giants = (uint64_t *)(void *)scratch;
  j->totals = scratch + giants_bytes;
  memset(j->giants, 0, giants_bytes);
  const bool done = pool_for(c->pool, segments_steps(&j->s), grain, reduce_piece, j);
  if (done)
    finish_giants(&j->s, REDUCE_WHOLE, j->giants, j->row, j->element, j->totals, j->out);
  scratch_free(c, scratch, giants_bytes + totals_bytes);
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
  if (j.s.total <= SERIAL_BYTES / j.element && j.s.count <= SERIAL_BYTES / SEGMENT_COST &&
      j.s.total <= REDUCE_WHOLE) {
    reduce_segments(&j, 0, j.s.count);
    return true;
  }
  const uint64_t steps = segments_steps(&j.s);
  const uint64_t grain = grain_for(c, steps, j.element);
  const bool good = j.s.total <= REDUCE_WHOLE
                        ? all_done(c, site, pool_for(c->pool, steps, grain, reduce_piece, &j))
                        : reduce_with_giants(c, site, &j, grain);
  if (!good) result_drop(c, out);
  return good;
}
