/* result-spools.c - results of calls in chunks, as spools (struct machine_sink).
 *
 * A result that takes more than a part of the memory that is left goes to one from its first
 * chunk on; others stay in memory, and the threads of a team may compute them. Where memory
 * fails after all the call is executed anew, with every result in a spool (call.c).
 */
#include "libravel/spools.h"

#include <errno.h>
#include <string.h>

/* ---- which results ---- */

static uint64_t result_threshold(const struct ravel_context *c) {
  enum { MEMORY_PART = 4 }; /* of what is left */
  const uint64_t limit = c->heap.limit, live = machine_statistics(c->machine).live_bytes;
  if (c->options.spool) return c->options.spool;
  return limit > live ? (limit - live) / MEMORY_PART : 0;
}

static bool spools_want(void *with, uint64_t bytes) {
  struct result_spools *r = with;
  if (r->all || bytes > result_threshold(r->context)) return true;
  r->refused = true;
  return false;
}

static size_t results_bytes(void) {
  return RAVEL_MOST_SPOOLS * sizeof(struct result_spool);
}

static bool allocate_result_spools(struct result_spools *r) {
  if (r->results) return true;
  r->results = heap_alloc(&r->context->heap, results_bytes());
  if (r->results) memset(r->results, 0, results_bytes());
  return r->results != NULL;
}

/* Returns whether a result goes to a spool. Without a temporary file results stay in memory. */
static bool spools_take(void *with, uint64_t result, enum cvl_elem elem) {
  struct result_spools *r = with;
  struct file_problem problem;
  if (result >= RAVEL_MOST_SPOOLS || !allocate_result_spools(r)) return false;
  struct result_spool *s = &r->results[result];
  if (s->spool) return false;
  s->spool = ravel_spool_new(r->context, &problem);
  s->bytes = elem_info(elem)->bytes;
  return s->spool != NULL;
}

/* ---- chunks ---- */

static bool fail_result_spool(struct result_spools *r, const struct file_problem *problem,
                              char *said) {
  r->context->no_room = true;
  snprintf(said, MACHINE_SINK_PROBLEM, "the result does not fit in memory, and %.340s",
           problem->error == ENOMEM ? "there is none for a temporary file" : problem->text);
  return false;
}

/* Gives back the pages of arguments that have been read. */
static void give_back_arguments(struct result_spools *r, uint64_t bytes) {
  enum { OFTEN = 64 << 20 };
  r->written += bytes;
  if (r->written < OFTEN) return;
  ravel_spools_give_back(r->context);
  r->written = 0;
}

/* Puts elements. If they come once more, they are the same as before. */
static bool spools_put(void *with, uint64_t result, uint64_t first, uint64_t n, uint64_t total,
                       const void *elements, char said[MACHINE_SINK_PROBLEM]) {
  struct result_spools *r = with;
  const struct result_spool *s = &r->results[result];
  struct file_problem problem;
  const uint64_t have = ravel_spool_length(s->spool), at = first * s->bytes;
  const uint64_t end = at + n * s->bytes;
  if (have == 0 && total != MACHINE_SINK_UNKNOWN &&
      !ravel_spool_reserve(s->spool, total * s->bytes, &problem)) {
    return fail_result_spool(r, &problem, said);
  }
  if (end <= have) return true;
  give_back_arguments(r, end - have);
  return ravel_spool_append(s->spool, (const char *)elements + (have - at), end - have,
                            &problem) ||
         fail_result_spool(r, &problem, said);
}

static const void *spools_whole(void *with, uint64_t result, uint64_t n,
                                char said[MACHINE_SINK_PROBLEM]) {
  struct result_spools *r = with;
  struct file_problem problem;
  (void)n;
  const void *data = ravel_spool_finish(r->results[result].spool, &problem);
  if (!data) fail_result_spool(r, &problem, said);
  return data;
}

/* ---- vectors ---- */

/* The vector that is made now has the spool; `spools_made` still finds it. */
static struct cvl_notice spools_end_result(void *with, uint64_t result) {
  struct result_spools *r = with;
  struct ravel_spool *spool = r->results[result].spool;
  r->results[result].spool = ravel_spool_keep(spool);
  r->results[result].kept = true;
  return ravel_spool_end_of_vector(spool);
}

static void spools_made(void *with, uint64_t result, const struct cvl_value *vector) {
  ravel_spool_note(((struct result_spools *)with)->results[result].spool, vector);
}

/* ---- a call ---- */

void result_spools_begin(struct ravel_context *c, struct result_spools *r, bool all) {
  *r = (struct result_spools){.context = c,
                              .all = all,
                              .sink = {.takes = spools_take,
                                       .put = spools_put,
                                       .whole = spools_whole,
                                       .with = r,
                                       .wants = spools_want,
                                       .end = spools_end_result,
                                       .made = spools_made}};
  machine_use_sink(c->machine, c->options.no_spools ? NULL : &r->sink);
}

void result_spools_end(struct result_spools *r) {
  machine_use_sink(r->context->machine, NULL);
  for (unsigned i = 0; r->results && i < RAVEL_MOST_SPOOLS; i++) {
    struct result_spool *s = &r->results[i];
    if (s->kept) {
      ravel_spool_release(s->spool);
    } else {
      ravel_spool_drop(s->spool);
    }
  }
  heap_free(&r->context->heap, r->results, results_bytes());
  r->results = NULL;
}
