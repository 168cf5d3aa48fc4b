/* superop-combine.c - the combinations of superoperators: the rows of their nodes, and the
 * checks of their shape.
 */
#include "cvl/superop.h"

/* ---- the rows ---- */

#define LEN(k)   (SIZE_LEN | (k))
#define TOTAL(k) (SIZE_TOTAL | (k))
#define COUNT(k) (SIZE_COUNT | (k))

/* The positions of operands of consumers. Before these come the left result of the column and
 * f's value for it. */
enum { IDENTITY = 2, INDEX = 2, OTHERS = 2 };

static const struct opcode_info rows[SUPEROP_OPS - SUPEROP_COLUMN] = {
    {.spelling = "COLUMN",
     .klass = OC_CONTROL,
     .types = T_IFB,
     .operands = "T",
     .results = "TT",
     .result_size = LEN(0),
     .operation = OP_NONE,
     .doc = "the left and the right operand of a combination, of elements of this column"},
    {.spelling = "COMBINE_REDUCE",
     .klass = OC_CONTROL,
     .types = T_IFB,
     .operands = "TTTs",
     .results = "T",
     .rules = {{LEN(0), TOTAL(3)}, {LEN(1), TOTAL(3)}, {LEN(IDENTITY), COUNT(3)}},
     .result_size = COUNT(3),
     .operation = OP_NONE,
     .doc = "the combination of each segment"},
    {.spelling = "COMBINE_SCAN",
     .klass = OC_CONTROL,
     .types = T_IFB,
     .operands = "TTTs",
     .results = "T",
     .rules = {{LEN(0), TOTAL(3)}, {LEN(1), TOTAL(3)}, {LEN(IDENTITY), COUNT(3)}},
     .result_size = LEN(0),
     .operation = OP_NONE,
     .doc = "the combination of the elements before each one, in its segment"},
    {.spelling = "COMBINE_SCAN_INCLUSIVE",
     .klass = OC_CONTROL,
     .types = T_IFB,
     .operands = "TTs",
     .results = "T",
     .rules = {{LEN(0), TOTAL(2)}, {LEN(1), TOTAL(2)}},
     .result_size = LEN(0),
     .operation = OP_NONE,
     .doc = "the combination of the elements up to each one, in its segment"},
    {.spelling = "COMBINE_SCATTER",
     .klass = OC_CONTROL,
     .types = T_IFB,
     .operands = "TTiTss",
     .results = "T",
     .rules = {{LEN(0), TOTAL(4)},
               {LEN(1), TOTAL(4)},
               {LEN(INDEX), TOTAL(4)},
               {LEN(3), TOTAL(5)},
               {COUNT(4), COUNT(5)}},
     .result_size = LEN(3),
     .operation = OP_NONE,
     .fault = CVL_E_INDEX,
     .doc = "each default combined with the elements whose index is its own"},
};

const struct opcode_info *superop_combination_row(uint32_t op) {
  return &rows[op - SUPEROP_COLUMN];
}

static bool superop_combine_is_consumer(uint8_t role) {
  return role == ROLE_COMBINE_REDUCE || role == ROLE_COMBINE_SCAN ||
         role == ROLE_COMBINE_SCATTER;
}

bool superop_waives(const struct superop *op, const struct superop_node *node,
                    const struct size_rule *rule) {
  return node->operand_count == 4 && superop_combine_is_consumer(node->role) &&
         rule->a == LEN(IDENTITY) && node->operands[IDENTITY] >= op->param_count;
}

/* ---- where a combination is ---- */

struct superop_combination superop_combination_at(const struct superop *op, uint32_t first) {
  struct superop_combination c = {.first = first};
  while (op->nodes[first + c.count].role == ROLE_COLUMN) c.count++;
  c.ends = first + c.count;
  while (!superop_combine_is_consumer(op->nodes[c.ends].role)) c.ends++;
  return c;
}

bool superop_has_combinations(const struct superop *op) {
  return superop_first(op, ROLE_COLUMN) < op->node_count;
}

/* ---- the shape ---- */

struct check {
  const struct superop *op;
  const uint32_t *definitions;
  /* whether node k is in a combination */
  bool inside;
  uint32_t first, columns, ends;
  /* for every node: 0, or one more than the first node of the combination in which its results
   * are hidden */
  uint32_t *hidden;
};

static const char *refuse_column(struct check *c, uint32_t k) {
  if (!c->inside) {
    c->inside = true;
    c->first = k;
    c->columns = c->ends = 0;
  }
  if (k != c->first + c->columns) {
    return "COLUMN may only be at the beginning of a combination";
  }
  return ++c->columns > SUPEROP_COLUMNS_MAX ? "a combination has at most 8 columns" : NULL;
}

/* Whether two consumers of a COMBINE_SCATTER scatter alike. */
static bool same_index(const struct superop_node *a, const struct superop_node *b) {
  return a->operands[INDEX] == b->operands[INDEX] && a->operands[4] == b->operands[4] &&
         a->operands[5] == b->operands[5];
}

static const char *refuse_consumer(struct check *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k], *before = &node[-1];
  if (!c->inside) return "its combination, which begins with COLUMN, is missing";
  if (node->operands[0] != c->op->nodes[c->first + c->ends].result) {
    return "every COLUMN has its consumer, in their order, whose first operand is the left "
           "result of the COLUMN";
  }
  if (c->ends > 0 && node->op != before->op) {
    return "all consumers of a combination are of one kind";
  }
  if (c->ends > 0 && node->role == ROLE_COMBINE_SCATTER && !same_index(before, node)) {
    return "all consumers of a combination have the same index and descriptors";
  }
  c->ends++;
  return NULL;
}

/* Checks node k against the nodes before it. Returns a message, or NULL. */
static const char *superop_combine_pass(struct check *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  switch ((enum superop_role)node->role) {
  case ROLE_COLUMN: return refuse_column(c, k);
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER: return refuse_consumer(c, k);
  case ROLE_MAP:
    if (c->inside && c->ends > 0) {
      return "the consumers of a combination follow each other, one for every COLUMN";
    }
    if (c->inside && node->checked) return "it may fail, which nothing in a combination may";
    return NULL;
  case ROLE_CONST:
  case ROLE_SPREAD:
    if (c->inside) return "a constant has to be before the combination that uses it";
    return NULL;
  case ROLE_INDEX:
  case ROLE_GATHER:
  case ROLE_PICK:
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_SCATTER:
  case ROLE_ASSERT: break;
  }
  return c->inside ? "a combination may contain elementwise operations only" : NULL;
}

/* Returns why a value may not be operand i of node k, or NULL if it may. */
static const char *superop_combine_refuse_operand(const struct check *c, uint32_t k,
                                                  uint32_t i) {
  const struct superop_node *node = &c->op->nodes[k];
  const uint32_t value = node->operands[i];
  const uint32_t of = value < c->op->param_count ? 0 : c->hidden[c->definitions[value]];
  const bool of_function = c->inside && node->role != ROLE_COLUMN &&
                           !(superop_combine_is_consumer(node->role) && i >= OTHERS);
  if (of && !(of_function && of == c->first + 1)) {
    return "an operand is inside a combination, of which only the results are known";
  }
  if (!of_function || of || superop_spreads_constant(c->op, c->definitions, value)) return NULL;
  return "an operand comes from outside of the combination, and is no column of it";
}

/* A value that a combination reads is needed up to its end, since f is computed again and
 * again. */
static void superop_combine_extend_uses(struct superop *op, const uint32_t *definitions,
                                        uint32_t first, uint32_t last) {
  for (uint32_t k = first; k <= last; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (uint32_t i = 0; i < node->operand_count; i++) {
      const uint32_t v = node->operands[i];
      const bool outside = v < op->param_count || definitions[v] < first;
      if (outside && op->last_use[v] < last) op->last_use[v] = last;
    }
  }
}

/* Finds an output that is hidden, and its node. False if there is none. */
static bool find_hidden_output(const struct check *c, uint32_t *node) {
  for (uint32_t i = 0; i < c->op->output_count; i++) {
    const uint32_t v = c->op->outputs[i];
    if (v < c->op->param_count || v >= c->op->value_count) continue;
    *node = c->definitions[v];
    if (c->hidden[*node]) return true;
  }
  return false;
}

bool superop_complete_combinations(struct superop *op, const uint32_t *definitions,
                                   const char **why, uint32_t *node) {
  uint32_t hidden[SUPEROP_VALUES_MAX] = {0};
  struct check c = {.op = op, .definitions = definitions, .hidden = hidden};
  for (uint32_t k = 0; k < op->node_count; k++) {
    *node = k;
    *why = superop_combine_pass(&c, k);
    for (uint32_t i = 0; !*why && i < op->nodes[k].operand_count; i++) {
      *why = superop_combine_refuse_operand(&c, k, i);
    }
    if (*why) return false;
    hidden[k] = c.inside && !superop_combine_is_consumer(op->nodes[k].role) ? c.first + 1 : 0;
    if (!c.inside || c.ends < c.columns) continue;
    c.inside = false;
    superop_combine_extend_uses(op, definitions, c.first, k);
  }
  *node = op->node_count;
  *why = c.inside ? "a combination does not end" : NULL;
  if (!*why && find_hidden_output(&c, node)) {
    *why = "an output is inside a combination, of which only the results are known";
  }
  if (!*why) *node = op->node_count;
  return !*why;
}
