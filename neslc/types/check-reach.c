/* check-reach.c - finds functions without a body and serial-only functions that the evaluation
 * of an expression may reach. (NESL specification, sections 3.1, 5.10.)
 *
 * Definitions are checked when they are entered; but a declared function gets its body later,
 * and a body may be replaced. So an expression is traversed again before it is evaluated, with
 * everything it refers to.
 */
#include "neslc/types/check.h"

static void find_serial(void *found, struct core *e, bool parallel) {
  (void)parallel;
  if (e->kind == CORE_GLOBAL && e->as.use.global->serial_only) *(bool *)found = true;
  core_parts(e, find_serial, found);
}

bool identity_is_serial(const struct type *identity) {
  bool found = identity->global && identity->global->serial_only;
  if (identity->lambda) find_serial(&found, identity->lambda->body, false);
  return found;
}

/* ---- everything that is reachable ---- */

struct reach {
  struct session *session;
  struct complaints *complaints;
  uint32_t errors;
  bool parallel;         /* the current expression is within an apply-to-each */
  struct table *seen[2]; /* globals, reached outside of and within apply-to-eaches */
  ARRAY(struct reached {
    const struct core *body;
    bool parallel;
  })
  waiting;
};

static void reach_type(struct reach *, struct type *, const struct core *use);
static void reach_core(void *, struct core *, bool parallel);

static void wait_for(struct reach *r, const struct core *body) {
  *array_push(r->session->arena, &r->waiting) = (struct reached){body, r->parallel};
}

/* Returns the types that a function has where it is used, which callers may not know. */
static const char *type_at(const struct reach *r, const struct global *g,
                           const struct core *use) {
  const bool itself = use->kind == CORE_GLOBAL && use->as.use.global == g;
  return type_text(r->session->arena, itself ? use->type : g->scheme.type, false);
}

static void reach_used_global(struct reach *r, const struct global *g, const struct core *use) {
  if (table_get(r->seen[r->parallel], g)) return;
  table_set(r->seen[r->parallel], g, r);
  if (g->kind == GLOBAL_VARIABLE) {
    reach_type(r, g->scheme.type, use);
  } else if (g->kind == GLOBAL_FUNCTION && g->serial_only && r->parallel) {
    r->errors++;
    complain(r->complaints, NESL_SERIAL_ONLY, use->source, use->at,
             "`%s` cannot be called in parallel: it has to do with files or the state of the "
             "machine",
             g->name->text);
  } else if (g->kind == GLOBAL_FUNCTION && g->body && !g->library) {
    wait_for(r, g->body);
  } else if (g->kind == GLOBAL_FUNCTION && !g->body && g->primitive < 0) {
    r->errors++;
    complain(r->complaints, NESL_NO_BODY, use->source, use->at,
             "`%s` is only declared, here for %s: it has no body to be evaluated",
             g->name->text, type_at(r, g, use));
  }
}

/* Values of global variables may contain functions. */
static void reach_type(struct reach *r, struct type *t, const struct core *use) {
  t = type_of(t);
  if (type_has_parts(t) && !table_add(r->seen[r->parallel], t)) return;
  if (t->tag == TYPE_IDENTITY) {
    if (t->global) reach_used_global(r, t->global, use);
    if (t->lambda && !table_get(r->seen[r->parallel], t->lambda)) {
      table_set(r->seen[r->parallel], t->lambda, r);
      wait_for(r, t->lambda->body);
      for (uint32_t i = 0; i < t->lambda->captured_count; i++) {
        reach_type(r, t->lambda->captured[i]->type, use);
      }
    }
  }
  for (unsigned i = 0; i < 3; i++) {
    if (t->part[i]) reach_type(r, t->part[i], use);
  }
  for (uint32_t i = 0; i < t->argument_count; i++) reach_type(r, t->arguments[i], use);
}

static void reach_core(void *context, struct core *e, bool parallel) {
  struct reach *r = context;
  bool outside = r->parallel;
  r->parallel |= parallel;
  if (e->kind == CORE_GLOBAL) reach_used_global(r, e->as.use.global, e);
  core_parts(e, reach_core, r);
  r->parallel = outside;
}

bool session_find_missing(struct session *session, const struct core *expression,
                          struct complaints *complaints) {
  struct reach r = {.session = session,
                    .complaints = complaints,
                    .seen = {table_new(session->arena), table_new(session->arena)}};
  wait_for(&r, expression);
  while (r.waiting.count) {
    struct reached next = r.waiting.items[--r.waiting.count];
    r.parallel = next.parallel;
    core_parts(next.body, reach_core, &r);
    if (next.body->kind == CORE_GLOBAL)
      reach_used_global(&r, next.body->as.use.global, next.body);
  }
  return r.errors > 0;
}
