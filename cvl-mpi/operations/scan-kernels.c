/* scan-kernels.c - derives two superoperators from a scan by a user-defined function: the
 * reduction by that function, and its exclusive scan under other descriptors.
 */
#include "cvl-mpi/operations/scan-kernels.h"

#include <string.h>

#include "cvl-mpi/operations/fit.h"
#include "cvl-mpi/operations/superops.h"
#include "cvl-mpi/values/memory.h"

/* ---- the combination ---- */

static bool scan_kernels_is_spread_constant(const struct superop *op,
                                            const struct superop_node *node) {
  return node->role == ROLE_SPREAD && fit_constant(op, node->operands[0]);
}

/* Finds the combination. Returns false if the superoperator has anything else. */
static bool find_combination(struct combine_scan *s) {
  const struct superop *op = s->op;
  uint32_t first = 0;
  while (first < op->node_count && op->nodes[first].role != ROLE_COLUMN) {
    const struct superop_node *node = &op->nodes[first++];
    if (node->role != ROLE_CONST && !scan_kernels_is_spread_constant(op, node)) return false;
  }
  if (first == op->node_count) return false;
  s->at = superop_combination_at(op, first);
  uint32_t end = s->at.ends + s->at.count;
  while (end < op->node_count && op->nodes[end].role == ROLE_CONST) end++;
  return end == op->node_count && op->nodes[s->at.ends].role == ROLE_COMBINE_SCAN;
}

/* Finds the parameters of each column. Returns false if a column has none, or shares it with
 * another one. */
static bool scan_kernels_find_columns(struct combine_scan *s) {
  for (uint32_t k = 0; k < s->at.count; k++) {
    const struct superop_node *end = &s->op->nodes[s->at.ends + k];
    const bool identity =
        end->op == SUPEROP_COMBINE_SCAN && end->operands[2] < s->op->param_count;
    s->param[k] = s->op->nodes[s->at.first + k].operands[0];
    s->identity[k] = identity ? end->operands[2] : SUPEROP_NONE;
    if (s->param[k] >= s->op->param_count) return false;
    for (uint32_t i = 0; i < k; i++) {
      if (s->param[i] == s->param[k]) return false;
    }
  }
  return true;
}

/* ---- derived superoperators ---- */

/* Returns the number that a value of the scan has in a derived superoperator. */
static uint32_t scan_kernels_moved(const struct combine_scan *s, uint32_t value) {
  return value < s->op->param_count ? value : value + s->at.count + 1;
}

static uint8_t *derive_params(struct combine_scan *s) {
  const uint32_t n = s->op->param_count;
  uint8_t *kinds = arena_alloc(&s->arena, n + s->at.count + 1);
  memcpy(kinds, s->op->params, n);
  for (uint32_t k = 0; k < s->at.count; k++) kinds[n + k] = s->op->params[s->param[k]];
  kinds[n + s->at.count] = SUPEROP_SEGDES;
  return kinds;
}

static struct superop_node *derive_nodes(struct combine_scan *s, uint16_t op) {
  const uint32_t n = s->op->param_count;
  struct superop_node *nodes = arena_alloc(&s->arena, s->op->node_count * sizeof *nodes);
  for (uint32_t k = 0; k < s->op->node_count; k++) {
    nodes[k] = s->op->nodes[k];
    for (uint32_t i = 0; i < nodes[k].operand_count; i++)
      nodes[k].operands[i] = scan_kernels_moved(s, nodes[k].operands[i]);
  }
  for (uint32_t k = 0; k < s->at.count; k++) {
    struct superop_node *to = &nodes[s->at.ends + k];
    to->op = op;
    to->operand_count = 4;
    to->operands[2] = n + k;
    to->operands[3] = n + s->at.count;
  }
  return nodes;
}

/* Returns false if there would be too many values. */
static bool scan_kernels_derive(struct cvl_context *c, struct combine_scan *s, uint16_t op,
                                struct derived_kernels *d) {
  uint32_t *outputs = arena_alloc(&s->arena, s->at.count * sizeof *outputs), node;
  const char *why;
  for (uint32_t k = 0; k < s->at.count; k++)
    outputs[k] = scan_kernels_moved(s, s->op->nodes[s->at.ends + k].result);
  d->op = (struct superop){.number = s->op->number,
                           .param_count = s->op->param_count + s->at.count + 1,
                           .node_count = s->op->node_count,
                           .output_count = s->at.count,
                           .params = derive_params(s),
                           .nodes = derive_nodes(s, op),
                           .outputs = outputs};
  const bool made = superop_complete(&s->arena, &d->op, &why, &node);
  if (!made && !why) mpi_no_memory(c);
  if (made) d->kernel = c->b->superops->prepare(c->inner, &d->op);
  return made;
}

/* ---- the pair ---- */

static enum cvl_elem param_elem(const struct cvl_context *c, const struct superop *op,
                                uint32_t param) {
  return superop_elem((enum superop_kind)op->params[param], c->int_elem, c->float_elem);
}

struct combine_scan *combine_scan_new(struct cvl_context *c, const struct superop *op) {
  if (!c->b->tiles || op->copies) return NULL;
  struct combine_scan *s = mpi_alloc(c, sizeof *s);
  s->op = op;
  if (!find_combination(s) || !scan_kernels_find_columns(s)) {
    mpi_free(c, s);
    return NULL;
  }
  heap_init(&s->heap, 0);
  arena_init(&s->arena, &s->heap);
  for (uint32_t k = 0; k < s->at.count; k++) s->elem[k] = param_elem(c, op, s->param[k]);
  if (scan_kernels_derive(c, s, SUPEROP_COMBINE_REDUCE, &s->totals) &&
      scan_kernels_derive(c, s, SUPEROP_COMBINE_SCAN, &s->before))
    return s;
  combine_scan_free(c, s);
  return NULL;
}

void combine_scan_free(struct cvl_context *c, struct combine_scan *s) {
  if (!s) return;
  if (s->totals.kernel) c->b->superops->discard(c->inner, s->totals.kernel);
  if (s->before.kernel) c->b->superops->discard(c->inner, s->before.kernel);
  if (s->in_blocks) mpi_discard_step(c, s->in_blocks);
  arena_free(&s->arena);
  mpi_free(c, s);
}

struct cvl_value *derived_operands(struct cvl_context *c, const struct combine_scan *s,
                                   const struct cvl_value *columns, uint64_t n,
                                   const struct cvl_value *identities,
                                   struct cvl_value descriptor) {
  const struct superop *op = s->op;
  const uint32_t count = s->at.count;
  struct cvl_value *in = mpi_alloc(c, s->totals.op.param_count * sizeof *in);
  for (uint32_t i = 0; i < op->param_count; i++) {
    in[i] = cvl_one_segment(n);
    if (op->params[i] != SUPEROP_SEGDES) in[i] = zero_of(param_elem(c, op, i));
  }
  for (uint32_t k = 0; k < count; k++) {
    in[s->param[k]] = columns[k];
    in[s->param[k]].owned = 0;
    in[op->param_count + k] = identities[k];
  }
  in[op->param_count + count] = descriptor;
  return in;
}
