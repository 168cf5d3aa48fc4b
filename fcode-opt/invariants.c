/* invariants.c - what a recursive function computes anew of arguments that stay the same is
 * computed once: loop-invariant code motion.
 *
 * A parameter that every call of a function by itself passes on is *invariant*, and so is what
 * operations without effect make of constants and of what is invariant. The function gets a
 * twin, with parameters for such results besides its own, which it calls instead of itself. So
 * the function executes the first round as before, and the rounds behind it, those of the twin,
 * find the results there: nothing is computed earlier than before, nothing that was not
 * computed, and whatever fails does so in the same round.
 *
 *     fun F (s, v)                        fun F (s, v)
 *       n = LENGTHS s                       n = LENGTHS s
 *       if ...                              if ...
 *         w = FUSED 1 n v                     w = FUSED 1 n v
 *         call F s w                          call F_NEXT s w n
 *                                         fun F_NEXT (s, v, n)
 *                                           if ...
 *                                             w = FUSED 1 n v
 *                                             call F_NEXT s w n
 *
 * Elementwise operations and what spreads values stay: fusion makes them again more cheaply
 * than memory has them ready, and the pass `dead` removes those that only served what is now a
 * parameter. A check of what is invariant has been made by the first round.
 *
 * Of a lifted function (ir.h) only what is shared is invariant: its twin is lifted,
 * too. Rounds of loops are left alone: the machine knows them by their marks.
 *
 * A function that has a twin does not call itself any more: so the pass hoist, which comes
 * next, may move what its first round computes to its callers. */
#include "fcode-opt/passes.h"

#include <string.h>

/* A binding that may become a parameter. */
struct candidate {
  const struct ir_binding *x;
  uint32_t number; /* of the binding, in the order of the text */
  uint32_t calls;  /* of the function by itself that it is before, and not in another arm */
};

struct invariants {
  struct opt *o;
  struct calls calls;
  const struct sizes *sizes; /* NULL until one is asked for */

  /* the index of the function at hand */
  uint32_t index;
  const struct ir_function *f;
  bool *invariant;   /* per variable */
  uint32_t bindings; /* so far */
  uint32_t itself;   /* calls of the function by itself, so far */
  ARRAY(struct candidate) candidates;
  ARRAY(size_t) open;    /* those of them that may be used here */
  ARRAY(ir_var) results; /* the new parameters */
  bool *moves;           /* per binding: it has become parameters, or is a check */
};

/* ---- parameters ---- */

static bool is_own_call(const struct invariants *s, const struct ir_binding *x) {
  return x->form == IR_CALL && x->as.callee == s->index;
}

/* Clears `invariant` of the parameters that a call does not pass on. */
static void note_calls(struct invariants *s) {
  for (struct ir_walk w = ir_walk(s->o->scratch, s->f->body); ir_next_binding(&w);) {
    for (uint32_t k = 0; is_own_call(s, w.x) && k < w.use_count; k++) {
      const ir_var v = s->f->params[k];
      s->invariant[v] &= w.uses[k] == v;
    }
  }
}

static bool may_be_invariant(const struct ir_function *f, uint32_t k) {
  return !f->instances || (k > 0 && f->instances->params[k] == IR_SHARED);
}

static bool find_parameters(struct invariants *s) {
  bool any = false;
  for (uint32_t k = 0; k < s->f->param_count; k++)
    s->invariant[s->f->params[k]] = may_be_invariant(s->f, k);
  note_calls(s);
  for (uint32_t k = 0; k < s->f->param_count; k++) any |= s->invariant[s->f->params[k]];
  return any;
}

/* ---- what is worth a parameter ---- */

/* Returns whether v is one number, or a descriptor of one segment. */
static bool is_invariant_scalar(struct invariants *s, ir_var v) {
  const uint8_t what = s->f->vars[v]->tag == IR_SEGDES ? SIZE_COUNT : SIZE_LEN;
  if (!s->sizes) s->sizes = sizes_compute(s->o);
  return sizes_known(s->sizes, s->index, v, what) == 1;
}

/* Returns whether an operation takes passes over memory that fusion does not make cheaper. */
static bool is_costly_operation(const struct ir_binding *x) {
  switch (opcode_info(x->op)->klass) {
  case OC_REDUCE:
  case OC_SCAN:
  case OC_RANK:
  case OC_SORT:
  case OC_PERMUTE:
  case OC_SEGMENT: return true;
  case OC_VECTOR: return x->op == OPC_PACK || x->op == OPC_EXTRACT || x->op == OPC_REPLACE;
  default: return false;
  }
}

static bool is_costly(struct invariants *s, const struct ir_binding *x) {
  if (x->form == IR_CALL || x->form == IR_FUSED) return true;
  if (x->form != IR_OP || !is_costly_operation(x)) return false;
  for (uint32_t k = 0; k < x->operand_count; k++) {
    if (!is_invariant_scalar(s, x->operands[k])) return true;
  }
  return false;
}

/* ---- candidates ---- */

static bool is_removable_check(const struct ir_binding *x) {
  return x->form == IR_OP && x->op == OPC_ASSERT;
}

static bool is_invariant(const struct invariants *s, const struct ir_binding *x) {
  if (x->form == IR_IF || is_own_call(s, x)) return false;
  if (binding_effects(&s->calls, x) & (EFFECT_OUTSIDE | EFFECT_TIMER)) return false;
  for (uint32_t k = 0; k < x->operand_count; k++) {
    if (!s->invariant[x->operands[k]]) return false;
  }
  return true;
}

static void note_own_call(struct invariants *s) {
  s->itself++;
  for (size_t i = 0; i < s->open.count; i++) s->candidates.items[s->open.items[i]].calls++;
}

static void invariants_note_candidate(struct invariants *s, const struct ir_binding *x,
                                      uint32_t number) {
  for (uint32_t k = 0; k < x->result_count; k++) s->invariant[x->results[k]] = true;
  if (!is_removable_check(x) && !is_costly(s, x)) return;
  *array_push(s->o->scratch, &s->open) = s->candidates.count;
  *array_push(s->o->scratch, &s->candidates) = (struct candidate){x, number, 0};
}

/* Finds candidates in a block. A variable that is bound in an arm may not be used behind it. */
static void find_invariant_candidates(struct invariants *s, const struct ir_block *block) {
  const size_t open = s->open.count;
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    const uint32_t number = s->bindings++;
    if (x->form == IR_IF) {
      find_invariant_candidates(s, x->as.arms.then);
      find_invariant_candidates(s, x->as.arms.otherwise);
    } else if (is_own_call(s, x)) {
      note_own_call(s);
    } else if (is_invariant(s, x)) {
      invariants_note_candidate(s, x, number);
    }
  }
  s->open.count = open;
}

/* Marks the candidates before all calls of the function by itself: they move. Returns whether a
 * result does. */
static bool invariants_find_moves(struct invariants *s) {
  s->moves = arena_alloc(s->o->scratch, s->bindings);
  s->results.count = 0;
  for (size_t i = 0; i < s->candidates.count; i++) {
    const struct candidate *c = &s->candidates.items[i];
    if (c->calls < s->itself) continue;
    s->moves[c->number] = true;
    for (uint32_t k = 0; k < c->x->result_count; k++)
      *array_push(s->o->scratch, &s->results) = c->x->results[k];
  }
  return s->results.count > 0;
}

/* ---- the twin ---- */

static void remove_moved(struct invariants *s, struct ir_block *block, uint32_t *number) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding x = block->bindings[i];
    const bool moves = s->moves[(*number)++];
    if (x.form == IR_IF) {
      remove_moved(s, x.as.arms.then, number);
      remove_moved(s, x.as.arms.otherwise, number);
    }
    if (!moves) block->bindings[kept++] = x;
  }
  block->count = kept;
}

/* Makes calls of the function by itself calls of the twin. Both have the same variables. */
static void call_twin(struct invariants *s, struct ir_block *block, uint32_t twin) {
  for (struct ir_walk w = ir_walk(s->o->scratch, block); ir_next_binding(&w);) {
    if (!is_own_call(s, w.x)) continue;
    *w.x = rewrite_add_operands(s->o, w.x, s->results.items, (uint32_t)s->results.count);
    w.x->as.callee = twin;
  }
}

static void make_twin(struct invariants *s) {
  struct ir_function twin = rewrite_copy_function(s->o, s->f);
  uint32_t number = 0;
  twin.name = rewrite_name(s->o, s->f->name, "_NEXT");
  remove_moved(s, twin.body, &number);
  rewrite_add_params(s->o, &twin, s->results.items, (uint32_t)s->results.count);
  const uint32_t n = rewrite_add_function(s->o, &twin);
  rewrite_extend_procedure(s->o, &s->calls, n, (uint32_t)s->results.count);
  call_twin(s, twin.body, n);
  call_twin(s, s->f->body, n);
}

/* ---- the program ---- */

static bool may_have_twin(const struct invariants *s, uint32_t index) {
  const struct ir_function *f = &s->o->program->functions[index];
  return f->typed && f->rounds == VCODE_NO_ROUNDS && s->calls.reachable[index] &&
         s->calls.recursive[index];
}

static bool hoist_invariants(struct invariants *s, uint32_t index) {
  s->index = index;
  s->f = &s->o->program->functions[index];
  s->invariant = arena_alloc(s->o->scratch, s->f->var_count);
  s->bindings = s->itself = 0;
  s->candidates.count = s->open.count = 0;
  if (!find_parameters(s)) return false;
  find_invariant_candidates(s, s->f->body);
  return s->itself > 0 && invariants_find_moves(s);
}

bool pass_invariants(struct opt *o) {
  const uint32_t n = o->program->function_count;
  struct invariants s = {.o = o, .calls = calls_make(o)};
  bool any = false;
  for (uint32_t f = 0; f < n; f++) {
    if (!may_have_twin(&s, f) || !hoist_invariants(&s, f)) continue;
    make_twin(&s);
    any = true;
  }
  return any;
}
