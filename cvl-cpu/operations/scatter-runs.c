/* scatter-runs.c - DPERMUTE, or FPERMUTE with all flags T, by an INDEX: concatenations and
 * strided stores.
 *
 * The index consists of a few *runs*: start, start + stride and so on. It is never written.
 * Runs are cut at the ends of source segments, so that each goes to one segment of the
 * destination. One division shows whether all of a run is in range, and a run of stride 1 is a
 * copy. The destination is split into ranges, and a thread writes the part of each run that
 * falls into its range. Defaults are not copied where runs of stride 1 go, as long as the runs
 * are in increasing order in the destination.
 */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/move.h"
#include "cvl-cpu/operations/ranges.h"

struct runs_job {
  struct pool *pool;
  const struct move_kernels *move;
  struct segments near; /* segments of the source */
  struct segments far;  /* segments of the destination */
  struct cpu_runs runs;
  size_t bytes; /* bytes of an element */
  size_t int_bytes;
  const char *values;
  const char *defaults; /* NULL: zeros */
  bool over_defaults;   /* the result takes over the memory of the defaults */
  char *out;
  bool streaming;
  uint64_t ranges;
  _Atomic uint64_t fault; /* lowest position of an index out of range */
};

/* A run within one segment of the source. Source positions position .. position + n - 1 go to
 * first, first + stride and so on. These count from the start of a segment of the destination,
 * which has positions base .. base + length - 1. */
struct run {
  uint64_t position, n;
  int64_t first, stride;
  uint64_t base, length;
};

static int64_t scatter_runs_index_of(const struct runs_job *job, uint64_t r,
                                     uint64_t position) {
  const uint64_t from = position - segment_start(&job->runs.segments, r);
  return int_wrapped((uint64_t)int_element(job->runs.starts, r, job->int_bytes) +
                         from * (uint64_t)int_element(job->runs.strides, r, job->int_bytes),
                     job->int_bytes);
}

/* Returns how many indices of a run come before the first that is out of range, at most n. None
 * of those has wrapped. An index that has wrapped is still out of range. */
static uint64_t scatter_runs_in_range(const struct run *run) {
  if ((uint64_t)run->first >= run->length) return 0;
  if (run->stride == 0) return run->n;
  const uint64_t first = (uint64_t)run->first;
  const uint64_t room = run->stride > 0 ? run->length - 1 - first : first;
  const uint64_t step = run->stride > 0 ? (uint64_t)run->stride : -(uint64_t)run->stride;
  const uint64_t most = step == 1 ? room : room / step;
  return most >= run->n ? run->n : most + 1;
}

/* Returns the part of a run, which is in range, that goes to positions low .. high - 1 of the
 * destination. */
static struct run clipped(struct run run, uint64_t low, uint64_t high) {
  const uint64_t first = run.base + (uint64_t)run.first;
  const uint64_t last = first + (run.n - 1) * (uint64_t)run.stride;
  const uint64_t least = first < last ? first : last, most = first < last ? last : first;
  if (least >= low && most < high) return run;
  if (most < low || least >= high) {
    run.n = 0;
  } else if (run.stride != 0) {
    const bool up = run.stride > 0;
    const uint64_t step = up ? (uint64_t)run.stride : -(uint64_t)run.stride;
    /* Computes the distances from the first position to where the run enters and leaves the
     * range. */
    const uint64_t enter =
        up ? (first < low ? low - first : 0) : (first >= high ? first - (high - 1) : 0);
    const uint64_t leave = up ? high - 1 - first : first - low;
    const uint64_t from = (enter + step - 1) / step, to = leave / step + 1;
    const uint64_t end = to < run.n ? to : run.n;
    run.position += from;
    run.first += (int64_t)(from * (uint64_t)run.stride);
    run.n = from < end ? end - from : 0;
  }
  return run;
}

#define STRIDED(suffix, type)                                                                  \
  static void strided_##suffix(uint64_t n, const void *from, type *to, int64_t stride) {       \
    const type *v = from;                                                                      \
    for (uint64_t i = 0; i < n; i++) to[(int64_t)i * stride] = v[i];                           \
  }
STRIDED(8, uint8_t)
STRIDED(32, uint32_t)
STRIDED(64, uint64_t)

static void put(const struct runs_job *job, const struct run *run) {
  const char *from = job->values + run->position * job->bytes;
  char *to = job->out + (run->base + (uint64_t)run->first) * job->bytes;
  if (run->stride == 1 && job->streaming) {
    job->move->stream(to, from, run->n * job->bytes);
  } else if (run->stride == 1) {
    memcpy(to, from, run->n * job->bytes);
  } else if (job->bytes == sizeof(uint64_t)) {
    strided_64(run->n, from, (uint64_t *)(void *)to, run->stride);
  } else if (job->bytes == sizeof(uint32_t)) {
    strided_32(run->n, from, (uint32_t *)(void *)to, run->stride);
  } else {
    strided_8(run->n, from, (uint8_t *)to, run->stride);
  }
}

/* Copies defaults to positions low .. high - 1. */
static void scatter_runs_fill(const struct runs_job *job, uint64_t low, uint64_t high) {
  if (job->over_defaults || low >= high) return;
  char *to = job->out + low * job->bytes;
  if (!job->defaults) {
    memset(to, 0, (high - low) * job->bytes);
    return;
  }
  const char *from = job->defaults + low * job->bytes;
  if (job->streaming) {
    job->move->stream(to, from, (high - low) * job->bytes);
  } else {
    memcpy(to, from, (high - low) * job->bytes);
  }
}

/* Writes the elements of a run that go to positions low .. high - 1. Positions before `filled`
 * have been written already. Returns the new `filled`. */
static uint64_t put_run(const struct runs_job *job, const struct run *whole, uint64_t low,
                        uint64_t high, uint64_t filled) {
  const struct run run = clipped(*whole, low, high);
  if (run.n == 0) return filled;
  const uint64_t first = run.base + (uint64_t)run.first;
  const uint64_t last = first + (run.n - 1) * (uint64_t)run.stride;
  const uint64_t end = (first < last ? last : first) + 1;
  scatter_runs_fill(job, filled, run.stride == 1 ? first : end);
  put(job, &run);
  return end > filled ? end : filled;
}

static void runs_range(struct runs_job *job, uint64_t r) {
  enum { UNASKED = 1024 }; /* runs between two looks; if there are many runs, they are short */
  const struct range range = range_of(&job->far, job->ranges, r);
  const struct segments *runs = &job->runs.segments;
  uint64_t position = segment_start(&job->near, range.first), filled = range.low;
  const uint64_t end = segment_start(&job->near, range.past);
  uint64_t k = range.first, i = position < end ? segment_at(runs, position) : 0;
  for (uint64_t looks = 1;
       position < end && position <= atomic_load_explicit(&job->fault, memory_order_relaxed);
       looks++) {
    if (looks % UNASKED == 0 && pool_asked(job->pool)) return;
    while (segment_start(&job->near, k + 1) <= position) k++;
    while (segment_start(runs, i + 1) <= position) i++;
    const uint64_t near_end = segment_start(&job->near, k + 1);
    const uint64_t run_end = segment_start(runs, i + 1);
    const uint64_t stop = near_end < run_end ? near_end : run_end;
    const uint64_t base = segment_start(&job->far, k);
    const struct run run = {.position = position,
                            .n = stop - position,
                            .first = scatter_runs_index_of(job, i, position),
                            .stride = int_element(job->runs.strides, i, job->int_bytes),
                            .base = base,
                            .length = segment_start(&job->far, k + 1) - base};
    const uint64_t good = scatter_runs_in_range(&run);
    if (good < run.n) {
      note_lowest(&job->fault, position + good);
      return;
    }
    filled = put_run(job, &run, range.low, range.high, filled);
    position = stop;
  }
  scatter_runs_fill(job, filled, range.high);
  if (job->streaming) job->move->stream_end();
}

static void runs_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  for (uint64_t r = first; r < last; r++) runs_range(arg, r);
}

/* Returns the number of ranges. Each range looks at every run, so long runs may be cut finely,
 * but many short ones may not. */
static uint64_t count_ranges(struct cvl_context *c, const struct runs_job *job) {
  enum { WORTH = 64 }; /* elements that take about as long to copy as looking at a run */
  const uint64_t n = job->near.total, work = n + job->far.total;
  const uint64_t grain = grain_for(c, work, job->bytes);
  if (grain >= work) return 1;
  const uint64_t threads = pool_threads(c->pool), fine = work / grain;
  const uint64_t looks = (job->near.count + job->runs.segments.count) * WORTH;
  const uint64_t most = n / looks;
  const uint64_t ranges = fine < most ? fine : most;
  return ranges > threads ? ranges : threads;
}

static bool runs_fault(struct cvl_context *c, uint64_t site, const struct runs_job *job) {
  const uint64_t position = job->fault, k = segment_at(&job->near, position);
  const uint64_t length = segment_start(&job->far, k + 1) - segment_start(&job->far, k);
  const uint64_t r = segment_at(&job->runs.segments, position);
  return fault(c, (struct cvl_error){.kind = CVL_E_INDEX,
                                     .site = site,
                                     .position = (int64_t)position,
                                     .value = scatter_runs_index_of(job, r, position),
                                     .limit = (int64_t)length,
                                     .segment = (int64_t)k});
}

/* Returns the vector of the defaults if the result may be written over it, else NULL. */
static struct cvl_vector *scatter_runs_reusable_defaults(const struct cvl_permute *a,
                                                         const struct cpu_runs *runs,
                                                         size_t bytes) {
  if (a->defaults.form == CVL_NOTHING) return NULL;
  struct cvl_vector *v = value_reusable(&a->defaults, bytes);
  return v && value_data(&a->values) != v->data && runs->starts != v->data &&
                 runs->strides != v->data
             ? v
             : NULL;
}

bool cpu_scatter_runs(struct cvl_context *c, uint64_t site, const struct cvl_permute *a,
                      const struct cpu_runs *runs, struct cvl_value *out) {
  const size_t bytes = elem_bytes(a->values.elem);
  struct cvl_vector *reuse = scatter_runs_reusable_defaults(a, runs, bytes);
  struct runs_job job = {
      .pool = c->pool,
      .move = c->kernels->move,
      .near = value_segments(&a->s),
      .far = value_segments(&a->d),
      .runs = *runs,
      .bytes = bytes,
      .int_bytes = elem_bytes((uint8_t)c->int_elem),
      .values = value_data(&a->values),
      .defaults = a->defaults.form == CVL_NOTHING ? NULL : value_data(&a->defaults),
      .over_defaults = reuse != NULL,
      .fault = UINT64_MAX,
  };
  struct cvl_value result;
  const uint64_t n = job.far.total;
  if (!result_new(c, site, (enum cvl_elem)a->values.elem, n, reuse, &result)) return false;
  job.out = result_data(&result);
  job.streaming = n * bytes >= tuned(c, STREAM_BYTES);
  job.ranges = count_ranges(c, &job);
  if (!all_done(c, site, pool_for(c->pool, job.ranges, 1, runs_chunk, &job))) {
    result_drop(c, &result);
    return false;
  }
  if (job.fault == UINT64_MAX) {
    *out = result;
    return true;
  }
  result_drop(c, &result);
  return runs_fault(c, site, &job);
}
