/* hoist.c - what a lifted function computes of shared operands only moves to its callers.
 *
 * It gives the same for every chunk of the instances, so it is to be computed once: its results
 * become shared parameters. What moves:
 *
 * - operations, superoperators and calls without effect whose operands are constants, shared
 *   parameters, or results of others that move; likewise an IF, with all that its arms use;
 * - the comparison that there are instances at all (LENGTHS of parameter 0 with 0): no chunk is
 *   empty, so it is true of a chunk if it is true of the whole.
 *
 * Bindings in arms that stay do not move: they may not be executed. But lengths of shared
 * descriptors and their sums, which do not fail, go before the IF: they cost little once, and a
 * procedure would compute them for each instance. A binding that may fail, or
 * whose safety depends on a check made before, moves only if nothing that stays before it may
 * fail. So the same fault is met first. A function that still calls itself (invariants.c) is
 * left alone.
 *
 * Callers come after what they call, and may be lifted, too: then what has moved to one
 * moves on. The size analysis does not know it there. If it may fail at all it counts as such,
 * since a check in that caller may be what makes it safe; where that stops it, there is another
 * round with sizes of its own. */
#include "base/map.h"
#include "fcode-opt/passes.h"
#include "ir/constant.h"
#include "ir/kinds.h"

#include <string.h>

/* A note on a binding that has moved to its present position. */
enum note { NOTE_NONE, NOTE_NEVER_FAILS, NOTE_MAY_FAIL };

struct hoist {
  struct opt *o;
  struct calls calls;
  const struct sizes *sizes; /* NULL until one is asked for */
  uint32_t *known;           /* per function: its variables below this are known to sizes */
  bool any;                  /* something has moved */
  bool stopped;              /* something that moved before would move on if it were safe */
  struct map notes; /* from a function and a variable: enum note of its binding, which moved */

  /* the index of the function at hand */
  uint32_t index;
  struct ir_function *f;
  bool *shared;                        /* per variable: a chunk does not change it */
  bool *lengths;                       /* per variable: LENGTHS of parameter 0 */
  bool *of_lengths; /* per variable: lengths of a descriptor, or sums of them */
  bool *outside;    /* per variable: shared, and not of an arm */
  bool *left;       /* per variable: its binding has left an arm */
  bool *moves;                         /* per binding of the body */
  bool *fails;                         /* likewise: it may */
  bool *copied;                        /* likewise: it stays, but what moves needs it, too */
  const struct ir_binding **constants; /* per variable: its CONST, or NULL */
  bool may_fail;                       /* something that stays, so far */
  ARRAY(ir_var) results; /* of what moves, needed by what stays: the new parameters */
};

/* ---- what may fail ---- */

/* Sizes take longer than the rest of the pass. */
static const struct sizes *sizes_of(struct hoist *h) {
  const uint32_t n = h->o->program->function_count;
  if (h->sizes) return h->sizes;
  h->sizes = sizes_compute(h->o);
  h->known = arena_alloc(h->o->scratch, n * sizeof *h->known);
  for (uint32_t f = 0; f < n; f++) h->known[f] = h->o->program->functions[f].var_count;
  return h->sizes;
}

static bool hoist_is_scalar(struct hoist *h, ir_var v) {
  const struct sizes *sizes = sizes_of(h);
  return v < h->known[h->index] && sizes_known(sizes, h->index, v, SIZE_LEN) == 1;
}

static enum note note_of_binding(const struct hoist *h, const struct ir_binding *x) {
  if (x->result_count == 0) return NOTE_NONE;
  return map_get(&h->notes, map_pair(h->index, x->results[0]));
}

static bool block_may_fail(struct hoist *h, const struct ir_block *block);

static bool binding_may_fail(struct hoist *h, const struct ir_binding *x) {
  const enum note note = note_of_binding(h, x);
  if (note != NOTE_NONE) return note == NOTE_MAY_FAIL;
  switch ((enum ir_form)x->form) {
  case IR_OP:
  case IR_FUSED:
    return !binding_never_fails(x) && (!sizes_safe(sizes_of(h), h->index, x) ||
                                       sizes_depend_on_check(sizes_of(h), h->index, x));
  case IR_CALL: return binding_effects(&h->calls, x) != 0;
  case IR_CONST: return false;
  case IR_IF: break;
  }
  return !hoist_is_scalar(h, x->operands[0]) || block_may_fail(h, x->as.arms.then) ||
         block_may_fail(h, x->as.arms.otherwise);
}

static bool block_may_fail(struct hoist *h, const struct ir_block *block) {
  if (block->end != IR_YIELD) return true;
  for (uint32_t i = 0; i < block->count; i++) {
    if (binding_may_fail(h, &block->bindings[i])) return true;
  }
  return false;
}

/* ---- what is the same for all chunks ---- */

static bool is_known_number_var(const struct hoist *h, ir_var v, int64_t number) {
  if (!h->constants[v]) return false;
  const struct vcode_constant *c = h->constants[v]->as.constant;
  return c->type == TW_INT && c->length == 1 && c->as.ints[0] == number;
}

/* Matches n > 0, n != 0, n >= 1 and 0 < n, 0 != n, 1 <= n, where n is the number of instances.
 */
static bool asks_for_instances(const struct hoist *h, const struct ir_binding *x) {
  if (x->form != IR_OP || x->type != TW_INT || x->operand_count != 2) return false;
  const bool first = h->lengths[x->operands[0]];
  if (!first && !h->lengths[x->operands[1]]) return false;
  const ir_var other = x->operands[first ? 1 : 0];
  switch ((enum opcode)x->op) {
  case OPC_NE: return is_known_number_var(h, other, 0);
  case OPC_GT: return first && is_known_number_var(h, other, 0);
  case OPC_GE: return first && is_known_number_var(h, other, 1);
  case OPC_LT: return !first && is_known_number_var(h, other, 0);
  case OPC_LE: return !first && is_known_number_var(h, other, 1);
  default: return false;
  }
}

static bool is_base(const struct hoist *h, ir_var v) {
  return (int)h->f->vars[v]->tag < (int)BASE_KINDS;
}

static bool block_is_shared(struct hoist *h, const struct ir_block *block);

/* Returns whether no chunk changes the results of x: they are shared then. */
static bool binding_is_shared(struct hoist *h, const struct ir_binding *x) {
  bool shared = !(binding_effects(&h->calls, x) & (EFFECT_OUTSIDE | EFFECT_TIMER));
  for (uint32_t i = 0; i < x->operand_count; i++) shared = shared && h->shared[x->operands[i]];
  shared = shared || asks_for_instances(h, x);
  if (x->form == IR_IF)
    shared = shared && block_is_shared(h, x->as.arms.then) &&
             block_is_shared(h, x->as.arms.otherwise);
  for (uint32_t i = 0; i < x->result_count; i++) shared = shared && is_base(h, x->results[i]);
  for (uint32_t i = 0; i < x->result_count; i++) h->shared[x->results[i]] = shared;
  return shared;
}

/* Returns whether an arm of an IF moves as a whole. */
static bool block_is_shared(struct hoist *h, const struct ir_block *block) {
  bool shared = block->end == IR_YIELD;
  for (uint32_t i = 0; i < block->count && shared; i++)
    shared = binding_is_shared(h, &block->bindings[i]);
  for (uint32_t i = 0; i < block->result_count; i++)
    shared = shared && h->shared[block->results[i]];
  return shared;
}

static void note_number(struct hoist *h, const struct ir_binding *x) {
  if (x->form == IR_CONST) h->constants[x->results[0]] = x;
  if (x->form == IR_OP && x->op == OPC_LENGTHS && x->operands[0] == h->f->params[0])
    h->lengths[x->results[0]] = true;
}

/* Returns whether anything might move, if it may. */
static bool has_candidates(struct hoist *h) {
  const struct ir_block *body = h->f->body;
  bool any = false;
  for (uint32_t i = 0; i < body->count; i++) {
    const struct ir_binding *x = &body->bindings[i];
    any |= binding_is_shared(h, x) && x->form != IR_CONST;
    note_number(h, x);
  }
  return any;
}

/* Finds the bindings of the body that move, and returns whether there are any. Constants stay,
 * and are copied. */
static bool hoist_find_moves(struct hoist *h) {
  const struct ir_block *body = h->f->body;
  bool any = false;
  for (uint32_t i = 0; i < body->count; i++) {
    const struct ir_binding *x = &body->bindings[i];
    const bool shared = binding_is_shared(h, x);
    if (x->form == IR_CONST) continue;
    h->fails[i] = binding_may_fail(h, x);
    h->moves[i] = shared && (!h->fails[i] || !h->may_fail);
    any |= h->moves[i];
    if (h->moves[i]) continue;
    h->stopped |= shared && note_of_binding(h, x) != NOTE_NONE;
    h->may_fail |= h->fails[i];
    for (uint32_t k = 0; k < x->result_count; k++) h->shared[x->results[k]] = false;
  }
  return any;
}

/* ---- out of arms ---- */

/* Whether it is the lengths of a descriptor, sums of such lengths, or their number. */
static bool is_of_lengths(const struct hoist *h, const struct ir_binding *x) {
  if (x->form != IR_OP) return false;
  switch ((enum opcode)x->op) {
  case OPC_LENGTHS: return true;
  case OPC_LENGTH:
  case OPC_MAKE_SEGDES:
  case OPC_ADD_SCAN:
  case OPC_ADD_REDUCE: return h->of_lengths[x->operands[0]];
  default: return false;
  }
}

/* Whether a binding of an arm may go before the IF, with constants of the arm that it needs. */
static bool may_leave(struct hoist *h, const struct ir_binding *x) {
  if (!is_of_lengths(h, x)) return false;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (!h->outside[x->operands[i]] && !h->constants[x->operands[i]]) return false;
  }
  return !binding_may_fail(h, x);
}

static void leave(struct hoist *h, const struct ir_binding *x, struct rewrite_block *out) {
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const ir_var v = x->operands[i];
    if (!h->outside[v]) leave(h, h->constants[v], out);
  }
  rewrite_append(h->o, out, x);
  h->outside[x->results[0]] = h->left[x->results[0]] = true;
  h->of_lengths[x->results[0]] = is_of_lengths(h, x);
}

static void leave_arms(struct hoist *h, const struct ir_binding *x, struct rewrite_block *out);

static void leave_arm(struct hoist *h, struct ir_block *arm, struct rewrite_block *out) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < arm->count; i++) {
    const struct ir_binding *x = &arm->bindings[i];
    if (x->form == IR_CONST) h->constants[x->results[0]] = x;
    leave_arms(h, x, out);
    if (may_leave(h, x)) leave(h, x, out);
  }
  for (uint32_t i = 0; i < arm->count; i++) {
    const struct ir_binding x = arm->bindings[i];
    if (x.result_count != 1 || !h->left[x.results[0]]) arm->bindings[kept++] = x;
  }
  arm->count = kept;
}

static void leave_arms(struct hoist *h, const struct ir_binding *x, struct rewrite_block *out) {
  if (x->form != IR_IF) return;
  leave_arm(h, x->as.arms.then, out);
  leave_arm(h, x->as.arms.otherwise, out);
}

/* Moves out of the arms of the body what may leave them. */
static void leave_all_arms(struct hoist *h) {
  struct rewrite_block out = {0};
  struct ir_block *body = h->f->body;
  for (uint32_t i = 1; i < h->f->param_count; i++)
    h->outside[h->f->params[i]] = h->shared[h->f->params[i]];
  for (uint32_t i = 0; i < body->count; i++) {
    const struct ir_binding *x = &body->bindings[i];
    const bool shared = binding_is_shared(h, x);
    if (!shared) leave_arms(h, x, &out);
    for (uint32_t k = 0; k < x->result_count; k++) h->outside[x->results[k]] = shared;
    if (x->result_count == 1) h->of_lengths[x->results[0]] = is_of_lengths(h, x);
    rewrite_append(h->o, &out, x);
  }
  rewrite_finish(body, &out);
}

static void hoist_prepare(struct hoist *h, uint32_t index) {
  struct arena *scratch = h->o->scratch;
  h->index = index;
  h->f = &h->o->program->functions[index];
  h->shared = arena_alloc(scratch, h->f->var_count);
  h->lengths = arena_alloc(scratch, h->f->var_count);
  h->constants = arena_alloc(scratch, h->f->var_count * sizeof *h->constants);
  h->of_lengths = arena_alloc(scratch, h->f->var_count);
  h->outside = arena_alloc(scratch, h->f->var_count);
  h->left = arena_alloc(scratch, h->f->var_count);
  for (uint32_t i = 1; i < h->f->param_count; i++)
    h->shared[h->f->params[i]] = h->f->instances->params[i] == IR_SHARED;
  leave_all_arms(h);
  h->moves = arena_alloc(scratch, h->f->body->count);
  h->fails = arena_alloc(scratch, h->f->body->count);
  h->copied = arena_alloc(scratch, h->f->body->count);
  h->may_fail = false;
  h->results.count = 0;
}

/* ---- moving ---- */

static void mark_uses(const struct ir_block *block, bool *used);

static void mark_operands(const struct ir_binding *x, bool *used) {
  for (uint32_t i = 0; i < x->operand_count; i++) used[x->operands[i]] = true;
  if (x->form != IR_IF) return;
  mark_uses(x->as.arms.then, used);
  mark_uses(x->as.arms.otherwise, used);
}

static void mark_uses(const struct ir_block *block, bool *used) {
  for (uint32_t i = 0; i < block->count; i++) mark_operands(&block->bindings[i], used);
  for (uint32_t i = 0; i < block->result_count; i++) used[block->results[i]] = true;
}

/* Finds the results of moved bindings that the remaining ones use. */
static void find_results(struct hoist *h) {
  const struct ir_block *body = h->f->body;
  bool *used = arena_alloc(h->o->scratch, h->f->var_count);
  for (uint32_t i = 0; i < body->count; i++) {
    if (!h->moves[i]) mark_operands(&body->bindings[i], used);
  }
  for (uint32_t i = 0; i < body->result_count; i++) used[body->results[i]] = true;
  for (uint32_t i = 0; i < body->count; i++) {
    const struct ir_binding *x = &body->bindings[i];
    for (uint32_t k = 0; h->moves[i] && k < x->result_count; k++) {
      if (used[x->results[k]]) *array_push(h->o->scratch, &h->results) = x->results[k];
    }
  }
}

/* Makes a block of the bindings that move, with those that stay and that they need: constants,
 * LENGTHS of parameter 0. It yields the new operands. */
static struct ir_block *moved_block(struct hoist *h) {
  struct opt *o = h->o;
  const struct ir_block *body = h->f->body;
  bool *used = arena_alloc(o->scratch, h->f->var_count);
  struct rewrite_block out = {0};
  for (uint32_t i = 0; i < body->count; i++) {
    if (h->moves[i]) mark_operands(&body->bindings[i], used);
  }
  for (uint32_t i = 0; i < body->count; i++) {
    const struct ir_binding *x = &body->bindings[i];
    h->copied[i] = !h->moves[i] && x->result_count == 1 && used[x->results[0]] &&
                   (x->form == IR_CONST || h->lengths[x->results[0]]);
    if (h->moves[i] || h->copied[i]) rewrite_append(o, &out, x);
  }
  struct ir_block *block = arena_alloc(o->arena, sizeof *block);
  rewrite_yield(o, block, (uint32_t)h->results.count);
  for (size_t i = 0; i < h->results.count; i++) block->results[i] = h->results.items[i];
  rewrite_finish(block, &out);
  return block;
}

/* Notes the bindings of a moved block, which are copies of those of the body in this order. */
static void note_copies(struct hoist *h, uint32_t caller, const struct ir_block *copy) {
  const struct ir_block *body = h->f->body;
  for (uint32_t i = 0, k = 0; i < body->count; i++) {
    if (!h->moves[i] && !h->copied[i]) continue;
    const struct ir_binding *x = &copy->bindings[k++];
    if (!h->moves[i] || x->result_count == 0) continue;
    *map_at(&h->notes, map_pair(caller, x->results[0])) =
        binding_effects(&h->calls, x) == 0 ? NOTE_NEVER_FAILS : NOTE_MAY_FAIL;
  }
}

/* Puts a copy of the moved block before a call, and its results behind the operands. */
static void move_before_call(struct hoist *h, struct ir_function *caller,
                             struct ir_binding *call, const struct ir_block *moved,
                             struct rewrite_block *out) {
  struct opt *o = h->o;
  ir_var *map = arena_alloc(o->scratch, h->f->var_count * sizeof *map);
  for (uint32_t v = 0; v < h->f->var_count; v++) map[v] = IR_NO_VAR;
  for (uint32_t i = 0; i < call->operand_count; i++) map[h->f->params[i]] = call->operands[i];
  struct ir_block *copy = rewrite_copy(o, caller, h->f, moved, map, NULL);
  rewrite_add_call(o, copy, call->origin);
  note_copies(h, (uint32_t)(caller - o->program->functions), copy);
  for (uint32_t i = 0; i < copy->count; i++) rewrite_append(o, out, &copy->bindings[i]);
  const struct ir_binding x = rewrite_add_operands(o, call, copy->results, copy->result_count);
  rewrite_append(o, out, &x);
}

static void move_to_calls(struct hoist *h, struct ir_function *caller, struct ir_block *block,
                          const struct ir_block *moved) {
  struct rewrite_block out = {0};
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      move_to_calls(h, caller, x->as.arms.then, moved);
      move_to_calls(h, caller, x->as.arms.otherwise, moved);
    }
    if (x->form == IR_CALL && x->as.callee == h->index)
      move_before_call(h, caller, x, moved, &out);
    else
      rewrite_append(h->o, &out, x);
  }
  rewrite_finish(block, &out);
}

/* Removes the moved bindings; their results are the last parameters. */
static void shrink(struct hoist *h) {
  struct ir_function *f = h->f;
  uint32_t kept = 0;
  rewrite_add_params(h->o, f, h->results.items, (uint32_t)h->results.count);
  for (uint32_t i = 0; i < f->body->count; i++) {
    if (!h->moves[i]) f->body->bindings[kept++] = f->body->bindings[i];
  }
  f->body->count = kept;
}

/* ---- the procedure: it computes the same of the same parameters ---- */

struct known {
  const struct ir_block *moved;
  ir_var *here;   /* per variable of the function: that of the procedure, or IR_NO_VAR */
  ir_var *params; /* per variable of the function: a new parameter of the procedure, likewise */
  ir_var *instead; /* per variable of the procedure: itself, or a new parameter */
};

static bool has_same_value(const struct known *k, const struct ir_binding *moved,
                           const struct ir_binding *x) {
  if (x->form != moved->form || x->operand_count != moved->operand_count) return false;
  if (x->form == IR_CONST) return constant_same(x->as.constant, moved->as.constant);
  if (x->form != IR_OP || x->op != moved->op || x->type != moved->type) return false;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (k->here[moved->operands[i]] != x->operands[i]) return false;
  }
  return x->result_count > 0;
}

/* The results of a binding of the procedure are those of one that moved. Returns whether all of
 * them are parameters now. */
static bool note_same(struct known *k, const struct ir_binding *moved,
                      const struct ir_binding *x) {
  bool all = true;
  for (uint32_t i = 0; i < x->result_count; i++) {
    const ir_var v = moved->results[i];
    all &= k->params[v] != IR_NO_VAR;
    if (k->params[v] != IR_NO_VAR) k->instead[x->results[i]] = k->params[v];
    k->here[v] = k->instead[x->results[i]];
  }
  return all;
}

static bool is_known(struct known *k, const struct ir_binding *x) {
  bool known = false;
  for (uint32_t m = 0; m < k->moved->count; m++) {
    if (has_same_value(k, &k->moved->bindings[m], x))
      known |= note_same(k, &k->moved->bindings[m], x);
  }
  return known;
}

static void replace_known(struct known *k, ir_var *vars, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) vars[i] = k->instead[vars[i]];
}

/* Replaces what is known in a block. What only served that is left for the pass `dead`. */
static void use_known(struct known *k, struct ir_block *block) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding x = block->bindings[i];
    replace_known(k, x.operands, x.operand_count);
    if (x.form == IR_IF) {
      use_known(k, x.as.arms.then);
      use_known(k, x.as.arms.otherwise);
    }
    if (!is_known(k, &x)) block->bindings[kept++] = x;
  }
  block->count = kept;
  replace_known(k, block->results, block->result_count);
}

static ir_var *no_vars(struct opt *o, uint32_t count) {
  ir_var *vars = arena_alloc(o->scratch, count * sizeof *vars);
  for (uint32_t v = 0; v < count; v++) vars[v] = IR_NO_VAR;
  return vars;
}

enum { TAKEN_MOST = 100 /* bindings that a procedure takes from one that it only calls */ };

/* Counts the bindings of a block; more than TAKEN_MOST if a lifted function is called. */
static uint32_t block_size(const struct opt *o, const struct ir_block *block) {
  uint32_t n = 0;
  for (struct ir_walk w = ir_walk(o->scratch, block); ir_next_binding(&w); n++) {
    if (w.x->form == IR_CALL && o->program->functions[w.x->as.callee].instances)
      n += TAKEN_MOST + 1;
  }
  return n;
}

/* The function that a procedure only calls; or NULL. */
static const struct ir_function *only_called(const struct hoist *h,
                                             const struct ir_function *p) {
  const struct ir_program *program = h->o->program;
  const struct ir_binding *x = p->body->bindings;
  if (p->body->count != 1 || x->form != IR_CALL) return NULL;
  for (uint32_t i = 0; i < p->body->result_count; i++) {
    if (p->body->results[i] != x->results[i]) return NULL;
  }
  const struct ir_function *q = &program->functions[x->as.callee];
  const bool fits = !q->instances && block_size(h->o, q->body) <= TAKEN_MOST;
  return fits && q != p && q->body->end == IR_YIELD ? q : NULL;
}

/* A procedure that only calls another function does itself what that does. */
static void take_called(struct hoist *h, struct ir_function *p) {
  const struct ir_function *q;
  while ((q = only_called(h, p)) != NULL) {
    ir_var *map = no_vars(h->o, q->var_count);
    for (uint32_t i = 0; i < q->param_count; i++)
      map[q->params[i]] = p->body->bindings[0].operands[i];
    p->body = rewrite_copy(h->o, p, q, q->body, map, NULL);
    for (struct ir_walk w = ir_walk(h->o->scratch, p->body); ir_next_binding(&w);) {
      if (w.x->form == IR_CALL && w.x->as.callee < h->calls.count)
        h->calls.sites[w.x->as.callee]++;
    }
  }
}

/* Each instance would compute anew what the caller has: a procedure that has got the results as
 * parameters takes them. */
static void use_in_procedure(struct hoist *h, const struct ir_block *moved) {
  struct opt *o = h->o;
  const struct ir_function *f = h->f;
  const uint32_t n = ir_procedure(f), count = (uint32_t)h->results.count;
  if (n == IR_NO_PROCEDURE) return;
  struct ir_function *p = &o->program->functions[n];
  take_called(h, p);
  struct known k = {moved, no_vars(o, f->var_count), no_vars(o, f->var_count),
                    arena_alloc(o->scratch, p->var_count * sizeof *k.instead)};
  for (uint32_t v = 0; v < p->var_count; v++) k.instead[v] = v;
  for (uint32_t i = 1; i < f->param_count - count; i++) k.here[f->params[i]] = p->params[i - 1];
  for (uint32_t i = f->param_count - count; i < f->param_count; i++)
    k.params[f->params[i]] = p->params[i - 1];
  use_known(&k, p->body);
}

/* ---- the program ---- */

static bool can_hoist(const struct hoist *h, uint32_t f) {
  const struct ir_function *function = &h->o->program->functions[f];
  return function->instances && h->calls.reachable[f] && !h->calls.recursive[f] &&
         !h->calls.fixed[f];
}

static void hoist_function(struct hoist *h, uint32_t index) {
  hoist_prepare(h, index);
  if (!has_candidates(h) || !hoist_find_moves(h)) return;
  find_results(h);
  const struct ir_block *moved = moved_block(h);
  const struct calls *calls = &h->calls;
  uint32_t last = UINT32_MAX; /* callers are listed once for each call, one after the other */
  for (uint32_t i = calls->caller_first[index]; i < calls->caller_first[index + 1]; i++) {
    const uint32_t caller = calls->callers[i];
    if (caller == last) continue;
    last = caller;
    struct ir_function *function = &h->o->program->functions[caller];
    move_to_calls(h, function, function->body, moved);
  }
  shrink(h);
  rewrite_extend_procedure(h->o, &h->calls, index, (uint32_t)h->results.count);
  use_in_procedure(h, moved);
  h->any = true;
}

/* Returns whether something that has moved could move on, with sizes of its own. */
static bool hoist_round(struct opt *o, bool *changed) {
  struct hoist h = {.o = o, .calls = calls_make(o)};
  map_init(&h.notes, o->scratch);
  for (uint32_t i = 0; i < h.calls.count; i++) {
    if (can_hoist(&h, h.calls.order[i])) hoist_function(&h, h.calls.order[i]);
  }
  *changed |= h.any;
  return h.stopped;
}

bool pass_hoist(struct opt *o) {
  bool any = false, changed = false;
  for (uint32_t f = 0; f < o->program->function_count; f++)
    any |= o->program->functions[f].instances != NULL;
  while (any) any = hoist_round(o, &changed);
  return changed;
}
