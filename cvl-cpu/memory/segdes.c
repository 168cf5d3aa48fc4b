/* segdes.c - descriptors from lengths, and lengths from descriptors. */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/move.h"

enum { MOST_CHUNKS = 1024 };

struct lengths_job {
  const struct move_int *ints;
  const char *lengths;
  size_t bytes; /* bytes of a length */
  uint64_t grain;
  struct length_summary summary[MOST_CHUNKS];
  uint64_t start[MOST_CHUNKS]; /* first offset of each chunk */
  uint64_t *offsets;
};

static void summarize_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct lengths_job *job = arg;
  job->summary[first / job->grain] =
      job->ints->summarize(last - first, job->lengths + first * job->bytes);
}

static void segdes_offsets_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct lengths_job *job = arg;
  job->ints->offsets_of(last - first, job->lengths + first * job->bytes,
                        job->start[first / job->grain], job->offsets + first);
}

/* Returns the summary of all n lengths, after all chunks have been summarised. */
static struct length_summary summary_of(struct lengths_job *job, uint64_t n) {
  struct length_summary all = {UINT64_MAX, 0, 0};
  for (uint64_t i = 0; i < (n + job->grain - 1) / job->grain; i++) {
    const struct length_summary *chunk = &job->summary[i];
    job->start[i] = all.sum;
    all.sum += chunk->sum;
    if (chunk->least < all.least) all.least = chunk->least;
    if (chunk->most > all.most) all.most = chunk->most;
  }
  return all;
}

static int64_t segdes_length_at(const struct lengths_job *job, uint64_t i) {
  int64_t x;
  int32_t narrow;
  if (job->bytes == sizeof x) {
    memcpy(&x, job->lengths + i * sizeof x, sizeof x);
  } else {
    memcpy(&narrow, job->lengths + i * sizeof narrow, sizeof narrow);
    x = narrow;
  }
  return x;
}

/* Looks at one length after the other, as some are negative or the sum may be too large. False
 * after recording the fault. */
static bool lengths_are_good(struct cvl_context *c, uint64_t site,
                             const struct lengths_job *job, uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    const int64_t x = segdes_length_at(job, i);
    const bool negative = x < 0;
    if (!negative) sum += (uint64_t)x;
    if (negative || sum > INT64_MAX) {
      return fault(c, (struct cvl_error){.kind = negative ? CVL_E_NEGATIVE_LENGTH : CVL_E_TOTAL,
                                         .site = site,
                                         .position = (int64_t)i,
                                         .value = x});
    }
  }
  return true;
}

static bool cpu_segdes_of(struct cvl_context *c, uint64_t site, const struct move_int *ints,
                          uint64_t n, const void *lengths, size_t bytes,
                          struct cvl_value *out) {
  struct lengths_job job;
  job.ints = ints;
  job.lengths = lengths;
  job.bytes = bytes;
  job.grain = grain_for(c, n, bytes + sizeof(uint64_t));
  if (job.grain < n / MOST_CHUNKS + 1) job.grain = n / MOST_CHUNKS + 1;
  if (!all_done(c, site, pool_for(c->pool, n, job.grain, summarize_chunk, &job))) return false;
  const struct length_summary all = summary_of(&job, n);
  if (all.most > INT64_MAX / (n ? n : 1) && !lengths_are_good(c, site, &job, n)) return false;
  if (n == 1) {
    *out = cvl_one_segment(all.sum);
    return true;
  }
  const bool equal = n == 0 || all.least == all.most;
  struct cvl_segdes *d = segdes_new(c, site, equal ? 0 : n);
  if (!d) return false;
  d->count = n;
  d->total = all.sum;
  if (equal) {
    d->held.form = SEGDES_EQUAL;
    d->equal = all.most;
    d->offsets = NULL;
  } else {
    job.offsets = d->offsets;
    if (!all_done(c, site, pool_for(c->pool, n, job.grain, segdes_offsets_chunk, &job))) {
      segdes_release(c, d);
      return false;
    }
    d->offsets[n] = all.sum;
  }
  segdes_check(d);
  *out = (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
  return true;
}

/* Makes a descriptor from one length known to the host, without memory or threads. */
static bool segdes_one_segment(struct cvl_context *c, uint64_t site, int64_t length,
                               struct cvl_value *out) {
  if (length < 0) {
    return fault(
        c, (struct cvl_error){.kind = CVL_E_NEGATIVE_LENGTH, .site = site, .value = length});
  }
  *out = cvl_one_segment((uint64_t)length);
  return true;
}

bool cpu_make_segdes(struct cvl_context *c, uint64_t site, const struct cvl_value *lengths,
                     struct cvl_value *out) {
  if (lengths->form == CVL_SCALAR) return segdes_one_segment(c, site, cvl_int_of(lengths), out);
  return cpu_segdes_of(c, site, move_int(c->kernels->move, c->int_elem), value_length(lengths),
                       value_data(lengths), elem_bytes((uint8_t)c->int_elem), out);
}

bool cpu_segdes_from_host(struct cvl_context *c, uint64_t site, uint64_t n,
                          const int64_t *lengths, struct cvl_value *out) {
  if (n == 1) return segdes_one_segment(c, site, lengths[0], out);
  return cpu_segdes_of(c, site, move_int(c->kernels->move, CVL_I64), n, lengths,
                       sizeof(int64_t), out);
}

/* ---- LENGTHS ---- */

struct differences_job {
  const struct move_int *ints;
  const uint64_t *offsets;
  char *out;
  size_t bytes;
  _Atomic uint64_t fault;
};

static void differences_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct differences_job *job = arg;
  const uint64_t done =
      job->ints->lengths_of(last - first, job->offsets + first, job->out + first * job->bytes);
  if (done < last - first) note_lowest(&job->fault, first + done);
}

static bool length_too_large(struct cvl_context *c, uint64_t site, uint64_t k,
                             uint64_t length) {
  return fault(c, (struct cvl_error){.kind = CVL_E_INT_RANGE,
                                     .site = site,
                                     .position = (int64_t)k,
                                     .value = (int64_t)length});
}

bool cpu_lengths(struct cvl_context *c, uint64_t site, const struct cvl_value *d,
                 struct cvl_value *out) {
  const struct segments s = value_segments(d);
  if (!s.offsets) { /* equal lengths: the result is a DIST of the length */
    if (c->int_elem == CVL_I32 && s.equal > INT32_MAX && s.count) {
      return length_too_large(c, site, 0, s.equal);
    }
    const struct cvl_value length = cvl_scalar_int(c->int_elem, (int64_t)s.equal);
    if (s.count == 1) {
      *out = length;
      return true;
    }
    const struct cvl_value all = cvl_one_segment(s.count);
    return cpu_dist(c, site, &length, &all, out);
  }
  struct differences_job job = {.ints = move_int(c->kernels->move, c->int_elem),
                                .offsets = s.offsets,
                                .bytes = elem_bytes((uint8_t)c->int_elem),
                                .fault = UINT64_MAX};
  struct cvl_value result;
  if (!result_new(c, site, c->int_elem, s.count, NULL, &result)) return false;
  job.out = result_data(&result);
  const uint64_t grain = grain_for(c, s.count, job.bytes + sizeof(uint64_t));
  if (!all_done(c, site, pool_for(c->pool, s.count, grain, differences_chunk, &job))) {
    result_drop(c, &result);
    return false;
  }
  if (job.fault != UINT64_MAX) {
    result_drop(c, &result);
    return length_too_large(c, site, job.fault,
                            s.offsets[job.fault + 1] - s.offsets[job.fault]);
  }
  *out = result;
  return true;
}

/* ---- LENGTH ---- */

bool cpu_length_of(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                   struct cvl_value *out) {
  const uint64_t n = value_length(v);
  if (c->int_elem == CVL_I32 && n > INT32_MAX) return length_too_large(c, site, 0, n);
  *out = cvl_scalar_int(c->int_elem, (int64_t)n);
  return true;
}
