/* simplify.c - constants, algebra, copies, common subexpressions, branches: one walk forward.
 *
 * This file has the walk and the handling of IFs; fold.c simplifies single operations, common.c
 * finds operations executed before. fcode-opt.c repeats the pass for what one walk makes
 * possible in bindings it has already passed. */
#include "fcode-opt/simplify.h"
#include "ir/constant.h"
#include "ir/kinds.h"

#include <string.h>

/* ---- variables ---- */

static void reserve_facts(struct simplifier *s) {
  if (s->f->var_count <= s->fact_capacity) return;
  uint32_t larger = 2 * s->f->var_count + 16;
  struct fact *facts = arena_alloc(s->o->scratch, larger * sizeof *facts);
  if (s->fact_capacity > 0) memcpy(facts, s->facts, s->fact_capacity * sizeof *facts);
  for (uint32_t v = s->fact_capacity; v < larger; v++) facts[v].same = v;
  s->facts = facts;
  s->fact_capacity = larger;
}

ir_var simplify_var(struct simplifier *s, const struct ir_kind *kind) {
  ir_var v = rewrite_var(s->o, s->f, kind);
  reserve_facts(s);
  return v;
}

void simplify_replace(struct simplifier *s, ir_var v, ir_var same) {
  s->facts[v].same = s->facts[same].same;
  s->changed = true;
}

static void rename_vars(const struct simplifier *s, uint32_t count, ir_var *vars) {
  for (uint32_t i = 0; i < count; i++) vars[i] = s->facts[vars[i]].same;
}

/* ---- what is known ---- */

const struct vcode_constant *known_constant(const struct simplifier *s, ir_var v) {
  static const uint8_t t = 1, f = 0;
  static const struct vcode_constant truths[] = {
      [TRUTH_T] = {.type = TW_BOOL, .length = 1, .as.bools = &t},
      [TRUTH_F] = {.type = TW_BOOL, .length = 1, .as.bools = &f}};
  const struct ir_binding *def = s->facts[v].def;
  if (s->facts[v].truth != TRUTH_UNKNOWN) return &truths[s->facts[v].truth];
  return def && def->form == IR_CONST ? def->as.constant : NULL;
}

const struct ir_binding *known_op(const struct simplifier *s, ir_var v, enum opcode op) {
  const struct ir_binding *def = s->facts[v].def;
  return def && def->form == IR_OP && def->op == op && def->results[0] == v ? def : NULL;
}

int64_t known_size(const struct simplifier *s, ir_var v, uint8_t what) {
  const struct vcode_constant *c = known_constant(s, v);
  if (c && what == (c->type == TW_SEGDES ? SIZE_COUNT : SIZE_LEN)) return (int64_t)c->length;
  if (c && c->type == TW_SEGDES && c->length == 1) return c->as.ints[0];
  return v < s->known ? sizes_known(s->sizes, s->index, v, what) : -1;
}

bool known_to_agree(const struct simplifier *s, const struct ir_binding *x) {
  if (x->result_count > 0 && x->results[0] < s->known && sizes_agree(s->sizes, s->index, x))
    return true;
  bool same = true; /* all operands are the same variable, or there is only one */
  for (uint32_t i = 1; i < x->operand_count; i++) same &= x->operands[i] == x->operands[0];
  return same && opcode_info(x->op)->klass == OC_ELEMENTWISE;
}

/* ---- operations ---- */

/* Returns whether v is an INT scalar whose value has a class of its own in the size analysis.
 */
static bool simplify_is_known_number(const struct simplifier *s, ir_var v) {
  return v < s->known && s->f->vars[v]->tag == IR_INT && known_size(s, v, SIZE_LEN) == 1;
}

/* Returns whether x calls the function itself, or one that may call it. */
static bool is_recursive(const struct simplifier *s, const struct ir_binding *x) {
  const bool *recursive = s->calls.recursive;
  return x->form == IR_CALL && recursive[s->index] && recursive[x->as.callee];
}

/* Returns whether an arm may end in such a call. */
static bool ends_in_recursion(const struct simplifier *s, const struct ir_block *block) {
  const struct ir_binding *last = block->count ? &block->bindings[block->count - 1] : NULL;
  if (!last || block->end != IR_YIELD) return false;
  if (last->form != IR_IF) return is_recursive(s, last);
  return ends_in_recursion(s, last->as.arms.then) ||
         ends_in_recursion(s, last->as.arms.otherwise);
}

/* Whether v, a result of `x`, stays although it equals another result of it: that one would be
 * yielded twice, and a recursive call no longer be the last thing, so that a loop would fill
 * the stack. Where no caller needs it the result goes with what is not needed. */
static bool stays_for_loop(const struct simplifier *s, const struct ir_binding *x,
                           ir_var earlier) {
  bool of_both = false;
  for (uint32_t i = 0; i < x->result_count; i++) of_both |= x->results[i] == earlier;
  if (!of_both) return false;
  return x->form == IR_IF ? ends_in_recursion(s, x->as.arms.then) ||
                                ends_in_recursion(s, x->as.arms.otherwise)
                          : is_recursive(s, x);
}

/* Replaces an INT scalar or a descriptor by the constant, if the size analysis knows its
 * number. A scalar of the same class as an earlier one is replaced by that. */
static void use_known(struct simplifier *s, ir_var v, const struct ir_binding *because) {
  if (v >= s->known || s->uses[v] == 0) return;
  const struct vcode_constant *c = fold_known_constant(s, v);
  if (c) {
    simplify_replace(s, v, simplify_constant(s, c, because));
    return;
  }
  if (!simplify_is_known_number(s, v)) return;
  uint32_t class = sizes_class(s->sizes, s->index, v, SIZE_COUNT);
  ir_var earlier = common_scalar(s, class);
  if (earlier == IR_NO_VAR)
    common_add_scalar(s, class, v);
  else if (!stays_for_loop(s, because, earlier))
    simplify_replace(s, v, earlier);
}

/* Returns whether executing it once is equivalent to executing it twice. */
static bool repeatable(const struct simplifier *s, const struct ir_binding *x) {
  return !(binding_effects(&s->calls, x) & (EFFECT_OUTSIDE | EFFECT_TIMER)) && x->form != IR_IF;
}

static void define_results(struct simplifier *s, const struct ir_binding *x) {
  for (uint32_t i = 0; i < x->result_count; i++) s->facts[x->results[i]].def = x;
}

/* Replaces an INT scalar whose value is that of an earlier one, if it cannot fail: it need not
 * be computed. Returns whether it was replaced. */
static bool use_same_value(struct simplifier *s, const struct ir_binding *x) {
  if (x->form != IR_OP || x->result_count != 1) return false;
  ir_var v = x->results[0];
  if (!simplify_is_known_number(s, v)) return false;
  uint32_t class = sizes_class(s->sizes, s->index, v, SIZE_COUNT);
  ir_var earlier = common_scalar(s, class);
  if (earlier == IR_NO_VAR) {
    common_add_scalar(s, class, v);
    return false;
  }
  if (!binding_never_fails(x) && !sizes_safe(s->sizes, s->index, x)) return false;
  simplify_replace(s, v, earlier);
  s->o->stats->common++;
  return true;
}

/* Replaces results of a call that are one of its operands or a known number. */
static void forward_results(struct simplifier *s, const struct ir_binding *call) {
  const struct ir_function *callee = &s->o->program->functions[call->as.callee];
  if (callee->body->end != IR_YIELD) return; /* found in this pass */
  for (uint32_t i = 0; i < call->result_count; i++) {
    ir_var v = call->results[i], yielded = callee->body->results[i];
    if (v >= s->known || s->uses[v] == 0) continue;
    if (yielded < callee->param_count)
      simplify_replace(s, v, call->operands[yielded]);
    else
      use_known(s, v, call);
  }
}

void simplify_append(struct simplifier *s, struct ir_binding *x) {
  enum folded folded = FOLD_AGAIN;
  while (x->form == IR_OP && folded == FOLD_AGAIN) {
    folded = fold_binding(s, x);
    if (folded == FOLD_NOT) break;
    s->o->stats->folded++;
    s->changed = true;
    if (folded == FOLD_GONE) return;
  }
  if (repeatable(s, x)) {
    const struct ir_binding *earlier = ir_numbering_find(&s->numbering, x);
    if (earlier) {
      for (uint32_t i = 0; i < x->result_count; i++)
        simplify_replace(s, x->results[i], earlier->results[i]);
      s->o->stats->common++;
      s->changed = true;
      return;
    }
    if (use_same_value(s, x)) return;
  }
  if (binding_effects(&s->calls, x) & EFFECT_TIMER) ir_numbering_barrier(&s->numbering);
  rewrite_append(s->o, s->out, x);
  struct ir_binding *kept = arena_alloc(s->o->scratch, sizeof *kept);
  *kept = *x;
  define_results(s, kept);
  if (repeatable(s, x)) ir_numbering_add(&s->numbering, kept);
  if (x->form == IR_CALL) forward_results(s, x);
}

/* Simplifies and appends a new operation with one result, and returns that, perhaps of an
 * earlier operation. It must not fail. */
static ir_var simplify_emit(struct simplifier *s, uint16_t op, uint8_t type,
                            const struct ir_kind *result, uint32_t count,
                            const ir_var *operands, const struct ir_binding *because) {
  struct ir_binding x =
      rewrite_binding(s->o, op, type, count, 1, because->pos, because->origin);
  memcpy(x.operands, operands, count * sizeof *operands);
  x.results[0] = simplify_var(s, result);
  simplify_append(s, &x);
  return s->facts[x.results[0]].same;
}

ir_var simplify_constant(struct simplifier *s, const struct vcode_constant *c,
                         const struct ir_binding *because) {
  struct ir_binding x =
      rewrite_binding(s->o, OPC_CONST, (uint8_t)c->type, 0, 1, because->pos, because->origin);
  x.form = IR_CONST;
  x.as.constant = c;
  x.results[0] = simplify_var(s, ir_kind_base(ir_constant_tag(c)));
  simplify_append(s, &x);
  return s->facts[x.results[0]].same;
}

/* ---- conditions ---- */

/* Until forget_assumptions(), the condition v has this truth value, and so have its operands as
 * far as it follows. */
static void assume_deeply(struct simplifier *s, ir_var v, enum truth truth, unsigned depth) {
  while (depth > 0 && s->facts[v].truth == TRUTH_UNKNOWN) {
    s->facts[v].truth = (uint8_t)truth;
    *array_push(s->o->scratch, &s->assumed) = v;
    const struct ir_binding *x;
    if ((x = known_op(s, v, OPC_NOT))) {
      truth = truth == TRUTH_T ? TRUTH_F : TRUTH_T;
    } else if ((truth == TRUTH_T && (x = known_op(s, v, OPC_AND))) ||
               (truth == TRUTH_F && (x = known_op(s, v, OPC_OR)))) {
      assume_deeply(s, x->operands[1], truth, --depth);
    } else {
      return;
    }
    v = x->operands[0];
  }
}

static void assume(struct simplifier *s, ir_var v, enum truth truth) {
  enum { DEEP = 20 }; /* nested operands of a condition */
  assume_deeply(s, v, truth, DEEP);
}

static void forget_assumptions(struct simplifier *s, size_t mark) {
  while (s->assumed.count > mark)
    s->facts[s->assumed.items[--s->assumed.count]].truth = TRUTH_UNKNOWN;
}

static enum truth known_truth(const struct simplifier *s, ir_var v) {
  const struct vcode_constant *c = known_constant(s, v);
  if (!c || c->length != 1) return TRUTH_UNKNOWN;
  return c->as.bools[0] ? TRUTH_T : TRUTH_F;
}

/* ---- blocks ---- */

static void simplify_block(struct simplifier *s, struct ir_block *block);

static void simplify_arm(struct simplifier *s, struct ir_block *arm, ir_var condition,
                         enum truth truth) {
  struct rewrite_block out = {0}, *around = s->out;
  const struct common_mark mark = common_open(s);
  const size_t assumed = s->assumed.count;
  s->out = &out;
  assume(s, condition, truth);
  simplify_block(s, arm);
  rewrite_finish(arm, &out);
  forget_assumptions(s, assumed);
  common_close(s, mark);
  s->out = around;
}

/* Moves an arm's bindings to the block around, if the condition is known and selects this arm.
 * Returns whether the arm returns. */
static bool splice(struct simplifier *s, struct ir_binding *x, struct ir_block *arm,
                   struct ir_block *around) {
  s->o->stats->branches++;
  s->changed = true;
  simplify_block(s, arm);
  if (arm->end != IR_YIELD) {
    around->end = arm->end;
    around->pos = arm->pos;
    around->result_count = 0;
    return false;
  }
  for (uint32_t i = 0; i < x->result_count; i++) s->facts[x->results[i]].same = arm->results[i];
  return true;
}

/* Moves the bindings of one arm behind the IF, if the other arm never returns. */
static bool split_if(struct simplifier *s, struct ir_binding *x, struct ir_block *around) {
  struct ir_block *then = x->as.arms.then, *otherwise = x->as.arms.otherwise;
  ir_var condition = x->operands[0];
  bool stays = then->end == IR_YIELD; /* the first arm is the one that returns */
  struct ir_block *arm = stays ? then : otherwise;
  simplify_arm(s, stays ? otherwise : then, condition, stays ? TRUTH_F : TRUTH_T);
  struct ir_block *empty = arena_alloc(s->o->arena, sizeof *empty);
  rewrite_yield(s->o, empty, 0);
  struct ir_binding test = *x;
  test.result_count = 0;
  test.as.arms.then = stays ? empty : then;
  test.as.arms.otherwise = stays ? otherwise : empty;
  rewrite_append(s->o, s->out, &test);
  assume(s, condition, stays ? TRUTH_T : TRUTH_F); /* until the block ends */
  bool empty_already = arm->count == 0 && x->result_count == 0;
  bool changed = s->changed;
  uint64_t branches = s->o->stats->branches;
  bool returns = splice(s, x, arm, around);
  if (empty_already) {
    s->changed = changed;
    s->o->stats->branches = branches;
  }
  return returns;
}

/* Returns whether both arms yield the same variable, or the same constant, which is then made
 * before the IF. */
static bool same_in_both(struct simplifier *s, const struct ir_binding *x, uint32_t i,
                         ir_var *same) {
  ir_var a = x->as.arms.then->results[i], b = x->as.arms.otherwise->results[i];
  const struct vcode_constant *p = known_constant(s, a), *q = known_constant(s, b);
  *same = a;
  if (a == b) return true;
  if (!p || !q || !constant_same(p, q)) return false;
  *same = simplify_constant(s, p, x);
  return true;
}

/* Returns the truth value that v has in the arm that the condition selects when it is `chosen`.
 */
static enum truth yielded_truth(const struct simplifier *s, ir_var v, ir_var condition,
                                enum truth chosen) {
  const struct vcode_constant *c = known_constant(s, v);
  if (v == condition) return chosen;
  return c && c->type == TW_BOOL ? known_truth(s, v) : TRUTH_UNKNOWN;
}

/* Replaces a result that is the condition itself (T in the first arm, F in the second) or its
 * negation. */
static bool is_condition(struct simplifier *s, const struct ir_binding *x, uint32_t i,
                         ir_var *same) {
  ir_var condition = x->operands[0];
  enum truth a = yielded_truth(s, x->as.arms.then->results[i], condition, TRUTH_T);
  enum truth b = yielded_truth(s, x->as.arms.otherwise->results[i], condition, TRUTH_F);
  if (a == TRUTH_UNKNOWN || b == TRUTH_UNKNOWN || a == b) return false;
  *same = condition;
  if (a == TRUTH_F)
    *same = simplify_emit(s, OPC_NOT, TW_BOOL, ir_kind_base(IR_BOOL), 1, x->operands, x);
  return true;
}

/* Removes results that do not depend on the IF, whose arms both return. */
static void join_if(struct simplifier *s, struct ir_binding *x) {
  struct ir_block *then = x->as.arms.then, *otherwise = x->as.arms.otherwise;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < x->result_count; i++) {
    ir_var same;
    if (is_condition(s, x, i, &same) || same_in_both(s, x, i, &same)) {
      simplify_replace(s, x->results[i], same);
    } else {
      x->results[kept] = x->results[i];
      then->results[kept] = then->results[i];
      otherwise->results[kept++] = otherwise->results[i];
    }
  }
  x->result_count = then->result_count = otherwise->result_count = kept;
}

/* Simplifies an IF; returns false if nothing after it is reached. */
static bool simplify_if(struct simplifier *s, struct ir_binding *x, struct ir_block *around) {
  struct ir_block *then = x->as.arms.then, *otherwise = x->as.arms.otherwise;
  ir_var condition = x->operands[0];
  const struct ir_binding *negation = known_op(s, condition, OPC_NOT);
  if (negation && s->facts[condition].truth == TRUTH_UNKNOWN) {
    x->operands[0] = negation->operands[0];
    x->as.arms.then = otherwise;
    x->as.arms.otherwise = then;
    s->changed = true;
    return simplify_if(s, x, around);
  }
  enum truth truth = known_truth(s, condition);
  if (truth != TRUTH_UNKNOWN) return splice(s, x, truth == TRUTH_T ? then : otherwise, around);
  if ((then->end == IR_YIELD) != (otherwise->end == IR_YIELD)) return split_if(s, x, around);
  simplify_arm(s, then, condition, TRUTH_T);
  simplify_arm(s, otherwise, condition, TRUTH_F);
  if (then->end == IR_YIELD && otherwise->end == IR_YIELD) {
    join_if(s, x);
    if (then->count + otherwise->count + x->result_count == 0 &&
        known_size(s, condition, SIZE_LEN) == 1) {
      s->o->stats->branches++;
      s->changed = true;
      return true;
    }
  }
  bool returns = then->end == IR_YIELD || otherwise->end == IR_YIELD;
  if (!returns) x->result_count = 0;
  rewrite_append(s->o, s->out, x);
  for (uint32_t i = 0; i < x->result_count; i++) use_known(s, x->results[i], x);
  if (returns) return true;
  around->end = IR_NEVER;
  around->result_count = 0;
  return false;
}

/* Appends the simplified bindings of the block to s->out. */
static void simplify_block(struct simplifier *s, struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding x = block->bindings[i];
    rename_vars(s, x.operand_count, x.operands);
    if (x.form != IR_IF) {
      simplify_append(s, &x);
    } else if (!simplify_if(s, &x, block)) {
      return;
    }
  }
  rename_vars(s, block->result_count, block->results);
}

static void simplify_function(struct simplifier *s, uint32_t index) {
  s->index = index;
  s->f = &s->o->program->functions[index];
  s->known = s->f->var_count;
  s->uses = ir_count_uses(s->o->scratch, s->f);
  s->facts = NULL;
  s->fact_capacity = 0;
  s->assumed.count = 0;
  struct rewrite_block out = {0};
  s->out = &out;
  reserve_facts(s);
  common_init(s);
  const struct ir_binding entry = {.pos = s->f->pos};
  for (uint32_t i = 0; i < s->f->param_count; i++) use_known(s, s->f->params[i], &entry);
  simplify_block(s, s->f->body);
  rewrite_finish(s->f->body, &out);
}

bool pass_simplify(struct opt *o) {
  struct simplifier s = {.o = o, .calls = calls_make(o), .sizes = sizes_compute(o)};
  for (uint32_t f = 0; f < o->program->function_count; f++) {
    if (o->program->functions[f].typed) simplify_function(&s, f);
  }
  rewrite_ends(o);
  return s.changed;
}
