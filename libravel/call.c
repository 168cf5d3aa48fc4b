/* call.c - a call: arguments to columns, columns to a result; a failure in terms of NESL. */
#include "libravel/private.h"

#include "libravel/report.h"
#include "libravel/spills.h"

/* ---- failures ---- */

struct failure {
  const struct ravel_function *f;
  const struct diag_list *reported;
};

static enum ravel_code call_report_run(struct ravel_context *c, void *data) {
  struct failure *failure = data;
  struct complaints complaints = {.diags = c->diags};
  const struct failed_run run = {
      c->session,          failure->f->whole,
      failure->f->program, machine_failure(c->machine),
      failure->reported,   ravel_printed_by_error(c, c->diags->arena)};
  const enum ravel_code code = ravel_code_of_machine(c);
  if (run.whole) {
    report_failed_run(&run, &complaints);
  } else {
    report_failed_program(&run, c->diags);
  }
  if (code == RAVEL_RUNTIME) ravel_note_instances(c);
  return ravel_failed(c, code);
}

static enum ravel_code report_in_form(struct ravel_context *c, void *data) {
  return ravel_in_form(c, call_report_run, data);
}

enum ravel_code ravel_fail_run(struct ravel_context *c, const struct ravel_function *f,
                               enum machine_outcome outcome, const struct diag_list *reported) {
  struct failure failure = {f, reported};
  const enum ravel_code code = ravel_stopped(c);
  if (code != RAVEL_OK) return code;
  if (outcome == MACHINE_EXIT && !f->whole) {
    return ravel_fail(c, RAVEL_RUNTIME, "%.200s ended itself by EXIT: it has no result",
                      f->program->file);
  }
  return ravel_deep(c, report_in_form, &failure);
}

/* Checks results, and gives them back if columns of a program are not those of its type. */
static enum ravel_code check_results(struct ravel_context *c, const struct ravel_function *f,
                                     struct cvl_value *results, uint64_t count) {
  if (f->whole) return RAVEL_OK;
  const enum ravel_code code = ravel_check_results(c, f, results, count);
  for (uint64_t i = 0; code != RAVEL_OK && i < count; i++) {
    machine_release(c->machine, &results[i]);
  }
  return code;
}

/* The arguments of a call of the machine. */
struct work {
  const struct ravel_function *f;
  const struct cvl_value *arguments;
  uint64_t argument_count;
  struct cvl_value *results;
  uint64_t result_count;
  struct diag_list reported;
};

static enum machine_outcome call_machine(struct ravel_context *c, struct work *w) {
  diag_list_init(&w->reported, c->diags->arena);
  atomic_store(&c->refused, false);
  c->printed.length = 0;
  machine_profile_begin(c->machine);
  return machine_call(c->machine, w->f->prepared, w->arguments, w->argument_count, w->results,
                      w->result_count, &w->reported);
}

/* Returns whether a call that lacked memory may have more of it the next time, and nobody sees
 * that it is executed twice. */
static bool is_worth_another(const struct ravel_context *c, enum machine_outcome outcome,
                             const struct result_spills *spills) {
  const struct permissions *p = &c->options.machine.permissions;
  const struct machine_failure *f = machine_failure(c->machine);
  return outcome == MACHINE_ERROR && spills->refused &&
         (f->memory || f->own_memory || f->whole) && !p->files && !p->processes &&
         !(c->write && c->printed.length > 0) && stop_asks(&c->stop) == STOP_NOT;
}

static enum machine_outcome call_with_spills(struct ravel_context *c, struct work *w) {
  struct result_spills spills;
  result_spills_begin(c, &spills, false);
  enum machine_outcome outcome = call_machine(c, w);
  result_spills_end(&spills);
  if (!is_worth_another(c, outcome, &spills)) return outcome;
  result_spills_begin(c, &spills, true);
  outcome = call_machine(c, w);
  result_spills_end(&spills);
  return outcome;
}

enum ravel_code ravel_run(struct ravel_context *c, const struct ravel_function *f,
                          const struct cvl_value *arguments, uint64_t argument_count,
                          struct cvl_value *results, uint64_t result_count) {
  struct work w = {f, arguments, argument_count, results, result_count, {0}};
  const enum machine_outcome outcome = call_with_spills(c, &w);
  if (outcome != MACHINE_DONE) return ravel_fail_run(c, f, outcome, &w.reported);
  return check_results(c, f, results, result_count);
}

/* ---- calls ---- */

/* Checks that the arguments are of the function's types. The last one may be the tuple of all
 * that are left. */
static enum ravel_code check_arguments(struct ravel_context *c, const struct ravel_function *f,
                                       struct ravel_value *const *arguments, size_t count) {
  bool fits = count <= f->take_count && (count > 0 || f->take_count == 0);
  for (size_t i = 0; i < count; i++) {
    if (!ravel_value_is_ours(c, arguments[i])) return RAVEL_MISUSE;
  }
  for (size_t i = 0; i < count && fits; i++) {
    const struct type *wanted = i + 1 < count ? f->takes[i] : f->rest[i];
    fits = arguments[i]->type == wanted;
    if (!fits && wanted == f->takes[i]) {
      return ravel_fail(c, RAVEL_TYPE, "argument %zu is %s, not %s", i + 1,
                        ravel_type(arguments[i]), ravel_type_text(wanted));
    }
  }
  if (fits) return RAVEL_OK;
  return ravel_fail(c, RAVEL_MISUSE, "%zu arguments for a function of (%s)", count,
                    f->takes_text);
}

static enum ravel_code run_call(struct ravel_context *c, const struct ravel_function *f,
                                struct ravel_value *const *arguments, size_t count,
                                struct cvl_value *columns, struct ravel_value **result) {
  uint64_t used = 0;
  for (size_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < arguments[i]->count; k++) {
      columns[used++] = arguments[i]->columns[k];
    }
  }
  struct ravel_value *v = ravel_value_new(c, f->gives);
  if (!v) return c->code;
  const enum ravel_code code = ravel_run(c, f, columns, used, v->columns, v->count);
  if (code == RAVEL_OK) {
    *result = v;
    return RAVEL_OK;
  }
  ravel_release(v);
  return code;
}

enum ravel_code ravel_check_call(struct ravel_context *c, const struct ravel_function *f,
                                 struct ravel_value *const *arguments, size_t count,
                                 const void *result) {
  if (!f || !result || (!arguments && count > 0)) {
    return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  }
  if (f->context != c) {
    return ravel_fail(c, RAVEL_MISUSE, "the function belongs to another context");
  }
  return check_arguments(c, f, arguments, count);
}

enum ravel_code ravel_call(struct ravel_context *c, const struct ravel_function *f,
                           struct ravel_value *const *arguments, size_t count,
                           struct ravel_value **result) {
  enum { FEW = 32 };
  struct cvl_value few[FEW];
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  enum ravel_code code = ravel_check_call(c, f, arguments, count, result);
  if (code != RAVEL_OK) return code;
  const size_t columns = f->take_count ? ravel_type_columns(f->rest[0]) : 0;
  stop_begin(&c->stop, c->options.seconds);
  code = ravel_stopped(c);
  if (code != RAVEL_OK) return code;
  struct cvl_value *all = few;
  if (columns > FEW) all = heap_alloc(&c->heap, columns * sizeof *all);
  if (!all) return ravel_fail_memory(c);
  const double start = stop_clock();
  struct ravel_calling calling = {.f = f, .arguments = arguments, .count = count};
  machine_random(c->machine, &calling.seed, &calling.randoms);
  c->calling = &calling;
  code = run_call(c, f, arguments, count, all, result);
  c->calling = NULL;
  c->statistics.seconds = stop_clock() - start;
  if (columns > FEW) heap_free(&c->heap, all, columns * sizeof *all);
  return code;
}
