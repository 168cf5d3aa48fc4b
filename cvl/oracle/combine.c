/* combine.c - the oracle's reductions, scans (trees.h, "The reproducible tree"), ranks and
 * sorting. INT, BOOL, and MAX and MIN of FLOAT give the same bits in any order; here they go
 * strictly from left to right. FLOAT sums and products follow the pseudo-code of trees.h line
 * by line.
 */
#include "cvl/oracle/oracle.h"
#include "cvl/trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A combination: the operation, the element type, and its neutral elements. */
struct combination {
  enum cvl_op op;
  enum cvl_elem elem;
};

static bool combine_is_real(enum cvl_elem e) {
  return elem_info(e)->klass == CLASS_FLOAT;
}

/* ---- whole numbers ---- */

static int64_t int_identity(struct combination c) {
  bool narrow = c.elem == CVL_I32;
  switch (c.op) {
  case OP_ADD:
  case OP_OR:
  case OP_XOR: return 0;
  case OP_MUL: return 1;
  case OP_MAX: return narrow ? INT32_MIN : INT64_MIN;
  case OP_MIN: return narrow ? INT32_MAX : INT64_MAX;
  case OP_AND: return c.elem == CVL_BOOL ? 1 : -1;
  default: abort();
  }
}

static int64_t int_combine(struct combination c, int64_t x, int64_t y) {
  uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
  switch (c.op) {
  case OP_ADD: return (int64_t)(ux + uy);
  case OP_MUL: return (int64_t)(ux * uy);
  case OP_MAX: return x < y ? y : x;
  case OP_MIN: return x < y ? x : y;
  case OP_AND: return (int64_t)(ux & uy);
  case OP_OR: return (int64_t)(ux | uy);
  case OP_XOR: return (int64_t)(ux ^ uy);
  default: abort();
  }
}

/* ---- reals ---- */

static double real_identity(struct combination c) {
  switch (c.op) {
  case OP_ADD: return 0.0;
  case OP_MUL: return 1.0;
  case OP_MAX: return -999999961690316245365415600208216064.0;
  case OP_MIN: return 999999961690316245365415600208216064.0;
  default: abort();
  }
}

static double real_pad(struct combination c) {
  return c.op == OP_ADD ? -0.0 : 1.0;
}

static double real_combine(struct combination c, double x, double y) {
  if (c.op == OP_MAX || c.op == OP_MIN) {
    if (isnan(x) || isnan(y)) return NAN;
    bool x_is_less = x == y ? signbit(x) && !signbit(y) : x < y;
    return x_is_less == (c.op == OP_MIN) ? x : y;
  }
  double z = c.op == OP_ADD ? x + y : x * y;
  return c.elem == CVL_F32 ? (double)(float)z : z;
}

/* ---- the reproducible tree ---- */

/* Does reduce(x, n) of trees.h, and overwrites x. */
static double tree_reduce(struct combination c, double *x, uint64_t n) {
  if (n == 0) return real_identity(c);
  if (n == 1) return x[0];
  while (n > 1) {
    uint64_t blocks = 0;
    for (uint64_t b = 0; b < n; b += CVL_REDUCE_BLOCK) {
      uint64_t end = n < b + CVL_REDUCE_BLOCK ? n : b + CVL_REDUCE_BLOCK;
      double lane[CVL_REDUCE_LANES];
      for (uint64_t j = 0; j < CVL_REDUCE_LANES; j++) {
        lane[j] = b + j < end ? x[b + j] : real_pad(c);
      }
      for (uint64_t r = 1; b + CVL_REDUCE_LANES * r < end; r++) {
        for (uint64_t j = 0; j < CVL_REDUCE_LANES; j++) {
          uint64_t i = b + CVL_REDUCE_LANES * r + j;
          if (i < end) lane[j] = real_combine(c, lane[j], x[i]);
        }
      }
      for (uint64_t w = CVL_REDUCE_LANES / 2; w >= 1; w /= 2) {
        for (uint64_t j = 0; j < w; j++) lane[j] = real_combine(c, lane[j], lane[j + w]);
      }
      x[blocks++] = lane[0];
    }
    n = blocks;
  }
  return x[0];
}

/* Does prefix(x, n, w) of trees.h, into e. t and before of all levels above are in
 * `scratch`. */
static void tree_prefix(struct combination c, const double *x, uint64_t n, uint64_t w,
                        double *e, double *scratch) {
  uint64_t windows = (n + w - 1) / w;
  double *t = scratch, *before = scratch + windows;
  for (int pass = 0; pass < 2; pass++) { /* first the totals, then the elements */
    for (uint64_t k = 0; k < windows; k++) {
      double a[CVL_SCAN_WINDOW], next[CVL_SCAN_WINDOW];
      for (uint64_t j = 0; j < w; j++) a[j] = k * w + j < n ? x[k * w + j] : real_pad(c);
      for (uint64_t s = 1; s < w; s *= 2) {
        for (uint64_t j = 0; j < w; j++)
          next[j] = j >= s ? real_combine(c, a[j - s], a[j]) : a[j];
        memcpy(a, next, sizeof a);
      }
      t[k] = a[w - 1];
      for (uint64_t i = k * w; pass == 1 && i < n && i < (k + 1) * w; i++) {
        e[i] = i % w == 0 ? before[k] : real_combine(c, before[k], a[i % w - 1]);
      }
    }
    if (pass == 0 && windows == 1) before[0] = real_pad(c);
    if (pass == 0 && windows > 1) {
      tree_prefix(c, t, windows, CVL_SCAN_WINDOW, before, before + windows);
    }
  }
}

/* ---- reductions and scans ---- */

/* Returns the room for segment [first, first + n) of v as reals, for its scan, and for
 * tree_prefix. n + n/8 ... per level and array stays below 2n + 64. */
static size_t real_scratch_bytes(const struct host_value *d) {
  uint64_t longest = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    if (host_segment(d, k) > longest) longest = host_segment(d, k);
  }
  return (size_t)(4 * longest + 256) * sizeof(double);
}

static void load_reals(const struct host_value *v, uint64_t first, uint64_t n, double *x) {
  for (uint64_t i = 0; i < n; i++) x[i] = host_real(v, first + i);
}

static void reduce_reals(struct combination c, const struct host_value *v, uint64_t first,
                         uint64_t n, double *x, struct host_value *out, uint64_t k) {
  load_reals(v, first, n, x);
  if (c.op == OP_ADD || c.op == OP_MUL) {
    host_put_real(out, k, tree_reduce(c, x, n));
    return;
  }
  double r = n == 0 ? real_identity(c) : x[0];
  for (uint64_t i = 1; i < n; i++) r = real_combine(c, r, x[i]);
  host_put_real(out, k, r);
}

static void scan_reals(struct combination c, const struct host_value *v, uint64_t first,
                       uint64_t n, double *x, struct host_value *out) {
  if (n == 0) return;
  load_reals(v, first, n, x);
  double *e = x + n;
  if (c.op == OP_ADD || c.op == OP_MUL) {
    tree_prefix(c, x, n, CVL_SCAN_ROW, e, e + n);
  } else {
    for (uint64_t i = 1; i < n; i++) e[i] = i == 1 ? x[0] : real_combine(c, e[i - 1], x[i - 1]);
  }
  e[0] = real_identity(c);
  for (uint64_t i = 0; i < n; i++) host_put_real(out, first + i, e[i]);
}

static bool reduce_or_scan(struct heap *heap, const struct oracle_call *call,
                           struct oracle_outcome *o, bool scan) {
  const struct host_value *v = &call->operand[0], *d = &call->operand[1];
  struct combination c = {call->op, (enum cvl_elem)v->elem};
  size_t bytes = combine_is_real(c.elem) ? real_scratch_bytes(d) : 0;
  double *scratch = heap_alloc(heap, bytes);
  if (!scratch) return oracle_no_memory(heap, o, bytes);
  uint64_t first = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    uint64_t n = host_segment(d, k);
    if (combine_is_real(c.elem) && scan) {
      scan_reals(c, v, first, n, scratch, &o->out[0]);
    } else if (combine_is_real(c.elem)) {
      reduce_reals(c, v, first, n, scratch, &o->out[0], k);
    } else {
      int64_t sum = int_identity(c);
      for (uint64_t i = first; i < first + n; i++) {
        if (scan) host_put_int(&o->out[0], i, sum);
        sum = int_combine(c, sum, host_int(v, i));
      }
      if (!scan) host_put_int(&o->out[0], k, sum);
    }
    first += n;
  }
  heap_free(heap, scratch, bytes);
  return true;
}

bool oracle_reduce(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  return reduce_or_scan(heap, c, o, false);
}

bool oracle_scan(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  return reduce_or_scan(heap, c, o, true);
}

/* ---- ranks and sorting ---- */

/* Whether element a comes strictly before element b if only the keys count. */
static bool key_precedes(const struct host_value *v, bool up, uint64_t a, uint64_t b) {
  if (!combine_is_real((enum cvl_elem)v->elem)) {
    int64_t x = host_int(v, a), y = host_int(v, b);
    return up ? x < y : x > y;
  }
  double x = host_real(v, a), y = host_real(v, b);
  if (isnan(x) || isnan(y)) return !isnan(x);
  return up ? x < y : x > y;
}

/* Sorts positions first .. first+n-1 by key, by merging; equal keys of the left half come
 * first. */
static void sort_positions(const struct host_value *v, bool up, uint64_t *at, uint64_t *spare,
                           uint64_t n) {
  if (n < 2) return;
  uint64_t half = n / 2;
  sort_positions(v, up, at, spare, half);
  sort_positions(v, up, at + half, spare, n - half);
  uint64_t i = 0, j = half;
  for (uint64_t m = 0; m < n; m++) {
    bool right = i == half || (j < n && key_precedes(v, up, at[j], at[i]));
    spare[m] = right ? at[j++] : at[i++];
  }
  memcpy(at, spare, (size_t)n * sizeof *at);
}

/* Returns the positions of all elements, each segment in the order of its keys. NULL if there
 * is no memory. The caller frees 2 n words. */
static uint64_t *ordered_positions(struct heap *heap, const struct oracle_call *c, bool up,
                                   struct oracle_outcome *o) {
  const struct host_value *v = &c->operand[0], *d = &c->operand[1];
  size_t bytes = (size_t)v->n * 2 * sizeof(uint64_t);
  uint64_t *at = heap_alloc(heap, bytes);
  if (!at) {
    oracle_no_memory(heap, o, bytes);
    return NULL;
  }
  uint64_t first = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    uint64_t n = host_segment(d, k);
    for (uint64_t i = 0; i < n; i++) at[first + i] = first + i;
    sort_positions(v, up, at + first, at + v->n, n);
    first += n;
  }
  return at;
}

bool oracle_rank(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  const struct host_value *v = &c->operand[0], *d = &c->operand[1];
  uint64_t *at = ordered_positions(heap, c, c->op == OP_RANK_UP, o);
  if (!at) return false;
  uint64_t first = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    uint64_t n = host_segment(d, k);
    for (uint64_t r = 0; r < n; r++) host_put_int(&o->out[0], at[first + r], (int64_t)r);
    first += n;
  }
  heap_free(heap, at, (size_t)v->n * 2 * sizeof *at);
  return true;
}

bool oracle_sort(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  const struct host_value *v = &c->operand[0];
  uint64_t *at = ordered_positions(heap, c, c->op == OP_SORT_UP, o);
  if (!at) return false;
  for (uint64_t i = 0; i < v->n; i++) host_copy(&o->out[0], i, v, at[i]);
  heap_free(heap, at, (size_t)v->n * 2 * sizeof *at);
  return true;
}
