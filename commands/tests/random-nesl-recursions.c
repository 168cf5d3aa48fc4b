/* random-nesl-recursions.c - random programs: recursive functions on scalars that are applied
 * to each element, which the optimiser converts to loops. Some results are not used, or only
 * some of several; some arguments are only passed on; recursions are next to each other, or of
 * two functions that call each other.
 */
#include "commands/tests/random-nesl-private.h"

enum { SHALLOW = 2, MOST_SCALARS = 4 };

/* A base type, or up to MOST_SCALARS of them in pairs. */
static const struct rtype *some_scalars(gen *g) {
  const struct rtype *t = NULL;
  for (unsigned i = 1 + below(g, MOST_SCALARS); i > 0; i--) {
    const struct rtype *one = some_type(g, 0);
    while (one->kind > R_CHAR) one = some_type(g, 0);
    t = t ? pair_of(g, one, t) : one;
  }
  return t;
}

/* Mostly variables and literals. */
static struct node *recursions_argument(gen *g, const struct rtype *type) {
  if (type->kind == R_PAIR && chance(g, 80)) {
    struct node *parts[2] = {recursions_argument(g, type->left), NULL};
    parts[1] = recursions_argument(g, type->right);
    return node(g, type, "(\1, \1)", parts, 2);
  }
  return chance(g, 60) ? leaf(g, type) : make(g, type, SHALLOW);
}

/* callee(count, e) */
static struct node *recursions_call_of(gen *g, const struct function *callee,
                                       const char *count) {
  struct node *part = recursions_argument(g, callee->parameter->right);
  struct node *call = node(g, callee->result,
                           arena_printf(g->arena, "%s(%s, \1)", callee->name, count), &part, 1);
  return call;
}

/* A function that counts, if there is one. */
static const struct function *some_counting(gen *g) {
  const struct function *found = NULL;
  unsigned count = 0;
  for (size_t i = 0; i < g->functions.count; i++) {
    const struct function *f = g->functions.items[i];
    if (f->counts && below(g, ++count) == 0) found = f;
  }
  return found;
}

/* (let v = call in e), where e may use the parts of v, or not. */
static struct node *with_result(gen *g, struct node *call, bool used,
                                struct node *body(gen *, void *), void *context) {
  struct pending pending = {.count = 0};
  struct node *parts[2] = {call, NULL};
  const size_t outside = g->scope.count;
  const char *p = used ? pattern(g, call->type, &pending) : fresh_name(g);
  declare_all(g, &pending);
  parts[1] = body(g, context);
  g->scope.count = outside;
  return node(g, parts[1]->type, arena_printf(g->arena, "(let %s = \1 in \1)", p), parts, 2);
}

static struct node *plain_end(gen *g, void *type) {
  return recursions_argument(g, type);
}

/* The call of the function at the end. */
static struct node *tail(gen *g, void *callee) {
  const char *count = arena_printf(g->arena, "%s - %u", g->counter, 1 + below(g, 2));
  return recursions_call_of(g, callee, count);
}

static struct node *branches(gen *g, const struct function *callee) {
  struct node *parts[3];
  parts[0] = make(g, &base_types[R_BOOL], SHALLOW);
  parts[1] = tail(g, (void *)callee);
  parts[2] = chance(g, 50) ? tail(g, (void *)callee) : recursions_argument(g, callee->result);
  return node(g, callee->result, "(if \1 then \1 else \1)", parts, 3);
}

/* The end of a function that continues with `callee`, which is itself or its partner. */
static struct node *some_end(gen *g, void *context) {
  const struct function *callee = context, *other = some_counting(g);
  void *result = (void *)callee->result;
  switch (below(g, 6)) {
  case 0: return branches(g, callee);
  case 1: return with_result(g, tail(g, context), false, plain_end, result);
  case 2: return with_result(g, tail(g, context), true, plain_end, result);
  case 3: return with_result(g, tail(g, context), chance(g, 50), tail, context);
  case 4:
    if (!other) break;
    return with_result(g, recursions_call_of(g, other, chance(g, 50) ? "2" : "1"),
                       chance(g, 50), tail, context);
  default: break;
  }
  return tail(g, context);
}

/* function f(n, p) = if n <= 0 then base else end */
static void add_counting(gen *g, const struct function *f, const struct function *callee) {
  struct pending pending = {.count = 0};
  struct node *parts[2];
  g->counter = fresh_name(g);
  declare(g, g->counter, &base_types[R_INT], true);
  const char *p = pattern(g, f->parameter->right, &pending);
  declare_all(g, &pending);
  parts[0] = recursions_argument(g, f->result);
  parts[1] = some_end(g, (void *)callee);
  struct node *body = node(
      g, f->result, arena_printf(g->arena, "if %s <= 0 then \1 else \1", g->counter), parts, 2);
  body->least = NULL;
  add_form(g,
           arena_printf(g->arena, "function %s(%s, %s)%s = \1;", f->name, g->counter, p,
                        annotation(g, f->parameter, f->result)),
           body);
}

void add_scalars(gen *g) {
  const struct rtype *parameter = pair_of(g, &base_types[R_INT], some_scalars(g));
  struct function *f = new_function(g, "s", parameter, some_scalars(g));
  f->counts = true;
  add_counting(g, f, f);
  add_function(g, f);
}

void add_partners(gen *g) {
  const struct rtype *parameter = pair_of(g, &base_types[R_INT], some_scalars(g));
  const struct rtype *result = some_scalars(g);
  const size_t outside = g->scope.count;
  struct function *two[2];
  for (int i = 0; i < 2; i++) two[i] = new_function(g, "p", parameter, result);
  add_form(g,
           arena_printf(g->arena, "function %s(n, x)%s;", two[1]->name,
                        annotation(g, parameter, result)),
           NULL);
  for (int i = 0; i < 2; i++) {
    add_counting(g, two[i], two[1 - i]);
    g->scope.count = outside;
  }
  for (int i = 0; i < 2; i++) {
    two[i]->counts = true;
    add_function(g, two[i]);
  }
}

/* ---- applied to each ---- */

static struct node *beside(gen *g, void *element) {
  const struct function *other = some_counting(g);
  return recursions_call_of(g, other,
                            arena_printf(g->arena, "mod(%s + 1, 4)", (const char *)element));
}

struct node *applied(gen *g) {
  const struct function *f = some_counting(g);
  if (!f) return NULL;
  struct node *parts[2];
  const size_t outside = g->scope.count;
  const struct rtype *ints = sequence_of(g, &base_types[R_INT]);
  parts[1] = chance(g, 50) ? leaf(g, ints) : make(g, ints, SHALLOW);
  const char *element = fresh_name(g);
  declare(g, element, &base_types[R_INT], true);
  struct node *call = recursions_call_of(g, f, arena_printf(g->arena, "mod(%s, 6)", element));
  const bool used = chance(g, 50);
  switch (below(g, 4)) {
  case 0: parts[0] = with_result(g, call, used, beside, (void *)element); break;
  case 1: parts[0] = with_result(g, call, used, plain_end, (void *)some_scalars(g)); break;
  case 2: {
    struct node *both[2] = {call, beside(g, (void *)element)};
    parts[0] = node(g, pair_of(g, call->type, both[1]->type), "(\1, \1)", both, 2);
    break;
  }
  default: parts[0] = call; break;
  }
  g->scope.count = outside;
  return node(g, sequence_of(g, parts[0]->type),
              arena_printf(g->arena, "{\1 : %s in \1}", element), parts, 2);
}
