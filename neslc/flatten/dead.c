/* dead.c - removes unused bindings: lifting emits more than is used. */
#include "ir/dead.h"
#include "neslc/flatten/emit.h"

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
 * by the same flags, if that vector is already defined: it returns the same descriptor. `to`
 * has for each variable its new name, or itself. */
static void merge_packs(struct ir_block *b, const bool *used, uint32_t *bound_at,
                        uint32_t *packed_by, ir_var *to) {
  count_packs(b, 1, packed_by);
  for (uint32_t i = 0; i < b->count; i++) {
    for (uint32_t k = 0; k < b->bindings[i].result_count; k++) {
      bound_at[b->bindings[i].results[k]] = i + 1;
    }
  }
  for (uint32_t i = 0; i < b->count; i++) {
    struct ir_binding *x = &b->bindings[i];
    if (x->form == IR_IF) {
      merge_packs(x->as.arms.then, used, bound_at, packed_by, to);
      merge_packs(x->as.arms.otherwise, used, bound_at, packed_by, to);
      continue;
    }
    if (!is_pack(x) || used[x->results[0]] || x->operands[0] != x->operands[1] ||
        packed_by[x->operands[1]] < 2 || to[x->results[1]] != x->results[1]) {
      continue;
    }
    for (uint32_t j = i + 1; j < b->count; j++) {
      struct ir_binding *y = &b->bindings[j];
      if (!is_pack(y) || y->operands[1] != x->operands[1] || y->operands[2] != x->operands[2] ||
          bound_at[y->operands[0]] > i) {
        continue;
      }
      to[x->results[1]] = y->results[1];
      const struct ir_binding pack = *y;
      for (uint32_t k = j; k > i; k--) b->bindings[k] = b->bindings[k - 1];
      b->bindings[i] = pack;
      for (uint32_t k = i; k <= j; k++) {
        for (uint32_t n = 0; n < b->bindings[k].result_count; n++) {
          bound_at[b->bindings[k].results[n]] = k + 1;
        }
      }
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
}

void flat_dead(struct flattener *f, struct ir_program *p) {
  for (uint32_t i = 0; i < p->function_count; i++) {
    struct ir_function *g = &p->functions[i];
    const struct vars *kept = &f->made_functions.items[i].wanted;
    const bool *used = dead_clean(f, g, kept);
    ir_var *to = arena_alloc(f->arena, (g->var_count + 1) * sizeof *to);
    uint32_t *bound_at = arena_alloc(f->arena, (g->var_count + 1) * sizeof *bound_at);
    uint32_t *packed_by = arena_alloc(f->arena, (g->var_count + 1) * sizeof *packed_by);
    for (uint32_t k = 0; k < g->var_count; k++) to[k] = k;
    merge_packs(g->body, used, bound_at, packed_by, to);
    for (struct ir_walk w = ir_walk(f->arena, g->body); ir_next_uses(&w);)
      for (uint32_t k = 0; k < w.use_count; k++) w.uses[k] = to[w.uses[k]];
    dead_clean(f, g, kept);
    flat_sink(f, g, kept);
  }
}
