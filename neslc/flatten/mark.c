/* mark.c - marks of lifted functions (ir/ir.h): of those that are called for many
 * instances, from the form of their argument; and which effects permit them. */
#include "ir/instances.h"
#include "neslc/flatten/explain.h"
#include "neslc/flatten/instances.h"
#include "neslc/flatten/procedure.h"

/* ---- parameters and results ---- */

static void put_size(struct vars *out, uint32_t size) {
  *array_push(out->arena, &out->list) = size;
}

/* The sizes of the columns of a value (columns.c), `of` those of its scalars and
 * descriptors. Within elements everything is physical. */
static void put_sizes(const struct rep *r, uint32_t of, bool inside, struct vars *out) {
  const bool shared = of == IR_SHARED || (r->shared && !inside);
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return;
  case REP_SCALAR: put_size(out, shared ? IR_SHARED : of); return;
  case REP_PAIR:
  case REP_PULLED:
    put_sizes(r->left, of, inside, out);
    put_sizes(r->right, of, inside, out);
    return;
  case REP_SEQUENCE: break;
  }
  if (r->base && !inside) {
    put_size(out, of);
    put_size(out, IR_SHARED);
    put_sizes(r->base, IR_SHARED, false, out);
    return;
  }
  const uint32_t number = shared ? IR_SHARED : (uint32_t)out->list.count;
  put_size(out, shared ? IR_SHARED : of);
  put_sizes(r->elements, number, true, out);
}

void mark_specialisation(struct flattener *f, const struct specialisation *v,
                         const struct rep *argument, const struct rep *result) {
  if (!v->lifted) return;
  struct vars params = {.arena = f->arena}, results = {.arena = f->arena};
  put_size(&params, IR_SHARED);
  put_sizes(argument, IR_EACH, false, &params);
  put_sizes(result, IR_EACH, true, &results);
  struct ir_instances *mark = arena_alloc(f->arena, sizeof *mark);
  *mark = (struct ir_instances){params.list.items, results.list.items};
  f->functions.items[v->function].instances = mark;
  procedure_link(f, v);
  explain_specialisation(f, v);
}

/* ---- effects: those of unfinished code; ir/instances.h says what a finished function may ----
 */

static enum code_effect more(enum code_effect a, enum code_effect b) {
  return a > b ? a : b;
}

static enum code_effect binding_effect(const struct ir_binding *x,
                                       enum code_effect (*callee)(const void *, uint32_t),
                                       const void *context) {
  if (x->form == IR_CALL) return callee(context, x->as.callee);
  if (x->form == IR_IF) {
    const enum code_effect arms = more(block_effect(x->as.arms.then, callee, context),
                                       block_effect(x->as.arms.otherwise, callee, context));
    return arms == EFFECT_DRAWS ? EFFECT_DRAWS_SOME : arms;
  }
  if (x->form != IR_OP || opcode_is_pure((enum opcode)x->op) || x->op == OPC_ASSERT) {
    return EFFECT_NONE;
  }
  return x->op == OPC_RAND ? EFFECT_DRAWS : EFFECT_OTHER;
}

enum code_effect block_effect(const struct ir_block *b,
                              enum code_effect (*callee)(const void *, uint32_t),
                              const void *context) {
  enum code_effect effect = b->end == IR_EXIT ? EFFECT_OTHER : EFFECT_NONE;
  for (uint32_t i = 0; i < b->count; i++) {
    effect = more(effect, binding_effect(&b->bindings[i], callee, context));
  }
  return effect;
}

/* ---- all marks ---- */

void check_marks(struct flattener *f, const struct ir_program *p) {
  const uint8_t *effects = instances_effects(f->arena, p);
  for (uint32_t i = 0; i < p->function_count; i++) {
    const struct ir_instances *mark = p->functions[i].instances;
    if (!mark) continue;
    const char *fault = instances_fault(f->arena, p, i, mark, effects);
    if (!fault) continue;
    p->functions[i].instances = NULL;
    f->made_functions.items[i].unmarked = fault;
  }
  for (uint32_t i = 0; i < p->function_count; i++) {
    if (procedure_fault(f->arena, p, i, effects)) p->functions[i].procedure = IR_NO_PROCEDURE;
  }
}
