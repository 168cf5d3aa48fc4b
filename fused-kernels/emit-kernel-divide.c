/* emit-kernel-divide.c - which kernels a superoperator has, and what is worth being computed by
 * more than one of them.
 */
#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"

bool kernel_is_light(const struct superop *op) {
  struct emit_needs needs = {false};
  emit_add_needs(&needs, op);
  return !needs.functions && !superop_has_loops(op) && op->node_count <= KERNEL_LIGHT_NODES;
}

bool kernel_is_apart(const struct superop_node *node) {
  return node->role == ROLE_SCAN || node->role == ROLE_SCATTER ||
         node->role == ROLE_COMBINE_SCATTER;
}

size_t kernel_loaded(const struct superop *op, bool *wanted, bool *checked) {
  size_t bytes = 0;
  *checked = false;
  for (uint32_t k = op->node_count; k-- > 0;) {
    const struct superop_node *node = &op->nodes[k];
    if (node->result_count == 0 || !wanted[node->result]) continue;
    *checked |= node->checked;
    if (node->role == ROLE_GATHER || node->role == ROLE_PICK) bytes += sizeof(double);
    for (unsigned i = 0; i < node->operand_count; i++) {
      if (fused_reads_elements(op, k, i)) wanted[node->operands[i]] = true;
    }
  }
  for (uint32_t p = 0; p < op->param_count; p++) {
    if (wanted[p]) bytes += op->kinds[p] == SUPEROP_BOOL ? 1 : sizeof(double);
  }
  return bytes;
}

/* ---- the kernels ---- */

/* Whether an earlier PACK has the flags of node k. */
static bool is_listed(const struct superop *op, uint32_t k) {
  for (uint32_t j = 0; j < k; j++) {
    if (op->nodes[j].role == ROLE_PACK && op->nodes[j].operands[1] == op->nodes[k].operands[1])
      return true;
  }
  return false;
}

/* Sets what the kernels for PACKs leave to others, and returns how many kernels there are. In a
 * block, one warp serves each list. */
static uint32_t with_packs(const struct superop *op, unsigned leave[FUSED_KERNELS]) {
  uint32_t lists = 0;
  bool reduces = false;
  leave[0] = LEAVE_NOTHING;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const enum superop_role role = (enum superop_role)op->nodes[k].role;
    reduces |= role == ROLE_REDUCE || role == ROLE_COLUMN;
    lists += role == ROLE_PACK && !is_listed(op, k);
  }
  if (lists == 0 || lists > FUSED_GROUP_WARPS || (reduces && !kernel_is_light(op))) return 1;
  leave[0] = reduces ? PACK_ELSEWHERE : PACK_INSIDE;
  leave[1] = PACK_ONLY;
  return reduces ? 2 : 1;
}

static uint32_t count_loops(const struct superop *op) {
  uint32_t loops = 0;
  for (uint32_t k = 0; k < op->node_count; k++) loops += fused_begins_loop(op, k);
  return loops;
}

bool fused_has_too_many_loops(const struct superop *op) {
  return count_loops(op) > FUSED_LOOPS;
}

/* Adds the kernels of loops. */
static uint32_t with_loops(const struct superop *op, uint32_t count,
                           unsigned leave[FUSED_KERNELS]) {
  if (!superop_has_loops(op) || fused_has_too_many_loops(op)) return count;
  leave[0] |= LOOPS_ELSEWHERE;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (fused_begins_loop(op, k)) leave[count++] = LOOP_ONLY(k);
  }
  if (loops_do_the_rest(op)) leave[count - 1] |= LOOP_LAST;
  return count;
}

uint32_t fused_kernels(const struct superop *op, unsigned leave[FUSED_KERNELS]) {
  uint32_t count = with_loops(op, with_packs(op, leave), leave);
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (scans_own(op, k)) {
      leave[0] |= SCANS_ELSEWHERE;
      leave[count++] = SCAN_ONLY(k);
    }
    if (!scatters_own(op, k)) continue;
    const bool permutes = op->nodes[k].op == OPC_PERMUTE;
    leave[0] |= SCATTERS_ELSEWHERE;
    leave[count++] = SCATTER_ONLY(k) | (permutes ? 0U : (unsigned)SCATTER_CLAIMS);
    if (!permutes) leave[count++] = SCATTER_ONLY(k) | SCATTER_FETCHES;
  }
  return count;
}
