/* oracle-superop.c - superoperators by their meaning, over host arrays: one call of the oracle
 * for each node, all values kept to the end.
 */
#include "cvl/oracle.h"
#include "cvl/superop.h"

#include <string.h>

static uint64_t size_of(const struct host_value *v, uint8_t size) {
  const struct host_value *x = &v[SIZE_OPERAND(size)];
  switch (SIZE_WHAT(size)) {
  case SIZE_ONE: return 1;
  case SIZE_TOTAL: return x->total;
  default: return x->n; /* LEN and COUNT */
  }
}

static bool sizes_agree(const struct opcode_info *info, const struct host_value *v,
                        struct cvl_error *e) {
  for (int k = 0; info->rules[k].a; k++) {
    uint64_t a = size_of(v, info->rules[k].a), b = size_of(v, info->rules[k].b);
    if (a == b) continue;
    *e = (struct cvl_error){
        .kind = CVL_E_SIZE, .position = k, .value = (int64_t)a, .limit = (int64_t)b};
    return false;
  }
  return true;
}

static enum call_kind kind_of(enum superop_role role) {
  switch (role) {
  case ROLE_SPREAD: return CALL_DIST;
  case ROLE_INDEX: return CALL_INDEX;
  case ROLE_PICK: return CALL_EXTRACT;
  case ROLE_MAP: return CALL_ELEMENTWISE;
  case ROLE_REDUCE: return CALL_REDUCE;
  case ROLE_SCAN: return CALL_SCAN;
  case ROLE_PACK: return CALL_PACK;
  case ROLE_ASSERT: return CALL_ASSERT;
  case ROLE_GATHER:
  case ROLE_SCATTER: return CALL_PERMUTE;
  case ROLE_CONST: break;
  }
  return CALL_KINDS;
}

/* The operands of a permute in the order of calls: values index flags defaults s d. */
static void order_permute(const struct opcode_info *info, const struct host_value *v,
                          struct host_value *out) {
  size_t n = strlen(info->operands);
  out[0] = v[0];
  out[1] = v[1];
  for (size_t i = 2; i < n; i++) {
    if (info->operands[i] == 'b') out[2] = v[i];
    if (info->operands[i] == 'T') out[3] = v[i];
  }
  out[5] = v[n - 1];
  out[4] = info->operands[n - 2] == 's' ? v[n - 2] : v[n - 1];
}

static struct host_value constant(struct heap *heap, const struct cvl_value *c) {
  struct host_value v = host_vector(heap, (enum cvl_elem)c->elem, 1);
  if (v.form != HOST_NOTHING) memcpy(v.data, &c->as, host_bytes(&v));
  return v;
}

bool oracle_superop(struct heap *heap, const struct superop *op, enum cvl_elem int_elem,
                    enum cvl_elem float_elem, struct host_value *values, struct cvl_error *e) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    const struct opcode_info *info = opcode_info((enum opcode)node->op);
    struct host_value *result = &values[node->result];
    if (node->role == ROLE_CONST) {
      *result = constant(heap, &node->constant);
      continue;
    }
    struct host_value v[MAX_OPERANDS] = {{0}};
    struct oracle_call call = {.kind = kind_of((enum superop_role)node->role),
                               .op = info->operation,
                               .int_elem = int_elem,
                               .float_elem = float_elem};
    for (uint32_t i = 0; i < node->operand_count; i++) v[i] = values[node->operands[i]];
    call.count = call_operands(call.kind, call.op);
    if (call.kind == CALL_PERMUTE) {
      order_permute(info, v, call.operand);
    } else {
      memcpy(call.operand, v, sizeof v);
    }
    struct oracle_outcome outcome = {0};
    bool ok = sizes_agree(info, v, &outcome.error) && oracle_run(heap, &call, &outcome);
    if (!ok) {
      *e = outcome.error;
      e->site = k;
      return false;
    }
    for (uint32_t i = 0; i < node->result_count; i++) result[i] = outcome.out[i];
  }
  return true;
}
