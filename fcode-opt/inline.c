/* inline.c - replaces calls by the body of the callee.
 *
 * A callee with one call site is always inlined, a small one everywhere while the program stays
 * within a bound, a recursive one never: NESL's wrappers vanish, and the program does not grow
 * exponentially where each function calls the next one twice. Callees come before callers, so a
 * small body is already expanded when it is copied. A body with one call site is not: it is
 * expanded where it goes, so that it is copied once however deep the calls above it are nested.
 * A lifted function stays: instances.c decides whether it is worth its call. Those of a
 * loop for many instances stay, since the machine counts rounds by their calls.
 */
#include "fcode-opt/passes.h"
#include "ir/kinds.h"

#include <string.h>

/* The program may grow to this many times its bindings, and by some more if it is small. */
enum { GROWTH = 4, GROWTH_FREE = 1000 };

struct inliner {
  struct opt *o;
  struct calls calls;
  uint64_t bulk, most; /* bindings of the program, and how many it may get */
  uint32_t f;          /* the caller */
  ir_var *map;         /* the variables that replace its own */
  uint32_t mapped, map_capacity;
  ARRAY(uint32_t) kept; /* functions with one call site that could not be inlined there */
  bool changed;
};

/* ---- what to inline ---- */

static bool may_inline(const struct inliner *in, uint32_t f) {
  const struct ir_function *function = &in->o->program->functions[f];
  return function->typed && !function->instances && !function->rounds;
}

/* Returns whether f has only one call, which it may replace. */
static bool called_once(const struct inliner *in, uint32_t f) {
  const struct calls *calls = &in->calls;
  return may_inline(in, f) && calls->sites[f] == 1 && !calls->linked[f] && !calls->fixed[f] &&
         !calls->recursive[f];
}

static bool is_worth_inlining(struct inliner *in, uint32_t callee, uint32_t depth,
                              uint32_t within) {
  const struct calls *calls = &in->calls;
  bool fits = depth + calls->depth[callee] <= OPT_DEEPEST;
  if (called_once(in, callee)) {
    if (fits && within < OPT_DEEPEST) return true;
    *array_push(in->o->scratch, &in->kept) = callee;
    return false;
  }
  return fits && may_inline(in, callee) && !calls->recursive[callee] &&
         calls->size[callee] <= in->o->options->inline_limit &&
         in->bulk + calls->bulk[callee] <= in->most;
}

/* Extends the map to the new variables of the caller, which are not replaced. */
static void extend_map(struct inliner *in) {
  uint32_t count = in->o->program->functions[in->f].var_count;
  if (count > in->map_capacity) {
    in->map_capacity = 2 * count;
    ir_var *map = arena_alloc(in->o->scratch, in->map_capacity * sizeof *map);
    for (uint32_t v = 0; v < in->mapped; v++) map[v] = in->map[v];
    in->map = map;
  }
  for (; in->mapped < count; in->mapped++) in->map[in->mapped] = in->mapped;
}

/* Returns the kinds of the callee's kind variables in this call. */
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
    if (instance[i]) continue; /* of a value that the callee makes and uses up itself */
    struct ir_kind *fresh = arena_alloc(in->o->arena, sizeof *fresh);
    *fresh = (struct ir_kind){.tag = IR_ANY, .variable = f->kind_variables++};
    instance[i] = fresh;
  }
  return instance;
}

/* Makes a copy of the callee's body in which the call's operands replace the parameters. */
static struct ir_block *expand_call(struct inliner *in, const struct ir_binding *call,
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
  struct ir_block *body =
      rewrite_copy(o, f, callee, callee->body, map, instance_of(in, f, callee, call));
  rewrite_add_call(o, body, call->origin);
  return body;
}

static void inline_block(struct inliner *, struct ir_block *, uint32_t depth, uint32_t within);

/* Appends the bindings of a block to `out`, calls inlined. `within`: the number of inlined
 * bodies around it. */
static void inline_bindings(struct inliner *in, struct ir_block *block, uint32_t depth,
                            uint32_t within, struct rewrite_block *out) {
  struct opt *o = in->o;
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    for (uint32_t k = 0; k < x->operand_count; k++) x->operands[k] = in->map[x->operands[k]];
    if (x->form == IR_IF) {
      inline_block(in, x->as.arms.then, depth + 1, within);
      inline_block(in, x->as.arms.otherwise, depth + 1, within);
    }
    if (x->form != IR_CALL || !is_worth_inlining(in, x->as.callee, depth, within)) {
      rewrite_append(o, out, x);
      continue;
    }
    struct ir_block *body = expand_call(in, x, depth);
    extend_map(in);
    if (called_once(in, x->as.callee))
      inline_bindings(in, body, depth, within + 1, out);
    else
      for (uint32_t k = 0; k < body->count; k++) rewrite_append(o, out, &body->bindings[k]);
    for (uint32_t k = 0; k < x->result_count; k++) in->map[x->results[k]] = body->results[k];
    if (body->end == IR_YIELD) continue;
    block->end = body->end; /* it never returned: the call was the last binding */
    block->pos = body->pos;
  }
  for (uint32_t k = 0; k < block->result_count; k++)
    block->results[k] = in->map[block->results[k]];
}

static void inline_block(struct inliner *in, struct ir_block *block, uint32_t depth,
                         uint32_t within) {
  struct rewrite_block out = {0};
  inline_bindings(in, block, depth, within, &out);
  rewrite_finish(block, &out);
}

static void inline_function(struct inliner *in, uint32_t f) {
  if (!in->o->program->functions[f].typed) return;
  in->f = f;
  in->mapped = 0;
  extend_map(in);
  inline_block(in, in->o->program->functions[f].body, 0, 0);
}

bool pass_inline(struct opt *o) {
  struct inliner in = {.o = o, .calls = calls_make(o)};
  uint32_t n = o->program->function_count;
  for (uint32_t f = 0; f < n; f++) in.bulk += in.calls.bulk[f];
  in.most = GROWTH * in.bulk + GROWTH_FREE;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t f = in.calls.order[i];
    if (!called_once(&in, f)) inline_function(&in, f);
  }
  while (in.kept.count > 0) inline_function(&in, in.kept.items[--in.kept.count]);
  calls_drop_unreachable(o);
  return in.changed;
}
