/* random-nesl-types.c - random programs: types, nodes, names and scopes. */
#include "commands/tests/random-nesl-private.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

uint64_t next_random(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* ---- types ---- */

const struct rtype base_types[4] = {
    {R_INT, NULL, NULL, NULL},
    {R_FLOAT, NULL, NULL, NULL},
    {R_BOOL, NULL, NULL, NULL},
    {R_CHAR, NULL, NULL, NULL},
};

bool same(const struct rtype *a, const struct rtype *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->constructor != b->constructor) return false;
  if (a->kind == R_SEQUENCE) return same(a->left, b->left);
  if (a->kind == R_PAIR) return same(a->left, b->left) && same(a->right, b->right);
  return a->constructor != NULL || a->kind < R_SEQUENCE;
}

bool has_function(const struct rtype *t) {
  switch (t->kind) {
  case R_FUNCTION: return true;
  case R_SEQUENCE: return has_function(t->left);
  case R_PAIR: return has_function(t->left) || has_function(t->right);
  case R_DATA: return has_function(t->constructor->parameter);
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
  case R_DATA: fputs(t->constructor->name, out); break;
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
unsigned below(gen *g, unsigned n) {
  return (unsigned)(next_random(&g->random) % n);
}

bool chance(gen *g, unsigned percent) {
  return below(g, 100) < percent;
}

const struct rtype *make_type(gen *g, enum rtype_kind kind, const struct rtype *left,
                              const struct rtype *right, const struct function *constructor) {
  struct rtype *t = arena_alloc(g->arena, sizeof *t);
  *t = (struct rtype){kind, left, right, constructor};
  return t;
}

const struct rtype *sequence_of(gen *g, const struct rtype *t) {
  return make_type(g, R_SEQUENCE, t, NULL, NULL);
}

const struct rtype *pair_of(gen *g, const struct rtype *a, const struct rtype *b) {
  return make_type(g, R_PAIR, a, b, NULL);
}

/* A type of at most this many nested sequences. */
const struct rtype *some_type(gen *g, unsigned nesting) {
  unsigned k = below(g, 20);
  if (k < (g->nested ? 7 : 4) && nesting > 0) return sequence_of(g, some_type(g, nesting - 1));
  if (k < (g->nested ? 9 : 7) && nesting > 0) {
    const struct rtype *left = some_type(g, nesting - 1);
    return pair_of(g, left, some_type(g, nesting - 1));
  }
  if (k < (g->nested ? 11 : 9) && g->functions.count > 0) {
    const struct function *f = g->functions.items[below(g, (unsigned)g->functions.count)];
    if (f->result->kind == R_DATA || f->result->kind == R_FUNCTION) return f->result;
  }
  return &base_types[k < 13 ? R_INT : k < 16 ? R_FLOAT : k < 18 ? R_BOOL : R_CHAR];
}

char *type_text_of(gen *g, const struct rtype *t) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) memory_failed();
  write_type(t, out);
  fclose(out);
  char *copy = arena_copy(g->arena, text, size);
  free(text);
  return copy;
}

/* The least expression of a type, as text. */
const char *least(gen *g, const struct rtype *t) {
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
  return arena_printf(g->arena, "%s(%s)", t->constructor->name,
                      least(g, t->constructor->parameter));
}
struct node *node(gen *g, const struct rtype *type, const char *text, struct node **parts,
                  size_t count) {
  struct node *p = arena_alloc(g->arena, sizeof *p);
  *p = (struct node){type, text, arena_alloc(g->arena, (count + 1) * sizeof *parts), count,
                     type ? least(g, type) : ""};
  if (count > 0) memcpy(p->parts, parts, count * sizeof *parts);
  return p;
}
/* ---- names ---- */

const char *fresh_name(gen *g) {
  return arena_printf(g->arena, "v%u", g->names++);
}

/* A new name, or now and then one that hides another. */
static const char *types_some_name(gen *g) {
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

void declare(gen *g, const char *name, const struct rtype *type, bool kept) {
  *array_push(g->arena, &g->scope) = (struct variable){name, type, kept};
}

static bool is_pending(const struct pending *p, const char *name) {
  for (size_t i = 0; i < p->count; i++) {
    if (strcmp(p->items[i].name, name) == 0) return true;
  }
  return false;
}

/* The text of a pattern for a type. */
const char *pattern(gen *g, const struct rtype *t, struct pending *p) {
  bool room = p->count + 4 < MOST_PARTS;
  if (t->kind == R_PAIR && room && chance(g, 60)) {
    const char *left = pattern(g, t->left, p);
    return arena_printf(g->arena, "(%s, %s)", left, pattern(g, t->right, p));
  }
  if (t->kind == R_DATA && room && chance(g, 60)) {
    return arena_printf(g->arena, "%s(%s)", t->constructor->name,
                        pattern(g, t->constructor->parameter, p));
  }
  const char *name = types_some_name(g);
  if (is_pending(p, name)) name = fresh_name(g);
  p->items[p->count++] = (struct variable){name, t, false};
  return name;
}

void declare_all(gen *g, struct pending *p) {
  for (size_t i = 0; i < p->count; i++) declare(g, p->items[i].name, p->items[i].type, false);
  p->count = 0;
}

/* A variable in scope of this type (or, if `result`, a function with this result); NULL: none.
 */
const struct variable *variable_of(gen *g, const struct rtype *t, bool result) {
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
