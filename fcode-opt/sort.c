/* sort.c - RANK and the PERMUTE of the same vector by it become one SORT, which need not know
 * where each element came from.
 *
 * SORT takes the place of RANK: both fail for the same lengths, and a permutation by ranks of
 * the same descriptor cannot fail, so a program that fails does so where it did. RANK must be
 * of no other use, since ranks that are needed anyway make the permutation cheaper than sorting
 * again. SORT is an instruction of FCODE: programs that stay VCODE (no fusion) keep the two.
 */
#include "fcode-opt/passes.h"

struct sorter {
  struct opt *o;
  struct calls calls;
  uint32_t *uses; /* of each variable of the function */
  struct ir_binding *
      *rank;           /* per variable: the RANK in an open block that it is the result of */
  ARRAY(ir_var) ranks; /* those variables */
  bool changed;
};

static bool is_op(const struct ir_binding *x, enum opcode op) {
  return x->form == IR_OP && x->op == op;
}

/* The RANK that x permutes by, if both together are a SORT; or NULL. */
static struct ir_binding *sorted_by(const struct sorter *s, const struct ir_binding *x) {
  if (!is_op(x, OPC_PERMUTE)) return NULL;
  struct ir_binding *rank = s->rank[x->operands[1]];
  const bool sorts = rank && s->uses[rank->results[0]] == 1 &&
                     rank->operands[0] == x->operands[0] && rank->operands[1] == x->operands[2];
  return sorts ? rank : NULL;
}

static void forget(struct sorter *s, size_t mark) {
  while (s->ranks.count > mark) s->rank[s->ranks.items[--s->ranks.count]] = NULL;
}

static void sort_block(struct sorter *s, struct ir_block *block) {
  uint32_t kept = 0;
  const size_t mark = s->ranks.count;
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[kept];
    *x = block->bindings[i];
    if (x->form == IR_IF) {
      sort_block(s, x->as.arms.then);
      sort_block(s, x->as.arms.otherwise);
    }
    struct ir_binding *rank = sorted_by(s, x);
    if (rank) {
      rank->op = rank->op == OPC_RANK_UP ? OPC_SORT_UP : OPC_SORT_DOWN;
      rank->results[0] = x->results[0];
      s->changed = true;
      continue;
    }
    kept++;
    if (binding_effects(&s->calls, x) & EFFECT_TIMER) forget(s, 0); /* nothing moves across */
    if (!is_op(x, OPC_RANK_UP) && !is_op(x, OPC_RANK_DOWN)) continue;
    s->rank[x->results[0]] = x;
    *array_push(s->o->scratch, &s->ranks) = x->results[0];
  }
  block->count = kept;
  forget(s, mark);
}

bool pass_sort(struct opt *o) {
  struct sorter s = {.o = o, .calls = calls_make(o)};
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    struct ir_function *f = &o->program->functions[i];
    if (!f->typed) continue;
    s.uses = arena_alloc(o->scratch, f->var_count * sizeof *s.uses);
    rewrite_count_uses(f, s.uses);
    s.rank = arena_alloc(o->scratch, f->var_count * sizeof *s.rank);
    for (uint32_t v = 0; v < f->var_count; v++) s.rank[v] = NULL;
    sort_block(&s, f->body);
  }
  return s.changed;
}
