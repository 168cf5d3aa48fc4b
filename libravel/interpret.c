/* interpret.c - a call in the reference interpreter of NESL, on values of the host. */
#include "libravel/private.h"

#include "neslc/reference/direct.h"

#include <string.h>

/* ---- arguments ---- */

static bool fetch_argument(struct ravel_context *c, const struct ravel_value *v,
                           struct nesl_value *value) {
  struct arena *arena = c->session->arena;
  struct column_kinds kinds = {.arena = arena};
  value_columns(v->type, &kinds);
  *value = (struct nesl_value){.type = v->type, .count = v->count};
  value->columns = arena_alloc(arena, (v->count + 1) * sizeof *value->columns);
  for (uint32_t i = 0; i < v->count; i++) {
    if (!ravel_fetch(c, &v->columns[i], kinds.list.items[i], &value->columns[i])) return false;
  }
  return true;
}

bool ravel_fetch_arguments(struct ravel_context *c, struct ravel_calling *call) {
  call->values = arena_alloc(c->session->arena, (call->count + 1) * sizeof *call->values);
  for (size_t i = 0; i < call->count; i++) {
    if (!fetch_argument(c, call->arguments[i], &call->values[i])) return false;
  }
  return true;
}

/* ---- the call as an expression ---- */

static struct core *new_core_node(const struct ravel_calling *call, struct arena *arena,
                                  enum core_kind kind, struct type *type) {
  return core_new(arena, kind, type, call->f->whole->source, call->f->whole->at);
}

/* Makes a variable of an argument. */
static struct core *argument_node(struct ravel_context *c, const struct ravel_calling *call,
                                  size_t i) {
  struct arena *arena = c->session->arena;
  struct core *e = new_core_node(call, arena, CORE_GLOBAL, call->values[i].type);
  struct global *variable = arena_alloc(arena, sizeof *variable);
  *variable = (struct global){.name = call->f->callee->name,
                              .kind = GLOBAL_VARIABLE,
                              .primitive = -1,
                              .scheme = {.type = call->values[i].type},
                              .value = call->values[i]};
  e->as.use.global = variable;
  return e;
}

static struct core *arguments_node(struct ravel_context *c, const struct ravel_calling *call,
                                   size_t i) {
  struct core *first = argument_node(c, call, i);
  if (i + 1 == call->count) return first;
  struct core *pair = new_core_node(call, c->session->arena, CORE_PAIR, call->f->rest[i]);
  pair->as.part.left = first;
  pair->as.part.right = arguments_node(c, call, i + 1);
  return pair;
}

/* Makes a node of the function at the types of its arguments. */
static struct core *callee_node(struct ravel_context *c, const struct ravel_calling *call) {
  struct arena *arena = c->session->arena;
  struct global *g = call->f->callee;
  struct type **types = arena_alloc(arena, (g->scheme.count + 1) * sizeof *types), *a, *b;
  struct type *type = type_of(type_instantiate(arena, &g->scheme, types));
  (void)type_unify(arena, type->part[0], call->f->rest[0], &a, &b); /* as when compiled */
  for (uint32_t i = 0; i < g->scheme.count; i++) {
    types[i] = type_ground(arena, types[i], 0, NULL);
  }
  struct core *e = new_core_node(call, arena, CORE_GLOBAL, type);
  e->as.use.global = g;
  e->as.use.count = g->scheme.count;
  e->as.use.arguments = types;
  return e;
}

static struct core *call_node(struct ravel_context *c, const struct ravel_calling *call) {
  if (!call->f->callee) return call->f->whole; /* an expression without parameters */
  struct core *e = new_core_node(call, c->session->arena, CORE_APPLY, call->f->gives);
  e->as.part.left = callee_node(c, call);
  e->as.part.right = arguments_node(c, call, 0);
  return e;
}

bool ravel_interpret(struct ravel_context *c, const struct ravel_calling *call,
                     const struct direct_options *options, struct complaints *complaints,
                     struct direct_cost *cost) {
  const struct checked expression = {.value = call_node(c, call),
                                     .local_count = call->f->local_count};
  struct direct_random random = {call->seed, call->randoms};
  struct direct_options all = *options;
  struct nesl_value result;
  all.out = c->out;
  all.widths = &c->options.machine.widths;
  all.most_depth = c->options.machine.max_depth;
  all.random = &random;
  all.stop = &c->stop;
  return direct_evaluate(c->session, &expression, &all, complaints, &result, cost);
}
