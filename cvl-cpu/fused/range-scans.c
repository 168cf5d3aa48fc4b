/* range-scans.c - see range-scans.h. */
#include "cvl-cpu/fused/range-scans.h"

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/operations/scan-ranges.h"

/* ---- memory ---- */

static size_t scan_room_bytes(const struct ranges *r, const struct fused_scan *s) {
  return s->streaming ? r->most * s->v->bytes + VECTOR_SLACK : 0;
}

size_t range_scans_at(const struct ranges *r, struct range_worker *w, char *memory) {
  const struct cvl_kernel *k = r->k;
  const size_t windows = (r->most / SCAN_WINDOW + 2) * sizeof(uint64_t);
  size_t end = 0;
  const size_t rooms = layout_next(&end, k->scan_count * sizeof(char *));
  const size_t totals = layout_next(&end, 2 * k->scan_count * windows);
  if (memory) {
    w->scan_rooms = (char **)(void *)(memory + rooms);
    w->windows = memory + totals;
    w->window_bytes = windows;
  }
  for (uint32_t i = 0; i < k->scan_count; i++) {
    const size_t bytes = scan_room_bytes(r, &k->scans[i]), at = layout_next(&end, bytes);
    if (memory) w->scan_rooms[i] = memory + at;
  }
  return end;
}

/* The elements of a scan from a position of the range on. */
static char *elements_at(const struct ranges *r, const struct range_worker *w, uint32_t scan,
                         uint64_t position) {
  const struct fused_scan *s = &r->k->scans[scan];
  return s->streaming ? w->scan_rooms[scan] + (position - w->low) * s->v->bytes
                      : s->out + position * s->v->bytes;
}

char *range_scan_elements(const struct ranges *r, const struct range_worker *w,
                          const struct range_part *part, uint32_t output) {
  return elements_at(r, w, (uint32_t)(range_scan(r, output) - r->k->scans), part->low);
}

/* ---- scanning ---- */

static char *windows_of(const struct range_worker *w, uint32_t scan, unsigned number) {
  return w->windows + (2 * scan + number) * w->window_bytes;
}

static const struct segment_range *part_of(const struct range_share *share, unsigned number) {
  return number == 0 ? &share->in : &share->out;
}

/* Whether a compiled function scans: every order gives the same bits. */
static bool scans_at_once(const struct ranges *r, uint32_t scan) {
  return r->function && r->k->scans[scan].v->elem != r->k->c->float_elem;
}

void range_scans_before(const struct ranges *r, struct range_worker *w,
                        const struct range_share *share) {
  for (uint32_t i = 0; i < r->k->scan_count; i++) {
    const struct fused_scan *s = &r->k->scans[i];
    for (unsigned number = 0; number < 2 && !scans_at_once(r, i); number++) {
      const struct segment_range *p = part_of(share, number);
      if (p->begin < p->end)
        scan_range_totals(s->row, s->v->bytes, p, elements_at(r, w, i, p->begin),
                          windows_of(w, i, number));
    }
  }
}

/* ---- INTs and BOOLs ---- */

static const struct reduce_row *combining(const struct ranges *r, uint32_t output) {
  const struct fused_scan *s = range_scan(r, output);
  const enum opcode op = (enum opcode)r->k->op->nodes[s->node].op;
  return &r->k->c->kernels->reduce->row[s->v->elem][opcode_info(op)->operation];
}

/* Whether the range went on with a segment whose beginning it did not know. */
static bool lacks_before(const struct range_worker *w, const struct range_share *share) {
  return share->in.begin < share->in.end && !share->in.from_start && !w->has_turn;
}

/* The state of the last segment; w->in becomes what came before the range, if it lacked that.
 */
static void hand_on(const struct ranges *r, struct range_worker *w,
                    const struct range_share *share, uint32_t output) {
  const uint64_t before = r->so_far[output];
  if (share->in.begin < share->in.end) {
    r->so_far[output] = w->in[output];
    if (lacks_before(w, share)) combining(r, output)->lanes(&r->so_far[output], &before, 1);
    w->in[output] = before;
  }
  if (share->out.begin < share->out.end) r->so_far[output] = w->states[output];
}

/* Puts what came before the range in front of the part of its first segment. */
static void prepend(const struct ranges *r, const struct range_worker *w,
                    const struct range_share *share, uint32_t output) {
  enum { MANY = 512 };
  const struct fused_scan *s = range_scan(r, output);
  const size_t bytes = s->v->bytes;
  _Alignas(uint64_t) char before[MANY * sizeof(uint64_t)];
  memcpy(before, &w->in[output], bytes);
  for (size_t filled = bytes; filled < MANY * bytes; filled *= 2)
    memcpy(before + filled, before, filled);
  char *x = elements_at(r, w, (uint32_t)(s - r->k->scans), share->in.begin);
  for (uint64_t n = share->in.end - share->in.begin, many; n > 0; n -= many) {
    many = least_of(n, MANY);
    combining(r, output)->lanes(x, before, many);
    x += many * bytes;
  }
}

/* Writes what a room has, from its first position on. */
static void write_room(const struct ranges *r, const struct range_worker *w, uint32_t scan,
                       uint64_t end) {
  const struct fused_scan *s = &r->k->scans[scan];
  if (s->streaming)
    r->k->c->kernels->move->stream(s->out + w->low * s->v->bytes, w->scan_rooms[scan],
                                   (end - w->low) * s->v->bytes);
}

/* ---- turns ---- */

void range_scans_turn(const struct ranges *r, struct range_worker *w,
                      const struct range_share *share) {
  for (uint32_t i = 0; i < r->k->scan_count; i++) {
    for (unsigned number = 0; number < 2 && !scans_at_once(r, i); number++)
      scan_range_advance(r->k->scans[i].row, part_of(share, number), &r->states[i],
                         windows_of(w, i, number));
  }
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    const struct fused_scan *s = range_scan(r, i);
    if (s && scans_at_once(r, (uint32_t)(s - r->k->scans))) hand_on(r, w, share, i);
  }
}

static scan_put *range_put(const struct ranges *r, const struct fused_scan *s) {
  return s->streaming ? r->k->c->kernels->move->stream : put_in_caches;
}

static void scan_whole_segments(const struct ranges *r, const struct range_worker *w,
                                uint32_t i, uint64_t from, uint64_t to) {
  const struct fused_scan *s = &r->k->scans[i];
  const struct segments of = value_segments(&r->operands[r->plan->main]);
  uint64_t offsets[PIECE + 1];
  for (uint64_t many; from < to; from += many) {
    many = least_of(to - from, PIECE);
    const uint64_t p = segment_start(&of, from);
    for (uint64_t g = 0; g <= many; g++) offsets[g] = segment_start(&of, from + g) - p;
    s->row->segments(elements_at(r, w, i, p), offsets, many, s->out + p * s->v->bytes,
                     range_put(r, s));
  }
}

static void scan_written(const struct ranges *r, const struct range_worker *w,
                         const struct range_share *share, uint32_t i) {
  const struct fused_scan *s = &r->k->scans[i];
  for (unsigned number = 0; number < 2; number++) {
    const struct segment_range *p = part_of(share, number);
    scan_range_write(s->row, s->v->bytes, p, elements_at(r, w, i, p->begin),
                     windows_of(w, i, number), s->out, range_put(r, s));
  }
  if (share->from < share->whole) scan_whole_segments(r, w, i, share->from, share->whole);
}

void range_scans_after(const struct ranges *r, struct range_worker *w,
                       const struct range_share *share) {
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    const struct fused_scan *s = range_scan(r, i);
    if (!s) continue;
    const uint32_t scan = (uint32_t)(s - r->k->scans);
    if (!scans_at_once(r, scan)) {
      scan_written(r, w, share, scan);
      continue;
    }
    if (lacks_before(w, share)) prepend(r, w, share, i);
    write_room(r, w, scan, share->high);
  }
}
