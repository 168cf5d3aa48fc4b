/* reduce-short.h - reduces short segments side by side. Included by reduce-elem.h, for one
 * element type.
 *
 * A masked load fills a row with the lanes of a short segment, padded, whatever its length is.
 * The rows of a group of segments lie one after the other. A row holds its lanes in
 * bit-reversed order. So each step of the tree, from half a row down to 1, combines neighbours,
 * and is the same plain loop over the whole group. Segments of up to a block join in after they
 * are folded to a row.
 */

#include "cvl/trees.h"

/* The lanes of a row: as many as fill 16 bytes where that is enough, else 64 bytes, else 16
 * lanes. */
#define NARROW ((int)(16 / sizeof(ELEMENT_TYPE)))
#define ROW    ((int)(sizeof(ELEMENT_TYPE) == 8 ? 8 : 16))

/* Sets row to the lanes of a segment at x that are in the mask; the others become pads. */
ALWAYS_INLINE void NAMED(load_row)(enum cvl_op op, const ELEMENT_TYPE *x, unsigned mask,
                                   int lanes, ELEMENT_TYPE *row) {
  const ELEMENT_TYPE pad = NAMED(pad)(op);
  const bool in_order = NAMED(exact)(op);
#ifdef ROWS_BY_MASK
  load_row_masked(sizeof pad, x, mask, lanes, &pad, in_order, row);
#else
  static const uint8_t reversed[] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  const ELEMENT_TYPE *const from = mask ? x : &pad; /* there may be no memory at x */
  for (int j = 0; j < lanes; j++) {
    const int lane = in_order ? j : reversed[j] * lanes / 16;
    const bool present = mask >> lane & 1;
    const ELEMENT_TYPE some = from[present ? lane : 0];
    row[j] = present ? some : pad;
  }
#endif
}

ALWAYS_INLINE void NAMED(fold_neighbours)(enum cvl_op op, int n,
                                          const ELEMENT_TYPE *restrict from,
                                          ELEMENT_TYPE *restrict to) {
  for (int i = 0; i < n; i++) to[i] = NAMED(combine)(op, from[2 * i], from[2 * i + 1]);
}

/* Folds each row in a to one element. b has room for half of a. Returns where the elements
 * are. */
ALWAYS_INLINE const ELEMENT_TYPE *NAMED(fold_rows)(enum cvl_op op, int lanes, int count,
                                                   ELEMENT_TYPE *a, ELEMENT_TYPE *b) {
  if (lanes == 16) {
    NAMED(fold_neighbours)(op, count * 8, a, b);
    NAMED(fold_neighbours)(op, count * 4, b, a);
    NAMED(fold_neighbours)(op, count * 2, a, b);
    NAMED(fold_neighbours)(op, count, b, a);
  } else if (lanes == 8) {
    NAMED(fold_neighbours)(op, count * 4, a, b);
    NAMED(fold_neighbours)(op, count * 2, b, a);
    NAMED(fold_neighbours)(op, count, a, b);
  } else if (lanes == 4) {
    NAMED(fold_neighbours)(op, count * 2, a, b);
    NAMED(fold_neighbours)(op, count, b, a);
  } else {
    NAMED(fold_neighbours)(op, count, a, b);
  }
  return lanes == 16 || lanes == 4 ? a : b;
}

/* Reduces `count` <= GROUP segments of at most `lanes` elements. Results for longer segments
 * are meaningless. */
ALWAYS_INLINE void NAMED(rows)(enum cvl_op op, int lanes, const ELEMENT_TYPE *x,
                               const uint64_t *offsets, int count, ELEMENT_TYPE *out) {
  ELEMENT_TYPE a[GROUP * 16], b[GROUP * 8];
  uint16_t mask[GROUP];
  row_masks(offsets, count, lanes, mask);
  for (int i = 0; i < count; i++) {
    NAMED(load_row)(op, x + offsets[i], mask[i], lanes, a + i * lanes);
  }
  const ELEMENT_TYPE *const folded = NAMED(fold_rows)(op, lanes, count, a, b);
  for (int i = 0; i < count; i++) {
    out[i] = offsets[i + 1] == offsets[i] ? NAMED(identity)(op) : folded[i];
  }
}

/* Reduces a group of segments, in rows as long as most of them need. Returns a mask of the
 * segments that were too long and left out. */
ALWAYS_INLINE uint64_t NAMED(short_ones)(enum cvl_op op, const ELEMENT_TYPE *x,
                                         const uint64_t *offsets, int count,
                                         ELEMENT_TYPE *out) {
  if (NARROW < ROW && longer_than(NARROW, offsets, count) == 0) {
    NAMED(rows)(op, NARROW, x, offsets, count, out);
    return 0;
  }
  const uint64_t longer = longer_than(ROW, offsets, count);
  if (ROW < 16 && __builtin_popcountll(longer) > GROUP / 8) {
    for (int i = 0; i < count; i += LONG_ROWS) {
      const int many = count - i < LONG_ROWS ? count - i : LONG_ROWS;
      NAMED(rows)(op, 16, x, offsets + i, many, out + i);
    }
    return longer_than(16, offsets, count);
  }
  NAMED(rows)(op, ROW, x, offsets, count, out);
  return longer;
}

/* Sets row to the lanes of x[0 .. n), n <= CVL_REDUCE_BLOCK, folded until they fit a row. */
ALWAYS_INLINE void NAMED(load_folded)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n,
                                      ELEMENT_TYPE *row) {
  ELEMENT_TYPE lane[WIDTH];
  for (int j = 0; j < WIDTH; j++) lane[j] = NAMED(pad)(op);
  NAMED(gather)(op, x, n, lane);
  for (int w = WIDTH / 2; w >= ROW; w /= 2) {
    ROLLED for (int j = 0; j < w; j++) lane[j] = NAMED(combine)(op, lane[j], lane[j + w]);
  }
  NAMED(load_row)(op, lane, (1U << ROW) - 1, ROW, row);
}

/* Reduces the segments of a group that are set in `which`, of at most CVL_REDUCE_BLOCK elements
 * each. The last steps of the tree are done side by side. */
ALWAYS_INLINE void NAMED(medium_ones)(enum cvl_op op, const ELEMENT_TYPE *x,
                                      const uint64_t *offsets, uint64_t which,
                                      ELEMENT_TYPE *out) {
  ELEMENT_TYPE a[GROUP * ROW], b[GROUP * ROW / 2];
  int count = 0;
  for (uint64_t left = which; left; left &= left - 1) {
    const int i = __builtin_ctzll(left);
    NAMED(load_folded)(op, x + offsets[i], offsets[i + 1] - offsets[i], a + count++ * ROW);
  }
  const ELEMENT_TYPE *folded = NAMED(fold_rows)(op, ROW, count, a, b);
  for (; which; which &= which - 1) out[__builtin_ctzll(which)] = *folded++;
}

/* Reduces x[k * n .. k * n + n), k < count. n <= REDUCE_EQUAL is a constant for the compiler,
 * which removes combinations with pads. */
ALWAYS_INLINE void NAMED(equal_of)(enum cvl_op op, int n, const ELEMENT_TYPE *restrict x,
                                   uint64_t count, ELEMENT_TYPE *restrict out) {
  for (uint64_t k = 0; k < count; k++) {
    ELEMENT_TYPE lane[REDUCE_EQUAL];
    for (int j = 0; j < n; j++) lane[j] = x[k * (uint64_t)n + (uint64_t)j];
    for (int j = 0; j + 4 < n; j++) lane[j] = NAMED(combine)(op, lane[j], lane[j + 4]);
    for (int j = 0; j < 2 && j + 2 < n; j++) lane[j] = NAMED(combine)(op, lane[j], lane[j + 2]);
    if (n > 1) lane[0] = NAMED(combine)(op, lane[0], lane[1]);
    out[k] = n > 0 ? lane[0] : NAMED(identity)(op);
  }
}

ALWAYS_INLINE void NAMED(equal)(enum cvl_op op, const void *data, uint64_t n, uint64_t count,
                                void *results) {
  switch (n) {
  case 0: NAMED(equal_of)(op, 0, data, count, results); break;
  case 1: NAMED(equal_of)(op, 1, data, count, results); break;
  case 2: NAMED(equal_of)(op, 2, data, count, results); break;
  case 3: NAMED(equal_of)(op, 3, data, count, results); break;
  case 4: NAMED(equal_of)(op, 4, data, count, results); break;
  case 5: NAMED(equal_of)(op, 5, data, count, results); break;
  case 6: NAMED(equal_of)(op, 6, data, count, results); break;
  case 7: NAMED(equal_of)(op, 7, data, count, results); break;
  default: NAMED(equal_of)(op, 8, data, count, results); break;
  }
}
