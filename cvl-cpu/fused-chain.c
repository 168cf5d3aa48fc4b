/* fused-chain.c - expressions of several maps as one step (kernels-chain.h).
 *
 * Of arithmetic on FLOATs most intermediate results are read once, by the next operation. Such
 * a map is *chained*: it is no step of its own but part of that of its reader, if two
 * accumulators do for the whole tree. What the tree reads, its leaves, are what other steps
 * make, or parameters; they stay in their buffers up to the root.
 */
#include "cvl-cpu/fused-plan.h"
#include "cvl-cpu/kernels-chain.h"
#include "cvl-cpu/kernels.h"

enum { ACCUMULATORS = 2 };

/* ---- the plan ---- */

static bool is_arithmetic(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  if (node->role != ROLE_MAP || node->checked || k->op->cold[n]) return false;
  if (k->values[node->result].elem != k->c->float_elem) return false;
  switch ((int)k->nodes[n].op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV: return k->nodes[n].entry->error == CVL_E_NONE;
  default: return false;
  }
}

static bool may_be_chained(const struct cvl_kernel *k, uint32_t value) {
  const struct fused_value *v = &k->values[value];
  return v->node != SUPEROP_NONE && is_arithmetic(k, v->node) && k->op->uses[value] == 1 &&
         !v->is_output && !v->consumed && !v->told;
}

/* The accumulators that operand i of a node takes: 0 if it is a leaf. */
static unsigned taken(const struct cvl_kernel *k, const struct superop_node *node, unsigned i) {
  const uint32_t from = k->values[node->operands[i]].node;
  return from != SUPEROP_NONE && k->nodes[from].chained ? k->nodes[from].accumulators : 0;
}

static unsigned nodes_of(const struct cvl_kernel *k, uint32_t value) {
  return k->nodes[k->values[value].node].chain_nodes;
}

static void chain_operands(struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  struct fused_node *p = &k->nodes[n];
  p->chain_nodes = 1;
  for (unsigned i = 0; i < 2; i++) {
    const uint32_t v = node->operands[i];
    if (!may_be_chained(k, v) || p->chain_nodes + nodes_of(k, v) > FUSED_CHAIN_NODES) continue;
    struct fused_node *from = &k->nodes[k->values[v].node];
    if (i == 1 && taken(k, node, 0) == ACCUMULATORS && from->accumulators == ACCUMULATORS) {
      continue;
    }
    from->chained = true;
    p->chain_nodes = (uint8_t)(p->chain_nodes + from->chain_nodes);
  }
  const unsigned left = taken(k, node, 0), right = taken(k, node, 1);
  const unsigned most = left > right ? left : right;
  p->accumulators = (uint8_t)(most + (left == right));
}

/* The leaves below a node are read where the root is. */
static void keep_leaves(struct cvl_kernel *k, const struct superop_node *node, uint32_t root) {
  for (unsigned i = 0; i < 2; i++) {
    struct fused_value *v = &k->values[node->operands[i]];
    if (taken(k, node, i) > 0) {
      keep_leaves(k, &k->op->nodes[v->node], root);
    } else if (v->last_read < root) {
      v->last_read = root;
    }
  }
}

void fused_chain_plan(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  if (superop_has_loops(op)) return; /* their steps have an order of their own */
  for (uint32_t n = 0; n < op->node_count; n++) {
    if (is_arithmetic(k, n)) chain_operands(k, n);
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    if (k->nodes[n].chain_nodes > 1 && !k->nodes[n].chained) {
      keep_leaves(k, &op->nodes[n], n);
    }
  }
}

uint32_t fused_chain_leaves(const struct cvl_kernel *k, uint32_t n, uint32_t *leaves) {
  const struct superop_node *node = &k->op->nodes[n];
  uint32_t count = 0;
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t v = node->operands[i];
    if (k->nodes[n].chain_nodes > 1 && taken(k, node, i) > 0) {
      count += fused_chain_leaves(k, k->values[v].node, leaves + count);
    } else {
      leaves[count++] = v;
    }
  }
  return count;
}

/* ---- the start of a run ---- */

/* Whether operand i is computed in the chain; what is the same at all places is not. */
static bool is_inner(const struct cvl_kernel *k, const struct superop_node *node, unsigned i) {
  return taken(k, node, i) > 0 && k->values[node->operands[i]].place != IN_ALL_PLACES;
}

static void put(struct cvl_kernel *k, unsigned code, unsigned accumulator, uint32_t value) {
  const bool one = k->values[value].place == IN_ALL_PLACES;
  const unsigned first = accumulator == 0 ? CHAIN_A_VECTOR : CHAIN_B_VECTOR;
  k->chains[k->chain_count++] =
      (struct fused_chain){(uint8_t)(code + CHAIN_CODES * (first + one)), value};
}

/* The code of an operation whose operand x is on the right, or on the left. */
static unsigned code_of(enum cvl_op op, bool on_left) {
  switch ((int)op) {
  case OP_ADD: return CHAIN_ADD;
  case OP_SUB: return on_left ? CHAIN_RSUB : CHAIN_SUB;
  case OP_MUL: return CHAIN_MUL;
  default: return on_left ? CHAIN_RDIV : CHAIN_DIV;
  }
}

/* Appends what computes node n in an accumulator; with the last one, none other is free. */
static void put_node(struct cvl_kernel *k, uint32_t n, unsigned accumulator) {
  const struct superop_node *node = &k->op->nodes[n];
  const uint32_t *v = node->operands;
  const bool left = is_inner(k, node, 0), right = is_inner(k, node, 1);
  if (left && right) {
    const bool swapped = taken(k, node, 1) > taken(k, node, 0);
    put_node(k, k->values[v[swapped]].node, 0);
    put_node(k, k->values[v[!swapped]].node, 1);
    const unsigned code = code_of(k->nodes[n].op, swapped);
    k->chains[k->chain_count++] =
        (struct fused_chain){(uint8_t)(code + CHAIN_CODES * CHAIN_A_B), v[!swapped]};
    return;
  }
  if (left) {
    put_node(k, k->values[v[0]].node, accumulator);
  } else if (right) {
    put_node(k, k->values[v[1]].node, accumulator);
  } else {
    put(k, CHAIN_LOAD, accumulator, v[0]);
  }
  put(k, code_of(k->nodes[n].op, right), accumulator, v[!right]);
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

void fused_chain_run(struct fused_worker *w, const struct fused_node *p, uint64_t first,
                     uint64_t n, const struct fused_value *result) {
  const struct cvl_kernel *k = w->k;
  const struct chain_kernels *kernels = k->c->kernels->chain;
  struct chain_op ops[2 * FUSED_CHAIN_NODES];
  for (uint32_t i = 0; i < p->chain_ops; i++) {
    const struct fused_chain *from = &k->chains[p->chain + i];
    ops[i].what = from->what;
    ops[i].x = from->what / CHAIN_CODES == CHAIN_A_B
                   ? NULL
                   : fused_at(w, &k->values[from->value], first);
  }
  (result->bytes == sizeof(double) ? kernels->f64 : kernels->f32)(n, ops, p->chain_ops,
                                                                  fused_at(w, result, first));
}
