/* fused-stretch.c - gathers read in place: stencils, rotations, shifts with a boundary.
 *
 * An index is often arithmetic on positions: i - s, or i - s + n where i < s (a rotation), or
 * max(i - 1, 0), within a row or in the whole vector. Such an index is an affine function of
 * the place on long stretches of places. Here the index arithmetic is followed symbolically:
 * from a place on, every value of it has a *course*, start + j * stride at the j-th place from
 * there, up to where the first comparison changes its outcome or the first segment ends. Where
 * the index of a gather then counts up by one and stays in range, what is gathered lies there
 * already, in order: maps read it where it is, and the steps that only make such indices are
 * spared. What is followed is a handful of numbers a stretch, instead of vectors.
 *
 * Where this does not work out, as in the few places round a boundary, all steps are executed.
 */
#include <string.h>

#include "cvl-cpu/fused-native.h"
#include "cvl-cpu/fused-plan.h"

enum {
  STRETCH_LEAST = 32,   /* places; shorter ones are not worth a strip of their own */
  STRETCH_BETWEEN = 64, /* places that are executed step by step where there is none */
  STRETCH_MEAN = 128    /* shorter segments on average have too many ends */
};

/* ---- the plan ---- */

/* Maps whose course follows from those of their operands. */
static bool is_followed_map(const struct cvl_kernel *k, uint32_t n) {
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

static uint32_t maker(const struct cvl_kernel *k, const struct superop_node *node, unsigned i) {
  return k->values[node->operands[i]].node;
}

static bool may_follow(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  if (k->op->cold[n]) return false;
  if (node->role == ROLE_INDEX) return true;
  if (node->role == ROLE_SPREAD) {
    const uint8_t elem = k->values[node->result].elem;
    return elem == k->c->int_elem || elem == CVL_BOOL;
  }
  if (node->role != ROLE_MAP || !is_followed_map(k, n)) return false;
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t from = maker(k, node, i);
    if (from == SUPEROP_NONE || !k->nodes[from].followed) return false;
  }
  return true;
}

void fused_stretch_plan(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  if (superop_has_loops(op)) return; /* their steps have an order of their own */
  for (uint32_t n = 0; n < op->node_count; n++) k->nodes[n].followed = may_follow(k, n);
  for (uint32_t n = op->node_count; n-- > 0;) { /* only what indices are made of */
    const struct superop_node *node = &op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    if (node->role == ROLE_GATHER && p->op == OP_BPERMUTE && !op->cold[n]) {
      const uint32_t index = maker(k, node, 1);
      p->followed = index != SUPEROP_NONE && k->nodes[index].followed;
      if (p->followed) k->nodes[index].wanted = true;
      p->wanted = p->followed;
    }
    for (unsigned i = 0; node->role == ROLE_MAP && p->wanted && i < node->operand_count; i++) {
      k->nodes[maker(k, node, i)].wanted = true;
    }
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    if (k->nodes[n].wanted) k->followed[k->followed_count++] = n;
  }
}

/* ---- the start of a run ---- */

/* Whether the segments are long enough. */
static bool has_stretches(const struct segments *s) {
  return s->count == 1 || (s->count > 0 && s->total / s->count >= STRETCH_MEAN);
}

/* What can be followed given the operands; the number of gathers among it. */
static uint32_t find_followed(struct cvl_kernel *k) {
  uint32_t gathers = 0;
  for (uint32_t i = 0; i < k->followed_count; i++) {
    const uint32_t n = k->followed[i];
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    p->spared = false;
    p->followed = node->role == ROLE_MAP || has_stretches(&p->near);
    for (unsigned j = 0; node->role == ROLE_MAP && j < node->operand_count; j++) {
      p->followed &= k->nodes[maker(k, node, j)].followed;
    }
    if (node->role != ROLE_GATHER) continue;
    p->followed &= p->action == ACT_GATHER && k->values[node->result].needed &&
                   k->nodes[maker(k, node, 1)].followed;
    gathers += p->followed;
  }
  return gathers;
}

/* Backwards: which steps only make indices of gathers that are followed. */
static void find_spared(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t v = 0; v < op->value_count; v++) {
    struct fused_value *value = &k->values[v];
    value->kept = value->is_output || (value->consumed && !value->unwanted);
  }
  for (uint32_t n = op->node_count; n-- > 0;) {
    const struct superop_node *node = &op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    const struct fused_value *v = node->result_count > 0 ? &k->values[node->result] : NULL;
    if (op->cold[n] || (v && !v->needed)) continue;
    if (p->action == ACT_WITHIN) {
      k->values[p->index].kept = true;
      continue;
    }
    const bool gather = node->role == ROLE_GATHER && p->wanted && p->followed;
    p->spared = p->wanted && p->followed && !gather && !node->checked && !v->kept &&
                (!k->compiled || fused_native_spares(k->native, n));
    for (unsigned i = 0; i < node->operand_count && !p->spared; i++) {
      if (superop_matters(node, i) && !(gather && i == 1)) {
        k->values[node->operands[i]].kept = true;
      }
    }
  }
}

/* The steps that are left in a stretch, and the length of a strip that so few buffers allow. */
static void find_left(struct cvl_kernel *k) {
  uint64_t slots = 0; /* a bit each */
  k->stretch_count = 0;
  for (uint32_t i = k->live_from; i < k->step_count; i++) {
    const uint32_t n = k->live_steps[i];
    const struct fused_value *v = fused_result(k, n);
    const bool in_place = v && v->place == IN_STRETCH;
    if (k->nodes[n].wanted && (k->nodes[n].spared || in_place)) continue;
    k->stretch_steps[k->stretch_count++] = n;
    if (v && v->place == IN_STRIP) slots |= UINT64_C(1) << (v->slot % 64);
  }
  if (k->compiled || __builtin_popcountll(slots) <= FUSED_MANY_SLOTS) k->strip = FUSED_STRIP;
}

void fused_stretch_bind(struct cvl_kernel *k) {
  k->stretches = false;
  k->shifted_count = 0;
  k->strip = k->usual_strip;
  if (k->followed_count == 0 || k->n < 2 * STRETCH_LEAST || find_followed(k) == 0) return;
  k->stretches = true;
  for (uint32_t i = 0; i < k->followed_count; i++) {
    const uint32_t n = k->followed[i];
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_value *v = &k->values[node->result];
    if (node->role != ROLE_GATHER || !k->nodes[n].followed) continue;
    v->shift = k->shifted_count;
    k->shifted[k->shifted_count++] = n;
    if (v->place == IN_STRIP && !v->consumed && !v->is_output) v->place = IN_STRETCH;
  }
  if (k->compiled) fused_native_spare_all(k->native);
  do {
    find_spared(k);
  } while (k->compiled && fused_native_keep(k->native));
  find_left(k);
}

/* ---- courses ---- */

static int64_t as_int(uint64_t x, size_t bytes) {
  return bytes == sizeof x ? (int64_t)x : (int64_t)(int32_t)(uint32_t)x;
}

static uint64_t element(const void *x, uint64_t i, size_t bytes) {
  int64_t wide;
  int32_t narrow;
  if (bytes == 1) return ((const uint8_t *)x)[i];
  if (bytes == sizeof wide) {
    memcpy(&wide, (const char *)x + i * sizeof wide, sizeof wide);
    return (uint64_t)wide;
  }
  memcpy(&narrow, (const char *)x + i * sizeof narrow, sizeof narrow);
  return (uint64_t)(int64_t)narrow;
}

static void shorten(uint64_t *length, uint64_t to) {
  if (to < *length) *length = to;
}

/* Whether the course does not wrap round within so many places, nor come near to it. */
static bool is_straight(const struct fused_course *c, uint64_t length, size_t bytes) {
  const int64_t most = bytes == 8 ? INT64_MAX / 4 : INT32_MAX;
  int64_t last;
  if (!c->known || length > INT64_MAX || __builtin_mul_overflow(c->stride, length - 1, &last) ||
      __builtin_add_overflow(last, c->start, &last)) {
    return false;
  }
  return -most <= c->start && c->start <= most && -most <= last && last <= most;
}

/* Whether start + j * stride is negative for j = 0; shortens the length to where that stays. */
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

/* The course of a comparison: its outcome, up to where it changes. */
static struct fused_course compare(enum cvl_op op, const struct fused_course *a,
                                   const struct fused_course *b, size_t bytes,
                                   uint64_t *length) {
  struct fused_course c = {0};
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
static struct fused_course divide(enum cvl_op op, const struct fused_course *a,
                                  const struct fused_course *b, size_t bytes,
                                  uint64_t *length) {
  struct fused_course c = {0};
  if (!is_straight(a, *length, bytes) || !b->known || b->stride != 0 || b->start <= 0 ||
      a->start < 0 || a->stride < 0 || a->stride > 1) {
    return c;
  }
  const int64_t rest = a->start % b->start;
  if (a->stride == 1) shorten(length, (uint64_t)(b->start - rest));
  if (op == OP_DIV) return (struct fused_course){true, a->start / b->start, 0};
  return (struct fused_course){true, rest, a->stride};
}

static struct fused_course map(const struct cvl_kernel *k, const struct superop_node *node,
                               enum cvl_op op, const struct fused_course *courses,
                               uint64_t *length) {
  const size_t bytes = k->values[node->result].bytes;
  const size_t operand_bytes = k->values[node->operands[0]].bytes;
  const struct fused_course *a = &courses[node->operands[0]];
  const struct fused_course *b = &courses[node->operands[node->operand_count - 1]];
  const uint64_t a0 = (uint64_t)a->start, as = (uint64_t)a->stride;
  const uint64_t b0 = (uint64_t)b->start, bs = (uint64_t)b->stride;
  uint64_t start, stride;
  switch ((int)op) {
  case OP_SELECT:
    if (!a->known) return (struct fused_course){0};
    return courses[node->operands[a->start ? 1 : 2]];
  case OP_DIV:
  case OP_MOD: return divide(op, a, b, bytes, length);
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE:
  case OP_EQ:
  case OP_NE: return compare(op, a, b, operand_bytes, length);
  case OP_NOT: return (struct fused_course){a->known, !a->start, 0};
  case OP_AND: return (struct fused_course){a->known && b->known, a0 && b0, 0};
  case OP_OR: return (struct fused_course){a->known && b->known, a0 || b0, 0};
  case OP_ADD: start = a0 + b0, stride = as + bs; break;
  case OP_SUB: start = a0 - b0, stride = as - bs; break;
  case OP_MUL:
    if (as != 0 && bs != 0) return (struct fused_course){0};
    start = a0 * b0, stride = as * b0 + a0 * bs;
    break;
  default: return (struct fused_course){0};
  }
  return (struct fused_course){a->known && b->known, as_int(start, bytes),
                               as_int(stride, bytes)};
}

/* ---- stretches ---- */

uint64_t fused_segment_here(struct fused_worker *w, const struct fused_node *p,
                            uint64_t place) {
  enum { TRIES = 4 };
  const struct segments *s = &p->near;
  struct walk *walk = &w->walks[p->walk];
  walk->position = place;
  for (unsigned i = 0; walk->segment < s->count && i < TRIES; i++) {
    if (segment_start(s, walk->segment) > place) return walk->segment - 1;
    walk->segment++;
  }
  walk->segment = segment_at(s, place) + 1;
  return walk->segment - 1;
}

/* The segment that has the place; shortens the length to its end. */
static uint64_t within_segment(struct fused_worker *w, const struct fused_node *p,
                               uint64_t place, uint64_t *length) {
  if (p->near.count == 1) return 0;
  const uint64_t s = fused_segment_here(w, p, place);
  shorten(length, segment_start(&p->near, s + 1) - place);
  return s;
}

/* Where what is gathered from a place on lies: NULL if it is not in order. */
static const char *find_shifted(struct fused_worker *w, const struct superop_node *node,
                                const struct fused_node *p, uint64_t place, uint64_t *length) {
  const struct cvl_kernel *k = w->k;
  const struct fused_course *index = &w->courses[node->operands[1]];
  const uint64_t s = within_segment(w, p, place, length);
  const uint64_t from = segment_start(&p->far, s);
  const uint64_t limit = segment_start(&p->far, s + 1) - from;
  if (index->stride != 1 || index->start < 0 || (uint64_t)index->start >= limit ||
      !is_straight(index, *length, k->values[node->operands[1]].bytes)) {
    return NULL;
  }
  shorten(length, limit - (uint64_t)index->start);
  return (const char *)p->values +
         (from + (uint64_t)index->start) * k->values[node->result].bytes;
}

static void step_all_from(struct fused_worker *w, uint64_t first) {
  const struct cvl_kernel *k = w->k;
  for (uint32_t i = k->live_from; i < k->step_count; i++) {
    const struct fused_node *p = &k->nodes[k->live_steps[i]];
    if (p->action == ACT_DIST || p->action == ACT_INDEX || p->action == ACT_GATHER) {
      fused_segment_here(w, p, first);
    }
  }
}

/* The stretch that begins with a place. */
static void find(struct fused_worker *w, uint64_t first) {
  struct cvl_kernel *k = w->k;
  uint64_t length = k->n - first;
  w->sparing = true;
  for (uint32_t i = 0; i < k->followed_count; i++) {
    const uint32_t n = k->followed[i];
    const struct superop_node *node = &k->op->nodes[n];
    const struct fused_node *p = &k->nodes[n];
    const struct fused_value *v = &k->values[node->result];
    struct fused_course *c = &w->courses[node->result];
    if (!p->followed) continue;
    switch ((int)node->role) {
    case ROLE_SPREAD: {
      const uint64_t s = within_segment(w, p, first, &length);
      *c = (struct fused_course){true, (int64_t)element(p->values, s, v->bytes), 0};
      break;
    }
    case ROLE_INDEX: {
      const uint64_t s = within_segment(w, p, first, &length);
      const uint64_t stride = element(p->strides, s, v->bytes);
      const uint64_t start =
          element(p->values, s, v->bytes) + (first - segment_start(&p->near, s)) * stride;
      *c = (struct fused_course){true, as_int(start, v->bytes), as_int(stride, v->bytes)};
      break;
    }
    case ROLE_MAP: *c = map(k, node, p->op, w->courses, &length); break;
    default: /* a gather */
      w->in_order[v->shift] = find_shifted(w, node, p, first, &length);
      w->sparing &= w->in_order[v->shift] != NULL;
      break;
    }
  }
  if (length < STRETCH_LEAST) {
    memset(w->in_order, 0, k->shifted_count * sizeof *w->in_order);
    w->sparing = false;
    length = STRETCH_BETWEEN;
  }
  if (!w->sparing) step_all_from(w, first);
  fused_streams_begin(w);
  for (uint32_t i = 0; i < k->shifted_count; i++) {
    const struct superop_node *node = &k->op->nodes[k->shifted[i]];
    const char *at = w->in_order[i];
    if (at) fused_stream(w, node->operands[0], at - first * k->values[node->result].bytes);
  }
  w->stretch_first = first;
  w->stretch_end = first + length;
}

uint64_t fused_stretch(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  if (first < w->stretch_first || first >= w->stretch_end) find(w, first);
  for (uint32_t i = 0; i < k->shifted_count; i++) {
    const struct fused_value *v = &k->values[k->op->nodes[k->shifted[i]].result];
    const char *at = w->in_order[v->shift];
    w->shifted[v->shift] =
        at ? at + (first - w->stretch_first) * v->bytes : (const char *)w + v->offset;
  }
  return n < w->stretch_end - first ? n : w->stretch_end - first;
}

bool fused_stretch_has(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct fused_node *p = &k->nodes[number];
  if (!p->wanted || !p->followed) return false;
  if (p->action != ACT_GATHER) return false;
  const struct fused_value *v = &k->values[k->op->nodes[number].result];
  if (!w->in_order[v->shift]) return false;
  if (v->place != IN_STRETCH) memcpy(fused_at(w, v, first), w->shifted[v->shift], n * v->bytes);
  return true;
}
