/* derive-build.c - construction of checked trees at ground types, for derived functions. */
#include "neslc/primitives/derive-build.h"
#include "base/check.h"

#include <string.h>

static struct type *build_sequence_type(struct build *b, struct type *element) {
  return type_sequence(b->arena, element);
}

static struct core *derive_build_make_node(struct build *b, enum core_kind kind,
                                           struct type *type) {
  return core_new(b->arena, kind, type, b->source, b->at);
}

/* ---- values ---- */

struct core *build_int(struct build *b, enum type_tag tag, int64_t value) {
  enum core_kind kind = tag == TYPE_BOOL ? CORE_BOOL : tag == TYPE_CHAR ? CORE_CHAR : CORE_INT;
  struct core *e = derive_build_make_node(b, kind, type_base(b->arena, tag));
  e->as.integer = value;
  return e;
}

struct core *build_float(struct build *b, double value) {
  struct core *e = derive_build_make_node(b, CORE_FLOAT, type_base(b->arena, TYPE_FLOAT));
  e->as.real = value;
  return e;
}

struct core *build_string(struct build *b, const char *text) {
  struct type *type = build_sequence_type(b, type_base(b->arena, TYPE_CHAR));
  struct core *e = derive_build_make_node(b, CORE_STRING, type);
  e->as.string.text = text;
  e->as.string.length = strlen(text);
  return e;
}

struct core *build_empty(struct build *b, struct type *element) {
  return derive_build_make_node(b, CORE_EMPTY, build_sequence_type(b, element));
}

static struct core *make_of(struct build *b, enum core_kind kind, struct type *type,
                            struct core *left, struct core *right) {
  struct core *e = derive_build_make_node(b, kind, type);
  e->as.part.left = left;
  e->as.part.right = right;
  return e;
}

struct core *build_pair(struct build *b, struct core *left, struct core *right) {
  return make_of(b, CORE_PAIR, type_pair(b->arena, left->type, right->type), left, right);
}

struct core *build_if(struct build *b, struct core *condition, struct core *yes,
                      struct core *no) {
  struct core *e = make_of(b, CORE_IF, yes->type, yes, no);
  e->as.part.third = condition;
  return e;
}

struct core *build_let(struct build *b, struct core_pattern *pattern, struct core *value,
                       struct core *body) {
  struct core *e = make_of(b, CORE_LET, body->type, value, body);
  e->as.part.pattern = pattern;
  return e;
}

struct core *build_list(struct build *b, struct core **items, size_t count) {
  struct core *e = derive_build_make_node(b, CORE_LIST, build_sequence_type(b, items[0]->type));
  e->as.list.items = items;
  e->as.list.count = count;
  return e;
}

/* ---- calls ---- */

/* A function at the types that its argument and, unless it is NULL, its result have. */
static struct core *derive_build_call(struct build *b, struct global *g, struct core *argument,
                                      struct type *result) {
  struct type **arguments = arena_alloc(b->arena, (g->scheme.count + 1) * sizeof *arguments);
  struct type *type = type_of(type_instantiate(b->arena, &g->scheme, arguments));
  struct type *a, *c;
  enum unify_result fits = type_unify(b->arena, type->part[0], argument->type, &a, &c);
  if (fits == UNIFY_OK && result) fits = type_unify(b->arena, type->part[1], result, &a, &c);
  invariant(fits == UNIFY_OK);
  struct core *function =
      derive_build_make_node(b, CORE_GLOBAL, type_ground(b->arena, type, 0, NULL));
  function->as.use.global = g;
  function->as.use.count = g->scheme.count;
  function->as.use.arguments = arguments;
  struct core *e =
      derive_build_make_node(b, CORE_APPLY, type_ground(b->arena, type->part[1], 0, NULL));
  e->as.part.left = function;
  e->as.part.right = argument;
  return e;
}

struct core *build_call(struct build *b, const char *name, struct core *argument) {
  struct global *g = session_library(b->session, name);
  invariant(g);
  return derive_build_call(b, g, argument, NULL);
}

struct core *build_call2(struct build *b, const char *name, struct core *left,
                         struct core *right) {
  return build_call(b, name, build_pair(b, left, right));
}

struct core *build_data(struct build *b, struct type *data, struct core *contents) {
  return derive_build_call(b, type_of(data)->data->constructor, contents, data);
}

/* ---- apply-to-each ---- */

static struct core *derive_build_each(struct build *b, struct core_generator *generators,
                                      size_t count, struct core *body) {
  struct core *e = derive_build_make_node(b, CORE_EACH, build_sequence_type(b, body->type));
  e->as.each.generators = generators;
  e->as.each.count = count;
  e->as.each.body = body;
  return e;
}

struct core *build_each(struct build *b, struct core_pattern *pattern, struct core *source,
                        struct core *body) {
  struct core_generator *g = arena_alloc(b->arena, sizeof *g);
  *g = (struct core_generator){pattern, source};
  return derive_build_each(b, g, 1, body);
}

struct core *build_each2(struct build *b, struct core_pattern *pattern, struct core *source,
                         struct core_pattern *pattern2, struct core *source2,
                         struct core *body) {
  struct core_generator *g = arena_alloc(b->arena, 2 * sizeof *g);
  g[0] = (struct core_generator){pattern, source};
  g[1] = (struct core_generator){pattern2, source2};
  return derive_build_each(b, g, 2, body);
}

/* ---- variables and patterns ---- */

struct core_pattern *build_local(struct build *b, const char *name, struct type *type) {
  struct core_pattern *p = pattern_new(b->arena, PATTERN_LOCAL, type);
  p->local = arena_alloc(b->arena, sizeof *p->local);
  *p->local = (struct local){.name = intern_name(&b->session->names, name, strlen(name)),
                             .type = type,
                             .at = b->at,
                             .number = b->local_count++};
  return p;
}

struct core *build_use(struct build *b, const struct core_pattern *local) {
  struct core *e = derive_build_make_node(b, CORE_LOCAL, local->type);
  e->as.local = local->local;
  return e;
}

struct core_pattern *build_pair_pattern(struct build *b, struct core_pattern *left,
                                        struct core_pattern *right) {
  struct core_pattern *p =
      pattern_new(b->arena, PATTERN_PAIR, type_pair(b->arena, left->type, right->type));
  p->left = left;
  p->right = right;
  return p;
}

struct core_pattern *build_contents_pattern(struct build *b, struct type *type,
                                            struct core_pattern *inner) {
  struct core_pattern *p = pattern_new(b->arena, PATTERN_CONTENTS, type);
  p->left = inner;
  return p;
}

struct type *build_contents(struct build *b, struct type *type) {
  type = type_of(type);
  if (type->tag == TYPE_DATA) {
    return type_ground(b->arena, type_contents(b->arena, type), 0, NULL);
  }
  const struct type *identity = type_of(type->part[2]);
  const struct core_lambda *lambda = identity->lambda;
  if (!lambda || lambda->captured_count == 0) return NULL;
  struct type **arguments =
      arena_alloc(b->arena, (lambda->scheme_count + 1) * sizeof *arguments);
  for (uint32_t i = 0; i < lambda->scheme_count; i++) {
    arguments[i] = type_base(b->arena, TYPE_INT); /* variables that it does not mention */
  }
  for (uint32_t i = 0; i < lambda->variable_count; i++) {
    arguments[type_of(lambda->variables[i])->number] = identity->arguments[i];
  }
  struct type *contents = NULL;
  for (uint32_t i = lambda->captured_count; i-- > 0;) {
    struct type *one =
        type_ground(b->arena, lambda->captured[i]->type, lambda->scheme_count, arguments);
    contents = contents ? type_pair(b->arena, one, contents) : one;
  }
  return contents;
}

/* ---- components ---- */

struct derive_components build_components(struct build *b, struct type *type,
                                          const char *name) {
  struct derive_components p = {0};
  if (type->tag == TYPE_PAIR) {
    p.left = build_local(b, name, type->part[0]);
    p.right = build_local(b, name, type->part[1]);
    p.pattern = build_pair_pattern(b, p.left, p.right);
    return p;
  }
  struct type *contents =
      type->tag == TYPE_DATA || type->tag == TYPE_FUNCTION ? build_contents(b, type) : NULL;
  p.left = build_local(b, name, contents ? contents : type);
  p.pattern = contents ? build_contents_pattern(b, type, p.left) : p.left;
  return p;
}

struct derive_components build_unzipped(struct build *b, struct type *pair) {
  struct derive_components p = {
      .left = build_local(b, "x", build_sequence_type(b, pair->part[0])),
      .right = build_local(b, "y", build_sequence_type(b, pair->part[1]))};
  p.pattern = build_pair_pattern(b, p.left, p.right);
  return p;
}

struct core *build_elements(struct build *b, struct type *sequence, const char *name,
                            struct core *value) {
  struct core_pattern *e = build_local(b, "e", sequence->part[0]);
  return build_each(b, e, value, build_call(b, name, build_use(b, e)));
}
