/* lower.c - kernels from superoperators: the file that knows the roles of nodes. */
#include "fused-kernels/kernel.h"

#include <string.h>

struct lowering {
  struct arena *arena;
  const struct superop *op;
  struct kernel *kernel;
  ARRAY(struct kernel_statement) statements;
  ARRAY(uint8_t) types;
  uint32_t *values; /* of every value of the superoperator: that of the kernel; SUPEROP_NONE */
  uint32_t node;    /* that is being lowered */
};

/* ---- statements ---- */

static struct kernel_statement *lower_add(struct lowering *l, enum kernel_statement_kind kind) {
  struct kernel_statement *s = array_push(l->arena, &l->statements);
  *s = (struct kernel_statement){.kind = (uint8_t)kind,
                                 .word = TW_NONE,
                                 .value = SUPEROP_NONE,
                                 .param = SUPEROP_NONE,
                                 .near = SUPEROP_NONE,
                                 .far = SUPEROP_NONE,
                                 .node = l->node,
                                 .output = SUPEROP_NONE};
  return s;
}

static void lower_defines(struct lowering *l, struct kernel_statement *s,
                          enum superop_kind type) {
  s->type = (uint8_t)type;
  s->value = (uint32_t)l->types.count;
  *array_push(l->arena, &l->types) = (uint8_t)type;
}

static uint32_t lower_constant(struct lowering *l, const struct cvl_value *constant,
                               enum superop_kind type) {
  struct kernel_statement *s = lower_add(l, KERNEL_CONSTANT);
  s->constant = constant;
  lower_defines(l, s, type);
  return s->value;
}

/* The value of an operand at the position: a parameter is loaded once. */
static uint32_t lower_read(struct lowering *l, uint32_t value) {
  if (l->values[value] != SUPEROP_NONE) return l->values[value];
  struct kernel_statement *s = lower_add(l, KERNEL_LOAD);
  s->param = value;
  lower_defines(l, s, (enum superop_kind)l->op->kinds[value]);
  l->values[value] = s->value;
  return s->value;
}

static const struct superop_node *lower_definition(const struct lowering *l, uint32_t value) {
  for (uint32_t k = 0; k < l->op->node_count; k++) {
    const struct superop_node *node = &l->op->nodes[k];
    if (value >= node->result && value < node->result + node->result_count) return node;
  }
  return NULL;
}

/* The element of the position's segment: of a parameter or a CONST. */
static uint32_t lower_spread(struct lowering *l, uint32_t value, uint32_t near) {
  const enum superop_kind type = (enum superop_kind)l->op->kinds[value];
  if (value >= l->op->param_count)
    return lower_constant(l, &lower_definition(l, value)->constant, type);
  struct kernel_statement *s = lower_add(l, KERNEL_SPREAD);
  s->param = value;
  s->near = near;
  lower_defines(l, s, type);
  return s->value;
}

static uint32_t lower_map(struct lowering *l, enum opcode op, enum type_word word,
                          enum superop_kind type, uint32_t x, uint32_t y) {
  struct kernel_statement *s = lower_add(l, KERNEL_MAP);
  s->op = (uint16_t)op;
  s->word = (uint8_t)word;
  s->operands[0] = x;
  s->operands[1] = y;
  s->count = 2;
  lower_defines(l, s, type);
  return s->value;
}

/* ---- nodes ---- */

/* start + stride * offset, wrapping. */
static uint32_t lower_index(struct lowering *l, const struct superop_node *node) {
  const uint32_t near = node->operands[2];
  const uint32_t start = lower_spread(l, node->operands[0], near),
                 stride = lower_spread(l, node->operands[1], near);
  struct kernel_statement *s = lower_add(l, KERNEL_OFFSET);
  s->near = near;
  lower_defines(l, s, SUPEROP_INT);
  const uint32_t way = lower_map(l, OPC_MUL, TW_INT, SUPEROP_INT, s->value, stride);
  return lower_map(l, OPC_ADD, TW_INT, SUPEROP_INT, start, way);
}

/* Operands at the position; the first is number `first` of the node. */
static void lower_operands(struct lowering *l, const struct superop_node *node, unsigned first,
                           unsigned count, uint32_t *values) {
  for (unsigned i = 0; i < count; i++) values[i] = lower_read(l, node->operands[first + i]);
}

static uint32_t lower_gather(struct lowering *l, const struct superop_node *node) {
  const unsigned last = node->operand_count - 1U;
  const bool pick = node->role == ROLE_PICK, flagged = node->op == OPC_BFPERMUTE;
  uint32_t read[2] = {0};
  lower_operands(l, node, 1, 1U + flagged, read);
  struct kernel_statement *s = lower_add(l, KERNEL_GATHER);
  memcpy(s->operands, read, sizeof read);
  s->count = (uint8_t)(1 + flagged);
  s->param = node->operands[0];
  s->far = node->operands[pick ? last : last - 1];
  if (!pick) s->near = node->operands[last];
  s->checked = node->checked;
  lower_defines(l, s, (enum superop_kind)l->op->kinds[node->result]);
  return s->value;
}

/* A statement whose operands are read at the position. */
static struct kernel_statement *lower_plain(struct lowering *l, const struct superop_node *node,
                                            enum kernel_statement_kind kind, unsigned count) {
  uint32_t read[KERNEL_OPERANDS] = {0};
  lower_operands(l, node, 0, count, read);
  struct kernel_statement *s = lower_add(l, kind);
  memcpy(s->operands, read, sizeof read);
  s->count = (uint8_t)count;
  s->op = node->op;
  s->word = node->type;
  s->checked = node->checked;
  return s;
}

/* A consumer, whose output is the node's result. */
static void lower_consumer(struct lowering *l, const struct superop_node *node,
                           enum kernel_statement_kind kind, unsigned count) {
  struct kernel_statement *s = lower_plain(l, node, kind, count);
  s->output = node->result;
  s->type = l->op->kinds[node->result];
  s->near = node->operands[node->operand_count - 1];
}

static void lower_scatter(struct lowering *l, const struct superop_node *node) {
  const struct permute_operands at = permute_operands((enum opcode)node->op);
  lower_consumer(l, node, KERNEL_SCATTER, at.flags == NO_OPERAND ? 2 : 3);
  struct kernel_statement *s = &l->statements.items[l->statements.count - 1];
  s->near = node->operands[at.source];
  s->far = node->operands[at.destination];
  if (at.defaults != NO_OPERAND) s->param = node->operands[at.defaults];
}

static void lower_valued(struct lowering *l, const struct superop_node *node,
                         enum kernel_statement_kind kind, unsigned count) {
  struct kernel_statement *s = lower_plain(l, node, kind, count);
  lower_defines(l, s, (enum superop_kind)l->op->kinds[node->result]);
  l->values[node->result] = s->value;
}

/* A combination is one statement. */
static void lower_combination(struct lowering *l, uint32_t first) {
  const struct superop_combination at = superop_combination_at(l->op, first);
  const struct superop_node *nodes = l->op->nodes;
  uint32_t *columns = arena_alloc(l->arena, 2 * at.count * sizeof *columns);
  const bool scatters = nodes[at.ends].role == ROLE_COMBINE_SCATTER;
  for (uint32_t i = 0; i < at.count; i++) {
    const struct superop_node *end = &nodes[at.ends + i];
    columns[i] = lower_read(l, nodes[at.first + i].operands[0]);
    columns[at.count + i] = !scatters && end->op != SUPEROP_COMBINE_SCAN_INCLUSIVE
                                ? lower_spread(l, end->operands[2], end->operands[3])
                                : SUPEROP_NONE;
  }
  const uint32_t index = scatters ? lower_read(l, nodes[at.ends].operands[2]) : SUPEROP_NONE;
  l->node = at.ends;
  struct kernel_statement *s = lower_add(l, KERNEL_COMBINE);
  s->op = nodes[at.ends].op;
  const unsigned last = nodes[at.ends].operand_count - 1U;
  s->near = nodes[at.ends].operands[scatters ? last - 1 : last];
  if (scatters) s->far = nodes[at.ends].operands[last];
  s->count = (uint8_t)scatters;
  s->operands[0] = index;
  s->node = first;
  s->columns = columns;
  s->identities = columns + at.count;
  l->node = at.ends + at.count - 1;
}

static void lower_node(struct lowering *l) {
  const struct superop_node *node = &l->op->nodes[l->node];
  switch ((enum superop_role)node->role) {
  case ROLE_CONST: return; /* where it is spread */
  case ROLE_SPREAD:
    l->values[node->result] = lower_spread(l, node->operands[0], node->operands[1]);
    return;
  case ROLE_INDEX: l->values[node->result] = lower_index(l, node); return;
  case ROLE_GATHER:
  case ROLE_PICK: l->values[node->result] = lower_gather(l, node); return;
  case ROLE_MAP: lower_valued(l, node, KERNEL_MAP, node->operand_count); return;
  case ROLE_CARRY: lower_valued(l, node, KERNEL_CARRY, 1); return;
  case ROLE_WHILE: lower_plain(l, node, KERNEL_WHILE, 1); return;
  case ROLE_NEXT: lower_valued(l, node, KERNEL_NEXT, 2); return;
  case ROLE_ASSERT: lower_plain(l, node, KERNEL_CHECK, 1); return;
  case ROLE_REDUCE: lower_consumer(l, node, KERNEL_REDUCE, 1); return;
  case ROLE_SCAN: lower_consumer(l, node, KERNEL_SCAN, 1); return;
  case ROLE_PACK: lower_consumer(l, node, KERNEL_KEEP, 2); return;
  case ROLE_SCATTER: lower_scatter(l, node); return;
  case ROLE_COLUMN: lower_combination(l, l->node); return;
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER: return; /* of a combination */
  }
}

/* Outputs that have an element for each position are stored at the end. */
static void lower_outputs(struct lowering *l) {
  for (uint32_t i = 0; i < l->op->output_count; i++) {
    const uint32_t value = l->op->outputs[i];
    if (l->values[value] == SUPEROP_NONE) continue;
    struct kernel_statement *s = lower_add(l, KERNEL_STORE);
    s->operands[0] = l->values[value];
    s->count = 1;
    s->type = l->op->kinds[value];
    s->output = value;
  }
}

struct kernel *kernel_lower(struct arena *arena, const struct superop *op) {
  struct lowering l = {.arena = arena, .op = op};
  l.values = arena_alloc(arena, (op->value_count + 1) * sizeof *l.values);
  for (uint32_t v = 0; v < op->value_count; v++) l.values[v] = SUPEROP_NONE;
  for (; l.node < op->node_count; l.node++) {
    /* What only the message of a check needs is not computed. */
    if (!op->cold[l.node]) lower_node(&l);
  }
  lower_outputs(&l);
  struct kernel *k = arena_alloc(arena, sizeof *k);
  *k = (struct kernel){.op = op,
                       .statements = l.statements.items,
                       .count = (uint32_t)l.statements.count,
                       .values = (uint32_t)l.types.count,
                       .types = l.types.items};
  return k;
}
