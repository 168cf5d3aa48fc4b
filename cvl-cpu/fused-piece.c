/* fused-piece.c - a piece of the domain: its tiles, and what reductions, packs and scans do
 * with them.
 *
 * A piece owns whole segments and units of giants (parts.h). Short segments are evaluated as
 * many at a time as fit a tile, long ones block by block. What scans and packs write depends
 * on the pieces before: they prepare all that does not, wait for their turn, move on what is
 * handed from piece to piece, and write while the next piece does the same.
 */
#include <string.h>

#include "cvl-cpu/fused-native.h"
#include "cvl-cpu/fused-plan.h"
#include "cvl-cpu/kernels.h"
#include "cvl-cpu/scan-parts.h"

enum { BLOCKS_OF_WHOLE = FUSED_WHOLE / CVL_REDUCE_BLOCK };

static bool no_fault(const struct cvl_kernel *k) {
  return atomic_load_explicit(&k->failed, memory_order_relaxed) == FUSED_NONE;
}

/* ---- tiles ---- */

/* Evaluates a tile, strip by strip. False after a fault: consumers then miss tiles and may not
 * be asked again, not even for a tile of no places. */
static bool tile(struct fused_worker *w, uint64_t first, uint64_t n) {
  const uint64_t strip = w->k->strip;
  bool good = no_fault(w->k);
  w->origin[IN_TILE] = first;
  for (uint64_t i = 0; i < n; i += strip) {
    good &= fused_strip(w, first + i, n - i < strip ? n - i : strip);
  }
  return good;
}

/* The packs' share of a tile: compressed behind what the piece has kept so far. */
static void pack_tile(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct move_kernels *move = k->c->kernels->move;
  uint64_t masks[FUSED_TILE / 64];
  for (uint32_t i = 0; i < k->pack_count; i++) {
    const struct fused_pack *p = &k->packs[i];
    if (i == 0 || p->flags != k->packs[i - 1].flags) {
      move->masks(n, (const uint8_t *)fused_at(w, p->flags, first), masks);
    }
    if (p->offsets) move->ranks(&w->ranks[i], first + n, masks, w->kept[i], p->offsets);
    if (p->wants_result) {
      const size_t bytes = p->v->bytes;
      char *to = w->packed[i] + w->kept[i] * bytes;
      w->kept[i] += move_width(move, bytes)->compress(n, fused_at(w, p->v, first), masks, to);
    } else {
      w->kept[i] += move->count(n, (const uint8_t *)fused_at(w, p->flags, first));
    }
  }
}

/* ---- segments ---- */

/* `many` whole segments from k on, the first at place p, n places in all, at most a tile.
 * offsets: where they start, counted from p; NULL if they are of equal length, at most
 * REDUCE_EQUAL. */
static void group(struct fused_worker *w, uint64_t k, uint64_t many, uint64_t p, uint64_t n,
                  const uint64_t *offsets) {
  if (!tile(w, p, n)) return;
  for (uint32_t i = 0; i < w->k->reduction_count; i++) {
    const struct fused_reduction *r = &w->k->reductions[i];
    const char *x = fused_at(w, r->v, p);
    char *out = r->out + k * r->v->bytes;
    if (offsets) {
      r->row->segments(x, offsets, many, out);
    } else {
      r->row->equal(x, n / many, many, out);
    }
  }
  pack_tile(w, p, n);
}

/* As many of the blocks below as compiled functions do alone, several at a time; where the
 * others begin. */
static uint64_t lone_blocks(struct fused_worker *w, uint64_t low, uint64_t high,
                            char *const *totals) {
  uint64_t p = low;
  while (p < high && fused_native_folds_alone(w->k)) {
    const uint64_t n = high - p < FUSED_WHOLE ? high - p : FUSED_WHOLE;
    if (!fused_native_fold_begin(w, p, n)) break;
    const bool good = no_fault(w->k) && fused_native_fold_blocks(w, p, n);
    fused_native_fold_end(w, p, n);
    const uint64_t block = (p - low) / CVL_REDUCE_BLOCK;
    for (uint32_t i = 0; i < w->k->reduction_count && good; i++) {
      const size_t bytes = w->k->reductions[i].v->bytes;
      memcpy(totals[i] + block * bytes, w->lanes[i], units_of(n, CVL_REDUCE_BLOCK) * bytes);
    }
    p += n;
  }
  return p;
}

/* The blocks of segment k from place `low` to `high`, their totals to totals[i] + at[i] of each
 * reduction i. */
static void blocks(struct fused_worker *w, uint64_t low, uint64_t high, char *const *totals) {
  for (uint64_t p = lone_blocks(w, low, high, totals); p < high; p += CVL_REDUCE_BLOCK) {
    const uint64_t n = high - p < CVL_REDUCE_BLOCK ? high - p : CVL_REDUCE_BLOCK;
    const bool folds = fused_native_fold_begin(w, p, n);
    const bool good = tile(w, p, n);
    if (folds) fused_native_fold_end(w, p, n);
    if (!good) continue;
    const uint64_t block = (p - low) / CVL_REDUCE_BLOCK;
    for (uint32_t i = 0; i < w->k->reduction_count; i++) {
      const struct fused_reduction *r = &w->k->reductions[i];
      const void *x = folds ? w->lanes[i] : fused_at(w, r->v, p);
      r->row->blocks(x, folds ? CVL_REDUCE_LANES : n, totals[i] + block * r->v->bytes);
    }
    pack_tile(w, p, n);
  }
}

/* The places from low to high of giant k. */
static void giant(struct fused_worker *w, uint64_t k, uint64_t low, uint64_t high) {
  const struct cvl_kernel *kernel = w->k;
  const uint64_t start = segment_start(&kernel->segments, k);
  const uint64_t before = giant_base(start, FUSED_WHOLE) + (low - start) / CVL_REDUCE_BLOCK;
  if (low == start && low < high && kernel->giants) {
    kernel->giants[start / FUSED_WHOLE] = k + 1;
  }
  for (uint32_t i = 0; i < kernel->reduction_count; i++) {
    const struct fused_reduction *r = &kernel->reductions[i];
    w->totals[i] = r->totals + before * r->v->bytes;
  }
  blocks(w, low, high, w->totals);
}

/* A segment of more than a tile. */
static void long_segment(struct fused_worker *w, uint64_t k, uint64_t low, uint64_t high) {
  if (high - low > FUSED_WHOLE) {
    giant(w, k, low, high);
    return;
  }
  for (uint32_t i = 0; i < w->k->reduction_count; i++) {
    w->totals[i] = w->block_totals + i * BLOCKS_OF_WHOLE * sizeof(uint64_t);
  }
  blocks(w, low, high, w->totals);
  for (uint32_t i = 0; i < w->k->reduction_count; i++) {
    const struct fused_reduction *r = &w->k->reductions[i];
    char *totals = w->totals[i];
    r->row->blocks(totals, units_of(high - low, CVL_REDUCE_BLOCK), totals);
    memcpy(r->out + k * r->v->bytes, totals, r->v->bytes);
  }
}

/* Segments first <= k < last of equal lengths. */
static void equal_segments(struct fused_worker *w, uint64_t first, uint64_t last) {
  const uint64_t equal = w->k->segments.equal;
  if (equal > FUSED_TILE) {
    for (uint64_t k = first; k < last; k++) long_segment(w, k, k * equal, (k + 1) * equal);
    return;
  }
  uint64_t offsets[FUSED_TILE + 1];
  const uint64_t most = equal ? FUSED_TILE / equal : FUSED_TILE;
  const bool short_ones = equal <= REDUCE_EQUAL;
  for (uint64_t i = 0; i <= most && !short_ones; i++) offsets[i] = i * equal;
  for (uint64_t k = first; k < last; k += most) {
    const uint64_t many = last - k < most ? last - k : most;
    group(w, k, many, k * equal, many * equal, short_ones ? NULL : offsets);
  }
}

/* Segments first <= k < last with the offsets of the descriptor. */
static void offset_segments(struct fused_worker *w, uint64_t first, uint64_t last) {
  const uint64_t *o = w->k->segments.offsets;
  uint64_t offsets[FUSED_TILE + 1];
  for (uint64_t k = first; k < last;) {
    const uint64_t p = o[k];
    uint64_t many = 0;
    offsets[0] = 0;
    while (k + many < last && many < FUSED_TILE && o[k + many + 1] - p <= FUSED_TILE) {
      many++;
      offsets[many] = o[k + many] - p;
    }
    if (many == 0) {
      long_segment(w, k, p, o[k + 1]);
      k++;
      continue;
    }
    group(w, k, many, p, offsets[many], offsets);
    k += many;
  }
}

/* ---- turns ---- */

static char *window_totals(const struct fused_worker *w, uint32_t scan, int part) {
  const size_t room = (w->k->most_places / SCAN_WINDOW + 2) * sizeof(uint64_t);
  return w->window_totals + (2 * scan + (uint32_t)part) * room;
}

static void find_totals(struct fused_worker *w, const struct part *part, int number) {
  for (uint32_t i = 0; i < w->k->scan_count && part->begin < part->end; i++) {
    const struct fused_scan *s = &w->k->scans[i];
    scan_part_totals(s->row, s->v->bytes, part, fused_at(w, s->v, part->begin),
                     window_totals(w, i, number));
  }
}

static void use_states(struct fused_worker *w, const struct part *part, int number) {
  for (uint32_t i = 0; i < w->k->scan_count; i++) {
    const struct fused_scan *s = &w->k->scans[i];
    scan_part_advance(s->row, part, s->state, window_totals(w, i, number));
  }
}

static scan_put *put_of(const struct cvl_kernel *k, const struct fused_scan *s) {
  return s->streaming ? k->c->kernels->move->stream : put_in_caches;
}

static void write_part(struct fused_worker *w, const struct part *part, int number) {
  for (uint32_t i = 0; i < w->k->scan_count && part->begin < part->end; i++) {
    const struct fused_scan *s = &w->k->scans[i];
    scan_part_write(s->row, s->v->bytes, part, fused_at(w, s->v, part->begin),
                    window_totals(w, i, number), s->out, put_of(w->k, s));
  }
}

/* The scans of segments first <= k < last, from the buffers of the piece. */
static void scan_segments(struct fused_worker *w, uint64_t first, uint64_t last) {
  const struct segments *s = &w->k->segments;
  uint64_t offsets[FUSED_TILE + 1];
  while (first < last) {
    const uint64_t many = last - first < FUSED_TILE ? last - first : FUSED_TILE;
    const uint64_t p = segment_start(s, first);
    for (uint64_t i = 0; i <= many; i++) offsets[i] = segment_start(s, first + i) - p;
    for (uint32_t i = 0; i < w->k->scan_count; i++) {
      const struct fused_scan *scan = &w->k->scans[i];
      scan->row->segments(fused_at(w, scan->v, p), offsets, many,
                          scan->out + p * scan->v->bytes, put_of(w->k, scan));
    }
    first += many;
  }
}

/* Puts what the packs of this piece keep where it belongs: base[i] elements were kept before.
 * Segments first <= k < last start in this piece. */
static void write_packs(struct fused_worker *w, const uint64_t *base, uint64_t first,
                        uint64_t last) {
  const struct cvl_kernel *k = w->k;
  for (uint32_t i = 0; i < k->pack_count; i++) {
    const struct fused_pack *p = &k->packs[i];
    if (p->offsets) {
      for (uint64_t s = w->ranks[i].segment; s < last; s++) p->offsets[s] = w->kept[i];
      for (uint64_t s = first; s < last && base[i]; s++) p->offsets[s] += base[i];
    }
    char *to = p->out + base[i] * p->v->bytes;
    if (!p->wants_result || to == w->packed[i]) continue;
    if (p->streaming) {
      k->c->kernels->move->stream(to, w->packed[i], w->kept[i] * p->v->bytes);
    } else {
      memcpy(to, w->packed[i], w->kept[i] * p->v->bytes);
    }
  }
}

/* ---- pieces ---- */

static struct fused_worker *worker_at(struct cvl_kernel *k, unsigned worker) {
  return (struct fused_worker *)(void *)(k->workers + worker * k->worker_bytes);
}

static void begin(struct fused_worker *w, uint64_t place, uint64_t segment) {
  const struct cvl_kernel *k = w->k;
  w->origin[IN_PIECE] = place;
  if (place < k->n) fused_walks_at(w, place);
  for (uint32_t i = 0; i < k->pack_count; i++) {
    w->kept[i] = 0;
    w->ranks[i] = walk_from(&k->segments, (struct place){segment, place});
  }
}

void fused_piece(void *kernel, uint64_t first, uint64_t last, unsigned worker) {
  struct cvl_kernel *k = kernel;
  struct fused_worker *w = worker_at(k, worker);
  const struct segments *s = &k->segments;
  const struct place from = segments_split(s, first), to = segments_split(s, last);
  const uint64_t low = owned_from(s, FUSED_WHOLE, CVL_REDUCE_BLOCK, from);
  begin(w, low, from.segment);
  struct part in = {0}, out = {0};
  uint64_t whole = to.segment; /* segments from.segment .. whole - 1 are all this piece's */
  if (giant_crosses(s, FUSED_WHOLE, from.segment, from.position)) {
    in = part_of(s, CVL_REDUCE_BLOCK, from.segment - 1, from.position, to.position);
    giant(w, from.segment - 1, in.begin, in.end);
  }
  if (to.segment > from.segment && giant_crosses(s, FUSED_WHOLE, to.segment, to.position)) {
    whole--;
    out = part_of(s, CVL_REDUCE_BLOCK, whole, from.position, to.position);
  }
  if (s->offsets) {
    offset_segments(w, from.segment, whole);
  } else {
    equal_segments(w, from.segment, whole);
  }
  if (out.from_start) giant(w, whole, out.begin, out.end);

  uint64_t *base = w->kept + k->pack_count;
  if (fused_hands_on(k)) {
    bool good = no_fault(k);
    if (good) find_totals(w, &in, 0);
    if (good) find_totals(w, &out, 1);
    const uint64_t piece = first / k->grain;
    await_turn(&k->turn, piece);
    /* A piece before this one may have failed while this one waited. It has then not moved the
     * states on, which may not even be started; all later pieces see that in their turn. */
    good = no_fault(k);
    if (good) use_states(w, &in, 0);
    if (good) use_states(w, &out, 1);
    for (uint32_t i = 0; i < k->pack_count; i++) {
      base[i] = k->packs[i].kept;
      k->packs[i].kept += w->kept[i];
    }
    atomic_store_explicit(&k->turn, piece + 1, memory_order_release);
    if (good) {
      write_part(w, &in, 0);
      scan_segments(w, from.segment, whole);
      write_part(w, &out, 1);
      write_packs(w, base, from.segment, to.segment);
    }
  }
  if (k->streams) k->c->kernels->move->stream_end();
}

void fused_plain_piece(void *kernel, uint64_t first, uint64_t last, unsigned worker) {
  struct cvl_kernel *k = kernel;
  struct fused_worker *w = worker_at(k, worker);
  begin(w, first, 0);
  tile(w, first, last - first);
  if (k->streams) k->c->kernels->move->stream_end();
}
