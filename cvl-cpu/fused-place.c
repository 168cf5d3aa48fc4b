/* fused-place.c - scatters that put a vector down as it is: concatenation, a border around what
 * was computed, zeros before and behind.
 *
 * The index of such a scatter counts up by one from a start, and everything goes into one
 * segment. Then the result holds the vector from the start on, and the defaults around it.
 * Where the vector is made by this superoperator and only for this, its steps write to the
 * result; otherwise it is copied. Neither the index nor flags that are all T are made.
 */
#include <string.h>

#include "cvl-cpu/fused-plan.h"

enum { VALUES, INDEX, OTHER, SOURCE, TARGET }; /* operands; OTHER: defaults or flags */

static bool made_by(const struct cvl_kernel *k, uint32_t value, enum superop_role role) {
  const uint32_t n = k->values[value].node;
  return n != SUPEROP_NONE && k->op->nodes[n].role == role;
}

void fused_place_plan(struct cvl_kernel *k) {
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    const struct superop_node *node = &k->op->nodes[n];
    const bool with_defaults = k->nodes[n].op == OP_DPERMUTE;
    if (node->role != ROLE_SCATTER || (!with_defaults && k->nodes[n].op != OP_FPERMUTE))
      continue;
    k->nodes[n].placeable = made_by(k, node->operands[INDEX], ROLE_INDEX) &&
                            (with_defaults ? node->operands[OTHER] < k->op->param_count
                                           : made_by(k, node->operands[OTHER], ROLE_SPREAD));
  }
}

/* One reader less wants the value as a whole. */
static void leave(struct fused_value *v) {
  if (++v->left != v->consumers || v->is_output) return;
  v->unwanted = true;
  v->needed = false;
}

bool fused_is_true(const struct fused_value *flags) {
  return flags->place == IN_ALL_PLACES && flags->one && *(const uint8_t *)flags->one;
}

void fused_place_bind(struct cvl_kernel *k, uint32_t n, const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[n];
  struct fused_node *p = &k->nodes[n];
  p->placed = false;
  if (!p->placeable || k->n < 2) return;
  p->near = value_segments(&operands[node->operands[SOURCE]]);
  p->far = value_segments(&operands[node->operands[TARGET]]);
  struct fused_value *v = &k->values[node->operands[VALUES]];
  struct fused_value *index = &k->values[node->operands[INDEX]];
  struct fused_value *flags = p->op == OP_FPERMUTE ? &k->values[node->operands[OTHER]] : NULL;
  if (p->near.count != 1 || p->far.count != 1 || !index->progresses) return;
  if (!fused_counts_up(index, k->n, p->far.total, &p->start)) return;
  if (flags && !fused_is_true(flags)) return;

  p->placed = true;
  leave(index);
  if (flags) leave(flags);
  if (v->node != SUPEROP_NONE && v->consumers == 1 && !v->is_output) v->placed_by = n;
}

/* The result with what surrounds the vector. The defaults become the result if nobody else
 * needs them. */
static bool make_whole(struct cvl_kernel *k, uint32_t n, const struct cvl_value *operands,
                       struct cvl_value *out) {
  const struct superop_node *node = &k->op->nodes[n];
  const struct fused_node *p = &k->nodes[n];
  const struct fused_value *v = &k->values[node->operands[VALUES]];
  const uint32_t other = node->operands[OTHER];
  const bool with_defaults = p->op == OP_DPERMUTE;
  struct cvl_vector *reuse = NULL;
  if (with_defaults && k->op->uses[other] == 1 && !fused_shared(k, operands, other)) {
    reuse = value_reusable(&operands[other], v->bytes);
  }
  if (!result_new(k->c, k->site + n, (enum cvl_elem)v->elem, p->far.total, reuse, out)) {
    return false;
  }
  if (reuse) return true;
  char *to = result_data(out);
  const size_t before = p->start * v->bytes, after = (p->start + k->n) * v->bytes;
  const size_t end = p->far.total * v->bytes;
  const uint64_t site = k->site + n;
  if (with_defaults) {
    const char *from = value_data(&operands[other]);
    return copy_bytes(k->c, site, to, from, before) &&
           copy_bytes(k->c, site, to + after, from + after, end - after);
  }
  return clear_bytes(k->c, site, to, before) &&
         clear_bytes(k->c, site, to + after, end - after);
}

bool fused_place_room(struct cvl_kernel *k, struct fused_value *v,
                      const struct cvl_value *operands) {
  v->before = k->nodes[v->placed_by].start;
  return make_whole(k, v->placed_by, operands, &v->whole);
}

bool fused_place(struct cvl_kernel *k, uint32_t n, const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[n];
  struct fused_value *v = &k->values[node->operands[VALUES]];
  struct cvl_value *result = &k->values[node->result].whole;
  if (v->placed_by == n) {
    *result = v->whole;
    v->whole.form = CVL_NOTHING;
    return true;
  }
  const struct cvl_value *values =
      v->node == SUPEROP_NONE ? &operands[node->operands[VALUES]] : &v->whole;
  if (!make_whole(k, n, operands, result)) return false;
  return copy_bytes(k->c, k->site + n,
                    (char *)result_data(result) + k->nodes[n].start * v->bytes,
                    value_data(values), k->n * v->bytes);
}
