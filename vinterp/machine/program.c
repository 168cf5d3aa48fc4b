/* program.c - the data of a program between runs: its flat code with its constants, its
 * superoperators, its rows of the profile.
 */
#include "vinterp/machine/machine-private.h"

#include <string.h>

/* Makes the code, measured or not. */
static bool make_code(struct machine *m, struct machine_program *p) {
  code_free(p->code, &m->store);
  p->code = code_new(m->heap, p->program, m->options.checked, m->measured);
  return p->code != NULL;
}

static void free_rows(struct machine *m, struct machine_program *p) {
  heap_free(m->heap, p->profile_rows, p->program->function_count * sizeof *p->profile_rows);
  p->profile_rows = NULL;
}

/* Makes the rows of the profile, if there is one. */
static bool program_make_rows(struct machine *m, struct machine_program *p) {
  free_rows(m, p);
  if (!m->profile) return true;
  const uint32_t n = p->program->function_count;
  p->profile_rows = heap_alloc(m->heap, n * sizeof *p->profile_rows);
  if (!p->profile_rows) return false;
  for (uint32_t f = 0; f < n; f++) {
    p->profile_rows[f] = profile_function(m->profile, p->program->functions[f].name->text);
  }
  return true;
}

static void *zeros(struct machine *m, size_t bytes) {
  void *block = heap_alloc(m->heap, bytes);
  if (block) memset(block, 0, bytes);
  return block;
}

/* Makes the data about functions that chunks use. */
static bool make_needs(struct machine *m, struct machine_program *p) {
  p->needs = zeros(m, p->program->function_count * sizeof *p->needs);
  p->reach = zeros(m, p->program->function_count * sizeof *p->reach);
  return p->needs && p->reach;
}

bool machine_program_lower(struct machine *m, struct machine_program *p) {
  team_forget(m);
  distribute_forget(m);
  return make_code(m, p) && program_make_rows(m, p);
}

struct machine_program *machine_program_new(struct machine *m,
                                            const struct ir_program *program) {
  struct machine_program *p = heap_alloc(m->heap, sizeof *p);
  if (p) *p = (struct machine_program){.program = program};
  if (p && machine_program_lower(m, p) && make_needs(m, p) &&
      fused_new(m, program, &p->fused) && program_procedures_new(m, program, &p->procedures))
    return p;
  machine_program_free(m, p);
  machine_fail_beginning(m, program);
  return NULL;
}

void machine_program_free(struct machine *m, struct machine_program *p) {
  if (!p) return;
  team_forget(m);
  distribute_forget(m);
  fused_free(m, p->fused);
  program_procedures_free(m, p->procedures);
  code_free(p->code, &m->store);
  free_rows(m, p);
  heap_free(m->heap, p->needs, p->program->function_count * sizeof *p->needs);
  heap_free(m->heap, p->reach, p->program->function_count * sizeof *p->reach);
  heap_free(m->heap, p, sizeof *p);
}

void machine_program_use(struct machine *m, const struct machine_program *p) {
  static const struct machine_program none = {0};
  if (!p) p = &none;
  m->program = p->program;
  m->entry = p->program ? p->program->entry : 0;
  m->code = p->code;
  m->fused = p->fused;
  m->profile_rows = p->profile_rows;
  m->needs = p->needs;
  m->reach = p->reach;
  m->procedures = p->procedures;
}

bool machine_fail_beginning(struct machine *m, const struct ir_program *program) {
  char message[128] = "out of memory before the program began";
  if (machine_asks_to_stop(m)) machine_describe_stop(m, message, sizeof message);
  m->faulted = true;
  m->failure.cause = MACHINE_CAUSE_LIMIT;
  diag_add(m->diags, SEVERITY_ERROR, program->file, (struct source_pos){0, 0}, NULL, "%s",
           message);
  return false;
}

bool machine_program_prepare(struct machine *m, const struct machine_program *p) {
  bool stopped = false;
  machine_program_use(m, p);
  for (uint32_t k = 0; k < p->program->superop_count && !stopped; k++) {
    fused_prepare(m, k);
    stopped = machine_asks_to_stop(m);
  }
  if (!stopped && m->backend->prepared) m->backend->prepared(m->context);
  machine_program_use(m, NULL);
  return !stopped || machine_fail_beginning(m, p->program);
}

struct machine_program *machine_prepare(struct machine *m, const struct ir_program *program,
                                        struct diag_list *diags) {
  machine_begin(m, diags);
  struct machine_program *p = machine_program_new(m, program);
  if (p && !machine_program_prepare(m, p)) {
    machine_program_free(m, p);
    p = NULL;
  }
  machine_end(m);
  return p;
}

void machine_forget(struct machine *m, struct machine_program *p) {
  machine_program_free(m, p);
}
