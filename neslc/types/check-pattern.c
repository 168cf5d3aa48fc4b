/* check-pattern.c - patterns, which are read as expressions: (NESL specification, sections 3.4,
 * 5.3.)
 *
 * A pattern is checked against the type of its value, so that an error is reported at the
 * component that causes it.
 */
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <string.h>

struct pattern_check {
  struct checker *ck;
  enum pattern_use use;
  const struct binding *first; /* names may not repeat after this one */
};

static struct core_pattern *check_pattern_part(struct pattern_check *, const struct syntax *,
                                               struct type *);

static struct core_pattern *bind_name(struct checker *ck, const struct name *name,
                                      struct type *type, struct span at) {
  struct local *local = arena_alloc(ck->arena, sizeof *local);
  *local = (struct local){name, type, at, ck->local_count++};
  struct core_pattern *pattern = pattern_new(ck->arena, PATTERN_LOCAL, type);
  pattern->local = local;
  scope_push(ck, local);
  return pattern;
}

static const struct local *bound_before(const struct pattern_check *p,
                                        const struct name *name) {
  for (const struct binding *b = p->ck->scope; b != p->first; b = b->outer) {
    if (b->local->name == name) return b->local;
  }
  return NULL;
}

static struct core_pattern *check_variable(struct pattern_check *p, const struct syntax *e,
                                           struct type *type) {
  struct checker *ck = p->ck;
  const struct name *name = e->as.name.name;
  const struct local *before = bound_before(p, name);
  if (before && !(p->use == PATTERN_OF_PARAMETERS && strcmp(name->text, "_") == 0)) {
    complain(ck->complaints, NESL_DUPLICATE, ck->source, e->at,
             "the variable `%s` occurs twice in this pattern", name->text);
    remark(ck->complaints, ck->source, before->at, "it is here already");
  }
  return bind_name(ck, name, type, e->at);
}

static struct core_pattern *check_pair_pattern(struct pattern_check *p, const struct syntax *e,
                                               struct type *type) {
  struct checker *ck = p->ck;
  struct type *pair = type_of(type);
  if (pair->tag != TYPE_PAIR) {
    struct type *wanted = type_pair(ck->arena, type_variable(ck->arena, CLASS_ANY),
                                    type_variable(ck->arena, CLASS_ANY));
    wanted = type_from(ck, wanted, e->at);
    struct clash clash;
    if (!unify(ck, &clash, wanted, type)) {
      unsigned n = 2;
      for (const struct syntax *r = e->as.part.right; r->kind == SYNTAX_PAIR;
           r = r->as.part.right) {
        n++;
      }
      complain_clash(ck, e->at, &clash,
                     "this pattern takes a tuple of %u apart, but what it is given is %s", n,
                     shown(ck, type));
    }
    pair = wanted;
  }
  struct core_pattern *pattern = pattern_new(ck->arena, PATTERN_PAIR, pair);
  pattern->left = check_pattern_part(p, e->as.part.left, pair->part[0]);
  pattern->right = check_pattern_part(p, e->as.part.right, pair->part[1]);
  return pattern;
}

static struct core_pattern *check_one_field(void *context, const struct syntax *e,
                                            struct type *type) {
  return check_pattern_part(context, e, type);
}

/* The datatype of a constructor, c or m.c, in a pattern; NULL if there is none. */
static const struct datatype *datatype_of(struct checker *ck, const struct syntax *e) {
  if (e->kind == SYNTAX_NAME) return session_type(ck->session, e->as.name.name);
  const struct module *m = module_imported(ck->session, e->as.field.record->as.name.name);
  return m ? module_type(ck->session, m, e->as.field.name) : NULL;
}

/* c, or m.c */
static bool may_be_constructor(const struct syntax *e) {
  const bool dotted = e->kind == SYNTAX_FIELD && e->as.field.record->kind == SYNTAX_NAME;
  return dotted || (e->kind == SYNTAX_NAME && !e->builtin);
}

static const char *constructor_text(struct checker *ck, const struct syntax *e) {
  if (e->kind == SYNTAX_NAME) return e->as.name.name->text;
  return arena_printf(ck->arena, "%s.%s", e->as.field.record->as.name.name->text,
                      e->as.field.name->text);
}

static struct core_pattern *check_contents_pattern(struct pattern_check *p,
                                                   const struct syntax *e, struct type *type) {
  struct checker *ck = p->ck;
  const struct datatype *data = datatype_of(ck, e->as.part.left);
  struct type *whole = type_from(ck, fresh_data(ck, data), e->at);
  struct clash clash;
  if (!unify(ck, &clash, whole, type)) {
    complain_clash(ck, e->at, &clash,
                   "this pattern takes a %s apart, but what it is given is %s",
                   data->name->text, shown(ck, type));
  }
  if (gives_fields(e->as.part.right)) {
    return check_field_patterns(ck, e->as.part.right, whole, check_one_field, p);
  }
  struct core_pattern *pattern = pattern_new(ck->arena, PATTERN_CONTENTS, whole);
  pattern->left = check_pattern_part(p, e->as.part.right, type_contents(ck->arena, whole));
  return pattern;
}

static struct core_pattern *check_typed_pattern(struct pattern_check *p, const struct syntax *e,
                                                struct type *type) {
  struct checker *ck = p->ck;
  const struct type_names none = {0};
  struct type *declared = check_type(ck, e->as.typed.type, &none);
  struct clash clash;
  if (!unify(ck, &clash, declared, type)) {
    complain_clash(ck, e->as.typed.inner->at, &clash,
                   "this is declared as %s, but what it is given is %s", shown(ck, declared),
                   shown(ck, type));
  }
  return check_pattern_part(p, e->as.typed.inner, declared);
}

static struct core_pattern *check_pattern_part(struct pattern_check *p, const struct syntax *e,
                                               struct type *type) {
  if (e->kind == SYNTAX_NAME) return check_variable(p, e, type);
  if (e->kind == SYNTAX_PAIR) return check_pair_pattern(p, e, type);
  if (e->kind == SYNTAX_TYPED) return check_typed_pattern(p, e, type);
  return check_contents_pattern(p, e, type);
}

struct core_pattern *check_pattern(struct checker *ck, const struct syntax *e,
                                   struct type *type, enum pattern_use use,
                                   const struct binding *first) {
  struct pattern_check p = {ck, use, first};
  return check_pattern_part(&p, e, type);
}

/* ---- legal patterns ---- */

static bool legal_variable(struct checker *ck, const struct syntax *e, enum pattern_use use) {
  const struct name *name = e->as.name.name;
  return use != PATTERN_OF_ASSIGNMENT || check_definable(ck, name, e->at);
}

static bool legal_contents(struct checker *ck, const struct syntax *e, enum pattern_use use) {
  const struct syntax *constructor = e->as.part.left;
  const char *name = constructor_text(ck, constructor);
  const struct datatype *data = datatype_of(ck, constructor);
  if (!data) {
    const bool defines = use == PATTERN_OF_ASSIGNMENT && constructor->kind == SYNTAX_NAME;
    complain(ck->complaints, NESL_PATTERN, ck->source, constructor->at,
             "a pattern %s(...) takes a value of a datatype apart, but there is no datatype "
             "`%s`%s%s%s",
             name, name, defines ? "; a function is defined by `function " : "",
             defines ? name : "", defines ? "(...) = ...`" : "");
    return false;
  }
  if (use == PATTERN_OF_ASSIGNMENT) {
    complain(ck->complaints, NESL_PATTERN, ck->source, e->at,
             "an assignment takes no datatypes apart; `let %s(...) = ... in` does", name);
    return false;
  }
  const struct syntax *argument = e->as.part.right;
  return gives_fields(argument) ? fields_are_legal(ck, argument, data, use)
                                : pattern_is_legal(ck, argument, use);
}

bool pattern_is_legal(struct checker *ck, const struct syntax *e, enum pattern_use use) {
  if (e->kind == SYNTAX_NAME && !e->builtin) return legal_variable(ck, e, use);
  if (e->kind == SYNTAX_TYPED) return pattern_is_legal(ck, e->as.typed.inner, use);
  if (e->kind == SYNTAX_PAIR) {
    return pattern_is_legal(ck, e->as.part.left, use) &&
           pattern_is_legal(ck, e->as.part.right, use);
  }
  if (e->kind == SYNTAX_APPLY && may_be_constructor(e->as.part.left)) {
    return legal_contents(ck, e, use);
  }
  bool element = e->kind == SYNTAX_APPLY && e->as.part.left->kind == SYNTAX_NAME &&
                 e->as.part.left->builtin &&
                 strcmp(e->as.part.left->as.name.name->text, "elt") == 0;
  complain(ck->complaints, NESL_PATTERN, ck->source, e->at,
           element
               ? "this is not a pattern: values do not change; rep(v, x, i) gives a copy of v "
                 "with x at i"
               : "this is not a pattern: patterns consist of variables, tuples and datatypes");
  return false;
}
