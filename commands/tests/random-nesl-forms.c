/* random-nesl-forms.c - random programs: their forms. Recursion counts down, or runs out of
 * elements. nesl-random skips programs that are still too large. */
#include "commands/tests/random-nesl-private.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 6, BUDGET = 40, SMALL_BUDGET = 18 };

void add_form(gen *g, const char *text, struct node *body) {
  *array_push(g->arena, &g->program->forms) = node(g, NULL, text, &body, body != NULL);
}

void add_function(gen *g, const struct function *f) {
  *array_push(g->arena, &g->functions) = f;
}

struct function *new_function(gen *g, const char *prefix, const struct rtype *parameter,
                              const struct rtype *result) {
  struct function *f = arena_alloc(g->arena, sizeof *f);
  *f = (struct function){arena_printf(g->arena, "%s%u", prefix, g->names++), parameter, result,
                         false};
  return f;
}

const char *annotation(gen *g, const struct rtype *from, const struct rtype *to) {
  if (has_function(from) || has_function(to)) return "";
  return arena_printf(g->arena, " : %s -> %s", type_text_of(g, from), type_text_of(g, to));
}

static void add_datatype(gen *g) {
  const struct rtype *contents = some_type(g, 2);
  if (has_function(contents)) return;
  struct function *f = new_function(g, "d", contents, NULL);
  f->result = make_type(g, R_DATA, NULL, NULL, f);
  const char *t = type_text_of(g, contents);
  add_form(
      g,
      arena_printf(g->arena, t[0] == '(' ? "datatype %s%s;" : "datatype %s(%s);", f->name, t),
      NULL);
  add_function(g, f);
}

/* function f(p) = body */
static void add_plain(gen *g) {
  struct pending pending = {.count = 0};
  struct function *f = new_function(g, "f", some_type(g, 3), NULL);
  f->result = some_type(g, 2);
  const char *p = pattern(g, f->parameter, &pending);
  declare_all(g, &pending);
  struct node *body = make(g, f->result, DEPTH);
  add_form(g,
           arena_printf(g->arena, "function %s(%s)%s = \1;", f->name, p,
                        annotation(g, f->parameter, f->result)),
           body);
  add_function(g, f);
}

/* {if c then f(n - 1, e) else base : p in s}: some of the instances call f again. */
static struct node *parallel_recursion(gen *g, const struct function *f) {
  struct pending pending = {.count = 0};
  struct node *parts[4];
  const struct rtype *type = some_type(g, 1);
  const size_t outside = g->scope.count;
  parts[3] = make(g, sequence_of(g, type), 2);
  const char *p = pattern(g, type, &pending);
  declare_all(g, &pending);
  parts[0] = make(g, &base_types[R_BOOL], 2);
  parts[1] = make(g, f->parameter->right, 2);
  parts[2] = make(g, f->result, 2);
  g->scope.count = outside;
  return node(g, sequence_of(g, f->result),
              arena_printf(g->arena, "{(if \1 then %s(%s - 1, \1) else \1) : %s in \1}",
                           f->name, g->counter, p),
              parts, 4);
}

/* function f(n, p) = if n <= 0 then base else body, which calls f(n - 1, e) */
static void add_recursion(gen *g) {
  struct pending pending = {.count = 0};
  struct node *parts[3];
  const struct rtype *rest = some_type(g, 2);
  struct function *f = new_function(g, "r", pair_of(g, &base_types[R_INT], rest), NULL);
  f->result = some_type(g, 2);
  f->counts = true;
  g->counter = fresh_name(g);
  declare(g, g->counter, &base_types[R_INT], true);
  const char *p = pattern(g, rest, &pending);
  declare_all(g, &pending);
  parts[0] = make(g, f->result, 2);
  g->self = f;
  g->self_calls = 2;
  const bool parallel = chance(g, 50);
  const char *r = fresh_name(g);
  if (parallel) {
    parts[1] = parallel_recursion(g, f);
    declare(g, r, sequence_of(g, f->result), false);
    g->self_calls = 0;
  }
  parts[1 + parallel] = make(g, f->result, DEPTH);
  g->self = NULL;
  const char *text =
      parallel
          ? arena_printf(g->arena, "if %s <= 0 then \1 else let %s = \1 in \1", g->counter, r)
          : arena_printf(g->arena, "if %s <= 0 then \1 else \1", g->counter);
  struct node *body = node(g, f->result, text, parts, 2 + (size_t)parallel);
  body->least = NULL;
  add_form(g,
           arena_printf(g->arena, "function %s(%s, %s)%s = \1;", f->name, g->counter, p,
                        annotation(g, f->parameter, f->result)),
           body);
  add_function(g, f);
}

/* function f(n, p) = let r = {f(k, e) : k in index(max(n, 0))} in body: it ends where there are
 * no elements. */
static void add_unguarded(gen *g) {
  struct pending pending = {.count = 0};
  struct node *parts[2];
  const struct rtype *rest = some_type(g, 1);
  struct function *f =
      new_function(g, "e", pair_of(g, &base_types[R_INT], rest), some_type(g, 1));
  f->counts = true;
  const char *n = fresh_name(g), *k = fresh_name(g), *r = fresh_name(g);
  declare(g, n, &base_types[R_INT], true);
  const char *p = pattern(g, rest, &pending);
  declare_all(g, &pending);
  parts[0] = make(g, rest, 2);
  declare(g, r, sequence_of(g, f->result), false);
  parts[1] = make(g, f->result, DEPTH - 1);
  struct node *body = node(
      g, f->result,
      arena_printf(g->arena, "let %s = {%s(%s, \1) : %s in index(min(max(%s, 0), 3))} in \1", r,
                   f->name, k, k, n),
      parts, 2);
  body->least = NULL;
  add_form(g,
           arena_printf(g->arena, "function %s(%s, %s)%s = \1;", f->name, n, p,
                        annotation(g, f->parameter, f->result)),
           body);
  add_function(g, f);
}

/* function m(p) = (q => body), which returns closures */
static void add_closure(gen *g) {
  struct pending pending = {.count = 0}, inner = {.count = 0};
  const struct rtype *from = some_type(g, 1), *to = some_type(g, 2);
  struct function *f = new_function(g, "m", some_type(g, 1), NULL);
  f->result = make_type(g, R_FUNCTION, from, to, f);
  const char *p = pattern(g, f->parameter, &pending);
  declare_all(g, &pending);
  const char *q = pattern(g, from, &inner);
  declare_all(g, &inner);
  struct node *body = make(g, to, DEPTH - 1);
  const char *type =
      has_function(f->parameter) || has_function(from) || has_function(to)
          ? ""
          : arena_printf(g->arena, " : %s -> (%s -> %s)", type_text_of(g, f->parameter),
                         type_text_of(g, from), type_text_of(g, to));
  add_form(g, arena_printf(g->arena, "function %s(%s)%s = %s => \1;", f->name, p, type, q),
           body);
  add_function(g, f);
}

/* name = value: a global, in scope for all that follows */
static void add_global(gen *g) {
  const struct rtype *type = some_type(g, 2);
  const char *name = arena_printf(g->arena, "g%u", g->names++);
  struct node *body = make(g, type, DEPTH - 2);
  add_form(g, arena_printf(g->arena, "%s = \1;", name), body);
  declare(g, name, type, true);
}

/* function f(p, k := e) = body, called with k and without */
static void add_optional(gen *g) {
  struct pending pending = {.count = 0};
  const struct rtype *first = some_type(g, 2);
  while (first->kind == R_PAIR)
    first = first->left; /* several arguments would be one too many */
  struct function *plain = new_function(g, "o", first, some_type(g, 2));
  const char *k = fresh_name(g);
  const struct rtype *type = some_type(g, 0);
  struct node *parts[2] = {leaf(g, type), NULL};
  const char *p = pattern(g, plain->parameter, &pending);
  declare_all(g, &pending);
  declare(g, k, type, false);
  parts[1] = make(g, plain->result, DEPTH - 1);
  *array_push(g->arena, &g->program->forms) = node(
      g, NULL, arena_printf(g->arena, "function %s(%s, %s := \1) = \1;", plain->name, p, k),
      parts, 2);
  add_function(g, plain);
  struct function *given =
      new_function(g, "o", pair_of(g, plain->parameter, type), plain->result);
  add_form(g,
           arena_printf(g->arena, "function %s(x, y) = %s(x, %s := y);", given->name,
                        plain->name, k),
           NULL);
  add_function(g, given);
}

/* Two functions that call each other, counting down; the second is declared before. */
static void add_mutual(gen *g) {
  const struct rtype *rest = some_type(g, 1), *result = some_type(g, 1);
  if (has_function(rest) || has_function(result)) return;
  struct function *two[2];
  const struct rtype *parameter = pair_of(g, &base_types[R_INT], rest);
  for (int i = 0; i < 2; i++) two[i] = new_function(g, "c", parameter, result);
  add_form(g,
           arena_printf(g->arena, "function %s(n, x)%s;", two[1]->name,
                        annotation(g, parameter, result)),
           NULL);
  const size_t outside = g->scope.count;
  for (int i = 0; i < 2; i++) {
    struct pending pending = {.count = 0};
    struct node *parts[2];
    g->counter = fresh_name(g);
    declare(g, g->counter, &base_types[R_INT], true);
    const char *p = pattern(g, rest, &pending);
    declare_all(g, &pending);
    parts[0] = make(g, result, 2);
    g->self = two[1 - i];
    g->self_calls = 1;
    parts[1] = make(g, result, DEPTH);
    g->self = NULL;
    struct node *body = node(
        g, result, arena_printf(g->arena, "if %s <= 0 then \1 else \1", g->counter), parts, 2);
    body->least = NULL;
    add_form(g,
             arena_printf(g->arena, "function %s(%s, %s)%s = \1;", two[i]->name, g->counter, p,
                          annotation(g, parameter, result)),
             body);
    g->scope.count = outside;
  }
  for (int i = 0; i < 2; i++) {
    two[i]->counts = true;
    add_function(g, two[i]);
  }
}

/* Functions that random-nesl.def mentions. */
static void add_prelude(gen *g) {
  static const char *const forms[] = {
      "datatype tagged(a, int) :: (a in any);",
      "datatype record(count : int, middle : (a, bool), last : [b]) :: (a in any; b in any);",
      "function counted(r, n) = if n <= 0 then r else counted(r(count := r.count + n), n - 1);",
      "function twice(h, x) = h(h(x));",
      "function curried(h) = x => (y => h(x, y));",
      "function folded(v) = if #v < 2 then v else flatten({folded(x) : x in "
      "reverse(bottop(v))});",
      "function quick(v) = if #v < 2 then v else let p = v[#v / 2]; less = {x in v | x < p}; "
      "more = {x in v | x > p}; r = {quick(x) : x in [less, more]} "
      "in r[0] ++ {x in v | x == p} ++ r[1];",
      "function search_parts(v, x) = {y : y in v; i in index(#v) | i == 0 or not(eql(x, y))};",
  };
  for (size_t i = 0; i < LENGTH(forms); i++) add_form(g, forms[i], NULL);
}

static void add_forms(gen *g) {
  static void (*const kinds[])(gen *) = {
      add_optional,  add_mutual,    add_datatype, add_plain,     add_plain,
      add_recursion, add_recursion, add_closure,  add_unguarded, add_global,
      add_scalars,   add_scalars,   add_scalars,  add_partners};
  size_t count = below(g, 6);
  add_prelude(g);
  for (size_t i = 0; i < count; i++) {
    size_t globals = g->scope.count;
    void (*add)(gen *) = kinds[below(g, LENGTH(kinds))];
    g->budget = SMALL_BUDGET + (int)below(g, SMALL_BUDGET);
    add(g);
    if (add != add_global) g->scope.count = globals;
  }
  g->budget = BUDGET + (int)below(g, BUDGET);
  struct node *last = chance(g, 60) ? applied(g) : NULL;
  if (last && chance(g, 50)) {
    struct node *both[2] = {last, make(g, some_type(g, 3), DEPTH)};
    last = node(g, pair_of(g, last->type, both[1]->type), "(\1, \1)", both, 2);
  }
  add_form(g, "\1;", last ? last : make(g, some_type(g, 3), DEPTH + 1));
}

struct random_program *random_program(struct arena *arena, uint64_t seed, uint64_t number) {
  struct random_program *program = arena_alloc(arena, sizeof *program);
  program->arena = arena;
  gen g = {.arena = arena, .program = program, .random = seed};
  g.random = next_random(&g.random) ^ number;
  g.risky = chance(&g, 30);
  g.nested = chance(&g, 40);
  add_forms(&g);
  return program;
}
