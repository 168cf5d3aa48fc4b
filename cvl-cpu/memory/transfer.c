/* transfer.c - copies of bytes on all threads, from and to the host. */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/move.h"

struct copy_job {
  const struct move_kernels *move;
  char *to;
  const char *from; /* NULL: zeros */
  bool streaming;
};

static void transfer_copy_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct copy_job *job = arg;
  if (!job->from) {
    memset(job->to + first, 0, last - first);
  } else if (job->streaming) {
    job->move->stream(job->to + first, job->from + first, last - first);
    job->move->stream_end();
  } else {
    memcpy(job->to + first, job->from + first, last - first);
  }
}

bool copy_bytes(struct cvl_context *c, uint64_t site, void *to, const void *from,
                uint64_t bytes) {
  if (bytes == 0) return true;
  struct copy_job job = {c->kernels->move, to, from, bytes >= tuned(c, STREAM_BYTES)};
  return all_done(c, site,
                  pool_for(c->pool, bytes, grain_for(c, bytes, 2), transfer_copy_chunk, &job));
}

bool clear_bytes(struct cvl_context *c, uint64_t site, void *to, uint64_t bytes) {
  struct copy_job job = {c->kernels->move, to, NULL, false};
  return all_done(c, site,
                  pool_for(c->pool, bytes, grain_for(c, bytes, 1), transfer_copy_chunk, &job));
}

static void touch_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  enum { PAGE = 4096 };
  volatile char *to = arg;
  (void)worker;
  for (uint64_t p = first; p < last; p += PAGE) to[p] = 0;
}

bool touch_bytes(struct cvl_context *c, uint64_t site, void *to, uint64_t bytes) {
  enum { LEAST = 64 << 20, CHUNK = 4 << 20 };
  return bytes < LEAST || all_done(c, site, pool_for(c->pool, bytes, CHUNK, touch_chunk, to));
}

bool cpu_from_host(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                   const void *data, struct cvl_value *out) {
  struct cvl_value result;
  if (!result_new(c, site, elem, n, NULL, &result)) return false;
  if (!copy_bytes(c, site, result_data(&result), data, n * elem_info(elem)->bytes)) {
    result_drop(c, &result);
    return false;
  }
  *out = result;
  return true;
}

static void lengths_to_host(const struct segments *s, uint64_t first, uint64_t n,
                            int64_t *dst) {
  for (uint64_t k = first; k < first + n; k++) {
    *dst++ = (int64_t)(segment_start(s, k + 1) - segment_start(s, k));
  }
}

bool cpu_to_host(struct cvl_context *c, const struct cvl_value *v, uint64_t first, uint64_t n,
                 void *dst) {
  if (c->error.kind != CVL_E_NONE) return false;
  if (v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT) {
    const struct segments s = value_segments(v);
    lengths_to_host(&s, first, n, dst);
    return true;
  }
  const size_t bytes = elem_bytes(v->elem);
  /* belongs to no operation of the program: earlier than all sites */
  const uint64_t host_site = 0;
  return copy_bytes(c, host_site, dst, (const char *)value_data(v) + first * bytes, n * bytes);
}
