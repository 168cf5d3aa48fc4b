/* check.c - the checker's entry point, and forms that are values. (NESL specification,
 * section 4.1.)
 */
#include "neslc/types/check.h"
#include "neslc/later.h"
#include "neslc/modules.h"

/* ---- values ---- */

/* Undetermined type variables become int, since no value has their type; except in function
 * types, where they stay generic. */
static void determine_type(struct checker *ck, struct table *seen, struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_VARIABLE) t->link = type_base(ck->arena, TYPE_INT);
  if (t->tag == TYPE_FUNCTION || !type_has_parts(t) || !table_add(seen, t)) return;
  for (unsigned i = 0; i < 2; i++) {
    if (t->part[i]) determine_type(ck, seen, t->part[i]);
  }
  for (uint32_t i = 0; t->tag == TYPE_DATA && i < t->data->shown_count; i++) {
    determine_type(ck, seen, t->arguments[i]);
  }
}

/* The scheme of a variable of a pattern: its part of the form's type, with variables of its
 * own. */
static struct scheme scheme_of_part(struct arena *arena, struct type *type) {
  struct scheme outer = {0};
  ARRAY(struct type *) variables = {0};
  ARRAY(struct type *) waiting = {0};
  struct table seen;
  table_begin(&seen, arena);
  *array_push(arena, &waiting) = type;
  while (waiting.count) {
    struct type *t = type_of(waiting.items[--waiting.count]);
    if (type_has_parts(t) && !table_add(&seen, t)) continue;
    if (t->tag == TYPE_VARIABLE && t->generic) {
      while (variables.count <= t->number) *array_push(arena, &variables) = t;
      variables.items[t->number] = t;
    }
    for (unsigned i = 0; i < 3; i++) {
      if (t->part[i]) *array_push(arena, &waiting) = t->part[i];
    }
    for (uint32_t i = 0; i < t->argument_count; i++) {
      *array_push(arena, &waiting) = t->arguments[i];
    }
  }
  outer.count = (uint32_t)variables.count;
  outer.variables = variables.items;
  outer.type = type;
  struct type **fresh = arena_alloc(arena, (variables.count + 1) * sizeof *fresh);
  return type_generalise(arena, type_instantiate(arena, &outer, fresh));
}

static void notice_pattern(struct checker *ck, const struct core_pattern *p,
                           struct checked *out) {
  if (p->left) notice_pattern(ck, p->left, out);
  if (p->right) notice_pattern(ck, p->right, out);
  if (p->kind != PATTERN_LOCAL || out->notice) return;
  const struct name *name = module_own(ck->session, p->local->name);
  const struct global *before = table_get(ck->session->globals, name);
  note_name(ck, name, out);
  if (!before || before->library) return;
  struct scheme scheme = scheme_of_part(ck->arena, p->type);
  if (!global_is_updated(ck->session, before, GLOBAL_VARIABLE, &scheme)) {
    out->notice = redefinition_notice(ck, p->local->name);
  }
}

/* Whether values of the type can be represented; reports an error if not. */
static bool check_chunk_size(struct checker *ck, const struct core *value) {
  if (!check_depth(ck, value->at, value->type)) return false;
  if (value_column_count(value->type) <= VALUE_MOST_COLUMNS) return true;
  complain(ck->complaints, NESL_LIMIT, ck->source, value->at, VALUE_TOO_MANY_COLUMNS);
  return false;
}

static bool nesl_check_value(struct checker *ck, const struct form *form, struct checked *out) {
  if (form->kind == FORM_ASSIGN &&
      !pattern_is_legal(ck, form->pattern, PATTERN_OF_ASSIGNMENT)) {
    return false;
  }
  out->value = check_expression(ck, form->value);
  if (form->kind == FORM_ASSIGN) {
    out->pattern =
        check_pattern(ck, form->pattern, out->value->type, PATTERN_OF_ASSIGNMENT, NULL);
  }
  if (ck->complaints->count || !check_chunk_size(ck, out->value)) return false;
  check_parallel_calls(ck);
  struct table seen;
  table_begin(&seen, ck->arena);
  determine_type(ck, &seen, out->value->type);
  struct scheme scheme = type_generalise(ck->arena, out->value->type);
  finish_lambdas(ck, &scheme);
  if (ck->complaints->count) return false;
  out->local_count = ck->local_count;
  if (ck->lambdas.count > 0) region_note_core(ck->session->region, out->value);
  if (out->pattern) notice_pattern(ck, out->pattern, out);
  return true;
}

bool check_form(struct session *session, const struct form *form, struct complaints *complaints,
                struct checked *out) {
  /* The errors of this form only: their count decides whether it is correct. */
  struct complaints own = {.diags = complaints->diags};
  struct lambda_frame frame = {0};
  struct checker ck = {.session = session,
                       .arena = session->arena,
                       .complaints = &own,
                       .source = form->source,
                       .frame = &frame};
  *out = (struct checked){.form = form};
  later_reach(session, form);
  bool good = false;
  switch ((enum form_kind)form->kind) {
  case FORM_EXPRESSION:
  case FORM_ASSIGN: good = nesl_check_value(&ck, form, out); break;
  case FORM_FUNCTION: good = check_function(&ck, form, out); break;
  case FORM_DATATYPE: good = check_datatype(&ck, form, out); break;
  case FORM_COMMAND: break;
  }
  if (!complaints->count) complaints->first = own.first;
  complaints->count += own.count;
  complaints->warnings += own.warnings;
  return good;
}

/* ---- binding ---- */

/* Binds the variables of a pattern to the columns from `first` on. */
static void check_bind_pattern(struct session *session, const struct core_pattern *p,
                               struct type *ground, const struct column *columns) {
  ground = type_of(ground);
  if (p->kind == PATTERN_PAIR) {
    check_bind_pattern(session, p->left, ground->part[0], columns);
    check_bind_pattern(session, p->right, ground->part[1],
                       columns + value_column_count(ground->part[0]));
    return;
  }
  struct scheme scheme = scheme_of_part(session->arena, p->type);
  struct nesl_value value = {ground, value_column_count(ground), (struct column *)columns};
  session_bind(session, module_own(session, p->local->name), &scheme, &value);
}

void session_bind_checked(struct session *session, const struct checked *checked,
                          const struct nesl_value *value) {
  if (checked->pattern) {
    check_bind_pattern(session, checked->pattern, value->type, value->columns);
    return;
  }
  struct scheme scheme = scheme_of_part(session->arena, checked->value->type);
  const struct name *it = intern_name(&session->names, "it", 2);
  session_bind(session, module_own(session, it), &scheme, value);
}
