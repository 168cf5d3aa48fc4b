/* map-rows.h - the loops of map.c for one pair of widths, INT_BITS and FLOAT_BITS. It is
 * included for each pair. A row that uses only one of the widths is instantiated where both are
 * equal; a row that uses neither is instantiated once.
 */
#include "cvl/expressions.h"

/* LOOPS_xy(text) is the text if rows from class x to class y are instantiated for this pair. */
#if INT_BITS == FLOAT_BITS
#define LOOPS_II(...) __VA_ARGS__
#define LOOPS_IB(...) __VA_ARGS__
#define LOOPS_BI(...) __VA_ARGS__
#define LOOPS_FF(...) __VA_ARGS__
#define LOOPS_FB(...) __VA_ARGS__
#else
#define LOOPS_II(...)
#define LOOPS_IB(...)
#define LOOPS_BI(...)
#define LOOPS_FF(...)
#define LOOPS_FB(...)
#endif
#define LOOPS_IF(...) __VA_ARGS__
#define LOOPS_FI(...) __VA_ARGS__
#if INT_BITS == 64 && FLOAT_BITS == 64
#define LOOPS_BB(...) __VA_ARGS__
#else
#define LOOPS_BB(...)
#endif

#define LOOP_HEAD(op, in, out)                                                                 \
  static uint64_t ROW_NAME(op, in, out)(uint64_t n, const void *const *from, void *to)

#define UNARY(op, in, out, expression)                                                         \
  LOOPS_##in##out(LOOP_HEAD(op, in, out) {                                                     \
    const TYPE_##in *a = from[0];                                                              \
    TYPE_##out *r = to;                                                                        \
    if (ARRAY_##in##out(op, a, r, n)) return n;                                                \
    INDEPENDENT for (uint64_t i = 0; i < n; i++) {                                             \
      const TYPE_##in x = a[i];                                                                \
      r[i] = (TYPE_##out)(expression);                                                         \
    }                                                                                          \
    return n;                                                                                  \
  })
#define BINARY(op, in, out, expression)                                                        \
  LOOPS_##in##out(LOOP_HEAD(op, in, out) {                                                     \
    const TYPE_##in *a = from[0], *b = from[1];                                                \
    TYPE_##out *r = to;                                                                        \
    INDEPENDENT for (uint64_t i = 0; i < n; i++) {                                             \
      const TYPE_##in x = a[i], y = b[i];                                                      \
      r[i] = (TYPE_##out)(expression);                                                         \
    }                                                                                          \
    return n;                                                                                  \
  })
/* A loop without exit first tests the condition for all elements. */
#define CHECKED(op, in, out, condition, error, expression)                                     \
  LOOPS_##in##out(LOOP_HEAD(op, in, out) {                                                     \
    const TYPE_##in *a = from[0], *b = from[1];                                                \
    TYPE_##out *r = to;                                                                        \
    unsigned faults = 0;                                                                       \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      const TYPE_##in x = a[i], y = b[i];                                                      \
      (void)x, (void)y;                                                                        \
      faults |= !(condition);                                                                  \
    }                                                                                          \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      const TYPE_##in x = a[i], y = b[i];                                                      \
      if (faults && !(condition)) return i;                                                    \
      r[i] = (TYPE_##out)(expression);                                                         \
    }                                                                                          \
    return n;                                                                                  \
  })
#define SELECT(op, in, out, expression)                                                        \
  LOOPS_##in##out(LOOP_HEAD(op, in, out) {                                                     \
    const uint8_t *flags = from[0];                                                            \
    const TYPE_##in *a = from[1], *b = from[2];                                                \
    TYPE_##out *r = to;                                                                        \
    INDEPENDENT for (uint64_t i = 0; i < n; i++) {                                             \
      const uint8_t f = flags[i];                                                              \
      const TYPE_##in x = a[i], y = b[i];                                                      \
      r[i] = (TYPE_##out)(expression);                                                         \
    }                                                                                          \
    return n;                                                                                  \
  })

#include "tables/operations.def"

#undef LOOPS_II
#undef LOOPS_IB
#undef LOOPS_BI
#undef LOOPS_FF
#undef LOOPS_FB
#undef LOOPS_IF
#undef LOOPS_FI
#undef LOOPS_BB
#undef LOOP_HEAD
