/* direct-trace.c - calls of the program's functions in the direct interpreter, reported to a
 * trace. */
#include "neslc/reference/direct-private.h"

/* An argument or a result as columns, in memory of their own. */
struct reporting {
  struct direct *d;
  const struct direct_specialisation *function;
  struct datum value;
  bool is_result;
};

static void report_trace(struct arena *arena, void *context) {
  const struct reporting *r = context;
  struct direct *d = r->d;
  const struct direct_trace *trace = d->options->trace;
  const struct global *g = r->function->global;
  struct type *type = type_of(g->scheme.type)->part[r->is_result ? 1 : 0];
  const struct nesl_value value =
      direct_to_columns(d, arena, ground_type(d, r->function, type), r->value);
  if (r->is_result) {
    trace->result(trace->context, d->traced, &value);
  } else {
    trace->call(trace->context, d->traced, g->name->text, &value);
  }
}

static void report_value(struct direct *d, const struct direct_specialisation *function,
                         struct datum value, bool is_result) {
  struct reporting r = {d, function, value, is_result};
  if (!arena_with(d->arena->heap, report_trace, &r)) memory_failed();
}

bool direct_apply_traced(struct direct *d, struct direct_frame *from, struct direct_frame *to,
                         const struct core *apply, struct datum *out) {
  const struct direct_specialisation *function = to->specialisation;
  const struct direct_trace *trace = d->options->trace;
  struct datum argument;
  direct_enter(d, 1);
  bool ok = direct_eval(d, from, apply->as.part.right, &argument);
  direct_leave(d);
  if (!ok) return false;
  direct_bind(d, to, function->global->parameter, argument);
  const bool wanted = d->traced < trace->most_depth && trace->wants(trace->context);
  if (wanted) report_value(d, function, argument, false);
  d->traced++;
  ok = direct_eval_part(d, to, function->global->body, 2, out);
  d->traced--;
  if (ok && wanted) report_value(d, function, *out, true);
  if (!ok && wanted) trace->result(trace->context, d->traced, NULL);
  return ok;
}
