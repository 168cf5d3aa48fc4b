/* elementwise.c - operations of one, two or three operands, element by element. */
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/map.h"
#include "cvl-cpu/kernels/move.h"

struct map_job {
  const struct map_entry *entry;
  const struct move_kernels *move;
  unsigned arity;
  bool streaming; /* the result bypasses the caches */
  const char *in[3];
  size_t in_bytes[3];
  char *out;
  size_t out_bytes;
  _Atomic uint64_t fault; /* the lowest element at fault */
};

/* Computes elements first .. last-1, and writes them to out. */
static void map_run(struct map_job *job, uint64_t first, uint64_t last, void *out) {
  const void *in[3];
  for (unsigned i = 0; i < job->arity; i++) in[i] = job->in[i] + first * job->in_bytes[i];
  const uint64_t done = job->entry->run(last - first, in, out);
  if (done < last - first) note_lowest(&job->fault, first + done);
}

static void map_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct map_job *job = arg;
  if (first > atomic_load_explicit(&job->fault, memory_order_relaxed)) return;
  if (!job->streaming) {
    map_run(job, first, last, job->out + first * job->out_bytes);
    return;
  }
  _Alignas(64) char staging[STAGING_BYTES];
  const uint64_t step = STAGING_BYTES / job->out_bytes;
  for (uint64_t i = first; i < last; i += step) {
    const uint64_t end = last - i < step ? last : i + step;
    map_run(job, i, end, staging);
    job->move->stream(job->out + i * job->out_bytes, staging, (end - i) * job->out_bytes);
  }
  job->move->stream_end();
}

static bool map_fault(struct cvl_context *c, uint64_t site, const struct map_entry *entry,
                      uint64_t position) {
  return fault(c, (struct cvl_error){.kind = (enum cvl_error_kind)entry->error,
                                     .site = site,
                                     .position = (int64_t)position});
}

/* Executes the operation for operands that are all known to the host, without memory or
 * threads. */
static bool map_scalars(struct cvl_context *c, uint64_t site, const struct map_entry *entry,
                        unsigned arity, const struct cvl_value *operands,
                        struct cvl_value *out) {
  const void *in[3];
  for (unsigned i = 0; i < arity; i++) in[i] = value_data(&operands[i]);
  struct cvl_value result = {.form = CVL_SCALAR, .elem = entry->out};
  if (entry->run(1, in, &result.as) != 1) return map_fault(c, site, entry, 0);
  *out = result;
  return true;
}

bool cpu_elementwise(struct cvl_context *c, uint64_t site, enum cvl_op op, unsigned arity,
                     const struct cvl_value *operands, struct cvl_value *out) {
  const struct map_rows *rows = c->map_rows;
  const struct cvl_value *last = &operands[arity - 1];
  const enum elem_class class = elem_info((enum cvl_elem)last->elem)->klass;
  const struct map_entry *entry = &rows->row[op][class];
  const uint64_t n = value_length(last);
  if (n == 1) return map_scalars(c, site, entry, arity, operands, out);

  struct map_job job = {.entry = entry,
                        .move = c->kernels->move,
                        .arity = arity,
                        .out_bytes = elem_bytes(entry->out),
                        .fault = UINT64_MAX};
  struct cvl_vector *reuse = NULL;
  uint64_t traffic = job.out_bytes;
  for (unsigned i = 0; i < arity; i++) {
    job.in[i] = value_data(&operands[i]);
    job.in_bytes[i] = elem_bytes(operands[i].elem);
    traffic += job.in_bytes[i];
    if (!reuse) reuse = value_reusable(&operands[i], job.out_bytes);
  }
  struct cvl_value result;
  if (!result_new(c, site, (enum cvl_elem)entry->out, n, reuse, &result)) return false;
  job.out = result_data(&result);
  job.streaming = !reuse && n * job.out_bytes >= tuned(c, STREAM_BYTES);
  const bool done = pool_for(c->pool, n, grain_for(c, n, traffic), map_chunk, &job);
  if (!all_done(c, site, done)) {
    result_drop(c, &result);
    return false;
  }
  if (job.fault != UINT64_MAX) {
    result_drop(c, &result);
    return map_fault(c, site, entry, job.fault);
  }
  *out = result;
  return true;
}
