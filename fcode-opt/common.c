/* common.c - operations that were executed before: a table with scopes.
 *
 * An entry is found while the block it was made in is open, so it dominates what finds it. Two
 * operations are the same if they have the same opcode and operands; of those that commute the
 * operands are ordered first. An operation that may fail is found too: executed again it would
 * succeed again. Nothing but constants is found across a timer. */
#include "fcode-opt/simplify.h"

#include <string.h>

void common_init(struct simplifier *s, uint32_t bindings) {
  uint32_t size = 64;
  while (size < bindings && size < 1u << 20) size *= 2;
  s->buckets = arena_alloc(s->o->scratch, size * sizeof *s->buckets);
  s->bucket_mask = size - 1;
  s->entries.count = 0;
}

size_t common_open(const struct simplifier *s) {
  return s->entries.count;
}

void common_close(struct simplifier *s, size_t mark) {
  while (s->entries.count > mark) {
    const struct common_entry *e = &s->entries.items[--s->entries.count];
    s->buckets[e->hash & s->bucket_mask] = e->next;
  }
}

/* ---- keys ---- */

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

static bool commutes(const struct ir_binding *x) {
  if (x->form != IR_OP) return false;
  return x->op == OPC_ADD || x->op == OPC_MUL || x->op == OPC_AND || x->op == OPC_OR ||
         x->op == OPC_XOR || x->op == OPC_EQ || x->op == OPC_NE;
}

static size_t constant_bytes(const struct vcode_constant *c) {
  size_t element = c->type == TW_FLOAT                        ? sizeof(double)
                   : c->type == TW_BOOL || c->type == TW_CHAR ? 1
                                                              : sizeof(int64_t);
  return c->length * element;
}

/* SEGDES is another kind than INT, CHAR another way to write it. */
bool common_constant(const struct vcode_constant *a, const struct vcode_constant *b) {
  size_t bytes = constant_bytes(a);
  return a->type == b->type && a->length == b->length &&
         (bytes == 0 || memcmp(a->as.ints, b->as.ints, bytes) == 0);
}

static uint64_t constant_hash(uint64_t h, const struct vcode_constant *c) {
  enum { MOST = 256 }; /* bytes that count; constants may be long */
  size_t bytes = constant_bytes(c);
  const unsigned char *data = (const unsigned char *)c->as.chars;
  h = mix(h, c->type);
  h = mix(h, c->length);
  for (size_t i = 0; i < bytes && i < MOST; i++) h = mix(h, data[i]);
  return h;
}

static uint64_t hash_of(const struct ir_binding *x) {
  if (x->form == IR_CONST) return constant_hash(x->form, x->as.constant);
  uint64_t h = mix(x->form, (uint64_t)x->op << 8 | x->type);
  switch ((enum ir_form)x->form) {
  case IR_CALL: h = mix(h, x->as.callee); break;
  case IR_FUSED: h = mix(h, x->as.superop); break;
  case IR_OP:
  case IR_CONST:
  case IR_IF: break;
  }
  if (commutes(x)) {
    ir_var a = x->operands[0], b = x->operands[1];
    return mix(mix(h, a < b ? a : b), a < b ? b : a);
  }
  for (uint32_t i = 0; i < x->operand_count; i++) h = mix(h, x->operands[i]);
  return h;
}

static bool same_op(const struct ir_binding *a, const struct ir_binding *b) {
  if (a->form != b->form) return false;
  if (a->form == IR_CONST) return common_constant(a->as.constant, b->as.constant);
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
  bool same = true;
  for (uint32_t i = 0; i < a->operand_count; i++) same &= a->operands[i] == b->operands[i];
  if (same || !commutes(a)) return same;
  return a->operands[0] == b->operands[1] && a->operands[1] == b->operands[0];
}

/* ---- the table ---- */

static struct common_entry *add(struct simplifier *s, uint64_t hash) {
  uint32_t *bucket = &s->buckets[hash & s->bucket_mask];
  struct common_entry *e = array_push(s->o->scratch, &s->entries);
  *e = (struct common_entry){.hash = hash, .epoch = s->epoch, .next = *bucket};
  *bucket = (uint32_t)s->entries.count;
  return e;
}

const struct ir_binding *common_find(struct simplifier *s, const struct ir_binding *x) {
  uint64_t hash = hash_of(x);
  for (uint32_t at = s->buckets[hash & s->bucket_mask]; at;
       at = s->entries.items[at - 1].next) {
    const struct common_entry *e = &s->entries.items[at - 1];
    if (e->hash != hash || !e->x || !same_op(e->x, x)) continue;
    if (e->epoch == s->epoch || x->form == IR_CONST) return e->x;
  }
  return NULL;
}

void common_add(struct simplifier *s, const struct ir_binding *x) {
  add(s, hash_of(x))->x = x;
}

static uint64_t class_hash(uint32_t class) {
  return mix(0x5a1e, class);
}

ir_var common_value(struct simplifier *s, uint32_t class) {
  uint64_t hash = class_hash(class);
  for (uint32_t at = s->buckets[hash & s->bucket_mask]; at;
       at = s->entries.items[at - 1].next) {
    const struct common_entry *e = &s->entries.items[at - 1];
    if (e->hash == hash && !e->x && e->class == class && e->epoch == s->epoch) return e->var;
  }
  return IR_NO_VAR;
}

void common_add_value(struct simplifier *s, uint32_t class, ir_var v) {
  struct common_entry *e = add(s, class_hash(class));
  e->class = class;
  e->var = v;
}
