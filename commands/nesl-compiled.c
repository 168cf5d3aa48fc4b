/* nesl-compiled.c - the compiling evaluator: flattens, optimises and runs on a machine. */
#include "commands/nesl-evaluate.h"
#include "commands/process.h"
#include "commands/run-options.h"
#include "fcode-opt/fcode-opt.h"
#include "libravel/report.h"
#include "neslc/flatten/flatten.h"

#include <stdlib.h>
#include <string.h>

struct compiled {
  struct evaluator base;
  const struct nesl_options *options;
  struct machine *machine; /* created for the first evaluation, and for a measured one */
  bool used;               /* it has evaluated something */
  struct arena work;       /* of one evaluation */
  struct arena kept;       /* of the program that is evaluated repeatedly */
  const struct ir_program *program;
  uint64_t repeated; /* its number; 0: there is none */
  struct machine_item *arguments;
  uint64_t argument_count;
  struct machine_results results;
};

/* ---- one evaluation ---- */

static enum machine_item_kind item_kind_of(enum column_kind kind) {
  switch (kind) {
  case COLUMN_INT: return MACHINE_INT;
  case COLUMN_FLOAT: return MACHINE_FLOAT;
  case COLUMN_BOOL: return MACHINE_BOOL;
  case COLUMN_SEGDES: break;
  }
  return MACHINE_SEGDES;
}

/* The values of the parameters as the machine takes them. */
static void collect_arguments(struct compiled *c, const struct evaluation *e) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < e->parameter_count; i++) count += e->parameters[i]->value.count;
  c->arguments = arena_alloc(&c->work, (count + 1) * sizeof *c->arguments);
  c->argument_count = 0;
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    const struct nesl_value *value = &e->parameters[i]->value;
    for (uint32_t k = 0; k < value->count; k++) {
      const struct column *column = &value->columns[k];
      struct machine_item *item = &c->arguments[c->argument_count++];
      item->kind = (uint8_t)item_kind_of((enum column_kind)column->kind);
      item->length = column->length;
      item->as.ints = column->as.ints;
      item->shared = e->stays && e->stays(e->context, column->as.ints);
    }
  }
}

/* Complains that there is no memory for the compiler. */
static void complain_of_compiled_memory(const struct evaluation *e) {
  complain(e->complaints, NESL_LIMIT, e->form->value->source, e->form->value->at,
           "out of memory while this is compiled");
}

/* The arguments of a program that is compiled already; false after complaining. */
static bool collected(struct compiled *c, const struct evaluation *e) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    complain_of_compiled_memory(e);
    return false;
  }
  collect_arguments(c, e);
  memory_guard_end(&guard);
  return true;
}

/* The let-form of the form; NULL after complaining. */
static const struct ir_program *flattened(struct compiled *c, const struct evaluation *e,
                                          struct arena *arena) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    complain_of_compiled_memory(e);
    return NULL;
  }
  const struct flatten_options options = {
      .arena = arena,
      .widths = c->options->widths,
      .unchecked = !e->session->argument_checks,
      .combine = c->options->optimise && !c->options->no_fusion,
      .procedures = c->options->optimise && !c->options->no_fusion && !c->options->classic,
      .parameters = e->parameters,
      .parameter_count = e->parameter_count};
  collect_arguments(c, e);
  const struct ir_program *program =
      flatten_expression(e->session, e->form->value, &options, e->complaints);
  memory_guard_end(&guard);
  return program;
}

/* Allocates from an arena that lasts as long as the program. */
static const struct ir_program *compile_into(struct compiled *c, const struct evaluation *e,
                                             struct arena *arena) {
  const struct ir_program *program = flattened(c, e, arena);
  if (!program || !c->options->optimise) return program;
  struct fcode_opt_options optimiser = fcode_opt_default_options();
  optimiser.fuse = !c->options->no_fusion;
  optimiser.chunked_results = e->consumer != NULL && e->large;
  program = fcode_opt(arena, program, &optimiser, NULL, NULL, e->complaints->diags);
  if (!program && e->complaints->first == NESL_OK) e->complaints->first = NESL_LIMIT;
  return program;
}

/* The program of an evaluation, which may be the kept one; the arguments are collected. */
static const struct ir_program *compile_evaluation(struct compiled *c,
                                                   const struct evaluation *e) {
  if (e->repeated == 0) return compile_into(c, e, &c->work);
  if (e->repeated == c->repeated) return collected(c, e) ? c->program : NULL;
  arena_free(&c->kept);
  c->repeated = 0;
  c->program = compile_into(c, e, &c->kept);
  if (c->program) c->repeated = e->repeated;
  return c->program;
}

static enum column_kind column_kind_of_item(const struct machine_item *item) {
  switch ((enum machine_item_kind)item->kind) {
  case MACHINE_INT: return COLUMN_INT;
  case MACHINE_FLOAT: return COLUMN_FLOAT;
  case MACHINE_BOOL: return COLUMN_BOOL;
  case MACHINE_SEGDES: break;
  }
  return COLUMN_SEGDES;
}

/* Complains of columns that are no value: possible in a program without checks, otherwise an
 * error in Ravel. */
static bool no_value(const struct evaluation *e, uint64_t wanted, uint64_t found) {
  const char *cause = e->session->argument_checks ? "internal error: " : "";
  complain(e->complaints, NESL_RUNTIME, e->form->value->source, e->form->value->at,
           "%sthe lengths in the result do not fit its elements (there should be %llu of them, "
           "and there are %llu)%s",
           cause, (unsigned long long)wanted, (unsigned long long)found,
           *cause ? "" : "; turn checks on to see where they become different");
  return false;
}

/* Makes a value of the form's type of the machine's results; returns false after complaining.
 */
static bool value_of_results(const struct compiled *c, const struct evaluation *e,
                             struct nesl_value *value) {
  struct arena *arena = e->session->arena;
  struct type *type = type_ground(arena, e->form->value->type, 0, NULL);
  struct column_kinds kinds = {.arena = arena};
  value_columns(type, &kinds);
  bool fits = kinds.list.count == c->results.count;
  *value = (struct nesl_value){.type = type, .count = (uint32_t)kinds.list.count};
  value->columns = arena_alloc(arena, kinds.list.count * sizeof *value->columns);
  for (size_t i = 0; i < kinds.list.count && fits; i++) {
    const struct machine_item *item = &c->results.items[i];
    struct column *column = &value->columns[i];
    column->kind = (uint8_t)column_kind_of_item(item);
    column->length = item->length;
    column->equal = item->equal;
    fits = column->kind == kinds.list.items[i];
    if (item->kind == MACHINE_FLOAT) {
      column->as.floats = item->as.floats;
    } else if (item->kind == MACHINE_BOOL) {
      column->as.bools = item->as.bools;
    } else {
      column->as.ints = item->as.ints;
    }
  }
  if (!fits) {
    complain(e->complaints, NESL_RUNTIME, e->form->value->source, e->form->value->at,
             "internal error: the compiled expression left something of another type");
    return false;
  }
  uint64_t wanted, found;
  return value_fits(value, &wanted, &found) || no_value(e, wanted, found);
}

/* Creates the machine if there is none. A measured evaluation gets a new one, so that the peak
 * of memory is its own. */
static bool make_machine(struct compiled *c, const struct evaluation *e) {
  if (c->used && e->measurement) {
    machine_free(c->machine);
    c->machine = NULL;
  }
  if (!c->machine) {
    c->machine =
        run_machine(c->options->backend_name, &c->options->machine, e->complaints->diags);
  }
  c->used = true;
  if (!c->machine) e->complaints->first = NESL_LIMIT;
  return c->machine != NULL;
}

/* The number of threads of the back end; 0 for a device. */
static unsigned threads_of_backend(const struct compiled *c,
                                   const struct cvl_backend *backend) {
  struct cvl_device device = {.processors = 0};
  const char *why;
  if (backend->own_memory) return 0;
  if (c->options->machine.threads > 0) return c->options->machine.threads;
  return backend->devices(&device, 1, &why) > 0 ? device.processors : 0;
}

/* Measures the time until the machine has the arguments. */
struct loading {
  const struct evaluation *evaluation;
  double begin, seconds;
};

static void note_loaded(void *context) {
  struct loading *loading = context;
  loading->seconds = stop_clock() - loading->begin;
  if (loading->evaluation->loaded) loading->evaluation->loaded(loading->evaluation->context);
}

/* Runs the program once, or repeatedly for a measurement. */
static enum machine_outcome run_on_machine(struct compiled *c, const struct evaluation *e,
                                           const struct ir_program *program,
                                           struct diag_list *reported) {
  struct measurement once = {.machine = {.runs = 0}};
  struct measurement *m = e->measurement ? e->measurement : &once;
  struct loading loading = {.evaluation = e, .begin = stop_clock()};
  m->machine.loaded = note_loaded;
  m->machine.context = &loading;
  m->machine.consumer = e->consumer;
  m->machine.own = e->own;
  const enum machine_outcome outcome = machine_repeat(
      c->machine, program, c->arguments, c->argument_count, &m->machine, &c->results, reported);
  const struct cvl_backend *backend = machine_backend(c->machine);
  if (outcome == MACHINE_DONE) machine_keep_random(c->machine);
  c->base.seconds += stop_clock() - loading.begin;
  m->load_seconds += loading.seconds;
  m->backend = backend->name;
  if (e->measurement) m->threads = threads_of_backend(c, backend);
  return outcome;
}

static bool evaluate_compiled(struct evaluator *base, const struct evaluation *e,
                              struct nesl_value *value) {
  struct compiled *c = (struct compiled *)base;
  const struct core *expression = e->form->value;
  if (!make_machine(c, e)) return false;
  const double before = stop_clock();
  const struct ir_program *program = compile_evaluation(c, e);
  if (!program) return false;
  if (e->measurement) e->measurement->compile_seconds = stop_clock() - before;
  struct diag_list reported;
  diag_list_init(&reported, e->complaints->diags->arena);
  char text[128];
  switch (run_on_machine(c, e, program, &reported)) {
  case MACHINE_DONE: return value_of_results(c, e, value);
  case MACHINE_EXIT: /* follows the failure that `error` makes */
  case MACHINE_ERROR:
    report_failed_run(&(struct failed_run){e->session, e->form->value, program,
                                           machine_failure(c->machine), &reported, NULL},
                      e->complaints);
    e->complaints->stopped = stop_asks(c->options->machine.stop) != STOP_NOT;
    break;
  case MACHINE_INTERRUPTED:
    stop_describe(c->options->machine.stop, text, sizeof text);
    complain(e->complaints, NESL_LIMIT, expression->source, expression->at, "%s", text);
    e->complaints->stopped = true;
    break;
  }
  return false;
}

static void release_compiled(struct evaluator *base) {
  struct compiled *c = (struct compiled *)base;
  if (c->machine) machine_results_free(c->machine, &c->results);
  arena_free(&c->work);
}

static void close_compiled(struct evaluator *base) {
  struct compiled *c = (struct compiled *)base;
  release_compiled(base);
  arena_free(&c->kept);
  machine_free(c->machine);
  free(c);
}

static void restart_progress(struct evaluator *base) {
  const struct compiled *c = (const struct compiled *)base;
  if (c->machine) machine_show_progress(c->machine);
}

struct machine_totals evaluator_totals(const struct evaluator *base) {
  const struct compiled *c = (const struct compiled *)base;
  return c->machine ? machine_totals(c->machine) : (struct machine_totals){0};
}

void evaluator_profile(const struct evaluator *base, FILE *out) {
  const struct compiled *c = (const struct compiled *)base;
  if (c->machine) machine_profile(c->machine, out, false);
}

struct evaluator *evaluator_compiled(const struct nesl_options *options, struct heap *heap,
                                     struct diag_list *diags) {
  struct compiled *c = calloc(1, sizeof *c);
  if (!c) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL, "out of memory");
    return NULL;
  }
  c->base = (struct evaluator){evaluate_compiled, release_compiled, close_compiled,
                               restart_progress, 0};
  c->options = options;
  arena_init(&c->work, heap);
  arena_init(&c->kept, heap);
  return &c->base;
}
