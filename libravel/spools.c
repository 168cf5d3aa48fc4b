/* spools.c - spools that vectors and exported arrays share. */
#include "libravel/spools.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

struct ravel_spool {
  struct spool spool;
  atomic_uint owners;            /* the vector, or who makes it; and others who read it */
  struct ravel_context *context; /* while it is in its list */
  struct ravel_spool *next, **link;
  const void *vector; /* that is on it; or NULL */
  uint64_t most;      /* bytes that a file of this process may have */
};

/* ---- life ---- */

static void begin_in_context(struct ravel_context *c, struct ravel_spool *s) {
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &limit);
  s->most = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
  atomic_init(&s->owners, 1);
  s->context = c;
  s->next = c->spools;
  s->link = &c->spools;
  if (s->next) s->next->link = &s->next;
  c->spools = s;
}

/* A spool may outlive the context, so its memory is the process's. */
struct ravel_spool *ravel_spool_new(struct ravel_context *c, struct file_problem *problem) {
  struct ravel_spool *s = calloc(1, sizeof *s);
  if (!s) {
    *problem = (struct file_problem){.error = ENOMEM};
    return NULL;
  }
  if (spool_begin(&s->spool, &c->heap, NULL, problem)) {
    begin_in_context(c, s);
    return s;
  }
  free(s);
  return NULL;
}

/* Removes a spool from its context's list. */
static void unlink_spool(struct ravel_spool *s) {
  if (!s->context) return;
  *s->link = s->next;
  if (s->next) s->next->link = s->link;
  s->context = NULL;
}

static void leave_spool(struct ravel_spool *s) {
  if (atomic_fetch_sub_explicit(&s->owners, 1, memory_order_acq_rel) > 1) return;
  spool_end(&s->spool);
  free(s);
}

/* Ends the ownership that the vector began with, on the context's thread. */
static void end_of_vector(void *with) {
  unlink_spool(with);
  leave_spool(with);
}

struct cvl_notice ravel_spool_end_of_vector(struct ravel_spool *s) {
  return (struct cvl_notice){end_of_vector, s};
}

/* If the elements were copied after all, the vector has ended before. */
void ravel_spool_note(struct ravel_spool *s, const struct cvl_value *vector) {
  if (s->context && vector->form == CVL_VECTOR) s->vector = vector->as.vector;
}

struct ravel_spool *ravel_spool_keep(struct ravel_spool *s) {
  atomic_fetch_add_explicit(&s->owners, 1, memory_order_relaxed);
  return s;
}

void ravel_spool_drop(struct ravel_spool *s) {
  if (s) end_of_vector(s);
}

void ravel_spool_release(struct ravel_spool *s) {
  leave_spool(s);
}

/* ---- contents ---- */

/* Returns whether a spool may grow: a write beyond the limit would be a signal, and the end of
 * a process that does not expect it. */
static bool may_grow(const struct ravel_spool *s, uint64_t bytes,
                     struct file_problem *problem) {
  if (bytes <= s->most && s->spool.length <= s->most - bytes) return true;
  problem->error = EFBIG;
  snprintf(problem->text, sizeof problem->text,
           "a temporary file in %.120s needs at least %llu bytes, and no file may have more "
           "than %llu (RLIMIT_FSIZE, ulimit -f)",
           s->spool.folder, (unsigned long long)(s->spool.length + bytes),
           (unsigned long long)s->most);
  return false;
}

bool ravel_spool_reserve(struct ravel_spool *s, uint64_t bytes, struct file_problem *problem) {
  return may_grow(s, bytes, problem) && spool_reserve(&s->spool, bytes, problem);
}

bool ravel_spool_append(struct ravel_spool *s, const void *data, uint64_t bytes,
                        struct file_problem *problem) {
  return may_grow(s, bytes, problem) && spool_append(&s->spool, data, bytes, problem);
}

uint64_t ravel_spool_length(const struct ravel_spool *s) {
  return s->spool.length;
}

const void *ravel_spool_finish(struct ravel_spool *s, struct file_problem *problem) {
  return spool_finish(&s->spool, problem) ? s->spool.data : NULL;
}

/* ---- reading ---- */

struct ravel_spool *ravel_spool_of(struct ravel_context *c, const struct cvl_value *value) {
  if (value->form != CVL_VECTOR) return NULL;
  for (struct ravel_spool *s = c->spools; s; s = s->next) {
    if (s->vector == value->as.vector) return ravel_spool_keep(s);
  }
  return NULL;
}

static void end_spool_loan(void *with) {
  ravel_spool_release(with);
}

bool ravel_lend(struct ravel_context *c, const struct cvl_value *value, struct cvl_loan *loan) {
  struct ravel_spool *s = ravel_spool_of(c, value);
  if (!s) return machine_value_lend(c->machine, value, loan);
  *loan = (struct cvl_loan){s->spool.data, {end_spool_loan, s}};
  return true;
}

void ravel_spool_give_back(const struct ravel_spool *s) {
  if (s->spool.data) spool_give_back(&s->spool, 0, s->spool.length);
}

void ravel_spools_give_back(struct ravel_context *c) {
  for (const struct ravel_spool *s = c->spools; s; s = s->next) ravel_spool_give_back(s);
}

/* ---- problems ---- */

enum ravel_code ravel_fail_spool(struct ravel_context *c, const char *what,
                                 const struct file_problem *problem) {
  const enum ravel_code code = ravel_stopped(c);
  if (code != RAVEL_OK) return code;
  if (problem->error == ENOMEM) return ravel_fail_memory(c);
  return ravel_fail(c, RAVEL_MEMORY, "%s, and %s", what, problem->text);
}
