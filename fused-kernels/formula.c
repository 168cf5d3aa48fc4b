/* formula.c - a superoperator on one line, for people: infix operators, functions and
 * subscripts.
 *
 * Copies that only check are shown as "check" and the last node.
 *
 * Parameters are called by kind: x FLOAT, i INT, p BOOL, s SEGDES, numbered where there are
 * several. A value with several uses is called t and defined before. Of an ASSERT only its
 * flags are shown, in front. The operands of a combination are called a and b.
 */
#include "base/number.h"
#include "fused-kernels/fused.h"

#include <string.h>

enum { DEEPEST = 24 }; /* an expression that nests deeper ends in "..." */

struct formula {
  const struct superop *op;
  char *dst;
  size_t size, used;
  uint16_t uses[SUPEROP_VALUES_MAX]; /* of every value, where they are shown */
  uint32_t shown; /* 1 + the first node of the loop or combination that was shown last */
};

static void formula_put(struct formula *f, const char *text) {
  size_t room = f->size - 1 - f->used, n = strlen(text);
  if (n > room) n = room;
  memcpy(f->dst + f->used, text, n);
  f->used += n;
  f->dst[f->used] = '\0';
}

static void put_numbered(struct formula *f, const char *letter, uint32_t number) {
  char text[NUMBER_TEXT_MAX];
  formula_put(f, letter);
  if (number == 0) return;
  format_int(text, number);
  formula_put(f, text);
}

static void put_param(struct formula *f, uint32_t v) {
  static const char *const letters[] = {"i", "x", "p", "s"};
  uint32_t same = 0, before = 0;
  for (uint32_t k = 0; k < f->op->param_count; k++) {
    same += f->op->params[k] == f->op->params[v];
    before += k < v && f->op->params[k] == f->op->params[v];
  }
  put_numbered(f, letters[f->op->params[v]], same == 1 ? 0 : before + 1);
}

/* The node that defines a value, not a parameter: by binary search, as results increase. */
static uint32_t definition_of(const struct superop *op, uint32_t value) {
  uint32_t low = 0, high = op->node_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (op->nodes[middle].result <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Whether a node is called t, and defined before it is used. */
static bool is_named(const struct formula *f, const struct superop_node *node) {
  return node->role != ROLE_CONST && node->role != ROLE_CARRY && node->role != ROLE_SPREAD &&
         node->result_count == 1 && f->uses[node->result] > 1;
}

static uint32_t shared_before(const struct formula *f, uint32_t node) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < node; k++) count += is_named(f, &f->op->nodes[k]);
  return count;
}

static void count_uses(struct formula *f) {
  const struct superop *op = f->op;
  for (uint32_t i = 0; i < op->output_count; i++) f->uses[op->outputs[i]]++;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (unsigned i = 0; i < node->operand_count && !op->cold[k]; i++) {
      if (superop_matters(node, i)) f->uses[node->operands[i]]++;
    }
  }
}

static void put_node(struct formula *f, const struct superop_node *node, unsigned depth);

/* Carried value i of a loop is called r. */
static void put_carried(struct formula *f, const struct superop_loop *l, uint32_t i) {
  put_numbered(f, "r", l->count == 1 ? 0 : i + 1);
}

/* The first node of the combination that a COLUMN or a consumer belongs to. */
static uint32_t combination_of(const struct superop *op, uint32_t k) {
  while (op->nodes[k].role != ROLE_COLUMN) k--;
  while (k > 0 && op->nodes[k - 1].role == ROLE_COLUMN) k--;
  return k;
}

static bool is_combination(const struct superop_node *node) {
  return node->role == ROLE_COMBINE_REDUCE || node->role == ROLE_COMBINE_SCAN ||
         node->role == ROLE_COMBINE_SCATTER;
}

/* The operands of column i are called a and b. */
static void formula_put_column(struct formula *f, const struct superop_combination *c,
                               const char *letter, uint32_t i) {
  put_numbered(f, letter, c->count == 1 ? 0 : i + 1);
}

/* An operand: a parameter, a name, or an expression. */
static void put_value(struct formula *f, uint32_t v, unsigned depth) {
  if (v < f->op->param_count) {
    put_param(f, v);
    return;
  }
  uint32_t k = definition_of(f->op, v);
  const struct superop_node *node = &f->op->nodes[k];
  if (node->role == ROLE_CARRY) {
    struct superop_loop l = superop_loop_at(f->op, superop_loop_of(f->op, k));
    put_carried(f, &l, k - l.first);
  } else if (node->role == ROLE_COLUMN) {
    struct superop_combination c = superop_combination_at(f->op, combination_of(f->op, k));
    formula_put_column(f, &c, v == node->result ? "a" : "b", k - c.first);
  } else if (is_named(f, node)) {
    put_numbered(f, "t", shared_before(f, k) + 1);
  } else if (depth == DEEPEST) {
    formula_put(f, "...");
  } else {
    put_node(f, node, depth + 1);
  }
}

static void put_list(struct formula *f, const struct superop_node *node, unsigned count,
                     unsigned depth) {
  for (unsigned i = 0; i < count; i++) {
    if (i != 0) formula_put(f, ", ");
    put_value(f, node->operands[i], depth);
  }
}

static void put_constant(struct formula *f, const struct superop_node *node) {
  char text[NUMBER_TEXT_MAX] = "";
  if (node->type == TW_INT) format_int(text, cvl_int_of(&node->constant));
  if (node->type == TW_FLOAT) vcode_format_real(text, cvl_float_of(&node->constant));
  if (node->type == TW_BOOL) strcpy(text, node->constant.as.b ? "T" : "F");
  formula_put(f, text);
}

/* "sqrt", "max": what is not a symbol, in small letters. */
static void put_function(struct formula *f, const char *spelling, size_t length) {
  char text[NUMBER_TEXT_MAX] = "";
  for (size_t i = 0; i < length && i + 1 < sizeof text; i++) {
    char c = spelling[i];
    text[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    text[i + 1] = '\0';
  }
  formula_put(f, text);
}

static void put_map(struct formula *f, const struct superop_node *node, unsigned depth) {
  static const struct {
    uint16_t op;
    const char *symbol;
  } symbols[] = {{OPC_LSHIFT, "<<"},
                 {OPC_RSHIFT, ">>"},
                 {OPC_AND, "and"},
                 {OPC_OR, "or"},
                 {OPC_XOR, "xor"}};
  const char *spelling = opcode_info((enum opcode)node->op)->spelling, *symbol = NULL;
  if (node->operand_count == 2) {
    symbol = spelling;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
      if (symbols[i].op == node->op) symbol = symbols[i].symbol;
    }
  }
  if (node->op == OPC_SELECT) {
    formula_put(f, "if ");
    put_value(f, node->operands[0], depth);
    formula_put(f, " then ");
    put_value(f, node->operands[1], depth);
    formula_put(f, " else ");
    put_value(f, node->operands[2], depth);
  } else if (symbol != NULL) {
    put_value(f, node->operands[0], depth);
    formula_put(f, " ");
    formula_put(f, symbol);
    formula_put(f, " ");
    put_value(f, node->operands[1], depth);
  } else {
    put_function(f, spelling, strlen(spelling));
    formula_put(f, "(");
    put_list(f, node, node->operand_count, depth);
    formula_put(f, ")");
  }
}

/* "sum by s (...)": a reduction or scan, its descriptor in front. */
static void put_combination(struct formula *f, const struct superop_node *node,
                            unsigned depth) {
  const char *spelling = opcode_info((enum opcode)node->op)->spelling;
  if (*spelling == '+')
    formula_put(f, "sum");
  else if (*spelling == '*')
    formula_put(f, "product");
  else
    put_function(f, spelling, (size_t)(strchr(spelling, '_') - spelling));
  if (node->role == ROLE_SCAN) formula_put(f, " scan");
  formula_put(f, " by ");
  put_value(f, node->operands[1], depth);
  formula_put(f, " (");
  put_value(f, node->operands[0], 0);
  formula_put(f, ")");
}

/* "t3 after t3 = 1.0, t4 = i while t4 < 10: t3 = t3 * x, t4 = t4 + 1": a carried value where
 * the loop has ended. The loop itself is shown once, with its first result. */
static void put_loop(struct formula *f, const struct superop_node *node) {
  const struct superop *op = f->op;
  struct superop_loop l =
      superop_loop_at(op, superop_loop_of(op, (uint32_t)(node - op->nodes)));
  put_carried(f, &l, (uint32_t)(node - op->nodes) - l.next);
  formula_put(f, " after");
  if (f->shown == l.first + 1) {
    formula_put(f, " that");
    return;
  }
  f->shown = l.first + 1;
  for (uint32_t i = 0; i < l.count; i++) {
    formula_put(f, i ? ", " : " ");
    put_carried(f, &l, i);
    formula_put(f, " = ");
    put_value(f, op->nodes[l.first + i].operands[0], 1);
  }
  formula_put(f, " while ");
  put_value(f, op->nodes[l.test].operands[0], 1);
  bool first = true;
  for (uint32_t i = 0; i < l.count; i++) {
    const uint32_t *v = op->nodes[l.next + i].operands;
    if (v[0] == v[1]) continue;
    formula_put(f, first ? ": " : ", ");
    first = false;
    put_carried(f, &l, i);
    formula_put(f, " = ");
    put_value(f, v[1], 1);
  }
}

/* "a", or "(a1, a2)". */
static void put_columns(struct formula *f, const struct superop_combination *c,
                        const char *letter) {
  if (c->count > 1) formula_put(f, "(");
  for (uint32_t i = 0; i < c->count; i++) {
    if (i) formula_put(f, ", ");
    formula_put_column(f, c, letter, i);
  }
  if (c->count > 1) formula_put(f, ")");
}

/* " (x, y)": operand `operand` of `count` nodes. */
static void put_operands(struct formula *f, uint32_t first, uint32_t count, uint32_t operand) {
  formula_put(f, " (");
  for (uint32_t k = first; k < first + count; k++) {
    if (k != first) formula_put(f, ", ");
    put_value(f, f->op->nodes[k].operands[operand], 0);
  }
  formula_put(f, ")");
}

/* "column 2 of ", where not all results are used. */
static void put_used(struct formula *f, const struct superop_combination *c) {
  uint32_t used = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    used += f->op->uses[f->op->nodes[c->ends + i].result] > 0;
  }
  if (used == c->count || used == 0) return;
  formula_put(f, used == 1 ? "column" : "columns");
  for (uint32_t i = 0; i < c->count; i++) {
    if (f->op->uses[f->op->nodes[c->ends + i].result] > 0) put_numbered(f, " ", i + 1);
  }
  formula_put(f, " of ");
}

/* "combine (a, b) -> (a * b + a) by s (x)": a combination, with its first result that is shown.
 */
static void put_tree(struct formula *f, const struct superop_node *node) {
  const struct superop *op = f->op;
  const struct superop_combination c =
      superop_combination_at(op, combination_of(op, (uint32_t)(node - op->nodes)));
  if (f->shown == c.first + 1) {
    put_numbered(f, "column ", (uint32_t)(node - op->nodes) - c.ends + 1);
    formula_put(f, " of that");
    return;
  }
  f->shown = c.first + 1;
  put_used(f, &c);
  formula_put(f, "combine ");
  if (node->role == ROLE_COMBINE_SCAN) formula_put(f, "scan ");
  if (node->op == SUPEROP_COMBINE_SCAN_INCLUSIVE) formula_put(f, "inclusive ");
  if (node->role == ROLE_COMBINE_SCATTER) formula_put(f, "scatter ");
  formula_put(f, "(");
  put_columns(f, &c, "a");
  formula_put(f, ", ");
  put_columns(f, &c, "b");
  formula_put(f, ") ->");
  put_operands(f, c.ends, c.count, 1);
  if (node->role == ROLE_COMBINE_SCATTER) {
    formula_put(f, " at ");
    put_value(f, node->operands[2], 1);
    formula_put(f, " into");
    put_operands(f, c.ends, c.count, 3);
  } else {
    formula_put(f, " by ");
    put_value(f, node->operands[node->operand_count - 1], 1);
  }
  put_operands(f, c.first, c.count, 0);
}

static void put_node(struct formula *f, const struct superop_node *node, unsigned depth) {
  bool infix = (node->role == ROLE_MAP && node->operand_count > 1) ||
               (node->role == ROLE_SPREAD && node->operands[0] < f->op->param_count);
  if (infix && depth > 1) formula_put(f, "(");
  switch ((enum superop_role)node->role) {
  case ROLE_CONST: put_constant(f, node); break;
  case ROLE_SPREAD: /* a constant needs no word */
    put_value(f, node->operands[0], depth);
    if (node->operands[0] >= f->op->param_count) break;
    formula_put(f, " over ");
    put_value(f, node->operands[1], depth);
    break;
  case ROLE_INDEX:
    formula_put(f, "index(");
    put_list(f, node, 3, 0);
    formula_put(f, ")");
    break;
  case ROLE_GATHER:
  case ROLE_PICK:
    put_value(f, node->operands[0], depth);
    formula_put(f, "[");
    put_value(f, node->operands[1], 0);
    if (node->op == OPC_BFPERMUTE) {
      formula_put(f, " where ");
      put_value(f, node->operands[2], 0);
    }
    formula_put(f, "]");
    break;
  case ROLE_MAP: put_map(f, node, depth); break;
  case ROLE_CARRY: put_value(f, node->operands[0], depth); break;
  case ROLE_NEXT: put_loop(f, node); break;
  case ROLE_COLUMN:
  case ROLE_WHILE: break;
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER: put_tree(f, node); break;
  case ROLE_REDUCE:
  case ROLE_SCAN: put_combination(f, node, depth); break;
  case ROLE_ASSERT:
    formula_put(f, "assert ");
    put_value(f, node->operands[0], 0);
    break;
  case ROLE_PACK:
  case ROLE_SCATTER:
    put_function(f, opcode_info((enum opcode)node->op)->spelling,
                 strlen(opcode_info((enum opcode)node->op)->spelling));
    formula_put(f, "(");
    put_list(f, node, node->operand_count, 0);
    formula_put(f, ")");
    break;
  }
  if (infix && depth > 1) formula_put(f, ")");
}

char *fused_formula(const struct superop *op, char *dst, size_t size) {
  struct formula f = {op, dst, size, 0, {0}, 0};
  dst[0] = '\0';
  count_uses(&f);
  bool ended = true;
  for (uint32_t k = 0; k < op->node_count && f.used + 1 < size; k++) {
    bool named = is_named(&f, &op->nodes[k]);
    if (!named && op->nodes[k].role != ROLE_ASSERT) continue;
    if (!ended) formula_put(&f, "; ");
    if (named) {
      put_numbered(&f, "t", shared_before(&f, k) + 1);
      formula_put(&f, " = ");
    }
    put_node(&f, &op->nodes[k], 1);
    ended = false;
  }
  if (!ended && op->output_count > 0) formula_put(&f, "; ");
  if (op->copies && op->output_count == 0) { /* it only checks */
    formula_put(&f, "check ");
    put_node(&f, &op->nodes[op->node_count - 1], 1);
  }
  bool first = true;
  uint32_t seen = SUPEROP_NONE; /* a pack or a combination whose results are outputs */
  for (uint32_t i = 0; i < op->output_count && f.used + 1 < size; i++) {
    uint32_t k = definition_of(op, op->outputs[i]);
    const struct superop_node *node = &op->nodes[k];
    const uint32_t whole = is_combination(node) ? combination_of(op, k) : k;
    if (whole == seen) continue;
    seen = whole;
    if (!first) formula_put(&f, ", ");
    first = false;
    if (is_named(&f, node))
      put_numbered(&f, "t", shared_before(&f, k) + 1);
    else
      put_node(&f, node, 1);
  }
  return dst;
}
