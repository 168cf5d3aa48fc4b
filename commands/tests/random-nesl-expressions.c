/* random-nesl-expressions.c - random programs: expressions of a given type. random-nesl.def has
 * the templates of expressions; this file has the constructs that bind names.
 */
#include "commands/tests/random-nesl-private.h"

#include <stdlib.h>
#include <string.h>

/* ---- leaves ---- */

static const char *expressions_literal(gen *g, enum rtype_kind kind) {
  static const char *const ints[] = {"0",    "1",    "2",       "3",       "4",
                                     "5",    "(-1)", "(-2)",    "7",       "10",
                                     "(-7)", "100",  "max_int", "min_int", "65537"};
  static const char *const floats[] = {"0.0",    "1.0",       "2.5",    "(-1.5)",
                                       "0.1",    "3.75",      "(-0.3)", "1.0e3",
                                       "100.25", "(-2.0e-3)", "1.0e10"};
  static const char *const chars[] = {"`a", "`b", "`Z", "space", "`0", "`7", "newline", "`."};
  switch (kind) {
  case R_INT: return ints[below(g, chance(g, 90) ? 11 : 15)];
  case R_FLOAT: return floats[below(g, 11)];
  case R_BOOL: return chance(g, 50) ? "t" : "f";
  case R_CHAR: return chars[below(g, 8)];
  case R_SEQUENCE:
  case R_PAIR:
  case R_DATA:
  case R_FUNCTION: break;
  }
  return NULL;
}

struct node *leaf(gen *g, const struct rtype *t) {
  static const char *const strings[] = {"\"\"",    "\"ab\"",     "\"12 x\"",
                                        "\"-34\"", "\"a b  c\"", "\"2.5e1\""};
  const struct variable *v = chance(g, 75) ? variable_of(g, t, false) : NULL;
  const char *text = v ? v->name : expressions_literal(g, t->kind);
  if (!text && t->kind == R_SEQUENCE && t->left->kind == R_CHAR) text = strings[below(g, 6)];
  if (!text && t->kind == R_SEQUENCE && chance(g, 75)) {
    struct node *parts[3];
    size_t count = 1 + below(g, 3);
    for (size_t i = 0; i < count; i++) parts[i] = leaf(g, t->left);
    static const char *const texts[] = {"", "[\1]", "[\1, \1]", "[\1, \1, \1]"};
    return node(g, t, texts[count], parts, count);
  }
  if (!text && t->kind == R_PAIR) {
    struct node *parts[2] = {leaf(g, t->left), leaf(g, t->right)};
    return node(g, t, "(\1, \1)", parts, 2);
  }
  if (!text && t->constructor) {
    struct node *part = leaf(g, t->constructor->parameter);
    return node(g, t, arena_printf(g->arena, "%s(\1)", t->constructor->name), &part, 1);
  }
  return node(g, t, text ? text : least(g, t), NULL, 0);
}
/* ---- the templates of random-nesl.def ---- */

struct row {
  unsigned weight;
  const char *type, *text;
};

static const struct row rows[] = {
#define TEMPLATE(weight, type, text) {weight, type, text},
#include "commands/tests/random-nesl.def"
};
static const struct row risks[] = {
#define TEMPLATE(weight, type, text)
#define RISK(type, text) {1, type, text},
#include "commands/tests/random-nesl.def"
};

/* The types that a d n o l mean. */
struct bindings {
  const struct rtype *of[5];
};

static const char class_letters[] = "adnol";

static bool of_class(size_t class, enum rtype_kind kind) {
  switch (class_letters[class]) {
  case 'n': return kind <= R_FLOAT;
  case 'o': return kind <= R_FLOAT || kind == R_CHAR;
  case 'l': return kind == R_INT || kind == R_BOOL;
  default: return true;
  }
}

/* Matches a type with the letters at *code and steps over them. */
static bool matches(const char **code, const struct rtype *t, struct bindings *b) {
  const char c = *(*code)++;
  const char *at = strchr(class_letters, c);
  if (c == '[' || c == '(') {
    if (t->kind != (c == '[' ? R_SEQUENCE : R_PAIR)) return false;
    if (!matches(code, t->left, b)) return false;
    if (c == '(' && !matches(code, t->right, b)) return false;
    ++*code;
    return true;
  }
  if (!at) return t->kind == (enum rtype_kind)(strchr("ifbc", c) - "ifbc");
  size_t class = (size_t)(at - class_letters);
  if (b->of[class]) return same(b->of[class], t);
  if (!of_class(class, t->kind)) return false;
  b->of[class] = t;
  return true;
}

static const struct rtype *expressions_bound_type(gen *g, size_t class, struct bindings *b) {
  while (!b->of[class]) {
    const struct rtype *t = some_type(g, class < 2 ? 2 : 0);
    if (of_class(class, t->kind) && (class < 2 || t->kind < R_SEQUENCE)) b->of[class] = t;
  }
  return b->of[class];
}

/* The type of the letters at *code. */
static const struct rtype *expressions_read_type(gen *g, const char **code,
                                                 struct bindings *b) {
  const char c = *(*code)++;
  const char *at = strchr(class_letters, c);
  if (at) return expressions_bound_type(g, (size_t)(at - class_letters), b);
  if (c != '[' && c != '(') return &base_types[strchr("ifbc", c) - "ifbc"];
  const struct rtype *left = expressions_read_type(g, code, b);
  const struct rtype *t =
      c == '[' ? sequence_of(g, left) : pair_of(g, left, expressions_read_type(g, code, b));
  ++*code;
  return t;
}

static struct node *expressions_fill(gen *g, const struct rtype *type, const struct row *row,
                                     struct bindings *b, int depth) {
  struct node *parts[MOST_PARTS];
  struct pending pending = {.count = 0};
  size_t count = 0, size = 0, outside = g->scope.count;
  char *text = NULL;
  FILE *out = open_memstream(&text, &size);
  if (!out) memory_failed();
  const unsigned own = g->names++;
  for (const char *p = row->text; *p;) {
    switch (*p++) {
    case '%':
      parts[count++] = make(g, expressions_read_type(g, &p, b), depth);
      fputc('\1', out);
      break;
    case '$': fprintf(out, "u%u", own); break;
    case '!': fputs(pattern(g, expressions_read_type(g, &p, b), &pending), out); break;
    case '&': declare_all(g, &pending); break;
    case '\\': g->scope.count = outside; break;
    default: fputc(p[-1], out); break;
    }
  }
  g->scope.count = outside;
  fclose(out);
  struct node *made = node(g, type, arena_copy(g->arena, text, size), parts, count);
  free(text);
  return made;
}

/* An expression from a template of this type; NULL if there is none. */
static struct node *of_table(gen *g, const struct rtype *type, int depth) {
  const struct row *chosen = NULL;
  struct bindings chosen_bindings = {{NULL}};
  unsigned weight = 0;
  bool risky = g->risky && chance(g, 15);
  const struct row *table = risky ? risks : rows;
  for (size_t i = 0; i < (risky ? LENGTH(risks) : LENGTH(rows)); i++) {
    struct bindings b = {{NULL}};
    const char *code = table[i].type;
    if (!matches(&code, type, &b)) continue;
    weight += table[i].weight;
    if (below(g, weight) >= table[i].weight) continue;
    chosen = &table[i];
    chosen_bindings = b;
  }
  if (!chosen) return NULL;
  if (risky) g->risky = false;
  return expressions_fill(g, type, chosen, &chosen_bindings, depth - 1);
}
/* ---- constructs ---- */

static struct node *conditional(gen *g, const struct rtype *type, int depth) {
  struct node *parts[3];
  parts[0] = make(g, &base_types[R_BOOL], depth - 1);
  parts[1] = make(g, type, depth - 1);
  parts[2] = make(g, type, depth - 1);
  return node(g, type, "(if \1 then \1 else \1)", parts, 3);
}

static struct node *let(gen *g, const struct rtype *type, int depth) {
  struct pending pending = {.count = 0};
  struct node *parts[2];
  size_t outside = g->scope.count;
  const struct rtype *bound = some_type(g, 3);
  parts[0] = make(g, bound, depth - 1);
  const char *text = arena_printf(g->arena, "(let %s = \1 in \1)", pattern(g, bound, &pending));
  declare_all(g, &pending);
  parts[1] = make(g, type, depth - 1);
  g->scope.count = outside;
  return node(g, type, text, parts, 2);
}

/* {body : p in s; q in t | c}: further generators are as long as the first. */
static struct node *expressions_each(gen *g, const struct rtype *type, int depth) {
  struct pending pending = {.count = 0};
  struct node *parts[4];
  size_t outside = g->scope.count;
  const struct rtype *first = sequence_of(g, some_type(g, 2)), *second = some_type(g, 1);
  struct node *source = make(g, first, depth - 1);
  const char *name = fresh_name(g);
  bool two = chance(g, 30), sieve = chance(g, 30);
  struct node *other = two ? make(g, second, depth - 1) : NULL;
  const char *p = pattern(g, first->left, &pending);
  const char *q = two ? pattern(g, second, &pending) : "";
  struct pending again = pending;
  declare_all(g, &pending);
  parts[0] = make(g, type->left, depth - 1);
  g->scope.count = outside;
  declare_all(g, &again);
  parts[1] = source;
  parts[2] =
      node(g, NULL, two ? arena_printf(g->arena, "; %s in {\1 : %s in %s}", q, name, name) : "",
           &other, two);
  struct node *condition = sieve ? make(g, &base_types[R_BOOL], depth - 1) : NULL;
  parts[3] = node(g, NULL, sieve ? " | \1" : "", &condition, sieve);
  g->scope.count = outside;
  /* The sequence has a name, so that it is as long wherever it stands. */
  struct node *inner[4] = {parts[1], parts[0], parts[2], parts[3]};
  return node(g, type,
              arena_printf(g->arena, "(let %s = \1 in {%s \1 : %s in %s\1\1})", name,
                           chance(g, 10) ? "*" : "", p, name),
              inner, 4);
}

static struct node *expressions_list(gen *g, const struct rtype *type, int depth) {
  static const char *const texts[] = {"", "[\1]", "[\1, \1]", "[\1, \1, \1]"};
  struct node *parts[3];
  size_t count = 1 + below(g, 3);
  for (size_t i = 0; i < count; i++) parts[i] = make(g, type->left, depth - 1);
  return node(g, type, texts[count], parts, count);
}

/* A call of a function of the program with this result, of this one itself, or of a function
 * value; NULL if there is none. */
static struct node *expressions_call(gen *g, const struct rtype *type, int depth) {
  const struct function *callee = NULL;
  unsigned count = 0;
  if (g->self && g->self_calls > 0 && same(g->self->result, type) && chance(g, 70)) {
    g->self_calls--;
    struct node *part = make(g, g->self->parameter->right, depth - 1);
    return node(g, type, arena_printf(g->arena, "%s(%s - 1, \1)", g->self->name, g->counter),
                &part, 1);
  }
  const struct variable *v = variable_of(g, type, true);
  if (v && chance(g, 60)) {
    const char *text = arena_printf(g->arena, "%s(\1)", v->name);
    struct node *part = make(g, v->type->left, depth - 1);
    return node(g, type, text, &part, 1);
  }
  for (size_t i = 0; i < g->functions.count; i++) {
    const struct function *f = g->functions.items[i];
    if (same(f->result, type) && below(g, ++count) == 0) callee = f;
  }
  if (!callee) return NULL;
  if (callee->counts) {
    struct node *parts[2] = {make(g, &base_types[R_INT], depth - 1),
                             make(g, callee->parameter->right, depth - 1)};
    return node(g, type, arena_printf(g->arena, "%s(mod(\1, 4), \1)", callee->name), parts, 2);
  }
  struct node *part = make(g, callee->parameter, depth - 1);
  return node(g, type, arena_printf(g->arena, "%s(\1)", callee->name), &part, 1);
}

/* let (n, v) = loop (n, p) = (rounds, e) while n > 0 and c do (n - 1, e2) in v */
static struct node *expressions_loop(gen *g, const struct rtype *type, int depth) {
  struct pending pending = {.count = 0};
  struct node *parts[4];
  const size_t outside = g->scope.count;
  const char *count = fresh_name(g), *last = fresh_name(g);
  parts[0] = make(g, &base_types[R_INT], depth - 1);
  parts[1] = make(g, type, depth - 1);
  const char *p = pattern(g, type, &pending);
  declare(g, count, &base_types[R_INT], true);
  declare_all(g, &pending);
  parts[2] = make(g, &base_types[R_BOOL], depth - 1);
  parts[3] = make(g, type, depth - 1);
  g->scope.count = outside;
  return node(g, type,
              arena_printf(g->arena,
                           "(let (%s, %s) = loop (%s, %s) = (mod(\1, 4), \1) while %s > 0 and "
                           "\1 do (%s - 1, \1) in %s)",
                           count, last, count, p, count, count, last),
              parts, 4);
}

static struct node *make_construct(gen *g, const struct rtype *type, int depth) {
  unsigned k = below(g, 100);
  if (g->nested && chance(g, 50)) {
    if (type->kind == R_SEQUENCE && chance(g, 80)) return expressions_each(g, type, depth);
    return chance(g, 50) ? conditional(g, type, depth) : expressions_call(g, type, depth);
  }
  if (k < 10) return conditional(g, type, depth);
  if (k < 15 && !has_function(type)) return expressions_loop(g, type, depth);
  if (k < 20) return let(g, type, depth);
  if (k < 40) return expressions_call(g, type, depth);
  if (k < 65 && type->kind == R_SEQUENCE) {
    return k < 60 ? expressions_each(g, type, depth) : expressions_list(g, type, depth);
  }
  if (k < 75 && type->kind == R_PAIR) {
    struct node *parts[2];
    parts[0] = make(g, type->left, depth - 1);
    parts[1] = make(g, type->right, depth - 1);
    return node(g, type, "(\1, \1)", parts, 2);
  }
  if (k < 75 && type->constructor) {
    struct node *part = make(g, type->constructor->parameter, depth - 1);
    return node(g, type, arena_printf(g->arena, "%s(\1)", type->constructor->name), &part, 1);
  }
  return of_table(g, type, depth);
}

struct node *make(gen *g, const struct rtype *type, int depth) {
  if (depth <= 0 || --g->budget < 0 || chance(g, 12)) return leaf(g, type);
  struct node *made = make_construct(g, type, depth);
  return made ? made : leaf(g, type);
}
