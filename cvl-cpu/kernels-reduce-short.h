/* kernels-reduce-short.h - short segments reduced side by side; a part of
 * kernels-reduce-elem.h, for one element type.
 *
 * The lanes of a short segment fill a row of ROW elements, padded, by one masked load whatever
 * its length is; the rows of a group of segments lie one after the other. A row holds its lanes
 * in bit-reversed order: then each step of the tree, from ROW / 2 down to 1, combines
 * neighbours, and is the same plain loop over the whole group.
 */
#define ROW ((int)(sizeof(ELEMENT_TYPE) == 8 ? 8 : 16))

/* row = the lanes of x[0 .. n), in their own order if `in_order`; n may exceed ROW. */
ALWAYS_INLINE void NAMED(load_row)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n,
                                   ELEMENT_TYPE *row) {
  const ELEMENT_TYPE pad = NAMED(pad)(op);
  const bool in_order = NAMED(exact)(op);
#ifdef ROWS_BY_MASK
  load_row_masked(sizeof pad, x, n, &pad, in_order, row);
#else
  static const uint8_t reversed[] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  const ELEMENT_TYPE *const from = n ? x : &pad; /* there may be no memory at x */
  for (int j = 0; j < ROW; j++) {
    const uint64_t lane = (uint64_t)(in_order ? j : ROW == 16 ? reversed[j] : reversed[j] / 2);
    const ELEMENT_TYPE some = from[lane < n ? lane : 0];
    row[j] = lane < n ? some : pad;
  }
#endif
}

ALWAYS_INLINE void NAMED(fold_neighbours)(enum cvl_op op, int n,
                                          const ELEMENT_TYPE *restrict from,
                                          ELEMENT_TYPE *restrict to) {
  for (int i = 0; i < n; i++) to[i] = NAMED(combine)(op, from[2 * i], from[2 * i + 1]);
}

/* The reductions of `count` <= GROUP segments; those longer than ROW are left out and their
 * numbers put into `longer`. Returns how many they are. */
ALWAYS_INLINE int NAMED(rows)(enum cvl_op op, const ELEMENT_TYPE *x, const uint64_t *offsets,
                              int count, ELEMENT_TYPE *out, uint8_t *longer) {
  ELEMENT_TYPE a[GROUP * ROW], b[GROUP * ROW / 2];
  int many = 0;
  for (int i = 0; i < count; i++) {
    const uint64_t n = offsets[i + 1] - offsets[i];
    NAMED(load_row)(op, x + offsets[i], n, a + i * ROW);
    longer[many] = (uint8_t)i;
    many += n > ROW;
  }
  if (ROW == 16) {
    NAMED(fold_neighbours)(op, count * 8, a, b);
    memcpy(a, b, (size_t)count * 8 * sizeof *a);
  }
  NAMED(fold_neighbours)(op, count * 4, a, b);
  NAMED(fold_neighbours)(op, count * 2, b, a);
  NAMED(fold_neighbours)(op, count, a, b);
  for (int i = 0; i < count; i++) {
    out[i] = offsets[i + 1] == offsets[i] ? NAMED(identity)(op) : b[i];
  }
  return many;
}

/* The reductions of x[k * n .. k * n + n), k < count, with n <= REDUCE_EQUAL known to the
 * compiler: what would combine with a pad is left out. */
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
