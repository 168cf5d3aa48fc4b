/* nesl-cost.c - the cost of an evaluation: work and depth of the language's cost model (NESL
 * specification, section 8), counted by the direct interpreter, and work, steps, instructions
 * and time of the compiled program.
 */
#include "commands/nesl.h"
#include "commands/output.h"
#include "commands/process.h"

#include <errno.h>
#include <stdlib.h>

/* The other evaluator, and whether a form failed. */
struct costs {
  struct evaluator *direct, *compiled;
  bool failed;
};

static void print_costs(struct nesl *n, const struct direct_cost *model,
                        const struct machine_totals *before,
                        const struct machine_totals *after) {
  fprintf(n->out,
          "\n"
          "                         work         depth\n"
          "in the model  %15.0f  %12.0f\n"
          "\n"
          "                         work         steps  instructions       seconds\n"
          "as compiled   %15llu  %12llu  %12llu  %12.6f\n",
          model->work, model->depth, (unsigned long long)(after->work - before->work),
          (unsigned long long)(after->steps - before->steps),
          (unsigned long long)(after->instructions - before->instructions),
          after->seconds - before->seconds);
}

/* After the direct evaluation of a form: evaluates it compiled, and prints its result. */
static bool compare_costs(struct nesl *n, void *context, const struct nesl_done *it) {
  struct costs *costs = context;
  unsigned failed = 0;
  if (it->outcome.error != NESL_OK) {
    costs->failed = true;
    return nesl_print_done(n, &failed, it);
  }
  const struct direct_cost model = evaluator_cost(costs->direct);
  const struct machine_totals before = evaluator_totals(costs->compiled);
  n->evaluator = costs->compiled;
  struct nesl_done compiled = *it;
  compiled.outcome = nesl_execute(n, it->form);
  n->evaluator = costs->direct;
  nesl_print_done(n, &failed, &compiled);
  nesl_outcome_free(&compiled.outcome);
  const struct machine_totals after = evaluator_totals(costs->compiled);
  if (failed == 0 && it->form->kind == FORM_EXPRESSION) {
    print_costs(n, &model, &before, &after);
  }
  costs->failed |= failed > 0;
  return failed == 0;
}

/* The direct evaluator, whose output goes nowhere: what is printed comes from the compiled run.
 * The options are filled in, and belong to it. NULL after complaining. */
static struct evaluator *open_direct(struct nesl *n, struct nesl_options *silent) {
  *silent = *n->options;
  silent->machine.out = fopen("/dev/null", "w");
  struct evaluator *direct = NULL;
  if (silent->machine.out) {
    direct = evaluator_direct(silent, &n->diags);
  } else {
    output_complain(&n->diags, "/dev/null", errno);
  }
  if (!direct) nesl_complain(n);
  return direct;
}

static void close_cost_evaluator(struct evaluator *direct, struct nesl_options *silent) {
  if (direct) direct->close(direct);
  if (silent->machine.out) fclose(silent->machine.out);
}

int nesl_cost(struct nesl *n, const struct source *source) {
  struct nesl_options silent;
  struct costs costs = {.compiled = n->evaluator, .direct = open_direct(n, &silent)};
  costs.failed = !costs.direct;
  if (costs.direct) {
    n->evaluator = costs.direct;
    nesl_each_form(n, source, compare_costs, &costs, NULL);
    n->evaluator = costs.compiled;
  }
  close_cost_evaluator(costs.direct, &silent);
  return costs.failed ? STATUS_FAILED : STATUS_DONE;
}

bool nesl_cost_of(struct nesl *n, const struct form *form, struct evaluator *profiled) {
  struct nesl_options silent;
  struct evaluator *direct = open_direct(n, &silent);
  bool fine = direct && nesl_evaluate_with(n, direct, form, false);
  const struct direct_cost model = fine ? evaluator_cost(direct) : (struct direct_cost){0};
  close_cost_evaluator(direct, &silent);
  const struct machine_totals none = {0};
  fine = fine && nesl_evaluate_with(n, profiled, form, true);
  const struct machine_totals totals = evaluator_totals(profiled);
  if (fine) print_costs(n, &model, &none, &totals);
  return fine;
}
