/* superop-loop.c - the loops of superoperators: the rows of their nodes, and the checks of
 * their shape.
 */
#include "cvl/superop.h"

#include <string.h>

/* ---- the rows ---- */

enum { LEN_0 = SIZE_LEN, LEN_1 = SIZE_LEN | 1 };

static const struct opcode_info loop_rows[SUPEROP_COLUMN - OPC_COUNT] = {
    {.spelling = "CARRY",
     .klass = OC_CONTROL,
     .types = T_IFB,
     .operands = "T",
     .results = "T",
     .result_size = LEN_0,
     .operation = OP_NONE,
     .doc = "the value in the first round of a loop"},
    {.spelling = "WHILE",
     .klass = OC_CONTROL,
     .operands = "b",
     .results = "",
     .operation = OP_NONE,
     .doc = "positions where the flag is F finish"},
    {.spelling = "NEXT",
     .klass = OC_CONTROL,
     .types = T_IFB,
     .operands = "TT",
     .results = "T",
     .rules = {{LEN_0, LEN_1}},
     .result_size = LEN_0,
     .operation = OP_NONE,
     .doc = "the first operand becomes the second in the next round"},
};

const struct opcode_info *superop_info(uint32_t op) {
  if (op < OPC_COUNT) return opcode_info((enum opcode)op);
  return op < SUPEROP_COLUMN ? &loop_rows[op - OPC_COUNT] : superop_combination_row(op);
}

bool superop_find(const char *text, size_t length, uint32_t *op) {
  for (*op = OPC_COUNT; *op < SUPEROP_OPS; ++*op) {
    const char *spelling = superop_info(*op)->spelling;
    if (strlen(spelling) == length && memcmp(spelling, text, length) == 0) return true;
  }
  enum opcode found;
  if (!opcode_find(text, length, &found)) return false;
  *op = found;
  return true;
}

/* ---- where a loop is ---- */

struct superop_loop superop_loop_at(const struct superop *op, uint32_t first) {
  struct superop_loop l = {.first = first, .test = first};
  while (op->nodes[first + l.count].role == ROLE_CARRY) l.count++;
  while (op->nodes[l.test].role != ROLE_WHILE) l.test++;
  l.next = l.test + 1;
  while (op->nodes[l.next].role != ROLE_NEXT) l.next++;
  l.last = l.next + l.count - 1;
  return l;
}

uint32_t superop_loop_of(const struct superop *op, uint32_t k) {
  const uint32_t value = op->nodes[k].operands[0];
  if (op->nodes[k].role == ROLE_NEXT) {
    while (op->nodes[k].role != ROLE_CARRY || op->nodes[k].result != value) k--;
  }
  while (k > 0 && op->nodes[k - 1].role == ROLE_CARRY) k--;
  return k;
}

bool superop_has_loops(const struct superop *op) {
  return superop_first(op, ROLE_CARRY) < op->node_count;
}

/* ---- the shape ---- */

struct check {
  const struct superop *op;
  const uint32_t *definitions;
  /* whether node k is in a loop */
  bool inside, tested, any;
  uint32_t first, carried, nexts;
  /* for every node: one more than the first node of the loop it is hidden in */
  uint32_t *loops;
};

/* Returns why a value may not be an operand of node k, or NULL if it may. */
static const char *superop_loop_refuse_operand(const struct check *c, uint32_t k,
                                               uint32_t value) {
  bool param = value < c->op->param_count;
  uint32_t loop = param ? 0 : c->loops[c->definitions[value]];
  if (loop && (!c->inside || loop != c->first + 1)) {
    return "an operand is inside a loop, of which only the results of NEXT are known";
  }
  if (!c->inside || c->op->nodes[k].role == ROLE_CARRY || loop) return NULL;
  return superop_spreads_constant(c->op, c->definitions, value)
             ? NULL
             : "an operand comes from outside of the loop and is not carried";
}

/* Checks node k against the nodes before it. Returns a message, or NULL. */
static const char *superop_loop_pass(struct check *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  switch ((enum superop_role)node->role) {
  case ROLE_CARRY:
    if (!c->inside) {
      c->inside = c->any = true;
      c->tested = false;
      c->first = k;
      c->carried = c->nexts = 0;
    }
    if (k != c->first + c->carried) return "CARRY may only be at the beginning of a loop";
    c->carried++;
    return NULL;
  case ROLE_WHILE:
    if (!c->inside || c->tested) return "a loop has one WHILE";
    c->tested = true;
    return NULL;
  case ROLE_NEXT:
    if (!c->inside || !c->tested) return "NEXT may only be at the end of a loop";
    if (node->operands[0] != c->op->nodes[c->first + c->nexts].result) {
      return "every carried value has its NEXT, in the order of CARRY";
    }
    c->nexts++;
    return NULL;
  case ROLE_MAP:
    if (c->inside && c->nexts > 0) return "every carried value has its NEXT";
    if (c->inside && node->checked) return "it may fail, which nothing in a loop may";
    return NULL;
  case ROLE_CONST:
  case ROLE_SPREAD:
  case ROLE_INDEX:
  case ROLE_GATHER:
  case ROLE_PICK:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_SCATTER:
  case ROLE_COLUMN:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER:
  case ROLE_ASSERT: break;
  }
  return c->inside ? "a loop may contain elementwise operations only" : NULL;
}

/* Values that a round reads are needed up to the end of the loop. */
static void superop_loop_extend_uses(struct superop *op, const uint32_t *definitions,
                                     uint32_t first, uint32_t last) {
  for (uint32_t k = first; k <= last; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (uint32_t i = 0; node->role != ROLE_CARRY && i < node->operand_count; i++) {
      uint32_t v = node->operands[i];
      if (v < op->param_count || definitions[v] < first ||
          op->nodes[definitions[v]].role == ROLE_CARRY) {
        if (op->last_use[v] < last) op->last_use[v] = last;
      }
    }
  }
}

bool superop_complete_loops(struct superop *op, const uint32_t *definitions, const char **why,
                            uint32_t *node) {
  uint32_t loops[SUPEROP_VALUES_MAX] = {0};
  struct check c = {.op = op, .definitions = definitions, .loops = loops};
  for (uint32_t k = 0; k < op->node_count; k++) {
    *node = k;
    *why = superop_loop_pass(&c, k);
    for (uint32_t i = 0; !*why && i < op->nodes[k].operand_count; i++) {
      *why = superop_loop_refuse_operand(&c, k, op->nodes[k].operands[i]);
    }
    if (*why) return false;
    loops[k] = c.inside && op->nodes[k].role != ROLE_NEXT ? c.first + 1 : 0;
    if (!c.inside || c.nexts < c.carried) continue;
    c.inside = false;
    superop_loop_extend_uses(op, definitions, c.first, k);
  }
  for (uint32_t i = 0; i < op->output_count && !c.inside; i++) {
    uint32_t v = op->outputs[i];
    if (v < op->param_count || v >= op->value_count || !loops[definitions[v]]) continue;
    *node = definitions[v];
    *why = "an output is inside a loop, of which only the results of NEXT are known";
    return false;
  }
  *node = op->node_count;
  *why = c.inside ? "a loop does not end" : NULL;
  for (uint32_t k = 0; k < op->node_count && c.any && !*why; k++) {
    *node = k;
    if (op->nodes[k].role == ROLE_ASSERT) *why = "ASSERT and a loop are in one superoperator";
  }
  return !*why;
}
