/* direct-reduce.c - reductions, scans and ranks of the direct interpreter.
 *
 * Sums and products of FLOATs are combined in the reproducible tree of trees.h, so that results
 * are those of compiled programs in every bit. All other operations are exact in any order.
 */
#include "cvl/trees.h"
#include "neslc/reference/direct-private.h"

#include <math.h>
#include <string.h>

/* The operation (ADD, MUL, MAX, MIN, AND, OR, XOR) and the element type. */
struct combining {
  enum cvl_op op;
  enum type_tag element;
  bool single; /* FLOATs of 32 bits */
};

static struct datum identity_of(const struct direct *d, struct combining c) {
  const bool narrow = d->widths.int_elem == CVL_I32;
  if (c.element == TYPE_BOOL) return datum_bool(c.op == OP_AND);
  if (c.element == TYPE_FLOAT) {
    switch ((int)c.op) {
    case OP_MUL: return datum_float(1.0);
    case OP_MAX: return datum_float((double)-1e36f);
    case OP_MIN: return datum_float((double)1e36f);
    default: return datum_float(0.0);
    }
  }
  switch ((int)c.op) {
  case OP_MUL: return datum_int(1);
  case OP_MAX: return datum_int(narrow ? INT32_MIN : INT64_MIN);
  case OP_MIN: return datum_int(narrow ? INT32_MAX : INT64_MAX);
  case OP_AND: return datum_int(-1);
  default: return datum_int(0);
  }
}

/* The greater or smaller; NaN wins, and -0.0 is below 0.0. */
static struct datum extreme_datum(struct combining c, struct datum x, struct datum y) {
  if (x.kind != DATUM_FLOAT) {
    return (x.as.integer < y.as.integer) == (c.op == OP_MIN) ? x : y;
  }
  const double a = x.as.real, b = y.as.real;
  if (isnan(a) || isnan(b)) return datum_float((double)NAN);
  const bool below = a == b ? signbit(a) && !signbit(b) : a < b;
  return below == (c.op == OP_MIN) ? x : y;
}

static struct datum combine_data(struct direct *d, struct combining c, struct datum x,
                                 struct datum y) {
  if (c.op == OP_MAX || c.op == OP_MIN) return extreme_datum(c, x, y);
  const struct datum operands[2] = {x, y};
  struct datum out = x;
  direct_operation(d, c.op, operands, 2, &out);
  return out;
}

/* ---- the reproducible tree ---- */

static double plus_or_times(struct combining c, double x, double y) {
  const double z = c.op == OP_ADD ? x + y : x * y;
  return c.single ? (double)(float)z : z; /* correctly rounded: 53 bits are enough for both */
}
static double padding(struct combining c) {
  return c.op == OP_ADD ? -0.0 : 1.0;
}

/* One block of reduce() in trees.h: elements x[0..n), n at most CVL_REDUCE_BLOCK. */
static double reduce_tree_block(struct combining c, const double *x, uint64_t n) {
  double lane[CVL_REDUCE_LANES];
  for (uint64_t j = 0; j < CVL_REDUCE_LANES; j++) lane[j] = j < n ? x[j] : padding(c);
  for (uint64_t i = CVL_REDUCE_LANES; i < n; i++) {
    double *to = &lane[i % CVL_REDUCE_LANES];
    *to = plus_or_times(c, *to, x[i]);
  }
  for (unsigned w = CVL_REDUCE_LANES / 2; w >= 1; w /= 2) {
    for (unsigned j = 0; j < w; j++) lane[j] = plus_or_times(c, lane[j], lane[j + w]);
  }
  return lane[0];
}

/* reduce(x, n) of trees.h for n >= 1; overwrites x. */
static double reduce_by_tree(struct combining c, double *x, uint64_t n) {
  while (n > 1) {
    uint64_t blocks = 0;
    for (uint64_t b = 0; b < n; b += CVL_REDUCE_BLOCK) {
      x[blocks++] =
          reduce_tree_block(c, x + b, n - b < CVL_REDUCE_BLOCK ? n - b : CVL_REDUCE_BLOCK);
    }
    n = blocks;
  }
  return x[0];
}

/* The inclusive prefixes of a window of w elements, by Kogge and Stone, in a[0..w). */
static void window_prefixes(struct combining c, double *a, uint64_t w) {
  for (uint64_t s = 1; s < w; s *= 2) {
    for (uint64_t j = w; j-- > s;) a[j] = plus_or_times(c, a[j - s], a[j]);
  }
}

/* prefix(x, n, w) of trees.h, x is overwritten; the element before position 0 is the padding.
 */
static void prefix_by_tree(struct direct *d, struct combining c, double *x, uint64_t n,
                           uint64_t w) {
  const uint64_t windows = (n + w - 1) / w;
  double *before = arena_alloc(d->arena, (size_t)windows * sizeof *before);
  for (uint64_t k = 0; k < windows; k++) {
    double a[CVL_SCAN_WINDOW] = {0};
    for (uint64_t j = 0; j < w; j++) a[j] = k * w + j < n ? x[k * w + j] : padding(c);
    window_prefixes(c, a, w);
    before[k] = a[w - 1]; /* the total, until prefix_by_tree makes prefixes of them */
    for (uint64_t j = 0; j < w && k * w + j < n; j++) x[k * w + j] = a[j];
  }
  if (windows > 1) {
    prefix_by_tree(d, c, before, windows, CVL_SCAN_WINDOW);
  } else {
    before[0] = padding(c);
  }
  for (uint64_t k = windows; k-- > 0;) {
    uint64_t end = (k + 1) * w < n ? (k + 1) * w : n;
    for (uint64_t i = end; i-- > k * w + 1;) x[i] = plus_or_times(c, before[k], x[i - 1]);
    x[k * w] = before[k];
  }
}

static bool needs_tree(struct combining c) {
  return c.element == TYPE_FLOAT && (c.op == OP_ADD || c.op == OP_MUL);
}

static double *reals_of(struct direct *d, const struct datum_sequence *v) {
  double *x = arena_alloc(d->arena, (size_t)v->count * sizeof *x);
  for (uint64_t i = 0; i < v->count; i++) x[i] = v->items[i].as.real;
  return x;
}

/* ---- reductions and scans ---- */

static struct datum reduce_sequence(struct direct *d, struct combining c,
                                    const struct datum_sequence *v) {
  if (v->count == 0) return identity_of(d, c);
  if (needs_tree(c)) return datum_float(reduce_by_tree(c, reals_of(d, v), v->count));
  struct datum r = v->items[0];
  for (uint64_t i = 1; i < v->count; i++) r = combine_data(d, c, r, v->items[i]);
  return r;
}

static struct datum direct_reduce_scan_sequence(struct direct *d, struct combining c,
                                                const struct datum_sequence *v) {
  struct datum *items = direct_items(d, v->count);
  if (v->count > 0 && needs_tree(c)) {
    double *x = reals_of(d, v);
    prefix_by_tree(d, c, x, v->count, CVL_SCAN_ROW);
    for (uint64_t i = 1; i < v->count; i++) items[i] = datum_float(x[i]);
  }
  for (uint64_t i = 1; i < v->count && !needs_tree(c); i++) {
    items[i] = i == 1 ? v->items[0] : combine_data(d, c, items[i - 1], v->items[i - 1]);
  }
  if (v->count > 0) items[0] = identity_of(d, c);
  return datum_sequence(d, items, v->count);
}

/* ---- ranks ---- */

static bool datum_precedes(bool up, struct datum x, struct datum y) {
  if (x.kind != DATUM_FLOAT) {
    return up ? x.as.integer < y.as.integer : x.as.integer > y.as.integer;
  }
  if (isnan(x.as.real) || isnan(y.as.real)) return !isnan(x.as.real) && isnan(y.as.real);
  return up ? x.as.real < y.as.real : x.as.real > y.as.real;
}

/* Sorts the positions at[0..n) by their elements, stably: merges the left half and the right.
 */
static void sort_datum_positions(const struct datum *items, bool up, uint64_t *at,
                                 uint64_t *buffer, uint64_t n) {
  if (n < 2) return;
  const uint64_t half = n / 2;
  sort_datum_positions(items, up, at, buffer, half);
  sort_datum_positions(items, up, at + half, buffer, n - half);
  for (uint64_t i = 0, j = half, m = 0; m < n; m++) {
    bool right = i == half || (j < n && datum_precedes(up, items[at[j]], items[at[i]]));
    buffer[m] = right ? at[j++] : at[i++];
  }
  memcpy(at, buffer, (size_t)n * sizeof *at);
}

static struct datum rank_sequence(struct direct *d, const struct datum_sequence *v, bool up) {
  uint64_t *at = arena_alloc(d->arena, (size_t)v->count * 2 * sizeof *at);
  struct datum *items = direct_items(d, v->count);
  for (uint64_t i = 0; i < v->count; i++) at[i] = i;
  sort_datum_positions(v->items, up, at, at + v->count, v->count);
  for (uint64_t r = 0; r < v->count; r++) items[at[r]] = datum_int((int64_t)r);
  return datum_sequence(d, items, v->count);
}

/* ---- dispatch ---- */

bool direct_reduction(struct direct *d, const struct primitive_call *call, struct datum *out) {
  const struct primitive_info *info = primitive_info(call->primitive);
  const enum cvl_op op = opcode_info(info->opcode)->operation;
  const struct datum_sequence *v = call->argument[0].as.sequence;
  const struct type *element = type_of(ground_argument(d, call->specialisation)->part[0]);
  const struct combining c = {op, (enum type_tag)element->tag, d->widths.float_elem == CVL_F32};
  const double n = (double)v->count, levels = ceil(log2(n + 1));
  charge(d, info->group == PRIMITIVE_RANK ? n * levels : n, levels);
  if (info->group == PRIMITIVE_REDUCE && v->count == 0 && c.element == TYPE_CHAR) {
    return direct_check_fails(d, call, CHECK_NO_CHARACTER, 0, 0);
  }
  *out = info->group == PRIMITIVE_REDUCE ? reduce_sequence(d, c, v)
         : info->group == PRIMITIVE_SCAN ? direct_reduce_scan_sequence(d, c, v)
                                         : rank_sequence(d, v, op == OP_RANK_UP);
  return true;
}
