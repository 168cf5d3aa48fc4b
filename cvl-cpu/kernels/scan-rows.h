/* scan-rows.h - rows of CVL_SCAN_ROW elements of one type in registers. Included by
 * scan-elem.h.
 *
 * A row is one register if the instruction set has one of that size, else a few. Explicit
 * shuffles move elements between the lanes of a row. The table's scalar expressions become a
 * loop over the eight elements. The compiler turns it into operations of whole registers,
 * conditions included, but only if it sees a loop: unrolled, it would stay scalar.
 */

#include "cvl/trees.h"
#undef LANES
#if VECTOR_BYTES * 8 / INT_BITS >= 8
#define LANES 8
#else
#define LANES (VECTOR_BYTES * 8 / INT_BITS)
#endif

typedef ELEMENT_TYPE NAMED(lanes)
    __attribute__((vector_size(LANES * sizeof(ELEMENT_TYPE)), aligned(sizeof(ELEMENT_TYPE))));

/* The bits of the elements, as integers. */
typedef TYPE_I NAMED(bits) __attribute__((vector_size(LANES * sizeof(TYPE_I))));

struct NAMED(row) {
  NAMED(lanes) reg[CVL_SCAN_ROW / LANES];
};

ALWAYS_INLINE struct NAMED(row) NAMED(load)(const ELEMENT_TYPE *x) {
  struct NAMED(row) r;
  for (int i = 0; i < CVL_SCAN_ROW / LANES; i++) {
    memcpy(&r.reg[i], x + i * LANES, sizeof r.reg[i]);
  }
  return r;
}

ALWAYS_INLINE void NAMED(store)(ELEMENT_TYPE *to, struct NAMED(row) r) {
  for (int i = 0; i < CVL_SCAN_ROW / LANES; i++) {
    memcpy(to + i * LANES, &r.reg[i], sizeof r.reg[i]);
  }
}

/* Returns a row with x in every lane. */
ALWAYS_INLINE struct NAMED(row) NAMED(spread)(ELEMENT_TYPE x) {
  struct NAMED(row) r;
  ELEMENT_TYPE a[LANES];
  ROLLED for (int j = 0; j < LANES; j++) a[j] = x;
  for (int i = 0; i < CVL_SCAN_ROW / LANES; i++) memcpy(&r.reg[i], a, sizeof a);
  return r;
}

/* Returns the first n elements, followed by zeros if that is less than a row. Nothing behind
 * them is read, since another thread may be writing there. */
ALWAYS_INLINE struct NAMED(row) NAMED(load_some)(const ELEMENT_TYPE *x, uint64_t n) {
  if (n >= CVL_SCAN_ROW) return NAMED(load)(x);
  ELEMENT_TYPE a[CVL_SCAN_ROW] = {0};
  for (uint64_t j = 0; j < n; j++) a[j] = x[j];
  return NAMED(load)(a);
}

/* Returns the last s lanes of `low`, followed by the first ones of `high`; 0 < s < LANES. */
ALWAYS_INLINE NAMED(lanes) NAMED(join)(NAMED(lanes) low, NAMED(lanes) high, int s) {
#if LANES == 8
  if (s == 4) return __builtin_shufflevector(low, high, 4, 5, 6, 7, 8, 9, 10, 11);
  if (s == 2) return __builtin_shufflevector(low, high, 6, 7, 8, 9, 10, 11, 12, 13);
  return __builtin_shufflevector(low, high, 7, 8, 9, 10, 11, 12, 13, 14);
#elif LANES == 4
  if (s == 2) return __builtin_shufflevector(low, high, 2, 3, 4, 5);
  return __builtin_shufflevector(low, high, 3, 4, 5, 6);
#else
  (void)s;
  return __builtin_shufflevector(low, high, 1, 2);
#endif
}

/* Returns the elements s = 1, 2 or 4 lanes before those of r; `before` is the row before r. */
ALWAYS_INLINE struct NAMED(row)
    NAMED(back)(struct NAMED(row) before, struct NAMED(row) r, int s) {
  enum { REGISTERS = CVL_SCAN_ROW / LANES };
  struct NAMED(row) result;
  for (int i = 0; i < REGISTERS; i++) {
    const int from = REGISTERS + i - s / LANES; /* counted from the first register of before */
    const NAMED(lanes) high = from < REGISTERS ? before.reg[from] : r.reg[from - REGISTERS];
    const int to_left = s % LANES ? from - 1 : from;
    const NAMED(lanes) low =
        to_left < REGISTERS ? before.reg[to_left] : r.reg[to_left - REGISTERS];
    result.reg[i] = s % LANES ? NAMED(join)(low, high, s % LANES) : high;
  }
  return result;
}

/* Returns a row with the last element of r in every lane. */
ALWAYS_INLINE struct NAMED(row) NAMED(spread_last)(struct NAMED(row) r) {
  const NAMED(lanes) last = r.reg[CVL_SCAN_ROW / LANES - 1];
  for (int i = 0; i < CVL_SCAN_ROW / LANES; i++) {
#if LANES == 8
    r.reg[i] = __builtin_shufflevector(last, last, 7, 7, 7, 7, 7, 7, 7, 7);
#elif LANES == 4
    r.reg[i] = __builtin_shufflevector(last, last, 3, 3, 3, 3);
#else
    r.reg[i] = __builtin_shufflevector(last, last, 1, 1);
#endif
  }
  return r;
}

/* Returns the combination of x and y, lane by lane. */
ALWAYS_INLINE struct NAMED(row)
    NAMED(combine_rows)(enum cvl_op op, struct NAMED(row) x, struct NAMED(row) y) {
  for (int i = 0; i < CVL_SCAN_ROW / LANES; i++) {
    ELEMENT_TYPE a[LANES], b[LANES];
    memcpy(a, &x.reg[i], sizeof a);
    memcpy(b, &y.reg[i], sizeof b);
    ROLLED for (int j = 0; j < LANES; j++) a[j] = NAMED(combine)(op, a[j], b[j]);
    memcpy(&x.reg[i], a, sizeof a);
  }
  return x;
}

/* Returns x in the lanes whose bit is set in the mask, and y in the others. */
ALWAYS_INLINE struct NAMED(row)
    NAMED(choose)(unsigned mask, struct NAMED(row) x, struct NAMED(row) y) {
#if defined(__AVX512VL__) && INT_BITS == 64
  x.reg[0] = (NAMED(lanes))_mm512_mask_blend_epi64((__mmask8)mask, (__m512i)y.reg[0],
                                                   (__m512i)x.reg[0]);
#elif defined(__AVX512VL__)
  x.reg[0] = (NAMED(lanes))_mm256_mask_blend_epi32((__mmask8)mask, (__m256i)y.reg[0],
                                                   (__m256i)x.reg[0]);
#else
  for (int i = 0; i < CVL_SCAN_ROW / LANES; i++) {
    NAMED(bits) lane = {0}, m = {0}; /* gcc does not see that the loop fills them */
    for (int j = 0; j < LANES; j++) {
      lane[j] = (TYPE_I)1 << (i * LANES + j);
      m[j] = (TYPE_I)mask;
    }
    m = (NAMED(bits))((m & lane) == lane);
    x.reg[i] = (NAMED(lanes))(((NAMED(bits))x.reg[i] & m) | ((NAMED(bits))y.reg[i] & ~m));
  }
#endif
  return x;
}

/* Takes a step of Kogge and Stone within a row, with the elements s lanes before. */
ALWAYS_INLINE struct NAMED(row) NAMED(step)(enum cvl_op op, struct NAMED(row) r, int s) {
  return NAMED(combine_rows)(op, NAMED(back)(NAMED(spread)(NAMED(pad)(op)), r, s), r);
}
