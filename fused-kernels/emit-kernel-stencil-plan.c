/* emit-kernel-stencil-plan.c - which gathers read windows: see emit-kernel-stencil.h. */
#include "fused-kernels/emit-kernel-stencil.h"

#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"

#include <stdlib.h>

/* ---- indices as sums ---- */

/* An index without what it does at the boundary: the sum of its terms and a constant. A term is
 * a number made from what it is; the same terms give the same sum. */
struct sum {
  bool fits;         /* it is a sum */
  bool given;        /* its positions are a parameter, which may be anything */
  int64_t moves;     /* by how much, from a position to the next */
  uint64_t terms;    /* all but the constant */
  uint64_t family;   /* without terms that are the same for many positions */
  uint64_t constant; /* wraps, as INT does */
};

/* The finaliser of splitmix64, of two numbers. */
static uint64_t emit_kernel_stencil_plan_mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

enum { TERM_UNIFORM = 1, TERM_POSITION, TERM_INDEX, TERM_PRODUCT, TERM_STRIDE, TERM_SOURCE };

static bool emit_kernel_stencil_plan_is_constant(struct sum x) {
  return x.terms == 0 && x.moves == 0;
}

/* An operand of DIST or INDEX: a CONST, or an element for each segment. */
static struct sum uniform(const struct superop *op, uint32_t v) {
  const struct superop_node *node = emit_definition(op, v);
  struct sum x = {.fits = op->kinds[v] == SUPEROP_INT};
  if (node != NULL)
    x.constant = x.fits ? (uint64_t)cvl_int_of(&node->constant) : 0;
  else
    x.terms = emit_kernel_stencil_plan_mix(TERM_UNIFORM, v);
  return x;
}

static struct sum times(struct sum x, uint64_t factor) {
  x.moves = (int64_t)((uint64_t)x.moves * factor);
  x.terms *= factor;
  x.family *= factor;
  x.constant *= factor;
  return x;
}

static struct sum plus(struct sum x, struct sum y) {
  x.fits = x.fits && y.fits;
  x.given = x.given || y.given;
  x.moves = (int64_t)((uint64_t)x.moves + (uint64_t)y.moves);
  x.terms += y.terms;
  x.family += y.family;
  x.constant += y.constant;
  return x;
}

/* A product of two numbers that are no constants is one term, such as the beginning of a row.
 */
static struct sum emit_kernel_stencil_plan_product(struct sum x, struct sum y) {
  if (emit_kernel_stencil_plan_is_constant(y)) return times(x, y.constant);
  if (emit_kernel_stencil_plan_is_constant(x)) return times(y, x.constant);
  const uint64_t a = emit_kernel_stencil_plan_mix(x.terms, x.constant),
                 b = emit_kernel_stencil_plan_mix(y.terms, y.constant);
  const uint64_t term = emit_kernel_stencil_plan_mix(TERM_PRODUCT, a * b + a + b);
  const bool fits = x.fits && y.fits && x.moves == 0 && y.moves == 0;
  return (struct sum){.fits = fits, .terms = term, .family = term};
}

/* Positions under descriptor d, from a start on. A stride of which nothing is known may be 1.
 */
static struct sum emit_kernel_stencil_plan_positions(const struct superop *op,
                                                     const struct superop_node *node) {
  const struct sum stride = uniform(op, node->operands[1]);
  const uint64_t index = emit_kernel_stencil_plan_mix(TERM_INDEX, node->operands[2]);
  struct sum x = uniform(op, node->operands[0]);
  uint64_t term = emit_kernel_stencil_plan_is_constant(stride)
                      ? index
                      : emit_kernel_stencil_plan_mix(TERM_STRIDE, stride.terms) + index;
  x.fits = x.fits && (!emit_kernel_stencil_plan_is_constant(stride) || stride.constant == 1);
  return plus(x, (struct sum){true, false, 1, term, term, 0});
}

static bool compares(const struct superop_node *node) {
  return node != NULL && (node->op == OPC_LT || node->op == OPC_LE || node->op == OPC_GT ||
                          node->op == OPC_GE || node->op == OPC_EQ || node->op == OPC_NE);
}

/* The dividend of a remainder by n; x of x + n, which is never negative. */
static uint32_t dividend(const struct superop *op, const struct superop_node *node) {
  const struct superop_node *sum = emit_definition(op, node->operands[0]);
  const bool adds = sum != NULL && sum->op == OPC_ADD;
  if (adds && sum->operands[0] == node->operands[1]) return sum->operands[1];
  if (adds && sum->operands[1] == node->operands[1]) return sum->operands[0];
  return node->operands[0];
}

uint32_t stencil_inner(const struct superop *op, const struct superop_node *node) {
  if (node->op == OPC_MOD) return dividend(op, node);
  if (node->op != OPC_SELECT) return SUPEROP_NONE;
  const struct superop_node *flag = emit_definition(op, node->operands[0]);
  for (unsigned i = 0; compares(flag) && i < 2; i++) {
    const uint32_t v = flag->operands[i];
    const bool arm = v == node->operands[1] || v == node->operands[2];
    if (arm && emit_spread_constant(op, v) == NULL) return v;
  }
  return SUPEROP_NONE;
}

static struct sum emit_kernel_stencil_plan_sum_of(const struct superop *op,
                                                  const struct superop_node *node,
                                                  const struct sum *of) {
  const struct sum none = {.fits = false};
  const uint32_t *v = node->operands, inner = stencil_inner(op, node);
  if (op->kinds[node->result] != SUPEROP_INT) return none;
  if (node->role == ROLE_SPREAD) return uniform(op, v[0]);
  if (node->role == ROLE_INDEX) return emit_kernel_stencil_plan_positions(op, node);
  if (node->role != ROLE_MAP) return none;
  if (inner != SUPEROP_NONE) return of[inner];
  switch (node->op) {
  case OPC_ADD: return plus(of[v[0]], of[v[1]]);
  case OPC_SUB: return plus(of[v[0]], times(of[v[1]], UINT64_MAX));
  case OPC_MUL: return emit_kernel_stencil_plan_product(of[v[0]], of[v[1]]);
  default: return none;
  }
}

/* Returns the sum of every value. A parameter may have the positions themselves. */
static struct sum *find_sums(struct arena *arena, const struct superop *op) {
  struct sum *of = arena_alloc(arena, (op->value_count + 1) * sizeof *of);
  for (uint32_t v = 0; v < op->param_count; v++) {
    const uint64_t term = emit_kernel_stencil_plan_mix(TERM_POSITION, v);
    of[v] = (struct sum){op->kinds[v] == SUPEROP_INT, true, 1, term, term, 0};
  }
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].result_count > 0)
      of[op->nodes[k].result] = emit_kernel_stencil_plan_sum_of(op, &op->nodes[k], of);
  }
  return of;
}

/* ---- groups ---- */

/* A gather that could read a window. */
struct candidate {
  uint32_t node, param;
  struct sum index;
};

static int emit_kernel_stencil_plan_compare(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

/* By parameter, family, terms, constant. */
static int in_order(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  int c = emit_kernel_stencil_plan_compare(x->param, y->param);
  if (c == 0) c = emit_kernel_stencil_plan_compare(x->index.family, y->index.family);
  if (c == 0) c = emit_kernel_stencil_plan_compare(x->index.terms, y->index.terms);
  if (c == 0 && x->index.constant != y->index.constant)
    c = (int64_t)x->index.constant < (int64_t)y->index.constant ? -1 : 1;
  return c != 0 ? c : emit_kernel_stencil_plan_compare(x->node, y->node);
}

static bool same_family(const struct candidate *x, const struct candidate *y) {
  return x->param == y->param && x->index.family == y->index.family;
}

static bool same_group(const struct candidate *first, const struct candidate *y) {
  return same_family(first, y) && first->index.terms == y->index.terms &&
         y->index.constant - first->index.constant <= WINDOW_SPREAD;
}

static uint32_t find_candidates(const struct fused_kernel *k, const struct sum *of,
                                struct candidate *c) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    const struct superop_node *node = &k->op->nodes[i];
    if (node->role != ROLE_GATHER || k->tasks[i] != TASK_INSIDE) continue;
    struct sum index = of[node->operands[1]];
    if (!index.fits || index.moves != 1) continue;
    const uint64_t source = emit_kernel_stencil_plan_mix(
        TERM_SOURCE, emit_kernel_stencil_plan_mix(kernel_far(node), fused_near(node)));
    index.terms += source;
    index.family = index.given ? index.terms : index.family + source;
    c[count++] = (struct candidate){.node = i, .param = node->operands[0], .index = index};
  }
  qsort(c, count, sizeof *c, in_order);
  return count;
}

/* Leaves out families with a single gather; and with two, where positions are a parameter: such
 * pairs are mostly of indices that were computed from data. */
static uint32_t drop_small(struct candidate *c, uint32_t count) {
  uint32_t kept = 0, end;
  for (uint32_t i = 0; i < count; i = end) {
    for (end = i + 1; end < count && same_family(&c[i], &c[end]); end++) {
    }
    const uint32_t few = c[i].index.given ? 2 : 1, size = end - i;
    for (uint32_t j = i; j < end && size > few; j++) c[kept++] = c[j];
  }
  return kept;
}

/* Adds the groups of a family, and gives the windows that it may need. */
static uint32_t add_family(struct fused_kernel *k, struct fused_windowed *w,
                           const struct candidate *c, uint32_t count) {
  uint32_t groups = 0, end;
  for (uint32_t i = 0; i < count && w->groups < STENCIL_GROUPS; i = end) {
    for (end = i; end < count && same_group(&c[i], &c[end]); end++)
      k->group[c[end].node] = k->group_count;
    k->groups[k->group_count++] = (struct fused_group){
        .param = c[i].param, .number = w->groups++, .lowest = c[i].node, .count = end - i};
    groups++;
  }
  const uint32_t most = count / 2 < STENCIL_UNKNOWN ? count / 2 : STENCIL_UNKNOWN;
  return groups > 1 ? most : 1;
}

/* Adds a parameter with its gathers, if windows pay. */
static void add_parameter(struct fused_kernel *k, const struct candidate *c, uint32_t count) {
  uint32_t families = 0, end;
  for (uint32_t i = 0; i < count; i++) families += i == 0 || !same_family(&c[i - 1], &c[i]);
  if (count - families < WINDOW_SAVED || k->windowed_count == STENCIL_SOURCES) return;
  struct fused_windowed *w = &k->windowed[k->windowed_count++];
  *w = (struct fused_windowed){.param = c->param, .far = kernel_far(&k->op->nodes[c->node])};
  for (uint32_t i = 0; i < count; i = end) {
    for (end = i + 1; end < count && same_family(&c[i], &c[end]); end++) {
    }
    w->windows += add_family(k, w, &c[i], end - i);
  }
}

/* ---- the memory of a block ---- */

static uint32_t emit_kernel_stencil_plan_bytes_of(const struct fused_kernel *k,
                                                  const struct fused_windowed *w) {
  const enum cvl_elem elem = superop_elem((enum superop_kind)k->op->kinds[w->param],
                                          k->widths.int_elem, k->widths.float_elem);
  return (uint32_t)elem_info(elem)->bytes;
}

static uint32_t window_bytes(const struct fused_kernel *k, uint32_t block_positions) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < k->windowed_count; i++)
    bytes += k->windowed[i].windows * emit_kernel_stencil_plan_bytes_of(k, &k->windowed[i]);
  return bytes * (block_positions + WINDOW_HALO);
}

/* One window less of the parameter with most of them. */
static void take_window(struct fused_kernel *k) {
  struct fused_windowed *most = k->windowed;
  for (uint32_t i = 1; i < k->windowed_count; i++) {
    if (k->windowed[i].windows > most->windows) most = &k->windowed[i];
  }
  most->windows--;
}

static void fit(struct fused_kernel *k) {
  const uint64_t most = k->tuning.value[TUNE_CUDA_STENCIL_BYTES];
  while (window_bytes(k, STENCIL_LEAST_POSITIONS) > most) take_window(k);
  k->block_positions = (uint32_t)k->tuning.value[TUNE_CUDA_STENCIL_POSITIONS];
  while (window_bytes(k, k->block_positions) > most) k->block_positions /= 2;
  k->block_bytes = window_bytes(k, k->block_positions);
}

void stencil_room(struct arena *arena, struct fused_kernel *k) {
  const uint32_t nodes = k->op->node_count;
  k->group = arena_alloc(arena, (nodes + 1) * sizeof *k->group);
  k->groups = arena_alloc(arena, (nodes + 1) * sizeof *k->groups);
  k->windowed = arena_alloc(arena, STENCIL_SOURCES * sizeof *k->windowed);
  for (uint32_t i = 0; i < nodes; i++) k->group[i] = SUPEROP_NONE;
}

void stencil_plan(struct arena *arena, struct fused_kernel *k) {
  if (k->tuning.value[TUNE_CUDA_STENCIL_BYTES] < STENCIL_LEAST_BYTES) return;
  struct candidate *c = arena_alloc(arena, (k->op->node_count + 1) * sizeof *c);
  const struct sum *of = find_sums(arena, k->op);
  uint32_t count = k->by_slots || k->by_groups || k->by_packs || k->scan != SUPEROP_NONE ||
                           k->scatter != SUPEROP_NONE
                       ? 0
                       : drop_small(c, find_candidates(k, of, c)),
           end;
  for (uint32_t i = 0; i < count; i = end) {
    for (end = i + 1; end < count && c[end].param == c[i].param; end++) {
    }
    add_parameter(k, &c[i], end - i);
  }
  if (k->windowed_count > 0) fit(k);
}
