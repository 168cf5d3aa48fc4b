/* emit.c - bindings, blocks and constants of the function under construction.
 *
 * Value numbering: a pure operation that was executed before, in this block or around it, is
 * not emitted again. That makes lifting at each use cheap, and lets values share descriptors.
 */
#include "neslc/flatten/emit.h"

#include <string.h>

#include "neslc/flatten/combine.h"
#include "neslc/flatten/expressions.h"

const struct ir_kind flat_kinds[4] = {
    {.tag = IR_INT}, {.tag = IR_FLOAT}, {.tag = IR_BOOL}, {.tag = IR_SEGDES}};

ir_var flat_var(struct flattener *f, const struct ir_kind *kind) {
  *array_push(f->arena, &f->kinds) = kind;
  *array_push(f->arena, &f->definitions) = NULL;
  return (ir_var)(f->kinds.count - 1);
}

static struct ir_binding make_binding(struct flattener *f, uint8_t form, uint32_t operands,
                                      uint32_t results) {
  struct ir_binding x = {.form = form,
                         .type = TW_NONE,
                         .origin = present_origin(f),
                         .operand_count = operands,
                         .result_count = results};
  const size_t count = (size_t)operands + results;
  x.operands = arena_alloc(f->arena, count * (sizeof(ir_var) + sizeof(bool)) + 1);
  x.results = x.operands + operands;
  x.last = (bool *)(x.results + results);
  x.unused = x.last + operands;
  return x;
}

static void append_binding(struct flattener *f, const struct ir_binding *x) {
  *array_push(f->arena, &f->block->bindings) = *x;
}

/* ---- value numbering ---- */

static void remember(struct flattener *f, const struct ir_binding *x) {
  struct ir_binding *copy = arena_alloc(f->arena, sizeof *copy);
  *copy = *x;
  ir_numbering_add(&f->known, copy);
  if (x->result_count > 0) f->definitions.items[x->results[0]] = copy;
}

void remember_sums(struct flattener *f, ir_var v, ir_var segdes, ir_var sums) {
  struct ir_binding *x = arena_alloc(f->arena, sizeof *x);
  *x = make_binding(f, IR_OP, 2, 1);
  x->op = OPC_ADD_REDUCE;
  x->type = TW_INT;
  x->operands[0] = v;
  x->operands[1] = segdes;
  x->results[0] = sums;
  ir_numbering_add(&f->known, x);
}

const struct vcode_constant *constant_of(const struct flattener *f, ir_var v) {
  const struct ir_binding *x = f->definitions.items[v];
  return x && x->form == IR_CONST ? x->as.constant : NULL;
}

const struct ir_binding *defined_by(const struct flattener *f, ir_var v, enum opcode op) {
  const struct ir_binding *x = f->definitions.items[v];
  return x && x->form == IR_OP && x->op == op && x->results[0] == v ? x : NULL;
}

/* ---- operations ---- */

void emit_results(struct flattener *f, enum opcode op, enum type_word word, unsigned count,
                  const ir_var *operands, unsigned results, ir_var *result) {
  const struct opcode_info *info = opcode_info(op);
  struct ir_binding x = make_binding(f, IR_OP, count, results);
  x.op = (uint16_t)op;
  x.type = info->types == NO_TYPE ? TW_NONE : (uint8_t)word;
  if (count > 0) memcpy(x.operands, operands, count * sizeof *operands);
  const struct ir_binding *known = opcode_is_pure(op) ? ir_numbering_find(&f->known, &x) : NULL;
  if (known) {
    memcpy(result, known->results, results * sizeof *result);
    return;
  }
  for (unsigned i = 0; i < results; i++) {
    result[i] = x.results[i] = flat_var(f, &flat_kinds[operand_kind(info->results[i], word)]);
  }
  append_binding(f, &x);
  if (opcode_is_pure(op)) remember(f, &x);
}

ir_var emit(struct flattener *f, enum opcode op, enum type_word word, unsigned count,
            const ir_var *operands) {
  ir_var result[MAX_RESULTS] = {0};
  if (count > 0 && fold_operation(f, op, operands, result)) return result[0];
  unsigned results = 0;
  while (opcode_info(op)->results[results]) results++;
  emit_results(f, op, word, count, operands, results, result);
  return result[0];
}

ir_var emit_constant(struct flattener *f, const struct vcode_constant *k) {
  struct ir_binding x = make_binding(f, IR_CONST, 0, 1);
  x.as.constant = k;
  const struct ir_binding *known = ir_numbering_find(&f->known, &x);
  if (known) return known->results[0];
  x.results[0] = flat_var(f, &flat_kinds[type_word_kind(k->type)]);
  append_binding(f, &x);
  remember(f, &x);
  return x.results[0];
}

static ir_var emit_scalar(struct flattener *f, enum type_word word, const void *value,
                          size_t bytes) {
  struct vcode_constant *k = arena_alloc(f->arena, sizeof *k);
  void *data = arena_alloc(f->arena, 8);
  memcpy(data, value, bytes);
  *k = (struct vcode_constant){.type = word, .length = 1};
  k->as.ints = data;
  return emit_constant(f, k);
}

ir_var emit_int(struct flattener *f, int64_t x) {
  return emit_scalar(f, TW_INT, &x, sizeof x);
}
ir_var emit_float(struct flattener *f, double x) {
  return emit_scalar(f, TW_FLOAT, &x, sizeof x);
}
ir_var emit_bool(struct flattener *f, bool x) {
  const uint8_t byte = x;
  return emit_scalar(f, TW_BOOL, &byte, sizeof byte);
}

ir_var emit_zero(struct flattener *f, enum type_word word) {
  return word == TW_INT     ? emit_int(f, 0)
         : word == TW_FLOAT ? emit_float(f, 0)
                            : emit_bool(f, 0);
}

ir_var emit_one_segment(struct flattener *f, int64_t length) {
  struct vcode_constant *k = arena_alloc(f->arena, sizeof *k);
  int64_t *data = arena_alloc(f->arena, sizeof *data);
  *data = length;
  *k = (struct vcode_constant){.type = TW_SEGDES, .vector = true, .length = 1};
  k->as.ints = data;
  return emit_constant(f, k);
}

void emit_fused(struct flattener *f, const struct superop *op, const ir_var *operands,
                ir_var *results) {
  struct ir_binding x = make_binding(f, IR_FUSED, op->param_count, op->output_count);
  x.op = OPC_FUSED;
  x.as.superop = op->number;
  memcpy(x.operands, operands, op->param_count * sizeof *operands);
  for (uint32_t i = 0; i < op->output_count; i++) {
    results[i] = x.results[i] = flat_var(f, ir_superop_output(op, i));
  }
  append_binding(f, &x);
}

/* The constant of one element that defines a variable; NULL if there is none. */
static const struct vcode_constant *known_constant_of(struct flattener *f, ir_var v,
                                                      enum type_word type) {
  const struct vcode_constant *k = constant_of(f, v);
  return k && k->type == type && k->length == 1 ? k : NULL;
}

bool known_int(struct flattener *f, ir_var v, int64_t *out) {
  const struct vcode_constant *k = known_constant_of(f, v, TW_INT);
  if (k) *out = k->as.ints[0];
  return k != NULL;
}

bool known_float(struct flattener *f, ir_var v, double *out) {
  const struct vcode_constant *k = known_constant_of(f, v, TW_FLOAT);
  if (k) *out = k->as.floats[0];
  return k != NULL;
}

static void append_assert(struct flattener *f, ir_var flags, ir_var v, ir_var w,
                          const char *text) {
  struct ir_binding x = make_binding(f, IR_OP, 3, 0);
  x.op = OPC_ASSERT;
  x.operands[0] = flags;
  x.operands[1] = v;
  x.operands[2] = w;
  x.as.text.text = text;
  x.as.text.length = (uint32_t)strlen(text);
  if (ir_numbering_find(&f->known, &x)) return; /* checked already */
  append_binding(f, &x);
  remember(f, &x);
}

void emit_assert(struct flattener *f, ir_var flags, ir_var v, ir_var w, const char *text) {
  if (f->options->unchecked) return;
  if (f->combining) {
    combining_check(f, flags, text);
    return;
  }
  bool good;
  const struct ir_binding *all = defined_by(f, flags, OPC_DIST);
  if (known_bool(f, all ? all->operands[0] : flags, &good) && good) return; /* it holds */
  append_assert(f, masked_check(f, flags), v, w, text);
}

void emit_stop(struct flattener *f, const char *text) {
  if (f->combining) {
    combining_refuse(f, "may end the program");
    return;
  }
  const ir_var zero = emit_int(f, 0);
  append_assert(f, emit_bool(f, false), zero, zero, text);
}

/* ---- blocks ---- */

struct flat_block *block_begin(struct flattener *f) {
  struct flat_block *b = arena_alloc(f->arena, sizeof *b);
  b->outer = f->block;
  b->known = ir_numbering_open(&f->known);
  f->block = b;
  return b;
}

void block_abandon(struct flattener *f, struct flat_block *b) {
  ir_numbering_close(&f->known, b->known);
  f->block = b->outer;
}

static struct ir_block *close_block(struct flattener *f, struct flat_block *b, uint8_t end,
                                    uint32_t count) {
  struct ir_block *out = arena_alloc(f->arena, sizeof *out);
  *out = (struct ir_block){.bindings = b->bindings.items,
                           .count = (uint32_t)b->bindings.count,
                           .end = end,
                           .result_count = count};
  out->results = arena_alloc(f->arena, count * (sizeof(ir_var) + sizeof(bool)) + 1);
  out->last = (bool *)(out->results + count);
  ir_numbering_close(&f->known, b->known);
  f->block = b->outer;
  return out;
}

struct ir_block *block_end(struct flattener *f, struct flat_block *b, uint32_t count,
                           const ir_var *results) {
  struct ir_block *out = close_block(f, b, IR_YIELD, count);
  if (count > 0) memcpy(out->results, results, count * sizeof *results);
  return out;
}

struct ir_block *block_end_exit(struct flattener *f, struct flat_block *b) {
  return close_block(f, b, IR_EXIT, 0);
}

void flat_if(struct flattener *f, ir_var condition, struct ir_block *then,
             struct ir_block *otherwise, uint32_t count, ir_var *results) {
  struct ir_binding x = make_binding(f, IR_IF, 1, count);
  x.operands[0] = condition;
  x.as.arms.then = then;
  x.as.arms.otherwise = otherwise;
  const struct ir_block *yields = then->end == IR_YIELD ? then : otherwise;
  for (uint32_t i = 0; i < count; i++) {
    results[i] = x.results[i] = flat_var(f, f->kinds.items[yields->results[i]]);
  }
  append_binding(f, &x);
}

void emit_call(struct flattener *f, uint32_t function, uint32_t count, const ir_var *operands,
               uint32_t result_count, const struct ir_kind *const *kinds, ir_var *results) {
  struct ir_binding x = make_binding(f, IR_CALL, count, result_count);
  x.as.callee = function;
  if (count > 0) memcpy(x.operands, operands, count * sizeof *operands);
  for (uint32_t i = 0; i < result_count; i++) {
    results[i] = x.results[i] = flat_var(f, kinds[i]);
  }
  append_binding(f, &x);
}
