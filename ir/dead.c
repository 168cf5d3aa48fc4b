/* dead.c - see dead.h. */
#include "ir/dead.h"

bool ir_binds_any(const struct ir_binding *x, const bool *vars) {
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (vars[x->results[i]]) return true;
  }
  return false;
}

uint32_t ir_keep_vars(uint32_t count, ir_var *vars, const bool *keep) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (keep[i]) vars[kept++] = vars[i];
  }
  return kept;
}

/* Removes unused results from the IF and from the yields of its arms. */
static void drop_if_results(struct ir_dead *d, struct ir_binding *x) {
  struct ir_block *arms[] = {x->as.arms.then, x->as.arms.otherwise};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (!d->needed[x->results[i]]) continue;
    x->results[kept] = x->results[i];
    for (int k = 0; k < 2; k++) {
      if (arms[k]->end == IR_YIELD) arms[k]->results[kept] = arms[k]->results[i];
    }
    kept++;
  }
  d->changed |= kept < x->result_count;
  x->result_count = kept;
  for (int k = 0; k < 2; k++) {
    if (arms[k]->end == IR_YIELD) arms[k]->result_count = kept;
  }
}

/* Whether the IF stays. */
static bool visit_if(struct ir_dead *d, struct ir_binding *x) {
  struct ir_block *arms[] = {x->as.arms.then, x->as.arms.otherwise};
  const uint64_t removed = d->removed;
  bool stays = ir_binds_any(x, d->needed) || d->stays(d->context, x);
  if (d->remove) drop_if_results(d, x);
  for (int k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < x->result_count && arms[k]->end == IR_YIELD; i++) {
      if (d->needed[x->results[i]]) d->needed[arms[k]->results[i]] = true;
    }
  }
  stays |= ir_dead_block(d, arms[0]);
  stays |= ir_dead_block(d, arms[1]);
  if (!stays) d->removed = removed;
  return stays;
}

static void mark_needed(struct ir_dead *d, struct ir_binding *x) {
  if (d->keep) {
    d->keep(d->context, x);
    return;
  }
  for (uint32_t i = 0; i < x->operand_count; i++) d->needed[x->operands[i]] = true;
}

bool ir_dead_block(struct ir_dead *d, struct ir_block *b) {
  bool something = b->end != IR_YIELD;
  uint32_t kept = b->count; /* those that stay move to the end */
  for (uint32_t i = b->count; i-- > 0;) {
    struct ir_binding *x = &b->bindings[i];
    const bool stays = x->form == IR_IF ? visit_if(d, x)
                                        : ir_binds_any(x, d->needed) || d->stays(d->context, x);
    if (stays) {
      something = true;
      mark_needed(d, x);
    }
    if (stays && d->remove && --kept != i) b->bindings[kept] = *x;
    if (!stays && d->remove) d->removed++;
  }
  if (!d->remove) return something;
  d->changed |= kept > 0;
  if (kept > 0) b->bindings += kept; /* an empty block has none */
  b->count -= kept;
  return something;
}
