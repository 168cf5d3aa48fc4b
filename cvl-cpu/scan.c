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
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "cvl-cpu/batches.h"
#include "cvl-cpu/kernels-move.h"
#include "cvl-cpu/kernels-scan.h"
#include "cvl-cpu/kernels.h"

enum {
  WHOLE = 16 << 10,      /* elements */
  SPINS_TO_A_YIELD = 100 /* looks at the turn before giving the processor away */
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

/* The windows of one giant that belong to one piece. */
struct part {
  uint64_t begin, end; /* positions; nothing if equal */
  bool from_start;     /* begins where the giant does */
  char *totals;
};

static uint64_t windows_in(uint64_t n) {
  return n / SCAN_WINDOW + (n % SCAN_WINDOW != 0);
}

/* The part of giant k in low <= position < high. */
static struct part part_of(const struct job *j, uint64_t k, uint64_t low, uint64_t high) {
  const uint64_t start = segment_start(&j->s, k), end = segment_start(&j->s, k + 1);
  struct part p = {.begin = start, .end = end, .from_start = true};
  if (low > start) {
    p.begin = start + windows_in(low - start) * SCAN_WINDOW;
    p.from_start = false;
  }
  if (high < end) p.end = start + windows_in(high - start) * SCAN_WINDOW;
  if (p.end > end) p.end = end;
  if (p.begin > p.end) p.begin = p.end;
  return p;
}

/* Whether segment k, counted from 1, is a giant that crosses from below `position` on. */
static bool crosses(const struct job *j, uint64_t k, uint64_t position) {
  if (k == 0) return false;
  const uint64_t start = segment_start(&j->s, k - 1), end = segment_start(&j->s, k);
  return end > position && end - start > WHOLE;
}

static void put_in_caches(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}

static void scan_segments(const struct job *j, uint64_t first, uint64_t last) {
  struct batch batch;
  while (first < last) {
    uint64_t many = last - first;
    const uint64_t *offsets = batch_offsets(&batch, &j->s, first, &many);
    j->row->segments(j->x, offsets, many, j->out, j->put);
    first += many;
  }
}

static void find_totals(const struct job *j, const struct part *p) {
  const uint64_t n = p->end - p->begin;
  j->row->totals(j->x + p->begin * j->element, n / SCAN_WINDOW, p->totals);
  /* Nothing comes after a short window: its total is not used. */
  if (n % SCAN_WINDOW) memset(p->totals + n / SCAN_WINDOW * j->element, 0, j->element);
}

static void use_state(struct job *j, const struct part *p) {
  if (p->from_start) j->row->start(&j->chain->state);
  j->row->advance(&j->chain->state, windows_in(p->end - p->begin), p->totals);
}

static void write_part(const struct job *j, const struct part *p) {
  if (p->begin == p->end) return;
  char *out = j->out + p->begin * j->element;
  j->row->write(j->x + p->begin * j->element, p->end - p->begin, p->totals, p->from_start, out,
                j->put);
}

/* Waits until all earlier pieces have had their turn. They have all been taken by threads that
 * need nothing from this one. */
static void await_turn(const struct job *j, uint64_t piece) {
  unsigned spins = 0;
  while (atomic_load_explicit(&j->chain->turn, memory_order_acquire) != piece) {
    if (++spins % SPINS_TO_A_YIELD == 0) sched_yield();
  }
}

static void scan_piece(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct job *j = arg;
  const struct place from = segments_split(&j->s, first), to = segments_split(&j->s, last);
  char *room = j->totals + 2 * j->room * worker;
  struct part in = {0}, out = {0};
  const bool comes_in = crosses(j, from.segment, from.position);
  if (comes_in) {
    in = part_of(j, from.segment - 1, from.position, to.position);
    in.totals = room;
    find_totals(j, &in);
  }
  const bool goes_out = to.segment > from.segment && crosses(j, to.segment, to.position);
  if (goes_out) {
    out = part_of(j, to.segment - 1, from.position, to.position);
    out.totals = room + j->room;
    find_totals(j, &out);
  }
  const uint64_t piece = first / j->grain;
  await_turn(j, piece);
  if (comes_in) use_state(j, &in);
  if (goes_out) use_state(j, &out);
  atomic_store_explicit(&j->chain->turn, piece + 1, memory_order_release);
  if (comes_in) write_part(j, &in);
  scan_segments(j, from.segment, to.segment - (goes_out ? 1 : 0));
  if (goes_out) write_part(j, &out);
  j->move->stream_end();
}

/* Runs the job in pieces. */
static bool scan_in_pieces(struct cvl_context *c, uint64_t site, struct job *j) {
  j->room = (size_t)(windows_in(j->grain) + 2) * j->element;
  const size_t bytes = sizeof *j->chain + 2 * j->room * pool_threads(c->pool);
  j->chain = scratch_alloc(c, site, bytes);
  if (!j->chain) return false;
  j->totals = (char *)(j->chain + 1);
  atomic_init(&j->chain->turn, 0);
  pool_for(c->pool, segments_steps(&j->s), j->grain, scan_piece, j);
  scratch_free(c, j->chain, bytes);
  return true;
}

bool cpu_scan(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_vector *reuse, struct cvl_value *out) {
  const enum cvl_elem e = (enum cvl_elem)v->elem;
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
  j.grain = grain_for(c, steps, j.element);
  if (j.grain >= steps || pool_threads(c->pool) == 1) {
    scan_segments(&j, 0, j.s.count);
    j.move->stream_end();
    return true;
  }
  if (scan_in_pieces(c, site, &j)) return true;
  result_drop(c, out);
  return false;
}
