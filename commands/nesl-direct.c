/* nesl-direct.c - evaluates forms with the interpreter of the unflattened semantics. */
#include "commands/nesl-evaluate.h"
#include "neslc/reference/direct.h"

#include <stdlib.h>

struct direct_evaluator {
  struct evaluator base;
  struct direct_options options;
  struct direct_random random;
  struct direct_cost cost; /* of the latest evaluation */
};

static bool evaluate_direct(struct evaluator *base, const struct evaluation *e,
                            struct nesl_value *value) {
  struct direct_evaluator *d = (struct direct_evaluator *)base;
  d->cost = (struct direct_cost){0};
  return direct_evaluate(e->session, e->form, &d->options, e->complaints, value, &d->cost);
}

static void release_direct(struct evaluator *base) {
  (void)base; /* values are the session's */
}

static void close_direct_evaluator(struct evaluator *base) {
  free(base);
}

struct direct_cost evaluator_cost(const struct evaluator *base) {
  return ((const struct direct_evaluator *)base)->cost;
}

void evaluator_trace(struct evaluator *base, const struct direct_trace *trace) {
  ((struct direct_evaluator *)base)->options.trace = trace;
}

struct evaluator *evaluator_direct(const struct nesl_options *options,
                                   struct diag_list *diags) {
  struct direct_evaluator *d = calloc(1, sizeof *d);
  if (!d) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL, "out of memory");
    return NULL;
  }
  d->base =
      (struct evaluator){evaluate_direct, release_direct, close_direct_evaluator, NULL, 0};
  d->random.seed = options->machine.seed;
  d->options = (struct direct_options){.out = options->machine.out,
                                       .widths = &options->widths,
                                       .most_depth = options->machine.max_depth,
                                       .random = &d->random,
                                       .stop = options->machine.stop,
                                       .arguments = options->machine.arguments,
                                       .argument_count = options->machine.argument_count};
  return &d->base;
}
