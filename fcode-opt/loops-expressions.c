/* loops-expressions.c - makes the expressions of the pass `loops`; equal ones are stored once.
 */
#include "fcode-opt/loops.h"

#include <string.h>

static bool same_single_constant(const struct vcode_constant *a,
                                 const struct vcode_constant *b) {
  if (a == b) return true;
  if (!a || !b || a->type != b->type || a->length != 1 || b->length != 1) return false;
  switch (a->type) {
  case TW_INT: return a->as.ints[0] == b->as.ints[0];
  case TW_FLOAT: return memcmp(a->as.floats, b->as.floats, sizeof *a->as.floats) == 0;
  case TW_BOOL: return a->as.bools[0] == b->as.bools[0];
  default: return false;
  }
}

static bool same_expression(const struct expression *a, const struct expression *b) {
  return a->kind == b->kind && a->type == b->type && a->op == b->op && a->number == b->number &&
         a->start == b->start && a->count == b->count &&
         memcmp(a->args, b->args, a->count * sizeof *a->args) == 0 &&
         same_single_constant(a->constant, b->constant);
}

uint32_t loops_expression(struct symbolic *s, const struct expression *e) {
  for (uint32_t i = 0; i < s->exprs.count; i++) {
    if (same_expression(&s->exprs.items[i], e)) return i;
  }
  if (s->exprs.count == LOOPS_EXPRESSIONS) return LOOPS_NONE;
  struct expression *new = array_push(s->o->scratch, &s->exprs);
  *new = *e;
  new->odd = e->kind == EXPR_INDEX || e->kind == EXPR_COUNT;
  new->called = e->kind == EXPR_RESULT;
  for (uint32_t i = 0; i < e->count; i++) {
    new->odd |= s->exprs.items[e->args[i]].odd;
    new->called |= s->exprs.items[e->args[i]].called;
  }
  return (uint32_t)s->exprs.count - 1;
}

static const struct expression *map_of(const struct symbolic *s, uint32_t expr, uint16_t op) {
  const struct expression *e = &s->exprs.items[expr];
  return e->kind == EXPR_MAP && e->op == op ? e : NULL;
}

bool loops_complement(const struct symbolic *s, uint32_t a, uint32_t b) {
  const struct expression *x = &s->exprs.items[a], *y = &s->exprs.items[b];
  if (x->kind != EXPR_MAP || y->kind != EXPR_MAP) return false;
  if (x->op == OPC_NOT && x->args[0] == b) return true;
  if (y->op == OPC_NOT && y->args[0] == a) return true;
  bool opposite = (x->op == OPC_EQ && y->op == OPC_NE) || (x->op == OPC_NE && y->op == OPC_EQ);
  if (x->type == TW_INT) { /* for a FLOAT NaN neither holds */
    opposite |= (x->op == OPC_LT && y->op == OPC_GE) || (x->op == OPC_GE && y->op == OPC_LT) ||
                (x->op == OPC_GT && y->op == OPC_LE) || (x->op == OPC_LE && y->op == OPC_GT);
  }
  return opposite && x->type == y->type && x->args[0] == y->args[0] && x->args[1] == y->args[1];
}

uint32_t loops_select(struct symbolic *s, uint32_t flag, uint32_t yes, uint32_t no) {
  if (flag == LOOPS_NONE || yes == LOOPS_NONE || no == LOOPS_NONE) return LOOPS_NONE;
  const struct expression *other = map_of(s, no, OPC_SELECT);
  if (other && loops_complement(s, flag, other->args[0])) no = other->args[1];
  other = map_of(s, no, OPC_SELECT);
  if (other && flag == other->args[0]) no = other->args[2];
  if (yes == no) return yes;
  const struct expression *e = &s->exprs.items[yes];
  struct expression select = {.kind = EXPR_MAP,
                              .op = OPC_SELECT,
                              .type = e->elem, /* kinds are in the order of type words */
                              .elem = e->elem,
                              .count = 3,
                              .args = {flag, yes, no},
                              .pos = e->pos,
                              .origin = e->origin};
  return loops_expression(s, &select);
}

uint32_t loops_number(struct symbolic *s, int64_t number) {
  struct vcode_constant *c = arena_alloc(s->o->arena, sizeof *c);
  int64_t *ints = arena_alloc(s->o->arena, sizeof *ints);
  *ints = number;
  *c = (struct vcode_constant){.type = TW_INT, .length = 1, .as.ints = ints};
  struct expression e = {.kind = EXPR_CONST, .elem = SUPEROP_INT, .constant = c};
  return loops_expression(s, &e);
}

bool loops_is_number(const struct symbolic *s, uint32_t expr, int64_t number) {
  const struct expression *e = &s->exprs.items[expr];
  return e->kind == EXPR_CONST && e->elem == SUPEROP_INT && e->constant->as.ints[0] == number;
}
