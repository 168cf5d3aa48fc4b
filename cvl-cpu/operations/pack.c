/* pack.c - PACK: selects the flagged elements, and counts how many each segment keeps.
 *
 * There are two passes over chunks of the segments' path. The first counts the flags of each
 * chunk, and the second knows from these where its elements go. Within a chunk the flags become
 * masks, 64 to a word, by which elements are compressed. The new offset of a segment is the
 * rank of its start among the mask bits, so a segment costs a lookup and a count of bits.
 */
#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/move.h"

enum {
  STEP = 1024,       /* positions packed at a time */
  MOST_CHUNKS = 1024 /* so few that their counts fit the stack */
};

struct pack_job {
  const struct move_kernels *move;
  const struct move_width *width;
  struct segments segments;
  size_t bytes;
  const char *values;
  const uint8_t *flags;
  uint64_t grain;
  /* elements kept in chunk i; later, in all chunks before it */
  uint64_t before[MOST_CHUNKS + 1];
  char *out;
  uint64_t *offsets; /* offsets of the new descriptor; NULL: it has one segment */
  bool streaming;
};

static void pack_count_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct pack_job *job = arg;
  const uint64_t from = segments_split(&job->segments, first).position;
  const uint64_t to = segments_split(&job->segments, last).position;
  job->before[first / job->grain] = job->move->count(to - from, job->flags + from);
}

/* Compresses n elements from `position` on to position `kept` of the result. This chunk owns
 * the positions before `limit`. Returns the number of kept elements. The kernel may write
 * VECTOR_SLACK bytes more. */
static uint64_t pack_step(const struct pack_job *job, uint64_t position, uint64_t n,
                          const uint64_t *masks, uint64_t kept, uint64_t limit) {
  const char *v = job->values + position * job->bytes;
  char *to = job->out + kept * job->bytes;
  if (!job->streaming && limit - kept >= n + VECTOR_SLACK / job->bytes) {
    return job->width->compress(n, v, masks, to);
  }
  _Alignas(64) char staging[STEP * sizeof(uint64_t) + VECTOR_SLACK];
  const uint64_t here = job->width->compress(n, v, masks, staging);
  move_bytes(job->move, job->streaming, to, staging, here * job->bytes);
  return here;
}

static void pack_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct pack_job *job = arg;
  const struct path_coordinate from = segments_split(&job->segments, first);
  const struct path_coordinate to = segments_split(&job->segments, last);
  struct walk w = walk_from(&job->segments, from);
  const uint64_t chunk = first / job->grain, limit = job->before[chunk + 1];
  uint64_t kept = job->before[chunk], position = from.position;
  uint64_t masks[STEP / 64];
  while (position < to.position) {
    const uint64_t n = to.position - position < STEP ? to.position - position : STEP;
    job->move->masks(n, job->flags + position, masks);
    if (job->offsets) job->move->ranks(&w, position + n, masks, kept, job->offsets);
    kept += pack_step(job, position, n, masks, kept, limit);
    position += n;
  }
  if (job->streaming) job->move->stream_end();
  if (!job->offsets) return;
  for (uint64_t k = w.segment; k < to.segment; k++) job->offsets[k] = kept;
}

/* Turns the counts of the chunks into their first positions. Returns the total. */
static uint64_t pack_scan_counts(struct pack_job *job, uint64_t chunks) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < chunks; i++) {
    const uint64_t here = job->before[i];
    job->before[i] = sum;
    sum += here;
  }
  job->before[chunks] = sum;
  return sum;
}

/* Makes the new descriptor, whose offsets are filled in later. */
static bool new_descriptor(struct cvl_context *c, uint64_t site, struct pack_job *job,
                           uint64_t total, struct cvl_value *out_d) {
  if (job->segments.count == 1) {
    *out_d = cvl_one_segment(total);
    return true;
  }
  struct cvl_segdes *d = segdes_new(c, site, job->segments.count);
  if (!d) return false;
  d->total = total;
  d->offsets[d->count] = total;
  job->offsets = d->offsets;
  *out_d = (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
  return true;
}

bool cpu_pack(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
              const struct cvl_value *flags, const struct cvl_value *d, struct cvl_value *out,
              struct cvl_value *out_d) {
  struct pack_job job;
  job.move = c->kernels->move;
  job.bytes = elem_bytes(v->elem);
  job.width = move_width(job.move, job.bytes);
  job.segments = value_segments(d);
  job.values = value_data(v);
  job.flags = value_data(flags);
  job.offsets = NULL;
  const uint64_t steps = segments_steps(&job.segments);
  job.grain = grain_for(c, steps, job.bytes + 1);
  if (job.grain < steps / MOST_CHUNKS + 1) job.grain = steps / MOST_CHUNKS + 1;
  if (!all_done(c, site, pool_for(c->pool, steps, job.grain, pack_count_chunk, &job)))
    return false;
  const uint64_t total = pack_scan_counts(&job, (steps + job.grain - 1) / job.grain);

  struct cvl_value result, descriptor;
  if (!new_descriptor(c, site, &job, total, &descriptor)) return false;
  bool good = result_new(c, site, (enum cvl_elem)v->elem, total, NULL, &result);
  if (good) {
    job.out = result_data(&result);
    job.streaming = total * job.bytes >= tuned(c, STREAM_BYTES);
    good = all_done(c, site, pool_for(c->pool, steps, job.grain, pack_chunk, &job));
    if (!good) result_drop(c, &result);
  }
  if (!good) {
    if (job.offsets) segdes_release(c, descriptor.as.segdes);
    return false;
  }
  if (job.offsets) segdes_check(descriptor.as.segdes);
  *out = result;
  *out_d = descriptor;
  return true;
}
