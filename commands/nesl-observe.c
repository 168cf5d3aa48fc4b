/* nesl-observe.c - commands of the prompt that evaluate an expression and say more about that
 * than its value: cost, profile, time, trace.
 */
#include "commands/nesl.h"
#include "commands/process.h"

#include <string.h>

/* ---- evaluations within a command ---- */

/* Prints the complaints now; the command that contains the evaluation has none of its own. */
static void complain_now(struct nesl *n, enum nesl_error error) {
  nesl_complain(n);
  nesl_forget(n);
  n->complaints.first = error;
}

bool nesl_evaluate_with(struct nesl *n, struct evaluator *evaluator, const struct form *form,
                        bool shows) {
  struct evaluator *const usual = n->evaluator;
  const bool outer = n->shows;
  unsigned failed = 0;
  n->evaluator = evaluator;
  n->shows = shows;
  struct nesl_done it = {.form = form, .outcome = nesl_execute(n, form)};
  n->evaluator = usual;
  n->shows = outer;
  if (it.outcome.error == NESL_OK) {
    nesl_print_done(n, &failed, &it);
  } else {
    complain_now(n, it.outcome.error);
  }
  const bool fine = it.outcome.error == NESL_OK && failed == 0;
  nesl_outcome_free(&it.outcome);
  return fine;
}

/* ---- cost, profile ---- */

typedef bool observed(struct nesl *, const struct form *, struct evaluator *profiled);

static bool profile_of(struct nesl *n, const struct form *form, struct evaluator *profiled) {
  if (!nesl_evaluate_with(n, profiled, form, true)) return false;
  fputc('\n', n->out);
  evaluator_profile(profiled, n->out);
  return true;
}

/* With a machine of its own, which counts. Random numbers begin anew. */
static bool observe_machine(struct nesl *n, const struct form *form, observed *observe) {
  struct nesl_options options = *n->options;
  options.machine.profile = true;
  if (observe == nesl_cost_of) nesl_count_costs(&options.machine);
  struct evaluator *profiled = evaluator_compiled(&options, &n->heap, &n->diags);
  if (!profiled) return false;
  const bool fine = observe(n, form, profiled);
  profiled->close(profiled);
  return fine;
}

/* ---- time ---- */

static bool time_of(struct nesl *n, const struct form *form) {
  const double before = stop_clock(), ran = n->evaluator->seconds;
  if (!nesl_evaluate_with(n, n->evaluator, form, true)) return false;
  const double whole = stop_clock() - before;
  if (n->options->direct) {
    fprintf(n->out, "%.6f s\n", whole);
  } else {
    fprintf(n->out, "%.6f s, of which the compiled program took %.6f s\n", whole,
            n->evaluator->seconds - ran);
  }
  return true;
}

/* ---- trace ---- */

/* A trace shows at most so many calls, nested so deep, and so many elements of each value. */
enum { TRACE_CALLS = 200, TRACE_DEPTH = 8, TRACE_ELEMENTS = 10 };

struct tracing {
  FILE *out;
  struct value_layout layout;
  unsigned calls;   /* printed */
  bool open, ended; /* the latest line is a call without its result; there are too many calls */
};

static bool wants_call(void *context) {
  struct tracing *t = context;
  t->ended |= t->calls == TRACE_CALLS;
  t->calls += !t->ended;
  return !t->ended;
}

static void trace_call(void *context, unsigned depth, const char *name,
                       const struct nesl_value *argument) {
  struct tracing *t = context;
  const bool pair = type_of(argument->type)->tag == TYPE_PAIR; /* it has its own parentheses */
  fprintf(t->out, "%s%*s%s%s", t->open ? "\n" : "", (int)(2 * depth), "", name,
          pair ? "" : "(");
  value_show(argument, &t->layout, t->out);
  if (!pair) fputc(')', t->out);
  t->open = true;
}

static void trace_result(void *context, unsigned depth, const struct nesl_value *result) {
  struct tracing *t = context;
  const bool open = t->open;
  t->open = false;
  if (!result) {
    if (open) fputs(" fails\n", t->out); /* the innermost one */
    return;
  }
  fprintf(t->out, "%*s= ", open ? 1 : (int)(2 * depth), "");
  value_show(result, &t->layout, t->out);
  fputc('\n', t->out);
}

static bool trace_of(struct nesl *n, const struct form *form) {
  struct tracing t = {.out = n->out, .layout = nesl_layout(n)};
  t.layout.most_elements = TRACE_ELEMENTS;
  const struct direct_trace trace = {wants_call, trace_call, trace_result, &t, TRACE_DEPTH};
  struct evaluator *direct = evaluator_direct(n->options, &n->diags);
  if (!direct) return false;
  evaluator_trace(direct, &trace);
  const bool fine = nesl_evaluate_with(n, direct, form, true);
  if (t.ended) fprintf(n->out, "The trace shows the first %d calls.\n", TRACE_CALLS);
  direct->close(direct);
  return fine;
}

bool nesl_observe(struct nesl *n, const char *command, const struct form *form) {
  if (strcmp(command, "cost") == 0) return observe_machine(n, form, nesl_cost_of);
  if (strcmp(command, "profile") == 0) return observe_machine(n, form, profile_of);
  return strcmp(command, "time") == 0 ? time_of(n, form) : trace_of(n, form);
}
