/* fused-chain.c - expressions of several maps as one step (kernels-chain.h).
 *
 * Of arithmetic on FLOATs most intermediate results are read by the next operation, and often
 * by nobody else. Such a map is *chained*: it is no step of its own but part of that of its
 * first reader, if two accumulators do for the whole tree. Where others read it later it is
 * *stored* on the way. What the tree reads, its leaves, are what other steps make, or
 * parameters; they stay in their buffers up to the root. A root may be a comparison.
 */
#include "cvl-cpu/fused-plan.h"
#include "cvl-cpu/kernels-chain.h"
#include "cvl-cpu/kernels.h"

enum { ACCUMULATORS = 2 };

/* ---- the plan ---- */

/* A map of FLOATs that cannot fail. */
static bool is_of_floats(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  if (node->role != ROLE_MAP || node->checked || k->op->cold[n]) return false;
  const uint32_t last = node->operands[node->operand_count - 1];
  return k->values[last].elem == k->c->float_elem && k->nodes[n].entry->error == CVL_E_NONE;
}

/* Whether a node may be part of a chain; others may be its root. */
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

/* Operands that accumulators may hold: those from `first` to before `end`. A square takes one;
 * other operations on the same value twice none. */
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

/* Whether a value may be computed where node n reads it, and before which node it then has to
 * be: if others read it they come later. */
static bool may_be_chained(const struct cvl_kernel *k, uint32_t value, uint32_t n,
                           uint32_t *before) {
  const struct fused_value *v = &k->values[value];
  if (v->node == SUPEROP_NONE || v->is_output || v->consumed || v->scattered) return false;
  const struct fused_node *from = &k->nodes[v->node];
  if (!is_arithmetic(k, v->node) || from->chained || from->region != k->nodes[n].region) {
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

/* The accumulators that operand i of a node takes: 0 if it is a leaf. */
static unsigned taken(const struct cvl_kernel *k, uint32_t n, unsigned i) {
  const uint32_t from = k->values[k->op->nodes[n].operands[i]].node;
  if (from == SUPEROP_NONE || !k->nodes[from].chained || k->nodes[from].into != n) return 0;
  return k->nodes[from].accumulators;
}

static void chain_operand(struct cvl_kernel *k, uint32_t n, uint32_t value, bool beside) {
  struct fused_node *p = &k->nodes[n];
  uint32_t before;
  if (!may_be_chained(k, value, n, &before)) return;
  struct fused_node *from = &k->nodes[k->values[value].node];
  if (p->chain_nodes + from->chain_nodes > FUSED_CHAIN_NODES) return;
  if (beside && from->accumulators == ACCUMULATORS) return;
  from->chained = true;
  from->into = n;
  from->stored = before < k->op->node_count;
  p->chain_nodes = (uint8_t)(p->chain_nodes + from->chain_nodes);
  p->stores |= from->stored || from->stores;
  if (from->before < p->before) p->before = from->before;
  if (before < p->before) p->before = before;
}

static void chain_operands(struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  const struct inputs in = inputs_of(k, n);
  struct fused_node *p = &k->nodes[n];
  p->chain_nodes = p->accumulators = 1;
  p->before = k->op->node_count;
  if (in.end > in.first) chain_operand(k, n, node->operands[in.first], false);
  const unsigned left = in.end > in.first ? taken(k, n, in.first) : 0;
  if (in.end < in.first + 2) {
    if (left > 1) p->accumulators = (uint8_t)left;
    return;
  }
  chain_operand(k, n, node->operands[in.first + 1], left == ACCUMULATORS);
  const unsigned right = taken(k, n, in.first + 1);
  const unsigned most = left > right ? left : right;
  p->accumulators = (uint8_t)(most + (left == right));
}

/* What is below a node is computed with the root, and the leaves are read there. */
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

static bool is_loop_border(const struct superop_node *node) {
  return node->role == ROLE_CARRY || node->role == ROLE_WHILE || node->role == ROLE_NEXT;
}

void fused_chain_plan(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  uint32_t region = 0;
  for (uint32_t n = 0; n < op->node_count; n++) {
    region += is_loop_border(&op->nodes[n]);
    k->nodes[n].region = region;
    if (is_arithmetic(k, n) || is_comparison(k, n)) chain_operands(k, n);
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    if (k->nodes[n].chain_nodes > 1 && !k->nodes[n].chained) settle_root(k, n, n);
  }
}

/* The operands of a node with what is chained to it: calls itself for each of those. */
uint32_t fused_chain_leaves(const struct cvl_kernel *k, uint32_t n, uint32_t *leaves) {
  const struct superop_node *node = &k->op->nodes[n];
  uint32_t count = 0;
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t v = node->operands[i];
    if (k->nodes[n].chain_nodes < 2 || taken(k, n, i) == 0) {
      leaves[count++] = v;
    } else if (i == 0 || node->operands[i - 1] != v) {
      count += fused_chain_leaves(k, k->values[v].node, leaves + count);
    }
  }
  return count;
}

uint32_t fused_chain_stored(const struct cvl_kernel *k, uint32_t n, uint32_t *values) {
  const struct superop_node *node = &k->op->nodes[n];
  uint32_t count = 0;
  if (!k->nodes[n].stores) return 0;
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t v = node->operands[i];
    if (taken(k, n, i) == 0 || (i > 0 && node->operands[i - 1] == v)) continue;
    if (k->nodes[k->values[v].node].stored) values[count++] = v;
    count += fused_chain_stored(k, k->values[v].node, values + count);
  }
  return count;
}

/* ---- the start of a run ---- */

/* Whether operand i is computed in the chain; what is the same at all places is not. */
static bool is_inner(const struct cvl_kernel *k, uint32_t n, unsigned i) {
  return taken(k, n, i) > 0 && k->values[k->op->nodes[n].operands[i]].place != IN_ALL_PLACES;
}

static void put(struct cvl_kernel *k, unsigned code, unsigned form, uint32_t value,
                uint32_t flags, uint32_t to) {
  k->chains[k->chain_count++] =
      (struct fused_chain){(uint8_t)(code + CHAIN_CODES * form), value, flags, to};
}

static unsigned form_of(const struct cvl_kernel *k, unsigned accumulator, uint32_t value) {
  const bool one = k->values[value].place == IN_ALL_PLACES;
  return (accumulator == 0 ? CHAIN_A_VECTOR : CHAIN_B_VECTOR) + (one ? 1u : 0u);
}

/* The code of an operation whose operand x is on the right, or on the left. */
static unsigned code_of(enum cvl_op op, bool on_left) {
  switch ((int)op) {
  case OP_ADD: return CHAIN_ADD;
  case OP_SUB: return on_left ? CHAIN_RSUB : CHAIN_SUB;
  case OP_MUL: return CHAIN_MUL;
  case OP_DIV: return on_left ? CHAIN_RDIV : CHAIN_DIV;
  case OP_SELECT: return on_left ? CHAIN_RSELECT : CHAIN_SELECT;
  case OP_LT: return on_left ? CHAIN_GT : CHAIN_LT;
  case OP_LE: return on_left ? CHAIN_GE : CHAIN_LE;
  case OP_GT: return on_left ? CHAIN_LT : CHAIN_GT;
  case OP_GE: return on_left ? CHAIN_LE : CHAIN_GE;
  case OP_EQ: return CHAIN_EQ;
  default: return CHAIN_NE;
  }
}

static void put_node(struct cvl_kernel *, uint32_t n, unsigned accumulator);

/* Operand i of a node in an accumulator. */
static void put_input(struct cvl_kernel *k, uint32_t n, unsigned i, unsigned accumulator) {
  const uint32_t v = k->op->nodes[n].operands[i];
  if (is_inner(k, n, i)) {
    put_node(k, k->values[v].node, accumulator);
  } else {
    put(k, CHAIN_LOAD, form_of(k, accumulator, v), v, SUPEROP_NONE, SUPEROP_NONE);
  }
}

/* An operation of two operands, or of flags and two. */
static void put_binary(struct cvl_kernel *k, uint32_t n, unsigned accumulator) {
  const struct superop_node *node = &k->op->nodes[n];
  const enum cvl_op op = k->nodes[n].op;
  const unsigned first = op == OP_SELECT, second = first + 1;
  const uint32_t flags = op == OP_SELECT ? node->operands[0] : SUPEROP_NONE;
  const bool left = is_inner(k, n, first), right = is_inner(k, n, second);
  /* The other operand stays where it is, or comes from B. */
  const bool both = left && right;
  const bool swapped = both ? taken(k, n, second) > taken(k, n, first) : right;
  const unsigned held = swapped ? second : first, other = swapped ? first : second;
  put_input(k, n, held, accumulator);
  if (both) put_input(k, n, other, 1);
  const uint32_t x = node->operands[other];
  put(k, code_of(op, swapped), both ? CHAIN_A_B : form_of(k, accumulator, x),
      both ? SUPEROP_NONE : x, flags, node->result);
}

/* Appends what computes node n in an accumulator; with the last one, none other is free. */
static void put_node(struct cvl_kernel *k, uint32_t n, unsigned accumulator) {
  const struct superop_node *node = &k->op->nodes[n];
  const struct inputs in = inputs_of(k, n);
  const unsigned form = accumulator == 0 ? CHAIN_A_VECTOR : CHAIN_B_VECTOR;
  if (in.end == in.first + 1) {
    const unsigned code = k->nodes[n].op == OP_SQRT ? CHAIN_SQRT : CHAIN_SQUARE;
    put_input(k, n, in.first, accumulator);
    put(k, code, form, SUPEROP_NONE, SUPEROP_NONE, SUPEROP_NONE);
  } else {
    put_binary(k, n, accumulator);
  }
  if (k->nodes[n].stored || (!k->nodes[n].chained && !is_comparison(k, n))) {
    put(k, CHAIN_STORE, form, SUPEROP_NONE, SUPEROP_NONE, node->result);
  }
}

void fused_chain_bind(struct cvl_kernel *k) {
  k->chain_count = 0;
  for (uint32_t i = k->live_from; i < k->step_count; i++) {
    const uint32_t n = k->live_steps[i];
    struct fused_node *p = &k->nodes[n];
    if (p->chain_nodes < 2) continue;
    p->action = ACT_CHAIN;
    p->chain = k->chain_count;
    put_node(k, n, 0);
    p->chain_ops = k->chain_count - p->chain;
  }
}

/* ---- running ---- */

static void *at(const struct fused_worker *w, uint32_t value, uint64_t first) {
  return value == SUPEROP_NONE ? NULL : fused_at(w, &w->k->values[value], first);
}

void fused_chain_run(struct fused_worker *w, const struct fused_node *p, uint64_t first,
                     uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct chain_kernels *kernels = k->c->kernels->chain;
  struct chain_op ops[3 * FUSED_CHAIN_NODES];
  for (uint32_t i = 0; i < p->chain_ops; i++) {
    const struct fused_chain *from = &k->chains[p->chain + i];
    ops[i].what = from->what;
    ops[i].x = at(w, from->value, first);
    ops[i].flags = at(w, from->flags, first);
    ops[i].to = at(w, from->to, first);
  }
  (k->c->float_elem == CVL_F64 ? kernels->f64 : kernels->f32)(n, ops, p->chain_ops);
}
