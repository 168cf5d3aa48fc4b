/* spills.c - spills that vectors and exported arrays share. */
#include "libravel/spills.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

struct ravel_spill {
  struct spill spill;
  atomic_uint owners;            /* the vector, or who makes it; and others who read it */
  struct ravel_context *context; /* while it is in its list */
  struct ravel_spill *next, **link;
  const void *vector; /* that is on it; or NULL */
  uint64_t most;      /* bytes that a file of this process may have */
};

/* ---- life ---- */

static void begin_in_context(struct ravel_context *c, struct ravel_spill *s) {
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &limit);
  s->most = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
  atomic_init(&s->owners, 1);
  s->context = c;
  s->next = c->spills;
  s->link = &c->spills;
  if (s->next) s->next->link = &s->next;
  c->spills = s;
}

/* A spill may outlive the context, so its memory is the process's. */
struct ravel_spill *ravel_spill_new(struct ravel_context *c, struct file_problem *problem) {
  struct ravel_spill *s = calloc(1, sizeof *s);
  if (!s) {
    *problem = (struct file_problem){.error = ENOMEM};
    return NULL;
  }
  if (spill_begin(&s->spill, &c->heap, NULL, problem)) {
    begin_in_context(c, s);
    return s;
  }
  free(s);
  return NULL;
}

/* Removes a spill from its context's list. */
static void unlink_spill(struct ravel_spill *s) {
  if (!s->context) return;
  *s->link = s->next;
  if (s->next) s->next->link = s->link;
  s->context = NULL;
}

static void leave_spill(struct ravel_spill *s) {
  if (atomic_fetch_sub_explicit(&s->owners, 1, memory_order_acq_rel) > 1) return;
  spill_end(&s->spill);
  free(s);
}

/* Ends the ownership that the vector began with, on the context's thread. */
static void end_of_vector(void *with) {
  unlink_spill(with);
  leave_spill(with);
}

struct cvl_notice ravel_spill_end_of_vector(struct ravel_spill *s) {
  return (struct cvl_notice){end_of_vector, s};
}

/* If the elements were copied after all, the vector has ended before. */
void ravel_spill_note(struct ravel_spill *s, const struct cvl_value *vector) {
  if (s->context && vector->form == CVL_VECTOR) s->vector = vector->as.vector;
}

struct ravel_spill *ravel_spill_keep(struct ravel_spill *s) {
  atomic_fetch_add_explicit(&s->owners, 1, memory_order_relaxed);
  return s;
}

void ravel_spill_drop(struct ravel_spill *s) {
  if (s) end_of_vector(s);
}

void ravel_spill_release(struct ravel_spill *s) {
  leave_spill(s);
}

/* ---- contents ---- */

/* Returns whether a spill may grow: a write beyond the limit would be a signal, and the end of
 * a process that does not expect it. */
static bool may_grow(const struct ravel_spill *s, uint64_t bytes,
                     struct file_problem *problem) {
  if (bytes <= s->most && s->spill.length <= s->most - bytes) return true;
  problem->error = EFBIG;
  snprintf(problem->text, sizeof problem->text,
           "a temporary file in %.120s needs at least %llu bytes, and no file may have more "
           "than %llu (RLIMIT_FSIZE, ulimit -f)",
           s->spill.folder, (unsigned long long)(s->spill.length + bytes),
           (unsigned long long)s->most);
  return false;
}

bool ravel_spill_reserve(struct ravel_spill *s, uint64_t bytes, struct file_problem *problem) {
  return may_grow(s, bytes, problem) && spill_reserve(&s->spill, bytes, problem);
}

bool ravel_spill_append(struct ravel_spill *s, const void *data, uint64_t bytes,
                        struct file_problem *problem) {
  return may_grow(s, bytes, problem) && spill_append(&s->spill, data, bytes, problem);
}

uint64_t ravel_spill_length(const struct ravel_spill *s) {
  return s->spill.length;
}

const void *ravel_spill_finish(struct ravel_spill *s, struct file_problem *problem) {
  return spill_finish(&s->spill, problem) ? s->spill.data : NULL;
}

/* ---- reading ---- */

struct ravel_spill *ravel_spill_of(struct ravel_context *c, const struct cvl_value *value) {
  if (value->form != CVL_VECTOR) return NULL;
  for (struct ravel_spill *s = c->spills; s; s = s->next) {
    if (s->vector == value->as.vector) return ravel_spill_keep(s);
  }
  return NULL;
}

static void end_spill_export(void *with) {
  ravel_spill_release(with);
}

bool ravel_export_vector(struct ravel_context *c, const struct cvl_value *value,
                         struct cvl_export *exported) {
  struct ravel_spill *s = ravel_spill_of(c, value);
  if (!s) return machine_value_export(c->machine, value, exported);
  *exported = (struct cvl_export){s->spill.data, {end_spill_export, s}};
  return true;
}

void ravel_spill_give_back(const struct ravel_spill *s) {
  if (s->spill.data) spill_give_back(&s->spill, 0, s->spill.length);
}

void ravel_spills_give_back(struct ravel_context *c) {
  for (const struct ravel_spill *s = c->spills; s; s = s->next) ravel_spill_give_back(s);
}

/* ---- problems ---- */

enum ravel_code ravel_fail_spill(struct ravel_context *c, const char *what,
                                 const struct file_problem *problem) {
  const enum ravel_code code = ravel_stopped(c);
  if (code != RAVEL_OK) return code;
  if (problem->error == ENOMEM) return ravel_fail_memory(c);
  return ravel_fail(c, RAVEL_MEMORY, "%s, and %s", what, problem->text);
}
