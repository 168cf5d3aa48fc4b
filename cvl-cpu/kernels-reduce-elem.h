/* kernels-reduce-elem.h - the reductions of one element type; a part of kernels-reduce.c, which
 * includes it with CLASS, KIND and the widths defined.
 *
 * The tree is that of cvl.h. BOOL operations are exact, so there it is as wide as suits bytes.
 * Short segments are reduced side by side: a step of the tree is one loop over a strip of
 * elements, with flags that say where segments begin, whatever their lengths are.
 */
#include "cvl-cpu/combine.h"

#define WIDTH        ((int)(sizeof(ELEMENT_TYPE) == 1 ? 4 * CVL_REDUCE_LANES : CVL_REDUCE_LANES))
#define REDUCE_FLOAT COMBINE_EXPAND(REDUCE_IS_, CLASS)

ALWAYS_INLINE void NAMED(fold_at)(enum cvl_op op, ELEMENT_TYPE *lane, int w) {
  ELEMENT_TYPE folded[2 * CVL_REDUCE_LANES];
  for (int j = 0; j < w; j++) folded[j] = NAMED(combine)(op, lane[j], lane[j + w]);
  for (int j = 0; j < w; j++) lane[j] = folded[j];
}

ALWAYS_INLINE ELEMENT_TYPE NAMED(fold)(enum cvl_op op, ELEMENT_TYPE *lane) {
  if (WIDTH == 4 * CVL_REDUCE_LANES) {
    NAMED(fold_at)(op, lane, 2 * CVL_REDUCE_LANES);
    NAMED(fold_at)(op, lane, CVL_REDUCE_LANES);
  }
  NAMED(fold_at)(op, lane, 16);
  NAMED(fold_at)(op, lane, 8);
  NAMED(fold_at)(op, lane, 4);
  NAMED(fold_at)(op, lane, 2);
  return NAMED(combine)(op, lane[0], lane[1]);
}

/* Combines x[0 .. n) into the lanes. Where the order is free, two rows are combined with each
 * other first: half the steps that wait for the one before. */
ALWAYS_INLINE void NAMED(gather)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n,
                                 ELEMENT_TYPE *lane) {
  const uint64_t width = (uint64_t)WIDTH;
  uint64_t r = 0;
  for (; NAMED(exact)(op) && r + 2 * width <= n; r += 2 * width) {
    for (int j = 0; j < WIDTH; j++) {
      const ELEMENT_TYPE pair =
          NAMED(combine)(op, x[r + (uint64_t)j], x[r + width + (uint64_t)j]);
      lane[j] = NAMED(combine)(op, lane[j], pair);
    }
  }
  for (; r + width <= n; r += width) {
    for (int j = 0; j < WIDTH; j++) lane[j] = NAMED(combine)(op, lane[j], x[r + (uint64_t)j]);
  }
  if (r < n) {
    const int rest = (int)(n - r);
    for (int j = 0; j < WIDTH; j++) {
      lane[j] = NAMED(combine)(op, lane[j], j < rest ? x[r + (uint64_t)j] : NAMED(pad)(op));
    }
  }
}

#if REDUCE_FLOAT
/* MAX or MIN by comparison alone: right unless a NaN or a zero is among the operands. */
ALWAYS_INLINE ELEMENT_TYPE NAMED(compare)(enum cvl_op op, ELEMENT_TYPE x, ELEMENT_TYPE y) {
  return op == OP_MAX ? (x > y ? x : y) : (x < y ? x : y);
}

/* A whole block of MAX or MIN into the lanes. Two steps an element suffice while no NaN is met
 * and no lane ends as a zero, whose sign would depend on the order; else the block, which is
 * then in the first-level cache, is done again by the expression of the table. */
ALWAYS_INLINE void NAMED(gather_extreme)(enum cvl_op op, const ELEMENT_TYPE *x,
                                         ELEMENT_TYPE *lane) {
  ELEMENT_TYPE best[WIDTH];
  TYPE_I odd[WIDTH];
  for (int j = 0; j < WIDTH; j++) best[j] = NAMED(pad)(op);
  for (int j = 0; j < WIDTH; j++) odd[j] = 0;
  for (int r = 0; r < CVL_REDUCE_BLOCK; r += 2 * WIDTH) {
    for (int j = 0; j < WIDTH; j++) {
      const ELEMENT_TYPE y = x[r + j], z = x[r + WIDTH + j];
      best[j] = NAMED(compare)(op, z, NAMED(compare)(op, y, best[j]));
      odd[j] |= __builtin_isunordered(y, z);
    }
  }
  TYPE_I any = 0;
  for (int j = 0; j < WIDTH; j++) any |= odd[j] | (best[j] == 0);
  if (any) {
    NAMED(gather)(op, x, CVL_REDUCE_BLOCK, lane);
  } else {
    NAMED(gather)(op, best, (uint64_t)WIDTH, lane);
  }
}
#endif

/* The total of x[0 .. n) under an exact operation: the lanes go on through all blocks. */
ALWAYS_INLINE ELEMENT_TYPE NAMED(total)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n) {
  ELEMENT_TYPE lane[WIDTH];
  for (int j = 0; j < WIDTH; j++) lane[j] = NAMED(pad)(op);
#if REDUCE_FLOAT
  for (; n >= CVL_REDUCE_BLOCK; n -= CVL_REDUCE_BLOCK, x += CVL_REDUCE_BLOCK) {
    NAMED(gather_extreme)(op, x, lane);
  }
#endif
  NAMED(gather)(op, x, n, lane);
  return NAMED(fold)(op, lane);
}

ALWAYS_INLINE void NAMED(blocks)(enum cvl_op op, const void *data, uint64_t n, void *totals) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *y = totals;
  if (NAMED(exact)(op)) {
    const uint64_t blocks = n / CVL_REDUCE_BLOCK + (n % CVL_REDUCE_BLOCK != 0);
    if (n > 0) y[0] = NAMED(total)(op, x, n);
    for (uint64_t k = 1; k < blocks; k++) y[k] = NAMED(pad)(op);
    return;
  }
  for (uint64_t b = 0; b < n; b += CVL_REDUCE_BLOCK) {
    ELEMENT_TYPE lane[WIDTH];
    for (int j = 0; j < WIDTH; j++) lane[j] = NAMED(pad)(op);
    NAMED(gather)(op, x + b, n - b < CVL_REDUCE_BLOCK ? n - b : CVL_REDUCE_BLOCK, lane);
    *y++ = NAMED(fold)(op, lane);
  }
}

/* A step of the tree over a strip: to[i] = from[i] combined with from[i + s] where apart[i] is
 * 0, that is, where both are of one segment. */
ALWAYS_INLINE void NAMED(step)(enum cvl_op op, int n, int s, const uint8_t *restrict apart,
                               const ELEMENT_TYPE *restrict from, ELEMENT_TYPE *restrict to) {
  for (int i = 0; i < n; i++) {
    const ELEMENT_TYPE right = apart[i] ? NAMED(pad)(op) : from[i + s];
    to[i] = NAMED(combine)(op, from[i], right);
  }
}

/* Segments with STRIP elements at most in all, the first at x[0]; out[k] is undefined for those
 * longer than SHORT. */
ALWAYS_INLINE void NAMED(side_by_side)(enum cvl_op op, const ELEMENT_TYPE *x,
                                       const uint64_t *offsets, uint64_t count,
                                       ELEMENT_TYPE *out) {
  ELEMENT_TYPE a[STRIP], b[STRIP + 1];
  /* head[i]: a segment begins at i; two[i], four[i]: one begins in i+1 .. i+2, i+1 .. i+4. */
  uint8_t head[STRIP + SHORT], two[STRIP + SHORT], four[STRIP + SHORT];
  const uint64_t start = offsets[0];
  const int n = (int)(offsets[count] - start);
  if (n < 0 || n > STRIP) __builtin_unreachable();
  memset(head, 0, (size_t)n);
  memset(head + n, 1, SHORT);
  for (uint64_t k = 0; k < count; k++) head[offsets[k] - start] = 1;
  for (int i = 0; i < n + 4; i++) two[i] = head[i + 1] | head[i + 2];
  for (int i = 0; i < n; i++) four[i] = two[i] | two[i + 2];
  NAMED(step)(op, n, 4, four, x, b);
  NAMED(step)(op, n, 2, two, b, a);
  NAMED(step)(op, n, 1, head + 1, a, b);
  b[STRIP] = NAMED(identity)(op);
  for (uint64_t k = 0; k < count; k++) {
    /* Chosen by arithmetic: whether a segment is empty is hard for a branch to foresee. */
    const uint64_t empty = UINT64_C(0) - (offsets[k + 1] == offsets[k]);
    const uint64_t at = ((offsets[k] - start) & ~empty) | (STRIP & empty);
    out[k] = b[at];
  }
}

/* One segment of 1 <= n <= REDUCE_WHOLE elements. */
ALWAYS_INLINE ELEMENT_TYPE NAMED(segment)(reduce_blocks *blocks, const ELEMENT_TYPE *x,
                                          uint64_t n) {
  ELEMENT_TYPE totals[REDUCE_WHOLE / CVL_REDUCE_BLOCK];
  blocks(x, n, totals);
  if (n > CVL_REDUCE_BLOCK) {
    blocks(totals, (n + CVL_REDUCE_BLOCK - 1) / CVL_REDUCE_BLOCK, totals);
  }
  return totals[0];
}

ALWAYS_INLINE void NAMED(segments)(enum cvl_op op, reduce_blocks *blocks, const void *data,
                                   const uint64_t *offsets, uint64_t count, void *results) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *out = results;
  for (uint64_t k = 0; k < count;) {
    /* A strip, and which of its segments are not short. */
    uint16_t medium[SEGMENTS];
    int mediums = 0;
    const uint64_t start = offsets[k];
    uint64_t to = k;
    while (to < count && to - k < SEGMENTS && offsets[to + 1] - start <= STRIP &&
           offsets[to + 1] - offsets[to] <= MEDIUM) {
      medium[mediums] = (uint16_t)(to - k);
      mediums += offsets[to + 1] - offsets[to] > SHORT;
      to++;
    }
    if (to - k > (uint64_t)mediums) {
      NAMED(side_by_side)(op, x + start, offsets + k, to - k, out + k);
    }
    for (int i = 0; i < mediums; i++) {
      const uint64_t m = k + medium[i];
      out[m] = NAMED(segment)(blocks, x + offsets[m], offsets[m + 1] - offsets[m]);
    }
    if (to == k) { /* a long one */
      const uint64_t n = offsets[k + 1] - start;
      if (n <= REDUCE_WHOLE) out[k] = NAMED(segment)(blocks, x + start, n);
      to++;
    }
    k = to;
  }
}

#define INSTANCE(name, op) COMBINE_EXPAND_NAME(name##_##op, KIND)
#define COMBINE_INSTANCES(op)                                                                  \
  __attribute__((noinline)) static void INSTANCE(blocks, op)(const void *x, uint64_t n,        \
                                                             void *totals) {                   \
    NAMED(blocks)(OP_##op, x, n, totals);                                                      \
  }                                                                                            \
  static void INSTANCE(segments, op)(const void *x, const uint64_t *offsets, uint64_t count,   \
                                     void *out) {                                              \
    NAMED(segments)(OP_##op, INSTANCE(blocks, op), x, offsets, count, out);                    \
  }
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(COMBINE_INSTANCES(op))
#include "tables/operations.def"
#undef COMBINE_INSTANCES
#undef INSTANCE
#undef WIDTH
#undef REDUCE_FLOAT
