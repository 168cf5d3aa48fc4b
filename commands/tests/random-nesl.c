/* random-nesl.c - random well-typed programs: types, scopes, and the trees of text pieces that
 * expressions are. Every expression is made for a type that is wanted; random-nesl.def lists
 * what can be applied, this file makes the constructs that bind names.
 */
#include "commands/tests/random-nesl.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

static uint64_t next_random(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* ---- types ---- */

enum rtype_kind { R_INT, R_FLOAT, R_BOOL, R_CHAR, R_SEQUENCE, R_PAIR, R_DATA, R_FUNCTION };

struct rtype {
  enum rtype_kind kind;
  const struct rtype *left, *right; /* SEQUENCE: left; FUNCTION: from left to right */
  const struct maker *maker;        /* DATA: its constructor; FUNCTION: what makes values */
};

/* A function to call: of the program. Constructors and makers of closures are functions, too.
 */
struct maker {
  const char *name;
  const struct rtype *parameter, *result;
  bool counts; /* the first part of the parameter is how often it may still call itself */
};

static const struct rtype base_types[] = {
    {R_INT, NULL, NULL, NULL},
    {R_FLOAT, NULL, NULL, NULL},
    {R_BOOL, NULL, NULL, NULL},
    {R_CHAR, NULL, NULL, NULL},
};

static bool same(const struct rtype *a, const struct rtype *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->maker != b->maker) return false;
  if (a->kind == R_SEQUENCE) return same(a->left, b->left);
  if (a->kind == R_PAIR) return same(a->left, b->left) && same(a->right, b->right);
  return a->maker != NULL || a->kind < R_SEQUENCE;
}

static bool has_function(const struct rtype *t) {
  switch (t->kind) {
  case R_FUNCTION: return true;
  case R_SEQUENCE: return has_function(t->left);
  case R_PAIR: return has_function(t->left) || has_function(t->right);
  case R_DATA: return has_function(t->maker->parameter);
  case R_INT:
  case R_FLOAT:
  case R_BOOL:
  case R_CHAR: break;
  }
  return false;
}

static void write_type(const struct rtype *t, FILE *out) {
  static const char *const names[] = {"int", "float", "bool", "char"};
  switch (t->kind) {
  case R_INT:
  case R_FLOAT:
  case R_BOOL:
  case R_CHAR: fputs(names[t->kind], out); break;
  case R_DATA: fputs(t->maker->name, out); break;
  case R_SEQUENCE:
    fputc('[', out);
    write_type(t->left, out);
    fputc(']', out);
    break;
  case R_PAIR:
  case R_FUNCTION:
    fputc('(', out);
    write_type(t->left, out);
    fputs(t->kind == R_PAIR ? ", " : " -> ", out);
    write_type(t->right, out);
    fputc(')', out);
    break;
  }
}

/* ---- trees ---- */

/* A piece of text with parts at its \1s. */
struct piece {
  const struct rtype *type; /* of an expression; NULL: something that may be left out */
  const char *text;
  struct piece **parts;
  size_t part_count;
  const char *least; /* the least text that would do instead; NULL: none */
};

struct variable {
  const char *name;
  const struct rtype *type;
  bool kept; /* must not be hidden */
};

struct random_program {
  struct arena *arena;
  ARRAY(struct piece *) forms;
};

struct maker_state {
  struct arena *arena;
  uint64_t random;
  struct random_program *program;
  ARRAY(struct variable) scope;
  ARRAY(const struct maker *) functions;
  const struct maker *self; /* the function that is being made, if it may call itself */
  const char *counter;      /* and its count */
  unsigned names;
  int budget; /* pieces that may still be made in this form */
  int self_calls;
  bool risky; /* one piece that may fail is still to come */
};

typedef struct maker_state gen;

static unsigned below(gen *g, unsigned n) {
  return (unsigned)(next_random(&g->random) % n);
}

static bool chance(gen *g, unsigned percent) {
  return below(g, 100) < percent;
}

static const struct rtype *make_type(gen *g, enum rtype_kind kind, const struct rtype *left,
                                     const struct rtype *right, const struct maker *maker) {
  struct rtype *t = arena_alloc(g->arena, sizeof *t);
  *t = (struct rtype){kind, left, right, maker};
  return t;
}

static const struct rtype *sequence_of(gen *g, const struct rtype *t) {
  return make_type(g, R_SEQUENCE, t, NULL, NULL);
}

static const struct rtype *pair_of(gen *g, const struct rtype *a, const struct rtype *b) {
  return make_type(g, R_PAIR, a, b, NULL);
}

/* A type of at most this many nested sequences. */
static const struct rtype *some_type(gen *g, unsigned nesting) {
  unsigned k = below(g, 20);
  if (k < 4 && nesting > 0) return sequence_of(g, some_type(g, nesting - 1));
  if (k < 7 && nesting > 0) {
    const struct rtype *left = some_type(g, nesting - 1);
    return pair_of(g, left, some_type(g, nesting - 1));
  }
  if (k < 9 && g->functions.count > 0) {
    const struct maker *m = g->functions.items[below(g, (unsigned)g->functions.count)];
    if (m->result->kind == R_DATA || m->result->kind == R_FUNCTION) return m->result;
  }
  return &base_types[k < 13 ? R_INT : k < 16 ? R_FLOAT : k < 18 ? R_BOOL : R_CHAR];
}

static char *type_text_of(gen *g, const struct rtype *t) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) longjmp(g->arena->out_of_memory, 1);
  write_type(t, out);
  fclose(out);
  char *copy = arena_copy(g->arena, text, size);
  free(text);
  return copy;
}

/* The least expression of a type, as text. */
static const char *least(gen *g, const struct rtype *t) {
  static const char *const constants[] = {"0", "0.0", "f", "`a"};
  switch (t->kind) {
  case R_INT:
  case R_FLOAT:
  case R_BOOL:
  case R_CHAR: return constants[t->kind];
  case R_SEQUENCE:
    if (has_function(t)) return arena_printf(g->arena, "take([%s], 0)", least(g, t->left));
    return arena_printf(g->arena, "([] %s)", type_text_of(g, t->left));
  case R_PAIR: return arena_printf(g->arena, "(%s, %s)", least(g, t->left), least(g, t->right));
  case R_DATA:
  case R_FUNCTION: break;
  }
  return arena_printf(g->arena, "%s(%s)", t->maker->name, least(g, t->maker->parameter));
}

enum { MOST_PARTS = 16 };

static struct piece *piece(gen *g, const struct rtype *type, const char *text,
                           struct piece **parts, size_t count) {
  struct piece *p = arena_alloc(g->arena, sizeof *p);
  *p = (struct piece){type, text, arena_alloc(g->arena, (count + 1) * sizeof *parts), count,
                      type ? least(g, type) : ""};
  if (count > 0) memcpy(p->parts, parts, count * sizeof *parts);
  return p;
}

static struct piece *make(gen *g, const struct rtype *type, int depth);

/* ---- names ---- */

static const char *fresh_name(gen *g) {
  return arena_printf(g->arena, "v%u", g->names++);
}

/* A new name, or now and then one that hides another. */
static const char *some_name(gen *g) {
  if (g->scope.count > 0 && chance(g, 8)) {
    size_t k = below(g, (unsigned)g->scope.count);
    if (!g->scope.items[k].kept) return g->scope.items[k].name;
  }
  return fresh_name(g);
}

static bool is_hidden(const gen *g, size_t k) {
  for (size_t i = k + 1; i < g->scope.count; i++) {
    if (strcmp(g->scope.items[i].name, g->scope.items[k].name) == 0) return true;
  }
  return false;
}

static void declare(gen *g, const char *name, const struct rtype *type, bool kept) {
  *array_push(g->arena, &g->scope) = (struct variable){name, type, kept};
}

/* Variables of a pattern that are in scope later. */
struct pending {
  struct variable items[MOST_PARTS];
  size_t count;
};

static bool is_pending(const struct pending *p, const char *name) {
  for (size_t i = 0; i < p->count; i++) {
    if (strcmp(p->items[i].name, name) == 0) return true;
  }
  return false;
}

/* The text of a pattern for a type. */
static const char *pattern(gen *g, const struct rtype *t, struct pending *p) {
  bool room = p->count + 4 < MOST_PARTS;
  if (t->kind == R_PAIR && room && chance(g, 60)) {
    const char *left = pattern(g, t->left, p);
    return arena_printf(g->arena, "(%s, %s)", left, pattern(g, t->right, p));
  }
  if (t->kind == R_DATA && room && chance(g, 60)) {
    return arena_printf(g->arena, "%s(%s)", t->maker->name, pattern(g, t->maker->parameter, p));
  }
  const char *name = some_name(g);
  if (is_pending(p, name)) name = fresh_name(g);
  p->items[p->count++] = (struct variable){name, t, false};
  return name;
}

static void declare_all(gen *g, struct pending *p) {
  for (size_t i = 0; i < p->count; i++) declare(g, p->items[i].name, p->items[i].type, false);
  p->count = 0;
}

/* A variable in scope of this type (or, if `result`, a function with this result); NULL: none.
 */
static const struct variable *variable_of(gen *g, const struct rtype *t, bool result) {
  const struct variable *found = NULL;
  unsigned count = 0;
  for (size_t k = g->scope.count; k-- > 0;) {
    const struct variable *v = &g->scope.items[k];
    bool fits =
        result ? v->type->kind == R_FUNCTION && same(v->type->right, t) : same(v->type, t);
    if (fits && !is_hidden(g, k) && below(g, ++count) == 0) found = v;
  }
  return found;
}

/* ---- leaves ---- */

static const char *literal(gen *g, enum rtype_kind kind) {
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

static struct piece *leaf(gen *g, const struct rtype *t) {
  static const char *const strings[] = {"\"\"",    "\"ab\"",     "\"12 x\"",
                                        "\"-34\"", "\"a b  c\"", "\"2.5e1\""};
  const struct variable *v = chance(g, 75) ? variable_of(g, t, false) : NULL;
  const char *text = v ? v->name : literal(g, t->kind);
  if (!text && t->kind == R_SEQUENCE && t->left->kind == R_CHAR) text = strings[below(g, 6)];
  if (!text && t->kind == R_SEQUENCE && chance(g, 75)) {
    struct piece *parts[3];
    size_t count = 1 + below(g, 3);
    for (size_t i = 0; i < count; i++) parts[i] = leaf(g, t->left);
    static const char *const texts[] = {"", "[\1]", "[\1, \1]", "[\1, \1, \1]"};
    return piece(g, t, texts[count], parts, count);
  }
  if (!text && t->kind == R_PAIR) {
    struct piece *parts[2] = {leaf(g, t->left), leaf(g, t->right)};
    return piece(g, t, "(\1, \1)", parts, 2);
  }
  if (!text && t->maker) {
    struct piece *part = leaf(g, t->maker->parameter);
    return piece(g, t, arena_printf(g->arena, "%s(\1)", t->maker->name), &part, 1);
  }
  return piece(g, t, text ? text : least(g, t), NULL, 0);
}

/* ---- pieces of random-nesl.def ---- */

struct row {
  unsigned weight;
  const char *type, *text;
};

static const struct row rows[] = {
#define PIECE(weight, type, text) {weight, type, text},
#include "commands/tests/random-nesl.def"
};
static const struct row risks[] = {
#define PIECE(weight, type, text)
#define RISK(type, text) {1, type, text},
#include "commands/tests/random-nesl.def"
};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* What a d n o l stand for. */
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

static const struct rtype *bound_type(gen *g, size_t class, struct bindings *b) {
  while (!b->of[class]) {
    const struct rtype *t = some_type(g, class < 2 ? 2 : 0);
    if (of_class(class, t->kind) && (class < 2 || t->kind < R_SEQUENCE)) b->of[class] = t;
  }
  return b->of[class];
}

/* The type of the letters at *code. */
static const struct rtype *read_type(gen *g, const char **code, struct bindings *b) {
  const char c = *(*code)++;
  const char *at = strchr(class_letters, c);
  if (at) return bound_type(g, (size_t)(at - class_letters), b);
  if (c != '[' && c != '(') return &base_types[strchr("ifbc", c) - "ifbc"];
  const struct rtype *left = read_type(g, code, b);
  const struct rtype *t =
      c == '[' ? sequence_of(g, left) : pair_of(g, left, read_type(g, code, b));
  ++*code;
  return t;
}

static struct piece *fill(gen *g, const struct rtype *type, const struct row *row,
                          struct bindings *b, int depth) {
  struct piece *parts[MOST_PARTS];
  struct pending pending = {.count = 0};
  size_t count = 0, size = 0, outside = g->scope.count;
  char *text = NULL;
  FILE *out = open_memstream(&text, &size);
  if (!out) longjmp(g->arena->out_of_memory, 1);
  const unsigned own = g->names++;
  for (const char *p = row->text; *p;) {
    switch (*p++) {
    case '%':
      parts[count++] = make(g, read_type(g, &p, b), depth);
      fputc('\1', out);
      break;
    case '$': fprintf(out, "u%u", own); break;
    case '!': fputs(pattern(g, read_type(g, &p, b), &pending), out); break;
    case '&': declare_all(g, &pending); break;
    case '\\': g->scope.count = outside; break;
    default: fputc(p[-1], out); break;
    }
  }
  g->scope.count = outside;
  fclose(out);
  struct piece *made = piece(g, type, arena_copy(g->arena, text, size), parts, count);
  free(text);
  return made;
}

/* A piece of the table, or NULL if the one that was drawn has another type. */
static struct piece *of_table(gen *g, const struct rtype *type, int depth) {
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
  return fill(g, type, chosen, &chosen_bindings, depth - 1);
}

/* ---- constructs ---- */

static struct piece *conditional(gen *g, const struct rtype *type, int depth) {
  struct piece *parts[3];
  parts[0] = make(g, &base_types[R_BOOL], depth - 1);
  parts[1] = make(g, type, depth - 1);
  parts[2] = make(g, type, depth - 1);
  return piece(g, type, "(if \1 then \1 else \1)", parts, 3);
}

static struct piece *let(gen *g, const struct rtype *type, int depth) {
  struct pending pending = {.count = 0};
  struct piece *parts[2];
  size_t outside = g->scope.count;
  const struct rtype *bound = some_type(g, 3);
  parts[0] = make(g, bound, depth - 1);
  const char *text = arena_printf(g->arena, "(let %s = \1 in \1)", pattern(g, bound, &pending));
  declare_all(g, &pending);
  parts[1] = make(g, type, depth - 1);
  g->scope.count = outside;
  return piece(g, type, text, parts, 2);
}

/* {body : p in s; q in t | c}: further generators are as long as the first. */
static struct piece *each(gen *g, const struct rtype *type, int depth) {
  struct pending pending = {.count = 0};
  struct piece *parts[4];
  size_t outside = g->scope.count;
  const struct rtype *first = sequence_of(g, some_type(g, 2)), *second = some_type(g, 1);
  struct piece *source = make(g, first, depth - 1);
  const char *name = fresh_name(g);
  bool two = chance(g, 30), sieve = chance(g, 30);
  struct piece *other = two ? make(g, second, depth - 1) : NULL;
  const char *p = pattern(g, first->left, &pending);
  const char *q = two ? pattern(g, second, &pending) : "";
  struct pending again = pending;
  declare_all(g, &pending);
  parts[0] = make(g, type->left, depth - 1);
  g->scope.count = outside;
  declare_all(g, &again);
  parts[1] = source;
  parts[2] = piece(g, NULL,
                   two ? arena_printf(g->arena, "; %s in {\1 : %s in %s}", q, name, name) : "",
                   &other, two);
  struct piece *condition = sieve ? make(g, &base_types[R_BOOL], depth - 1) : NULL;
  parts[3] = piece(g, NULL, sieve ? " | \1" : "", &condition, sieve);
  g->scope.count = outside;
  /* The sequence has a name, so that it is as long wherever it stands. */
  struct piece *inner[4] = {parts[1], parts[0], parts[2], parts[3]};
  return piece(g, type,
               arena_printf(g->arena, "(let %s = \1 in {%s \1 : %s in %s\1\1})", name,
                            chance(g, 10) ? "*" : "", p, name),
               inner, 4);
}

static struct piece *list(gen *g, const struct rtype *type, int depth) {
  static const char *const texts[] = {"", "[\1]", "[\1, \1]", "[\1, \1, \1]"};
  struct piece *parts[3];
  size_t count = 1 + below(g, 3);
  for (size_t i = 0; i < count; i++) parts[i] = make(g, type->left, depth - 1);
  return piece(g, type, texts[count], parts, count);
}

/* A call of a function of the program with this result, of this one itself, or of a function
 * value; NULL if there is none. */
static struct piece *call(gen *g, const struct rtype *type, int depth) {
  const struct maker *callee = NULL;
  unsigned count = 0;
  if (g->self && g->self_calls > 0 && same(g->self->result, type) && chance(g, 70)) {
    g->self_calls--;
    struct piece *part = make(g, g->self->parameter->right, depth - 1);
    return piece(g, type, arena_printf(g->arena, "%s(%s - 1, \1)", g->self->name, g->counter),
                 &part, 1);
  }
  const struct variable *v = variable_of(g, type, true);
  if (v && chance(g, 60)) {
    const char *text = arena_printf(g->arena, "%s(\1)", v->name);
    struct piece *part = make(g, v->type->left, depth - 1);
    return piece(g, type, text, &part, 1);
  }
  for (size_t i = 0; i < g->functions.count; i++) {
    const struct maker *m = g->functions.items[i];
    if (same(m->result, type) && below(g, ++count) == 0) callee = m;
  }
  if (!callee) return NULL;
  if (callee->counts) {
    struct piece *parts[2] = {make(g, &base_types[R_INT], depth - 1),
                              make(g, callee->parameter->right, depth - 1)};
    return piece(g, type, arena_printf(g->arena, "%s(mod(\1, 4), \1)", callee->name), parts, 2);
  }
  struct piece *part = make(g, callee->parameter, depth - 1);
  return piece(g, type, arena_printf(g->arena, "%s(\1)", callee->name), &part, 1);
}

static struct piece *make_construct(gen *g, const struct rtype *type, int depth) {
  unsigned k = below(g, 100);
  if (k < 10) return conditional(g, type, depth);
  if (k < 20) return let(g, type, depth);
  if (k < 40) return call(g, type, depth);
  if (k < 65 && type->kind == R_SEQUENCE) {
    return k < 60 ? each(g, type, depth) : list(g, type, depth);
  }
  if (k < 75 && type->kind == R_PAIR) {
    struct piece *parts[2];
    parts[0] = make(g, type->left, depth - 1);
    parts[1] = make(g, type->right, depth - 1);
    return piece(g, type, "(\1, \1)", parts, 2);
  }
  if (k < 75 && type->maker) {
    struct piece *part = make(g, type->maker->parameter, depth - 1);
    return piece(g, type, arena_printf(g->arena, "%s(\1)", type->maker->name), &part, 1);
  }
  return of_table(g, type, depth);
}

static struct piece *make(gen *g, const struct rtype *type, int depth) {
  if (depth <= 0 || --g->budget < 0 || chance(g, 12)) return leaf(g, type);
  struct piece *made = make_construct(g, type, depth);
  return made ? made : leaf(g, type);
}

/* ---- forms ---- */

enum { DEPTH = 6, BUDGET = 40, SMALL_BUDGET = 18 };

static void add_form(gen *g, const char *text, struct piece *body) {
  *array_push(g->arena, &g->program->forms) = piece(g, NULL, text, &body, body != NULL);
}

static void add_function(gen *g, const struct maker *m) {
  *array_push(g->arena, &g->functions) = m;
}

static struct maker *new_function(gen *g, const char *prefix, const struct rtype *parameter,
                                  const struct rtype *result) {
  struct maker *m = arena_alloc(g->arena, sizeof *m);
  *m = (struct maker){arena_printf(g->arena, "%s%u", prefix, g->names++), parameter, result,
                      false};
  return m;
}

/* ": T -> U", unless a part of them has no notation. */
static const char *annotation(gen *g, const struct rtype *from, const struct rtype *to) {
  if (has_function(from) || has_function(to)) return "";
  return arena_printf(g->arena, " : %s -> %s", type_text_of(g, from), type_text_of(g, to));
}

static void add_datatype(gen *g) {
  const struct rtype *contents = some_type(g, 2);
  if (has_function(contents)) return;
  struct maker *m = new_function(g, "d", contents, NULL);
  m->result = make_type(g, R_DATA, NULL, NULL, m);
  const char *t = type_text_of(g, contents);
  add_form(
      g,
      arena_printf(g->arena, t[0] == '(' ? "datatype %s%s;" : "datatype %s(%s);", m->name, t),
      NULL);
  add_function(g, m);
}

/* function f(p) = body */
static void add_plain(gen *g) {
  struct pending pending = {.count = 0};
  struct maker *m = new_function(g, "f", some_type(g, 3), NULL);
  m->result = some_type(g, 2);
  const char *p = pattern(g, m->parameter, &pending);
  declare_all(g, &pending);
  struct piece *body = make(g, m->result, DEPTH);
  add_form(g,
           arena_printf(g->arena, "function %s(%s)%s = \1;", m->name, p,
                        annotation(g, m->parameter, m->result)),
           body);
  add_function(g, m);
}

/* function f(n, p) = if n <= 0 then base else body, which calls f(n - 1, e) */
static void add_recursion(gen *g) {
  struct pending pending = {.count = 0};
  struct piece *parts[2];
  const struct rtype *rest = some_type(g, 2);
  struct maker *m = new_function(g, "r", pair_of(g, &base_types[R_INT], rest), NULL);
  m->result = some_type(g, 2);
  m->counts = true;
  g->counter = fresh_name(g);
  declare(g, g->counter, &base_types[R_INT], true);
  const char *p = pattern(g, rest, &pending);
  declare_all(g, &pending);
  parts[0] = make(g, m->result, 2);
  g->self = m;
  g->self_calls = 2;
  parts[1] = make(g, m->result, DEPTH);
  g->self = NULL;
  struct piece *body = piece(
      g, m->result, arena_printf(g->arena, "if %s <= 0 then \1 else \1", g->counter), parts, 2);
  body->least = NULL;
  add_form(g,
           arena_printf(g->arena, "function %s(%s, %s)%s = \1;", m->name, g->counter, p,
                        annotation(g, m->parameter, m->result)),
           body);
  add_function(g, m);
}

/* function f(n, p) = let r = {f(k, e) : k in index(max(n, 0))} in body: it ends where there are
 * no elements. */
static void add_unguarded(gen *g) {
  struct pending pending = {.count = 0};
  struct piece *parts[2];
  const struct rtype *rest = some_type(g, 1);
  struct maker *m = new_function(g, "e", pair_of(g, &base_types[R_INT], rest), some_type(g, 1));
  m->counts = true;
  const char *n = fresh_name(g), *k = fresh_name(g), *r = fresh_name(g);
  declare(g, n, &base_types[R_INT], true);
  const char *p = pattern(g, rest, &pending);
  declare_all(g, &pending);
  parts[0] = make(g, rest, 2);
  declare(g, r, sequence_of(g, m->result), false);
  parts[1] = make(g, m->result, DEPTH - 1);
  struct piece *body = piece(
      g, m->result,
      arena_printf(g->arena, "let %s = {%s(%s, \1) : %s in index(min(max(%s, 0), 3))} in \1", r,
                   m->name, k, k, n),
      parts, 2);
  body->least = NULL;
  add_form(g,
           arena_printf(g->arena, "function %s(%s, %s)%s = \1;", m->name, n, p,
                        annotation(g, m->parameter, m->result)),
           body);
  add_function(g, m);
}

/* function m(p) = (q => body): a maker of closures */
static void add_maker(gen *g) {
  struct pending pending = {.count = 0}, inner = {.count = 0};
  const struct rtype *from = some_type(g, 1), *to = some_type(g, 2);
  struct maker *m = new_function(g, "m", some_type(g, 1), NULL);
  m->result = make_type(g, R_FUNCTION, from, to, m);
  const char *p = pattern(g, m->parameter, &pending);
  declare_all(g, &pending);
  const char *q = pattern(g, from, &inner);
  declare_all(g, &inner);
  struct piece *body = make(g, to, DEPTH - 1);
  const char *type =
      has_function(m->parameter) || has_function(from) || has_function(to)
          ? ""
          : arena_printf(g->arena, " : %s -> (%s -> %s)", type_text_of(g, m->parameter),
                         type_text_of(g, from), type_text_of(g, to));
  add_form(g, arena_printf(g->arena, "function %s(%s)%s = %s => \1;", m->name, p, type, q),
           body);
  add_function(g, m);
}

/* name = value: a global, in scope for all that follows */
static void add_global(gen *g) {
  const struct rtype *type = some_type(g, 2);
  const char *name = arena_printf(g->arena, "g%u", g->names++);
  struct piece *body = make(g, type, DEPTH - 2);
  add_form(g, arena_printf(g->arena, "%s = \1;", name), body);
  declare(g, name, type, true);
}

static void add_forms(gen *g) {
  static void (*const kinds[])(gen *) = {add_datatype,  add_plain, add_plain,     add_recursion,
                                         add_recursion, add_maker, add_unguarded, add_global};
  size_t count = below(g, 6);
  for (size_t i = 0; i < count; i++) {
    size_t globals = g->scope.count;
    void (*add)(gen *) = kinds[below(g, LENGTH(kinds))];
    g->budget = SMALL_BUDGET + (int)below(g, SMALL_BUDGET);
    add(g);
    if (add != add_global) g->scope.count = globals;
  }
  g->budget = BUDGET + (int)below(g, BUDGET);
  add_form(g, "\1;", make(g, some_type(g, 3), DEPTH + 1));
}

struct random_program *random_program(struct arena *arena, uint64_t seed, uint64_t number) {
  struct random_program *program = arena_alloc(arena, sizeof *program);
  program->arena = arena;
  gen g = {.arena = arena, .program = program, .random = seed};
  g.random = next_random(&g.random) ^ number;
  g.risky = chance(&g, 30);
  add_forms(&g);
  return program;
}

/* ---- texts ---- */

static void write_piece(const struct piece *p, FILE *out) {
  size_t next = 0;
  for (const char *c = p->text; *c; c++) {
    if (*c == '\1') {
      write_piece(p->parts[next++], out);
    } else {
      fputc(*c, out);
    }
  }
}

char *random_program_text(const struct random_program *program) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  for (size_t i = 0; i < program->forms.count; i++) {
    if (program->forms.items[i]->text[0] == '\0') continue;
    write_piece(program->forms.items[i], out);
    fputc('\n', out);
  }
  return fclose(out) == 0 ? text : NULL;
}

/* ---- shrinking ---- */

struct shrinking {
  struct random_program *program;
  unsigned left; /* questions */
  random_wanted *wanted;
  void *context;
};

static bool still_wanted(struct shrinking *s) {
  if (s->left == 0) return false;
  s->left--;
  char *text = random_program_text(s->program);
  bool wanted = text && s->wanted(s->context, text);
  free(text);
  return wanted;
}

/* Puts a part of `from` that has the type of *slot into the slot, if that is still wanted. */
static bool hoist(struct shrinking *s, struct piece **slot, const struct piece *from) {
  struct piece *was = *slot;
  for (size_t i = 0; i < from->part_count; i++) {
    struct piece *part = from->parts[i];
    if (was->type && part->type && same(was->type, part->type)) {
      *slot = part;
      if (still_wanted(s)) return true;
      *slot = was;
    }
    if (hoist(s, slot, part)) return true;
  }
  return false;
}

static bool shrink_slot(struct shrinking *s, struct piece **slot) {
  struct piece *was = *slot;
  bool any = false;
  if (was->least && strcmp(was->text, was->least) != 0) {
    struct piece *smallest = arena_alloc(s->program->arena, sizeof *smallest);
    *smallest = (struct piece){was->type, was->least, NULL, 0, was->least};
    *slot = smallest;
    if (still_wanted(s)) return true;
    *slot = was;
  }
  while (s->left > 0 && hoist(s, slot, *slot)) any = true;
  for (size_t i = 0; i < (*slot)->part_count; i++) {
    any |= shrink_slot(s, &(*slot)->parts[i]);
  }
  return any;
}

void random_program_shrink(struct random_program *program, unsigned most, random_wanted *wanted,
                           void *context) {
  struct shrinking s = {program, most, wanted, context};
  bool any = true;
  while (any && s.left > 0) {
    any = false;
    for (size_t i = program->forms.count; i-- > 0;) {
      any |= shrink_slot(&s, &program->forms.items[i]);
    }
  }
}
