/* check-names.c - resolution of names: variables in scope, captured ones, globals of the
 * session. (NESL specification, sections 2.4, 4.2.)
 */
#include "neslc/front/habits.h"
#include "neslc/later.h"
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <string.h>

void scope_push(struct checker *ck, struct local *local) {
  struct binding *binding = arena_alloc(ck->arena, sizeof *binding);
  *binding = (struct binding){local, ck->frame->depth, ck->scope};
  ck->scope = binding;
}

static const struct binding *in_scope(const struct checker *ck, const struct name *name) {
  const struct binding *b = ck->scope;
  while (b && b->local->name != name) b = b->outer;
  return b;
}

/* A variable of an outer function is captured by every lambda between it and its use. */
static void capture(struct checker *ck, const struct binding *binding) {
  for (struct lambda_frame *f = ck->frame; f->depth > binding->depth; f = f->outer) {
    bool known = false;
    for (size_t i = 0; i < f->captured.count; i++) {
      known |= f->captured.items[i] == binding->local;
    }
    if (!known) *array_push(ck->arena, &f->captured) = binding->local;
  }
}

struct checker *checker_of(const struct checker *ck, const struct global *global) {
  for (size_t i = 0; ck->group && i < ck->group->count; i++) {
    if (ck->group->members[i]->self == global) return ck->group->members[i];
  }
  return NULL;
}

/* The function of this name that is being defined. */
static struct global *begun_global(const struct checker *ck, const struct name *name) {
  for (size_t i = 0; ck->group && i < ck->group->count; i++) {
    struct global *self = ck->group->members[i]->self;
    if (self->form->name == name && self->module == ck->session->module) return self;
  }
  return NULL;
}

static bool is_truth(const struct name *name) {
  return strcmp(name->text, "t") == 0 || strcmp(name->text, "f") == 0;
}

static bool check_names_is_library_name(const struct session *session,
                                        const struct name *name) {
  return table_get(session->library, name) || is_truth(name);
}

/* The global that a name refers to if it is no variable in scope. */
static struct global *global_of(struct checker *ck, const struct syntax *e) {
  const struct name *name = e->as.name.name;
  struct session *session = ck->session;
  if (e->qualified) return table_get(session->globals, name);
  struct global *self = e->builtin ? NULL : begun_global(ck, name);
  if (self) return self;
  if (e->builtin || (ck->source->closed && check_names_is_library_name(session, name)))
    return session_read(session, table_get(session->library, name));
  struct global *global = module_find(session, name);
  /* `t` and `f` are constants until the program has defined them. */
  const bool is_ahead = !global || later_is_ahead(session, global);
  if (is_ahead && is_truth(name) && e != ck->applied) return NULL;
  return later_is_meant(ck, name, global) ? NULL : global;
}

/* ---- names of modules: m.x ---- */

const struct module *module_before_dot(struct checker *ck, const struct syntax *e) {
  if (e->kind != SYNTAX_FIELD || e->as.field.record->kind != SYNTAX_NAME) return NULL;
  const struct syntax *left = e->as.field.record;
  if (left->builtin || in_scope(ck, left->as.name.name)) return NULL;
  const struct global *global = global_of(ck, left);
  if (global && global->kind == GLOBAL_VARIABLE) return NULL;
  return module_imported(ck->session, left->as.name.name);
}

const struct syntax *module_member(struct checker *ck, const struct syntax *e) {
  const struct module *m = module_before_dot(ck, e);
  struct global *global = m ? module_global(ck->session, m, e->as.field.name) : NULL;
  if (!global) return NULL;
  struct syntax *name = arena_alloc(ck->arena, sizeof *name);
  *name = *e;
  name->kind = SYNTAX_NAME;
  name->qualified = true;
  name->as.name.name = global->name;
  name->as.name.written = global->name->text;
  return name;
}

void complain_no_member(struct checker *ck, const struct module *m, const struct name *name,
                        struct span at) {
  const char *near = module_nearest(ck->session, m, name->text);
  complain(ck->complaints, NESL_UNBOUND, ck->source, at,
           near ? "`%s` is not defined in the module %s; did you mean `%s`?"
                : "`%s` is not defined in the module %s",
           name->text, m->shown, near);
}

const char *written_name(const struct global *global) {
  return global->name->text + (global->library && global->name->text[0] == '_');
}

struct global *named_function(struct checker *ck, const struct syntax *e) {
  if (e->kind != SYNTAX_NAME) return NULL;
  if (!e->builtin && !e->qualified && in_scope(ck, e->as.name.name)) return NULL;
  struct global *global = global_of(ck, e);
  return global && global->kind != GLOBAL_VARIABLE ? global : NULL;
}

bool is_bound(struct checker *ck, const struct syntax *e) {
  return in_scope(ck, e->as.name.name) || global_of(ck, e);
}

/* ---- unbound names ---- */

static const char *nearest_known(struct checker *ck, const char *name) {
  const char *best = session_nearest(ck->session, name);
  size_t length = strlen(name);
  unsigned limit = length < 3 ? 0 : length < 6 ? 1 : 2;
  unsigned least = best ? edit_distance(name, best, limit) : limit + 1;
  for (const struct binding *b = ck->scope; b; b = b->outer) {
    unsigned distance = edit_distance(name, b->local->name->text, limit);
    if (distance <= limit && distance <= least) {
      if (distance == least && best) continue;
      best = b->local->name->text;
      least = distance;
    }
  }
  return best;
}

static struct core *unbound(struct checker *ck, const struct syntax *e) {
  const char *name = e->as.name.name->text;
  const struct later *later = later_named(ck->session, ck->source, e->as.name.name);
  if (later) {
    complain(ck->complaints, NESL_UNBOUND, ck->source, e->mark,
             later->error != NESL_OK
                 ? "`%s` is not defined: there is an error in its definition, at line %u"
                 : "`%s` is not defined yet: its definition, at line %u, is executed later",
             name, source_position(ck->source, later->at).line);
  } else if (strcmp(name, "time") == 0) {
    complain(ck->complaints, NESL_UNBOUND, ck->source, e->mark,
             "`time` is no value: time(e) gives the value of e and the seconds that it took");
  } else if (habit_of_name(name)) {
    complain(ck->complaints, NESL_UNBOUND, ck->source, e->mark, "`%s` is not defined; %s", name,
             habit_of_name(name));
  } else {
    const char *member = module_with(ck->session, e->as.name.name);
    const char *near = member ? member : nearest_known(ck, name);
    complain(ck->complaints, NESL_UNBOUND, ck->source, e->mark,
             near ? "`%s` is not defined; did you mean `%s`?" : "`%s` is not defined", name,
             near);
  }
  later_remark(ck);
  return core_make(ck, CORE_INT, e, type_variable(ck->arena, CLASS_ANY));
}

/* ---- dispatch ---- */

/* t and f, which are names like others where something binds them. */
static struct core *check_bool(struct checker *ck, const struct syntax *e, bool value) {
  struct type *type = type_from(ck, type_base(ck->arena, TYPE_BOOL), e->at);
  struct core *core = core_make(ck, CORE_BOOL, e, type);
  core->as.integer = value;
  return core;
}

struct core *check_name(struct checker *ck, const struct syntax *e) {
  const struct name *name = e->as.name.name;
  if (!e->builtin && !e->qualified) {
    const struct binding *binding = in_scope(ck, name);
    if (binding) {
      capture(ck, binding);
      return core_local(ck, e, binding->local);
    }
  }
  struct global *global = global_of(ck, e);
  if (global) return check_global_use(ck, e, global);
  return is_truth(name) ? check_bool(ck, e, *name->text == 't') : unbound(ck, e);
}
