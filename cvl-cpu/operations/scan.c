/* scan.c - exclusive scans of segments, split over threads.
 *
 * The path of segment starts and elements (struct path_coordinate) is cut into chunks that fit
 * the second-level cache. The chunk that a segment starts in scans it. A segment that crosses
 * the end of a chunk and is longer than WHOLE is a long segment. Its windows belong to the
 * chunks they start in. Chunks are taken in order, and the state of the long segment's upper
 * levels is handed from chunk to chunk. A chunk reads its data to compute the totals of its
 * windows, and advances the state in its turn. Then it writes its result while the data is
 * still in the cache. So the data is read from memory once.
 */
#include "cvl-cpu/kernels/scan.h"
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/move.h"
#include "cvl-cpu/operations/batches.h"
#include "cvl-cpu/operations/scan-ranges.h"

enum {
  WHOLE = 16 << 10, /* elements of the shortest long segment */
  /* elements that one thread scans in some tenths of a second, in one loop that reads once and
   * cannot be asked to end */
  ONE_VISIT = 1 << 25
};

/* The state that is handed from chunk to chunk. */
struct carry {
  _Atomic uint64_t turn; /* the chunk that may use the state */
  struct scan_state state;
};

struct job {
  struct segments s;
  const struct scan_row *row;
  const struct move_kernels *move;
  scan_put *put;  /* writes results */
  size_t element; /* bytes of an element */
  const char *x;
  char *out;
  uint64_t grain;
  struct carry *carry;
  char *totals; /* totals of the windows of long segments: two ranges for each worker */
  size_t room;  /* bytes for the totals of one range */
};

static void cpu_scan_segments(const struct job *j, uint64_t first, uint64_t last) {
  struct batch batch;
  while (first < last) {
    uint64_t many = last - first;
    const uint64_t *offsets = batch_offsets(&batch, &j->s, first, &many);
    j->row->segments(j->x, offsets, many, j->out, j->put);
    first += many;
  }
}

/* A range of a long segment, and the totals of its windows. */
struct scan_range {
  struct segment_range range;
  char *totals;
};

static struct scan_range begin_range(const struct job *j, uint64_t k,
                                     struct path_coordinate from, struct path_coordinate to,
                                     char *room) {
  const struct scan_range p = {
      segment_range_of(&j->s, SCAN_WINDOW, k, from.position, to.position), room};
  scan_range_totals(j->row, j->element, &p.range, j->x + p.range.begin * j->element, room);
  return p;
}

static void finish_range(const struct job *j, const struct scan_range *p) {
  scan_range_write(j->row, j->element, &p->range, j->x + p->range.begin * j->element, p->totals,
                   j->out, j->put);
}

static void cpu_scan_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = arg;
  const struct path_coordinate from = segments_split(&j->s, first),
                               to = segments_split(&j->s, last);
  char *room = j->totals + 2 * j->room * worker;
  struct scan_range in = {0}, out = {0};
  const bool comes_in = long_segment_crosses(&j->s, WHOLE, from.segment, from.position);
  if (comes_in) in = begin_range(j, from.segment - 1, from, to, room);
  const bool goes_out =
      to.segment > from.segment && long_segment_crosses(&j->s, WHOLE, to.segment, to.position);
  if (goes_out) out = begin_range(j, to.segment - 1, from, to, room + j->room);
  const uint64_t chunk = first / j->grain;
  await_turn(&j->carry->turn, chunk);
  if (comes_in) scan_range_advance(j->row, &in.range, &j->carry->state, in.totals);
  if (goes_out) scan_range_advance(j->row, &out.range, &j->carry->state, out.totals);
  atomic_store_explicit(&j->carry->turn, chunk + 1, memory_order_release);
  if (comes_in) finish_range(j, &in);
  cpu_scan_segments(j, from.segment, to.segment - (goes_out ? 1 : 0));
  if (goes_out) finish_range(j, &out);
  j->move->stream_end();
}

/* Runs the job in chunks. */
static bool scan_in_chunks(struct cvl_context *c, uint64_t site, struct job *j) {
  j->room = (size_t)(units_of(j->grain, SCAN_WINDOW) + 2) * j->element;
  const size_t bytes = sizeof *j->carry + 2 * j->room * pool_threads(c->pool);
  j->carry = scratch_alloc(c, site, bytes);
  if (!j->carry) return false;
  j->totals = (char *)(j->carry + 1);
  atomic_init(&j->carry->turn, 0);
  const bool done =
      pool_for_in_order(c->pool, segments_steps(&j->s), j->grain, cpu_scan_chunk, j);
  scratch_free(c, j->carry, bytes);
  return all_done(c, site, done);
}

bool cpu_scan(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_value *out) {
  const enum cvl_elem e = (enum cvl_elem)v->elem;
  struct cvl_vector *reuse = value_reusable(v, elem_bytes(v->elem));
  struct job j = {.s = value_segments(d),
                  .row = &c->kernels->scan->row[e][op],
                  .move = c->kernels->move,
                  .element = elem_info(e)->bytes,
                  .x = value_data(v)};
  if (!result_new(c, site, e, j.s.total, reuse, out)) return false;
  j.out = result_data(out);
  const bool streaming = !reuse && j.s.total * j.element >= tuned(c, STREAM_BYTES);
  j.put = streaming ? j.move->stream : put_in_caches;
  const uint64_t steps = segments_steps(&j.s);
  const bool alone = pool_threads(c->pool) == 1;
  j.grain = alone ? tuned(c, CHUNK_BYTES) / j.element : grain_for(c, steps, j.element);
  if (j.grain >= steps || (alone && steps <= ONE_VISIT)) {
    cpu_scan_segments(&j, 0, j.s.count);
    j.move->stream_end();
    return true;
  }
  if (scan_in_chunks(c, site, &j)) return true;
  result_drop(c, out);
  return false;
}
