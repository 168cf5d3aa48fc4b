/* reach.c - what a function can reach by calls: whether sub-machines may execute it, and the
 * superoperators that they may need.
 */
#include "cvl/superop.h"
#include "vinterp/machine-private.h"

#include <string.h>

/* A walk over all functions that are reached. */
struct walk {
  struct machine *m;
  uint8_t *seen;   /* of each function */
  uint32_t *queue; /* functions seen; the first `done` have been looked at */
  uint32_t count, done;
  bool random, stack; /* there is a RAND; a function has stack code only */
};

static void see(struct walk *w, uint32_t function) {
  if (w->seen[function]) return;
  w->seen[function] = 1;
  w->queue[w->count++] = function;
}

/* No superoperator that there is has one. */
static void look_at_superop(struct walk *w, uint32_t superop) {
  const struct superop *op = w->m->program->superops[superop];
  for (uint32_t k = 0; k < op->node_count; k++) w->random |= op->nodes[k].op == OPC_RAND;
}

static void look_at(struct walk *w, const struct instruction *i) {
  switch ((enum action)i->action) {
  case ACT_CALL:
  case ACT_TAIL_CALL: see(w, i->as.callee); break;
  case ACT_FUSED: look_at_superop(w, i->as.superop); break;
  case ACT_OPERATION:
  case ACT_PROFILED: w->random |= i->op == OPC_RAND; break;
  default: break;
  }
}

static void look_at_function(struct walk *w, uint32_t function) {
  const struct code_function *f = &w->m->code->functions[function];
  w->stack |= !f->runs_typed;
  for (uint32_t k = f->entry; f->runs_typed && k < f->end; k++)
    look_at(w, &w->m->code->instructions[k]);
}

static void prepare_function(struct machine *m, uint32_t function) {
  const struct code_function *f = &m->code->functions[function];
  for (uint32_t k = f->entry; k < f->end; k++) {
    const struct instruction *i = &m->code->instructions[k];
    if (i->action == ACT_FUSED) fused_prepare(m, i->as.superop);
  }
}

static bool walk(struct walk *w, uint32_t function, bool prepare) {
  see(w, function);
  while (w->done < w->count) look_at_function(w, w->queue[w->done++]);
  const bool may = !w->random && !w->stack;
  for (uint32_t k = 0; may && prepare && k < w->count; k++) prepare_function(w->m, w->queue[k]);
  return may;
}

static bool walk_from(struct machine *m, uint32_t function, bool prepare) {
  const uint32_t n = m->program->function_count;
  struct walk w = {.m = m,
                   .seen = heap_alloc(m->heap, n * sizeof *w.seen),
                   .queue = heap_alloc(m->heap, n * sizeof *w.queue)};
  if (w.seen) memset(w.seen, 0, n * sizeof *w.seen);
  const bool may = w.seen && w.queue && walk(&w, function, prepare);
  heap_free(m->heap, w.seen, n * sizeof *w.seen);
  heap_free(m->heap, w.queue, n * sizeof *w.queue);
  return may;
}

enum { REACH_UNKNOWN, REACH_YES, REACH_NO };

/* Found out once. A back end has sub-contexts or processes, so that nobody asks for both. */
static bool found_out(struct machine *m, uint32_t function, bool prepare) {
  if (m->reach[function] == REACH_UNKNOWN)
    m->reach[function] = walk_from(m, function, prepare) ? REACH_YES : REACH_NO;
  return m->reach[function] == REACH_YES;
}

bool reach_is_for_threads(struct machine *m, uint32_t function) {
  return found_out(m, function, true);
}

bool reach_allows(struct machine *m, uint32_t function) {
  return found_out(m, function, false);
}
