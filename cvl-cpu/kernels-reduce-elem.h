/* kernels-reduce-elem.h - the reductions of one element type; a part of kernels-reduce.c, which
 * includes it with CLASS, KIND and the widths defined.
 *
 * The tree is that of cvl.h. BOOL operations are exact, so there it is as wide as suits bytes.
 * Short segments are reduced side by side: lane g holds segment g, and the steps of the tree,
 * which depend only on the position in the segment, become whole-vector operations on
 * gathered elements, whatever the lengths are.
 */
#include "cvl-cpu/combine.h"

#define WIDTH ((int)(sizeof(ELEMENT_TYPE) == 1 ? 4 * CVL_REDUCE_LANES : CVL_REDUCE_LANES))

ALWAYS_INLINE ELEMENT_TYPE NAMED(fold)(enum cvl_op op, ELEMENT_TYPE *lane) {
  for (int w = WIDTH / 2; w >= 1; w /= 2) {
    for (int j = 0; j < w; j++) lane[j] = NAMED(combine)(op, lane[j], lane[j + w]);
  }
  return lane[0];
}

/* The total of one block of n <= CVL_REDUCE_BLOCK elements. */
ALWAYS_INLINE ELEMENT_TYPE NAMED(block)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n) {
  ELEMENT_TYPE lane[WIDTH];
  const uint64_t width = (uint64_t)WIDTH;
  for (int j = 0; j < WIDTH; j++) lane[j] = NAMED(pad)(op);
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
  return NAMED(fold)(op, lane);
}

ALWAYS_INLINE void NAMED(blocks)(enum cvl_op op, const void *data, uint64_t n, void *totals) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *y = totals;
  for (uint64_t b = 0; b < n; b += CVL_REDUCE_BLOCK) {
    *y++ = NAMED(block)(op, x + b, n - b < CVL_REDUCE_BLOCK ? n - b : CVL_REDUCE_BLOCK);
  }
}

/* GROUP segments, each of at most `most` elements, most a power of two up to GROUP_MOST. */
ALWAYS_INLINE void NAMED(side_by_side)(enum cvl_op op, int most, const ELEMENT_TYPE *x,
                                       const uint64_t *start, const uint64_t *length,
                                       ELEMENT_TYPE *out) {
  ELEMENT_TYPE lane[GROUP_MOST][GROUP];
  for (int j = 0; j < most; j++) {
    for (int g = 0; g < GROUP; g++) {
      lane[j][g] = (uint64_t)j < length[g] ? x[start[g] + (uint64_t)j] : NAMED(pad)(op);
    }
  }
  for (int w = most / 2; w >= 1; w /= 2) {
    for (int j = 0; j < w; j++) {
      for (int g = 0; g < GROUP; g++) {
        lane[j][g] = NAMED(combine)(op, lane[j][g], lane[j + w][g]);
      }
    }
  }
  for (int g = 0; g < GROUP; g++) out[g] = length[g] ? lane[0][g] : NAMED(identity)(op);
}

ALWAYS_INLINE void NAMED(segments)(enum cvl_op op, reduce_blocks *blocks, const void *data,
                                   const uint64_t *offsets, uint64_t count, void *results) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *out = results;
  for (uint64_t k = 0; k < count; k += GROUP) {
    const int many = count - k < GROUP ? (int)(count - k) : GROUP;
    uint64_t length[GROUP] = {0}, start[GROUP] = {0}, most = 0;
    if (many == GROUP) {
      for (int g = 0; g < GROUP; g++) {
        start[g] = offsets[k + (uint64_t)g];
        length[g] = offsets[k + (uint64_t)g + 1] - offsets[k + (uint64_t)g];
        most = length[g] > most ? length[g] : most;
      }
    } else {
      for (int g = 0; g < many; g++) {
        start[g] = offsets[k + (uint64_t)g];
        length[g] = offsets[k + (uint64_t)g + 1] - offsets[k + (uint64_t)g];
        most = length[g] > most ? length[g] : most;
      }
    }
    ELEMENT_TYPE result[GROUP];
    if (most <= 1) {
      NAMED(side_by_side)(op, 1, x, start, length, result);
    } else if (most <= 2) {
      NAMED(side_by_side)(op, 2, x, start, length, result);
    } else if (most <= 4) {
      NAMED(side_by_side)(op, 4, x, start, length, result);
    } else {
      NAMED(side_by_side)(op, GROUP_MOST, x, start, length, result);
      if (most > GROUP_MOST) {
        for (int g = 0; g < many; g++) {
          if (length[g] <= GROUP_MOST || length[g] > REDUCE_WHOLE) continue;
          ELEMENT_TYPE totals[REDUCE_WHOLE / CVL_REDUCE_BLOCK];
          blocks(x + start[g], length[g], totals);
          if (length[g] > CVL_REDUCE_BLOCK) {
            blocks(totals, (length[g] + CVL_REDUCE_BLOCK - 1) / CVL_REDUCE_BLOCK, totals);
          }
          result[g] = totals[0];
        }
      }
    }
    memcpy(out + k, result, (size_t)many * sizeof *out);
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
