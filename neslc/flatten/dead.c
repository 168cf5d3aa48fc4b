/* dead.c - removes unused bindings: lifting emits more than is used. */
#include "ir/dead.h"
#include "neslc/flatten/private.h"

bool binding_has_effect(const struct flattener *f, const struct ir_binding *x) {
  if (x->form == IR_CALL) {
    return x->as.callee >= f->made_functions.count ||
           !f->made_functions.items[x->as.callee].removable;
  }
  return x->form == IR_OP && !opcode_is_pure((enum opcode)x->op);
}

static bool stays(void *flattener, const struct ir_binding *x) {
  return binding_has_effect(flattener, x);
}

/* Removes unused bindings of a function; returns which variables are used. */
static bool *dead_clean(struct flattener *f, struct ir_function *g, const struct vars *kept) {
  struct ir_dead d = {.needed = arena_alloc(f->arena, g->var_count + 1),
                      .stays = stays,
                      .context = f,
                      .remove = true};
  for (size_t k = 0; k < kept->list.count; k++) d.needed[kept->list.items[k]] = true;
  for (uint32_t i = 0; i < g->body->result_count; i++) d.needed[g->body->results[i]] = true;
  ir_dead_block(&d, g->body);
  return d.needed;
}

/* ---- packs of flags, used for their descriptor only ---- */

struct rename {
  ir_var *to; /* per variable: its new name, or itself */
};

static void rename_block(const struct rename *r, struct ir_block *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    struct ir_binding *x = &b->bindings[i];
    for (uint32_t k = 0; k < x->operand_count; k++) x->operands[k] = r->to[x->operands[k]];
    if (x->form != IR_IF) continue;
    rename_block(r, x->as.arms.then);
    rename_block(r, x->as.arms.otherwise);
  }
  for (uint32_t i = 0; i < b->result_count; i++) b->results[i] = r->to[b->results[i]];
}

static bool is_pack(const struct ir_binding *x) {
  return x->form == IR_OP && x->op == OPC_PACK;
}

/* Adds `each` to the number of packs by some flags, for those of a block (not of arms in it).
 */
static void count_packs(const struct ir_block *b, uint32_t each, uint32_t *packed_by) {
  for (uint32_t i = 0; i < b->count; i++) {
    if (is_pack(&b->bindings[i])) packed_by[b->bindings[i].operands[1]] += each;
  }
}

/* A pack of flags whose packed vector is unused is replaced by a later pack of another vector
 * by the same flags, if that vector is already defined: it returns the same descriptor. True if
 * something was renamed. */
static bool merge_packs(struct ir_block *b, const bool *used, uint32_t *bound_at,
                        uint32_t *packed_by, struct rename *r) {
  bool changed = false;
  count_packs(b, 1, packed_by);
  for (uint32_t i = 0; i < b->count; i++) {
    for (uint32_t k = 0; k < b->bindings[i].result_count; k++) {
      bound_at[b->bindings[i].results[k]] = i + 1;
    }
  }
  for (uint32_t i = 0; i < b->count; i++) {
    struct ir_binding *x = &b->bindings[i];
    if (x->form == IR_IF) {
      changed |= merge_packs(x->as.arms.then, used, bound_at, packed_by, r);
      changed |= merge_packs(x->as.arms.otherwise, used, bound_at, packed_by, r);
      continue;
    }
    if (!is_pack(x) || used[x->results[0]] || x->operands[0] != x->operands[1] ||
        packed_by[x->operands[1]] < 2 || r->to[x->results[1]] != x->results[1]) {
      continue;
    }
    for (uint32_t j = i + 1; j < b->count; j++) {
      struct ir_binding *y = &b->bindings[j];
      if (!is_pack(y) || y->operands[1] != x->operands[1] || y->operands[2] != x->operands[2] ||
          bound_at[y->operands[0]] > i) {
        continue;
      }
      r->to[x->results[1]] = y->results[1];
      const struct ir_binding pack = *y;
      for (uint32_t k = j; k > i; k--) b->bindings[k] = b->bindings[k - 1];
      b->bindings[i] = pack;
      for (uint32_t k = i; k <= j; k++) {
        for (uint32_t n = 0; n < b->bindings[k].result_count; n++) {
          bound_at[b->bindings[k].results[n]] = k + 1;
        }
      }
      changed = true;
      break;
    }
  }
  for (uint32_t i = 0; i < b->count;
       i++) { /* outside of the block they count as defined before */
    for (uint32_t k = 0; k < b->bindings[i].result_count; k++) {
      bound_at[b->bindings[i].results[k]] = 0;
    }
  }
  count_packs(b, UINT32_MAX, packed_by);
  return changed;
}

void flat_dead(struct flattener *f, struct ir_program *p) {
  for (uint32_t i = 0; i < p->function_count; i++) {
    struct ir_function *g = &p->functions[i];
    const struct vars *kept = &f->made_functions.items[i].wanted;
    const bool *used = dead_clean(f, g, kept);
    struct rename r = {arena_alloc(f->arena, (g->var_count + 1) * sizeof *r.to)};
    uint32_t *bound_at = arena_alloc(f->arena, (g->var_count + 1) * sizeof *bound_at);
    uint32_t *packed_by = arena_alloc(f->arena, (g->var_count + 1) * sizeof *packed_by);
    for (uint32_t k = 0; k < g->var_count; k++) r.to[k] = k;
    if (merge_packs(g->body, used, bound_at, packed_by, &r)) rename_block(&r, g->body);
    dead_clean(f, g, kept);
    flat_sink(f, g, kept);
  }
}
