/* concatenate.c - scatters that write a contiguous vector: concatenation, boundary
 * elements around computed ones, padding with zeros.
 *
 * The index of such a scatter is start + position, and source and destination are one segment
 * each. The result holds the vector from `start` on, and the defaults, or zeros, elsewhere. If
 * the vector is computed by this superoperator and has no other use, its steps write directly
 * to the result; otherwise it is copied. Neither the index nor uniform flags are written.
 */
#include "cvl-cpu/fused/concatenate.h"

#include <string.h>

#include "cvl-cpu/fused/bind.h"

enum { VALUES, INDEX, OTHER, SOURCE, TARGET }; /* operands; OTHER: defaults or flags */

static bool concatenate_defined_by(const struct cvl_kernel *k, uint32_t value,
                                   enum superop_role role) {
  const uint32_t n = k->values[value].node;
  return n != SUPEROP_NONE && k->op->nodes[n].role == role;
}

void fused_concatenate_plan(struct cvl_kernel *k) {
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    const struct superop_node *node = &k->op->nodes[n];
    const bool with_defaults = k->nodes[n].op == OP_DPERMUTE;
    if (node->role != ROLE_SCATTER || (!with_defaults && k->nodes[n].op != OP_FPERMUTE))
      continue;
    k->nodes[n].may_concatenate =
        concatenate_defined_by(k, node->operands[INDEX], ROLE_INDEX) &&
        (with_defaults ? node->operands[OTHER] < k->op->param_count
                       : concatenate_defined_by(k, node->operands[OTHER], ROLE_SPREAD));
  }
}

void fused_drop_use(struct fused_value *v) {
  if (++v->run.dropped != v->consumers || v->is_output) return;
  v->run.unwanted = true;
  v->run.needed = false;
}

bool fused_is_true(const struct fused_value *flags) {
  return flags->run.storage == UNIFORM && flags->run.one && *(const uint8_t *)flags->run.one;
}

void fused_concatenate_bind(struct cvl_kernel *k, uint32_t n,
                            const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[n];
  struct fused_node *p = &k->nodes[n];
  p->run.concatenated = false;
  if (!p->may_concatenate || k->run.n < 2) return;
  p->run.near = value_segments(&operands[node->operands[SOURCE]]);
  p->run.far = value_segments(&operands[node->operands[TARGET]]);
  struct fused_value *v = &k->values[node->operands[VALUES]];
  struct fused_value *index = &k->values[node->operands[INDEX]];
  struct fused_value *flags = p->op == OP_FPERMUTE ? &k->values[node->operands[OTHER]] : NULL;
  if (p->run.near.count != 1 || p->run.far.count != 1 || !index->run.is_affine) return;
  if (!fused_counts_up(index, k->run.n, p->run.far.total, &p->run.start)) return;
  if (flags && !fused_is_true(flags)) return;

  p->run.concatenated = true;
  fused_drop_use(index);
  if (flags) fused_drop_use(flags);
  if (v->node != SUPEROP_NONE && v->consumers == 1 && !v->is_output) v->run.concatenated_by = n;
}

/* Makes the result, and writes the defaults before and behind the vector. The memory of the
 * defaults becomes the result if they have no other use. */
static bool concatenate_make_whole(struct cvl_kernel *k, uint32_t n,
                                   const struct cvl_value *operands, struct cvl_value *out) {
  const struct superop_node *node = &k->op->nodes[n];
  const struct fused_node *p = &k->nodes[n];
  const struct fused_value *v = &k->values[node->operands[VALUES]];
  const uint32_t other = node->operands[OTHER];
  const bool with_defaults = p->op == OP_DPERMUTE;
  struct cvl_vector *reuse = NULL;
  if (with_defaults && k->op->uses[other] == 1 && !fused_shared(k, operands, other)) {
    reuse = value_reusable(&operands[other], v->bytes);
  }
  if (!result_new(k->c, k->run.site + n, (enum cvl_elem)v->elem, p->run.far.total, reuse,
                  out)) {
    return false;
  }
  if (reuse) return true;
  char *to = result_data(out);
  const size_t before = p->run.start * v->bytes, after = (p->run.start + k->run.n) * v->bytes;
  const size_t end = p->run.far.total * v->bytes;
  const uint64_t site = k->run.site + n;
  if (with_defaults) {
    const char *from = value_data(&operands[other]);
    return copy_bytes(k->c, site, to, from, before) &&
           copy_bytes(k->c, site, to + after, from + after, end - after);
  }
  return clear_bytes(k->c, site, to, before) &&
         clear_bytes(k->c, site, to + after, end - after);
}

bool fused_concatenate_room(struct cvl_kernel *k, struct fused_value *v,
                            const struct cvl_value *operands) {
  v->run.before = k->nodes[v->run.concatenated_by].run.start;
  return concatenate_make_whole(k, v->run.concatenated_by, operands, &v->run.whole);
}

bool fused_concatenate(struct cvl_kernel *k, uint32_t n, const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[n];
  struct fused_value *v = &k->values[node->operands[VALUES]];
  struct cvl_value *result = &k->values[node->result].run.whole;
  if (v->run.concatenated_by == n) {
    *result = v->run.whole;
    v->run.whole.form = CVL_NOTHING;
    return true;
  }
  const struct cvl_value *values =
      v->node == SUPEROP_NONE ? &operands[node->operands[VALUES]] : &v->run.whole;
  if (!concatenate_make_whole(k, n, operands, result)) return false;
  return copy_bytes(k->c, k->run.site + n,
                    (char *)result_data(result) + k->nodes[n].run.start * v->bytes,
                    value_data(values), k->run.n * v->bytes);
}
