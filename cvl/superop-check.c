/* superop-check.c - asserts, in debug builds, that derived members are as superop.h says. */
#include "base/check.h"
#include "cvl/superop.h"

#ifdef RAVEL_DEBUG

static void check_size(const struct superop *op, struct superop_size size) {
  switch (size.what) {
  case SIZE_LEN:
    invariant(size.param < op->param_count && op->kinds[size.param] != SUPEROP_SEGDES);
    break;
  case SIZE_TOTAL:
  case SIZE_COUNT:
    invariant(size.param < op->param_count && op->kinds[size.param] == SUPEROP_SEGDES);
    break;
  default: invariant(size.what == SIZE_ONE || size.what == SIZE_UNKNOWN);
  }
}

/* Values are numbered in the order of their definitions, and are used after them. */
static void check_nodes(const struct superop *op) {
  uint32_t next = op->param_count;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    invariant(node->result == next || node->result_count == 0);
    for (uint32_t i = 0; i < node->operand_count; i++) {
      const uint32_t v = node->operands[i];
      invariant(v < next);
      invariant(op->uses[v] > 0 && op->last_use[v] >= k && op->last_use[v] <= op->node_count);
    }
    invariant(!op->cold[k] || (!node->checked && node->role != ROLE_CONST));
    invariant(!node->checked || superop_may_fail(node));
    next += node->result_count;
  }
  invariant(next == op->value_count && next <= SUPEROP_VALUES_MAX);
}

void superop_check(const struct superop *op) {
  check_nodes(op);
  for (uint32_t v = 0; v < op->value_count; v++) {
    invariant(op->kinds[v] <= SUPEROP_SEGDES);
    invariant((op->uses[v] == 0) == (op->last_use[v] == SUPEROP_NONE));
    check_size(op, op->sizes[v]);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    invariant(op->outputs[i] >= op->param_count && op->outputs[i] < op->value_count);
    invariant(op->last_use[op->outputs[i]] == op->node_count);
  }
  check_size(op, op->domain);
  invariant(op->segments == SUPEROP_NONE ||
            (op->segments < op->param_count && op->kinds[op->segments] == SUPEROP_SEGDES));
  for (uint32_t r = 0; r < op->rule_count; r++) {
    check_size(op, op->rules[r].a);
    check_size(op, op->rules[r].b);
    invariant(op->rules[r].node < op->node_count);
  }
}

#else

void superop_check(const struct superop *op) {
  (void)op;
}

#endif
