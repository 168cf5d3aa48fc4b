/* extract.c - one element of each segment: EXTRACT reads it, REPLACE sets it. The work is split
 * by segments, since each costs the same whatever its length is. */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/move.h"

enum { STEP = 512 }; /* segments located at a time */

struct extract_job {
  const struct move_kernels *move;
  const struct move_width *width;
  const struct move_int *ints;
  struct segments segments;
  size_t bytes, index_bytes;
  const char *index;
  const char *from; /* EXTRACT: the vector; REPLACE: the new elements */
  char *to;         /* EXTRACT: the result, an element for each segment; REPLACE: the copy */
  bool replaces;
  _Atomic uint64_t fault; /* lowest segment whose index is out of range */
};

static void extract_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct extract_job *job = arg;
  uint64_t at[STEP], limit[STEP];
  for (uint64_t k = first; k < last; k += STEP) {
    if (k > atomic_load_explicit(&job->fault, memory_order_relaxed)) return;
    const uint64_t n = last - k < STEP ? last - k : STEP;
    job->move->bounds(&job->segments, k, n, at, limit);
    const uint64_t located =
        job->ints->locate(n, job->index + k * job->index_bytes, NULL, limit, at);
    if (located < n) {
      note_lowest(&job->fault, k + located);
      return;
    }
    if (job->replaces) {
      job->width->scatter(n, job->from + k * job->bytes, at, 0, job->segments.total, job->to);
    } else {
      job->width->gather(n, job->from, at, job->to + k * job->bytes);
    }
  }
}

static bool extract_run(struct cvl_context *c, uint64_t site, struct extract_job *job,
                        const struct cvl_value *index) {
  const uint64_t count = job->segments.count;
  const uint64_t grain = grain_for(c, count, 2 * job->bytes + job->index_bytes);
  if (!all_done(c, site, pool_for(c->pool, count, grain, extract_chunk, job))) return false;
  if (job->fault == UINT64_MAX) return true;
  const uint64_t k = job->fault;
  const int64_t x = job->index_bytes == 8 ? ((const int64_t *)value_data(index))[k]
                                          : ((const int32_t *)value_data(index))[k];
  return segment_fault(c, site, CVL_E_INDEX, k, x, &job->segments, k);
}

static struct extract_job job_of(struct cvl_context *c, const struct cvl_value *v,
                                 const struct cvl_value *index, const struct cvl_value *d) {
  const size_t bytes = elem_bytes(v->elem);
  return (struct extract_job){.move = c->kernels->move,
                              .width = move_width(c->kernels->move, bytes),
                              .ints = move_int(c->kernels->move, c->int_elem),
                              .segments = value_segments(d),
                              .bytes = bytes,
                              .index_bytes = elem_bytes((uint8_t)c->int_elem),
                              .index = value_data(index),
                              .fault = UINT64_MAX};
}

static bool extract_deliver(struct cvl_context *c, bool good, struct cvl_value *result,
                            struct cvl_value *out) {
  if (good) {
    *out = *result;
  } else {
    result_drop(c, result);
  }
  return good;
}

bool cpu_extract(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                 const struct cvl_value *index, const struct cvl_value *d,
                 struct cvl_value *out) {
  struct extract_job job = job_of(c, v, index, d);
  struct cvl_value result;
  if (!result_new(c, site, (enum cvl_elem)v->elem, job.segments.count, NULL, &result)) {
    return false;
  }
  job.from = value_data(v);
  job.to = result_data(&result);
  return extract_deliver(c, extract_run(c, site, &job, index), &result, out);
}

bool cpu_replace(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                 const struct cvl_value *index, const struct cvl_value *w,
                 const struct cvl_value *d, struct cvl_value *out) {
  struct extract_job job = job_of(c, v, index, d);
  const uint64_t n = job.segments.total;
  struct cvl_vector *reuse = value_reusable(v, job.bytes);
  if (reuse && (value_data(index) == reuse->data || value_data(w) == reuse->data)) reuse = NULL;
  struct cvl_value result;
  if (!result_new(c, site, (enum cvl_elem)v->elem, n, reuse, &result)) return false;
  job.from = value_data(w);
  job.to = result_data(&result);
  job.replaces = true;
  const bool good = (reuse || copy_bytes(c, site, job.to, value_data(v), n * job.bytes)) &&
                    extract_run(c, site, &job, index);
  return extract_deliver(c, good, &result, out);
}
