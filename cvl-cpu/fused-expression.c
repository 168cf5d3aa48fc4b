/* fused-expression.c - several elementwise operations as one step (kernels-expression.h).
 *
 * Most intermediate results of FLOAT arithmetic have one use, the next operation. Such a map is
 * *inlined*: it is not a step, but computed within the step of its first use, if two
 * accumulators suffice for the whole expression tree. If it has later uses it is *stored* as
 * well. The leaves of a tree are parameters and results of other steps; they keep their buffers
 * until the root has been executed. A root may be a comparison.
 */
#include "cvl-cpu/fused-plan.h"
#include "cvl-cpu/kernels-expression.h"
#include "cvl-cpu/kernels.h"

enum { ACCUMULATORS = 2 };

/* ---- the plan ---- */

/* A map of FLOATs that cannot fail. */
static bool is_of_floats(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  if (node->role != ROLE_MAP || node->checked || k->nodes[n].combined || k->op->cold[n])
    return false;
  const uint32_t last = node->operands[node->operand_count - 1];
  return k->values[last].elem == k->c->float_elem && k->nodes[n].entry->error == CVL_E_NONE;
}

/* Whether a node may be an inner node of an expression; a root may also be another. */
static bool is_arithmetic(const struct cvl_kernel *k, uint32_t n) {
  if (!is_of_floats(k, n)) return false;
  switch ((int)k->nodes[n].op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_SELECT:
  case OP_SQRT: return true;
  default: return false;
  }
}

static bool is_comparison(const struct cvl_kernel *k, uint32_t n) {
  if (!is_of_floats(k, n)) return false;
  switch ((int)k->nodes[n].op) {
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE:
  case OP_EQ:
  case OP_NE: return true;
  default: return false;
  }
}

/* The operands that may be computed in accumulators: those from `first` to before `end`. A
 * square has one; other operations with the same value twice have none. */
struct inputs {
  unsigned first, end;
};

static struct inputs inputs_of(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  const enum cvl_op op = k->nodes[n].op;
  if (op == OP_SQRT) return (struct inputs){0, 1};
  const unsigned first = op == OP_SELECT;
  if (node->operands[first] != node->operands[first + 1]) {
    return (struct inputs){first, first + 2};
  }
  return (struct inputs){first, first + (op == OP_MUL)};
}

static bool reads(const struct cvl_kernel *k, uint32_t n, uint32_t value) {
  const struct superop_node *node = &k->op->nodes[n];
  for (unsigned i = 0; i < node->operand_count; i++) {
    if (node->operands[i] == value && superop_matters(node, i)) return !k->op->cold[n];
  }
  return false;
}

/* Whether a value may be computed within node n, which reads it. *before: the node before which
 * it must then be computed, the first later use. */
static bool may_be_inlined(const struct cvl_kernel *k, uint32_t value, uint32_t n,
                           uint32_t *before) {
  const struct fused_value *v = &k->values[value];
  if (v->node == SUPEROP_NONE || v->is_output || v->consumed || v->scattered) return false;
  const struct fused_node *from = &k->nodes[v->node];
  if (!is_arithmetic(k, v->node) || from->inlined || from->region != k->nodes[n].region) {
    return false;
  }
  *before = k->op->node_count;
  for (uint32_t r = v->node + 1; k->op->uses[value] > 1 && r < k->op->node_count; r++) {
    if (r == n || !reads(k, r, value)) continue;
    *before = r;
    break;
  }
  return *before > n && from->before > n;
}

/* The number of accumulators for operand i of a node: 0 if it is a leaf. */
static unsigned taken(const struct cvl_kernel *k, uint32_t n, unsigned i) {
  const uint32_t from = k->values[k->op->nodes[n].operands[i]].node;
  if (from == SUPEROP_NONE || !k->nodes[from].inlined || k->nodes[from].into != n) return 0;
  return k->nodes[from].accumulators;
}

static void inline_operand(struct cvl_kernel *k, uint32_t n, uint32_t value, bool beside) {
  struct fused_node *p = &k->nodes[n];
  uint32_t before;
  if (!may_be_inlined(k, value, n, &before)) return;
  struct fused_node *from = &k->nodes[k->values[value].node];
  if (p->expression_nodes + from->expression_nodes > FUSED_EXPRESSION_NODES) return;
  if (beside && from->accumulators == ACCUMULATORS) return;
  from->inlined = true;
  from->into = n;
  from->stored = before < k->op->node_count;
  p->expression_nodes = (uint8_t)(p->expression_nodes + from->expression_nodes);
  p->stores |= from->stored || from->stores;
  if (from->before < p->before) p->before = from->before;
  if (before < p->before) p->before = before;
}

static void inline_operands(struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  const struct inputs in = inputs_of(k, n);
  struct fused_node *p = &k->nodes[n];
  p->expression_nodes = p->accumulators = 1;
  p->before = k->op->node_count;
  if (in.end > in.first) inline_operand(k, n, node->operands[in.first], false);
  const unsigned left = in.end > in.first ? taken(k, n, in.first) : 0;
  if (in.end < in.first + 2) {
    if (left > 1) p->accumulators = (uint8_t)left;
    return;
  }
  inline_operand(k, n, node->operands[in.first + 1], left == ACCUMULATORS);
  const unsigned right = taken(k, n, in.first + 1);
  const unsigned most = left > right ? left : right;
  p->accumulators = (uint8_t)(most + (left == right));
}

/* Sets the root of a tree for all its nodes; the leaves are read until then. */
static void settle_root(struct cvl_kernel *k, uint32_t n, uint32_t root) {
  const struct superop_node *node = &k->op->nodes[n];
  k->nodes[n].root = root;
  for (unsigned i = 0; i < node->operand_count; i++) {
    struct fused_value *v = &k->values[node->operands[i]];
    if (taken(k, n, i) > 0) {
      settle_root(k, v->node, root);
    } else if (v->last_read < root) {
      v->last_read = root;
    }
  }
}

static bool is_loop_boundary(const struct superop_node *node) {
  return node->role == ROLE_CARRY || node->role == ROLE_WHILE || node->role == ROLE_NEXT;
}

/* Whether a node is the root of an expression, and no ordinary map. */
static bool is_root(const struct cvl_kernel *k, uint32_t n) {
  return k->nodes[n].expression_nodes >= 2 && !k->nodes[n].inlined;
}

void fused_expression_plan(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  uint32_t region = 0;
  for (uint32_t n = 0; n < op->node_count; n++) {
    region += is_loop_boundary(&op->nodes[n]);
    k->nodes[n].region = region;
    if (is_arithmetic(k, n) || is_comparison(k, n)) inline_operands(k, n);
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    if (!is_root(k, n)) continue;
    k->has_expressions = true;
    settle_root(k, n, n);
  }
}

/* The leaves of a node and of those inlined into it, recursively. */
uint32_t fused_expression_leaves(const struct cvl_kernel *k, uint32_t n, uint32_t *leaves) {
  const struct superop_node *node = &k->op->nodes[n];
  uint32_t count = 0;
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t v = node->operands[i];
    if (k->nodes[n].expression_nodes < 2 || taken(k, n, i) == 0) {
      leaves[count++] = v;
    } else if (i == 0 || node->operands[i - 1] != v) {
      count += fused_expression_leaves(k, k->values[v].node, leaves + count);
    }
  }
  return count;
}

uint32_t fused_expression_stored(const struct cvl_kernel *k, uint32_t n, uint32_t *values) {
  const struct superop_node *node = &k->op->nodes[n];
  uint32_t count = 0;
  if (!k->nodes[n].stores) return 0;
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t v = node->operands[i];
    if (taken(k, n, i) == 0 || (i > 0 && node->operands[i - 1] == v)) continue;
    if (k->nodes[k->values[v].node].stored) values[count++] = v;
    count += fused_expression_stored(k, k->values[v].node, values + count);
  }
  return count;
}

/* ---- the start of a run ---- */

/* Whether operand i is computed in the expression; a uniform value is not. */
static bool is_inner(const struct cvl_kernel *k, uint32_t n, unsigned i) {
  return taken(k, n, i) > 0 && k->values[k->op->nodes[n].operands[i]].run.storage != UNIFORM;
}

static void put(struct cvl_kernel *k, unsigned code, unsigned form, uint32_t value,
                uint32_t flags, uint32_t to) {
  k->expression_ops[k->expression_op_count++] =
      (struct fused_expression_op){(uint8_t)(code + EXPRESSION_CODES * form), value, flags, to};
}

static unsigned form_of(const struct cvl_kernel *k, unsigned accumulator, uint32_t value) {
  const bool one = k->values[value].run.storage == UNIFORM;
  return (accumulator == 0 ? EXPRESSION_A_VECTOR : EXPRESSION_B_VECTOR) + (one ? 1u : 0u);
}

/* The code of an operation with its operand x on the right, or on the left. */
static unsigned code_of(enum cvl_op op, bool on_left) {
  switch ((int)op) {
  case OP_ADD: return EXPRESSION_ADD;
  case OP_SUB: return on_left ? EXPRESSION_RSUB : EXPRESSION_SUB;
  case OP_MUL: return EXPRESSION_MUL;
  case OP_DIV: return on_left ? EXPRESSION_RDIV : EXPRESSION_DIV;
  case OP_SELECT: return on_left ? EXPRESSION_RSELECT : EXPRESSION_SELECT;
  case OP_LT: return on_left ? EXPRESSION_GT : EXPRESSION_LT;
  case OP_LE: return on_left ? EXPRESSION_GE : EXPRESSION_LE;
  case OP_GT: return on_left ? EXPRESSION_LT : EXPRESSION_GT;
  case OP_GE: return on_left ? EXPRESSION_LE : EXPRESSION_GE;
  case OP_EQ: return EXPRESSION_EQ;
  default: return EXPRESSION_NE;
  }
}

static void put_node(struct cvl_kernel *, uint32_t n, unsigned accumulator);

/* Appends the operations that bring operand i of a node into an accumulator. */
static void put_input(struct cvl_kernel *k, uint32_t n, unsigned i, unsigned accumulator) {
  const uint32_t v = k->op->nodes[n].operands[i];
  if (is_inner(k, n, i)) {
    put_node(k, k->values[v].node, accumulator);
  } else {
    put(k, EXPRESSION_LOAD, form_of(k, accumulator, v), v, SUPEROP_NONE, SUPEROP_NONE);
  }
}

/* Appends an operation of two operands, or of flags and two. */
static void put_binary(struct cvl_kernel *k, uint32_t n, unsigned accumulator) {
  const struct superop_node *node = &k->op->nodes[n];
  const enum cvl_op op = k->nodes[n].op;
  const unsigned first = op == OP_SELECT, second = first + 1;
  const uint32_t flags = op == OP_SELECT ? node->operands[0] : SUPEROP_NONE;
  const bool left = is_inner(k, n, first), right = is_inner(k, n, second);
  /* One operand is held in the accumulator; the other is in memory, or in B. */
  const bool both = left && right;
  const bool swapped = both ? taken(k, n, second) > taken(k, n, first) : right;
  const unsigned held = swapped ? second : first, other = swapped ? first : second;
  put_input(k, n, held, accumulator);
  if (both) put_input(k, n, other, 1);
  const uint32_t x = node->operands[other];
  put(k, code_of(op, swapped), both ? EXPRESSION_A_B : form_of(k, accumulator, x),
      both ? SUPEROP_NONE : x, flags, node->result);
}

/* Appends the operations that compute node n in an accumulator. In the last one, they need no
 * other. */
static void put_node(struct cvl_kernel *k, uint32_t n, unsigned accumulator) {
  const struct superop_node *node = &k->op->nodes[n];
  const struct inputs in = inputs_of(k, n);
  const unsigned form = accumulator == 0 ? EXPRESSION_A_VECTOR : EXPRESSION_B_VECTOR;
  if (in.end == in.first + 1) {
    const unsigned code = k->nodes[n].op == OP_SQRT ? EXPRESSION_SQRT : EXPRESSION_SQUARE;
    put_input(k, n, in.first, accumulator);
    put(k, code, form, SUPEROP_NONE, SUPEROP_NONE, SUPEROP_NONE);
  } else {
    put_binary(k, n, accumulator);
  }
  if (k->nodes[n].stored || (!k->nodes[n].inlined && !is_comparison(k, n))) {
    put(k, EXPRESSION_STORE, form, SUPEROP_NONE, SUPEROP_NONE, node->result);
  }
}

/* Whether the same values are uniform as in the last run that has asked; the first time, no. */
static bool as_before(struct cvl_kernel *k) {
  bool same = k->expression_op_count > 0;
  for (uint32_t v = 0; v < k->op->value_count; v++) {
    const bool uniform = k->values[v].run.storage == UNIFORM;
    same &= k->was_uniform[v] == uniform;
    k->was_uniform[v] = uniform;
  }
  return same;
}

static void write_programs(struct cvl_kernel *k) {
  k->expression_op_count = 0;
  for (uint32_t i = 0; i < k->step_count; i++) {
    const uint32_t n = k->steps[i];
    struct fused_node *p = &k->nodes[n];
    if (!is_root(k, n)) continue;
    p->first_op = k->expression_op_count;
    put_node(k, n, 0);
    p->op_count = k->expression_op_count - p->first_op;
  }
}

void fused_expression_bind(struct cvl_kernel *k) {
  if (!k->has_expressions) return;
  if (!as_before(k)) write_programs(k);
  for (uint32_t i = k->run.live_from; i < k->step_count; i++) {
    const uint32_t n = k->run.live_steps[i];
    if (is_root(k, n)) k->nodes[n].run.action = ACT_EXPRESSION;
  }
}

/* ---- running ---- */

static void *at(const struct fused_worker *w, uint32_t value, uint64_t first) {
  return value == SUPEROP_NONE ? NULL : fused_at(w, &w->k->values[value], first);
}

void fused_expression_run(struct fused_worker *w, const struct fused_node *p, uint64_t first,
                          uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct expression_kernels *kernels = k->c->kernels->expression;
  struct expression_op ops[3 * FUSED_EXPRESSION_NODES];
  for (uint32_t i = 0; i < p->op_count; i++) {
    const struct fused_expression_op *from = &k->expression_ops[p->first_op + i];
    ops[i].what = from->what;
    ops[i].x = at(w, from->value, first);
    ops[i].flags = at(w, from->flags, first);
    ops[i].to = at(w, from->to, first);
  }
  (k->c->float_elem == CVL_F64 ? kernels->f64 : kernels->f32)(n, ops, p->op_count);
}
