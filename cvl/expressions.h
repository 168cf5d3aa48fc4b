/* expressions.h - macros and types for the expressions of tables/operations.def, for one
 * choice of widths. A file that turns rows of that table into C code defines
 *
 *     INT_BITS    32 or 64, the width of INT
 *     FLOAT_BITS  32 or 64, the width of FLOAT
 *
 * and includes this file, again with other widths if it likes. This file then defines
 *
 *     TYPE_I   TYPE_F   TYPE_B     the C types of the classes I, F and B
 *     ELEM_I   ELEM_F   ELEM_B     their enum cvl_elem
 *     SUFFIX_I SUFFIX_F SUFFIX_B   i32, f64, bool ... for the names of functions
 *     U WRAP BITS INT_LEAST INT_MOST TO_INT REAL INFINITE MATH    as operations.def says
 *
 * A kernel file that defines a function for each unary row (floor_f64 ...):
 *
 *     #define INT_BITS   32
 *     #define FLOAT_BITS 64
 *     #include "cvl/expressions.h"
 *     #define PASTE(a, b)  a##_##b
 *     #define NAME(a, b)   PASTE(a, b)      // expands b first
 *     #define UNARY(op, in, out, expression)                                              \
 *       static void NAME(op, SUFFIX_##in)(const TYPE_##in *a, TYPE_##out *r, size_t n) {  \
 *         for (size_t i = 0; i < n; i++) {                                                \
 *           const TYPE_##in x = a[i];                                                     \
 *           r[i] = (TYPE_##out)(expression);                                              \
 *         }                                                                               \
 *       }
 *     #include "tables/operations.def"
 *
 * The row macros must be defined after this file, which reads the table itself, and
 * operations.def undefines them. The cast is needed, since BOOL arithmetic happens in int. An
 * expression uses its operands several times, so x, y and f must be plain variables. Rows from
 * F to F and from B to B do not depend on INT_BITS, and most others do not depend on
 * FLOAT_BITS. Code that instantiates all four pairs, but wants each function once, must leave
 * some out. MATH(sin, x), cos and tan contain a branch and therefore do not vectorise.
 * elementary.h has loops over arrays that do, with the same bits.
 */
#ifndef RAVEL_EXPRESSIONS_H
#define RAVEL_EXPRESSIONS_H

#include "cvl/elementary.h"
#include "tables/tables.h"

/* Converts FLOAT to INT. A number that does not fit, or a NaN, is first replaced by the least
 * INT, so the conversion is defined in C and needs no branch. The bounds are exact in either
 * width. A number that fits is an integer already. 0 is added because GCC (12,
 * -fno-trapping-math) turns a conversion there and back into a truncation, which would give -0
 * for numbers in (-1, -0]. */
#ifdef __CUDACC__
#define RAVEL_INLINE static inline __host__ __device__
#else
#define RAVEL_INLINE static inline
#endif
#define RAVEL_TO_INT(name, in, out, least)                                                     \
  RAVEL_INLINE out name(in x) {                                                                \
    return (out)(x >= (least) && x < -(least) ? x + 0 : (least));                              \
  }
RAVEL_TO_INT(ravel_to_i32_f64, double, int32_t, -0x1p31)
RAVEL_TO_INT(ravel_to_i64_f64, double, int64_t, -0x1p63)
RAVEL_TO_INT(ravel_to_i32_f32, float, int32_t, -0x1p31f)
RAVEL_TO_INT(ravel_to_i64_f32, float, int64_t, -0x1p63f)
#undef RAVEL_TO_INT
#undef RAVEL_INLINE

#endif

#undef TYPE_I
#undef TYPE_F
#undef TYPE_B
#undef ELEM_I
#undef ELEM_F
#undef ELEM_B
#undef SUFFIX_I
#undef SUFFIX_F
#undef SUFFIX_B
#undef U
#undef WRAP
#undef BITS
#undef INT_LEAST
#undef INT_MOST
#undef TO_INT
#undef REAL
#undef INFINITE
#undef MATH

#define TYPE_B   uint8_t
#define ELEM_B   CVL_BOOL
#define SUFFIX_B bool

#if INT_BITS == 32
#define TYPE_I    int32_t
#define ELEM_I    CVL_I32
#define SUFFIX_I  i32
#define U(x)      ((uint32_t)(x))
#define INT_LEAST INT32_MIN
#define INT_MOST  INT32_MAX
#elif INT_BITS == 64
#define TYPE_I    int64_t
#define ELEM_I    CVL_I64
#define SUFFIX_I  i64
#define U(x)      ((uint64_t)(x))
#define INT_LEAST INT64_MIN
#define INT_MOST  INT64_MAX
#else
#error "INT_BITS must be 32 or 64"
#endif
#define BITS    INT_BITS
#define WRAP(u) ((TYPE_I)(u))

#if FLOAT_BITS == 32
#define TYPE_F      float
#define ELEM_F      CVL_F32
#define SUFFIX_F    f32
#define MATH(fn, x) ravel_##fn##_f32(x)
#elif FLOAT_BITS == 64
#define TYPE_F      double
#define ELEM_F      CVL_F64
#define SUFFIX_F    f64
#define MATH(fn, x) ravel_##fn##_f64(x)
#else
#error "FLOAT_BITS must be 32 or 64"
#endif
#define REAL(c)  ((TYPE_F)(c))
#define INFINITE ((TYPE_F)INFINITY)

#if INT_BITS == 32 && FLOAT_BITS == 32
#define TO_INT(x) ravel_to_i32_f32(x)
#elif INT_BITS == 32
#define TO_INT(x) ravel_to_i32_f64(x)
#elif FLOAT_BITS == 32
#define TO_INT(x) ravel_to_i64_f32(x)
#else
#define TO_INT(x) ravel_to_i64_f64(x)
#endif
