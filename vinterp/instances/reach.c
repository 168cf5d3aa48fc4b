/* reach.c - the functions that a function can reach by calls: whether sub-machines may execute
 * them, and which superoperators they may need.
 */
#include "cvl/superop.h"
#include "vinterp/machine/machine-private.h"

#include <string.h>

/* A walk over all functions that are reached. */
struct walk {
  struct machine *m;
  uint8_t *seen;   /* for each function: whether it is in the queue */
  uint32_t *queue; /* reached functions; the first `done` have been visited */
  uint32_t count, done;
  bool random, stack; /* there is a RAND; some function has only stack code */
};

static void see(struct walk *w, uint32_t function) {
  if (w->seen[function]) return;
  w->seen[function] = 1;
  w->queue[w->count++] = function;
}

/* At present no superoperator has a RAND. */
static void look_at_superop(struct walk *w, uint32_t superop) {
  const struct superop *op = w->m->program->superops[superop];
  for (uint32_t k = 0; k < op->node_count; k++) w->random |= op->nodes[k].op == OPC_RAND;
}

static void reach_look_at(struct walk *w, const struct instruction *i) {
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
    reach_look_at(w, &w->m->code->instructions[k]);
}

static void prepare_function(struct machine *m, uint32_t function) {
  const struct code_function *f = &m->code->functions[function];
  for (uint32_t k = f->entry; k < f->end; k++) {
    const struct instruction *i = &m->code->instructions[k];
    if (i->action == ACT_FUSED) fused_prepare(m, i->as.superop);
  }
}

/* Bits that are known of a function. */
enum { REACH_KNOWN = 1, REACH_RANDOM = 2, REACH_STACK = 4 };

static uint8_t walk(struct walk *w, uint32_t function, bool prepare) {
  see(w, function);
  while (w->done < w->count) look_at_function(w, w->queue[w->done++]);
  for (uint32_t k = 0; prepare && !w->random && !w->stack && k < w->count; k++)
    prepare_function(w->m, w->queue[k]);
  return (uint8_t)(REACH_KNOWN | (w->random ? REACH_RANDOM : 0) | (w->stack ? REACH_STACK : 0));
}

/* Walks over all functions. If memory runs out, everything is taken as possible. */
static uint8_t reach_walk_from(struct machine *m, uint32_t function, bool prepare) {
  const uint32_t n = m->program->function_count;
  struct walk w = {.m = m,
                   .seen = heap_alloc(m->heap, n * sizeof *w.seen),
                   .queue = heap_alloc(m->heap, n * sizeof *w.queue)};
  if (w.seen) memset(w.seen, 0, n * sizeof *w.seen);
  const uint8_t found = w.seen && w.queue ? walk(&w, function, prepare)
                                          : REACH_KNOWN | REACH_RANDOM | REACH_STACK;
  heap_free(m->heap, w.seen, n * sizeof *w.seen);
  heap_free(m->heap, w.queue, n * sizeof *w.queue);
  return found;
}

/* Returns the bits of a function, found once. If there are threads, the kernels that they may
 * need are prepared. */
static uint8_t reach_of(struct machine *m, uint32_t function) {
  if (m->reach[function] == 0)
    m->reach[function] = reach_walk_from(m, function, m->team != NULL);
  return m->reach[function];
}

bool reach_is_for_threads(struct machine *m, uint32_t function) {
  return !(reach_of(m, function) & (REACH_RANDOM | REACH_STACK));
}

bool reach_is_typed(struct machine *m, uint32_t function) {
  return !(reach_of(m, function) & REACH_STACK);
}

bool reach_draws(struct machine *m, uint32_t function) {
  return reach_of(m, function) & REACH_RANDOM;
}
