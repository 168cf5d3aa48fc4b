/* result-spills.c - results of calls in chunks, as spills (struct machine_consumer).
 *
 * A result that takes more than a part of the memory that is left goes to one from its first
 * chunk on; others stay in memory, and the threads of a team may compute them. Where memory
 * fails after all the call is executed anew, with every result in a spill (call.c).
 */
#include "libravel/spills.h"

#include <errno.h>
#include <string.h>

/* ---- which results ---- */

static uint64_t result_threshold(const struct ravel_context *c) {
  enum { MEMORY_PART = 4 }; /* of what is left */
  const uint64_t limit = c->heap.limit, live = machine_statistics(c->machine).live_bytes;
  if (c->options.spill) return c->options.spill;
  return limit > live ? (limit - live) / MEMORY_PART : 0;
}

static bool spills_want(void *with, uint64_t bytes) {
  struct result_spills *r = with;
  if (r->all || bytes > result_threshold(r->context)) return true;
  r->refused = true;
  return false;
}

static size_t results_bytes(void) {
  return RAVEL_MOST_SPILLS * sizeof(struct result_spill);
}

static bool allocate_result_spills(struct result_spills *r) {
  if (r->results) return true;
  r->results = heap_alloc(&r->context->heap, results_bytes());
  if (r->results) memset(r->results, 0, results_bytes());
  return r->results != NULL;
}

/* Returns whether a result goes to a spill. Without a temporary file results stay in memory. */
static bool spills_take(void *with, uint64_t result, enum cvl_elem elem) {
  struct result_spills *r = with;
  struct file_problem problem;
  if (result >= RAVEL_MOST_SPILLS || !allocate_result_spills(r)) return false;
  struct result_spill *s = &r->results[result];
  if (s->spill) return false;
  s->spill = ravel_spill_new(r->context, &problem);
  s->bytes = elem_info(elem)->bytes;
  return s->spill != NULL;
}

/* ---- chunks ---- */

static bool fail_result_spill(struct result_spills *r, const struct file_problem *problem,
                              char *said) {
  r->context->no_room = true;
  snprintf(said, MACHINE_CONSUMER_PROBLEM, "the result does not fit in memory, and %.340s",
           problem->error == ENOMEM ? "there is none for a temporary file" : problem->text);
  return false;
}

/* Gives back the pages of arguments that have been read. */
static void give_back_arguments(struct result_spills *r, uint64_t bytes) {
  enum { OFTEN = 64 << 20 };
  r->written += bytes;
  if (r->written < OFTEN) return;
  ravel_spills_give_back(r->context);
  r->written = 0;
}

/* Puts elements. If they come once more, they are the same as before. */
static bool spills_put(void *with, uint64_t result, uint64_t first, uint64_t n, uint64_t total,
                       const void *elements, char said[MACHINE_CONSUMER_PROBLEM]) {
  struct result_spills *r = with;
  const struct result_spill *s = &r->results[result];
  struct file_problem problem;
  const uint64_t have = ravel_spill_length(s->spill), at = first * s->bytes;
  const uint64_t end = at + n * s->bytes;
  if (have == 0 && total != MACHINE_CONSUMER_UNKNOWN &&
      !ravel_spill_reserve(s->spill, total * s->bytes, &problem)) {
    return fail_result_spill(r, &problem, said);
  }
  if (end <= have) return true;
  give_back_arguments(r, end - have);
  return ravel_spill_append(s->spill, (const char *)elements + (have - at), end - have,
                            &problem) ||
         fail_result_spill(r, &problem, said);
}

static const void *spills_whole(void *with, uint64_t result, uint64_t n,
                                char said[MACHINE_CONSUMER_PROBLEM]) {
  struct result_spills *r = with;
  struct file_problem problem;
  (void)n;
  const void *data = ravel_spill_finish(r->results[result].spill, &problem);
  if (!data) fail_result_spill(r, &problem, said);
  return data;
}

/* ---- vectors ---- */

/* The vector that is made now has the spill; `spills_made` still finds it. */
static struct cvl_notice spills_end_result(void *with, uint64_t result) {
  struct result_spills *r = with;
  struct ravel_spill *spill = r->results[result].spill;
  r->results[result].spill = ravel_spill_keep(spill);
  r->results[result].kept = true;
  return ravel_spill_end_of_vector(spill);
}

static void spills_made(void *with, uint64_t result, const struct cvl_value *vector) {
  ravel_spill_note(((struct result_spills *)with)->results[result].spill, vector);
}

/* ---- a call ---- */

void result_spills_begin(struct ravel_context *c, struct result_spills *r, bool all) {
  *r = (struct result_spills){.context = c,
                              .all = all,
                              .consumer = {.takes = spills_take,
                                           .put = spills_put,
                                           .whole = spills_whole,
                                           .with = r,
                                           .wants = spills_want,
                                           .end = spills_end_result,
                                           .made = spills_made}};
  machine_use_consumer(c->machine, c->options.no_spills ? NULL : &r->consumer);
}

void result_spills_end(struct result_spills *r) {
  machine_use_consumer(r->context->machine, NULL);
  for (unsigned i = 0; r->results && i < RAVEL_MOST_SPILLS; i++) {
    struct result_spill *s = &r->results[i];
    if (s->kept) {
      ravel_spill_release(s->spill);
    } else {
      ravel_spill_drop(s->spill);
    }
  }
  heap_free(&r->context->heap, r->results, results_bytes());
  r->results = NULL;
}
