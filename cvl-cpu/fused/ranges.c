/* ranges.c - see ranges.h. */
#include "cvl-cpu/fused/ranges.h"

#include <string.h>

#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/fused/range-combinations.h"
#include "cvl-cpu/fused/range-scans.h"
#include "cvl-cpu/kernels/kernels.h"

/* ---- whether a run suits ---- */

bool fused_ranges_suit(const struct cvl_kernel *k) {
  const struct fused_functions *f = fused_compiled_functions(k->compiled);
  for (uint32_t p = 0; p < k->op->param_count; p++) {
    if (f->one[p] && !k->run.one[p]) return false;
  }
  return true;
}

/* ---- ranges ---- */

static uint64_t ranges_units(const struct cvl_kernel *k, const struct kernel_range_plan *plan,
                             const struct cvl_value *operands) {
  if (!ranges_of_segments(plan)) return k->run.n;
  const struct segments s = value_segments(&operands[plan->main]);
  return segments_steps(&s);
}

/* Positions, or steps over segments, that a thread takes at a time: all of them where the pool
 * would cost more than it gains; otherwise so that what they read and write stays in the
 * second-level cache. One thread alone takes as many as it may before it looks again whether it
 * must stop. */
static uint64_t ranges_grain(const struct cvl_kernel *k, uint64_t units) {
  enum { LEAST = CVL_REDUCE_BLOCK };
  const unsigned threads = pool_threads(k->c->pool);
  if (units <= k->serial_steps) return units ? units : 1;
  const bool large = threads == 1 && !fused_hands_on(k);
  const uint64_t bytes = large ? tuned(k->c, LONE_BYTES) : tuned(k->c, CHUNK_BYTES);
  uint64_t grain = least_of(bytes / k->cost, units / threads + 1);
  if (grain < LEAST) grain = LEAST;
  grain = (grain + LEAST - 1) / LEAST * LEAST;
  return grain < units ? grain : units;
}

static struct range_worker *worker_of(const struct ranges *r, unsigned worker) {
  return (struct range_worker *)(void *)(r->workers + worker * r->worker_bytes);
}

static bool goes_on(struct ranges *r, bool good) {
  if (!good) atomic_store_explicit(&r->failed, true, memory_order_relaxed);
  return !atomic_load_explicit(&r->failed, memory_order_relaxed);
}

/* Whether starts of segments of one length are computed for each call. */
static bool computes_starts(const struct ranges *r) {
  const uint32_t params = r->k->op->param_count;
  for (uint32_t p = 0; p < params; p++) {
    if (r->k->op->kinds[p] != SUPEROP_SEGDES || value_segments(&r->operands[p]).offsets)
      continue;
    if (range_reads_as(r, p, READ_IN_SEGMENTS) || p == r->plan->main) return true;
  }
  return false;
}

/* ---- turns ---- */

/* The segments that end in a range: whole ones, and perhaps a long one before them or behind
 * them. */
struct range_segments {
  uint64_t from, to;
};

/* Appends what a range keeps of an output. The ends of its segments were counted from its
 * start. */
static void append(const struct ranges *r, const struct range_worker *w, uint32_t i,
                   struct range_segments ending) {
  const struct fused_pack *p = range_pack(r, i);
  if (!p) return;
  if (range_is(r, i, OUTPUT_KEPT_LENGTHS)) {
    for (uint64_t g = ending.from; g < ending.to && p->offsets; g++)
      p->offsets[g + 1] += w->before[i];
    return;
  }
  char *to = p->out + w->before[i] * p->v->bytes;
  if (p->streaming)
    r->k->c->kernels->move->stream(to, w->rooms[i], w->kept[i] * p->v->bytes);
  else
    memcpy(to, w->rooms[i], w->kept[i] * p->v->bytes);
}

/* Begins a range of this number, the first of whose positions is `low`. If it has its turn
 * already, it goes on with what those before have of their last segment. */
static struct range_worker *begin_range(const struct ranges *r, unsigned worker,
                                        uint64_t number, uint64_t low) {
  struct range_worker *w = worker_of(r, worker);
  w->low = low;
  w->has_turn = !r->hands_on || atomic_load_explicit(&r->turn, memory_order_acquire) == number;
  if (w->has_turn) memcpy(w->states, r->so_far, r->k->op->output_count * sizeof *w->states);
  memset(w->kept, 0, r->k->op->output_count * sizeof *w->kept);
  return w;
}

/* Ends the range of this number. It has its turn even if it failed: others wait for that. */
static void end_range(struct ranges *r, struct range_worker *w, uint64_t number,
                      const struct range_share *share, struct range_segments ending) {
  const uint32_t outputs = r->k->op->output_count;
  range_scans_before(r, w, share);
  if (r->k->scans_by) range_combinations_before(w, share);
  if (r->hands_on) await_turn(&r->turn, number);
  const bool good = goes_on(r, true);
  if (good) range_scans_turn(r, w, share);
  if (good && r->k->scans_by) range_combinations_turn(w, share);
  for (uint32_t i = 0; i < outputs && r->k->pack_count > 0; i++) {
    w->before[i] = r->kept[i];
    r->kept[i] += w->kept[i];
  }
  if (r->hands_on) atomic_store_explicit(&r->turn, number + 1, memory_order_release);
  if (good) range_scans_after(r, w, share);
  if (good && r->k->scans_by) range_combinations_after(r, w, share);
  for (uint32_t i = 0; i < outputs && r->hands_on && good; i++) append(r, w, i, ending);
  if (r->k->run.streams) r->k->c->kernels->move->stream_end();
}

/* ---- parts ---- */

/* The most positions of a call: a tile for combinations, what stays in caches until it is
 * streamed, or any. */
static uint64_t most_of_call(const struct ranges *r) {
  return r->k->combines ? CVL_REDUCE_BLOCK : r->stages ? STAGED : UINT64_MAX;
}

static void positions(void *ranges, uint64_t first, uint64_t last, unsigned worker) {
  struct ranges *r = ranges;
  struct range_worker *w = begin_range(r, worker, first / r->grain, first);
  const struct range_share share = {.high = last, .in = {first, last, first == 0}};
  const uint64_t starts = r->computes_starts ? PIECE : UINT64_MAX;
  const uint64_t most = least_of(last - first, least_of(most_of_call(r), starts));
  if (first == 0 && r->k->combines && r->k->run.n > r->k->run.whole) r->long_segments[0] = 1;
  for (uint64_t low = first; low < last; low += most) {
    const struct range_part part = {.low = low,
                                    .high = low + least_of(most, last - low),
                                    .begins = low == first && (low == 0 || !w->has_turn)};
    if (!goes_on(r, range_part_call(r, w, &part))) break;
  }
  memcpy(w->in, w->states, r->k->op->output_count * sizeof *w->in);
  end_range(r, w, first / r->grain, &share, (struct range_segments){0});
}

/* Notes where a segment that was executed in parts ends, in what is kept. */
static void note_end(const struct ranges *r, const struct range_worker *w, uint64_t g) {
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    const struct fused_pack *p = range_pack(r, i);
    if (range_is(r, i, OUTPUT_KEPT_LENGTHS) && p->offsets) p->offsets[g + 1] = w->kept[i];
  }
}

/* Executes some positions of a long segment, or none. */
static bool long_segment(struct ranges *r, struct range_worker *w, uint64_t g,
                         const struct segment_range *of) {
  const uint64_t most = least_of(of->end - of->begin, most_of_call(r));
  bool good = true;
  if (of->begin == of->end) return true;
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  if (of->from_start) r->long_segments[of->begin / r->k->run.whole] = g + 1;
  for (uint64_t low = of->begin; low < of->end && good; low += most) {
    const struct range_part part = {.low = low,
                                    .high = low + least_of(most, of->end - low),
                                    .first = g,
                                    .last = g + 1,
                                    .cut = true,
                                    .begins =
                                        low == of->begin && (of->from_start || !w->has_turn)};
    good = goes_on(r, range_part_call(r, w, &part));
  }
  if (of->end == segment_start(&s, g + 1)) note_end(r, w, g);
  return good;
}

/* The segments from `first` on, to `last` at most, that one call takes. */
static uint64_t segments_of_call(const struct ranges *r, const struct segments *s,
                                 uint64_t first, uint64_t last) {
  const uint64_t start = segment_start(s, first);
  const uint64_t most = most_of_call(r);
  if ((r->computes_starts || r->k->combines) && last - first > PIECE) last = first + PIECE;
  if (segment_start(s, last) - start <= most) return last;
  uint64_t low = first + 1, high = last;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    if (segment_start(s, middle) - start <= most)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static bool whole_segments(struct ranges *r, struct range_worker *w, const struct segments *s,
                           uint64_t from, uint64_t to) {
  bool good = true;
  for (uint64_t g = from, next; g < to && good; g = next) {
    const uint64_t start = segment_start(s, g), end = segment_start(s, g + 1);
    const bool cuts = r->parts && (r->stages || r->k->combines);
    if (cuts && end - start > r->k->run.whole) {
      next = g + 1;
      good = long_segment(r, w, g, &(struct segment_range){start, end, true});
    } else {
      next = segments_of_call(r, s, g, to);
      const struct range_part part = {
          .low = start, .high = segment_start(s, next), .first = g, .last = next};
      good = goes_on(r, range_part_call(r, w, &part));
    }
  }
  return good;
}

static struct range_share share_of(const struct segments *s, uint64_t whole,
                                   struct path_coordinate from, struct path_coordinate to) {
  struct range_share share = {.from = from.segment,
                              .whole = to.segment,
                              .high = owned_from(s, whole, CVL_REDUCE_BLOCK, to)};
  if (long_segment_crosses(s, whole, from.segment, from.position))
    share.in =
        segment_range_of(s, CVL_REDUCE_BLOCK, from.segment - 1, from.position, to.position);
  if (to.segment > from.segment && long_segment_crosses(s, whole, to.segment, to.position)) {
    share.whole--;
    share.out = segment_range_of(s, CVL_REDUCE_BLOCK, share.whole, from.position, to.position);
  }
  return share;
}

static void steps(void *ranges, uint64_t first, uint64_t last, unsigned worker) {
  struct ranges *r = ranges;
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  const struct path_coordinate from = segments_split(&s, first), to = segments_split(&s, last);
  const struct range_share share = share_of(&s, r->k->run.whole, from, to);
  const struct segment_range *in = &share.in, *out = &share.out;
  struct range_worker *w = begin_range(r, worker, first / r->grain,
                                       owned_from(&s, r->k->run.whole, CVL_REDUCE_BLOCK, from));
  struct range_segments ending = {share.from, share.whole};
  bool good = long_segment(r, w, from.segment - 1, in);
  memcpy(w->in, w->states, r->k->op->output_count * sizeof *w->in);
  good = good && whole_segments(r, w, &s, share.from, share.whole) &&
         long_segment(r, w, share.whole, out);
  if (good && in->begin < in->end && in->end == segment_start(&s, from.segment)) ending.from--;
  if (good && out->begin < out->end && out->end == segment_start(&s, to.segment)) ending.to++;
  end_range(r, w, first / r->grain, &share, ending);
}

/* ---- memory ---- */

/* Bytes of the starts of a descriptor that is given whole; 0: it has them. */
static size_t whole_bytes(const struct ranges *r, uint32_t p) {
  const bool in_some = range_reads_as(r, p, READ_BY_POSITIONS) && p != r->plan->main;
  if (r->k->op->kinds[p] != SUPEROP_SEGDES || r->plan->one[p]) return 0;
  if (!in_some && !range_reads_as(r, p, READ_WHOLE)) return 0;
  const struct segments s = value_segments(&r->operands[p]);
  return s.offsets ? 0 : (s.count + 1) * sizeof(uint64_t);
}

static void fill_whole(const struct ranges *r, uint32_t p, char *memory) {
  const struct segments s = value_segments(&r->operands[p]);
  uint64_t *starts = (uint64_t *)(void *)memory;
  r->whole[p] = starts;
  for (uint64_t g = 0; g <= s.count; g++) starts[g] = g * s.equal;
}

/* Bytes of the totals of the blocks of a reduction, which become its result; 0: of segments. */
static size_t block_bytes(const struct ranges *r, uint32_t i) {
  if (!range_reduction(r, i) || ranges_of_segments(r->plan)) return 0;
  return (units_of(r->k->run.n, CVL_REDUCE_BLOCK) + 1) * sizeof(uint64_t);
}

/* Bytes of the totals of the blocks of long segments. */
static size_t total_bytes(const struct ranges *r, uint32_t i) {
  if (!r->parts || !range_reduction(r, i)) return 0;
  return (block_totals_at(r->k->run.n, r->k->run.whole) + 1) * sizeof(uint64_t);
}

/* ---- the run ---- */

static bool make_results_of(struct ranges *r) {
  struct cvl_kernel *k = r->k;
  k->run.streams = false;
  for (uint32_t i = 0; i < k->op->output_count; i++) {
    struct fused_value *v = &k->values[k->op->outputs[i]];
    const bool reduces = range_reduction(r, i) != NULL;
    if (range_pack(r, i) || range_scatter(r, i) || range_is(r, i, OUTPUT_COMBINED)) continue;
    if (!result_new(k->c, k->run.site + v->node, (enum cvl_elem)v->elem,
                    reduces ? k->run.segments.count : k->run.n, NULL, &v->whole))
      return false;
    v->streaming = !reduces && k->run.n * v->bytes >= tuned(k->c, STREAM_BYTES);
    k->run.streams |= v->streaming;
    struct fused_scan *s = range_scan(r, i);
    if (!s) {
      r->stages |= v->streaming;
      continue;
    }
    s->out = result_data(&v->whole);
    s->streaming = v->streaming;
  }
  for (uint32_t i = 0; i < k->pack_count; i++) {
    struct fused_pack *p = &k->packs[i];
    if (!fused_pack_make(k, p)) return false;
    if (p->offsets) p->offsets[0] = 0;
  }
  return range_combinations_begin(r) && fused_scatter_begin(k, r->operands);
}

static bool finish_packs(const struct ranges *r) {
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    struct fused_pack *p = range_pack(r, i);
    if (p) p->kept = r->kept[i];
  }
  for (uint32_t i = 0; i < r->k->pack_count; i++) {
    if (!fused_pack_finish(r->k, &r->k->packs[i])) return false;
  }
  return true;
}

/* Of segments that were executed in parts. */
static void finish_long(const struct ranges *r, const struct fused_reduction *of, uint32_t i) {
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  finish_long_segments(&s, r->k->run.whole, r->long_segments, of->row, of->v->bytes,
                       r->totals[i], r->results[i]);
}

/* Of the only segment: the totals of blocks, until one is left. */
static void finish_only(const struct ranges *r, const struct fused_reduction *of, uint32_t i) {
  static const uint64_t none[2];
  uint64_t blocks = units_of(r->k->run.n, CVL_REDUCE_BLOCK);
  if (blocks == 0) of->row->segments(none, none, 1, r->results[i]);
  for (; blocks > 1; blocks = units_of(blocks, CVL_REDUCE_BLOCK))
    of->row->blocks(r->results[i], blocks, r->results[i]);
  memcpy(result_data(&r->k->values[r->k->op->outputs[i]].whole), r->results[i], of->v->bytes);
}

static void finish_reductions(const struct ranges *r) {
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    const struct fused_reduction *of = range_reduction(r, i);
    if (of && !ranges_of_segments(r->plan)) finish_only(r, of, i);
    if (of && r->parts) finish_long(r, of, i);
  }
}

/* Where an output goes: to its vector, or to what becomes that. */
static void *output_at(const struct ranges *r, uint32_t i) {
  if (range_is(r, i, OUTPUT_COMBINED)) return NULL;
  const struct fused_pack *p = range_pack(r, i);
  if (p) return range_is(r, i, OUTPUT_KEPT_LENGTHS) ? (void *)p->offsets : p->out;
  return result_data(&r->k->values[r->k->op->outputs[i]].whole);
}

/* Lays out the memory of a run, but for its workers; sets it up, if it is there. */
static size_t shared_at(struct ranges *r, char *memory) {
  const struct superop *op = r->k->op;
  size_t end = 0;
  const size_t results = layout_next(&end, op->output_count * sizeof(void *));
  const size_t whole = layout_next(&end, op->param_count * sizeof(void *));
  const size_t kept = layout_next(&end, op->output_count * sizeof(uint64_t));
  const size_t totals_of = layout_next(&end, op->output_count * sizeof(char *));
  const size_t states = layout_next(&end, r->k->scan_count * sizeof *r->states);
  const size_t so_far = layout_next(&end, op->output_count * sizeof(uint64_t));
  const bool cuts = r->parts || r->k->combines;
  const size_t windows = cuts ? r->k->run.n / r->k->run.whole + 1 : 0;
  const size_t long_segments = layout_next(&end, windows * sizeof(uint64_t));
  if (memory) {
    r->results = (void **)(void *)(memory + results);
    r->whole = (const uint64_t **)(void *)(memory + whole);
    r->kept = (uint64_t *)(void *)(memory + kept);
    r->states = (struct scan_state *)(void *)(memory + states);
    r->so_far = (uint64_t *)(void *)(memory + so_far);
    memset(r->so_far, 0, op->output_count * sizeof *r->so_far);
    r->totals = (char **)(void *)(memory + totals_of);
    r->long_segments = (uint64_t *)(void *)(memory + long_segments);
    memset(r->kept, 0, op->output_count * sizeof *r->kept);
    memset(r->long_segments, 0, windows * sizeof(uint64_t));
  }
  for (uint32_t p = 0; p < op->param_count; p++) {
    const size_t bytes = whole_bytes(r, p), from = layout_next(&end, bytes);
    if (memory && bytes > 0) fill_whole(r, p, memory + from);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    const size_t bytes = block_bytes(r, i), from = layout_next(&end, bytes);
    const size_t totals = layout_next(&end, total_bytes(r, i));
    if (!memory) continue;
    r->results[i] = bytes > 0 ? memory + from : output_at(r, i);
    r->totals[i] = memory + totals;
  }
  const size_t combined = layout_next(&end, range_combinations_shared_at(r, NULL));
  if (memory) range_combinations_shared_at(r, memory + combined);
  return end;
}

/* The only segment has no elements: combinations of it are identities. */
static void combine_nothing(const struct ranges *r) {
  static const uint64_t offsets[2];
  if (r->k->combines) fused_combine_group(&worker_of(r, 0)->combining, 0, 1, 0, offsets);
}

static pool_body *body_of(const struct ranges *r) {
  return ranges_of_segments(r->plan) ? steps : positions;
}

/* All units, for some parts of the destinations. */
static void destinations(void *ranges, uint64_t first, uint64_t last, unsigned worker) {
  struct ranges *r = ranges;
  for (uint64_t part = first; part < last; part++) {
    range_destinations(r, worker_of(r, worker), part, fused_scatter_parts(r->k));
    for (uint64_t u = 0; u < r->units && !pool_asked(r->k->c->pool); u += r->grain)
      body_of(r)(r, u, u + least_of(r->grain, r->units - u), worker);
  }
}

static bool run_all(struct ranges *r) {
  struct pool *pool = r->k->c->pool;
  if (r->scattering == SCATTER_BY_DESTINATIONS)
    return pool_for(pool, fused_scatter_parts(r->k), 1, destinations, r);
  return (r->hands_on ? pool_for_in_order : pool_for)(pool, r->units, r->grain, body_of(r), r);
}

/* All memory of the run is one block. */
static enum ranges_outcome run_ranges(struct ranges *r) {
  struct cvl_kernel *k = r->k;
  const uint64_t units = r->units;
  r->grain = ranges_grain(k, units);
  r->hands_on = fused_hands_on(k) && units > r->grain;
  k->run.most_positions = r->most =
      least_of(k->run.n, r->grain + LONG_SEGMENT + CVL_REDUCE_BLOCK);
  r->parts = ranges_of_segments(r->plan) && k->run.n > k->run.whole &&
             (units > r->grain || r->stages || k->combines);
  const bool alone = units <= r->grain && r->scattering != SCATTER_BY_DESTINATIONS;
  const unsigned threads = alone ? 1 : pool_threads(k->c->pool);
  r->worker_bytes = range_worker_at(r, NULL);
  size_t bytes = 0;
  const size_t workers = layout_next(&bytes, threads * r->worker_bytes);
  const size_t shared = layout_next(&bytes, shared_at(r, NULL));
  char *block = scratch_alloc(k->c, k->run.site, bytes);
  if (!block) return RANGES_FAILED;
  r->workers = block + workers;
  shared_at(r, block + shared);
  for (unsigned i = 0; i < threads; i++) range_worker_at(r, r->workers + i * r->worker_bytes);
  const bool done = run_all(r);
  const bool good = done && goes_on(r, true);
  k->run.long_segments = r->long_segments;
  if (good && k->run.n == 0 && !ranges_of_segments(r->plan)) combine_nothing(r);
  if (good) finish_reductions(r);
  if (good && k->combines) fused_combine_finish(&worker_of(r, 0)->combining);
  const bool finished = !good || (finish_packs(r) && range_combinations_scatter(r));
  scratch_free(k->c, block, bytes);
  if (!all_done(k->c, k->run.site, done) || !finished) return RANGES_FAILED;
  return good ? RANGES_DONE : RANGES_UNFIT;
}

enum ranges_outcome fused_ranges_run(struct cvl_kernel *k, const struct cvl_value *operands) {
  const bool compiled = k->run.way == BY_FUNCTION;
  if (!compiled && !k->strips) return RANGES_UNFIT; /* there was no memory */
  struct ranges r = {.k = k,
                     .plan = compiled ? &fused_compiled_functions(k->compiled)->range
                                      : strips_plan(k->strips),
                     .operands = operands,
                     .function = compiled ? fused_compiled_range(k->compiled) : NULL};
  r.units = ranges_units(k, r.plan, operands);
  r.scattering = fused_scattering(k, r.plan->ordered, r.units);
  if (r.scattering == SCATTER_APART) return RANGES_UNFIT;
  k->run.whole = k->combines ? CVL_REDUCE_BLOCK : LONG_SEGMENT;
  r.computes_starts = computes_starts(&r);
  if (!make_results_of(&r)) return RANGES_FAILED;
  const enum ranges_outcome outcome = run_ranges(&r);
  const bool whole = fused_scatter_end(k, outcome == RANGES_DONE);
  if (outcome != RANGES_DONE || whole) return outcome;
  return k->c->error.kind == CVL_E_NONE ? RANGES_UNFIT : RANGES_FAILED;
}
