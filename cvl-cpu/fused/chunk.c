/* chunk.c - evaluation of a chunk of the domain: its tiles, then reductions, packs and
 * scans of them.
 *
 * A chunk owns whole segments, and units of long segments (operations/long-segments.h). Short
 * segments are evaluated in groups that fit a tile, others block by block. The results of scans
 * and packs depend on the chunks before. A chunk first computes all that does not, waits for
 * its turn, advances the state that is handed from chunk to chunk, and writes its results while
 * the next chunk takes its turn.
 */
#include "cvl-cpu/fused/chunk.h"

#include <string.h>

#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/fused/columns.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/fused/worker.h"
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/operations/scan-ranges.h"

enum { BLOCKS_OF_WHOLE = FUSED_WHOLE / CVL_REDUCE_BLOCK };

static bool no_fault(const struct cvl_kernel *k) {
  return atomic_load_explicit(&k->run.failed, memory_order_relaxed) == FUSED_NONE;
}

/* ---- tiles ---- */

/* Evaluates a tile, strip by strip. False after a fault: consumers have then missed a tile and
 * must not see another, not even an empty one. */
static bool tile(struct fused_worker *w, uint64_t first, uint64_t n) {
  const uint64_t strip = w->k->run.strip;
  bool good = no_fault(w->k);
  w->origin[IN_TILE] = first;
  for (uint64_t i = 0; i < n; i += strip) {
    good &= fused_strip(w, first + i, n - i < strip ? n - i : strip);
  }
  return good;
}

/* Packs a tile: appends the flagged elements to those that the chunk has kept so far. */
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

/* Evaluates `many` whole segments from k on, the first at position p, n positions in all, at
 * most a tile. offsets: their starts, counted from p; NULL if they are of equal length, at most
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
  fused_combine_group(&w->combining, k, many, p, n, offsets);
  pack_tile(w, p, n);
}

/* Evaluates the blocks between positions `low` and `high` of a segment; their totals go to
 * totals[i] for each reduction i. */
static void chunk_blocks(struct fused_worker *w, uint64_t low, uint64_t high,
                         char *const *totals) {
  for (uint64_t p = low; p < high; p += CVL_REDUCE_BLOCK) {
    const uint64_t n = least_of(high - p, CVL_REDUCE_BLOCK);
    const uint64_t block = (p - low) / CVL_REDUCE_BLOCK;
    if (!tile(w, p, n)) continue;
    for (uint32_t i = 0; i < w->k->reduction_count; i++) {
      const struct fused_reduction *r = &w->k->reductions[i];
      r->row->blocks(fused_at(w, r->v, p), n, totals[i] + block * r->v->bytes);
    }
    fused_combine_tile(&w->combining, p, n, block);
    pack_tile(w, p, n);
  }
}

/* Evaluates positions low .. high - 1 of long segment k. */
static void long_segment(struct fused_worker *w, uint64_t k, uint64_t low, uint64_t high) {
  const struct cvl_kernel *kernel = w->k;
  const uint64_t start = segment_start(&kernel->run.segments, k);
  const uint64_t before =
      block_totals_at(start, FUSED_WHOLE) + (low - start) / CVL_REDUCE_BLOCK;
  if (low == start && low < high && kernel->run.long_segments) {
    kernel->run.long_segments[start / FUSED_WHOLE] = k + 1;
  }
  for (uint32_t i = 0; i < kernel->reduction_count; i++) {
    const struct fused_reduction *r = &kernel->reductions[i];
    w->totals[i] = r->totals + before * r->v->bytes;
  }
  fused_combine_begin_long(&w->combining, start, (low - start) / CVL_REDUCE_BLOCK);
  chunk_blocks(w, low, high, w->totals);
}

/* Evaluates a segment of more than a tile. */
static void segment_in_blocks(struct fused_worker *w, uint64_t k, uint64_t low, uint64_t high) {
  if (high - low > FUSED_WHOLE) {
    long_segment(w, k, low, high);
    return;
  }
  for (uint32_t i = 0; i < w->k->reduction_count; i++) {
    w->totals[i] = w->block_totals + i * BLOCKS_OF_WHOLE * sizeof(uint64_t);
  }
  fused_combine_begin(&w->combining);
  chunk_blocks(w, low, high, w->totals);
  for (uint32_t i = 0; i < w->k->reduction_count; i++) {
    const struct fused_reduction *r = &w->k->reductions[i];
    char *totals = w->totals[i];
    r->row->blocks(totals, units_of(high - low, CVL_REDUCE_BLOCK), totals);
    memcpy(r->out + k * r->v->bytes, totals, r->v->bytes);
  }
  fused_combine_end(&w->combining, k, high - low);
}

/* Evaluates segments first <= k < last of equal lengths. */
static void chunk_equal_segments(struct fused_worker *w, uint64_t first, uint64_t last) {
  const uint64_t equal = w->k->run.segments.equal;
  if (equal > FUSED_TILE) {
    for (uint64_t k = first; k < last; k++) segment_in_blocks(w, k, k * equal, (k + 1) * equal);
    return;
  }
  uint64_t offsets[FUSED_TILE + 1];
  const uint64_t most = equal ? FUSED_TILE / equal : FUSED_TILE;
  const bool short_ones = equal <= REDUCE_EQUAL;
  for (uint64_t i = 0; i <= most && !short_ones; i++) offsets[i] = i * equal;
  for (uint64_t k = first, many; k < last; k += many) {
    many = w->k->run.by_columns ? fused_columns(w, k, last) : 0;
    if (many > 0) continue;
    many = last - k < most ? last - k : most;
    group(w, k, many, k * equal, many * equal, short_ones ? NULL : offsets);
  }
}

/* Evaluates segments first <= k < last with the offsets of the descriptor. */
static void offset_segments(struct fused_worker *w, uint64_t first, uint64_t last) {
  const uint64_t *o = w->k->run.segments.offsets;
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
      segment_in_blocks(w, k, p, o[k + 1]);
      k++;
      continue;
    }
    group(w, k, many, p, offsets[many], offsets);
    k += many;
  }
}

/* ---- turns ---- */

static char *window_totals(const struct fused_worker *w, uint32_t scan, int number) {
  const size_t room = (w->k->run.most_positions / SCAN_WINDOW + 2) * sizeof(uint64_t);
  return w->window_totals + (2 * scan + (uint32_t)number) * room;
}

static void chunk_find_totals(struct fused_worker *w, const struct segment_range *range,
                              int number) {
  for (uint32_t i = 0; i < w->k->scan_count && range->begin < range->end; i++) {
    const struct fused_scan *s = &w->k->scans[i];
    scan_range_totals(s->row, s->v->bytes, range, fused_at(w, s->v, range->begin),
                      window_totals(w, i, number));
  }
}

static void use_states(struct fused_worker *w, const struct segment_range *range, int number) {
  for (uint32_t i = 0; i < w->k->scan_count; i++) {
    const struct fused_scan *s = &w->k->scans[i];
    scan_range_advance(s->row, range, s->state, window_totals(w, i, number));
  }
}

static scan_put *put_of(const struct cvl_kernel *k, const struct fused_scan *s) {
  return s->streaming ? k->c->kernels->move->stream : put_in_caches;
}

static void write_range(struct fused_worker *w, const struct segment_range *range, int number) {
  for (uint32_t i = 0; i < w->k->scan_count && range->begin < range->end; i++) {
    const struct fused_scan *s = &w->k->scans[i];
    scan_range_write(s->row, s->v->bytes, range, fused_at(w, s->v, range->begin),
                     window_totals(w, i, number), s->out, put_of(w->k, s));
  }
}

/* Scans segments first <= k < last, from the buffers of the chunk. */
static void chunk_scan_segments(struct fused_worker *w, uint64_t first, uint64_t last) {
  const struct segments *s = &w->k->run.segments;
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

/* Writes the elements that the packs of this chunk keep to the results: base[i] elements were
 * kept before. Segments first <= k < last start in this chunk. */
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

/* ---- chunks ---- */

static struct fused_worker *worker_at(struct cvl_kernel *k, unsigned worker) {
  return (struct fused_worker *)(void *)(k->run.workers + worker * k->run.worker_bytes);
}

static void cpu_chunk_begin(struct fused_worker *w, uint64_t position, uint64_t segment) {
  const struct cvl_kernel *k = w->k;
  w->origin[IN_CHUNK] = position;
  w->skipping = false;
  if (position < k->run.n) fused_walks_at(w, position);
  for (uint32_t i = 0; i < k->pack_count; i++) {
    w->kept[i] = 0;
    w->ranks[i] = walk_from(&k->run.segments, (struct path_coordinate){segment, position});
  }
}

void fused_chunk(void *kernel, uint64_t first, uint64_t last, unsigned worker) {
  struct cvl_kernel *k = kernel;
  struct fused_worker *w = worker_at(k, worker);
  const struct segments *s = &k->run.segments;
  const struct path_coordinate from = segments_split(s, first), to = segments_split(s, last);
  const uint64_t low = owned_from(s, FUSED_WHOLE, CVL_REDUCE_BLOCK, from);
  cpu_chunk_begin(w, low, from.segment);
  struct segment_range in = {0}, out = {0};
  uint64_t whole = to.segment; /* segments from.segment .. whole - 1 are owned as a whole */
  if (long_segment_crosses(s, FUSED_WHOLE, from.segment, from.position)) {
    in = segment_range_of(s, CVL_REDUCE_BLOCK, from.segment - 1, from.position, to.position);
    long_segment(w, from.segment - 1, in.begin, in.end);
  }
  if (to.segment > from.segment &&
      long_segment_crosses(s, FUSED_WHOLE, to.segment, to.position)) {
    whole--;
    out = segment_range_of(s, CVL_REDUCE_BLOCK, whole, from.position, to.position);
  }
  if (s->offsets) {
    offset_segments(w, from.segment, whole);
  } else {
    chunk_equal_segments(w, from.segment, whole);
  }
  if (out.from_start) long_segment(w, whole, out.begin, out.end);

  uint64_t *base = w->kept + k->pack_count;
  if (fused_hands_on(k)) {
    bool good = no_fault(k);
    if (good) chunk_find_totals(w, &in, 0);
    if (good) chunk_find_totals(w, &out, 1);
    if (good) fused_combine_totals(&w->combining, &in, 0);
    if (good) fused_combine_totals(&w->combining, &out, 1);
    const uint64_t chunk = first / k->run.grain;
    await_turn(&k->run.turn, chunk);
    /* An earlier chunk may have failed while this one waited. It has then not advanced the
     * states, which may not even be started; all later chunks see that in their turn. */
    good = no_fault(k);
    if (good) use_states(w, &in, 0);
    if (good) use_states(w, &out, 1);
    if (good) fused_combine_advance(&w->combining, &in, 0);
    if (good) fused_combine_advance(&w->combining, &out, 1);
    for (uint32_t i = 0; i < k->pack_count; i++) {
      base[i] = k->packs[i].kept;
      k->packs[i].kept += w->kept[i];
    }
    atomic_store_explicit(&k->run.turn, chunk + 1, memory_order_release);
    if (good) {
      write_range(w, &in, 0);
      chunk_scan_segments(w, from.segment, whole);
      write_range(w, &out, 1);
      fused_combine_write(&w->combining, &in, from.segment - 1, 0);
      fused_combine_scan(&w->combining, from.segment, whole);
      fused_combine_write(&w->combining, &out, whole, 1);
      write_packs(w, base, from.segment, to.segment);
    }
  }
  if (k->run.streams) k->c->kernels->move->stream_end();
}

void fused_plain_chunk(void *kernel, uint64_t first, uint64_t last, unsigned worker) {
  struct cvl_kernel *k = kernel;
  struct fused_worker *w = worker_at(k, worker);
  cpu_chunk_begin(w, first, 0);
  tile(w, first, last - first);
  if (k->run.streams) k->c->kernels->move->stream_end();
}
