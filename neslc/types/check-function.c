/* check-function.c - definitions of functions: one, or several that call each other and are
 * typed together. (NESL specification, sections 4.2, 5.5, 5.9.)
 */
#include "neslc/later.h"
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <string.h>

/* ---- parameters ---- */

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

/* ---- one function ---- */

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

/* Its name and the type that others see. False after an error that leaves nothing to check. */
static bool begin_checking(struct checker *ck, const struct form *form) {
  if (!check_definable(ck, form->name, form->name_at)) return false;
  struct global *self =
      global_make(ck->session, GLOBAL_FUNCTION, module_own(ck->session, form->name));
  self->form = form_kept(ck, form);
  self->documentation = form->documentation;
  ck->self = self;
  ck->parameters = strip_options(ck, form->pattern);
  if (!pattern_is_legal(ck, ck->parameters, PATTERN_OF_PARAMETERS)) return false;
  begin_type(ck, form);
  return true;
}

static bool is_primitive(const struct checker *ck, const struct form *form) {
  return ck->session->in_library && form->value && form->value->kind == SYNTAX_NAME &&
         strcmp(form->value->as.name.name->text, "primitive") == 0;
}

static void set_primitive(struct checker *ck, const struct form *form) {
  const int primitive = ck->self->primitive = primitive_named(form->name->text);
  if (primitive < 0) {
    complain(ck->complaints, NESL_UNBOUND, ck->source, form->value->at,
             "there is no primitive `%s`", form->name->text);
    return;
  }
  ck->serial_only = primitive_info((enum primitive)primitive)->effect == PRIMITIVE_SERIAL;
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

/* All that was begun: defaults, parameters and body. */
static void check_rest(struct checker *ck) {
  const struct form *form = ck->self->form;
  check_defaults(ck);
  ck->self->parameter =
      check_pattern(ck, ck->parameters, ck->self_type->part[0], PATTERN_OF_PARAMETERS, NULL);
  if (is_primitive(ck, form)) {
    set_primitive(ck, form);
  } else if (form->value) {
    check_body(ck, form);
  }
}

/* ---- complete types ---- */

/* All types in one, a tuple. */
static struct type *join_checked_types(struct arena *arena, struct checker *const *all,
                                       size_t count) {
  if (count == 1) return all[0]->self_type;
  const size_t half = count / 2;
  return type_pair(arena, join_checked_types(arena, all, half),
                   join_checked_types(arena, all + half, count - half));
}

/* The type is complete: it becomes a scheme, and uses within the bodies get its own variables.
 */
static void finish_type(struct checker *ck, const struct scheme *scheme) {
  struct global *self = ck->self;
  self->scheme = (struct scheme){scheme->count, scheme->variables, ck->self_type};
  ck->self_identity->arguments = scheme->variables;
  ck->self_identity->argument_count = scheme->count;
  for (size_t i = 0; i < ck->self_uses.count; i++) {
    ck->self_uses.items[i]->as.use.count = scheme->count;
    ck->self_uses.items[i]->as.use.arguments = scheme->variables;
  }
  finish_lambdas(ck, &self->scheme);
}

/* Functions that call each other have the variables of all their types, in one list: within
 * their bodies these are the same variables. */
static void finish_types(const struct group *group) {
  struct arena *arena = group->members[0]->arena;
  const struct scheme scheme =
      type_generalise(arena, join_checked_types(arena, group->members, group->count));
  for (size_t i = 0; i < group->count; i++) finish_type(group->members[i], &scheme);
}

/* Makes all functions of a group serial if one is: they call each other. */
static void share_serial(const struct group *group) {
  bool serial = false;
  for (size_t i = 0; i < group->count; i++) serial |= group->members[i]->serial_only;
  for (size_t i = 0; i < group->count; i++) {
    group->members[i]->serial_only = group->members[i]->self->serial_only = serial;
    check_parallel_calls(group->members[i]);
  }
}

static bool is_sound_group(const struct group *group) {
  for (size_t i = 0; i < group->count; i++) {
    struct checker *ck = group->members[i];
    if (ck->complaints->count || !check_depth(ck, ck->self->form->name_at, ck->self_type))
      return false;
  }
  return true;
}

/* ---- definition ---- */

/* The new definition replaces the contents of the old struct, to which callers refer. */
static void replace_global(struct checker *ck, struct global *old, const struct global *new) {
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
      replace_global(ck, old, ck->self);
      out->global = old;
      return;
    }
    ck->self_identity->global = ck->self;
  }
  define_global(ck, ck->self, out);
}

/* Completes and defines functions whose bodies have been checked. False after errors. */
static bool define_group(const struct group *group, struct checked *const *out) {
  const struct complaints *complaints = group->members[0]->complaints;
  if (!is_sound_group(group)) return false;
  share_serial(group);
  finish_types(group);
  if (complaints->count) return false;
  for (size_t i = 0; i < group->count; i++) {
    struct global *self = group->members[i]->self;
    self->local_count = group->members[i]->local_count;
    region_note_global(self->region, self);
  }
  for (size_t i = 0; i < group->count; i++) install(group->members[i], out[i]);
  return true;
}

/* ---- entry points ---- */

/* Checkers for so many functions, each of which sees all. */
static struct group begin_group(struct checker *like, size_t count) {
  struct group group = {arena_alloc(like->arena, count * sizeof *group.members), count};
  for (size_t i = 0; i < count; i++) {
    struct checker *ck = group.members[i] = arena_alloc(like->arena, sizeof *ck);
    *ck = (struct checker){.session = like->session,
                           .arena = like->arena,
                           .complaints = like->complaints,
                           .source = like->source,
                           .frame = arena_alloc(like->arena, sizeof *ck->frame)};
  }
  return group;
}

bool check_functions(struct checker *like, const struct form *const *forms, size_t count,
                     struct checked *const *out) {
  struct group group = begin_group(like, count);
  bool begun = true;
  for (size_t i = 0; i < count; i++) {
    begun &= begin_checking(group.members[i], forms[i]);
    group.members[i]->group = &group;
  }
  for (size_t i = 0; i < count && begun; i++) check_rest(group.members[i]);
  return begun && define_group(&group, out);
}

void check_mentions(struct checker *like, const struct form *form, struct later ***mentions,
                    size_t *count) {
  struct group group = begin_group(like, 1);
  struct checker *ck = group.members[0];
  const bool begun = begin_checking(ck, form);
  ck->group = &group;
  if (begun) check_rest(ck);
  *mentions = ck->later.items;
  *count = ck->later.count;
}

static bool define_alone(struct checker *ck, const struct form *form, struct checked *out) {
  struct checker *self = ck;
  const struct group alone = {&self, 1};
  const bool begun = begin_checking(ck, form);
  ck->group = &alone;
  if (begun) check_rest(ck);
  return begun && ck->later.count == 0 && define_group(&alone, &out);
}

/* Reports what was found apart. */
static void pass_on(struct complaints *to, const struct complaints *from) {
  for (size_t i = 0; i < from->diags->list.count; i++) {
    const struct diag *d = &from->diags->list.items[i];
    diag_add(to->diags, d->severity, d->file, d->pos, d->origin, "%s", d->message);
  }
  if (!to->count) to->first = from->first;
  to->count += from->count;
  to->warnings += from->warnings;
}

/* A function of a text. It is checked as if it named none that is defined later; if it did,
 * what was found then does not count. */
static bool check_of_text(struct checker *ck, struct later *known, const struct form *form,
                          struct checked *out) {
  struct diag_list diags;
  struct complaints apart = {.diags = &diags}, *const all = ck->complaints;
  const bool warned = ck->session->warned_of_escapes;
  diag_list_init(&diags, ck->arena);
  ck->complaints = &apart;
  const bool fine = define_alone(ck, form, out);
  ck->complaints = all;
  if (ck->later.count == 0) {
    pass_on(all, &apart);
    return fine;
  }
  ck->session->warned_of_escapes = warned;
  return later_define(ck, known, form, out);
}

bool check_function(struct checker *ck, const struct form *form, struct checked *out) {
  struct later *known = later_of(ck->session, form);
  if (known && later_was_defined(ck, known, out)) return out->global != NULL;
  if (known) return check_of_text(ck, known, form, out);
  return define_alone(ck, form, out);
}
