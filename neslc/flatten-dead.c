/* flatten-dead.c - takes out what nothing uses: lifting on demand makes more than is wanted. */
#include "neslc/flatten-private.h"

static bool has_effect(const struct ir_binding *x) {
  if (x->form == IR_CALL) return true;
  if (x->form != IR_OP) return false;
  switch (opcode_info((enum opcode)x->op)->klass) {
  case OC_IO:
  case OC_TIMER:
  case OC_CHECK:
  case OC_RANDOM: return true;
  default: return false;
  }
}

static bool keep_block(struct ir_block *, bool *used);

/* Whether a binding stays; if so its operands are used. Arms of an IF are cleaned first. */
static bool keep(struct ir_binding *x, bool *used) {
  bool wanted = has_effect(x);
  for (uint32_t i = 0; i < x->result_count; i++) wanted |= used[x->results[i]];
  if (x->form == IR_IF) {
    /* What is not used is not yielded either. */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->result_count; i++) {
      if (!used[x->results[i]]) continue;
      x->results[kept] = x->results[i];
      if (x->as.arms.then->end == IR_YIELD) {
        x->as.arms.then->results[kept] = x->as.arms.then->results[i];
      }
      if (x->as.arms.otherwise->end == IR_YIELD) {
        x->as.arms.otherwise->results[kept] = x->as.arms.otherwise->results[i];
      }
      kept++;
    }
    x->result_count = kept;
    if (x->as.arms.then->end == IR_YIELD) x->as.arms.then->result_count = kept;
    if (x->as.arms.otherwise->end == IR_YIELD) x->as.arms.otherwise->result_count = kept;
    wanted |= keep_block(x->as.arms.then, used);
    wanted |= keep_block(x->as.arms.otherwise, used);
  }
  if (!wanted) return false;
  for (uint32_t i = 0; i < x->operand_count; i++) used[x->operands[i]] = true;
  return true;
}

/* Cleans a block whose results are used. True if something with an effect is in it. */
static bool keep_block(struct ir_block *b, bool *used) {
  bool effects = b->end != IR_YIELD;
  for (uint32_t i = 0; i < b->result_count; i++) used[b->results[i]] = true;
  uint32_t kept = b->count;
  for (uint32_t i = b->count; i-- > 0;) {
    if (!keep(&b->bindings[i], used)) continue;
    const struct ir_binding *x = &b->bindings[i];
    effects |= x->form == IR_IF ? true : has_effect(x);
    b->bindings[--kept] = b->bindings[i];
  }
  b->bindings += kept;
  b->count -= kept;
  return effects;
}

void flat_dead(struct flattener *f, struct ir_program *p) {
  for (uint32_t i = 0; i < p->function_count; i++) {
    bool *used = arena_alloc(f->arena, p->functions[i].var_count + 1);
    keep_block(p->functions[i].body, used);
  }
}
