/* map.c - elementwise kernels, made from operations.def.
 *
 * The loops are plain, and the compiler vectorises them for the set. Functions of elementary.h
 * with branches would not vectorise, so all of them use forms for arrays, which are listed
 * here.
 */
#include "cvl-cpu/kernels/map.h"
#include "cvl/cvl.h"
#include "cvl/elementary.h"

/* The name of a kernel, map_ADD_i64_i64 ...: operation, element of the operands and of the
 * result. */
#define ROW_PASTE(op, in, out)  map_##op##_##in##_##out
#define ROW_EXPAND(op, in, out) ROW_PASTE(op, in, out)
#define ROW_NAME(op, in, out)   ROW_EXPAND(op, SUFFIX_##in, SUFFIX_##out)

/* Whether op is a function with a form for arrays. If so, it has filled r. */
#define ARRAY_FORMS(type, suffix)                                                              \
  static inline __attribute__((always_inline)) bool array_##suffix(                            \
      enum cvl_op op, const type *a, type *r, uint64_t n) {                                    \
    switch ((int)op) {                                                                         \
    case OP_EXP: elementary_exp_##suffix(a, r, n); return true;                                \
    case OP_LOG: elementary_log_##suffix(a, r, n); return true;                                \
    case OP_SIN: elementary_sin_##suffix(a, r, n); return true;                                \
    case OP_COS: elementary_cos_##suffix(a, r, n); return true;                                \
    case OP_TAN: elementary_tan_##suffix(a, r, n); return true;                                \
    case OP_ASIN: elementary_asin_##suffix(a, r, n); return true;                              \
    case OP_ACOS: elementary_acos_##suffix(a, r, n); return true;                              \
    case OP_ATAN: elementary_atan_##suffix(a, r, n); return true;                              \
    case OP_SINH: elementary_sinh_##suffix(a, r, n); return true;                              \
    case OP_COSH: elementary_cosh_##suffix(a, r, n); return true;                              \
    case OP_TANH: elementary_tanh_##suffix(a, r, n); return true;                              \
    default: return false;                                                                     \
    }                                                                                          \
  }
ARRAY_FORMS(float, f32)
ARRAY_FORMS(double, f64)
#define ARRAY_PASTE(suffix)   array_##suffix
#define ARRAY_OF(suffix)      ARRAY_PASTE(suffix)
#define ARRAY_FF(op, a, r, n) ARRAY_OF(SUFFIX_F)(OP_##op, a, r, n)
#define ARRAY_FI(op, a, r, n) false
#define ARRAY_IF(op, a, r, n) false
#define ARRAY_II(op, a, r, n) false
#define ARRAY_IB(op, a, r, n) false
#define ARRAY_BI(op, a, r, n) false
#define ARRAY_BB(op, a, r, n) false

#define EACH_WIDTH "cvl-cpu/kernels/map-rows.h"
#include "tables/each-width.h"

#define CLASS_I CLASS_INT
#define CLASS_F CLASS_FLOAT
#define CLASS_B CLASS_BOOL
#define ENTRY(op, in, out, fault)                                                              \
  [OP_##op][CLASS_##in] = {ROW_NAME(op, in, out), ELEM_##out, fault},

const struct map_kernels KERNEL(map_kernels) = {{
    {
        {{
#define INT_BITS   32
#define FLOAT_BITS 32
#include "cvl-cpu/kernels/map-entries.h"
        }},
        {{
#undef FLOAT_BITS
#define FLOAT_BITS 64
#include "cvl-cpu/kernels/map-entries.h"
        }},
    },
    {
        {{
#undef INT_BITS
#undef FLOAT_BITS
#define INT_BITS   64
#define FLOAT_BITS 32
#include "cvl-cpu/kernels/map-entries.h"
        }},
        {{
#undef FLOAT_BITS
#define FLOAT_BITS 64
#include "cvl-cpu/kernels/map-entries.h"
        }},
    },
}};
