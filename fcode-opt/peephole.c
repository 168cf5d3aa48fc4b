/* peephole.c - replaces two operations by one.
 *
 * RANK and the PERMUTE of the same vector by it become one SORT, which needs no indices. SORT
 * replaces RANK: both fail for the same lengths, and a permutation by ranks under the same
 * descriptor cannot fail, so a failing program fails at the same instruction. RANK must have no
 * other use: given the ranks, permuting is cheaper than sorting.
 *
 * DPERMUTE of v into DIST 0 d becomes FPERMUTE of v with flags that are all T. Programs pad
 * vectors with zeros in this way. FPERMUTE neither makes nor reads the zeros. The constant must
 * not be -0.0: FPERMUTE leaves 0.0.
 *
 * Runs after loops, which recognises merges by their DPERMUTE, and for FCODE only: VCODE has no
 * SORT, and flags that are all T cost nothing within a superoperator.
 */
#include "fcode-opt/passes.h"
#include "ir/definitions.h"
#include "ir/kinds.h"

#include <math.h>

enum { VALUES, INDEX, DEFAULTS, SOURCE, TARGET, OPERANDS };

struct peephole {
  struct opt *o;
  struct ir_function *f;
  struct calls calls;
  struct ir_binding **definitions;
  uint32_t *uses;  /* of each variable */
  uint32_t *clock; /* of each variable that is a RANK: timers passed before it */
  uint32_t timers; /* passed: nothing moves across them */
  bool changed;
};

/* A change to a block. */
struct edit {
  uint32_t at;  /* index of the binding */
  bool removed; /* the binding is removed; else `one` and `all` come before it */
  struct ir_binding one, all;
};

static bool is_op_with(const struct ir_binding *x, enum opcode op) {
  return x && x->form == IR_OP && x->op == op;
}

/* ---- SORT ---- */

/* Returns the RANK that x permutes by, if both together are a SORT; or NULL. */
static struct ir_binding *sorted_by(const struct peephole *p, const struct ir_binding *x) {
  if (!is_op_with(x, OPC_PERMUTE)) return NULL;
  const ir_var ranks = x->operands[1];
  struct ir_binding *rank = p->definitions[ranks];
  const bool sorts = (is_op_with(rank, OPC_RANK_UP) || is_op_with(rank, OPC_RANK_DOWN)) &&
                     p->uses[ranks] == 1 && p->clock[ranks] == p->timers &&
                     rank->operands[0] == x->operands[0] && rank->operands[1] == x->operands[2];
  return sorts ? rank : NULL;
}

static void become_sort(struct peephole *p, struct ir_binding *rank, ir_var sorted) {
  rank->op = rank->op == OPC_RANK_UP ? OPC_SORT_UP : OPC_SORT_DOWN;
  rank->results[0] = sorted;
  p->definitions[sorted] = rank;
}

/* ---- scatters into zeros ---- */

static bool is_zero_constant(const struct ir_binding *x) {
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

static bool scatters_into_zeros(const struct peephole *p, const struct ir_binding *x) {
  if (!is_op_with(x, OPC_DPERMUTE)) return false;
  const struct ir_binding *defaults = p->definitions[x->operands[DEFAULTS]];
  return is_op_with(defaults, OPC_DIST) && defaults->operands[1] == x->operands[TARGET] &&
         is_zero_constant(p->definitions[defaults->operands[0]]);
}

/* Makes x an FPERMUTE; its flags are T spread over the values. */
static void become_scatter(struct peephole *p, struct ir_binding *x, struct edit *e) {
  struct vcode_constant *c = arena_alloc(p->o->arena, sizeof *c);
  uint8_t *yes = arena_alloc(p->o->arena, sizeof *yes);
  *yes = true;
  *c = (struct vcode_constant){.type = TW_BOOL, .length = 1, .as.bools = yes};
  e->one = rewrite_binding(p->o, 0, TW_NONE, 0, 1, x->pos, x->origin);
  e->one.form = IR_CONST;
  e->one.as.constant = c;
  e->one.results[0] = rewrite_var(p->o, p->f, ir_kind_base(IR_BOOL));
  e->all = rewrite_binding(p->o, OPC_DIST, TW_BOOL, 2, 1, x->pos, x->origin);
  e->all.operands[0] = e->one.results[0];
  e->all.operands[1] = x->operands[SOURCE];
  e->all.results[0] = rewrite_var(p->o, p->f, ir_kind_base(IR_BOOL));
  const ir_var operands[OPERANDS] = {x->operands[VALUES], x->operands[INDEX], e->all.results[0],
                                     x->operands[SOURCE], x->operands[TARGET]};
  x->op = OPC_FPERMUTE;
  for (uint32_t i = 0; i < OPERANDS; i++) x->operands[i] = operands[i];
}

/* ---- blocks ---- */

static void apply_edits(struct opt *o, struct ir_block *block, const struct edit *edits,
                        size_t count) {
  struct rewrite_block out = {0};
  const struct edit *e = edits, *end = edits + count;
  for (uint32_t i = 0; i < block->count; i++) {
    const bool edited = e < end && e->at == i;
    if (edited && !e->removed) {
      rewrite_append(o, &out, &e->one);
      rewrite_append(o, &out, &e->all);
    }
    if (!edited || !e->removed) rewrite_append(o, &out, &block->bindings[i]);
    e += edited;
  }
  rewrite_finish(block, &out);
}

/* Overwrites bindings, so that `definitions` stays valid; inner blocks are rewritten
 * before the blocks around them. */
static void peephole_block(struct peephole *p, struct ir_block *block) {
  ARRAY(struct edit) edits = {0};
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      peephole_block(p, x->as.arms.then);
      peephole_block(p, x->as.arms.otherwise);
    }
    struct ir_binding *rank = sorted_by(p, x);
    if (rank) {
      become_sort(p, rank, x->results[0]);
      *array_push(p->o->scratch, &edits) = (struct edit){.at = i, .removed = true};
    } else if (scatters_into_zeros(p, x)) {
      struct edit *e = array_push(p->o->scratch, &edits);
      *e = (struct edit){.at = i};
      become_scatter(p, x, e);
    }
    if (binding_effects(&p->calls, x) & EFFECT_TIMER) p->timers++;
    if (is_op_with(x, OPC_RANK_UP) || is_op_with(x, OPC_RANK_DOWN))
      p->clock[x->results[0]] = p->timers;
  }
  if (edits.count == 0) return;
  p->changed = true;
  apply_edits(p->o, block, edits.items, edits.count);
}

bool pass_peephole(struct opt *o) {
  struct peephole p = {.o = o, .calls = calls_make(o)};
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    p.f = &o->program->functions[i];
    if (!p.f->typed) continue;
    p.definitions = ir_definitions(o->scratch, p.f);
    p.uses = ir_count_uses(o->scratch, p.f);
    p.clock = arena_alloc(o->scratch, p.f->var_count * sizeof *p.clock);
    peephole_block(&p, p.f->body);
  }
  return p.changed;
}
