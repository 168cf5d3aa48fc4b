/* strides.c - a rewrite of kernels: which gathers and scatters read or write elements side by
 * side. An INDEX of stride 1 or -1, a slice, a reversal have such indices; a sum of what is the
 * same in a segment and of what counts up has, too. So has a rotation, but where its index
 * starts anew: that is where a comparison of something that counts up turns.
 */
#include "fused-kernels/kernel.h"

/* How a value goes on from one position of a segment to the next. */
enum pace { PACE_ANY, PACE_SAME, PACE_UP, PACE_DOWN };

/* `turns`: in a piece only. `near`: of which descriptor the segments are; SUPEROP_NONE: of any.
 */
struct going {
  uint8_t pace;
  bool turns;
  uint32_t near;
};

struct finding {
  struct kernel *k;
  const bool *one;     /* of every parameter: a descriptor of one segment; or NULL */
  struct going *going; /* of every value */
  struct kernel_statement **statement; /* that defines it */
};

static bool moves(struct going g) {
  return g.pace == PACE_UP || g.pace == PACE_DOWN;
}

static uint8_t opposite(uint8_t pace) {
  return pace == PACE_UP ? PACE_DOWN : pace == PACE_DOWN ? PACE_UP : pace;
}

static bool is_constant(const struct finding *x, uint32_t value, int64_t wanted) {
  const struct kernel_statement *s = x->statement[value];
  return s->kind == KERNEL_CONSTANT && s->type == SUPEROP_INT &&
         cvl_int_of(s->constant) == wanted;
}

/* Whether a statement compares something that counts up with something that stays. */
static bool is_turn(const struct finding *x, const struct kernel_statement *s) {
  if (s->kind != KERNEL_MAP || s->word != TW_INT || s->count != 2) return false;
  const uint8_t a = x->going[s->operands[0]].pace, b = x->going[s->operands[1]].pace;
  switch ((int)s->op) {
  case OPC_LT:
  case OPC_LE:
  case OPC_GT:
  case OPC_GE:
  case OPC_EQ:
  case OPC_NE: return (a == PACE_UP && b == PACE_SAME) || (a == PACE_SAME && b == PACE_UP);
  default: return false;
  }
}

static uint8_t pace_of_sum(uint8_t a, uint8_t b) {
  return a == PACE_SAME ? b : b == PACE_SAME ? a : PACE_ANY;
}

static uint8_t pace_of_product(const struct finding *x, const uint32_t *v) {
  for (int i = 0; i < 2; i++) {
    const uint8_t pace = x->going[v[1 - i]].pace;
    if (is_constant(x, v[i], 1)) return pace;
    if (is_constant(x, v[i], -1)) return opposite(pace);
  }
  return PACE_ANY;
}

/* Where one stays and the other goes on, what is chosen goes on in some pieces. */
static uint8_t pace_of_either(uint8_t a, uint8_t b) {
  return a == b || b == PACE_SAME ? a : a == PACE_SAME ? b : PACE_ANY;
}

/* The operand of a SELECT that goes on if the other one stays; 0: there is none. */
static uint8_t moving_of(const struct finding *x, const struct kernel_statement *s) {
  if (s->kind != KERNEL_MAP || s->op != OPC_SELECT) return 0;
  const struct going a = x->going[s->operands[1]], b = x->going[s->operands[2]];
  if (moves(a) && b.pace == PACE_SAME) return 1;
  return moves(b) && a.pace == PACE_SAME ? 2 : 0;
}

static uint8_t pace_of_map(const struct finding *x, const struct kernel_statement *s) {
  uint8_t of[KERNEL_OPERANDS] = {0};
  bool same = true;
  for (unsigned i = 0; i < s->count; i++) {
    of[i] = x->going[s->operands[i]].pace;
    same = same && of[i] == PACE_SAME;
  }
  if (same || is_turn(x, s)) return PACE_SAME;
  if (s->op == OPC_SELECT) return of[0] == PACE_SAME ? pace_of_either(of[1], of[2]) : PACE_ANY;
  if (s->word != TW_INT) return PACE_ANY;
  switch ((int)s->op) {
  case OPC_ADD: return pace_of_sum(of[0], of[1]);
  case OPC_SUB: return pace_of_sum(of[0], opposite(of[1]));
  case OPC_MUL: return pace_of_product(x, s->operands);
  default: return PACE_ANY;
  }
}

static struct going going_of_map(const struct finding *x, const struct kernel_statement *s) {
  struct going all = {s->checked ? PACE_ANY : pace_of_map(x, s), is_turn(x, s), SUPEROP_NONE};
  for (unsigned i = 0; i < s->count; i++) {
    const struct going *of = &x->going[s->operands[i]];
    all.turns |= of->turns;
    if (of->near == SUPEROP_NONE) continue;
    if (all.near != SUPEROP_NONE && all.near != of->near) all.pace = PACE_ANY;
    all.near = of->near;
  }
  if (moving_of(x, s) && !all.turns) all.pace = PACE_ANY; /* for a whole segment it may stay */
  return all;
}

static struct going going_of(const struct finding *x, const struct kernel_statement *s) {
  switch ((enum kernel_statement_kind)s->kind) {
  case KERNEL_CONSTANT: return (struct going){PACE_SAME, false, SUPEROP_NONE};
  case KERNEL_MAP: return going_of_map(x, s);
  case KERNEL_SPREAD:
  case KERNEL_OFFSET:
    if (s->near == SUPEROP_NONE) break;
    return (struct going){s->kind == KERNEL_SPREAD ? PACE_SAME : PACE_UP, false, s->near};
  default: break;
  }
  return (struct going){PACE_ANY, false, SUPEROP_NONE};
}

/* ---- what an index needs ---- */

static void mark_needed(const struct finding *x, uint32_t value) {
  struct kernel_statement *s = x->statement[value];
  if (s->kind != KERNEL_MAP && s->kind != KERNEL_OFFSET) return;
  if (s->starts) return;
  s->starts = true;
  s->turns = is_turn(x, s);
  s->moving = moving_of(x, s);
  if (s->turns) s->stride = x->going[s->operands[0]].pace == PACE_UP ? 1 : -1;
  for (unsigned i = 0; i < s->count; i++) mark_needed(x, s->operands[i]);
}

/* In what is one segment the index may start anew with each segment of any other descriptor. */
static void find_stride(const struct finding *x, struct kernel_statement *s, unsigned operand) {
  const uint32_t index = s->operands[operand];
  const struct going g = x->going[index];
  const bool one = x->one && x->one[s->near] && s->far != SUPEROP_NONE && x->one[s->far];
  const bool scatters = s->kind == KERNEL_SCATTER;
  if (!moves(g) || (g.near != s->near && !one)) return;
  if (scatters && (g.pace == PACE_DOWN || g.turns)) return;
  s->near = g.near;
  s->stride = g.pace == PACE_UP ? 1 : -1;
  s->turns = g.turns;
  mark_needed(x, index);
}

/* A scatter whose flag is always T needs none. */
static void drop_flag(const struct finding *x, struct kernel_statement *s) {
  if (s->kind != KERNEL_SCATTER || s->count < 3) return;
  const struct kernel_statement *flag = x->statement[s->operands[2]];
  if (flag->kind == KERNEL_CONSTANT && flag->constant->as.b) s->count = 2;
}

void kernel_find_strides(struct arena *arena, struct kernel *k, const bool *one) {
  struct finding x = {.k = k, .one = one};
  x.going = arena_alloc(arena, (k->values + 1) * sizeof *x.going);
  x.statement = arena_alloc(arena, (k->values + 1) * sizeof *x.statement);
  bool rounds = false; /* what stands in them is executed there */
  for (uint32_t i = 0; i < k->count; i++) {
    struct kernel_statement *s = &k->statements[i];
    rounds |= s->kind == KERNEL_CARRY;
    if (s->value != SUPEROP_NONE) {
      x.statement[s->value] = s;
      if (!rounds || s->kind == KERNEL_CONSTANT) x.going[s->value] = going_of(&x, s);
    }
    if (s->kind == KERNEL_NEXT) rounds = false;
    drop_flag(&x, s);
    if (s->near == SUPEROP_NONE) continue;
    if (s->kind == KERNEL_GATHER && s->count == 1) find_stride(&x, s, 0);
    if (s->kind == KERNEL_SCATTER && s->op != OPC_PERMUTE && s->count == 2)
      find_stride(&x, s, 1);
  }
}
