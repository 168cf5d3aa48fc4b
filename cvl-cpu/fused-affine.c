/* fused-affine.c - gathers by affine indices, read from the source: stencils, rotations, shifts
 * with a boundary.
 *
 * An index is often computed from the position: i - s, or i - s + n where i < s (a rotation),
 * or max(i - 1, 0), within a row or in the whole vector. Such an index is piecewise affine:
 * over an *affine run* of positions it is start + j * stride at the j-th position. This file
 * interprets the index arithmetic symbolically. From a position on, each value of it is
 * represented by its start and stride, up to where the first comparison changes its outcome or
 * the first segment ends. If the index of a gather then has stride 1 and stays in range, the
 * gathered elements are contiguous: steps read them from the source, and the steps that only
 * compute such indices are skipped. A run costs a few operations on scalars, instead of
 * operations on vectors.
 *
 * Where this does not apply, as at the few positions around a boundary, all steps are executed.
 */
#include <string.h>

#include "cvl-cpu/fused-compiled.h"
#include "cvl-cpu/fused-plan.h"

enum {
  RUN_LEAST = 32,       /* positions; a shorter run is not worth a strip of its own */
  RUN_BETWEEN = 64,     /* positions that are evaluated by all steps where there is no run */
  SEGMENT_AVERAGE = 128 /* positions; shorter segments have too many ends */
};

/* ---- the plan ---- */

/* Maps that are interpreted symbolically. */
static bool is_affine_map(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  const uint8_t elem = k->values[node->result].elem;
  const uint8_t of = k->values[node->operands[node->operand_count - 1]].elem;
  const bool ints = of == k->c->int_elem;
  switch ((int)k->nodes[n].op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_MOD:
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE:
  case OP_EQ:
  case OP_NE: return ints;
  case OP_AND:
  case OP_OR:
  case OP_NOT: return elem == CVL_BOOL && of == CVL_BOOL;
  case OP_SELECT: return ints || of == CVL_BOOL;
  default: return false;
  }
}

static uint32_t definition(const struct cvl_kernel *k, const struct superop_node *node,
                           unsigned i) {
  return k->values[node->operands[i]].node;
}

static bool may_be_affine(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  if (k->op->cold[n]) return false;
  if (node->role == ROLE_INDEX) return true;
  if (node->role == ROLE_SPREAD) {
    const uint8_t elem = k->values[node->result].elem;
    return elem == k->c->int_elem || elem == CVL_BOOL;
  }
  if (node->role != ROLE_MAP || !is_affine_map(k, n)) return false;
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t from = definition(k, node, i);
    if (from == SUPEROP_NONE || !k->nodes[from].run.affine) return false;
  }
  return true;
}

void fused_affine_plan(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  if (superop_has_loops(op)) return; /* fused-loop.c executes their steps */
  for (uint32_t n = 0; n < op->node_count; n++) k->nodes[n].run.affine = may_be_affine(k, n);
  for (uint32_t n = op->node_count; n-- > 0;) { /* only the arithmetic of indices */
    const struct superop_node *node = &op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    if (node->role == ROLE_GATHER && p->op == OP_BPERMUTE && !op->cold[n]) {
      const uint32_t index = definition(k, node, 1);
      p->run.affine = index != SUPEROP_NONE && k->nodes[index].run.affine;
      if (p->run.affine) k->nodes[index].analysed = true;
      p->analysed = p->run.affine;
    }
    for (unsigned i = 0; node->role == ROLE_MAP && p->analysed && i < node->operand_count;
         i++) {
      k->nodes[definition(k, node, i)].analysed = true;
    }
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    if (k->nodes[n].analysed) k->analysed[k->analysed_count++] = n;
  }
}

/* ---- the start of a run ---- */

/* Whether the segments are long enough on average. */
static bool has_long_segments(const struct segments *s) {
  return s->count == 1 || (s->count > 0 && s->total / s->count >= SEGMENT_AVERAGE);
}

bool fused_affine_suits(const struct cvl_kernel *k, uint32_t gather) {
  const struct fused_node *p = &k->nodes[gather];
  const struct fused_node *index = &k->nodes[definition(k, &k->op->nodes[gather], 1)];
  return p->analysed && has_long_segments(&p->run.near) && has_long_segments(&index->run.near);
}

/* Finds the nodes that are affine given the operands; returns the number of gathers among them.
 */
static uint32_t find_affine(struct cvl_kernel *k) {
  uint32_t gathers = 0;
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const uint32_t n = k->analysed[i];
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    p->run.skipped = false;
    p->run.affine = node->role == ROLE_MAP || has_long_segments(&p->run.near);
    for (unsigned j = 0; node->role == ROLE_MAP && j < node->operand_count; j++) {
      p->run.affine &= k->nodes[definition(k, node, j)].run.affine;
    }
    if (node->role != ROLE_GATHER) continue;
    p->run.affine &= p->run.action == ACT_GATHER && k->values[node->result].run.needed &&
                     k->nodes[definition(k, node, 1)].run.affine;
    gathers += p->run.affine;
  }
  return gathers;
}

/* Backwards: finds the steps that only compute indices of affine gathers. */
static void find_skipped(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t v = 0; v < op->value_count; v++) {
    struct fused_value *value = &k->values[v];
    value->run.kept = value->is_output || (value->consumed && !value->run.unwanted);
  }
  for (uint32_t n = op->node_count; n-- > 0;) {
    const struct superop_node *node = &op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    const struct fused_value *v = node->result_count > 0 ? &k->values[node->result] : NULL;
    if (op->cold[n] || (v && !v->run.needed)) continue;
    if (p->run.action == ACT_WITHIN) {
      k->values[p->index].run.kept = true;
      continue;
    }
    const bool gather = node->role == ROLE_GATHER && p->analysed && p->run.affine;
    p->run.skipped = p->analysed && p->run.affine && !gather && !node->checked &&
                     !v->run.kept &&
                     (!k->run.runs_compiled || fused_compiled_skips(k->compiled, n));
    for (unsigned i = 0; i < node->operand_count && !p->run.skipped; i++) {
      if (superop_matters(node, i) && !(gather && i == 1)) {
        k->values[node->operands[i]].run.kept = true;
      }
    }
  }
}

/* Finds the steps that an affine run executes, and the length of a strip that so few buffers
 * allow. */
static void find_affine_steps(struct cvl_kernel *k) {
  uint64_t slots = 0; /* a bit each */
  k->run.affine_step_count = 0;
  for (uint32_t i = k->run.live_from; i < k->step_count; i++) {
    const uint32_t n = k->run.live_steps[i];
    const struct fused_value *v = fused_result(k, n);
    const bool in_source = v && v->run.storage == IN_AFFINE_RUN;
    if (k->nodes[n].analysed && (k->nodes[n].run.skipped || in_source)) continue;
    k->run.affine_steps[k->run.affine_step_count++] = n;
    if (v && v->run.storage == IN_STRIP) slots |= UINT64_C(1) << (v->slot % 64);
  }
  if (k->run.runs_compiled || __builtin_popcountll(slots) <= FUSED_MANY_SLOTS)
    k->run.strip = FUSED_STRIP;
}

void fused_affine_bind(struct cvl_kernel *k) {
  k->run.has_affine_runs = false;
  k->run.affine_gather_count = 0;
  k->run.strip = k->usual_strip;
  if (k->analysed_count == 0 || k->run.n < 2 * RUN_LEAST || find_affine(k) == 0) return;
  k->run.has_affine_runs = true;
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const uint32_t n = k->analysed[i];
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_value *v = &k->values[node->result];
    if (node->role != ROLE_GATHER || !k->nodes[n].run.affine) continue;
    v->run.affine_gather = k->run.affine_gather_count;
    k->run.affine_gathers[k->run.affine_gather_count++] = n;
    if (v->run.storage == IN_STRIP && !v->consumed && !v->is_output)
      v->run.storage = IN_AFFINE_RUN;
  }
  if (k->run.runs_compiled) fused_compiled_skip_all(k->compiled);
  do {
    find_skipped(k);
  } while (k->run.runs_compiled && fused_compiled_keep(k->compiled));
  find_affine_steps(k);
}

/* ---- symbolic values ---- */

static uint64_t element(const void *x, uint64_t i, size_t bytes) {
  return bytes == 1 ? ((const uint8_t *)x)[i] : (uint64_t)int_element(x, i, bytes);
}

static void shorten(uint64_t *length, uint64_t to) {
  if (to < *length) *length = to;
}

/* Whether the value does not wrap within so many positions, nor come near to it. */
static bool is_straight(const struct fused_affine *c, uint64_t length, size_t bytes) {
  const int64_t most = bytes == 8 ? INT64_MAX / 4 : INT32_MAX;
  int64_t last;
  if (!c->known || length > INT64_MAX || __builtin_mul_overflow(c->stride, length - 1, &last) ||
      __builtin_add_overflow(last, c->start, &last)) {
    return false;
  }
  return -most <= c->start && c->start <= most && -most <= last && last <= most;
}

/* Whether start + j * stride is negative for j = 0; shortens the length to where this stays so.
 */
static bool is_negative(int64_t start, int64_t stride, uint64_t *length) {
  const uint64_t size = start < 0 ? 0 - (uint64_t)start : (uint64_t)start;
  const uint64_t pace = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
  if (start < 0 && stride > 0) shorten(length, size / pace + (size % pace > 0));
  if (start >= 0 && stride < 0) shorten(length, size / pace + 1);
  return start < 0;
}

static bool is_zero(int64_t start, int64_t stride, uint64_t *length) {
  if (stride == 0) return start == 0;
  if (start == 0) {
    *length = 1;
  } else if ((start < 0) != (stride < 0) && start % stride == 0) {
    shorten(length, 0 - (uint64_t)(start / stride));
  }
  return start == 0;
}

/* The outcome of a comparison, up to where it changes. */
static struct fused_affine compare(enum cvl_op op, const struct fused_affine *a,
                                   const struct fused_affine *b, size_t bytes,
                                   uint64_t *length) {
  struct fused_affine c = {0};
  int64_t stride;
  if (!is_straight(a, *length, bytes) || !is_straight(b, *length, bytes) ||
      __builtin_sub_overflow(a->stride, b->stride, &stride) || stride == INT64_MIN) {
    return c;
  }
  const int64_t start = a->start - b->start;
  switch ((int)op) {
  case OP_LT: c.start = is_negative(start, stride, length); break;
  case OP_LE: c.start = is_negative(start - 1, stride, length); break;
  case OP_GT: c.start = is_negative(-start, -stride, length); break;
  case OP_GE: c.start = is_negative(-start - 1, -stride, length); break;
  case OP_EQ: c.start = is_zero(start, stride, length); break;
  default: c.start = !is_zero(start, stride, length); break;
  }
  c.known = true;
  return c;
}

/* Quotient and remainder by one positive number, up to the next multiple of it. */
static struct fused_affine divide(enum cvl_op op, const struct fused_affine *a,
                                  const struct fused_affine *b, size_t bytes,
                                  uint64_t *length) {
  struct fused_affine c = {0};
  if (!is_straight(a, *length, bytes) || !b->known || b->stride != 0 || b->start <= 0 ||
      a->start < 0 || a->stride < 0 || a->stride > 1) {
    return c;
  }
  const int64_t rest = a->start % b->start;
  if (a->stride == 1) shorten(length, (uint64_t)(b->start - rest));
  if (op == OP_DIV) return (struct fused_affine){true, a->start / b->start, 0};
  return (struct fused_affine){true, rest, a->stride};
}

static struct fused_affine map(const struct cvl_kernel *k, const struct superop_node *node,
                               enum cvl_op op, const struct fused_affine *affine,
                               uint64_t *length) {
  const size_t bytes = k->values[node->result].bytes;
  const size_t operand_bytes = k->values[node->operands[0]].bytes;
  const struct fused_affine *a = &affine[node->operands[0]];
  const struct fused_affine *b = &affine[node->operands[node->operand_count - 1]];
  const uint64_t a0 = (uint64_t)a->start, as = (uint64_t)a->stride;
  const uint64_t b0 = (uint64_t)b->start, bs = (uint64_t)b->stride;
  uint64_t start, stride;
  switch ((int)op) {
  case OP_SELECT:
    if (!a->known) return (struct fused_affine){0};
    return affine[node->operands[a->start ? 1 : 2]];
  case OP_DIV:
  case OP_MOD: return divide(op, a, b, bytes, length);
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE:
  case OP_EQ:
  case OP_NE: return compare(op, a, b, operand_bytes, length);
  case OP_NOT: return (struct fused_affine){a->known, !a->start, 0};
  case OP_AND: return (struct fused_affine){a->known && b->known, a0 && b0, 0};
  case OP_OR: return (struct fused_affine){a->known && b->known, a0 || b0, 0};
  case OP_ADD: start = a0 + b0, stride = as + bs; break;
  case OP_SUB: start = a0 - b0, stride = as - bs; break;
  case OP_MUL:
    if (as != 0 && bs != 0) return (struct fused_affine){0};
    start = a0 * b0, stride = as * b0 + a0 * bs;
    break;
  default: return (struct fused_affine){0};
  }
  return (struct fused_affine){a->known && b->known, int_wrapped(start, bytes),
                               int_wrapped(stride, bytes)};
}

/* ---- affine runs ---- */

/* The segment at the position; shortens the length to its end. */
static uint64_t within_segment(struct fused_worker *w, const struct fused_node *p,
                               uint64_t position, uint64_t *length) {
  if (p->run.near.count == 1) return 0;
  const uint64_t s = walk_to(&w->walks[p->walk], &p->run.near, position);
  shorten(length, segment_start(&p->run.near, s + 1) - position);
  return s;
}

/* The elements gathered from a position on, in the source: NULL if they are not contiguous. */
static const char *find_gathered(struct fused_worker *w, const struct superop_node *node,
                                 const struct fused_node *p, uint64_t position,
                                 uint64_t *length) {
  const struct cvl_kernel *k = w->k;
  const struct fused_affine *index = &w->affine[node->operands[1]];
  const uint64_t s = within_segment(w, p, position, length);
  const uint64_t from = segment_start(&p->run.far, s);
  const uint64_t limit = segment_start(&p->run.far, s + 1) - from;
  if (index->stride != 1 || index->start < 0 || (uint64_t)index->start >= limit ||
      !is_straight(index, *length, k->values[node->operands[1]].bytes)) {
    return NULL;
  }
  shorten(length, limit - (uint64_t)index->start);
  return (const char *)p->run.values +
         (from + (uint64_t)index->start) * k->values[node->result].bytes;
}

static void move_walks(struct fused_worker *w, uint64_t first) {
  const struct cvl_kernel *k = w->k;
  for (uint32_t i = k->run.live_from; i < k->step_count; i++) {
    const struct fused_node *p = &k->nodes[k->run.live_steps[i]];
    if (p->run.action == ACT_DIST || p->run.action == ACT_INDEX ||
        p->run.action == ACT_GATHER) {
      walk_to(&w->walks[p->walk], &p->run.near, first);
    }
  }
}

/* Finds the affine run that begins at a position. */
static void find_run(struct fused_worker *w, uint64_t first) {
  struct cvl_kernel *k = w->k;
  uint64_t length = k->run.n - first;
  w->skipping = true;
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const uint32_t n = k->analysed[i];
    const struct superop_node *node = &k->op->nodes[n];
    const struct fused_node *p = &k->nodes[n];
    const struct fused_value *v = &k->values[node->result];
    struct fused_affine *c = &w->affine[node->result];
    if (!p->run.affine) continue;
    switch ((int)node->role) {
    case ROLE_SPREAD: {
      const uint64_t s = within_segment(w, p, first, &length);
      *c = (struct fused_affine){true, (int64_t)element(p->run.values, s, v->bytes), 0};
      break;
    }
    case ROLE_INDEX: {
      const uint64_t s = within_segment(w, p, first, &length);
      const uint64_t stride = element(p->run.strides, s, v->bytes);
      const uint64_t start = element(p->run.values, s, v->bytes) +
                             (first - segment_start(&p->run.near, s)) * stride;
      *c = (struct fused_affine){true, int_wrapped(start, v->bytes),
                                 int_wrapped(stride, v->bytes)};
      break;
    }
    case ROLE_MAP: *c = map(k, node, p->op, w->affine, &length); break;
    default: /* a gather */
      w->run_data[v->run.affine_gather] = find_gathered(w, node, p, first, &length);
      w->skipping &= w->run_data[v->run.affine_gather] != NULL;
      break;
    }
  }
  if (length < RUN_LEAST) {
    memset(w->run_data, 0, k->run.affine_gather_count * sizeof *w->run_data);
    w->skipping = false;
    length = RUN_BETWEEN;
  }
  if (!w->skipping) move_walks(w, first);
  fused_streams_begin(w);
  for (uint32_t i = 0; i < k->run.affine_gather_count; i++) {
    const struct superop_node *node = &k->op->nodes[k->run.affine_gathers[i]];
    const char *at = w->run_data[i];
    if (at) fused_stream(w, node->operands[0], at - first * k->values[node->result].bytes);
  }
  w->run_first = first;
  w->run_end = first + length;
}

uint64_t fused_affine_run(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  if (first < w->run_first || first >= w->run_end) find_run(w, first);
  for (uint32_t i = 0; i < k->run.affine_gather_count; i++) {
    const struct fused_value *v = &k->values[k->op->nodes[k->run.affine_gathers[i]].result];
    const char *at = w->run_data[v->run.affine_gather];
    w->gathered[v->run.affine_gather] =
        at ? at + (first - w->run_first) * v->bytes : (const char *)w + v->run.offset;
  }
  return n < w->run_end - first ? n : w->run_end - first;
}

bool fused_affine_has(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct fused_node *p = &k->nodes[number];
  if (!p->analysed || !p->run.affine) return false;
  if (p->run.action != ACT_GATHER) return false;
  const struct fused_value *v = &k->values[k->op->nodes[number].result];
  if (!w->run_data[v->run.affine_gather]) return false;
  if (v->run.storage != IN_AFFINE_RUN)
    memcpy(fused_at(w, v, first), w->gathered[v->run.affine_gather], n * v->bytes);
  return true;
}
