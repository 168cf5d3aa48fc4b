/* check-forms.c - definitions: functions, declarations, datatypes, and what a redefinition
 * changes. (NESL specification, sections 4.2, 5.5, 5.6, 5.9.)
 */
#include "neslc/check.h"
#include "neslc/modules.h"

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

static void define(struct checker *ck, struct global *global, struct checked *out) {
  struct session *session = ck->session;
  const struct global *before = table_get(session->globals, global->name);
  note_name(ck, global->name, out);
  if (before && !before->library) out->notice = redefinition_notice(ck, global->name);
  session_name(session, global);
  out->global = global;
}

/* A copy of a form in the session's arena, where its parts are already. */
static const struct form *kept(struct checker *ck, const struct form *form) {
  struct form *copy = arena_alloc(ck->arena, sizeof *copy);
  *copy = *form;
  return copy;
}

/* ---- functions ---- */

/* The parameters with `name := value` replaced by the name; the options go to the function. */
static const struct syntax *strip_options(struct checker *ck, const struct syntax *parameters) {
  ARRAY(struct core_option) options = {0};
  struct syntax *copy = arena_alloc(ck->arena, sizeof *copy);
  struct syntax *whole = copy;
  const struct syntax *rest = parameters;
  bool more = rest->kind == SYNTAX_PAIR;
  while (true) {
    const struct syntax *part = more ? rest->as.part.left : rest;
    if (part->kind == SYNTAX_OPTION) {
      *array_push(ck->arena, &options) =
          (struct core_option){part->as.part.left->as.name.name, part->as.part.right};
      part = part->as.part.left;
    } else if (options.count) {
      complain(ck->complaints, NESL_OPTIONAL_ARGUMENT, ck->source, part->at,
               "parameters that are not optional come before those that are");
    }
    *copy = more ? *rest : *part;
    if (!more) break;
    copy->as.part.left = arena_alloc(ck->arena, sizeof *copy);
    *copy->as.part.left = *part;
    copy->as.part.right = arena_alloc(ck->arena, sizeof *copy);
    copy = copy->as.part.right;
    rest = rest->as.part.right;
    more = tuple_continues(rest);
  }
  ck->self->options = options.items;
  ck->self->optional_count = (uint32_t)options.count;
  return options.count ? whole : parameters;
}

/* Defaults are checked again at each call; here only for errors. */
static void check_defaults(struct checker *ck) {
  for (uint32_t i = 0; i < ck->self->optional_count; i++) {
    check_expression(ck, ck->self->options[i].value);
  }
}

static bool is_primitive(const struct checker *ck, const struct form *form) {
  return ck->session->in_library && form->value && form->value->kind == SYNTAX_NAME &&
         strcmp(form->value->as.name.name->text, "primitive") == 0;
}

/* The type of the function before its body is checked: that of the annotation, or fresh
 * variables. */
static void begin_type(struct checker *ck, const struct form *form) {
  struct type *type = NULL;
  if (form->annotation) {
    struct type_names names = {0};
    check_constraints(ck, form->annotation, &names);
    type = type_of(check_type(ck, form->annotation->type, &names));
    if (type->tag != TYPE_FUNCTION) {
      complain(ck->complaints, NESL_TYPE, ck->source, form->annotation->type->at,
               "this is not the type of a function: %s; a tuple before `->` needs parentheses",
               shown(ck, type));
      type = NULL;
    }
  }
  struct type *argument = type ? type->part[0] : type_variable(ck->arena, CLASS_ANY);
  struct type *result = type ? type->part[1] : type_variable(ck->arena, CLASS_ANY);
  ck->self_identity = type_identity(ck->arena, ck->self, NULL, 0, NULL);
  type = type_function(ck->arena, argument, result, ck->self_identity);
  ck->self_type = type_from(ck, type, form->name_at);
}

static void check_body(struct checker *ck, const struct form *form) {
  struct core *body = check_expression(ck, form->value);
  ck->self->body = body;
  struct type *result = ck->self_type->part[1];
  struct clash clash;
  if (unify(ck, &clash, result, body->type)) return;
  complain_clash(ck, body->at, &clash,
                 form->annotation
                     ? "the annotation of `%s` says that it gives %s, but its body "
                       "is %s"
                     : "`%s` is used within itself as giving %s, but its body is %s",
                 form->name->text, shown(ck, result), shown(ck, body->type));
}

/* The type is complete: it becomes a scheme, and uses within the body get its own variables.
 */
static void finish_type(struct checker *ck) {
  struct global *self = ck->self;
  self->scheme = type_generalise(ck->arena, ck->self_type);
  ck->self_identity->arguments = self->scheme.variables;
  ck->self_identity->argument_count = self->scheme.count;
  for (size_t i = 0; i < ck->self_uses.count; i++) {
    ck->self_uses.items[i]->as.use.count = self->scheme.count;
    ck->self_uses.items[i]->as.use.arguments = self->scheme.variables;
  }
  finish_lambdas(ck, &self->scheme);
}

/* The new definition replaces the contents of the old struct, to which callers refer. */
static void replace(struct checker *ck, struct global *old, const struct global *new) {
  if (!new->body &&new->primitive < 0) return; /* declared again: nothing new */
  struct global replaced = *new;
  replaced.number = old->number;
  replaced.version = old->version + 1;
  replaced.older = old->older;
  region_replace_global(new->region, new, old);
  *old = replaced;
  for (size_t i = 0; i < ck->self_uses.count; i++) {
    ck->self_uses.items[i]->as.use.global = old;
  }
}

static void install(struct checker *ck, struct checked *out) {
  const bool in_library = ck->session->in_library; /* then its name is known (session_read) */
  struct global *old =
      table_get(in_library ? ck->session->library : ck->session->globals, ck->self->name);
  if (!in_library && ck->session->module->defined)
    table_add(ck->session->module->defined, ck->self->name);
  if (old) {
    /* Types include identities: with the old one, the new type may equal the old type. */
    ck->self_identity->global = old;
    if (in_library || global_is_updated(ck->session, old, GLOBAL_FUNCTION, &ck->self->scheme)) {
      replace(ck, old, ck->self);
      out->global = old;
      return;
    }
    ck->self_identity->global = ck->self;
  }
  define(ck, ck->self, out);
}

bool check_depth(struct checker *ck, struct span at, struct type *type) {
  if (!type_is_deep(ck->arena, type)) return true;
  complain(ck->complaints, NESL_LIMIT, ck->source, at, "the type here nests deeper than %d",
           TYPE_MOST_DEPTH);
  return false;
}

bool check_function(struct checker *ck, const struct form *form, struct checked *out) {
  if (!check_definable(ck, form->name, form->name_at)) return false;
  struct global *self =
      global_make(ck->session, GLOBAL_FUNCTION, module_own(ck->session, form->name));
  self->form = kept(ck, form);
  self->documentation = form->documentation;
  ck->self = self;
  const struct syntax *parameters = strip_options(ck, form->pattern);
  if (!pattern_is_legal(ck, parameters, PATTERN_OF_PARAMETERS)) return false;
  begin_type(ck, form);
  check_defaults(ck);
  self->parameter =
      check_pattern(ck, parameters, ck->self_type->part[0], PATTERN_OF_PARAMETERS, NULL);
  if (is_primitive(ck, form)) {
    self->primitive = primitive_named(form->name->text);
    if (self->primitive < 0) {
      complain(ck->complaints, NESL_UNBOUND, ck->source, form->value->at,
               "there is no primitive `%s`", form->name->text);
    } else {
      ck->serial_only =
          primitive_info((enum primitive)self->primitive)->effect == PRIMITIVE_SERIAL;
    }
  } else if (form->value) {
    check_body(ck, form);
  }
  if (ck->complaints->count || !check_depth(ck, form->name_at, ck->self_type)) return false;
  check_parallel_calls(ck);
  finish_type(ck);
  if (ck->complaints->count) return false;
  self->local_count = ck->local_count;
  self->serial_only = ck->serial_only;
  region_note_global(self->region, self);
  install(ck, out);
  return true;
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
  constructor->form = kept(ck, form);
  constructor->datatype = data;
  struct type *whole = type_data(ck->arena, data, data->parameters);
  struct type *identity =
      type_identity(ck->arena, constructor, NULL, data->parameter_count, data->parameters);
  constructor->scheme =
      (struct scheme){data->parameter_count, data->parameters,
                      type_function(ck->arena, data->contents, whole, identity)};
  return constructor;
}

static bool same_fields(const struct datatype *a, const struct datatype *b) {
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
  return same_fields(a, b) && type_same(scratch, a->contents, b->contents);
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
      define(ck, before->constructor, out);
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
  define(ck, data->constructor, out);
  return true;
}
