/* zeros.c - a scatter into zeros is the one that needs no defaults: DPERMUTE of v into
 * DIST 0.0 d becomes FPERMUTE of v with flags that are all T.
 *
 * What gets a border of zeros, or zeros behind it, is made so. Then the zeros are neither made
 * nor read, and fusion has nothing to wait for. Of 0.0 only, not -0.0: FPERMUTE leaves the
 * former. After loops, which know merges by their defaults, and for FCODE only: flags that are
 * all T cost nothing where they are part of a superoperator.
 */
#include "fcode-opt/passes.h"
#include "ir/kinds.h"

#include <math.h>

enum { VALUES, INDEX, DEFAULTS, SOURCE, TARGET, OPERANDS };

struct zeros {
  struct opt *o;
  struct ir_function *f;
  const struct ir_binding **makers; /* of every variable of the function; NULL: a parameter */
  bool changed;
};

static void note_makers(struct zeros *z, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    for (uint32_t k = 0; k < x->result_count; k++) z->makers[x->results[k]] = x;
    if (x->form != IR_IF) continue;
    note_makers(z, x->as.arms.then);
    note_makers(z, x->as.arms.otherwise);
  }
}

static bool is_zero(const struct ir_binding *x) {
  if (!x || x->form != IR_CONST || x->as.constant->length != 1) return false;
  const struct vcode_constant *c = x->as.constant;
  switch (c->type) {
  case TW_INT: return c->as.ints[0] == 0;
  case TW_BOOL: return !c->as.bools[0];
  case TW_FLOAT: return c->as.floats[0] == 0 && !signbit(c->as.floats[0]);
  case TW_CHAR:
  case TW_SEGDES:
  case TW_NONE: break;
  }
  return false;
}

static bool scatters_into_zeros(const struct zeros *z, const struct ir_binding *x) {
  if (x->form != IR_OP || x->op != OPC_DPERMUTE) return false;
  const struct ir_binding *defaults = z->makers[x->operands[DEFAULTS]];
  return defaults && defaults->form == IR_OP && defaults->op == OPC_DIST &&
         defaults->operands[1] == x->operands[TARGET] &&
         is_zero(z->makers[defaults->operands[0]]);
}

/* T as often as there are values. */
static ir_var append_flags(struct zeros *z, struct rewrite_block *out,
                           const struct ir_binding *x) {
  struct vcode_constant *c = arena_alloc(z->o->arena, sizeof *c);
  uint8_t *yes = arena_alloc(z->o->arena, sizeof *yes);
  *yes = true;
  *c = (struct vcode_constant){.type = TW_BOOL, .length = 1, .as.bools = yes};
  struct ir_binding one = rewrite_binding(z->o, 0, TW_NONE, 0, 1, x->pos, x->origin);
  one.form = IR_CONST;
  one.as.constant = c;
  one.results[0] = rewrite_var(z->o, z->f, ir_kind_base(IR_BOOL));
  rewrite_append(z->o, out, &one);
  struct ir_binding all = rewrite_binding(z->o, OPC_DIST, TW_BOOL, 2, 1, x->pos, x->origin);
  all.operands[0] = one.results[0];
  all.operands[1] = x->operands[SOURCE];
  all.results[0] = rewrite_var(z->o, z->f, ir_kind_base(IR_BOOL));
  rewrite_append(z->o, out, &all);
  return all.results[0];
}

static void append_scatter(struct zeros *z, struct rewrite_block *out,
                           const struct ir_binding *x) {
  const ir_var operands[OPERANDS] = {x->operands[VALUES], x->operands[INDEX],
                                     append_flags(z, out, x), x->operands[SOURCE],
                                     x->operands[TARGET]};
  struct ir_binding y =
      rewrite_binding(z->o, OPC_FPERMUTE, x->type, OPERANDS, 1, x->pos, x->origin);
  for (uint32_t i = 0; i < OPERANDS; i++) y.operands[i] = operands[i];
  y.results[0] = x->results[0];
  rewrite_append(z->o, out, &y);
}

static void zeros_of_block(struct zeros *z, struct ir_block *block) {
  struct rewrite_block out = {0};
  bool changed = false;
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      zeros_of_block(z, x->as.arms.then);
      zeros_of_block(z, x->as.arms.otherwise);
    }
    if (scatters_into_zeros(z, x)) {
      append_scatter(z, &out, x);
      changed = true;
    } else {
      rewrite_append(z->o, &out, x);
    }
  }
  if (!changed) return;
  rewrite_finish(block, &out);
  z->changed = true;
}

bool pass_zeros(struct opt *o) {
  struct zeros z = {.o = o};
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    z.f = &o->program->functions[i];
    if (!z.f->typed) continue;
    z.makers = arena_alloc(o->scratch, z.f->var_count * sizeof *z.makers);
    for (uint32_t v = 0; v < z.f->var_count; v++) z.makers[v] = NULL;
    note_makers(&z, z.f->body);
    zeros_of_block(&z, z.f->body);
  }
  return z.changed;
}
