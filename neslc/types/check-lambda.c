/* check-lambda.c - the types on which a lambda depends. (NESL specification, section 5.7.)
 *
 * While the types of a form are inferred, the identity of a lambda has no arguments: within the
 * form it is one function. When the form is complete, the arguments become the generic
 * variables that the lambda mentions in its body or captured variables, so that every use of
 * the form has lambdas of its own types.
 */
#include "neslc/types/check.h"

struct finder {
  struct checker *ck;
  const struct scheme *scheme;
  bool *mentions;
  struct table seen; /* types with parts that the lambda mentions */
  bool changed;
};

static struct lambda_note *note_of(struct checker *ck, const struct core_lambda *lambda) {
  for (size_t i = 0; i < ck->lambdas.count; i++) {
    if (ck->lambdas.items[i].lambda == lambda) return &ck->lambdas.items[i];
  }
  return NULL;
}

/* ---- mentions ---- */

static void mention(struct finder *f, uint32_t number) {
  f->changed |= !f->mentions[number];
  f->mentions[number] = true;
}

/* If the identity is of a lambda of this form, adds its mentions and returns true. */
static bool mention_lambda_of(struct finder *f, const struct type *identity) {
  const struct lambda_note *own = identity->lambda ? note_of(f->ck, identity->lambda) : NULL;
  for (uint32_t i = 0; own && i < f->scheme->count; i++) {
    if (own->mentions[i]) mention(f, i);
  }
  return own != NULL;
}

static void mention_type(struct finder *f, struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_VARIABLE) {
    if (t->generic && t->number < f->scheme->count) mention(f, t->number);
    return;
  }
  if (type_has_parts(t) && !table_add(&f->seen, t)) return;
  /* A lambda mentions the types of its argument and its result. */
  const struct type *identity = t->tag == TYPE_FUNCTION ? type_of(t->part[2]) : t;
  if (mention_lambda_of(f, identity)) return;
  for (unsigned i = 0; i < 3; i++) {
    if (t->part[i]) mention_type(f, t->part[i]);
  }
  for (uint32_t i = 0; i < t->argument_count; i++) mention_type(f, t->arguments[i]);
}

static void mention_pattern(struct finder *f, const struct core_pattern *p) {
  mention_type(f, p->type);
  if (p->left) mention_pattern(f, p->left);
  if (p->right) mention_pattern(f, p->right);
}

static void mention_core(void *context, struct core *e, bool parallel) {
  struct finder *f = context;
  (void)parallel;
  mention_type(f, e->type);
  if (e->kind == CORE_GLOBAL) {
    for (uint32_t i = 0; i < e->as.use.count; i++) mention_type(f, e->as.use.arguments[i]);
  } else if (e->kind == CORE_LAMBDA) {
    return; /* mention_type has followed its identity */
  } else if (core_has_pattern(e)) {
    mention_pattern(f, e->as.part.pattern);
  } else if (e->kind == CORE_EACH) {
    for (size_t i = 0; i < e->as.each.count; i++) {
      mention_pattern(f, e->as.each.generators[i].pattern);
    }
  }
  core_parts(e, mention_core, f);
}

static void mention_lambda(struct finder *f, struct lambda_note *note) {
  const struct core_lambda *lambda = note->lambda;
  f->mentions = note->mentions;
  table_begin(&f->seen, f->ck->arena);
  mention_pattern(f, lambda->parameter);
  mention_core(f, lambda->body, false);
  for (uint32_t i = 0; i < lambda->captured_count; i++) {
    mention_type(f, lambda->captured[i]->type);
  }
}

static void fill_variables(struct checker *ck, const struct scheme *scheme,
                           struct lambda_note *note) {
  struct core_lambda *lambda = note->lambda;
  lambda->scheme_count = scheme->count;
  lambda->variables = arena_alloc(ck->arena, (scheme->count + 1) * sizeof(struct type *));
  for (uint32_t i = 0; i < scheme->count; i++) {
    if (note->mentions[i]) lambda->variables[lambda->variable_count++] = scheme->variables[i];
  }
  note->identity->arguments = lambda->variables;
  note->identity->argument_count = lambda->variable_count;
}

/* ---- lambdas that contain themselves ---- */

enum visit { VISIT_NEW, VISIT_ACTIVE, VISIT_DONE };

/* Whether a value of the type contains a lambda that is being visited. Arguments and results of
 * functions do not count. */
static bool contains_active(struct checker *ck, struct table *seen, struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_FUNCTION) return contains_active(ck, seen, t->part[2]);
  struct lambda_note *note = t->lambda ? note_of(ck, t->lambda) : NULL;
  if (note) {
    if (note->visit != VISIT_NEW) return note->visit == VISIT_ACTIVE;
    note->visit = VISIT_ACTIVE;
    bool found = false;
    for (uint32_t i = 0; i < note->lambda->captured_count && !found; i++) {
      found = contains_active(ck, seen, note->lambda->captured[i]->type);
    }
    note->visit = VISIT_DONE;
    return found;
  }
  if (!type_has_parts(t) || !table_add(seen, t)) return false;
  for (unsigned i = 0; i < 2; i++) {
    if (t->part[i] && contains_active(ck, seen, t->part[i])) return true;
  }
  for (uint32_t i = 0; i < t->argument_count; i++) {
    if (contains_active(ck, seen, t->arguments[i])) return true;
  }
  return false;
}

static void check_lambda_contents(struct checker *ck) {
  struct table seen;
  table_begin(&seen, ck->arena);
  for (size_t i = 0; i < ck->lambdas.count; i++) {
    struct lambda_note *note = &ck->lambdas.items[i];
    if (note->visit == VISIT_NEW && contains_active(ck, &seen, note->identity)) {
      complain(ck->complaints, NESL_TYPE, ck->source, note->lambda->at,
               "the value of this function would contain itself without end: its type is "
               "infinite");
    }
  }
}

void finish_lambdas(struct checker *ck, const struct scheme *scheme) {
  if (ck->lambdas.count == 0) return;
  check_lambda_contents(ck);
  struct finder f = {.ck = ck, .scheme = scheme};
  for (size_t i = 0; i < ck->lambdas.count; i++) {
    ck->lambdas.items[i].mentions = arena_alloc(ck->arena, scheme->count + 1);
  }
  do { /* until no lambda mentions another that mentions more */
    f.changed = false;
    for (size_t i = 0; i < ck->lambdas.count && scheme->count; i++) {
      mention_lambda(&f, &ck->lambdas.items[i]);
    }
  } while (f.changed);
  for (size_t i = 0; i < ck->lambdas.count; i++) {
    fill_variables(ck, scheme, &ck->lambdas.items[i]);
  }
}

void check_parallel_calls(struct checker *ck) {
  for (size_t i = 0; i < ck->parallel_calls.count; i++) {
    const struct core *call = ck->parallel_calls.items[i];
    struct type *function = type_of(call->as.part.left->type);
    if (function->tag != TYPE_FUNCTION) continue;
    if (!identity_is_serial(type_of(function->part[2]))) continue;
    complain_serial(ck, call->at, "this function");
  }
  if (ck->parallel_self && ck->serial_only) {
    const struct core *use = ck->parallel_self;
    complain_serial(ck, use->at, use->as.use.global->name->text);
  }
}
