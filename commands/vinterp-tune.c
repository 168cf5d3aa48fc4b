/* vinterp-tune.c - see vinterp-tune.h. */
#include "commands/vinterp-tune.h"

#include "commands/process.h"
#include "commands/run-options.h"
#include "commands/tune.h"

#include <string.h>

/* Whether it reads standard input, which may also be the program itself. */
static bool reads_input(const struct vinterp_task *t) {
  const struct program *p = t->program;
  if (strcmp(t->options->source.file, "-") == 0) return false;
  for (uint32_t f = 0; f < p->vcode->function_count; f++) {
    const struct vcode_function *function = &p->vcode->functions[f];
    for (uint32_t i = 0; i < function->length; i++) {
      const enum opcode op = (enum opcode)function->code[i].op;
      if (op == OPC_READ || op == OPC_FREAD || op == OPC_FREAD_CHAR) return true;
    }
  }
  return false;
}

static uint64_t input_bytes(const struct vinterp_task *t) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < t->item_count; i++)
    bytes += t->items[i].length * (t->items[i].kind == MACHINE_BOOL ? 1 : sizeof(int64_t));
  return bytes + (reads_input(t) ? tune_input_bytes() : 0);
}

struct tuned_program vinterp_identity(const struct vinterp_task *t) {
  const struct program *p = t->program;
  const struct command_options *o = t->options;
  const uint8_t ways[] = {(uint8_t)p->widths.int_elem,
                          (uint8_t)p->widths.float_elem,
                          o->optimise,
                          o->no_fusion,
                          o->machine.checked,
                          (uint8_t)o->native};
  struct tuned_program identity = {.input_class = tuned_class(input_bytes(t))};
  struct sha256_state state;
  sha256_begin(&state);
  sha256_add(&state, ways, sizeof ways);
  sha256_add(&state, p->source.text, p->source.length);
  if (p->sop.text) sha256_add(&state, p->sop.text, p->sop.length);
  sha256_end(&state, identity.digest);
  return identity;
}

static double run_tuned_program(void *with, const struct machine_options *options) {
  const struct vinterp_task *t = with;
  struct program *p = t->program;
  struct machine *machine = run_machine(t->options->backend_name, options, &p->diags);
  if (!machine) return -1;
  const double start = stop_clock();
  const enum machine_outcome outcome =
      machine_run_on(machine, p->ir, t->items, t->item_count, &p->diags);
  const double seconds = stop_clock() - start;
  machine_free(machine);
  return outcome == MACHINE_DONE || outcome == MACHINE_EXIT ? seconds : -1;
}

int vinterp_tune(const struct vinterp_task *t, const struct tuned_program *identity) {
  struct vinterp_task task = *t;
  return tune(&(struct tune_task){.command = "vinterp",
                                  .program = t->options->source.file,
                                  .seconds = t->options->tune_seconds,
                                  .reads_input = reads_input(t),
                                  .identity = *identity,
                                  .machine = t->machine,
                                  .diags = &t->program->diags,
                                  .run = run_tuned_program,
                                  .with = &task});
}
