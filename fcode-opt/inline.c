/* inline.c - calls replaced by the body of what they call.
 *
 * Callees come before callers, so a body that is inlined is already expanded; recursive
 * functions are never inlined. A callee with one call site always is, a small one everywhere,
 * while the program stays within a bound: NESL's wrappers vanish, and a ladder of functions
 * that each call the next one twice does not explode. */
#include "fcode-opt/passes.h"
#include "ir/kinds.h"

/* The program may grow to this many times its bindings, and by some more if it is small. */
enum { GROWTH = 4, GROWTH_FREE = 1000 };

struct inliner {
  struct opt *o;
  struct calls calls;
  uint64_t bulk, most; /* bindings of the program, and how many it may get */
  uint32_t f;          /* the caller */
  ir_var *map;         /* of its variables as they were */
  bool changed;
};

static bool wanted(const struct inliner *in, uint32_t callee, uint32_t depth) {
  const struct calls *calls = &in->calls;
  if (!in->o->program->functions[callee].typed || calls->recursive[callee]) return false;
  if (depth + calls->depth[callee] > OPT_DEEPEST) return false;
  if (calls->sites[callee] == 1 && !calls->fixed[callee]) return true;
  return calls->size[callee] <= in->o->options->inline_limit &&
         in->bulk + calls->bulk[callee] <= in->most;
}

/* What the callee's kind variables are in this call. */
static const struct ir_kind **instance_of(struct inliner *in, struct ir_function *f,
                                          const struct ir_function *callee,
                                          const struct ir_binding *call) {
  struct arena *a = in->o->scratch;
  const struct ir_kind **instance = arena_alloc(a, callee->kind_variables * sizeof *instance);
  for (uint32_t i = 0; i < call->operand_count; i++)
    ir_kind_match(callee->vars[i], f->vars[call->operands[i]], instance);
  for (uint32_t i = 0; i < call->result_count; i++)
    ir_kind_match(callee->result_kinds[i], f->vars[call->results[i]], instance);
  for (uint32_t i = 0; i < callee->kind_variables; i++) {
    if (instance[i]) continue; /* of something it makes and takes apart again */
    struct ir_kind *fresh = arena_alloc(in->o->arena, sizeof *fresh);
    *fresh = (struct ir_kind){.tag = IR_ANY, .variable = f->kind_variables++};
    instance[i] = fresh;
  }
  return instance;
}

/* The callee's body with the call's operands in place of its parameters. */
static struct ir_block *expand(struct inliner *in, const struct ir_binding *call,
                               uint32_t depth) {
  struct opt *o = in->o;
  struct ir_function *f = &o->program->functions[in->f];
  const struct ir_function *callee = &o->program->functions[call->as.callee];
  struct calls *calls = &in->calls;
  ir_var *map = arena_alloc(o->scratch, callee->var_count * sizeof *map);
  for (uint32_t v = 0; v < callee->var_count; v++) map[v] = IR_NO_VAR;
  for (uint32_t i = 0; i < call->operand_count; i++) map[callee->params[i]] = call->operands[i];
  calls->size[in->f] += calls->size[call->as.callee];
  calls->bulk[in->f] += calls->bulk[call->as.callee];
  in->bulk += calls->bulk[call->as.callee];
  uint32_t deepest = depth + calls->depth[call->as.callee];
  if (calls->depth[in->f] < deepest) calls->depth[in->f] = deepest;
  o->stats->inlined++;
  in->changed = true;
  return rewrite_copy(o, f, callee, callee->body, map, instance_of(in, f, callee, call));
}

static void inline_block(struct inliner *in, struct ir_block *block, uint32_t depth) {
  struct opt *o = in->o;
  struct rewrite_block out = {0};
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    for (uint32_t k = 0; k < x->operand_count; k++) x->operands[k] = in->map[x->operands[k]];
    if (x->form == IR_IF) {
      inline_block(in, x->as.arms.then, depth + 1);
      inline_block(in, x->as.arms.otherwise, depth + 1);
    }
    if (x->form != IR_CALL || !wanted(in, x->as.callee, depth)) {
      rewrite_append(o, &out, x);
      continue;
    }
    struct ir_block *body = expand(in, x, depth);
    for (uint32_t k = 0; k < body->count; k++) rewrite_append(o, &out, &body->bindings[k]);
    for (uint32_t k = 0; k < x->result_count; k++) in->map[x->results[k]] = body->results[k];
    if (body->end == IR_YIELD) continue;
    block->end = body->end; /* it never returned: the call was the last binding */
    block->pos = body->pos;
  }
  rewrite_finish(block, &out);
  for (uint32_t k = 0; k < block->result_count; k++)
    block->results[k] = in->map[block->results[k]];
}

bool pass_inline(struct opt *o) {
  struct inliner in = {.o = o, .calls = calls_make(o)};
  uint32_t n = o->program->function_count;
  for (uint32_t f = 0; f < n; f++) in.bulk += in.calls.bulk[f];
  in.most = GROWTH * in.bulk + GROWTH_FREE;
  for (uint32_t i = 0; i < n; i++) {
    struct ir_function *f = &o->program->functions[in.calls.order[i]];
    if (!f->typed) continue;
    in.f = in.calls.order[i];
    in.map = arena_alloc(o->scratch, f->var_count * sizeof *in.map);
    for (uint32_t v = 0; v < f->var_count; v++) in.map[v] = v;
    inline_block(&in, f->body, 0);
  }
  calls_drop_unreachable(o);
  return in.changed;
}
