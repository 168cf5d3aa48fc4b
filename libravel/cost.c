/* cost.c - what a call costs: in the model of the language, counted by the direct interpreter,
 * and as compiled.
 */
#include "libravel/private.h"

#include "neslc/direct.h"

#include <math.h>
#include <string.h>

struct costing {
  const struct ravel_function *f;
  struct ravel_value *const *arguments;
  size_t count;
  struct nesl_value *values;  /* of the arguments, on the host */
  struct machine_item *items; /* their columns */
  uint64_t item_count;
  struct ravel_costs costs;
};

/* ---- arguments ---- */

static bool fetch(struct ravel_context *c, const struct ravel_value *v,
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

static bool fetch_all(struct ravel_context *c, struct costing *k) {
  static const uint8_t item_kinds[] = {[COLUMN_INT] = MACHINE_INT,
                                       [COLUMN_FLOAT] = MACHINE_FLOAT,
                                       [COLUMN_BOOL] = MACHINE_BOOL,
                                       [COLUMN_SEGDES] = MACHINE_SEGDES};
  struct arena *arena = c->session->arena;
  ARRAY(struct machine_item) items = {0};
  k->values = arena_alloc(arena, (k->count + 1) * sizeof *k->values);
  for (size_t i = 0; i < k->count; i++) {
    if (!fetch(c, k->arguments[i], &k->values[i])) return false;
    for (uint32_t n = 0; n < k->values[i].count; n++) {
      const struct column *column = &k->values[i].columns[n];
      *array_push(arena, &items) = (struct machine_item){.kind = item_kinds[column->kind],
                                                         .length = column->length,
                                                         .as.ints = column->as.ints};
    }
  }
  k->items = items.items;
  k->item_count = items.count;
  return true;
}

/* ---- as compiled ---- */

static enum ravel_code run_compiled(struct ravel_context *c, struct costing *k) {
  double seconds = 0;
  struct machine_repetition r = {.runs = 1, .counts = true, .uncut = true, .seconds = &seconds};
  struct machine_results results;
  struct diag_list reported;
  diag_list_init(&reported, c->diags->arena);
  atomic_store(&c->refused, false);
  c->printed.length = 0;
  const enum machine_outcome outcome = machine_repeat(c->machine, k->f->program, k->items,
                                                      k->item_count, &r, &results, &reported);
  machine_results_free(c->machine, &results);
  if (outcome != MACHINE_DONE) return ravel_fail_run(c, k->f, outcome, &reported);
  k->costs.compiled_work = r.totals.work;
  k->costs.compiled_steps = r.totals.steps;
  k->costs.instructions = r.totals.instructions;
  k->costs.seconds = seconds;
  return RAVEL_OK;
}

/* ---- in the model ---- */

static struct core *node(const struct costing *k, struct arena *arena, enum core_kind kind,
                         struct type *type) {
  return core_new(arena, kind, type, k->f->whole->source, k->f->whole->at);
}

/* An argument as a variable. */
static struct core *argument_node(struct ravel_context *c, const struct costing *k, size_t i) {
  struct arena *arena = c->session->arena;
  struct core *e = node(k, arena, CORE_GLOBAL, k->values[i].type);
  struct global *variable = arena_alloc(arena, sizeof *variable);
  *variable = (struct global){.name = k->f->callee->name,
                              .kind = GLOBAL_VARIABLE,
                              .primitive = -1,
                              .scheme = {.type = k->values[i].type},
                              .value = k->values[i]};
  e->as.use.global = variable;
  return e;
}

static struct core *arguments_node(struct ravel_context *c, const struct costing *k, size_t i) {
  struct core *first = argument_node(c, k, i);
  if (i + 1 == k->count) return first;
  struct core *pair = node(k, c->session->arena, CORE_PAIR, k->f->rest[i]);
  pair->as.part.left = first;
  pair->as.part.right = arguments_node(c, k, i + 1);
  return pair;
}

/* The function at the types of its arguments. */
static struct core *callee_node(struct ravel_context *c, const struct costing *k) {
  struct arena *arena = c->session->arena;
  struct global *g = k->f->callee;
  struct type **types = arena_alloc(arena, (g->scheme.count + 1) * sizeof *types), *a, *b;
  struct type *type = type_of(type_instantiate(arena, &g->scheme, types));
  (void)type_unify(arena, type->part[0], k->f->rest[0], &a, &b); /* as when it was compiled */
  for (uint32_t i = 0; i < g->scheme.count; i++) {
    types[i] = type_ground(arena, types[i], 0, NULL);
  }
  struct core *e = node(k, arena, CORE_GLOBAL, type);
  e->as.use.global = g;
  e->as.use.count = g->scheme.count;
  e->as.use.arguments = types;
  return e;
}

static struct core *call_node(struct ravel_context *c, const struct costing *k) {
  if (!k->f->callee) return k->f->whole; /* an expression without parameters */
  struct core *e = node(k, c->session->arena, CORE_APPLY, k->f->gives);
  e->as.part.left = callee_node(c, k);
  e->as.part.right = arguments_node(c, k, 0);
  return e;
}

static enum ravel_code run_model(struct ravel_context *c, struct costing *k) {
  struct complaints complaints = {.diags = c->diags};
  struct direct_random random;
  struct direct_cost cost;
  struct nesl_value result;
  const struct direct_options options = {.out = c->out,
                                         .widths = &c->options.machine.widths,
                                         .most_depth = c->options.machine.max_depth,
                                         .random = &random,
                                         .stop = &c->stop};
  const struct checked call = {.value = call_node(c, k), .local_count = k->f->local_count};
  const uint64_t failures = atomic_load(&c->heap.failures);
  machine_random(c->machine, &random.seed, &random.calls);
  if (!direct_evaluate(c->session, &call, &options, &complaints, &result, &cost)) {
    return ravel_fail_work(c, ravel_code_of(complaints.first), failures);
  }
  k->costs.work = cost.work;
  k->costs.depth = cost.depth;
  return RAVEL_OK;
}

/* ---- both ---- */

static enum ravel_code measure(struct ravel_context *c, void *data) {
  struct costing *k = data;
  if (!fetch_all(c, k)) return ravel_fail_machine(c);
  const enum ravel_code code = run_compiled(c, k);
  if (code != RAVEL_OK) return code;
  if (k->f->whole) return run_model(c, k);
  k->costs.work = k->costs.depth = NAN;
  return RAVEL_OK;
}

static enum ravel_code measure_in_form(struct ravel_context *c, void *data) {
  return ravel_in_form(c, measure, data);
}

enum ravel_code ravel_cost(struct ravel_context *c, const struct ravel_function *f,
                           struct ravel_value *const *arguments, size_t count,
                           struct ravel_costs *costs) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  struct costing k = {.f = f, .arguments = arguments, .count = count};
  enum ravel_code code = ravel_check_call(c, f, arguments, count, costs);
  if (code == RAVEL_OK) code = ravel_deep(c, measure_in_form, &k);
  if (code == RAVEL_OK) *costs = k.costs;
  return code;
}
