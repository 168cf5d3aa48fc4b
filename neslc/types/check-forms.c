/* check-forms.c - definitions: what may be defined, what a redefinition changes, and datatypes.
 * (NESL specification, sections 4.2, 5.6.)
 */
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <string.h>

struct global *global_make(struct session *session, enum global_kind kind,
                           const struct name *name) {
  struct global *global = session->heap ? heap_alloc(session->heap, sizeof *global)
                                        : arena_alloc(session->arena, sizeof *global);
  if (!global) memory_failed();
  *global = (struct global){.older = session->cells, .region = session->region};
  if (session->heap) session->cells = global;
  global->name = name;
  global->module = session->in_library ? session->program : session->module;
  global->kind = (uint8_t)kind;
  global->number = session->next_number++;
  global->primitive = -1;
  global->library = session->in_library;
  return global;
}

/* ---- redefinition ---- */

/* Operators are part of the syntax: what they mean does not depend on the program. */
static bool is_operator(const struct name *name) {
  static const char *const words[] = {"and", "nand", "or", "nor", "xor", "not"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(name->text, words[i]) == 0) return true;
  }
  const char first = *name->text;
  return first != '_' && (first < 'a' || first > 'z');
}

bool check_definable(struct checker *ck, const struct name *name, struct span at) {
  if (ck->session->in_library || !is_operator(name)) return true;
  complain(ck->complaints, NESL_BUILTIN, ck->source, at,
           "`%s` is an operator of the language, which means the same in all programs: give "
           "the definition another name",
           name->text);
  return false;
}

void note_name(struct checker *ck, const struct name *name, struct checked *out) {
  const struct global *before = table_get(ck->session->globals, name);
  const bool truth = strcmp(name->text, "t") == 0, falsehood = strcmp(name->text, "f") == 0;
  if (out->note || ck->session->in_library) return;
  if (!before && (truth || falsehood)) {
    out->note = arena_printf(ck->arena,
                             "Note: %s is the constant %s, too, which can be written 1 == %d.",
                             name->text, truth ? "true" : "false", truth);
  } else if (before && before->library) {
    out->note = arena_printf(
        ck->arena, "Note: %s is a name of the library, too, whose functions keep to their own.",
        name->text);
  }
}

bool global_is_updated(struct session *session, const struct global *global,
                       enum global_kind kind, const struct scheme *scheme) {
  return global && !global->library && global->kind == (uint8_t)kind &&
         scheme_same(session->arena, &global->scheme, scheme);
}

const char *redefinition_notice(struct checker *ck, const struct name *name) {
  return arena_printf(
      ck->arena, "Redefining %s with a new type.  Old calls will not be modified.", name->text);
}

void define_global(struct checker *ck, struct global *global, struct checked *out) {
  struct session *session = ck->session;
  const struct global *before = table_get(session->globals, global->name);
  note_name(ck, global->name, out);
  if (before && !before->library) out->notice = redefinition_notice(ck, global->name);
  session_name(session, global);
  out->global = global;
}

const struct form *form_kept(struct checker *ck, const struct form *form) {
  struct form *copy = arena_alloc(ck->arena, sizeof *copy);
  *copy = *form;
  return copy;
}

/* ---- types ---- */

bool check_depth(struct checker *ck, struct span at, struct type *type) {
  if (!type_is_deep(ck->arena, type)) return true;
  complain(ck->complaints, NESL_LIMIT, ck->source, at, "the type here nests deeper than %d",
           TYPE_MOST_DEPTH);
  return false;
}

/* ---- datatypes ---- */

static bool check_type_definable(struct checker *ck, const struct form *form) {
  enum type_tag tag;
  if (!base_type_named(form->name, &tag)) return check_definable(ck, form->name, form->name_at);
  complain(ck->complaints, NESL_BUILTIN, ck->source, form->name_at,
           "the type `%s` is built in: give the datatype another name", form->name->text);
  return false;
}

/* Identities of functions in the contents become hidden parameters, so that the type of a value
 * determines the functions that it contains. */
static void add_identities(struct checker *ck, struct table *seen, struct type *t,
                           struct type_names *parameters) {
  t = type_of(t);
  if (type_has_parts(t) && !table_add(seen, t)) return;
  if (t->tag == TYPE_VARIABLE) {
    for (size_t i = 0; i < parameters->list.count; i++) {
      if (parameters->list.items[i].type == t) return;
    }
    *array_push(ck->arena, &parameters->list) = (struct type_name){NULL, t};
  }
  for (unsigned i = 0; i < 3; i++) {
    if (t->part[i]) add_identities(ck, seen, t->part[i], parameters);
  }
  for (uint32_t i = 0; i < t->argument_count; i++) {
    add_identities(ck, seen, t->arguments[i], parameters);
  }
}

/* The names of the fields; complains of one that occurs twice. */
static void set_fields(struct checker *ck, const struct form *form, struct datatype *data) {
  data->fields = arena_alloc(ck->arena, (form->field_count + 1) * sizeof *data->fields);
  for (size_t i = 0; i < form->field_count; i++) {
    const struct syntax_field *field = &form->fields[i];
    if (datatype_field(data, field->name) < data->field_count) {
      complain(ck->complaints, NESL_FIELD, ck->source, field->at,
               "the datatype `%s` has the field `%s` already", form->name->text,
               field->name->text);
      continue;
    }
    data->fields[data->field_count++] = field->name;
  }
}

static struct datatype *make_datatype(struct checker *ck, const struct form *form) {
  struct type_names names = {0};
  check_constraints(ck, form->annotation, &names);
  struct datatype *data = arena_alloc(ck->arena, sizeof *data);
  data->name = module_own(ck->session, form->name);
  data->shown_count = (uint32_t)names.list.count;
  data->contents = check_type(ck, form->annotation->type, &names);
  set_fields(ck, form, data);
  struct table seen;
  table_begin(&seen, ck->arena);
  add_identities(ck, &seen, data->contents, &names);
  data->parameter_count = (uint32_t)names.list.count;
  data->parameters = arena_alloc(ck->arena, (names.list.count + 1) * sizeof *data->parameters);
  for (uint32_t i = 0; i < data->parameter_count; i++) {
    data->parameters[i] = type_of(names.list.items[i].type);
    data->parameters[i]->generic = true;
    data->parameters[i]->number = i;
  }
  return data;
}

static struct global *make_constructor(struct checker *ck, const struct form *form,
                                       struct datatype *data) {
  struct global *constructor = global_make(ck->session, GLOBAL_CONSTRUCTOR, data->name);
  constructor->form = form_kept(ck, form);
  constructor->datatype = data;
  struct type *whole = type_data(ck->arena, data, data->parameters);
  struct type *identity =
      type_identity(ck->arena, constructor, NULL, data->parameter_count, data->parameters);
  constructor->scheme =
      (struct scheme){data->parameter_count, data->parameters,
                      type_function(ck->arena, data->contents, whole, identity)};
  return constructor;
}

static bool fields_are_equal(const struct datatype *a, const struct datatype *b) {
  bool same = a->field_count == b->field_count;
  for (uint32_t i = 0; same && i < a->field_count; i++) same = a->fields[i] == b->fields[i];
  return same;
}

/* A second declaration with the same contents declares the same type. */
static bool same_datatype(struct arena *scratch, const struct datatype *a,
                          const struct datatype *b) {
  if (!a || a->constructor->library || a->shown_count != b->shown_count) return false;
  if (a->parameter_count != b->parameter_count) return false;
  for (uint32_t i = 0; i < a->parameter_count; i++) {
    if (a->parameters[i]->klass != b->parameters[i]->klass) return false;
  }
  return fields_are_equal(a, b) && type_same(scratch, a->contents, b->contents);
}

bool check_datatype(struct checker *ck, const struct form *form, struct checked *out) {
  if (!check_type_definable(ck, form)) return false;
  ck->datatype = form->name;
  struct datatype *data = make_datatype(ck, form);
  if (ck->complaints->count) return false;
  struct datatype *before = table_get(ck->session->types, data->name);
  data->order = ck->session->next_number++;
  if (same_datatype(ck->arena, before, data)) {
    if (table_get(ck->session->globals, data->name) != before->constructor) {
      define_global(ck, before->constructor, out);
    }
    if (ck->session->module->defined) table_add(ck->session->module->defined, data->name);
    before->order = data->order;
    out->global = before->constructor;
    return true;
  }
  data->constructor = make_constructor(ck, form, data);
  region_note_global(data->constructor->region, data->constructor);
  table_set(ck->session->types, data->name, data);
  if (ck->session->in_library) table_set(ck->session->library_types, data->name, data);
  define_global(ck, data->constructor, out);
  return true;
}
