/* effects.c - RAND and ASSERT, the operations with side effects. */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/random.h"

struct random_job {
  random_kernel *run;
  struct cvl_random which;
  const char *bounds;
  char *out;
  size_t bytes;
  _Atomic uint64_t fault;
};

static void random_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct random_job *job = arg;
  const uint64_t done =
      job->run(job->which.seed, job->which.k, job->which.first + first, last - first,
               job->bounds + first * job->bytes, job->out + first * job->bytes);
  if (done < last - first) note_lowest(&job->fault, first + done);
}

/* Returns element i of a vector of INT. */
static int64_t effects_int_at(const struct cvl_context *c, const struct cvl_value *v,
                              uint64_t i) {
  const void *data = value_data(v);
  return c->int_elem == CVL_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

bool cpu_random(struct cvl_context *c, uint64_t site, const struct cvl_random *which,
                const struct cvl_value *bounds, struct cvl_value *out) {
  /* Computing a number costs as much as moving this many bytes for each of its bytes. */
  enum { EFFORT = 8 };
  const uint64_t n = value_length(bounds);
  struct random_job job = {.run = c->kernels->random->ints[c->int_elem == CVL_I64],
                           .which = *which,
                           .bounds = value_data(bounds),
                           .bytes = elem_bytes((uint8_t)c->int_elem),
                           .fault = UINT64_MAX};
  struct cvl_value result;
  struct cvl_vector *reuse = value_reusable(bounds, job.bytes);
  if (!result_new(c, site, c->int_elem, n, reuse, &result)) return false;
  job.out = result_data(&result);
  if (!all_done(
          c, site,
          pool_for(c->pool, n, grain_for(c, n, EFFORT * job.bytes), random_chunk, &job))) {
    result_drop(c, &result);
    return false;
  }
  if (job.fault != UINT64_MAX) {
    result_drop(c, &result);
    return fault(c, (struct cvl_error){.kind = CVL_E_BOUND,
                                       .site = site,
                                       .position = (int64_t)job.fault,
                                       .value = effects_int_at(c, bounds, job.fault)});
  }
  *out = result;
  return true;
}

struct assert_job {
  const uint8_t *flags;
  _Atomic uint64_t fault;
};

static void assert_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct assert_job *job = arg;
  const uint8_t *found = memchr(job->flags + first, 0, last - first);
  if (found) note_lowest(&job->fault, (uint64_t)(found - job->flags));
}

bool cpu_assert_all(struct cvl_context *c, uint64_t site, const struct cvl_value *flags,
                    const struct cvl_value *v, const struct cvl_value *w) {
  const uint64_t n = value_length(flags);
  struct assert_job job = {value_data(flags), UINT64_MAX};
  if (!all_done(c, site, pool_for(c->pool, n, grain_for(c, n, 1), assert_chunk, &job))) {
    return false;
  }
  if (job.fault == UINT64_MAX) return true;
  return fault(c, (struct cvl_error){.kind = CVL_E_ASSERT,
                                     .site = site,
                                     .position = (int64_t)job.fault,
                                     .value = effects_int_at(c, v, job.fault),
                                     .limit = effects_int_at(c, w, job.fault)});
}
