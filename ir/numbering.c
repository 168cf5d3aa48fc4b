/* numbering.c - see numbering.h. */
#include "ir/numbering.h"
#include "ir/constant.h"

void ir_numbering_init(struct ir_numbering *n, struct arena *arena) {
  *n = (struct ir_numbering){0};
  scoped_map_init(&n->map, arena);
}

void ir_numbering_clear(struct ir_numbering *n) {
  scoped_map_clear(&n->map);
  n->known.count = 0;
  n->epoch = 0;
}

static bool commutes(const struct ir_binding *x) {
  if (x->form != IR_OP) return false;
  return x->op == OPC_ADD || x->op == OPC_MUL || x->op == OPC_AND || x->op == OPC_OR ||
         x->op == OPC_XOR || x->op == OPC_EQ || x->op == OPC_NE;
}

static uint64_t binding_hash(const struct ir_binding *x) {
  if (x->form == IR_CONST) return constant_hash(x->as.constant);
  uint64_t h = map_mix(x->form, (uint64_t)x->op << 8 | x->type);
  switch ((enum ir_form)x->form) {
  case IR_CALL: h = map_mix(h, x->as.callee); break;
  case IR_FUSED: h = map_mix(h, x->as.superop); break;
  case IR_OP:
  case IR_CONST:
  case IR_IF: break;
  }
  if (commutes(x)) {
    const ir_var a = x->operands[0], b = x->operands[1];
    return map_mix(h, a < b ? map_pair(a, b) : map_pair(b, a));
  }
  for (uint32_t i = 0; i < x->operand_count; i++) h = map_mix(h, x->operands[i]);
  return h;
}

static bool bindings_equal(const struct ir_binding *a, const struct ir_binding *b) {
  if (a->form != b->form) return false;
  if (a->form == IR_CONST) return constant_same(a->as.constant, b->as.constant);
  if (a->op != b->op || a->type != b->type || a->operand_count != b->operand_count)
    return false;
  switch ((enum ir_form)a->form) {
  case IR_CALL:
    if (a->as.callee != b->as.callee) return false;
    break;
  case IR_FUSED:
    if (a->as.superop != b->as.superop) return false;
    break;
  case IR_IF: return false;
  case IR_CONST:
  case IR_OP: break;
  }
  bool in_order = true;
  for (uint32_t i = 0; i < a->operand_count; i++) in_order &= a->operands[i] == b->operands[i];
  if (in_order || !commutes(a)) return in_order;
  return a->operands[0] == b->operands[1] && a->operands[1] == b->operands[0];
}

const struct ir_binding *ir_numbering_find(const struct ir_numbering *n,
                                           const struct ir_binding *x) {
  uint32_t at = scoped_map_first(&n->map, binding_hash(x));
  for (; at != 0; at = scoped_map_earlier(&n->map, at)) {
    const struct ir_numbered *k = &n->known.items[at - 1];
    if ((k->epoch == n->epoch || x->form == IR_CONST) && bindings_equal(k->x, x)) return k->x;
  }
  return NULL;
}

void ir_numbering_add(struct ir_numbering *n, const struct ir_binding *x) {
  scoped_map_add(&n->map, binding_hash(x));
  *array_push(n->map.latest.arena, &n->known) = (struct ir_numbered){x, n->epoch};
}

void ir_numbering_barrier(struct ir_numbering *n) {
  n->epoch++;
}

size_t ir_numbering_open(const struct ir_numbering *n) {
  return n->known.count;
}

void ir_numbering_close(struct ir_numbering *n, size_t mark) {
  scoped_map_close(&n->map, mark);
  n->known.count = mark;
}
