/* check.c - assertions of debug builds: descriptors, plans and results must be as cpu.h and
 * fused/plan.h say. An error here would become a wrong address in another operation.
 */
#include "base/check.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/fused/plan.h"

#ifdef RAVEL_DEBUG

void segdes_check(const struct cvl_segdes *d) {
  invariant(d->held.references > 0 && d->total <= INT64_MAX);
  if (d->held.form == SEGDES_EQUAL) {
    invariant(d->equal == 0 || d->count <= INT64_MAX / d->equal);
    invariant(d->count * d->equal == d->total);
    return;
  }
  invariant(d->held.form == SEGDES_OFFSETS && d->offsets[0] == 0);
  for (uint64_t i = 0; i < d->count; i++) invariant(d->offsets[i] <= d->offsets[i + 1]);
  invariant(d->offsets[d->count] == d->total);
}

static void cpu_check_value(const struct cvl_kernel *k, uint32_t number) {
  const struct fused_value *v = &k->values[number];
  if (number >= k->op->param_count) {
    invariant(v->node < k->op->node_count);
    const struct superop_node *definition = &k->op->nodes[v->node];
    invariant(number - definition->result < definition->result_count);
  } else {
    invariant(v->node == SUPEROP_NONE);
  }
  invariant(k->op->kinds[number] == SUPEROP_SEGDES || v->bytes > 0);
}

/* Outputs are made by nodes of their kind. */
void fused_plan_check(const struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t v = 0; v < op->value_count; v++) cpu_check_value(k, v);
  for (uint32_t i = 0; i < k->reduction_count; i++)
    invariant(op->nodes[k->reductions[i].node].role == ROLE_REDUCE);
  for (uint32_t i = 0; i < k->scan_count; i++)
    invariant(op->nodes[k->scans[i].node].role == ROLE_SCAN);
  for (uint32_t i = 0; i < k->pack_count; i++)
    invariant(op->nodes[k->packs[i].node].role == ROLE_PACK);
}

/* Returns the length that the domain gives to the result of a node, or UINT64_MAX where it
 * depends on the data. */
static uint64_t length_of_result(const struct cvl_kernel *k, const struct superop_node *node) {
  switch (node->role) {
  case ROLE_REDUCE:
  case ROLE_COMBINE_REDUCE: return k->run.segments.count;
  case ROLE_COMBINE_SCATTER:
  case ROLE_PACK:
  case ROLE_SCATTER:
  case ROLE_CONST: return UINT64_MAX;
  default: return k->run.n;
  }
}

void fused_results_check(const struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t i = 0; i < op->output_count; i++) {
    const uint32_t number = op->outputs[i];
    const struct cvl_value *v = &k->values[number].whole;
    if (number < op->param_count || v->form != CVL_VECTOR) continue;
    const uint64_t length = length_of_result(k, &op->nodes[k->values[number].node]);
    invariant(length == UINT64_MAX || v->as.vector->length == length);
    invariant(v->as.vector->elem == v->elem);
  }
}

#else

void fused_results_check(const struct cvl_kernel *k) {
  (void)k;
}

void segdes_check(const struct cvl_segdes *d) {
  (void)d;
}

void fused_plan_check(const struct cvl_kernel *k) {
  (void)k;
}

#endif
