/* superop.c - superoperators by their meaning, over host arrays. Each node is one call of the
 * oracle, and all values are kept to the end.
 */
#include "cvl/oracle/superop.h"

#include <string.h>

static uint64_t superop_size_of(const struct host_value *v, uint8_t size) {
  const struct host_value *x = &v[SIZE_OPERAND(size)];
  switch (SIZE_WHAT(size)) {
  case SIZE_ONE: return 1;
  case SIZE_TOTAL: return x->total;
  default: return x->n; /* SIZE_LEN and SIZE_COUNT */
  }
}

bool oracle_fail(const struct oracle *o, uint32_t k, struct cvl_error e) {
  *o->e = e;
  o->e->site = k;
  return false;
}

bool oracle_sizes(const struct oracle *o, uint32_t k) {
  const struct superop_node *node = &o->op->nodes[k];
  const struct size_rule *rules = superop_info(node->op)->rules;
  struct host_value v[MAX_OPERANDS] = {{0}};
  for (uint32_t i = 0; i < node->operand_count; i++) v[i] = o->values[node->operands[i]];
  for (int i = 0; rules[i].a; i++) {
    uint64_t a = superop_size_of(v, rules[i].a), b = superop_size_of(v, rules[i].b);
    if (a == b || superop_waives(o->op, node, &rules[i])) continue;
    return oracle_fail(
        o, k,
        (struct cvl_error){
            .kind = CVL_E_SIZE, .position = i, .value = (int64_t)a, .limit = (int64_t)b});
  }
  return true;
}

static enum call_kind superop_kind_of(enum superop_role role) {
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
  case ROLE_CONST:
  case ROLE_CARRY: /* executed below, without a call */
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_COLUMN: /* executed in superop-combine.c */
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER: break;
  }
  return CALL_KINDS;
}

/* Puts the operands of a permute into the order of calls: values index flags defaults s d. */
static void order_permute(enum opcode op, const struct host_value *v, struct host_value *out) {
  const struct permute_operands at = permute_operands(op);
  out[0] = v[0];
  out[1] = v[1];
  if (at.flags != NO_OPERAND) out[2] = v[at.flags];
  if (at.defaults != NO_OPERAND) out[3] = v[at.defaults];
  out[4] = v[at.source];
  out[5] = v[at.destination];
}

static struct host_value superop_constant(struct heap *heap, const struct cvl_value *c) {
  struct host_value v = host_vector(heap, (enum cvl_elem)c->elem, 1);
  if (v.form != HOST_NOTHING) memcpy(v.data, &c->as, host_bytes(&v));
  return v;
}

bool oracle_node(const struct oracle *o, uint32_t k) {
  const struct superop_node *node = &o->op->nodes[k];
  const struct opcode_info *info = superop_info(node->op);
  struct host_value *result = &o->values[node->result];
  if (node->role == ROLE_CONST) {
    *result = superop_constant(o->heap, &node->constant);
    return true;
  }
  struct host_value v[MAX_OPERANDS] = {{0}};
  struct oracle_call call = {.kind = superop_kind_of((enum superop_role)node->role),
                             .op = info->operation,
                             .int_elem = o->int_elem,
                             .float_elem = o->float_elem};
  for (uint32_t i = 0; i < node->operand_count; i++) v[i] = o->values[node->operands[i]];
  call.count = call_operands(call.kind, call.op);
  if (call.kind == CALL_PERMUTE) {
    order_permute((enum opcode)node->op, v, call.operand);
  } else {
    memcpy(call.operand, v, sizeof v);
  }
  struct oracle_outcome outcome = {0};
  if (!oracle_sizes(o, k)) return false;
  if (!oracle_run(o->heap, &call, &outcome)) return oracle_fail(o, k, outcome.error);
  for (uint32_t i = 0; i < node->result_count; i++) {
    host_free(o->heap, &result[i]); /* frees the result of the round before */
    result[i] = outcome.out[i];
  }
  return true;
}

static struct host_value superop_copy(const struct oracle *o, const struct host_value *from) {
  struct host_value v = host_vector(o->heap, (enum cvl_elem)from->elem, from->n);
  for (uint64_t i = 0; i < from->n; i++) host_copy(&v, i, from, i);
  return v;
}

static bool has_length(const struct oracle *o, uint32_t k, uint64_t n, uint32_t value) {
  if (o->values[value].n == n) return true;
  return oracle_fail(o, k,
                     (struct cvl_error){.kind = CVL_E_SIZE,
                                        .value = (int64_t)n,
                                        .limit = (int64_t)o->values[value].n});
}

/* Executes a loop. Every round executes all positions at once, with a mark for those that have
 * not finished. The carried values change in the results' arrays. */
static bool superop_execute_loop(const struct oracle *o, struct superop_loop l, uint8_t *live) {
  const struct superop_node *nodes = o->op->nodes;
  const uint64_t n = o->values[nodes[l.first].operands[0]].n;
  for (uint32_t i = 0; i < l.count; i++) {
    if (!has_length(o, l.first + i, n, nodes[l.first + i].operands[0])) return false;
  }
  for (uint32_t i = 0; i < l.count; i++) {
    o->values[nodes[l.first + i].result] =
        superop_copy(o, &o->values[nodes[l.first + i].operands[0]]);
  }
  memset(live, 1, n);
  for (;;) {
    for (uint32_t k = l.first + l.count; k < l.test; k++) {
      if (!oracle_node(o, k)) return false;
    }
    const struct host_value *flags = &o->values[nodes[l.test].operands[0]];
    if (!has_length(o, l.test, n, nodes[l.test].operands[0])) return false;
    bool any = false;
    for (uint64_t p = 0; p < n; p++) {
      live[p] = live[p] && host_int(flags, p);
      any = any || live[p];
    }
    if (!any) break;
    for (uint32_t k = l.test + 1; k < l.next; k++) {
      if (!oracle_node(o, k)) return false;
    }
    for (uint32_t k = l.next; k <= l.last; k++) {
      const struct host_value *x = &o->values[nodes[k].operands[0]];
      const struct host_value *next = &o->values[nodes[k].operands[1]];
      if (!has_length(o, k, x->n, nodes[k].operands[1])) return false;
      struct host_value *to = &o->values[nodes[k].result];
      *to = superop_copy(o, x);
      for (uint64_t p = 0; p < n; p++) {
        if (live[p]) host_copy(to, p, next, p);
      }
    }
    for (uint32_t k = l.next; k <= l.last; k++) {
      host_free(o->heap, &o->values[nodes[k].operands[0]]);
      o->values[nodes[k].operands[0]] = o->values[nodes[k].result];
      o->values[nodes[k].result] = (struct host_value){0};
    }
  }
  for (uint32_t k = l.next; k <= l.last; k++) {
    o->values[nodes[k].result] = superop_copy(o, &o->values[nodes[k].operands[0]]);
  }
  return true;
}

bool oracle_superop(struct heap *heap, const struct superop *op, enum cvl_elem int_elem,
                    enum cvl_elem float_elem, struct host_value *values, struct cvl_error *e) {
  const struct oracle o = {heap, op, int_elem, float_elem, values, e};
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role == ROLE_COLUMN) {
      const struct superop_combination c = superop_combination_at(op, k);
      if (!oracle_combination(&o, c)) return false;
      k = c.ends + c.count - 1;
      continue;
    }
    if (op->nodes[k].role != ROLE_CARRY) {
      if (!oracle_node(&o, k)) return false;
      continue;
    }
    const struct superop_loop l = superop_loop_at(op, k);
    const uint64_t n = values[op->nodes[k].operands[0]].n;
    uint8_t *live = heap_alloc(heap, n + 1);
    if (!live) return oracle_fail(&o, k, (struct cvl_error){.kind = CVL_E_MEMORY});
    bool ok = superop_execute_loop(&o, l, live);
    heap_free(heap, live, n + 1);
    if (!ok) return false;
    k = l.last;
  }
  return true;
}
