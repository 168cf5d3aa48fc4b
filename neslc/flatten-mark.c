/* flatten-mark.c - marks of functions by instances (ir/ir.h): of those that are called for many
 * instances, from the form of their argument; and which effects permit them. */
#include "ir/instances.h"
#include "neslc/flatten-private.h"

/* ---- parameters and results ---- */

static void put(struct vars *out, uint32_t size) {
  *array_push(out->arena, &out->list) = size;
}

/* The sizes of the columns of a value (flatten-columns.c), `of` those of its scalars and
 * descriptors. Within elements everything is physical. */
static void put_sizes(const struct rep *r, uint32_t of, bool inside, struct vars *out) {
  const bool shared = of == IR_SHARED || (r->shared && !inside);
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return;
  case REP_SCALAR: put(out, shared ? IR_SHARED : of); return;
  case REP_PAIR:
  case REP_PULLED:
    put_sizes(r->left, of, inside, out);
    put_sizes(r->right, of, inside, out);
    return;
  case REP_SEQUENCE: break;
  }
  if (r->base && !inside) {
    put(out, of);
    put(out, IR_SHARED);
    put_sizes(r->base, IR_SHARED, false, out);
    return;
  }
  const uint32_t number = shared ? IR_SHARED : (uint32_t)out->list.count;
  put(out, shared ? IR_SHARED : of);
  put_sizes(r->elements, number, true, out);
}

void mark_specialisation(struct flattener *f, const struct specialisation *v,
                         const struct rep *argument, const struct rep *result) {
  if (!v->lifted) return;
  struct vars params = {.arena = f->arena}, results = {.arena = f->arena};
  put(&params, IR_SHARED);
  put_sizes(argument, IR_EACH, false, &params);
  put_sizes(result, IR_EACH, true, &results);
  struct ir_instances *mark = arena_alloc(f->arena, sizeof *mark);
  *mark = (struct ir_instances){params.list.items, results.list.items};
  f->functions.items[v->function].instances = mark;
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

/* ---- loops that may fail ----
 *
 * Of several faults the first in program order is reported: that of the least dynamic path
 * (docs/memory.md). In a loop for many instances (flatten-loop.c) the path of a round depends
 * on which instances have finished before, so for some of the instances it is another one.
 * Where a round may fail nothing around the loop is by instances. */

/* What is looked for: in a function, or in what it calls. */
struct finding {
  const struct flattener *f;
  const struct ir_program *program;
  bool *found; /* per function */
};

static bool any_call(const struct finding *s, const struct ir_block *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    const struct ir_binding *x = &b->bindings[i];
    if (x->form == IR_CALL && s->found[x->as.callee]) return true;
    if (x->form == IR_IF &&
        (any_call(s, x->as.arms.then) || any_call(s, x->as.arms.otherwise))) {
      return true;
    }
  }
  return false;
}

static bool to_callers_once(const struct finding *s) {
  bool changed = false;
  for (uint32_t i = 0; i < s->program->function_count; i++) {
    if (s->found[i] || !any_call(s, s->program->functions[i].body)) continue;
    s->found[i] = changed = true;
  }
  return changed;
}

static void to_callers(const struct finding *s) {
  while (to_callers_once(s)) continue;
}

/* Without checks anything may fail whose operands may be unsuitable. */
static bool binding_may_fail(const struct flattener *f, const struct ir_binding *x) {
  if (x->form != IR_OP) return false;
  if (x->op == OPC_ASSERT || x->op == OPC_RAND) return true;
  return f->options->unchecked &&
         opcode_fault((enum opcode)x->op, (enum type_word)x->type) != CVL_E_NONE;
}

static bool block_may_fail(const struct flattener *f, const struct ir_block *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    const struct ir_binding *x = &b->bindings[i];
    if (binding_may_fail(f, x)) return true;
    if (x->form == IR_IF &&
        (block_may_fail(f, x->as.arms.then) || block_may_fail(f, x->as.arms.otherwise))) {
      return true;
    }
  }
  return false;
}

/* The functions from which a round of a loop for many instances is reached that may fail. */
static const bool *around_failing_rounds(struct flattener *f, const struct ir_program *p) {
  struct finding fails = {f, p, arena_alloc(f->arena, p->function_count + 1)};
  struct finding around = {f, p, arena_alloc(f->arena, p->function_count + 1)};
  for (uint32_t i = 0; i < p->function_count; i++) {
    fails.found[i] = f->made_functions.items[i].wanted.list.count > 0 ||
                     block_may_fail(f, p->functions[i].body);
  }
  to_callers(&fails);
  for (size_t i = 0; i < f->specialisations.count; i++) {
    const struct specialisation *v = &f->specialisations.items[i];
    const bool step = v->loop && v->loop->function == LOOP_STEP;
    if (step) around.found[v->function] = fails.found[v->function];
  }
  to_callers(&around);
  return around.found;
}

/* ---- all marks ---- */

void check_marks(struct flattener *f, const struct ir_program *p) {
  const uint8_t *effects = instances_effects(f->arena, p);
  const bool *around = around_failing_rounds(f, p);
  for (uint32_t i = 0; i < p->function_count; i++) {
    const struct ir_instances *mark = p->functions[i].instances;
    if (!mark) continue;
    const char *fault = around[i] ? "has a loop, or calls one, a round of which may fail"
                                  : instances_fault(f->arena, p, i, mark, effects);
    if (!fault) continue;
    p->functions[i].instances = NULL;
    f->made_functions.items[i].unmarked = fault;
  }
}
