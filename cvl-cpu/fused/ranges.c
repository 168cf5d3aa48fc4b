/* ranges.c - see ranges.h. */
#include "cvl-cpu/fused/ranges.h"

#include <string.h>

#include "cvl-cpu/fused/bind.h"
#include "cvl-cpu/fused/range-part.h"
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/operations/long-segments.h"

/* ---- whether a run suits ---- */

/* Descriptors, and strides. */
static bool has_same_descriptors(const struct cvl_kernel *k, const struct fused_functions *f) {
  for (uint32_t p = 0; p < k->op->param_count; p++) {
    if (k->run.one[p] != f->one[p]) return false;
  }
  return true;
}

/* The units that threads share: positions, or steps of the path over segments. */
static uint64_t ranges_units(const struct cvl_kernel *k, const struct kernel_range_plan *plan,
                             const struct cvl_value *operands) {
  if (!ranges_of_segments(plan)) return k->run.n;
  const struct segments s = value_segments(&operands[plan->main]);
  return segments_steps(&s);
}

/* Whether no segment is so long that other threads would wait for it. */
static bool shares_well(const struct cvl_kernel *k, const struct kernel_range_plan *plan,
                        const struct cvl_value *operands) {
  const struct segments s = value_segments(&operands[plan->main]);
  const uint64_t steps = segments_steps(&s), grain = fused_grain(k, steps);
  if (pool_threads(k->c->pool) == 1) return true;
  for (uint64_t at = grain; at < steps; at += grain) {
    const struct path_coordinate c = segments_split(&s, at);
    if (c.segment == 0) continue;
    const uint64_t start = segment_start(&s, c.segment - 1), end = segment_start(&s, c.segment);
    if (end - start > LONG_SEGMENT * grain) return false;
  }
  return true;
}

bool fused_ranges_suit(const struct cvl_kernel *k, const struct cvl_value *operands) {
  const struct fused_functions *f = fused_compiled_functions(k->compiled);
  if (!has_same_descriptors(k, f)) return false;
  return !ranges_of_segments(&f->range) || shares_well(k, &f->range, operands);
}

/* ---- ranges ---- */

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
    if (range_reads_as(r, p, READ_IN_SEGMENTS) || range_reads_as(r, p, READ_PICKED) ||
        p == r->plan->main)
      return true;
  }
  return false;
}

/* ---- turns ---- */

/* Appends what a range keeps of an output. The ends of its segments were counted from its
 * start. */
static void append(const struct ranges *r, const struct range_worker *w, uint32_t i,
                   uint64_t from, uint64_t to) {
  const struct fused_pack *p = range_pack(r, i);
  if (!p) return;
  if (range_is_descriptor(r, i)) {
    uint64_t *ends = p->offsets;
    for (uint64_t g = from; g < to && ends && w->before[i] > 0; g++)
      ends[g + 1] += w->before[i];
    return;
  }
  char *to_here = p->out + w->before[i] * p->v->bytes;
  if (p->streaming)
    r->k->c->kernels->move->stream(to_here, w->rooms[i], w->kept[i] * p->v->bytes);
  else
    memcpy(to_here, w->rooms[i], w->kept[i] * p->v->bytes);
}

static struct range_worker *begin_range(const struct ranges *r, unsigned worker) {
  struct range_worker *w = worker_of(r, worker);
  memset(w->kept, 0, r->k->op->output_count * sizeof *w->kept);
  return w;
}

/* Of the range that begins with a unit, and has segments from .. to - 1. It has its turn even
 * if it failed: others wait for that. */
static void end_range(struct ranges *r, const struct range_worker *w, uint64_t unit,
                      uint64_t from, uint64_t to) {
  const uint32_t outputs = r->k->op->output_count;
  const uint64_t number = unit / r->grain;
  if (r->hands_on) await_turn(&r->turn, number);
  const bool good = goes_on(r, true);
  for (uint32_t i = 0; i < outputs && r->k->pack_count > 0; i++) {
    w->before[i] = r->kept[i];
    r->kept[i] += w->kept[i];
  }
  if (r->hands_on) atomic_store_explicit(&r->turn, number + 1, memory_order_release);
  for (uint32_t i = 0; i < outputs && r->hands_on && good; i++) append(r, w, i, from, to);
  if (r->k->run.streams) r->k->c->kernels->move->stream_end();
}

/* ---- parts ---- */

static void positions(void *ranges, uint64_t first, uint64_t last, unsigned worker) {
  struct ranges *r = ranges;
  struct range_worker *w = begin_range(r, worker);
  const uint64_t most = r->computes_starts ? PIECE : r->stages ? STAGED : last - first;
  for (uint64_t low = first; low < last; low += most) {
    const struct range_part part = {.low = low, .high = low + least_of(most, last - low)};
    if (!goes_on(r, range_part_call(r, w, &part))) break;
  }
  end_range(r, w, first, 0, 0);
}

/* The segments from `first` on, to `last` at most, that one call takes. */
static uint64_t segments_of_call(const struct ranges *r, const struct segments *s,
                                 uint64_t first, uint64_t last) {
  const uint64_t start = segment_start(s, first);
  if (r->computes_starts && last - first > PIECE) last = first + PIECE;
  if (!r->stages || segment_start(s, last) - start <= STAGED) return last;
  uint64_t low = first + 1, high = last;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    if (segment_start(s, middle) - start <= STAGED)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static void steps(void *ranges, uint64_t first, uint64_t last, unsigned worker) {
  struct ranges *r = ranges;
  struct range_worker *w = begin_range(r, worker);
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  const uint64_t from = segments_split(&s, first).segment,
                 to = segments_split(&s, last).segment;
  for (uint64_t g = from, next; g < to; g = next) {
    next = segments_of_call(r, &s, g, to);
    const struct range_part part = {segment_start(&s, g), segment_start(&s, next), g, next};
    if (!goes_on(r, range_part_call(r, w, &part))) break;
  }
  end_range(r, w, first, from, to);
}

/* ---- memory ---- */

/* Bytes of the starts of a descriptor that is given whole; 0: it has them. */
static size_t whole_bytes(const struct ranges *r, uint32_t p) {
  const bool in_some = range_reads_as(r, p, READ_BY_POSITIONS) && p != r->plan->main;
  if (r->k->op->kinds[p] != SUPEROP_SEGDES || r->f->one[p]) return 0;
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
  if (!range_is_reduction(r, i) || ranges_of_segments(r->plan)) return 0;
  return units_of(r->k->run.n, CVL_REDUCE_BLOCK) * sizeof(uint64_t);
}

/* ---- the run ---- */

static bool make_results_of(struct ranges *r) {
  struct cvl_kernel *k = r->k;
  for (uint32_t i = 0; i < k->op->output_count; i++) {
    struct fused_value *v = &k->values[k->op->outputs[i]];
    const bool reduces = range_is_reduction(r, i);
    if (range_pack(r, i)) continue;
    if (!result_new(k->c, k->run.site + v->node, (enum cvl_elem)v->elem,
                    reduces ? k->run.segments.count : k->run.n, NULL, &v->run.whole))
      return false;
    v->run.streaming = !reduces && k->run.n * v->bytes >= tuned(k->c, STREAM_BYTES);
    r->stages |= v->run.streaming;
  }
  k->run.streams = r->stages;
  for (uint32_t i = 0; i < k->pack_count; i++) {
    struct fused_pack *p = &k->packs[i];
    if (!fused_pack_make(k, p)) return false;
    if (p->offsets) p->offsets[0] = 0;
  }
  return true;
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

/* The totals of blocks, until one is left. */
static void finish_reductions(const struct ranges *r) {
  for (uint32_t i = 0; i < r->k->reduction_count; i++) {
    const struct fused_reduction *of = &r->k->reductions[i];
    const uint32_t result = r->k->op->nodes[of->node].result;
    for (uint32_t j = 0; j < r->k->op->output_count; j++) {
      if (r->k->op->outputs[j] != result || block_bytes(r, j) == 0) continue;
      uint64_t blocks = units_of(r->k->run.n, CVL_REDUCE_BLOCK);
      for (; blocks > 1; blocks = units_of(blocks, CVL_REDUCE_BLOCK))
        of->row->blocks(r->results[j], blocks, r->results[j]);
      memcpy(result_data(&r->k->values[result].run.whole), r->results[j], of->v->bytes);
    }
  }
}

/* The positions of the longest range. */
static uint64_t most_positions(const struct ranges *r, uint64_t units) {
  uint64_t most = 0;
  if (!ranges_of_segments(r->plan)) return r->grain;
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  for (uint64_t at = 0, start = 0, end; at < units; at += r->grain, start = end) {
    end = segment_start(&s, segments_split(&s, at + least_of(r->grain, units - at)).segment);
    if (end - start > most) most = end - start;
  }
  return most;
}

/* Where an output goes: to its vector, or to what becomes that. */
static void *output_at(const struct ranges *r, uint32_t i) {
  const struct fused_pack *p = range_pack(r, i);
  if (p) return range_is_descriptor(r, i) ? (void *)p->offsets : p->out;
  return result_data(&r->k->values[r->k->op->outputs[i]].run.whole);
}

/* Lays out the memory of a run, but for its workers; sets it up, if it is there. */
static size_t shared_at(struct ranges *r, char *memory) {
  const struct superop *op = r->k->op;
  size_t end = 0;
  const size_t results = range_next_array(&end, op->output_count * sizeof(void *));
  const size_t whole = range_next_array(&end, op->param_count * sizeof(void *));
  const size_t kept = range_next_array(&end, op->output_count * sizeof(uint64_t));
  if (memory) {
    r->results = (void **)(void *)(memory + results);
    r->whole = (const uint64_t **)(void *)(memory + whole);
    r->kept = (uint64_t *)(void *)(memory + kept);
    memset(r->kept, 0, op->output_count * sizeof *r->kept);
  }
  for (uint32_t p = 0; p < op->param_count; p++) {
    const size_t bytes = whole_bytes(r, p), from = range_next_array(&end, bytes);
    if (memory && bytes > 0) fill_whole(r, p, memory + from);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    const size_t bytes = block_bytes(r, i), from = range_next_array(&end, bytes);
    if (memory) r->results[i] = bytes > 0 ? memory + from : output_at(r, i);
  }
  return end;
}

static bool run_all(struct ranges *r, uint64_t units) {
  pool_body *const body = ranges_of_segments(r->plan) ? steps : positions;
  return (r->hands_on ? pool_for_in_order : pool_for)(r->k->c->pool, units, r->grain, body, r);
}

/* All memory of the run is one block. */
static enum ranges_outcome run_ranges(struct ranges *r) {
  struct cvl_kernel *k = r->k;
  const uint64_t units = ranges_units(k, r->plan, r->operands);
  r->grain = fused_grain(k, units);
  r->hands_on = k->pack_count > 0 && units > r->grain;
  if (r->hands_on) r->most = most_positions(r, units);
  const unsigned threads = units > r->grain ? pool_threads(k->c->pool) : 1;
  r->worker_bytes = range_worker_at(r, NULL);
  size_t bytes = 0;
  const size_t workers = range_next_array(&bytes, threads * r->worker_bytes);
  const size_t shared = range_next_array(&bytes, shared_at(r, NULL));
  char *block = scratch_alloc(k->c, k->run.site, bytes);
  if (!block) return RANGES_FAILED;
  r->workers = block + workers;
  shared_at(r, block + shared);
  for (unsigned i = 0; i < threads; i++) range_worker_at(r, r->workers + i * r->worker_bytes);
  const bool done = run_all(r, units);
  const bool good = done && goes_on(r, true);
  if (good) finish_reductions(r);
  const bool finished = !good || finish_packs(r);
  scratch_free(k->c, block, bytes);
  if (!all_done(k->c, k->run.site, done) || !finished) return RANGES_FAILED;
  return good ? RANGES_DONE : RANGES_UNFIT;
}

enum ranges_outcome fused_ranges_run(struct cvl_kernel *k, const struct cvl_value *operands) {
  const struct fused_functions *f = fused_compiled_functions(k->compiled);
  struct ranges r = {.k = k,
                     .f = f,
                     .plan = &f->range,
                     .operands = operands,
                     .function = fused_compiled_range(k->compiled)};
  if (k->run.n == 0) return RANGES_UNFIT;
  r.computes_starts = computes_starts(&r);
  return make_results_of(&r) ? run_ranges(&r) : RANGES_FAILED;
}
