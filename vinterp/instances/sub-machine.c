/* sub-machine.c - the machine of a thread of a team. It executes one range of instances after
 * another.
 *
 * It shares the code, the kernels, the limits and the heap of its parent. Everything else is
 * its own: nobody else uses what it writes while it runs. Its run has one frame at the bottom,
 * that of the lifted function, as the outermost cut; below that are its parent's frames.
 * Vectors of constants are made anew for each cut, in its sub-context.
 */
#include "cvl/slices.h"
#include "vinterp/machine/machine-private.h"

#include <string.h>

/* ---- making one ---- */

struct machine *sub_new(struct machine *parent) {
  struct machine *s = heap_alloc(parent->heap, sizeof *s);
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
  s->heap = parent->heap;
  s->backend = parent->backend;
  s->options = parent->options;
  s->options.progress_fd = -1;
  s->widths = parent->widths;
  s->vector_limit = parent->vector_limit;
  s->chunks.possible = true;
  s->team = parent->team;
  s->sub = true;
  return s;
}

void sub_forget(struct machine *s) {
  if (!s->program) return;
  fused_free(s, s->fused);
  heap_free(s->heap, s->constants, s->code->constant_count * sizeof *s->constants);
  heap_free(s->heap, s->needs, s->program->function_count * sizeof *s->needs);
  heap_free(s->heap, s->profile_rows, s->program->function_count * sizeof *s->profile_rows);
  profile_free(s->profile);
  s->program = NULL;
  s->fused = NULL;
  s->constants = NULL;
  s->needs = NULL;
  s->profile_rows = NULL;
  s->profile = NULL;
}

void sub_free(struct machine *s) {
  if (!s) return;
  sub_forget(s);
  heap_free(s->heap, s->stack, s->capacity * sizeof *s->stack);
  heap_free(s->heap, s->frames, s->frame_capacity * sizeof *s->frames);
  history_free(&s->history, s->heap);
  chunks_free(s);
  heap_free(s->heap, s, sizeof *s);
}

/* ---- a program ---- */

/* Row k counts for the parent's row of the same function. */
static bool make_profile(struct machine *s, const struct machine *parent) {
  const uint32_t n = s->program->function_count;
  if (!parent->profile) return true;
  s->profile = profile_new(s->heap, s->backend->name, true);
  s->profile_rows = heap_alloc(s->heap, n * sizeof *s->profile_rows);
  if (!s->profile || !s->profile_rows) return false;
  for (uint32_t f = 0; f < n; f++)
    s->profile_rows[f] = profile_function(s->profile, s->program->functions[f].name->text);
  return true;
}

static bool make_state(struct machine *s, const struct machine *parent) {
  const size_t constants = s->code->constant_count * sizeof *s->constants;
  s->constants = heap_alloc(s->heap, constants);
  if (s->constants) memset(s->constants, 0, constants);
  s->needs = heap_alloc(s->heap, s->program->function_count * sizeof *s->needs);
  return s->constants && s->needs && fused_new_sub(s, parent->fused, &s->fused) &&
         make_profile(s, parent);
}

/* Prepares the running program, unless that has been done. */
static bool use_program(struct machine *s, const struct machine *parent) {
  const bool profile = (s->profile != NULL) == (parent->profile != NULL);
  if (s->program == parent->program && s->code == parent->code && profile) return true;
  sub_forget(s);
  s->program = parent->program;
  s->code = parent->code;
  s->procedures = parent->procedures;
  s->measured = parent->measured;
  if (make_state(s, parent)) return true;
  sub_forget(s);
  return false;
}

/* ---- a cut ---- */

/* Makes the outermost cut, whose instances are a range of the parent's. */
static bool make_cut(struct machine *s, const struct cut *of) {
  const size_t operands = of->operand_count * sizeof *of->operands;
  const size_t results = of->result_count * sizeof *of->results;
  if (!chunks_push(s)) return false;
  struct cut *cut = &s->chunks.cuts[0];
  *cut = *of;
  cut->team = s->team;
  cut->index = 0;
  cut->tail = false;
  cut->frame.base = 0;
  cut->first = cut->n = cut->instances = cut->most = 0;
  cut->counts = (struct cut_counts){0};
  cut->measured.weight = 0;
  cut->random = (struct cut_random){.wanted = UINT64_MAX};
  cut->firsts = NULL;
  cut->firsts_count = cut->firsts_capacity = 0;
  cut->operands = heap_alloc(s->heap, operands);
  cut->results = heap_alloc(s->heap, results);
  if (cut->operands) memcpy(cut->operands, of->operands, operands);
  if (cut->results) memset(cut->results, 0, results);
  return cut->operands && cut->results;
}

/* Drops the values that the sub-machine must not release. */
static void forget_values(struct cut *cut) {
  for (uint32_t p = 0; cut->operands && p < cut->operand_count; p++)
    cut->operands[p].value.form = CVL_NOTHING;
}

/* Makes slices of shared operands, which it keeps; it slices the others again for each range.
 * The parent, whose values these are, has found their sizes. */
static bool slice_shared(struct machine *s, struct machine *parent, struct cut *cut) {
  for (uint32_t p = 1; p < cut->operand_count; p++) {
    struct value *v = &cut->operands[p].value, own = {.form = CVL_NOTHING};
    if (cut->operands[p].size != IR_SHARED || !value_is_counted(v)) continue;
    const uint64_t n = cut_extent(parent, v).bound;
    if (!s->backend->slices->slice(s->context, 1, &v->flat, 0, n, &own.flat)) return false;
    *v = own;
  }
  return true;
}

static void sub_machine_take_results(struct cut *cut, const struct cut *of) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    cut->results[k].size = of->results[k].size;
    cut->results[k].whole = of->results[k].whole;
  }
}

static bool sub_machine_begin(struct machine *s, struct machine *parent, const struct cut *of) {
  const struct code_function *f = &s->code->functions[of->function];
  const struct machine_site site = {1, of->location};
  memcpy(s->needs, parent->needs, s->program->function_count * sizeof *s->needs);
  s->max_depth = parent->max_depth - of->index;
  s->site = 1;
  s->fuel = 0;
  chunks_begin_run(s);
  procedure_calls_begin_run(s);
  s->calls.possible = parent->calls.possible;
  s->calls.run_together = parent->calls.run_together;
  s->calls.spent = procedure_calls_spent(parent);
  if (!machine_reserve(s, &site, (uint64_t)f->slots + f->result_count) ||
      !machine_reserve_frame(s, &site) || !make_cut(s, of)) {
    return false;
  }
  sub_machine_take_results(&s->chunks.cuts[0], of);
  return slice_shared(s, parent, &s->chunks.cuts[0]);
}

/* Drops the faults of a cut that is over. */
static void sub_machine_forget_faults(struct machine *s) {
  s->faulted = false;
  s->chunks.event = CHUNKS_NOTHING;
  history_clear(&s->history);
}

/* Closes the context, with everything that it holds. */
static void leave_context(struct machine *s) {
  struct chunks *c = &s->chunks;
  if (c->count > 0) {
    for (uint64_t k = 0; k < s->capacity; k++) value_release(&s->store, &s->stack[k]);
    while (c->count > 1) cut_pop(s);
    forget_values(&c->cuts[0]);
  }
  chunks_abandon(s);
  sub_machine_forget_faults(s);
  s->depth = 0;
  for (uint32_t k = 0; k < s->code->constant_count; k++) s->constants[k].form = CVL_NOTHING;
  s->backend->close(s->context);
  s->context = NULL;
}

bool sub_open(struct machine *s, struct machine *parent, const struct cut *cut) {
  if (!use_program(s, parent)) return false;
  s->context = s->backend->open_sub(parent->context);
  if (!s->context) return false;
  s->store = (struct value_store){s->backend, s->context, s->heap};
  if (sub_machine_begin(s, parent, cut)) return true;
  leave_context(s);
  return false;
}

static void add_counts(struct cut_counts *to, const struct cut_counts *x) {
  if (x->chunks == 0) return;
  if (to->chunks == 0 || x->least < to->least) to->least = x->least;
  if (x->most > to->most) to->most = x->most;
  if (x->peak > to->peak) to->peak = x->peak;
  to->chunks += x->chunks;
}

void sub_close(struct machine *s, struct machine *parent, struct cut *cut) {
  add_counts(&cut->counts, &s->chunks.cuts[0].counts);
  cut->bound = s->chunks.cuts[0].bound;
  chunk_learn(parent, cut, &s->chunks.cuts[0]);
  chunk_adopt(parent, s);
  procedure_calls_adopt(parent, s);
  if (s->profile) profile_add(parent->profile, s->profile);
  leave_context(s);
}

/* ---- running ---- */

void sub_drop_chunk(struct machine *s) {
  struct chunks *c = &s->chunks;
  while (c->count > 1) cut_pop(s);
  cut_leave_chunk(s, &c->cuts[0]);
  cut_undo_results(s, &c->cuts[0]);
  chunks_forget_original(s);
  machine_drain(s);
  sub_machine_forget_faults(s);
}

/* After a fault: returns whether the chunk continues, and where. */
static bool sub_machine_resume(struct machine *s, uint32_t *location) {
  if (chunks_resume(s, location)) return true;
  if (!s->chunks.original.found.memory || !team_wait_alone(s)) return false;
  sub_drop_chunk(s);
  return cut_start_chunk(s, &s->chunks.cuts[0], location);
}

void sub_run(struct machine *s) {
  uint32_t location;
  enum step step = STEP_EXIT;
  if (team_take(s, &s->chunks.cuts[0], &location)) step = execute(s, &location);
  while (step == STEP_FAULT && sub_machine_resume(s, &location)) step = execute(s, &location);
  if (step == STEP_FAULT || s->faulted) team_end(s);
}
