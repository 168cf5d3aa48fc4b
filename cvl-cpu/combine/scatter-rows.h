/* scatter-rows.h - combines values with what a destination holds, for the rows of one element
 * type whose results are the same in any order; see types.h.
 */
#include "cvl-cpu/combine/combine.h"

/* n <= SCATTER_STEP. If there are several ranges, the elements of this one are copied first,
 * because a branch on that would be unpredictable. */
ALWAYS_INLINE void NAMED(accumulate_all)(enum cvl_op op, uint64_t n, const ELEMENT_TYPE *v,
                                         uint64_t step, const uint64_t *at, uint64_t low,
                                         uint64_t high, ELEMENT_TYPE *out) {
  if (high == NOWHERE) {
    for (uint64_t i = 0; i < n; i++) out[at[i]] = NAMED(combine)(op, out[at[i]], v[i * step]);
    return;
  }
  uint64_t to[SCATTER_STEP], count = 0;
  ELEMENT_TYPE values[SCATTER_STEP];
  for (uint64_t i = 0; i < n; i++) {
    to[count] = at[i];
    values[count] = v[i * step];
    count += at[i] - low < high - low;
  }
  for (uint64_t i = 0; i < count; i++) out[to[i]] = NAMED(combine)(op, out[to[i]], values[i]);
}

#define COMBINE(op, row, identity_of, pad_of, exact_of, text)                                  \
  COMBINE_OF_CLASS(row)                                                                        \
  (                                                                                            \
      static void COMBINE_EXPAND_NAME(accumulate_##op, KIND)(                                  \
          uint64_t n, const void *v, uint64_t step, const uint64_t *at, uint64_t low,          \
          uint64_t high, void *out) {                                                          \
        NAMED(accumulate_all)(OP_##op, n, v, step, at, low, high, out);                        \
      } static void COMBINE_EXPAND_NAME(merge_##op, KIND)(uint64_t n, const void *x,           \
                                                          void *out) {                         \
        ELEMENT_TYPE *r = out;                                                                 \
        const ELEMENT_TYPE *a = x;                                                             \
        for (uint64_t i = 0; i < n; i++) r[i] = NAMED(combine)(OP_##op, r[i], a[i]);           \
      } static void COMBINE_EXPAND_NAME(clear_##op, KIND)(uint64_t n, void *out) {             \
        ELEMENT_TYPE *r = out;                                                                 \
        for (uint64_t i = 0; i < n; i++) r[i] = NAMED(pad)(OP_##op);                           \
      })
#include "tables/operations.def"
