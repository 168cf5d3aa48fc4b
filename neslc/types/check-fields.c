/* check-fields.c - records: datatypes whose components have names. Fields of values (e.mass),
 * values by name (body(mass := 1.0, position := p)), copies with other fields (b(mass := 2.0)),
 * patterns by name.
 *
 * A field is a pattern that takes the value apart, let body(mass, position) = e in mass; a copy
 * is a constructor within one. So executors know nothing of names.
 *
 * Where nothing has determined the type of a record, it is assumed to be of the datatype
 * defined last that has the field. The type remembers the field, for the message if that turns
 * out wrong.
 */
#include "neslc/front/habits.h"
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <string.h>

static struct core *wrong_field(struct checker *ck, const struct syntax *e) {
  return core_make(ck, CORE_INT, e, type_variable(ck->arena, CLASS_ANY));
}

/* ---- datatypes and their fields ---- */

static const struct table *types_in_sight(const struct checker *ck) {
  return ck->session->in_library ? ck->session->library_types : ck->session->types;
}

/* Whether a datatype is of the file that is read, of what it imports, or of the library. */
static bool is_in_sight(const struct checker *ck, const struct datatype *data) {
  const struct global *g = data->constructor;
  const struct module *here = ck->session->module;
  if (g->library || g->module == here) return true;
  for (const struct table_entry *e = NULL; (e = table_next(here->imports, e));) {
    if (e->value == g->module) return true;
  }
  return false;
}

/* The datatype defined last that has the field; NULL if there is none. */
static const struct datatype *latest_with(const struct checker *ck, const struct name *field) {
  const struct datatype *latest = NULL;
  for (const struct table_entry *e = NULL; (e = table_next(types_in_sight(ck), e));) {
    const struct datatype *data = e->value;
    if (!data) continue; /* of a module that was read again without it */
    if (!is_in_sight(ck, data)) continue;
    if (datatype_field(data, field) == data->field_count) continue;
    if (!latest || data->order > latest->order) latest = data;
  }
  return latest;
}

/* "mass, position" */
static const char *field_list(struct checker *ck, const struct datatype *data) {
  const char *list = "";
  for (uint32_t i = 0; i < data->field_count; i++)
    list = arena_printf(ck->arena, "%s%s%s", list, i ? ", " : "", data->fields[i]->text);
  return list;
}

static const char *nearest_field(const struct datatype *data, const char *name) {
  struct nearest_name nearest = nearest_to(name);
  for (uint32_t i = 0; i < data->field_count; i++) nearest_try(&nearest, data->fields[i]->text);
  return nearest.best;
}

static void complain_no_fields(struct checker *ck, struct span at,
                               const struct datatype *data) {
  complain(ck->complaints, NESL_FIELD, ck->source, at,
           "the components of `%s` have no names: they are given and taken by position, as in "
           "let %s(...) = e in ...",
           data->name->text, data->name->text);
}

static void complain_unknown(struct checker *ck, struct span at, const struct datatype *data,
                             const struct name *field) {
  if (data->field_count == 0) {
    complain_no_fields(ck, at, data);
    return;
  }
  const char *near = nearest_field(data, field->text);
  complain(ck->complaints, NESL_FIELD, ck->source, at,
           near ? "`%s` has no field `%s`; did you mean `%s`? Its fields are: %s"
                : "`%s` has no field `%s`; its fields are: %s%s",
           data->name->text, field->text, near ? near : field_list(ck, data),
           near ? field_list(ck, data) : "");
}

/* ---- the type of a record ---- */

/* Why a value that is of no datatype has no fields. */
static void complain_no_record(struct checker *ck, struct span at, struct type *type,
                               const struct name *field) {
  const char *reason = "";
  const struct global *function = table_get(ck->session->globals, field);
  if (type->tag == TYPE_PAIR) {
    reason = "; the components of a tuple are taken by patterns: let (x, y) = e in x";
  } else if (type->tag == TYPE_SEQUENCE && latest_with(ck, field)) {
    reason =
        arena_printf(ck->arena, "; {e.%s : e in v} has those of its elements", field->text);
  } else if (function && function->kind == GLOBAL_FUNCTION && field->text[0] != '_') {
    reason =
        arena_printf(ck->arena, "; a function stands before its argument: %s(e)", field->text);
  } else if (habit_of_name(field->text)) {
    reason = arena_printf(ck->arena, "; %s", habit_of_name(field->text));
  }
  complain(ck->complaints, NESL_FIELD, ck->source, at,
           "only values of datatypes have fields, and `%s` would be one of %s%s", field->text,
           shown(ck, type), reason);
}

/* Assumes a datatype for a type that nothing has determined. NULL after a complaint. */
static struct type *assume_record(struct checker *ck, struct span at, struct type *type,
                                  const struct name *field) {
  const struct datatype *data = latest_with(ck, field);
  if (!data) {
    complain(ck->complaints, NESL_FIELD, ck->source, at, "no datatype has a field `%s`",
             field->text);
    return NULL;
  }
  struct type *assumed = type_from(ck, fresh_data(ck, data), at);
  assumed->assumed = field;
  struct clash clash;
  if (unify(ck, &clash, assumed, type)) return assumed;
  complain_clash(ck, at, &clash, "`%s` is a field of %s, but this is %s", field->text,
                 data->name->text, shown(ck, type));
  return NULL;
}

/* The type of a record that is to have the field: of a datatype. NULL after a complaint. */
static struct type *record_type(struct checker *ck, struct span at, struct type *type,
                                const struct name *field) {
  type = type_of(type);
  if (type->tag == TYPE_VARIABLE) return assume_record(ck, at, type, field);
  if (type->tag != TYPE_DATA) {
    complain_no_record(ck, at, type, field);
    return NULL;
  }
  if (datatype_field(type->data, field) < type->data->field_count) return type;
  complain_unknown(ck, at, type->data, field);
  remark_on_assumption(ck, type);
  return NULL;
}

/* ---- components ---- */

static struct core_pattern *unnamed_local(struct checker *ck, const struct name *name,
                                          struct type *type, struct span at) {
  struct local *local = arena_alloc(ck->arena, sizeof *local);
  *local = (struct local){name, type, at, ck->local_count++};
  struct core_pattern *pattern = pattern_new(ck->arena, PATTERN_LOCAL, type);
  pattern->local = local;
  return pattern;
}

/* The types of the fields, of which the last one is the rest of the tuple. */
static struct type **field_types(struct checker *ck, const struct datatype *data,
                                 struct type *contents) {
  struct type **types = arena_alloc(ck->arena, data->field_count * sizeof *types);
  for (uint32_t i = 0; i + 1 < data->field_count; i++) {
    contents = type_of(contents);
    types[i] = contents->part[0];
    contents = contents->part[1];
  }
  types[data->field_count - 1] = contents;
  return types;
}

/* The pattern of a record from those of all of its fields. */
static struct core_pattern *pattern_of_fields(struct checker *ck, struct type *record,
                                              struct core_pattern **fields) {
  uint32_t i = record->data->field_count - 1;
  struct core_pattern *tuple = fields[i];
  while (i-- > 0) {
    struct core_pattern *pair = pattern_new(ck->arena, PATTERN_PAIR,
                                            type_pair(ck->arena, fields[i]->type, tuple->type));
    pair->left = fields[i];
    pair->right = tuple;
    tuple = pair;
  }
  struct core_pattern *whole = pattern_new(ck->arena, PATTERN_CONTENTS, record);
  whole->left = tuple;
  return whole;
}

/* Variables for all fields, which no program can mention. */
static struct core_pattern **unnamed_fields(struct checker *ck, struct type *record,
                                            struct span at) {
  const struct datatype *data = record->data;
  struct core_pattern **fields = arena_alloc(ck->arena, data->field_count * sizeof *fields);
  struct type **types = field_types(ck, data, type_contents(ck->arena, record));
  for (uint32_t i = 0; i < data->field_count; i++)
    fields[i] = unnamed_local(ck, data->fields[i], types[i], at);
  return fields;
}

static struct core *let_record(struct checker *ck, const struct syntax *e, struct core *record,
                               struct core_pattern *pattern, struct core *body) {
  struct core *core = core_make(ck, CORE_LET, e, body->type);
  core->as.part.left = record;
  core->as.part.right = body;
  core->as.part.pattern = pattern;
  return core;
}

/* ---- e.name ---- */

static struct core *record_field(struct checker *ck, const struct syntax *e) {
  const struct name *name = e->as.field.name;
  const uint32_t errors = ck->complaints->count;
  struct core *record = check_expression(ck, e->as.field.record);
  if (ck->complaints->count != errors) return wrong_field(ck, e); /* one error is enough */
  struct type *type = record_type(ck, e->mark, record->type, name);
  if (!type) return wrong_field(ck, e);
  struct core_pattern **fields = unnamed_fields(ck, type, e->mark);
  struct local *local = fields[datatype_field(type->data, name)]->local;
  return let_record(ck, e, record, pattern_of_fields(ck, type, fields),
                    core_local(ck, e, local));
}

/* The meaning of left.name: with a variable on the left, or with any other expression, a field
 * of its value; with what something was imported as, what that defines. A name that means
 * nothing is reported as such. */
struct core *check_field(struct checker *ck, const struct syntax *e) {
  const struct module *m = module_before_dot(ck, e);
  const struct syntax *member = m ? module_member(ck, e) : NULL;
  if (member) return check_name(ck, member);
  if (!m) return record_field(ck, e);
  complain_no_member(ck, m, e->as.field.name, e->mark);
  return wrong_field(ck, e);
}

/* ---- fields that are given by name ---- */

bool gives_fields(const struct syntax *argument) {
  while (argument->kind == SYNTAX_PAIR && argument->as.part.left->kind != SYNTAX_OPTION)
    argument = argument->as.part.right;
  return argument->kind == SYNTAX_PAIR || argument->kind == SYNTAX_OPTION;
}

/* Adds what stands behind name := to the values. */
static void sort_field(struct checker *ck, const struct datatype *data,
                       const struct syntax *given, const struct syntax **values) {
  if (given->kind != SYNTAX_OPTION) {
    complain(ck->complaints, NESL_FIELD, ck->source, given->at,
             "the fields of `%s` are given all by position or all by name: %s",
             data->name->text, field_list(ck, data));
    return;
  }
  const struct syntax *name = given->as.part.left;
  const uint32_t i = datatype_field(data, name->as.name.name);
  if (i == data->field_count) {
    complain_unknown(ck, name->at, data, name->as.name.name);
  } else if (values[i]) {
    complain(ck->complaints, NESL_FIELD, ck->source, given->at,
             "the field `%s` is given twice; the fields of `%s` are: %s", data->fields[i]->text,
             data->name->text, field_list(ck, data));
  } else {
    values[i] = given->as.part.right;
  }
}

/* The fields in their order, NULL where one is not given; NULL after a complaint. */
static const struct syntax **sort_fields(struct checker *ck, const struct datatype *data,
                                         const struct syntax *argument) {
  const uint32_t errors = ck->complaints->count;
  const struct syntax **values =
      arena_alloc(ck->arena, (data->field_count + 1) * sizeof *values);
  const struct syntax *rest = argument;
  for (bool more = rest->kind == SYNTAX_PAIR; more && ck->complaints->count == errors;
       more = tuple_continues(rest)) {
    sort_field(ck, data, rest->as.part.left, values);
    rest = rest->as.part.right;
  }
  if (ck->complaints->count == errors) sort_field(ck, data, rest, values);
  return ck->complaints->count == errors ? values : NULL;
}

/* ---- records by name, and copies ---- */

/* The value of a field, which is to be of the type. */
static struct core *field_value(struct checker *ck, const struct datatype *data, uint32_t i,
                                struct type *type, struct core *value) {
  struct clash clash;
  if (unify(ck, &clash, type, value->type)) return value;
  complain_clash(ck, value->at, &clash, "the field `%s` of `%s` is %s, but this is %s",
                 data->fields[i]->text, data->name->text, shown(ck, type),
                 shown(ck, value->type));
  return value;
}

/* A use of the constructor, in whose type the types of the fields come from the datatype. */
static struct core *constructor_of(struct checker *ck, const struct syntax *e,
                                   const struct datatype *data) {
  const struct scheme *scheme = &data->constructor->scheme;
  struct type **arguments = arena_alloc(ck->arena, (scheme->count + 1) * sizeof *arguments);
  struct core *core =
      core_make(ck, CORE_GLOBAL, e, type_instantiate(ck->arena, scheme, arguments));
  core->as.use.global = data->constructor;
  core->as.use.count = scheme->count;
  core->as.use.arguments = arguments;
  return core;
}

/* The constructor applied to all fields: those given, else the variables of `before`. */
static struct core *make_record(struct checker *ck, const struct syntax *e,
                                const struct datatype *data, const struct syntax **given,
                                struct core_pattern **before) {
  struct core *constructor = constructor_of(ck, e, data);
  struct type *function = type_of(constructor->type);
  struct type **types = field_types(ck, data, function->part[0]);
  struct core **values = arena_alloc(ck->arena, data->field_count * sizeof *values);
  for (uint32_t i = 0; i < data->field_count; i++) {
    struct core *value =
        given[i] ? check_expression(ck, given[i]) : core_local(ck, e, before[i]->local);
    values[i] = field_value(ck, data, i, types[i], value);
  }
  struct core *record = core_make(ck, CORE_APPLY, e, function->part[1]);
  record->as.part.left = constructor;
  record->as.part.right = core_tuple(ck, e, values, data->field_count);
  return record;
}

struct core *check_record(struct checker *ck, const struct syntax *e,
                          const struct datatype *data) {
  if (data->field_count == 0) {
    complain_no_fields(ck, e->as.part.right->at, data);
    return wrong_field(ck, e);
  }
  const struct syntax **given = sort_fields(ck, data, e->as.part.right);
  for (uint32_t i = 0; given && i < data->field_count; i++) {
    if (given[i]) continue;
    complain(ck->complaints, NESL_FIELD, ck->source, e->at,
             "the field `%s` is missing; the fields of `%s` are: %s", data->fields[i]->text,
             data->name->text, field_list(ck, data));
    return wrong_field(ck, e);
  }
  return given ? make_record(ck, e, data, given, NULL) : wrong_field(ck, e);
}

/* The name of the first field that is given. */
static const struct syntax *first_name(const struct syntax *argument) {
  while (argument->kind == SYNTAX_PAIR && argument->as.part.left->kind != SYNTAX_OPTION)
    argument = argument->as.part.right;
  const struct syntax *option =
      argument->kind == SYNTAX_PAIR ? argument->as.part.left : argument;
  return option->as.part.left;
}

bool may_be_record(struct checker *ck, const struct core *e, const struct syntax *argument) {
  const struct type *type = type_of(e->type);
  if (type->tag == TYPE_FUNCTION) return false;
  return type->tag != TYPE_VARIABLE || latest_with(ck, first_name(argument)->as.name.name);
}

struct core *check_copy(struct checker *ck, const struct syntax *e, struct core *record) {
  const struct syntax *name = first_name(e->as.part.right);
  struct type *type = record_type(ck, name->at, record->type, name->as.name.name);
  const struct syntax **given = type ? sort_fields(ck, type->data, e->as.part.right) : NULL;
  if (!given) return wrong_field(ck, e);
  struct core_pattern **before = unnamed_fields(ck, type, e->as.part.left->at);
  struct core *copy = make_record(ck, e, type->data, given, before);
  return let_record(ck, e, record, pattern_of_fields(ck, type, before), copy);
}

/* ---- patterns by name ---- */

bool fields_are_legal(struct checker *ck, const struct syntax *argument,
                      const struct datatype *data, enum pattern_use use) {
  if (data->field_count == 0) {
    complain_no_fields(ck, argument->at, data);
    return false;
  }
  const struct syntax **given = sort_fields(ck, data, argument);
  bool legal = given != NULL;
  for (uint32_t i = 0; legal && i < data->field_count; i++) {
    if (given[i]) legal = pattern_is_legal(ck, given[i], use);
  }
  return legal;
}

struct core_pattern *check_field_patterns(struct checker *ck, const struct syntax *argument,
                                          struct type *record, field_pattern *check,
                                          void *context) {
  const struct datatype *data = record->data;
  const struct syntax **given = sort_fields(ck, data, argument);
  struct type **types = field_types(ck, data, type_contents(ck->arena, record));
  struct core_pattern **fields = arena_alloc(ck->arena, data->field_count * sizeof *fields);
  for (uint32_t i = 0; i < data->field_count; i++) {
    fields[i] = given[i] ? check(context, given[i], types[i])
                         : unnamed_local(ck, data->fields[i], types[i], argument->at);
  }
  return pattern_of_fields(ck, record, fields);
}
