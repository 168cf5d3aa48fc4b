/* operation.c - an operation on vectors, or a node of a superoperator, as a superoperator of
 * its own, so that kernels are all that is printed.
 */
#include "procedures/private.h"

static uint8_t superop_kind_of(const struct ir_kind *kind) {
  switch (kind->tag) {
  case IR_FLOAT: return SUPEROP_FLOAT;
  case IR_BOOL: return SUPEROP_BOOL;
  case IR_SEGDES: return SUPEROP_SEGDES;
  default: return SUPEROP_INT;
  }
}

/* A superoperator that is being made. */
struct making {
  struct superop *op;
  uint8_t *params;
  uint32_t *outputs;
};

static struct making begin_superop(struct arena *arena, uint32_t nodes, uint32_t outputs) {
  const struct making m = {arena_alloc(arena, sizeof *m.op),
                           arena_alloc(arena, MAX_OPERANDS + 1),
                           arena_alloc(arena, (outputs + 1) * sizeof *m.outputs)};
  *m.op = (struct superop){.node_count = nodes,
                           .output_count = outputs,
                           .params = m.params,
                           .nodes = arena_alloc(arena, (nodes + 1) * sizeof *m.op->nodes),
                           .outputs = m.outputs};
  return m;
}

static const struct superop *complete(struct arena *arena, struct superop *op) {
  const char *why;
  uint32_t node;
  return superop_complete(arena, op, &why, &node) ? op : NULL;
}

/* ---- an operation ---- */

static struct superop_node node_of(const struct ir_binding *b) {
  struct superop_node node = {.op = b->op,
                              .type = b->type,
                              .operand_count = (uint8_t)b->operand_count,
                              .checked = true,
                              .pos = b->pos};
  for (uint32_t i = 0; i < b->operand_count; i++) node.operands[i] = i;
  if (b->op == OPC_ASSERT) {
    node.text = b->as.text.text;
    node.text_length = b->as.text.length;
  }
  return node;
}

const struct superop *operation_as_superop(struct arena *arena, const struct ir_binding *b,
                                           const struct ir_function *f) {
  enum superop_role role;
  if (b->operand_count > MAX_OPERANDS || !superop_access(b->op, &role)) return NULL;
  const struct making m = begin_superop(arena, 1, b->result_count);
  struct superop *op = m.op;
  op->nodes[0] = node_of(b);
  op->param_count = b->operand_count;
  for (uint32_t i = 0; i < b->operand_count; i++)
    m.params[i] = superop_kind_of(f->vars[b->operands[i]]);
  for (uint32_t i = 0; i < b->result_count; i++) m.outputs[i] = b->operand_count + i;
  return complete(arena, op) && !op->copies ? op : NULL;
}

/* ---- a node ---- */

/* The node that makes a value, if it is a constant; or NULL. */
static const struct superop_node *constant_of(const struct superop *of, uint32_t value) {
  const struct superop_node *node = value < of->param_count ? NULL : emit_definition(of, value);
  return node && node->role == ROLE_CONST ? node : NULL;
}

const struct superop *node_as_superop(struct arena *arena, const struct superop *of,
                                      const struct superop_node *node) {
  const struct making m = begin_superop(arena, node->operand_count + 1U, 1);
  struct superop *op = m.op;
  struct superop_node alone = *node;
  uint32_t constants = 0;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    if (constant_of(of, node->operands[i])) continue;
    alone.operands[i] = op->param_count;
    m.params[op->param_count++] = of->kinds[node->operands[i]];
  }
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const struct superop_node *constant = constant_of(of, node->operands[i]);
    if (!constant) continue;
    op->nodes[constants] = *constant;
    alone.operands[i] = op->param_count + constants++;
  }
  op->nodes[constants] = alone;
  op->node_count = constants + 1;
  m.outputs[0] = op->param_count + constants;
  return complete(arena, op);
}
