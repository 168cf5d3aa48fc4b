/* ranges.c - see ranges.h. */
#include "cvl-cpu/fused/ranges.h"

#include <string.h>

#include "cvl-cpu/fused/bind.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/operations/long-segments.h"

enum {
  PIECE = 1024,       /* segments of a call, or positions, whose starts are computed for it */
  STAGED = 2048,      /* positions of a call whose results bypass the caches ... */
  STAGED_MOST = 4096, /* ... or, of a long segment, at most */
  LONG_SEGMENT = 4    /* grains: a longer segment is not for one thread */
};

struct ranges {
  struct cvl_kernel *k;
  const struct fused_functions *f;
  const struct kernel_range_plan *plan;
  const struct cvl_value *operands;
  kernel_range_function *function;
  uint64_t grain;       /* units of a range */
  bool stages;          /* some results bypass the caches */
  bool computes_starts; /* of segments of one length, for each call */
  char *workers;        /* memory of the first */
  size_t worker_bytes;
  void **results;         /* of every output: all of it */
  const uint64_t **whole; /* of every descriptor that is given whole: its starts of segments */
  atomic_bool failed;
};

/* The memory of a thread: what it calls the function with. */
struct range_worker {
  struct kernel_range call;
  const void **data;
  const uint64_t **offsets;
  uint64_t *counts, *segments;
  void **results, **totals;
  uint64_t *starts; /* PIECE + 2 for each parameter in every way */
  char *staged;     /* STAGED_MOST elements for each output */
};

/* The part of the run that one call executes: positions, and segments if there are any. */
struct range_part {
  uint64_t low, high, first, last;
};

/* ---- whether a run suits ---- */

/* Descriptors, and strides. */
static bool has_same_descriptors(const struct cvl_kernel *k, const struct fused_functions *f) {
  for (uint32_t p = 0; p < k->op->param_count; p++) {
    if (k->run.one[p] != f->one[p]) return false;
  }
  return true;
}

static bool ranges_of_segments(const struct kernel_range_plan *plan) {
  return plan->main != SUPEROP_NONE;
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

/* ---- a call ---- */

static bool is_read(const struct ranges *r, uint32_t param, enum kernel_read_as way) {
  return r->plan->reads[param + way * r->k->op->param_count];
}

/* Where what is given of a vector begins. */
static uint64_t begin_of(const struct ranges *r, const struct range_part *part, uint32_t v,
                         enum kernel_read_as way) {
  if (way == READ_BY_POSITIONS) return part->low;
  if (way == READ_BY_SEGMENT) return part->first;
  if (way == READ_WHOLE) return 0;
  const struct segments far = value_segments(&r->operands[r->plan->far[v]]);
  return segment_start(&far, way == READ_PICKED ? part->low : part->first);
}

static void give_vector(const struct ranges *r, struct range_worker *w,
                        const struct range_part *part, uint32_t v, enum kernel_read_as way) {
  const uint32_t p = v % r->k->op->param_count;
  const struct cvl_value *x = &r->operands[p];
  w->data[v] = (const char *)value_data(x) + begin_of(r, part, v, way) * elem_bytes(x->elem);
  w->counts[v] = value_length(x);
}

/* Starts of `count` segments from `first` on. */
static const uint64_t *starts_from(struct range_worker *w, uint32_t v, const struct segments *s,
                                   uint64_t first, uint64_t count) {
  if (s->offsets) return s->offsets + first;
  uint64_t *starts = w->starts + v * (uint64_t)(PIECE + 2);
  for (uint64_t i = 0; i <= count; i++) starts[i] = (first + i) * s->equal;
  return starts;
}

static void give_descriptor(const struct ranges *r, struct range_worker *w,
                            const struct range_part *part, uint32_t v,
                            enum kernel_read_as way) {
  const uint32_t p = v % r->k->op->param_count;
  const struct segments s = value_segments(&r->operands[p]);
  if (r->f->one[p] && way != READ_PICKED) {
    w->counts[v] = s.total;
  } else if (way == READ_PICKED) {
    w->offsets[v] = starts_from(w, v, &s, part->low, part->high - part->low);
    w->counts[v] = part->high - part->low;
  } else if (way == READ_IN_SEGMENTS || v == r->plan->main) {
    w->offsets[v] = starts_from(w, v, &s, part->first, part->last - part->first);
    w->counts[v] = part->last - part->first;
  } else {
    w->offsets[v] = s.offsets ? s.offsets : r->whole[p];
    w->counts[v] = s.count;
    if (r->plan->cursors[p])
      w->segments[p] = part->low < s.total ? segment_at(&s, part->low) : 0;
  }
}

static bool is_reduction(const struct ranges *r, const struct fused_value *v) {
  return r->k->op->nodes[v->node].role == ROLE_REDUCE;
}

static void give_result(const struct ranges *r, struct range_worker *w,
                        const struct range_part *part, uint32_t i) {
  const struct fused_value *v = &r->k->values[r->k->op->outputs[i]];
  uint64_t at = part->low;
  if (is_reduction(r, v))
    at = ranges_of_segments(r->plan) ? part->first : part->low / CVL_REDUCE_BLOCK;
  w->results[i] = v->run.streaming && part->high - part->low <= STAGED_MOST
                      ? w->staged + i * (size_t)STAGED_MOST * sizeof(uint64_t)
                      : (char *)r->results[i] + at * v->bytes;
}

/* What was staged goes to memory. */
static void deliver(const struct ranges *r, struct range_worker *w,
                    const struct range_part *part) {
  if (!r->stages || part->high - part->low > STAGED_MOST) return;
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    const struct fused_value *v = &r->k->values[r->k->op->outputs[i]];
    if (!v->run.streaming) continue;
    r->k->c->kernels->move->stream((char *)r->results[i] + part->low * v->bytes, w->results[i],
                                   (part->high - part->low) * v->bytes);
  }
}

static bool call_part(struct ranges *r, struct range_worker *w, const struct range_part *part) {
  const struct superop *op = r->k->op;
  for (uint32_t v = 0; v < READ_WAYS * op->param_count; v++) {
    const enum kernel_read_as way = (enum kernel_read_as)(v / op->param_count);
    if (!r->plan->reads[v]) continue;
    if (op->kinds[v % op->param_count] == SUPEROP_SEGDES)
      give_descriptor(r, w, part, v, way);
    else
      give_vector(r, w, part, v, way);
  }
  for (uint32_t i = 0; i < op->output_count; i++) give_result(r, w, part, i);
  w->call.at = part->low;
  w->call.n = part->high - part->low;
  if (!r->function(&w->call)) return false;
  deliver(r, w, part);
  return true;
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
    if (is_read(r, p, READ_IN_SEGMENTS) || is_read(r, p, READ_PICKED) || p == r->plan->main)
      return true;
  }
  return false;
}

static void positions(void *ranges, uint64_t first, uint64_t last, unsigned worker) {
  struct ranges *r = ranges;
  const uint64_t most = r->computes_starts ? PIECE : r->stages ? STAGED : last - first;
  for (uint64_t low = first; low < last; low += most) {
    const struct range_part part = {.low = low, .high = low + least_of(most, last - low)};
    if (!goes_on(r, call_part(r, worker_of(r, worker), &part))) return;
  }
  if (r->stages) r->k->c->kernels->move->stream_end();
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
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  const uint64_t from = segments_split(&s, first).segment,
                 to = segments_split(&s, last).segment;
  for (uint64_t g = from, next; g < to; g = next) {
    next = segments_of_call(r, &s, g, to);
    const struct range_part part = {segment_start(&s, g), segment_start(&s, next), g, next};
    if (!goes_on(r, call_part(r, worker_of(r, worker), &part))) return;
  }
  if (r->stages) r->k->c->kernels->move->stream_end();
}

/* ---- memory ---- */

enum { LINE = 64 };

static size_t next_array(size_t *at, size_t bytes) {
  const size_t start = *at;
  *at += (bytes + LINE - 1) / LINE * LINE;
  return start;
}

/* Lays out a worker, and sets it up in memory if there is any. */
static size_t worker_at(const struct ranges *r, char *memory) {
  const struct superop *op = r->k->op;
  const size_t reads = (size_t)READ_WAYS * op->param_count, outputs = op->output_count;
  const size_t totals = ranges_of_segments(r->plan) && r->k->reduction_count > 0
                            ? (r->k->run.n / CVL_REDUCE_BLOCK + 2) * sizeof(uint64_t)
                            : 0;
  size_t end = sizeof(struct range_worker);
  next_array(&end, 0);
  const size_t data = next_array(&end, reads * sizeof(void *));
  const size_t offsets = next_array(&end, reads * sizeof(void *));
  const size_t counts = next_array(&end, reads * sizeof(uint64_t));
  const size_t segments = next_array(&end, op->param_count * sizeof(uint64_t));
  const size_t results = next_array(&end, outputs * sizeof(void *));
  const size_t rooms = next_array(&end, outputs * sizeof(void *));
  const size_t starts =
      next_array(&end, r->computes_starts ? reads * (PIECE + 2) * sizeof(uint64_t) : 0);
  const size_t staged =
      next_array(&end, r->stages ? outputs * (size_t)STAGED_MOST * sizeof(uint64_t) : 0);
  const size_t room = next_array(&end, outputs * totals);
  if (!memory) return end;
  struct range_worker *w = (struct range_worker *)(void *)memory;
  *w = (struct range_worker){.data = (const void **)(void *)(memory + data),
                             .offsets = (const uint64_t **)(void *)(memory + offsets),
                             .counts = (uint64_t *)(void *)(memory + counts),
                             .segments = (uint64_t *)(void *)(memory + segments),
                             .results = (void **)(void *)(memory + results),
                             .totals = (void **)(void *)(memory + rooms),
                             .starts = (uint64_t *)(void *)(memory + starts),
                             .staged = memory + staged};
  for (size_t i = 0; i < outputs; i++) w->totals[i] = memory + room + i * totals;
  w->call = (struct kernel_range){.data = w->data,
                                  .offsets = w->offsets,
                                  .counts = w->counts,
                                  .segments = w->segments,
                                  .results = w->results,
                                  .totals = w->totals};
  return end;
}

/* Bytes of the starts of a descriptor that is given whole; 0: it has them. */
static size_t whole_bytes(const struct ranges *r, uint32_t p) {
  const bool in_some = is_read(r, p, READ_BY_POSITIONS) && p != r->plan->main;
  if (r->k->op->kinds[p] != SUPEROP_SEGDES || r->f->one[p]) return 0;
  if (!in_some && !is_read(r, p, READ_WHOLE)) return 0;
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
  const struct fused_value *v = &r->k->values[r->k->op->outputs[i]];
  if (!is_reduction(r, v) || ranges_of_segments(r->plan)) return 0;
  return units_of(r->k->run.n, CVL_REDUCE_BLOCK) * sizeof(uint64_t);
}

/* ---- the run ---- */

static bool make_results_of(struct ranges *r) {
  struct cvl_kernel *k = r->k;
  for (uint32_t i = 0; i < k->op->output_count; i++) {
    struct fused_value *v = &k->values[k->op->outputs[i]];
    const bool reduces = is_reduction(r, v);
    if (!result_new(k->c, k->run.site + v->node, (enum cvl_elem)v->elem,
                    reduces ? k->run.segments.count : k->run.n, NULL, &v->run.whole))
      return false;
    v->run.streaming = !reduces && k->run.n * v->bytes >= tuned(k->c, STREAM_BYTES);
    r->stages |= v->run.streaming;
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

/* All memory of the run is one block. */
static enum ranges_outcome run_ranges(struct ranges *r) {
  struct cvl_kernel *k = r->k;
  const struct superop *op = k->op;
  const uint64_t units = ranges_units(k, r->plan, r->operands);
  r->grain = fused_grain(k, units);
  const unsigned threads = units > r->grain ? pool_threads(k->c->pool) : 1;
  size_t bytes = 0;
  r->worker_bytes = worker_at(r, NULL);
  const size_t workers = next_array(&bytes, threads * r->worker_bytes);
  const size_t results = next_array(&bytes, op->output_count * sizeof(void *));
  const size_t whole = next_array(&bytes, op->param_count * sizeof(void *));
  const size_t more = bytes;
  for (uint32_t p = 0; p < op->param_count; p++) next_array(&bytes, whole_bytes(r, p));
  for (uint32_t i = 0; i < op->output_count; i++) next_array(&bytes, block_bytes(r, i));
  char *block = scratch_alloc(k->c, k->run.site, bytes);
  if (!block) return RANGES_FAILED;
  r->workers = block + workers;
  r->results = (void **)(void *)(block + results);
  r->whole = (const uint64_t **)(void *)(block + whole);
  size_t at = more;
  for (uint32_t p = 0; p < op->param_count; p++) {
    const size_t room = whole_bytes(r, p), from = next_array(&at, room);
    if (room > 0) fill_whole(r, p, block + from);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    const size_t room = block_bytes(r, i), from = next_array(&at, room);
    struct cvl_value *out = &k->values[op->outputs[i]].run.whole;
    r->results[i] = room > 0 ? block + from : result_data(out);
  }
  for (unsigned i = 0; i < threads; i++) worker_at(r, r->workers + i * r->worker_bytes);
  const bool done =
      pool_for(k->c->pool, units, r->grain, ranges_of_segments(r->plan) ? steps : positions, r);
  const bool good = done && !atomic_load_explicit(&r->failed, memory_order_relaxed);
  if (good) finish_reductions(r);
  scratch_free(k->c, block, bytes);
  if (!all_done(k->c, k->run.site, done)) return RANGES_FAILED;
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
