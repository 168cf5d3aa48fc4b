/* dist.c - values spread over segments: DIST and INDEX. */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/move.h"

struct spread_job {
  const struct move_kernels *move;
  const struct move_width *width; /* for DIST; NULL: */
  const struct move_int *ints;    /* INDEX, which uses this */
  struct segments segments;
  const void *values, *strides;
  char *out;
  size_t bytes; /* bytes of an element */
  bool streaming;
};

static void spread_run(const struct spread_job *job, struct walk *w, uint64_t last, void *out) {
  if (job->width) {
    job->width->dist(w, last, job->values, out);
  } else {
    job->ints->index(w, last, job->values, job->strides, out);
  }
}

/* Writes DIST of one element past the caches, from one staging buffer. */
static void repeat_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct spread_job *job = arg;
  _Alignas(64) char staging[STAGING_BYTES + SPREAD_SLACK];
  const uint64_t step = STAGING_BYTES / job->bytes;
  struct walk w = walk_from(&job->segments, (struct path_coordinate){0, 0});
  spread_run(job, &w, last - first < step ? last - first : step, staging);
  for (uint64_t i = first; i < last; i += step) {
    const uint64_t n = last - i < step ? last - i : step;
    job->move->stream(job->out + i * job->bytes, staging, n * job->bytes);
  }
  job->move->stream_end();
}

/* Kernels may write SPREAD_SLACK bytes more. The end of a chunk's result therefore goes through
 * a staging buffer; elsewhere the chunk itself overwrites these bytes next. */
static void spread_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct spread_job *job = arg;
  const struct move_kernels *move = job->move;
  struct walk w = walk_from(&job->segments, segments_split(&job->segments, first));
  const uint64_t end = segments_split(&job->segments, last).position;
  const size_t bytes = job->bytes;
  const uint64_t slack = SPREAD_SLACK / bytes;
  _Alignas(64) char staging[STAGING_BYTES + SPREAD_SLACK];
  if (!job->streaming && end - w.position > slack) {
    spread_run(job, &w, end - slack, job->out + w.position * bytes);
  }
  while (w.position < end) {
    const uint64_t begin = w.position;
    const uint64_t step = STAGING_BYTES / bytes;
    spread_run(job, &w, end - begin < step ? end : begin + step, staging);
    const size_t made = (w.position - begin) * bytes;
    if (job->streaming) {
      move->stream(job->out + begin * bytes, staging, made);
    } else {
      memcpy(job->out + begin * bytes, staging, made);
    }
  }
  if (job->streaming) move->stream_end();
}

static bool dist_spread(struct cvl_context *c, uint64_t site, struct spread_job *job,
                        enum cvl_elem elem, struct cvl_value *out) {
  const uint64_t n = job->segments.total;
  struct cvl_value result;
  if (!result_new(c, site, elem, n, NULL, &result)) return false;
  job->out = result_data(&result);
  job->streaming = n * job->bytes >= tuned(c, STREAM_BYTES);
  const bool repeats = job->streaming && job->width && job->segments.count == 1;
  const uint64_t steps = repeats ? n : segments_steps(&job->segments);
  const bool done = pool_for(c->pool, steps, grain_for(c, steps, job->bytes),
                             repeats ? repeat_chunk : spread_chunk, job);
  if (!all_done(c, site, done)) {
    result_drop(c, &result);
    return false;
  }
  *out = result;
  return true;
}

bool cpu_dist(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_value *out) {
  const size_t bytes = elem_bytes(v->elem);
  struct spread_job job = {.move = c->kernels->move,
                           .width = move_width(c->kernels->move, bytes),
                           .segments = value_segments(d),
                           .values = value_data(v),
                           .bytes = bytes};
  return dist_spread(c, site, &job, (enum cvl_elem)v->elem, out);
}

bool cpu_index(struct cvl_context *c, uint64_t site, const struct cvl_value *start,
               const struct cvl_value *stride, const struct cvl_value *d,
               struct cvl_value *out) {
  struct spread_job job = {.move = c->kernels->move,
                           .ints = move_int(c->kernels->move, c->int_elem),
                           .segments = value_segments(d),
                           .values = value_data(start),
                           .strides = value_data(stride),
                           .bytes = elem_bytes((uint8_t)c->int_elem)};
  return dist_spread(c, site, &job, c->int_elem, out);
}
