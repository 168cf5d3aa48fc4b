/* scan.c - exclusive scans of segments, split over threads.
 *
 * The path of segment starts and elements (struct place) is cut into pieces that fit the
 * second-level cache. The piece that a segment starts in scans it; but a segment that reaches
 * past the end of a piece and is longer than WHOLE is a giant, whose windows belong to the
 * pieces they start in. Pieces are taken in order, and the state of the giant's upper levels
 * is handed from piece to piece: each reads its data, to find the totals of its windows, takes
 * its turn at the state, and then writes its result while the data is still in the cache. So
 * the data comes from memory once.
 */
#include "cvl-cpu/batches.h"
#include "cvl-cpu/kernels-move.h"
#include "cvl-cpu/kernels-scan.h"
#include "cvl-cpu/kernels.h"
#include "cvl-cpu/scan-parts.h"

enum {
  WHOLE = 16 << 10,   /* elements */
  ONE_VISIT = 1 << 25 /* elements that one thread alone scans in some tenths of a second: by a
                         loop that reads once and cannot be asked to end */
};

/* What pieces hand on. */
struct chain {
  _Atomic uint64_t turn; /* the piece that may use the state */
  struct scan_state state;
};

struct job {
  struct segments s;
  const struct scan_row *row;
  const struct move_kernels *move;
  scan_put *put;  /* how results reach out */
  size_t element; /* bytes */
  const char *x;
  char *out;
  uint64_t grain;
  struct chain *chain;
  char *totals; /* of the windows of giants: room for two parts for each worker */
  size_t room;  /* bytes of one part */
};

static void scan_segments(const struct job *j, uint64_t first, uint64_t last) {
  struct batch batch;
  while (first < last) {
    uint64_t many = last - first;
    const uint64_t *offsets = batch_offsets(&batch, &j->s, first, &many);
    j->row->segments(j->x, offsets, many, j->out, j->put);
    first += many;
  }
}

/* A part with room for the totals of its windows. */
struct scan_part {
  struct part part;
  char *totals;
};

static struct scan_part begin_part(const struct job *j, uint64_t k, struct place from,
                                   struct place to, char *room) {
  const struct scan_part p = {part_of(&j->s, SCAN_WINDOW, k, from.position, to.position), room};
  scan_part_totals(j->row, j->element, &p.part, j->x + p.part.begin * j->element, room);
  return p;
}

static void finish_part(const struct job *j, const struct scan_part *p) {
  scan_part_write(j->row, j->element, &p->part, j->x + p->part.begin * j->element, p->totals,
                  j->out, j->put);
}

static void scan_piece(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = arg;
  const struct place from = segments_split(&j->s, first), to = segments_split(&j->s, last);
  char *room = j->totals + 2 * j->room * worker;
  struct scan_part in = {0}, out = {0};
  const bool comes_in = giant_crosses(&j->s, WHOLE, from.segment, from.position);
  if (comes_in) in = begin_part(j, from.segment - 1, from, to, room);
  const bool goes_out =
      to.segment > from.segment && giant_crosses(&j->s, WHOLE, to.segment, to.position);
  if (goes_out) out = begin_part(j, to.segment - 1, from, to, room + j->room);
  const uint64_t piece = first / j->grain;
  await_turn(&j->chain->turn, piece);
  if (comes_in) scan_part_advance(j->row, &in.part, &j->chain->state, in.totals);
  if (goes_out) scan_part_advance(j->row, &out.part, &j->chain->state, out.totals);
  atomic_store_explicit(&j->chain->turn, piece + 1, memory_order_release);
  if (comes_in) finish_part(j, &in);
  scan_segments(j, from.segment, to.segment - (goes_out ? 1 : 0));
  if (goes_out) finish_part(j, &out);
  j->move->stream_end();
}

/* Runs the job in pieces. */
static bool scan_in_pieces(struct cvl_context *c, uint64_t site, struct job *j) {
  j->room = (size_t)(units_of(j->grain, SCAN_WINDOW) + 2) * j->element;
  const size_t bytes = sizeof *j->chain + 2 * j->room * pool_threads(c->pool);
  j->chain = scratch_alloc(c, site, bytes);
  if (!j->chain) return false;
  j->totals = (char *)(j->chain + 1);
  atomic_init(&j->chain->turn, 0);
  const bool done = pool_for_in_order(c->pool, segments_steps(&j->s), j->grain, scan_piece, j);
  scratch_free(c, j->chain, bytes);
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
  const bool streaming = !reuse && j.s.total * j.element >= STREAM_BYTES;
  j.put = streaming ? j.move->stream : put_in_caches;
  const uint64_t steps = segments_steps(&j.s);
  const bool alone = pool_threads(c->pool) == 1;
  j.grain = alone ? PIECE_BYTES / j.element : grain_for(c, steps, j.element);
  if (j.grain >= steps || (alone && steps <= ONE_VISIT)) {
    scan_segments(&j, 0, j.s.count);
    j.move->stream_end();
    return true;
  }
  if (scan_in_pieces(c, site, &j)) return true;
  result_drop(c, out);
  return false;
}
