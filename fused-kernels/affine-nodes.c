/* affine-nodes.c - see affine-nodes.h. */
#include "fused-kernels/affine-nodes.h"

struct finding {
  const struct superop *op;
  struct fused_affine_nodes *to;
  uint32_t definitions[SUPEROP_VALUES_MAX]; /* of every value; SUPEROP_NONE: a parameter */
};

static void find_definitions(struct finding *f) {
  for (uint32_t v = 0; v < f->op->value_count; v++) f->definitions[v] = SUPEROP_NONE;
  for (uint32_t k = 0; k < f->op->node_count; k++) {
    const struct superop_node *node = &f->op->nodes[k];
    for (unsigned i = 0; i < node->result_count; i++) f->definitions[node->result + i] = k;
  }
}

/* Maps that are interpreted symbolically. */
static bool is_affine_map(const struct superop *op, const struct superop_node *node) {
  const uint8_t kind = op->kinds[node->result];
  const uint8_t of = op->kinds[node->operands[node->operand_count - 1]];
  const bool ints = of == SUPEROP_INT, bools = of == SUPEROP_BOOL;
  switch ((int)node->op) {
  case OPC_ADD:
  case OPC_SUB:
  case OPC_MUL:
  case OPC_DIV:
  case OPC_MOD:
  case OPC_LT:
  case OPC_LE:
  case OPC_GT:
  case OPC_GE:
  case OPC_EQ:
  case OPC_NE: return ints;
  case OPC_AND:
  case OPC_OR:
  case OPC_NOT: return bools && kind == SUPEROP_BOOL;
  case OPC_SELECT: return ints || bools;
  default: return false;
  }
}

static bool may_be_affine(const struct finding *f, uint32_t k) {
  const struct superop_node *node = &f->op->nodes[k];
  if (f->op->cold[k]) return false;
  if (node->role == ROLE_INDEX) return true;
  if (node->role == ROLE_SPREAD) return f->op->kinds[node->result] != SUPEROP_FLOAT;
  bool affine = node->role == ROLE_MAP && is_affine_map(f->op, node);
  for (unsigned i = 0; i < node->operand_count && affine; i++) {
    const uint32_t from = f->definitions[node->operands[i]];
    affine = from != SUPEROP_NONE && f->to->affine[from];
  }
  return affine;
}

static bool divides(const struct finding *f, uint32_t k) {
  const struct superop_node *node = &f->op->nodes[k];
  bool found = node->op == OPC_DIV || node->op == OPC_MOD;
  if (!f->to->affine[k]) return false;
  for (unsigned i = 0; node->role == ROLE_MAP && i < node->operand_count; i++)
    found |= f->to->divides[f->definitions[node->operands[i]]];
  return found;
}

/* A map that is not of the arithmetic of indices may read results of such arithmetic. */
static void note_read(struct finding *f, const struct superop_node *node) {
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t from = f->definitions[node->operands[i]];
    if (from == SUPEROP_NONE || !superop_matters(node, i)) continue;
    if (f->to->affine[from] && !f->to->divides[from]) f->to->analysed[from] = true;
  }
}

static void note_gather(struct finding *f, uint32_t k) {
  const uint32_t index = f->definitions[f->op->nodes[k].operands[1]];
  if (index == SUPEROP_NONE || !f->to->affine[index]) return;
  f->to->analysed[k] = f->to->analysed[index] = true;
}

/* Going backwards, a node comes after all that use its result, so it is known if it is
 * analysed. */
static void find_analysed(struct finding *f) {
  for (uint32_t k = f->op->node_count; k-- > 0;) {
    const struct superop_node *node = &f->op->nodes[k];
    const bool map = node->role == ROLE_MAP;
    if (map && !f->to->affine[k] && !f->op->cold[k]) note_read(f, node);
    if (node->op == OPC_BPERMUTE && !f->op->cold[k]) note_gather(f, k);
    for (unsigned i = 0; map && f->to->analysed[k] && i < node->operand_count; i++)
      f->to->analysed[f->definitions[node->operands[i]]] = true;
  }
}

void fused_affine_nodes_find(const struct superop *op, struct fused_affine_nodes *to) {
  struct finding f = {.op = op, .to = to};
  if (superop_has_loops(op)) return; /* executed by other means */
  find_definitions(&f);
  for (uint32_t k = 0; k < op->node_count; k++) {
    to->affine[k] = may_be_affine(&f, k);
    to->divides[k] = divides(&f, k);
  }
  find_analysed(&f);
}
