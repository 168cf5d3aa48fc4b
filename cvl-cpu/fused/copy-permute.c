/* copy-permute.c - PERMUTE by runs that are in any order.
 *
 * That no element is written twice need not be known of elements: it follows from the runs. A
 * bit for each element of the result says whether a span begins there. If one begins at the
 * first element, and each ends where another begins, or at the end, then every element is
 * covered at least once: where the last span that covers an element ends, another begins.
 * Together they have as many elements as the result, so each is covered once.
 */
#include <string.h>

#include "cvl-cpu/fused/copy-walk.h"

enum { WORD = 64 };

struct permute_job {
  const struct bound_input *input;
  _Atomic uint64_t *begins;
  char *out;
  enum { MARKS, CHECKS, COPIES } does;
  _Atomic bool unfit;
};

static bool copy_permute_is_set(const struct permute_job *job, uint64_t bit) {
  return atomic_load_explicit(&job->begins[bit / WORD], memory_order_relaxed) >> bit % WORD & 1;
}

static void copy_permute_mark(struct permute_job *job, uint64_t bit) {
  atomic_fetch_or_explicit(&job->begins[bit / WORD], (uint64_t)1 << bit % WORD,
                           memory_order_relaxed);
}

static bool handle(struct permute_job *job, const struct copy_span *s) {
  const struct bound_input *p = job->input;
  switch (job->does) {
  case MARKS: copy_permute_mark(job, s->to); break;
  case CHECKS: return s->to + s->n == p->total || copy_permute_is_set(job, s->to + s->n);
  case COPIES: memcpy(job->out + s->to * p->bytes, s->from, s->n * p->bytes); break;
  }
  return true;
}

/* Spans are cut at the ends of chunks, in every pass alike. */
static void permute_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct permute_job *job = arg;
  struct copy_cursor c;
  bool fits = !atomic_load_explicit(&job->unfit, memory_order_relaxed);
  copy_cursor_at(&c, job->input, first);
  for (uint64_t position = first; fits && position < last;) {
    fits = copy_cursor_fill(&c);
    for (uint32_t k = 0; k < c.found && fits && position < last; k++) {
      struct copy_span s = c.spans[k];
      if (s.n > last - position) s.n = last - position;
      fits = handle(job, &s);
      position += s.n;
    }
  }
  if (!fits) atomic_store_explicit(&job->unfit, true, memory_order_relaxed);
}

static enum copy_outcome copy_permute_pass(struct cvl_context *c, uint64_t site,
                                           struct permute_job *job) {
  const uint64_t grain = grain_for(c, job->input->total, 2 * job->input->bytes);
  if (!all_done(c, site, pool_for(c->pool, job->input->total, grain, permute_chunk, job)))
    return COPY_FAILED;
  return job->unfit ? COPY_UNFIT : COPY_DONE;
}

static enum copy_outcome passes(struct cvl_context *c, uint64_t site, struct permute_job *job) {
  enum copy_outcome done = copy_permute_pass(c, site, job);
  if (done == COPY_DONE && !copy_permute_is_set(job, 0)) return COPY_UNFIT;
  job->does = CHECKS;
  if (done == COPY_DONE) done = copy_permute_pass(c, site, job);
  job->does = COPIES;
  if (done == COPY_DONE) done = copy_permute_pass(c, site, job);
  return done;
}

enum copy_outcome copy_permute(struct cvl_context *c, uint64_t site,
                               const struct bound_input *input, void *out) {
  const uint64_t words = input->total / WORD + 1;
  struct permute_job job = {.input = input, .out = out, .does = MARKS};
  job.begins = scratch_alloc(c, site, words * sizeof *job.begins);
  if (!job.begins) return COPY_FAILED;
  for (uint64_t i = 0; i < words; i++) atomic_init(&job.begins[i], 0);
  const enum copy_outcome done = passes(c, site, &job);
  scratch_free(c, job.begins, words * sizeof *job.begins);
  return done;
}
