/* cost.c - what a call costs: in the model of the language, counted by the reference
 * interpreter, and as compiled.
 */
#include "libravel/private.h"

#include "neslc/reference/direct.h"

#include <math.h>

struct costing {
  struct ravel_calling call;
  struct machine_item *items; /* columns of the arguments, on the host */
  uint64_t item_count;
  struct ravel_costs costs;
};

static bool fetch_all(struct ravel_context *c, struct costing *k) {
  static const uint8_t item_kinds[] = {[COLUMN_INT] = MACHINE_INT,
                                       [COLUMN_FLOAT] = MACHINE_FLOAT,
                                       [COLUMN_BOOL] = MACHINE_BOOL,
                                       [COLUMN_SEGDES] = MACHINE_SEGDES};
  ARRAY(struct machine_item) items = {0};
  if (!ravel_fetch_arguments(c, &k->call)) return false;
  for (size_t i = 0; i < k->call.count; i++) {
    for (uint32_t n = 0; n < k->call.values[i].count; n++) {
      const struct column *column = &k->call.values[i].columns[n];
      *array_push(c->session->arena, &items) =
          (struct machine_item){.kind = item_kinds[column->kind],
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
  const enum machine_outcome outcome = machine_repeat(c->machine, k->call.f->program, k->items,
                                                      k->item_count, &r, &results, &reported);
  machine_results_free(c->machine, &results);
  if (outcome != MACHINE_DONE) return ravel_fail_run(c, k->call.f, outcome, &reported);
  k->costs.compiled_work = r.totals.work;
  k->costs.compiled_steps = r.totals.steps;
  k->costs.instructions = r.totals.instructions;
  k->costs.seconds = seconds;
  return RAVEL_OK;
}

static enum ravel_code run_model(struct ravel_context *c, struct costing *k) {
  struct complaints complaints = {.diags = c->diags};
  struct direct_cost cost;
  const struct direct_options options = {.most_steps = 0};
  const uint64_t failures = atomic_load(&c->heap.failures);
  machine_random(c->machine, &k->call.seed, &k->call.randoms);
  if (!ravel_interpret(c, &k->call, &options, &complaints, &cost)) {
    return ravel_fail_work(c, ravel_code_of(complaints.first), failures);
  }
  k->costs.work = cost.work;
  k->costs.depth = cost.depth;
  return RAVEL_OK;
}

/* ---- both ---- */

static enum ravel_code measure_cost(struct ravel_context *c, void *data) {
  struct costing *k = data;
  if (!fetch_all(c, k)) return ravel_fail_machine(c);
  const enum ravel_code code = run_compiled(c, k);
  if (code != RAVEL_OK) return code;
  if (k->call.f->whole) return run_model(c, k);
  k->costs.work = k->costs.depth = NAN;
  return RAVEL_OK;
}

static enum ravel_code measure_in_form(struct ravel_context *c, void *data) {
  return ravel_in_form(c, measure_cost, data);
}

enum ravel_code ravel_cost(struct ravel_context *c, const struct ravel_function *f,
                           struct ravel_value *const *arguments, size_t count,
                           struct ravel_costs *costs) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  struct costing k = {.call = {.f = f, .arguments = arguments, .count = count}};
  enum ravel_code code = ravel_check_call(c, f, arguments, count, costs);
  ravel_set_silent(c, true); /* the program runs several times */
  if (code == RAVEL_OK) code = ravel_deep(c, measure_in_form, &k);
  ravel_set_silent(c, false);
  if (code == RAVEL_OK) *costs = k.costs;
  return code;
}
