/* nesl-compiled.c - evaluation by compiling: flattened, optimised if wanted, run on a machine.
 */
#include "commands/choose.h"
#include "commands/nesl-evaluate.h"
#include "fcode-opt/fcode-opt.h"
#include "neslc/flatten.h"

#include <stdlib.h>
#include <string.h>

struct compiled {
  struct evaluator base;
  const struct nesl_options *options;
  struct machine *machine; /* made for the first evaluation */
  struct heap heap;
  struct arena work; /* of one evaluation */
  struct machine_results results;
};

/* ---- what went wrong ---- */

enum { MOST_PLACES = 64 };

struct trail {
  struct failure_place places[MOST_PLACES];
  size_t count;
};

static void add_place(const struct evaluation *e, struct trail *trail, const char *place,
                      size_t length) {
  if (trail->count == MOST_PLACES) return;
  if (find_place(e, place, length, &trail->places[trail->count])) trail->count++;
}

/* An origin, with the calls that were expanded around it: they follow the function's name. */
static void add_origin(const struct evaluation *e, struct trail *trail,
                       const struct ir_program *program, const char *place) {
  uint32_t i = 1;
  while (i < program->origin_count && program->origins[i].place != place) i++;
  add_place(e, trail, place, strlen(place));
  if (i == program->origin_count) return;
  const char *calls = program->origins[i].name;
  for (calls += strcspn(calls, "|"); *calls == '|';) {
    const size_t length = strcspn(++calls, "|");
    add_place(e, trail, calls, length);
    calls += length;
  }
}

/* The sentence for an instruction that fails on its own, where the compiler adds no check. */
static const char *sentence_of(const struct machine_failure *f) {
  if (f->cause != MACHINE_CAUSE_OPERATION) return NULL;
  if (f->op == OPC_DIV) return "Divide by zero.";
  if (f->op == OPC_MOD) return "Divide by zero in function REM.";
  return NULL;
}

/* Says what the machine said, without its instruction: that was not the user's. */
static void tell_failure(const struct compiled *c, const struct evaluation *e,
                         const struct ir_program *program, const struct diag_list *told) {
  const struct machine_failure *f = machine_failure(c->machine);
  enum nesl_error error = f->cause == MACHINE_CAUSE_LIMIT ? NESL_LIMIT : NESL_RUNTIME;
  const char *message = "out of memory";
  if (told->list.count > 0) message = told->list.items[0].message + f->instruction;
  if (sentence_of(f)) message = sentence_of(f);
  if (f->cause == MACHINE_CAUSE_LIMIT && f->op == OPC_CALL) {
    message = arena_printf(e->complaints->diags->arena, "%s: does the recursion end?", message);
  }
  if (f->cause == MACHINE_CAUSE_ASSERT && f->text == flatten_error_text) {
    error = NESL_USER;
    message = failure_by_error;
  }
  struct trail trail = {.count = 0};
  for (size_t i = 0; i < told->list.count; i++) {
    const char *origin = told->list.items[i].origin;
    if (origin) add_origin(e, &trail, program, origin);
  }
  const struct core *whole = e->form->value;
  if (trail.count == 0) {
    trail.places[trail.count++] = (struct failure_place){whole->source, whole->at, whole};
  }
  complain_of_failure(e->complaints, error, message, trail.places, trail.count);
}

/* ---- one evaluation ---- */

/* Everything that is made on the way is gone with the evaluation. */
static const struct ir_program *flattened(struct compiled *c, const struct evaluation *e) {
  if (setjmp(c->work.out_of_memory)) {
    complain(e->complaints, NESL_LIMIT, e->form->value->source, e->form->value->at,
             "out of memory while this is compiled");
    return NULL;
  }
  const struct flatten_options options = {.arena = &c->work,
                                          .widths = c->options->widths,
                                          .unchecked = !e->session->argument_checks};
  return flatten_expression(e->session, e->form->value, &options, e->complaints);
}

static const struct ir_program *compile(struct compiled *c, const struct evaluation *e) {
  const struct ir_program *program = flattened(c, e);
  if (!program || !c->options->optimise) return program;
  struct fcode_opt_options optimiser = fcode_opt_default_options();
  optimiser.fuse = !c->options->no_fusion;
  program = fcode_opt(&c->work, program, &optimiser, NULL, NULL, e->complaints->diags);
  if (!program && e->complaints->first == NESL_OK) e->complaints->first = NESL_LIMIT;
  return program;
}

static enum column_kind kind_of(const struct machine_item *item) {
  switch ((enum machine_item_kind)item->kind) {
  case MACHINE_INT: return COLUMN_INT;
  case MACHINE_FLOAT: return COLUMN_FLOAT;
  case MACHINE_BOOL: return COLUMN_BOOL;
  case MACHINE_SEGDES: break;
  }
  return COLUMN_SEGDES;
}

/* What the machine left as a value of the type; false if it is none: a fault of Ravel. */
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
    column->kind = (uint8_t)kind_of(item);
    column->length = item->length;
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
  }
  return fits;
}

static bool evaluate(struct evaluator *base, const struct evaluation *e,
                     struct nesl_value *value) {
  struct compiled *c = (struct compiled *)base;
  const struct core *expression = e->form->value;
  if (!c->machine) {
    c->machine =
        choose_machine(c->options->backend_name, &c->options->machine, e->complaints->diags);
    if (!c->machine) e->complaints->first = NESL_LIMIT;
    if (!c->machine) return false;
  }
  const struct ir_program *program = compile(c, e);
  if (!program) return false;
  struct diag_list told;
  diag_list_init(&told, e->complaints->diags->arena);
  switch (machine_evaluate(c->machine, program, NULL, 0, &c->results, &told)) {
  case MACHINE_DONE: return value_of_results(c, e, value);
  case MACHINE_EXIT: /* follows the failure that `error` makes */
  case MACHINE_ERROR: tell_failure(c, e, program, &told); break;
  case MACHINE_INTERRUPTED:
    complain(e->complaints, NESL_LIMIT, expression->source, expression->at, "interrupted");
    break;
  }
  return false;
}

static void release(struct evaluator *base) {
  struct compiled *c = (struct compiled *)base;
  if (c->machine) machine_results_free(c->machine, &c->results);
  arena_free(&c->work);
}

static void close_compiled(struct evaluator *base) {
  struct compiled *c = (struct compiled *)base;
  release(base);
  machine_free(c->machine);
  free(c);
}

struct machine_totals evaluator_totals(const struct evaluator *base) {
  const struct compiled *c = (const struct compiled *)base;
  return c->machine ? machine_totals(c->machine) : (struct machine_totals){0};
}

struct evaluator *evaluator_compiled(const struct nesl_options *options,
                                     struct diag_list *diags) {
  struct compiled *c = calloc(1, sizeof *c);
  if (!c) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL, "out of memory");
    return NULL;
  }
  c->base = (struct evaluator){evaluate, release, close_compiled};
  c->options = options;
  heap_init(&c->heap, options->machine.memory_limit);
  arena_init(&c->work, &c->heap);
  return &c->base;
}
