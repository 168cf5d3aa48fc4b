/* reduce-elem.h - the reductions of one element type. Included by reduce.c with CLASS, KIND and
 * the widths defined.
 *
 * The tree is that of trees.h. BOOL operations are exact, so for them the tree is as wide as
 * suits bytes. Short segments are reduced side by side (reduce-short.h).
 */
#include "cvl-cpu/combine/combine.h"

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

/* Combines x[0 .. n) into the lanes, row after row. Combining two rows with each other first
 * would halve the chain of dependent steps. But then lines are not read in order, and an AMD
 * processor prefetches them half as fast (bench-ops --only REDUCE, i64). */
ALWAYS_INLINE void NAMED(gather)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n,
                                 ELEMENT_TYPE *lane) {
  const uint64_t width = (uint64_t)WIDTH;
  uint64_t r = 0;
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
/* Computes MAX or MIN by comparison alone. It is right unless an operand is a NaN or a zero. */
ALWAYS_INLINE ELEMENT_TYPE NAMED(compare)(enum cvl_op op, ELEMENT_TYPE x, ELEMENT_TYPE y) {
  return op == OP_MAX ? (x > y ? x : y) : (x < y ? x : y);
}

/* Combines a whole block into the lanes, for MAX or MIN. Two steps an element suffice unless a
 * NaN is met, or a lane ends as a zero, whose sign would depend on the order. Then the
 * expression of the table combines the block again, which is still in the first-level cache. */
ALWAYS_INLINE void NAMED(gather_extreme)(enum cvl_op op, const ELEMENT_TYPE *x,
                                         ELEMENT_TYPE *lane) {
  ELEMENT_TYPE best[WIDTH];
  TYPE_I odd[WIDTH];
  for (int j = 0; j < WIDTH; j++) best[j] = NAMED(pad)(op);
  for (int j = 0; j < WIDTH; j++) odd[j] = 0;
  for (int r = 0; r < CVL_REDUCE_BLOCK; r += WIDTH) {
    for (int j = 0; j < WIDTH; j++) best[j] = NAMED(compare)(op, x[r + j], best[j]);
    for (int j = 0; j < WIDTH; j++) odd[j] |= __builtin_isunordered(x[r + j], x[r + j]);
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

/* Returns the total of x[0 .. n) under an exact operation. The same lanes serve all blocks. */
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

#include "cvl-cpu/kernels/reduce-short.h"
#include "cvl/trees.h"

/* Reduces one segment of 1 <= n <= REDUCE_WHOLE elements. */
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
  for (uint64_t k = 0; k < count; k += GROUP) {
    const uint64_t *const o = offsets + k;
    ELEMENT_TYPE *const out = (ELEMENT_TYPE *)results + k;
    const int many = count - k < GROUP ? (int)(count - k) : GROUP;
    uint64_t longer;
    /* Rows pay unless most segments are longer than the longest row. */
    if (o[many] - o[0] <= (uint64_t)many * 16 ||
        __builtin_popcountll(longer_than(16, o, many)) <= many / 2) {
      longer = NAMED(short_ones)(op, x, o, many, out);
    } else {
      longer = longer_than(0, o, many);
      for (int i = 0; i < many; i++) out[i] = NAMED(identity)(op);
    }
    if (!longer) continue;
    const uint64_t very_long = longer & longer_than(CVL_REDUCE_BLOCK - 1, o, many);
    if (longer != very_long) NAMED(medium_ones)(op, x, o, longer & ~very_long, out);
    for (longer = very_long; longer; longer &= longer - 1) {
      const int i = __builtin_ctzll(longer);
      const uint64_t n = o[i + 1] - o[i];
      if (n <= REDUCE_WHOLE) out[i] = NAMED(segment)(blocks, x + o[i], n);
    }
  }
}

ALWAYS_INLINE void NAMED(lanes)(enum cvl_op op, void *lanes, const void *data, uint64_t n) {
  ELEMENT_TYPE *restrict lane = lanes;
  const ELEMENT_TYPE *restrict x = data;
  for (uint64_t i = 0; i < n; i++) lane[i] = NAMED(combine)(op, lane[i], x[i]);
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
  }                                                                                            \
  static void INSTANCE(equal, op)(const void *x, uint64_t n, uint64_t count, void *out) {      \
    NAMED(equal)(OP_##op, x, n, count, out);                                                   \
  }                                                                                            \
  static void INSTANCE(lanes, op)(void *lane, const void *x, uint64_t n) {                     \
    NAMED(lanes)(OP_##op, lane, x, n);                                                         \
  }
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(COMBINE_INSTANCES(op))
#include "tables/operations.def"
#undef COMBINE_INSTANCES
#undef INSTANCE
#undef WIDTH
#undef ROW
#undef NARROW
#undef REDUCE_FLOAT
