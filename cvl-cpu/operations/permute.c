/* permute.c - the six forms of PERMUTE.
 *
 * All of them first *locate* a step of indices. The start and length of each segment are
 * expanded beside them. Every index is checked, and becomes a position in the other vector.
 *
 * Gathers are split by destination. PERMUTE is split by source: each thread writes where its
 * indices say, and marks these positions. If a position stays unmarked, another was written
 * twice. Short segments are taken whole. They are permuted among their own positions, so a step
 * of them is permuted in the first-level cache, checked there and streamed out.
 *
 * Scatters in which the highest source wins are split into ranges of the destination. Each
 * thread goes through the sources of the segments that its range touches, in order, and keeps
 * those that fall into the range. So the order of two sources never depends on the threads.
 */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/move.h"
#include "cvl-cpu/operations/locate.h"
#include "cvl-cpu/operations/ranges.h"

enum { STEP = LOCATE_MOST };

struct permute_job {
  struct pool *pool;
  const struct move_kernels *move;
  const struct move_width *width;
  const struct move_int *ints;
  struct segments near; /* segments of the index vector, which is walked over */
  struct segments far;  /* segments of the vector that the indices point into */
  size_t bytes;         /* bytes of an element */
  size_t index_bytes;
  const char *values, *index;
  uint64_t values_total; /* length of values */
  const uint8_t *flags;  /* or NULL */
  const char *defaults;  /* initial contents of a scatter's result; NULL: zeros */
  bool over_defaults;    /* the result takes over the memory of the defaults */
  bool streaming;
  char *out;
  uint8_t *mark; /* for PERMUTE */
  /* for PERMUTE: positions written by steps of whole segments, which are not marked */
  _Atomic uint64_t whole;
  uint64_t ranges;        /* how many ranges the destination of a scatter is split into */
  _Atomic uint64_t fault; /* lowest position of an index out of range */
};

static uint64_t step_end(uint64_t position, uint64_t end) {
  return end - position < STEP ? end : position + STEP;
}

/* Prefetches what the next step reads: the hardware prefetcher stops at page boundaries, and a
 * step is as long as a page. It helps only for short segments, as indices may point anywhere in
 * a long one. */
static void prefetch_step(const char *v, size_t bytes, uint64_t first, uint64_t total) {
  enum { LINE = 64 };
  const uint64_t last = first >= total ? first : step_end(first, total);
  for (size_t i = first * bytes; i < last * bytes; i += LINE) __builtin_prefetch(v + i);
}

/* Whether a loop of steps is to end, which asks now and then: for loops that the pool does not
 * cut into chunks. */
static bool asked(const struct permute_job *job, uint64_t position) {
  enum { UNASKED = 1 << 16 }; /* positions */
  return position % UNASKED < STEP && pool_asked(job->pool);
}

static bool index_outside(struct permute_job *job, uint64_t position) {
  note_lowest(&job->fault, position);
  return false;
}

/* Locates the indices at positions from w->position to before `last`, at most STEP. False if
 * one of them is out of range, which is recorded. */
static bool permute_locate(struct permute_job *job, struct walk *w, uint64_t last,
                           uint64_t *at) {
  const uint64_t begin = w->position, n = last - begin;
  const char *index = job->index + begin * job->index_bytes;
  const uint8_t *flags = job->flags ? job->flags + begin : NULL;
  uint64_t located;
  if (walk_in_one(w, last)) {
    located = locate_in_one(job->ints, &job->far, w, last, index, flags, at);
  } else {
    prefetch_step(job->index, job->index_bytes, last, job->near.total);
    prefetch_step(job->values, job->bytes, last, job->values_total);
    located = locate_across(job->move, job->ints, &job->far, w, last, index, flags, at);
  }
  return located == n || index_outside(job, begin + located);
}

/* Whether a chunk that begins here can still hold the lowest fault. */
static bool of_interest(const struct permute_job *job, uint64_t position) {
  return position <= atomic_load_explicit(&job->fault, memory_order_relaxed);
}

/* ---- gathers: BPERMUTE, BFPERMUTE ---- */

static void gather_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct permute_job *job = arg;
  struct walk w = walk_from(&job->near, segments_split(&job->near, first));
  const uint64_t end = segments_split(&job->near, last).position;
  uint64_t at[STEP + SPREAD_SLACK / sizeof(uint64_t)];
  _Alignas(64) char staging[STEP * sizeof(uint64_t)];
  while (w.position < end && of_interest(job, w.position)) {
    const uint64_t begin = w.position, stop = step_end(begin, end);
    if (!permute_locate(job, &w, stop, at)) return;
    char *out = job->out + begin * job->bytes;
    (job->flags ? job->width->gather_some : job->width->gather)(stop - begin, job->values, at,
                                                                job->streaming ? staging : out);
    if (job->streaming) job->move->stream(out, staging, (stop - begin) * job->bytes);
  }
  if (job->streaming) job->move->stream_end();
}

static bool gather_all(struct cvl_context *c, uint64_t site, struct permute_job *job) {
  const uint64_t steps = segments_steps(&job->near);
  job->streaming = job->near.total * job->bytes >= tuned(c, STREAM_BYTES);
  const uint64_t grain = grain_for(c, steps, 2 * job->bytes + job->index_bytes);
  return all_done(c, site, pool_for(c->pool, steps, grain, gather_chunk, job));
}

/* ---- scatters where the highest source wins: DPERMUTE, FPERMUTE, DFPERMUTE ---- */

static void prepare_range(const struct permute_job *job, uint64_t low, uint64_t high) {
  enum { UNASKED = 4 << 20 }; /* bytes */
  if (job->over_defaults) return;
  for (uint64_t at = low * job->bytes, end = high * job->bytes; at < end; at += UNASKED) {
    const uint64_t n = end - at < UNASKED ? end - at : UNASKED;
    if (pool_asked(job->pool)) return;
    if (job->defaults) {
      memcpy(job->out + at, job->defaults + at, n);
    } else {
      memset(job->out + at, 0, n);
    }
  }
}

static void scatter_range(struct permute_job *job, uint64_t r) {
  const struct range range = range_of(&job->far, job->ranges, r);
  const uint64_t low = range.low, high = range.high, k = range.first;
  prepare_range(job, low, high);
  const uint64_t end = segment_start(&job->near, range.past);
  struct walk w =
      walk_from(&job->near, (struct path_coordinate){k, segment_start(&job->near, k)});
  uint64_t at[STEP + SPREAD_SLACK / sizeof(uint64_t)];
  while (w.position < end && of_interest(job, w.position) && !asked(job, w.position)) {
    const uint64_t begin = w.position, stop = step_end(begin, end);
    if (!permute_locate(job, &w, stop, at)) return;
    job->width->scatter(stop - begin, job->values + begin * job->bytes, at, low, high,
                        job->out);
  }
}

static void scatter_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  for (uint64_t r = first; r < last; r++) scatter_range(arg, r);
}

static bool scatter_all(struct cvl_context *c, uint64_t site, struct permute_job *job) {
  const uint64_t work = segments_steps(&job->near) + segments_steps(&job->far);
  const bool serial = grain_for(c, work, job->bytes) >= work;
  job->ranges = serial ? 1 : ranges_for(c, &job->far, job->far.total * job->bytes);
  return all_done(c, site, pool_for(c->pool, job->ranges, 1, scatter_chunk, job));
}

/* ---- PERMUTE ---- */

/* Returns where a step from w->position ends. It ends with the last segment that ends within
 * STEP, if there is one, so that the next step begins with a segment. */
static uint64_t aligned_end(const struct walk *w, uint64_t count, uint64_t end) {
  const uint64_t most = step_end(w->position, end);
  if (most == end) return end;
  if (!w->offsets) {
    const uint64_t start = most / w->equal * w->equal;
    return start > w->position ? start : most;
  }
  uint64_t low = w->segment, high = count - low < STEP ? count : low + STEP;
  while (low < high) { /* finds the last segment that starts at `most` or before, if any */
    const uint64_t k = low + (high - low + 1) / 2;
    const bool before = w->offsets[k] <= most;
    low = before ? k : low;
    high = before ? high : k - 1;
  }
  const uint64_t start = w->offsets[low];
  return start > w->position && start <= most ? start : most;
}

/* Permutes a step of whole segments. If an index occurs twice, writes nothing and returns
 * false. */
static bool permute_step(const struct permute_job *job, uint64_t begin, uint64_t n,
                         const uint64_t *at) {
  uint64_t source[STEP];
  _Alignas(64) char staging[STEP * sizeof(uint64_t)];
  if (!job->move->invert(n, at, begin, source)) return false;
  job->width->gather(n, job->values + begin * job->bytes, source, staging);
  move_bytes(job->move, job->streaming, job->out + begin * job->bytes, staging, n * job->bytes);
  return true;
}

static void mark_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct permute_job *job = arg;
  struct walk w = walk_from(&job->near, segments_split(&job->near, first));
  const uint64_t end = segments_split(&job->near, last).position;
  uint64_t at[STEP + SPREAD_SLACK / sizeof(uint64_t)], whole = 0;
  while (w.position < end && of_interest(job, w.position)) {
    const uint64_t begin = w.position;
    const bool starts = walk_start(&w, w.segment) == begin;
    const uint64_t stop = aligned_end(&w, job->near.count, end), n = stop - begin;
    if (!permute_locate(job, &w, stop, at)) break;
    if (starts && walk_start(&w, w.segment) == stop) {
      if (permute_step(job, begin, n, at)) whole += n;
    } else if (!job->mark) {
      job->width->scatter(n, job->values + begin * job->bytes, at, 0, job->far.total, job->out);
    } else {
      job->width->scatter_marking(n, job->values + begin * job->bytes, at, job->mark, job->out);
    }
  }
  atomic_fetch_add_explicit(&job->whole, whole, memory_order_relaxed);
  if (job->streaming) job->move->stream_end();
}

struct count_job {
  const struct move_kernels *move;
  const uint8_t *mark;
  _Atomic uint64_t marked;
};

static void permute_count_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct count_job *job = arg;
  atomic_fetch_add_explicit(&job->marked, job->move->count(last - first, job->mark + first),
                            memory_order_relaxed);
}

bool cpu_count_flags(struct cvl_context *c, uint64_t site, const uint8_t *flags, uint64_t n,
                     uint64_t *count) {
  struct count_job job = {.move = c->kernels->move, .mark = flags};
  const uint64_t grain = grain_for(c, n, 1);
  const bool done = all_done(c, site, pool_for(c->pool, n, grain, permute_count_chunk, &job));
  *count = job.marked;
  return done;
}

/* Returns the lowest position whose index occurs before it, which exists. Returns n if it was
 * asked to end. */
static uint64_t first_duplicate(struct permute_job *job) {
  const uint64_t n = job->near.total;
  memset(job->mark, 0, n);
  struct walk w = walk_from(&job->near, (struct path_coordinate){0, 0});
  uint64_t at[STEP + SPREAD_SLACK / sizeof(uint64_t)];
  while (w.position < n && !asked(job, w.position)) {
    const uint64_t begin = w.position, stop = step_end(begin, n);
    permute_locate(job, &w, stop, at);
    for (uint64_t i = 0; i < stop - begin; i++) {
      if (job->mark[at[i]]) return begin + i;
      job->mark[at[i]] = 1;
    }
  }
  return n;
}

/* Sets *duplicate to a position whose index occurs twice, or to n. False if it was asked to
 * end. */
static bool permute_all(struct cvl_context *c, uint64_t site, struct permute_job *job,
                        uint64_t *duplicate) {
  const uint64_t n = *duplicate = job->near.total, steps = segments_steps(&job->near);
  const uint64_t grain = grain_for(c, steps, 2 * job->bytes + job->index_bytes);
  job->streaming = n * job->bytes >= tuned(c, STREAM_BYTES);
  if (job->mark && !clear_bytes(c, site, job->mark, n)) return false;
  if (!all_done(c, site, pool_for(c->pool, steps, grain, mark_chunk, job))) return false;
  if (job->fault != UINT64_MAX || !job->mark) return true;
  uint64_t marked;
  if (!cpu_count_flags(c, site, job->mark, n, &marked)) return false;
  if (marked + job->whole == n) return true;
  *duplicate = first_duplicate(job);
  return all_done(c, site, *duplicate < n);
}

/* ---- the operation ---- */

static bool index_fault(struct cvl_context *c, uint64_t site, enum cvl_error_kind kind,
                        const struct permute_job *job, uint64_t position) {
  const uint64_t k = segment_at(&job->near, position);
  const char *x = job->index + position * job->index_bytes;
  int64_t index;
  int32_t narrow;
  if (job->index_bytes == sizeof index) {
    memcpy(&index, x, sizeof index);
  } else {
    memcpy(&narrow, x, sizeof narrow);
    index = narrow;
  }
  return segment_fault(c, site, kind, position, index, &job->far, k);
}

/* Permutes with a mark for every element, as PERMUTE needs; a few marks fit on the stack. */
static bool permute_marked(struct cvl_context *c, uint64_t site, struct permute_job *job) {
  enum { FEW = 1024 };
  uint8_t few[FEW];
  const uint64_t n = job->near.total;
  uint64_t duplicate;
  job->mark = n <= FEW ? few : scratch_alloc(c, site, n);
  if (!job->mark) return false;
  const bool done = permute_all(c, site, job, &duplicate);
  if (job->mark != few) scratch_free(c, job->mark, n);
  if (!done) return false;
  return duplicate == n || index_fault(c, site, CVL_E_DUPLICATE, job, duplicate);
}

/* Returns the vector of the defaults if the result may be written over it, else NULL. */
static struct cvl_vector *permute_reusable_defaults(const struct cvl_permute *a, size_t bytes) {
  if (a->defaults.form == CVL_NOTHING) return NULL;
  struct cvl_vector *v = value_reusable(&a->defaults, bytes);
  if (!v || value_data(&a->values) == v->data || value_data(&a->index) == v->data) return NULL;
  return a->flags.form != CVL_NOTHING && value_data(&a->flags) == v->data ? NULL : v;
}

bool cpu_permute(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                 struct cvl_value *out) {
  const struct cvl_permute *a = &call->permute;
  const bool gathers = call->op == OP_BPERMUTE || call->op == OP_BFPERMUTE;
  const size_t bytes = elem_bytes(a->values.elem);
  struct cvl_vector *reuse = permute_reusable_defaults(a, bytes);
  struct permute_job job = {
      .pool = c->pool,
      .move = c->kernels->move,
      .width = move_width(c->kernels->move, bytes),
      .ints = move_int(c->kernels->move, c->int_elem),
      .near = value_segments(gathers ? &a->d : &a->s),
      .far = value_segments(gathers ? &a->s : &a->d),
      .bytes = bytes,
      .index_bytes = elem_bytes((uint8_t)c->int_elem),
      .values = value_data(&a->values),
      .values_total = value_length(&a->values),
      .index = value_data(&a->index),
      .flags = a->flags.form == CVL_NOTHING ? NULL : value_data(&a->flags),
      .defaults = a->defaults.form == CVL_NOTHING ? NULL : value_data(&a->defaults),
      .over_defaults = reuse != NULL,
      .fault = UINT64_MAX,
  };
  struct cvl_value result;
  const uint64_t n = value_segments(&a->d).total;
  if (!result_new(c, site, (enum cvl_elem)a->values.elem, n, reuse, &result)) return false;
  job.out = result_data(&result);
  bool good;
  if (gathers) {
    good = gather_all(c, site, &job);
  } else if (call->op == OP_PERMUTE) {
    good = permute_marked(c, site, &job);
  } else {
    good = scatter_all(c, site, &job);
  }
  if (good && job.fault != UINT64_MAX)
    good = index_fault(c, site, CVL_E_INDEX, &job, job.fault);
  if (good) {
    *out = result;
  } else {
    result_drop(c, &result);
  }
  return good;
}
