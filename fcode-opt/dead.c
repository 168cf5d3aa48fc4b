/* dead.c - removes bindings, parameters and results of functions that are not needed.
 *
 * The needs of the whole program are a least fixed point: a binding is needed if it has an
 * effect, if it may fail, or if a result of it is needed; an operand of a call if the parameter
 * is needed; a result of a function if that result of some call is. So a value that a recursive
 * function only passes to itself is not needed.
 *
 * A lifted function keeps parameter 0, and each descriptor that the size of another
 * parameter or result refers to. It and its procedure lose the same items. */
#include "ir/dead.h"
#include "fcode-opt/passes.h"

#include <string.h>

struct need {
  struct opt *o;
  struct calls calls;
  const struct sizes *sizes;
  bool *removable; /* per function: a call of it is, if no result is needed */
  bool **vars;     /* per function: its variables that are needed */
  bool **results;  /* per function: its results that are */
  uint32_t f;      /* the function being looked at */
  bool *waiting;   /* per function: to be looked at (again) */
  bool more;       /* some function waits */
  bool removing;   /* all needs are known */
  bool changed;
};

static bool needs(const struct need *n, ir_var v) {
  return n->vars[n->f][v];
}

/* ---- what is needed ---- */

static bool scalar_condition(const struct need *n, const struct ir_binding *x) {
  return sizes_agree(n->sizes, n->f, x) ||
         sizes_known(n->sizes, n->f, x->operands[0], SIZE_LEN) == 1;
}

/* Whether a binding (not an IF) has no effect and cannot fail. */
static bool is_removable(const struct need *n, const struct ir_binding *x) {
  if (x->form == IR_CALL) return n->removable[x->as.callee];
  uint8_t effects = binding_effects(&n->calls, x);
  return effects == 0 || (effects == EFFECT_ENDS && (x->form == IR_OP || x->form == IR_FUSED) &&
                          sizes_safe(n->sizes, n->f, x));
}

static bool is_removable_block(const struct need *n, const struct ir_block *block) {
  bool removable = block->end == IR_YIELD;
  for (uint32_t i = 0; i < block->count && removable; i++) {
    const struct ir_binding *x = &block->bindings[i];
    removable = x->form == IR_IF
                    ? scalar_condition(n, x) && is_removable_block(n, x->as.arms.then) &&
                          is_removable_block(n, x->as.arms.otherwise)
                    : is_removable(n, x);
  }
  return removable;
}

/* Finds the functions without effect that cannot fail. Callees come first, so a function that
 * calls itself is not removable: it may not end. */
static void find_removable(struct need *n) {
  uint32_t count = n->o->program->function_count;
  n->removable = arena_alloc(n->o->scratch, count);
  for (uint32_t i = 0; i < count; i++) {
    n->f = n->calls.order[i];
    const struct ir_function *f = &n->o->program->functions[n->f];
    n->removable[n->f] = f->typed && is_removable_block(n, f->body);
  }
}

/* Whether a binding must be executed although no result of it is needed. */
static bool binding_stays(void *context, const struct ir_binding *x) {
  const struct need *n = context;
  return x->form == IR_IF ? !scalar_condition(n, x) : !is_removable(n, x);
}

/* Marks the results of the callee that this call needs. */
static void ask_callee(struct need *n, const struct ir_binding *x) {
  uint32_t callee = x->as.callee;
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (!needs(n, x->results[i]) || n->results[callee][i]) continue;
    n->results[callee][i] = true;
    n->waiting[callee] = n->more = true;
  }
}

/* Removes from a call the parameters and results that its callee loses. */
static void sweep_call(struct need *n, struct ir_binding *x) {
  const struct ir_function *callee = &n->o->program->functions[x->as.callee];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (n->vars[x->as.callee][callee->params[i]]) x->operands[kept++] = x->operands[i];
  }
  x->operand_count = kept;
  x->result_count = ir_keep_vars(x->result_count, x->results, n->results[x->as.callee]);
}

/* Marks the operands of a binding that stays. */
static void mark_operands_needed(void *context, struct ir_binding *x) {
  struct need *n = context;
  const struct ir_function *callee =
      x->form == IR_CALL ? &n->o->program->functions[x->as.callee] : NULL;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (callee && !n->vars[x->as.callee][callee->params[i]]) continue;
    n->vars[n->f][x->operands[i]] = true;
  }
  if (callee) ask_callee(n, x);
  if (callee && n->removing) sweep_call(n, x);
}

/* Marks or removes in function n->f, whose needed results are marked. */
static void walk_needs(struct need *n) {
  struct ir_dead d = {.needed = n->vars[n->f],
                      .stays = binding_stays,
                      .keep = mark_operands_needed,
                      .context = n,
                      .remove = n->removing};
  ir_dead_block(&d, n->o->program->functions[n->f].body);
  n->o->stats->dead += d.removed;
  n->changed |= d.changed;
}

/* In a lifted function, marks the descriptors that the sizes of needed results refer to.
 */
static void mark_result_sizes(struct need *n, uint32_t f) {
  const struct ir_function *function = &n->o->program->functions[f];
  if (!function->instances) return;
  const uint32_t *sizes = function->instances->results;
  for (uint32_t i = 0; i < function->result_count; i++) {
    for (uint32_t k = i; n->results[f][i] && sizes[k] != IR_EACH; k = sizes[k])
      n->results[f][sizes[k]] = true;
  }
}

/* In a lifted function, marks parameter 0, and the descriptors that the sizes of needed
 * parameters refer to. */
static void mark_parameter_sizes(struct need *n, uint32_t f) {
  const struct ir_function *function = &n->o->program->functions[f];
  if (!function->instances) return;
  const uint32_t *sizes = function->instances->params;
  const ir_var *params = function->params;
  bool *needed = n->vars[f];
  needed[params[0]] = true;
  for (uint32_t i = 0; i < function->param_count; i++) {
    for (uint32_t k = i; needed[params[i]] && sizes[k] < IR_EACH; k = sizes[k])
      needed[params[sizes[k]]] = true;
  }
}

/* A function needs more of its parameters: its callers must be walked again. */
static void wait_for_callers(struct need *n, uint32_t f) {
  for (uint32_t i = n->calls.caller_first[f]; i < n->calls.caller_first[f + 1]; i++) {
    uint32_t caller = n->calls.callers[i];
    if (n->o->program->functions[caller].typed) n->waiting[caller] = n->more = true;
  }
}

/* Walks a function again. If it then needs more of its parameters, its callers must be walked,
 * too. */
static void mark_function(struct need *n, uint32_t f) {
  const struct ir_function *function = &n->o->program->functions[f];
  const struct ir_block *body = function->body;
  uint32_t before = 0, after = 0;
  n->f = f;
  n->waiting[f] = false;
  for (uint32_t i = 0; i < function->param_count; i++)
    before += n->vars[f][function->params[i]];
  mark_result_sizes(n, f);
  for (uint32_t i = 0; i < body->result_count; i++) {
    if (n->results[f][i]) n->vars[f][body->results[i]] = true;
  }
  walk_needs(n);
  mark_parameter_sizes(n, f);
  for (uint32_t i = 0; i < function->param_count; i++) after += n->vars[f][function->params[i]];
  if (after != before) wait_for_callers(n, f);
}

/* ---- lifted functions and their procedures ---- */

/* Marks what one of two functions needs as needed by both. Returns which of them learn
 * something: 1 the first, 2 the second, 3 both. */
static unsigned unite_needs(bool *a, bool *b) {
  const unsigned learn = (*b && !*a ? 1U : 0U) | (*a && !*b ? 2U : 0U);
  if (learn) *a = *b = true;
  return learn;
}

static void learn_needs(struct need *n, uint32_t f, bool params) {
  n->waiting[f] = n->more = true;
  if (params) wait_for_callers(n, f);
}

/* A lifted function and its procedure keep the same items. */
static void unite_with_procedure(struct need *n, uint32_t f) {
  const struct ir_function *function = &n->o->program->functions[f];
  const uint32_t p = ir_procedure(function);
  if (p == IR_NO_PROCEDURE) return;
  const struct ir_function *procedure = &n->o->program->functions[p];
  unsigned params = 0, results = 0;
  for (uint32_t i = 0; i < procedure->param_count; i++)
    params |=
        unite_needs(&n->vars[f][function->params[i + 1]], &n->vars[p][procedure->params[i]]);
  for (uint32_t i = 0; i < procedure->result_count; i++)
    results |= unite_needs(&n->results[f][i], &n->results[p][i]);
  if ((params | results) & 1U) learn_needs(n, f, params & 1U);
  if ((params | results) & 2U) learn_needs(n, p, params & 2U);
}

static void find_needs(struct need *n) {
  const struct ir_program *program = n->o->program;
  uint32_t count = program->function_count;
  n->vars = arena_alloc(n->o->scratch, count * sizeof *n->vars);
  n->results = arena_alloc(n->o->scratch, count * sizeof *n->results);
  n->waiting = arena_alloc(n->o->scratch, count);
  for (uint32_t f = 0; f < count; f++) {
    const struct ir_function *function = &program->functions[f];
    n->vars[f] = arena_alloc(n->o->scratch, function->var_count);
    n->results[f] = arena_alloc(n->o->scratch, function->result_count);
    n->waiting[f] = function->typed;
    if (!n->calls.fixed[f] || !function->typed) continue;
    memset(n->results[f], true, function->result_count);
    for (uint32_t i = 0; i < function->param_count; i++) n->vars[f][function->params[i]] = true;
  }
  /* Callees first: most of what they need is then known when a caller is looked at. */
  do {
    n->more = false;
    for (uint32_t i = 0; i < count; i++) {
      if (n->waiting[n->calls.order[i]]) mark_function(n, n->calls.order[i]);
    }
    for (uint32_t f = 0; f < count; f++) unite_with_procedure(n, f);
  } while (n->more);
}

/* ---- removing ---- */

/* Returns the sizes of the items that are kept, by their new numbers. */
static const uint32_t *shrink_sizes(struct need *n, uint32_t count, const uint32_t *sizes,
                                    const bool *keep) {
  uint32_t *numbers = arena_alloc(n->o->scratch, count * sizeof *numbers);
  uint32_t *list = arena_alloc(n->o->arena, count * sizeof *list), kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    numbers[i] = kept;
    kept += keep[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    if (keep[i]) list[numbers[i]] = sizes[i] < IR_EACH ? numbers[sizes[i]] : sizes[i];
  }
  return list;
}

static void shrink_instances(struct need *n, uint32_t f) {
  struct ir_function *function = &n->o->program->functions[f];
  const struct ir_instances *old = function->instances;
  bool *keep = arena_alloc(n->o->scratch, function->param_count);
  for (uint32_t i = 0; i < function->param_count; i++)
    keep[i] = n->vars[f][function->params[i]];
  struct ir_instances *mark = arena_alloc(n->o->arena, sizeof *mark);
  mark->params = shrink_sizes(n, function->param_count, old->params, keep);
  mark->results = shrink_sizes(n, function->result_count, old->results, n->results[f]);
  function->instances = mark;
}

/* Shrinks a signature. It is called last: calls are changed by the old signature. */
static void shrink_signature(struct need *n, uint32_t f) {
  struct ir_function *function = &n->o->program->functions[f];
  struct fcode_opt_stats *stats = n->o->stats;
  uint32_t params = 0, results = 0;
  if (function->instances) shrink_instances(n, f);
  for (uint32_t i = 0; i < function->param_count; i++) {
    if (n->vars[f][function->params[i]]) function->params[params++] = function->params[i];
  }
  for (uint32_t i = 0; i < function->result_count; i++) {
    if (!n->results[f][i]) continue;
    function->result_kinds[results] = function->result_kinds[i];
    if (function->body->end == IR_YIELD)
      function->body->results[results] = function->body->results[i];
    results++;
  }
  stats->dead_parameters += function->param_count - params;
  stats->dead_results += function->result_count - results;
  n->changed |= params < function->param_count || results < function->result_count;
  function->param_count = params;
  function->result_count = results;
  if (function->body->end == IR_YIELD) function->body->result_count = results;
}

bool pass_dead(struct opt *o) {
  calls_drop_unreachable(o);
  struct need n = {.o = o, .calls = calls_make(o), .sizes = sizes_compute(o)};
  find_removable(&n);
  find_needs(&n);
  uint32_t count = o->program->function_count;
  n.removing = true;
  for (n.f = 0; n.f < count; n.f++) {
    if (o->program->functions[n.f].typed) walk_needs(&n);
  }
  for (uint32_t f = 0; f < count; f++) {
    if (o->program->functions[f].typed) shrink_signature(&n, f);
  }
  calls_drop_unreachable(o);
  return n.changed;
}
