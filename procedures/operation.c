/* operation.c - an operation on vectors as a superoperator of one node, so that kernels are all
 * that is printed.
 */
#include "procedures/private.h"

static uint8_t kind_of(const struct ir_kind *kind) {
  switch (kind->tag) {
  case IR_FLOAT: return SUPEROP_FLOAT;
  case IR_BOOL: return SUPEROP_BOOL;
  case IR_SEGDES: return SUPEROP_SEGDES;
  default: return SUPEROP_INT;
  }
}

static struct superop *operation_node(struct arena *arena, const struct ir_binding *b,
                                      const struct ir_function *f) {
  struct superop *op = arena_alloc(arena, sizeof *op);
  struct superop_node *node = arena_alloc(arena, sizeof *node);
  uint8_t *params = arena_alloc(arena, b->operand_count + 1);
  uint32_t *outputs = arena_alloc(arena, (b->result_count + 1) * sizeof *outputs);
  *node = (struct superop_node){.op = b->op,
                                .type = b->type,
                                .operand_count = (uint8_t)b->operand_count,
                                .checked = true,
                                .pos = b->pos};
  if (b->op == OPC_ASSERT) {
    node->text = b->as.text.text;
    node->text_length = b->as.text.length;
  }
  for (uint32_t i = 0; i < b->operand_count; i++) {
    params[i] = kind_of(f->vars[b->operands[i]]);
    node->operands[i] = i;
  }
  for (uint32_t i = 0; i < b->result_count; i++) outputs[i] = b->operand_count + i;
  *op = (struct superop){.param_count = b->operand_count,
                         .node_count = 1,
                         .output_count = b->result_count,
                         .params = params,
                         .nodes = node,
                         .outputs = outputs};
  return op;
}

const struct superop *operation_as_superop(struct arena *arena, const struct ir_binding *b,
                                           const struct ir_function *f) {
  enum superop_role role;
  const char *why;
  uint32_t node;
  if (b->operand_count > MAX_OPERANDS || !superop_access(b->op, &role)) return NULL;
  struct superop *op = operation_node(arena, b, f);
  return superop_complete(arena, op, &why, &node) && !op->copies ? op : NULL;
}
