/* chunk-path.c - dynamic paths: the program order of instructions that are executed more than
 * once.
 *
 * Paths are compared as lists of numbers. Within a frame a later instruction has a greater
 * location, since code has no jumps back; repetition is a tail call.
 *
 * In a loop that many instances take together (ir/ir.h), the calls that lead to a round depend
 * on which instances have finished before. So they differ between chunks. The number of the
 * round does not, and rounds are executed in turn. So all frames of a loop are one step of the
 * path: those of functions with rounds, and the one of the round. Each frame keeps the number
 * of earlier rounds: a call takes it along, and a return brings it back.
 */
#include "vinterp/machine/machine-private.h"

/* ---- loops ---- */

static uint8_t rounds_of(const struct machine *m, uint32_t function) {
  return m->program->functions[function].rounds;
}

/* Returns whether a call is within a loop. */
static bool chunk_path_is_within(const struct machine *m, uint32_t caller, uint32_t callee) {
  if (rounds_of(m, caller) == VCODE_ROUNDS) return rounds_of(m, callee) != VCODE_NO_ROUNDS;
  return rounds_of(m, caller) == VCODE_ROUND && caller == callee;
}

void path_call(struct machine *m) {
  struct frame *callee = &m->frames[m->depth - 1], *caller = callee - 1;
  if (!chunk_path_is_within(m, caller->function, callee->function)) return;
  callee->tails = caller->tails + (rounds_of(m, caller->function) == VCODE_ROUND);
}

void path_return(struct machine *m) {
  struct frame *callee = &m->frames[m->depth - 1], *caller = callee - 1;
  if (!chunk_path_is_within(m, caller->function, callee->function)) return;
  const bool ends_round = rounds_of(m, callee->function) == VCODE_ROUND &&
                          rounds_of(m, caller->function) == VCODE_ROUNDS;
  caller->tails = callee->tails + ends_round;
}

static uint32_t function_at(const struct machine *m, uint32_t location) {
  return code_debug_info(m->code, location).function;
}

void path_shorten_trace(const struct machine *m, struct call_trace *trace) {
  uint64_t kept = 0;
  uint32_t callee = trace->location;
  for (uint64_t k = 0; k < trace->count; k++) {
    const uint32_t caller = trace->callers[k];
    if (!chunk_path_is_within(m, function_at(m, caller), function_at(m, callee)))
      trace->callers[kept++] = caller;
    callee = caller;
  }
  trace->count = kept;
}

/* ---- steps ---- */

/* Returns the index of the frame of the outermost cut's chunks. */
static uint64_t outermost(const struct machine *m) {
  return m->chunks.cuts[0].index;
}

/* Returns the last frame of the step that begins with frame f. */
static uint64_t last_of(const struct machine *m, uint64_t f) {
  while (f + 1 < m->depth &&
         chunk_path_is_within(m, m->frames[f].function, m->frames[f + 1].function))
    f++;
  return f;
}

/* Returns the step, ending with frame f, of an instruction under the present frames.
 * Instructions between rounds do not fail, and are in no path of one that does. */
static struct path_step step_at(const struct machine *m, uint32_t location, uint64_t f) {
  const struct frame *frame = &m->frames[f];
  const uint32_t in_frame = f + 1 == m->depth ? location : m->frames[f + 1].caller;
  const bool between = rounds_of(m, frame->function) == VCODE_ROUNDS;
  return (struct path_step){.tails = frame->tails, .location = between ? 0 : in_frame + 1};
}

/* Between chunks of the outermost cut there are none of its frames. */
static uint64_t frame_count(const struct machine *m) {
  return m->depth > outermost(m) ? m->depth - outermost(m) : 0;
}

bool path_take(struct machine *m, uint32_t location, struct dynamic_path *path) {
  *path = (struct dynamic_path){.capacity = frame_count(m) + 1};
  path->steps = heap_alloc(m->heap, path->capacity * sizeof *path->steps);
  if (!path->steps) return false;
  for (uint64_t f = outermost(m); f < m->depth; f++) {
    f = last_of(m, f);
    path->steps[path->count++] = step_at(m, location, f);
  }
  return true;
}

void path_free(struct machine *m, struct dynamic_path *path) {
  heap_free(m->heap, path->steps, path->capacity * sizeof *path->steps);
  *path = (struct dynamic_path){0};
}

int path_compare(const struct machine *m, uint32_t location, const struct dynamic_path *path) {
  uint64_t f = outermost(m), k = 0;
  for (; f < m->depth && k < path->count; f++, k++) {
    f = last_of(m, f);
    const struct path_step a = step_at(m, location, f), b = path->steps[k];
    if (a.tails != b.tails) return a.tails < b.tails ? -1 : 1;
    if (a.location != b.location) return a.location < b.location ? -1 : 1;
  }
  return f < m->depth ? 1 : k < path->count ? -1 : 0;
}
