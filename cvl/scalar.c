/* scalar.c - values that the host holds: makes them, reads them, and executes one elementwise
 * operation on them.
 *
 * cvl_scalar_op is the machine's fast path for vectors of length 1, and folds constants. Each
 * pair of widths has one function. It is a single switch over the operation and the class of
 * the last operand, and its cases are the rows of operations.def. The expressions are those of
 * the kernels, so the bits are too.
 */
#include <assert.h>

#include "cvl/scalar.h"

struct cvl_value cvl_scalar_int(enum cvl_elem int_elem, int64_t x) {
  struct cvl_value v = {.form = CVL_SCALAR, .elem = (uint8_t)int_elem};
  if (int_elem == CVL_I32) {
    v.as.i32 = (int32_t)(uint32_t)(uint64_t)x;
  } else {
    v.as.i64 = x;
  }
  return v;
}

struct cvl_value cvl_scalar_float(enum cvl_elem float_elem, double x) {
  struct cvl_value v = {.form = CVL_SCALAR, .elem = (uint8_t)float_elem};
  if (float_elem == CVL_F32) {
    v.as.f32 = (float)x;
  } else {
    v.as.f64 = x;
  }
  return v;
}

struct cvl_value cvl_scalar_bool(bool x) {
  return (struct cvl_value){.form = CVL_SCALAR, .elem = CVL_BOOL, .as.b = x};
}

struct cvl_value cvl_one_segment(uint64_t length) {
  return (struct cvl_value){.form = CVL_ONE_SEGMENT, .as.one_segment = length};
}

int64_t cvl_int_of(const struct cvl_value *v) {
  return v->elem == CVL_I32 ? v->as.i32 : v->as.i64;
}

double cvl_float_of(const struct cvl_value *v) {
  return v->elem == CVL_F32 ? (double)v->as.f32 : v->as.f64;
}

/* The number of operands of each operation. Data movements have none, and are not for
 * scalar_op. */
static const uint8_t arity_of[OP_COUNT] = {
#define OPERATION(op, arity, doc) [OP_##op] = arity,
#include "tables/operations.def"
};

/* The class of an element, as a number for the switch. */
static const uint8_t class_of[CVL_ELEM_COUNT] = {
#define ELEMENT(id, class, ctype, unsigned_type, bytes, text) [CVL_##id] = CLASS_##class,
#include "tables/types.def"
};

#define EACH_WIDTH "cvl/scalar-widths.h"
#include "tables/each-width.h"

bool cvl_scalar_op(enum cvl_elem int_elem, enum cvl_elem float_elem, enum cvl_op op,
                   const struct cvl_value *operands, struct cvl_value *out,
                   enum cvl_error_kind *fault) {
  const bool wide = float_elem == CVL_F64;
  if (int_elem == CVL_I64) {
    return wide ? scalar_op_i64_f64(op, operands, out, fault)
                : scalar_op_i64_f32(op, operands, out, fault);
  }
  return wide ? scalar_op_i32_f64(op, operands, out, fault)
              : scalar_op_i32_f32(op, operands, out, fault);
}

void cvl_scalar_combine(enum cvl_elem int_elem, enum cvl_elem float_elem, enum cvl_op op,
                        struct cvl_value *a, const struct cvl_value *b) {
  const bool wide = float_elem == CVL_F64;
  if (int_elem == CVL_I64) {
    (wide ? combined_i64_f64 : combined_i64_f32)(op, a, b);
  } else {
    (wide ? combined_i32_f64 : combined_i32_f32)(op, a, b);
  }
}
