/* unit-sizes.c - which sizes of a superoperator are 1 in every execution, and what forms that
 * gives its results.
 */
#include "fused-kernels/loops/loops.h"

/* Whether a size is 1, so far. */
bool unit_size(const struct unit_sizes *u, struct superop_size size) {
  switch (size.what) {
  case SIZE_ONE: return true;
  case SIZE_LEN:
  case SIZE_TOTAL: return u->len[size.param];
  case SIZE_COUNT: return u->count[size.param];
  default: return false;
  }
}

static bool make_unit(struct unit_sizes *u, struct superop_size size) {
  bool *flag = size.what == SIZE_COUNT ? &u->count[size.param] : &u->len[size.param];
  if ((size.what != SIZE_LEN && size.what != SIZE_TOTAL && size.what != SIZE_COUNT) || *flag)
    return false;
  return *flag = true;
}

/* What a rule makes equal to a size that is 1, is 1. */
struct unit_sizes unit_sizes_of(struct arena *arena, const struct superop *op,
                                const uint8_t *forms, const bool *one) {
  struct unit_sizes u = {arena_alloc(arena, op->param_count + 1),
                         arena_alloc(arena, op->param_count + 1)};
  for (uint32_t p = 0; p < op->param_count; p++) {
    u.len[p] = forms[p] == FORM_SCALAR || (op->kinds[p] == SUPEROP_SEGDES && one[p]);
    u.count[p] = forms[p] == FORM_ONE;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < op->rule_count; k++) {
      const struct superop_rule *r = &op->rules[k];
      if (unit_size(&u, r->a)) changed |= make_unit(&u, r->b);
      if (unit_size(&u, r->b)) changed |= make_unit(&u, r->a);
    }
  }
  return u;
}

static const struct superop_node *pack_of(const struct superop *op, uint32_t value) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role == ROLE_PACK && op->nodes[k].result + 1 == value)
      return &op->nodes[k];
  }
  return NULL;
}

enum form unit_form(const struct superop *op, const struct unit_sizes *u, uint32_t value) {
  if (op->kinds[value] != SUPEROP_SEGDES)
    return unit_size(u, op->sizes[value]) ? FORM_SCALAR : FORM_VECTOR;
  return u->count[pack_of(op, value)->operands[2]] ? FORM_ONE : FORM_SEGMENTS;
}

static const struct superop_node *definition_of(const struct superop *op, uint32_t value) {
  return value < op->param_count ? NULL : emit_definition(op, value);
}

const struct superop_node *same_everywhere(const struct superop *op, const uint8_t *forms,
                                           uint32_t value) {
  const struct superop_node *node = definition_of(op, value);
  if (!node || node->role != ROLE_SPREAD || op->copies) return NULL;
  const uint32_t from = node->operands[0];
  if (forms[node->operands[1]] != FORM_ONE) return NULL;
  return from >= op->param_count || forms[from] == FORM_SCALAR ? node : NULL;
}
