/* classified.c - the row of the profile that an execution of a superoperator counts in: which
 * superoperator, and how much of it compiled functions do. A row is looked up where the same
 * has been executed before, since classifying takes longer than many executions.
 */
#include "vinterp/machine-private.h"

#include "fused-kernels/classify.h"
#include "fused-kernels/fused.h"

/* What is classified in an arena of its own. */
struct question {
  const struct superop *op;
  const uint8_t *segments;
  enum fused_extent extent;
  char *reasons;
  size_t size;
};

static uint64_t resolved(const struct machine *m, struct cvl_size size) {
  if (size.symbol) m->backend->resolve(m->context, &size);
  return size.bound;
}

void superop_segments(struct machine *m, uint32_t superop, uint8_t *segments) {
  const struct superop *op = m->program->superops[superop];
  for (uint32_t p = 0; p < op->param_count; p++) {
    segments[p] = SEGMENTS_ONE;
    if (op->kinds[p] != SUPEROP_SEGDES) continue;
    const struct cvl_value *v = &fused_operands(m)[p].flat;
    const uint64_t count = resolved(m, machine_count(m, v));
    segments[p] = (uint8_t)fused_segments(count, resolved(m, machine_size(m, v)));
  }
}

static void classify(struct arena *arena, void *context) {
  struct question *q = context;
  const struct fused_classified c = fused_classify(arena, q->op, q->segments);
  q->extent = c.extent;
  fused_reasons(&c, q->reasons, q->size);
}

/* Without memory for it, row 0. */
static uint32_t new_row(struct machine *m, uint32_t superop, const uint8_t *segments) {
  static const char *const names[] = {
      [EXTENT_WHOLE] = "whole", [EXTENT_SPLIT] = "split", [EXTENT_EVALUATED] = "evaluated"};
  char formula[400], reasons[400];
  const struct superop *op = m->program->superops[superop];
  struct question q = {op, segments, EXTENT_EVALUATED, reasons, sizeof reasons};
  const bool one_pass = fused_was_one_pass(m);
  reasons[0] = '\0';
  if (one_pass && !arena_with(m->heap, classify, &q)) return 0;
  fused_formula(op, formula, sizeof formula);
  const struct profile_superop row = {superop, one_pass ? names[q.extent] : "node by node",
                                      reasons, formula};
  return profile_superop(m->profile, &row);
}

uint32_t superop_row(struct machine *m, uint32_t superop, const uint8_t *segments) {
  const struct superop *op = m->program->superops[superop];
  uint64_t key = map_mix(map_mix(superop_hash(op), superop), fused_was_one_pass(m));
  for (uint32_t p = 0; p < op->param_count; p++) key = map_mix(key, segments[p]);
  uint32_t row;
  if (profile_superop_known(m->profile, key, &row)) return row;
  row = new_row(m, superop, segments);
  profile_superop_remember(m->profile, key, row);
  return row;
}
