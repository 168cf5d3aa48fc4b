/* check-type.c - types as they are written, in annotations, datatypes and `[] T`.
 * (NESL specification, sections 3.1, 5.5.)
 */
#include "neslc/front/parse.h"
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <string.h>

static bool class_named(const struct name *name, enum type_class *klass) {
  *klass = CLASS_EQUATED; /* the library's name for it */
  if (strcmp(name->text, "_equated") == 0) return true;
  for (int k = CLASS_ANY; k < CLASS_EQUATED; k++) {
    *klass = (enum type_class)k;
    if (strcmp(name->text, type_class_name(*klass)) == 0) return true;
  }
  return false;
}

void check_constraints(struct checker *ck, const struct syntax_annotation *annotation,
                       struct type_names *names) {
  for (size_t i = 0; i < annotation->count; i++) {
    const struct syntax_constraint *c = &annotation->constraints[i];
    enum type_class klass = CLASS_ANY;
    if (!class_named(c->class_name, &klass)) {
      complain(ck->complaints, NESL_UNKNOWN_TYPE, ck->source, c->at,
               "there is no class `%s`; the classes are any, scalar, ordinal, sortable, number "
               "and logical",
               c->class_name->text);
    }
    struct type *variable = type_variable(ck->arena, klass);
    variable->from = c->at;
    variable->from_source = ck->source;
    *array_push(ck->arena, &names->list) = (struct type_name){c->variable, variable};
  }
}

static struct type *variable_named(const struct type_names *names, const struct name *name) {
  for (size_t i = 0; i < names->list.count; i++) {
    if (names->list.items[i].name == name) return names->list.items[i].type;
  }
  return NULL;
}

static const char *const base_names[] = {
    [TYPE_INT] = "int",   [TYPE_FLOAT] = "float",   [TYPE_BOOL] = "bool",
    [TYPE_CHAR] = "char", [TYPE_STREAM] = "stream",
};

bool base_type_named(const struct name *name, enum type_tag *tag) {
  for (int k = 0; k <= TYPE_STREAM; k++) {
    *tag = (enum type_tag)k;
    if (strcmp(name->text, base_names[k]) == 0) return true;
  }
  return false;
}

static const char *nearest_type(struct checker *ck, const char *name) {
  const char *best = NULL;
  unsigned least = strlen(name) < 4 ? 2 : 3; /* nearer than this */
  for (int k = 0; k <= TYPE_STREAM; k++) {
    unsigned distance = edit_distance(name, base_names[k], least);
    if (distance >= least) continue;
    best = base_names[k];
    least = distance;
  }
  const struct table *types = ck->session->types;
  for (const struct table_entry *e = NULL; (e = table_next(types, e));) {
    const char *text = ((const struct name *)e->key)->text;
    if (!e->value || strchr(text, '.')) continue; /* gone, or of a module */
    unsigned distance = edit_distance(name, text, least);
    if (distance >= least) continue;
    best = text;
    least = distance;
  }
  return best;
}

static struct type *unknown(struct checker *ck, const struct syntax_type *t) {
  const char *name = t->name->text;
  enum { LIKE_A_VARIABLE = 2 }; /* at most so many letters: a, b1 */
  const char *member = module_with_type(ck->session, t->name);
  const char *near = member ? member : nearest_type(ck, name);
  if (!member && strlen(name) <= LIKE_A_VARIABLE) {
    complain(ck->complaints, NESL_UNKNOWN_TYPE, ck->source, t->at,
             "there is no type `%s`; a type variable is declared behind the type: "
             ":: (%s in any)",
             name, name);
  } else if (near) {
    complain(ck->complaints, NESL_UNKNOWN_TYPE, ck->source, t->at,
             "there is no type `%s`; did you mean `%s`?", name, near);
  } else {
    complain(ck->complaints, NESL_UNKNOWN_TYPE, ck->source, t->at, "there is no type `%s`",
             name);
    if (ck->datatype) {
      remark(
          ck->complaints, ck->source, t->at,
          "a datatype contains types that are defined before it: where two would contain each "
          "other, keep the elements in sequences, and in each the positions of others, [int]");
    }
  }
  return type_variable(ck->arena, CLASS_ANY);
}

struct type *fresh_data(struct checker *ck, const struct datatype *data) {
  struct type **arguments =
      arena_alloc(ck->arena, (data->parameter_count + 1) * sizeof *arguments);
  for (uint32_t i = 0; i < data->parameter_count; i++) {
    arguments[i] = type_variable(ck->arena, (enum type_class)data->parameters[i]->klass);
  }
  return type_data(ck->arena, data, arguments);
}

static struct type *check_data(struct checker *ck, const struct syntax_type *t,
                               const struct datatype *data, const struct type_names *names) {
  struct type *type = fresh_data(ck, data);
  struct type **arguments = type->arguments;
  const struct syntax_type *rest = t->left;
  for (uint32_t i = 0; i < data->shown_count; i++) {
    bool last = i + 1 == data->shown_count; /* takes the rest of a tuple */
    if (!rest || (!last && rest->kind != SYNTAX_TYPE_PAIR)) {
      complain(ck->complaints, NESL_TYPE, ck->source, t->at,
               "the datatype %s has %u parameter%s, here are fewer", data->name->text,
               data->shown_count, data->shown_count == 1 ? "" : "s");
      return type_variable(ck->arena, CLASS_ANY);
    }
    struct type *argument = check_type(ck, last ? rest : rest->left, names);
    rest = last ? NULL : rest->right;
    struct clash clash;
    if (!unify(ck, &clash, arguments[i], argument)) {
      complain_clash(ck, t->at, &clash, "this cannot be a parameter of %s: %s",
                     data->name->text, shown(ck, argument));
    }
  }
  if (rest) {
    complain(ck->complaints, NESL_TYPE, ck->source, t->at, "the datatype %s has no parameters",
             data->name->text);
  }
  return type;
}

/* m.point */
static struct type *check_imported(struct checker *ck, const struct syntax_type *t,
                                   const struct type_names *names) {
  const struct module *m = module_imported(ck->session, t->module);
  const struct datatype *data = m ? module_type(ck->session, m, t->name) : NULL;
  if (data) return check_data(ck, t, data, names);
  complain(ck->complaints, NESL_UNKNOWN_TYPE, ck->source, t->at,
           m ? "the module %s has no type `%s`"
             : "nothing is imported as `%s`, so there is no type `%s` of it",
           m ? m->shown : t->module->text, t->name->text);
  return type_variable(ck->arena, CLASS_ANY);
}

static struct type *check_named(struct checker *ck, const struct syntax_type *t,
                                const struct type_names *names) {
  if (t->module) return check_imported(ck, t, names);
  struct type *variable = variable_named(names, t->name);
  enum type_tag tag;
  if (!variable && base_type_named(t->name, &tag)) variable = type_base(ck->arena, tag);
  if (variable) {
    if (t->left) {
      complain(ck->complaints, NESL_TYPE, ck->source, t->at, "the type %s has no parameters",
               t->name->text);
    }
    return variable;
  }
  if (t->name == ck->datatype) {
    complain(
        ck->complaints, NESL_UNKNOWN_TYPE, ck->source, t->at,
        "the datatype `%s` cannot contain itself: a value is a fixed number of columns, and "
        "this one would need more and more. Keep the elements in one sequence, and in each "
        "the positions of others: datatype %s(..., children : [int])",
        t->name->text, t->name->text);
    return type_variable(ck->arena, CLASS_ANY);
  }
  const struct datatype *data = session_type(ck->session, t->name);
  return data ? check_data(ck, t, data, names) : unknown(ck, t);
}

struct type *check_type(struct checker *ck, const struct syntax_type *t,
                        const struct type_names *names) {
  struct type *type = NULL;
  struct type *left, *right;
  switch ((enum syntax_type_kind)t->kind) {
  case SYNTAX_TYPE_NAME: type = check_named(ck, t, names); break;
  case SYNTAX_TYPE_SEQUENCE:
    type = type_sequence(ck->arena, check_type(ck, t->left, names));
    break;
  case SYNTAX_TYPE_PAIR:
    left = check_type(ck, t->left, names);
    right = check_type(ck, t->right, names);
    type = type_pair(ck->arena, left, right);
    break;
  case SYNTAX_TYPE_FUNCTION:
    left = check_type(ck, t->left, names);
    right = check_type(ck, t->right, names);
    type = type_function(ck->arena, left, right, type_variable(ck->arena, CLASS_ANY));
    break;
  }
  return type_from(ck, type, t->at);
}

/* ---- a type alone ---- */

static struct syntax_type *check_type_read_type(struct reader *r,
                                                struct complaints *complaints) {
  r->complaints = complaints;
  parse_begin(r, 0);
  read_token(r);
  const struct span start = r->token.at;
  struct syntax_type *type = r->failed ? NULL : parse_type(r);
  if (!r->failed) expect(r, LEX_END, "behind the type", start);
  return r->failed ? NULL : type;
}

struct type *session_read_type(struct session *session, const struct source *source,
                               struct complaints *complaints) {
  struct reader reader;
  struct lambda_frame frame = {0};
  struct complaints own = {.diags = complaints->diags};
  struct checker ck = {.session = session,
                       .arena = session->arena,
                       .complaints = &own,
                       .source = source,
                       .frame = &frame};
  reader_init(&reader, session->arena, &session->names, source);
  const struct type_names names = {0};
  const struct syntax_type *syntax = check_type_read_type(&reader, &own);
  struct type *type = syntax ? check_type(&ck, syntax, &names) : NULL;
  if (!complaints->count) complaints->first = own.first;
  complaints->count += own.count;
  return own.count ? NULL : type;
}
