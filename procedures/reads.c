/* reads.c - which vectors are only read element by element: by kernels, not as a whole. */
#include "procedures/private.h"

struct reading {
  const struct ir_program *program;
  const struct ir_function *f;
  struct arena *arena;
  bool *only; /* of every variable */
};

/* Whether a node reads one element at a time of an operand. */
static bool reads_element(const struct superop_node *node, uint32_t operand) {
  switch ((enum superop_role)node->role) {
  case ROLE_SCATTER: return operand < 2;
  case ROLE_COMBINE_SCATTER: return operand < 3;
  default: return true;
  }
}

static void read_by_superop(const struct reading *r, const struct superop *op,
                            const ir_var *operands) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (uint32_t i = 0; i < node->operand_count; i++) {
      const uint32_t p = node->operands[i];
      if (p < op->param_count && (op->copies || !reads_element(node, i)))
        r->only[operands[p]] = false;
    }
  }
}

static void read_whole(const struct reading *r, const ir_var *vars, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) r->only[vars[i]] = false;
}

static void read_by_block(const struct reading *r, const struct ir_block *block);

static void read_by(const struct reading *r, const struct ir_binding *b) {
  const struct superop *op;
  switch ((enum ir_form)b->form) {
  case IR_CONST: return;
  case IR_FUSED: read_by_superop(r, r->program->superops[b->as.superop], b->operands); return;
  case IR_CALL: read_whole(r, b->operands, b->operand_count); return;
  case IR_OP:
    if (b->op == OPC_LENGTH || b->op == OPC_MAKE_SEGDES) return;
    op = operation_as_superop(r->arena, b, r->f);
    if (op)
      read_by_superop(r, op, b->operands);
    else
      read_whole(r, b->operands, b->operand_count);
    return;
  case IR_IF:
    read_whole(r, b->operands, b->operand_count);
    read_by_block(r, b->as.arms.then);
    read_by_block(r, b->as.arms.otherwise);
    return;
  }
}

static void read_by_block(const struct reading *r, const struct ir_block *block) {
  for (uint32_t k = 0; k < block->count; k++) read_by(r, &block->bindings[k]);
  if (block->end == IR_YIELD) read_whole(r, block->results, block->result_count);
}

bool *find_read_by_element(struct arena *arena, const struct ir_program *program,
                           const struct ir_function *f) {
  struct reading r = {program, f, arena, arena_alloc(arena, f->var_count + 1)};
  for (ir_var v = 0; v < f->var_count; v++) r.only[v] = true;
  read_by_block(&r, f->body);
  return r.only;
}
