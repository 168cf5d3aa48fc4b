/* calls.c - the call graph of the program as it is now, and the effects of its functions.
 *
 * ir/callgraph.h reads stack code; passes change let-form, so they ask here. */
#include "fcode-opt/passes.h"
#include "ir/components.h"

#include <string.h>

/* ---- effects ---- */

bool binding_never_fails(const struct ir_binding *x) {
  return x->form == IR_CONST ||
         (x->form == IR_OP && !opcode_may_fail(x->op, (enum type_word)x->type));
}

static uint8_t op_effects(const struct ir_binding *x) {
  switch (opcode_effect(x->op)) {
  case OPCODE_DRAWS:
  case OPCODE_OUTSIDE: return EFFECT_OUTSIDE | EFFECT_ENDS;
  case OPCODE_TIMES: return EFFECT_OUTSIDE | EFFECT_TIMER;
  case OPCODE_STOPS: return EFFECT_ENDS;
  case OPCODE_PURE:
  case OPCODE_LOADED: break;
  }
  return binding_never_fails(x) ? 0 : EFFECT_ENDS;
}

static uint8_t block_effects(const struct calls *calls, const struct ir_block *block) {
  uint8_t effects = block->end == IR_YIELD ? 0 : EFFECT_ENDS;
  for (uint32_t i = 0; i < block->count; i++)
    effects |= binding_effects(calls, &block->bindings[i]);
  return effects;
}

uint8_t binding_effects(const struct calls *calls, const struct ir_binding *x) {
  switch ((enum ir_form)x->form) {
  case IR_OP: return op_effects(x);
  case IR_CONST: return 0;
  case IR_FUSED: return EFFECT_ENDS;
  case IR_CALL: return calls->effects[x->as.callee];
  case IR_IF: /* the condition may be no scalar */
    return block_effects(calls, x->as.arms.then) | block_effects(calls, x->as.arms.otherwise) |
           EFFECT_ENDS;
  }
  return EFFECT_ENDS;
}

/* ---- the graph ---- */

struct search {
  struct opt *o;
  struct calls *calls;
  ARRAY(uint32_t) callees; /* of all functions, one after the other */
  uint32_t *first;         /* those of function f are first[f] .. first[f+1] */
};

/* Notes the callees, effects and size of a block, without its callees'. Returns its depth. */
static uint32_t note_block(struct search *s, uint32_t f, const struct ir_block *block) {
  struct calls *calls = s->calls;
  uint32_t deepest = 0;
  calls->bulk[f] += block->count;
  if (block->end != IR_YIELD) calls->effects[f] |= EFFECT_ENDS;
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_CALL) {
      *array_push(s->o->scratch, &s->callees) = x->as.callee;
      continue;
    }
    if (x->form == IR_IF) {
      uint32_t then = note_block(s, f, x->as.arms.then);
      uint32_t otherwise = note_block(s, f, x->as.arms.otherwise);
      if (then > deepest) deepest = then;
      if (otherwise > deepest) deepest = otherwise;
      calls->effects[f] |= EFFECT_ENDS;
      continue;
    }
    if (x->form != IR_OP || opcode_info(x->op)->klass != OC_PAIRING) calls->size[f]++;
    calls->effects[f] |= binding_effects(calls, x);
  }
  return deepest + (block == s->o->program->functions[f].body ? 0 : 1);
}

/* Notes the callees of stack code, about which nothing good is assumed. */
static void note_stack_code(struct search *s, uint32_t f) {
  const struct vcode_function *stack = s->o->program->functions[f].stack;
  s->calls->effects[f] = EFFECT_OUTSIDE | EFFECT_TIMER | EFFECT_ENDS;
  s->calls->bulk[f] = stack->length;
  for (uint32_t i = 0; i < stack->length; i++) {
    if (stack->code[i].op == OPC_CALL)
      *array_push(s->o->scratch, &s->callees) = stack->code[i].as.call.function;
  }
}

/* Gives a component the effects of its functions and of those that they call, callees first.
 * Recursion may not end. */
static void spread_effects(struct search *s, const struct components *c) {
  struct calls *calls = s->calls;
  for (uint32_t k = 0; k < c->count; k++) {
    uint8_t effects = c->cyclic[c->order[c->first[k]]] ? EFFECT_ENDS : 0;
    for (uint32_t i = c->first[k]; i < c->first[k + 1]; i++) {
      const uint32_t f = c->order[i];
      effects |= calls->effects[f];
      for (uint32_t e = s->first[f]; e < s->first[f + 1]; e++)
        effects |= calls->effects[s->callees.items[e]];
    }
    for (uint32_t i = c->first[k]; i < c->first[k + 1]; i++)
      calls->effects[c->order[i]] = effects;
  }
}

/* Counts the calls of each function by functions that are reached. */
static void count_sites(struct search *s) {
  const struct ir_program *program = s->o->program;
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (!s->calls->reachable[f]) continue;
    for (uint32_t i = s->first[f]; i < s->first[f + 1]; i++) {
      s->calls->sites[s->callees.items[i]]++;
      if (!program->functions[f].typed) s->calls->fixed[s->callees.items[i]] = true;
    }
  }
  s->calls->fixed[program->entry] = true;
}

/* Inverts the lists of callees. */
static void list_callers(struct search *s) {
  uint32_t n = s->o->program->function_count;
  struct calls *calls = s->calls;
  uint32_t *first = arena_alloc(s->o->scratch, ((size_t)n + 2) * sizeof *first);
  calls->callers = arena_alloc(s->o->scratch, s->callees.count * sizeof *calls->callers);
  for (size_t i = 0; i < s->callees.count; i++) first[s->callees.items[i] + 2]++;
  for (uint32_t f = 0; f < n; f++) first[f + 2] += first[f + 1];
  for (uint32_t f = 0; f < n; f++) { /* first[c + 1] moves on to where callee c + 1 begins */
    for (uint32_t i = s->first[f]; i < s->first[f + 1]; i++)
      calls->callers[first[s->callees.items[i] + 1]++] = f;
  }
  calls->caller_first = first;
}

/* Notes the procedures of functions that are reached: so are they. */
static void note_links(struct search *s, const struct graph *graph, struct components *c) {
  const struct ir_program *program = s->o->program;
  uint32_t *links = arena_alloc(s->o->scratch, program->function_count * sizeof *links);
  for (uint32_t f = 0; f < program->function_count; f++)
    links[f] = ir_procedure(&program->functions[f]);
  components_reach(s->o->scratch, graph, c, links);
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (c->reachable[f] && links[f] != IR_NO_PROCEDURE) s->calls->linked[links[f]] = true;
  }
}

struct calls calls_make(struct opt *o) {
  struct arena *a = o->scratch;
  const struct ir_program *program = o->program;
  size_t n = program->function_count;
  struct calls calls = {.count = (uint32_t)n,
                        .fixed = arena_alloc(a, n),
                        .called = arena_alloc(a, n),
                        .linked = arena_alloc(a, n),
                        .sites = arena_alloc(a, n * sizeof(uint32_t)),
                        .size = arena_alloc(a, n * sizeof(uint32_t)),
                        .bulk = arena_alloc(a, n * sizeof(uint32_t)),
                        .depth = arena_alloc(a, n * sizeof(uint32_t)),
                        .effects = arena_alloc(a, n)};
  struct search s = {
      .o = o, .calls = &calls, .first = arena_alloc(a, (n + 1) * sizeof(uint32_t))};
  for (uint32_t f = 0; f < n; f++) {
    s.first[f] = (uint32_t)s.callees.count;
    if (program->functions[f].typed)
      calls.depth[f] = note_block(&s, f, program->functions[f].body);
    else
      note_stack_code(&s, f);
  }
  s.first[n] = (uint32_t)s.callees.count;
  const struct graph graph = {(uint32_t)n, s.first, s.callees.items};
  struct components c = components_make(a, &graph, program->entry);
  if (n > 0) memcpy(calls.called, c.reachable, n);
  note_links(&s, &graph, &c);
  calls.order = c.order;
  calls.recursive = c.cyclic;
  calls.reachable = c.reachable;
  spread_effects(&s, &c);
  count_sites(&s);
  list_callers(&s);
  return calls;
}

void calls_drop_unreachable(struct opt *o) {
  const struct calls calls = calls_make(o);
  for (uint32_t f = 0; f < o->program->function_count; f++) {
    if (calls.reachable[f]) continue;
    struct ir_function *function = &o->program->functions[f];
    struct ir_block *body = arena_alloc(o->arena, sizeof *body);
    body->end = IR_EXIT;
    body->pos = function->pos;
    *function = (struct ir_function){.name = function->name,
                                     .pos = function->pos,
                                     .typed = true,
                                     .procedure = IR_NO_PROCEDURE,
                                     .body = body};
    o->var_capacity[f] = 0;
  }
}
