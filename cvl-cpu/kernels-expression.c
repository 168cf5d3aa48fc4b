/* kernels-expression.c - see kernels-expression.h. An operation is dispatched once for a block
 * of positions: eight vectors of the set, or four where there are 16 registers. The remaining
 * positions are taken a vector at a time, and then one at a time, by the same macros. */
#include "cvl-cpu/kernels-expression.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cvl-cpu/kernels.h"

#define ONE(do, op, kind, r)                                                                   \
  do (0, op, kind, r)
#define FOUR(do, op, kind, r)                                                                  \
  do (0, op, kind, r) do(1, op, kind, r) do(2, op, kind, r) do(3, op, kind, r)
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define VECTORS      8
#define MANY(do, op, kind, r)                                                                  \
  FOUR(do, op, kind, r)                                                                        \
  do (4, op, kind, r) do(5, op, kind, r) do(6, op, kind, r) do(7, op, kind, r)
#define SQRT_f32(x) (lanes_f32) _mm512_sqrt_ps((__m512)(x))
#define SQRT_f64(x) (lanes_f64) _mm512_sqrt_pd((__m512d)(x))
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#define VECTORS      4
#define MANY         FOUR
#define SQRT_f32(x)  (lanes_f32) _mm256_sqrt_ps((__m256)(x))
#define SQRT_f64(x)  (lanes_f64) _mm256_sqrt_pd((__m256d)(x))
#else
#define VECTOR_BYTES 16
#define VECTORS      4
#define MANY         FOUR
#if defined(__SSE2__)
#define SQRT_f32(x) (lanes_f32) _mm_sqrt_ps((__m128)(x))
#define SQRT_f64(x) (lanes_f64) _mm_sqrt_pd((__m128d)(x))
#endif
#endif

/* ---- what differs between vectors and single elements ---- */

/* sqrt_..., flags_..._to: a vector of truth as 0 and 1; chosen_...: x where flags are 1. */
#define LANES(suffix, type, ints)                                                              \
  typedef type __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias))    \
  lanes_##suffix;                                                                              \
  typedef ints __attribute__((vector_size(VECTOR_BYTES))) masks_##suffix;                      \
  typedef int8_t __attribute__((vector_size(VECTOR_BYTES / sizeof(type)))) flags_##suffix;     \
  static inline __attribute__((always_inline)) void put_lanes_##suffix(                        \
      uint8_t *to, unsigned i, masks_##suffix mask) {                                          \
    const flags_##suffix f = -__builtin_convertvector(mask, flags_##suffix);                   \
    memcpy(to + i * sizeof f, &f, sizeof f);                                                   \
  }                                                                                            \
  static inline __attribute__((always_inline)) lanes_##suffix chosen_lanes_##suffix(           \
      const uint8_t *flags, unsigned i, lanes_##suffix x, lanes_##suffix y) {                  \
    flags_##suffix f;                                                                          \
    memcpy(&f, flags + i * sizeof f, sizeof f);                                                \
    const masks_##suffix mask = __builtin_convertvector(-f, masks_##suffix);                   \
    return (lanes_##suffix)((mask & (masks_##suffix)x) | (~mask & (masks_##suffix)y));         \
  }                                                                                            \
  static inline __attribute__((always_inline)) void put_one_##suffix(uint8_t *to, unsigned i,  \
                                                                     int truth) {              \
    to[i] = (uint8_t)truth;                                                                    \
  }                                                                                            \
  static inline __attribute__((always_inline))                                                 \
  type chosen_one_##suffix(const uint8_t *flags, unsigned i, type x, type y) {                 \
    return flags[i] ? x : y;                                                                   \
  }
LANES(f32, float, int32_t)
LANES(f64, double, int64_t)

static inline float sqrt_one_f32(float x) {
  return __builtin_sqrtf(x);
}
static inline double sqrt_one_f64(double x) {
  return __builtin_sqrt(x);
}

#define SQRT_LANES(suffix)                                                                     \
  static inline __attribute__((always_inline))                                                 \
  lanes_##suffix sqrt_lanes_##suffix(lanes_##suffix x) {                                       \
    return SQRT_##suffix(x);                                                                   \
  }
#if defined(SQRT_f64)
SQRT_LANES(f32)
SQRT_LANES(f64)
#else
#define SQRT_EACH(suffix)                                                                      \
  static inline lanes_##suffix sqrt_lanes_##suffix(lanes_##suffix x) {                         \
    for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++) x[i] = sqrt_one_##suffix(x[i]);      \
    return x;                                                                                  \
  }
SQRT_EACH(f32)
SQRT_EACH(f64)
#endif

/* ---- operations ---- */

/* r, an accumulator; x; number i of the block's vectors, of this kind. */
#define DO_LOAD(r, x, i, kind)    r = x
#define DO_ADD(r, x, i, kind)     r = r + x
#define DO_SUB(r, x, i, kind)     r = r - x
#define DO_RSUB(r, x, i, kind)    r = x - r
#define DO_MUL(r, x, i, kind)     r = r * x
#define DO_DIV(r, x, i, kind)     r = r / x
#define DO_RDIV(r, x, i, kind)    r = x / r
#define DO_SELECT(r, x, i, kind)  r = chosen_##kind(flags, i, r, x)
#define DO_RSELECT(r, x, i, kind) r = chosen_##kind(flags, i, x, r)
#define DO_LT(r, x, i, kind)      put_##kind(truths, i, r < x)
#define DO_LE(r, x, i, kind)      put_##kind(truths, i, r <= x)
#define DO_GT(r, x, i, kind)      put_##kind(truths, i, r > x)
#define DO_GE(r, x, i, kind)      put_##kind(truths, i, r >= x)
#define DO_EQ(r, x, i, kind)      put_##kind(truths, i, r == x)
#define DO_NE(r, x, i, kind)      put_##kind(truths, i, r != x)

/* Number i of the accumulators' vectors. */
#define DECLARE(i, op, kind, r)     vec a##i = none, b##i = none;
#define FROM_VECTOR(i, op, kind, r) DO_##op(r##i, x[i], i, kind);
#define FROM_ONE(i, op, kind, r)    DO_##op(r##i, (*from - none), i, kind);
#define FROM_B(i, op, kind, r)      DO_##op(r##i, b##i, i, kind);
#define SQRT(i, op, kind, r)        r##i = sqrt_##kind(r##i);
#define SQUARE(i, op, kind, r)      r##i = r##i * r##i;
#define STORE(i, op, kind, r)       to[i] = r##i;

#define CASE(op, form, each, from, kind, r)                                                    \
  case EXPRESSION_##op + EXPRESSION_CODES *EXPRESSION_##form:                                  \
    each(from, op, kind, r) break;
#define CASES(op, each, kind)                                                                  \
  CASE(op, A_VECTOR, each, FROM_VECTOR, kind, a)                                               \
  CASE(op, A_ONE, each, FROM_ONE, kind, a)                                                     \
  CASE(op, B_VECTOR, each, FROM_VECTOR, kind, b)                                               \
  CASE(op, B_ONE, each, FROM_ONE, kind, b)                                                     \
  CASE(op, A_B, each, FROM_B, kind, a)
#define ALONE(op, each, kind)                                                                  \
  CASE(op, A_VECTOR, each, op, kind, a)                                                        \
  CASE(op, B_VECTOR, each, op, kind, b)

/* Executes the program for a block of positions, from `at` on. A single element minus 0 is
 * itself in all lanes, also if it is -0. */
#define BLOCK(name, type, vector, kind, each)                                                  \
  static inline void name(uint64_t at, const struct expression_op *ops, uint32_t count) {      \
    typedef vector vec;                                                                        \
    const vec none = {0};                                                                      \
    each(DECLARE, , , ) for (uint32_t i = 0; i < count; i++) {                                 \
      const type *from = ops[i].x;                                                             \
      const vec *x = (const vec *)(const void *)(from + at);                                   \
      const uint8_t *flags = ops[i].flags + at;                                                \
      uint8_t *truths = (uint8_t *)ops[i].to + at;                                             \
      vec *to = (vec *)(void *)((type *)ops[i].to + at);                                       \
      switch (ops[i].what) {                                                                   \
        CASES(LOAD, each, kind)                                                                \
        CASES(ADD, each, kind)                                                                 \
        CASES(SUB, each, kind)                                                                 \
        CASES(RSUB, each, kind)                                                                \
        CASES(MUL, each, kind)                                                                 \
        CASES(DIV, each, kind)                                                                 \
        CASES(RDIV, each, kind)                                                                \
        CASES(SELECT, each, kind)                                                              \
        CASES(RSELECT, each, kind)                                                             \
        CASES(LT, each, kind)                                                                  \
        CASES(LE, each, kind)                                                                  \
        CASES(GT, each, kind)                                                                  \
        CASES(GE, each, kind)                                                                  \
        CASES(EQ, each, kind)                                                                  \
        CASES(NE, each, kind)                                                                  \
        ALONE(SQRT, each, kind)                                                                \
        ALONE(SQUARE, each, kind)                                                              \
        ALONE(STORE, each, kind)                                                               \
      default: break;                                                                          \
      }                                                                                        \
    }                                                                                          \
  }

#define EXPRESSION(suffix, type)                                                               \
  BLOCK(many_##suffix, type, lanes_##suffix, lanes_##suffix, MANY)                             \
  BLOCK(vector_##suffix, type, lanes_##suffix, lanes_##suffix, ONE)                            \
  BLOCK(one_##suffix, type, type, one_##suffix, ONE)                                           \
  static void expression_##suffix(uint64_t n, const struct expression_op *ops,                 \
                                  uint32_t count) {                                            \
    const uint64_t lanes = VECTOR_BYTES / sizeof(type);                                        \
    uint64_t at = 0;                                                                           \
    for (; n - at >= VECTORS * lanes; at += VECTORS * lanes) many_##suffix(at, ops, count);    \
    for (; n - at >= lanes; at += lanes) vector_##suffix(at, ops, count);                      \
    for (; at < n; at++) one_##suffix(at, ops, count);                                         \
  }
EXPRESSION(f32, float)
EXPRESSION(f64, double)

const struct expression_kernels KERNEL(expression_kernels) = {expression_f32, expression_f64};
