/* runs.c - a rewrite of kernels: gathers and scatters by an index that counts up by one are
 * runs. An INDEX of stride 1, a slice, a rotation are such; a sum of what is the same in a
 * segment and of what counts up is, too.
 */
#include "fused-kernels/kernel.h"

/* What is known of a value: it is the same in every segment under `near`, or that and the
 * number of the position in its segment. */
struct known {
  bool same, counts;
  uint32_t near; /* COUNTS: the descriptor; SAME: SUPEROP_NONE, or the one it is spread under */
  uint32_t start; /* COUNTS: the value that it starts with; SUPEROP_NONE: 0 */
};

struct finding {
  const struct kernel *k;
  const bool *one;     /* of every parameter: a descriptor of one segment; or NULL */
  struct known *known; /* of every value */
  const struct kernel_statement **statement; /* that defines it */
};

static bool is_constant(const struct finding *x, uint32_t value, int64_t wanted) {
  const struct kernel_statement *s = x->statement[value];
  return s->kind == KERNEL_CONSTANT && s->type == SUPEROP_INT &&
         cvl_int_of(s->constant) == wanted;
}

/* Whether a value is the same in every segment under a descriptor. */
static bool is_same(const struct finding *x, uint32_t value, uint32_t near) {
  const struct known *v = &x->known[value];
  return v->same && (v->near == SUPEROP_NONE || v->near == near);
}

/* start + what counts from 0. */
static bool find_sum(struct finding *x, const struct kernel_statement *s, uint32_t start,
                     uint32_t counting) {
  const struct known *v = &x->known[counting];
  if (!v->counts || v->start != SUPEROP_NONE || !is_same(x, start, v->near)) return false;
  x->known[s->value] = (struct known){.counts = true, .near = v->near, .start = start};
  return true;
}

static void find_map(struct finding *x, const struct kernel_statement *s) {
  const uint32_t *v = s->operands;
  if (s->op == OPC_MUL && s->word == TW_INT) {
    if (is_constant(x, v[1], 1))
      x->known[s->value] = x->known[v[0]];
    else if (is_constant(x, v[0], 1))
      x->known[s->value] = x->known[v[1]];
  } else if (s->op == OPC_ADD && s->word == TW_INT) {
    if (!find_sum(x, s, v[0], v[1])) find_sum(x, s, v[1], v[0]);
  }
}

static void find_value(struct finding *x, const struct kernel_statement *s) {
  struct known *v = &x->known[s->value];
  x->statement[s->value] = s;
  if (s->kind == KERNEL_CONSTANT) *v = (struct known){.same = true, .near = SUPEROP_NONE};
  if (s->kind == KERNEL_SPREAD) *v = (struct known){.same = true, .near = s->near};
  if (s->kind == KERNEL_OFFSET)
    *v = (struct known){.counts = true, .near = s->near, .start = SUPEROP_NONE};
  if (s->kind == KERNEL_MAP) find_map(x, s);
}

/* Whether an operand counts up from a value, which then takes its place. In what is one segment
 * the run may begin anew with each segment of any other descriptor. */
static bool is_run(const struct finding *x, struct kernel_statement *s, unsigned operand) {
  const struct known *index = &x->known[s->operands[operand]];
  const bool one = x->one && x->one[s->near] && x->one[s->far];
  if (!index->counts || index->start == SUPEROP_NONE) return false;
  if (index->near != s->near && !one) return false;
  s->near = index->near;
  s->operands[operand] = index->start;
  return true;
}

void kernel_find_runs(struct arena *arena, struct kernel *k, const bool *one) {
  struct finding x = {.k = k, .one = one};
  x.known = arena_alloc(arena, (k->values + 1) * sizeof *x.known);
  x.statement = arena_alloc(arena, (k->values + 1) * sizeof *x.statement);
  for (uint32_t i = 0; i < k->count; i++) {
    struct kernel_statement *s = &k->statements[i];
    if (s->value != SUPEROP_NONE) find_value(&x, s);
    if (s->near == SUPEROP_NONE) continue;
    if (s->kind == KERNEL_GATHER && s->count == 1 && is_run(&x, s, 0)) s->kind = KERNEL_RUN;
    if (s->kind == KERNEL_SCATTER && s->op != OPC_PERMUTE && s->count == 2)
      s->run = is_run(&x, s, 1);
  }
}
