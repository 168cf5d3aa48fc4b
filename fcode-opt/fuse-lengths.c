/* fuse-lengths.c - takes lengths from vectors that are in memory anyway.
 *
 * LENGTH of a computed vector keeps that vector in memory and delays all operations whose
 * descriptor depends on the length. It is replaced by LENGTH of the first-bound vector of the
 * same length, often an argument. If that vector is computed, too, and has a descriptor of
 * several segments, the length is the sum of the segment lengths:
 *
 *     v9 = LENGTH INT v8       v10 = LENGTHS d;      v11 = LENGTH INT v10
 *                              v12 = MAKE_SEGDES v11; v9 = +_REDUCE INT v10 v12
 *
 * provided that all other uses of the vector are elementwise. (Only for INT of 64 bits, in
 * which every total fits.)
 */
#include "fcode-opt/fuse.h"

struct lengths {
  struct opt *o;
  const struct sizes *sizes;
  uint32_t function;
  struct ir_function *f;
  uint32_t *others; /* per variable: uses that are neither LENGTH nor elementwise */
  bool *computed;   /* per variable: by an operation that can be fused */
  bool changed;     /* there are new variables */
};

static void count_other_uses(struct lengths *l) {
  for (struct ir_walk w = ir_walk(l->o->scratch, l->f->body); ir_next_uses(&w);) {
    enum superop_role role = ROLE_CONST;
    const char *access = w.x ? fuse_form(l->o->scratch, l->o->program, w.x, &role) : NULL;
    bool length = w.x && w.x->form == IR_OP && w.x->op == OPC_LENGTH;
    for (uint32_t k = 0; k < w.use_count; k++)
      l->others[w.uses[k]] += !length && !(access && access[k] == 'd');
    if (access && fuse_is_producer((uint8_t)role)) l->computed[w.x->results[0]] = true;
  }
}

/* Appends an operation on one or two variables; its result is new unless given. */
static ir_var append_length_op(struct lengths *l, struct rewrite_block *out,
                               const struct ir_binding *like, enum opcode op, ir_var a,
                               ir_var b, ir_var result) {
  const enum ir_kind_tag tag = op == OPC_MAKE_SEGDES ? IR_SEGDES : IR_INT;
  const ir_var made =
      rewrite_op(l->o, l->f, out, op, tag, (ir_var[]){a, b}, b == IR_NO_VAR ? 1 : 2, like);
  if (result == IR_NO_VAR) return made;
  out->bindings[out->count - 1].results[0] = result;
  return result;
}

/* Returns whether the length of v is to be the sum of a descriptor's lengths. */
static bool can_take_total(const struct lengths *l, ir_var v) {
  if (l->o->program->widths.int_elem != CVL_I64 || !l->computed[v] || l->others[v] > 0)
    return false;
  ir_var d = sizes_descriptor(l->sizes, l->function, v);
  return d != IR_NO_VAR && sizes_known(l->sizes, l->function, d, SIZE_COUNT) != 1;
}

static void take_total(struct lengths *l, struct rewrite_block *out,
                       const struct ir_binding *x) {
  ir_var d = sizes_descriptor(l->sizes, l->function, x->operands[0]);
  ir_var lengths = append_length_op(l, out, x, OPC_LENGTHS, d, IR_NO_VAR, IR_NO_VAR);
  ir_var count = append_length_op(l, out, x, OPC_LENGTH, lengths, IR_NO_VAR, IR_NO_VAR);
  ir_var whole = append_length_op(l, out, x, OPC_MAKE_SEGDES, count, IR_NO_VAR, IR_NO_VAR);
  append_length_op(l, out, x, OPC_ADD_REDUCE, lengths, whole, x->results[0]);
  l->changed = true;
}

static void take_first(struct lengths *l, struct ir_binding *x) {
  ir_var first = sizes_first(l->sizes, l->function, x->operands[0]);
  enum ir_kind_tag tag = l->f->vars[first]->tag;
  x->operands[0] = first;
  x->type = (uint8_t)(tag == IR_FLOAT ? TW_FLOAT : tag == IR_BOOL ? TW_BOOL : TW_INT);
}

static void lengths_of_block(struct lengths *l, struct ir_block *block) {
  struct rewrite_block out = {0}; /* empty until something is replaced */
  bool replaced = false;
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      lengths_of_block(l, x->as.arms.then);
      lengths_of_block(l, x->as.arms.otherwise);
    }
    bool length = x->form == IR_OP && x->op == OPC_LENGTH;
    if (length) take_first(l, x);
    if (length && can_take_total(l, x->operands[0])) {
      for (uint32_t k = 0; k < i && !replaced; k++)
        rewrite_append(l->o, &out, &block->bindings[k]);
      replaced = true;
      take_total(l, &out, x);
    } else if (replaced) {
      rewrite_append(l->o, &out, x);
    }
  }
  if (replaced) rewrite_finish(block, &out);
}

bool fuse_lengths(struct opt *o, const struct sizes *sizes) {
  struct lengths l = {.o = o, .sizes = sizes};
  for (l.function = 0; l.function < o->program->function_count; l.function++) {
    l.f = &o->program->functions[l.function];
    if (!l.f->typed) continue;
    l.others = arena_alloc(o->scratch, l.f->var_count * sizeof *l.others);
    l.computed = arena_alloc(o->scratch, l.f->var_count * sizeof *l.computed);
    count_other_uses(&l);
    lengths_of_block(&l, l.f->body);
  }
  return l.changed;
}
