/* scalar-widths.h - scalar_op_iN_fM, one operation on scalars for one pair of widths; a part of
 * scalar.c, which includes it once for each pair with INT_BITS and FLOAT_BITS defined.
 *
 * The operation is a switch over the rows of operations.def. Rows with one operand, among them
 * all functions that take long, are functions of their own, so that the switch itself stays
 * small and needs no stack.
 */
#include "cvl/expressions.h"

#define PASTE(a, b, c)     a##_##b##_##c
#define NAME(a, b, c)      PASTE(a, b, c)
#define OF_WIDTHS(name)    NAME(name, SUFFIX_I, SUFFIX_F)
#define MEMBER(v, suffix)  MEMBER_(v, suffix)
#define MEMBER_(v, suffix) (v).as.suffix
#define GET_I(v)           MEMBER(v, SUFFIX_I)
#define GET_F(v)           MEMBER(v, SUFFIX_F)
#define GET_B(v)           (v).as.b
#define CLASS_I            CLASS_INT
#define CLASS_F            CLASS_FLOAT
#define CLASS_B            CLASS_BOOL
#define ROW(op, in)        ((unsigned)(op)*4 + (unsigned)(in))

#define UNARY(op, in, out, expression)                                                         \
  __attribute__((noinline)) static TYPE_##out OF_WIDTHS(op##_##in)(TYPE_##in x) {              \
    return (TYPE_##out)(expression);                                                           \
  }
#include "tables/operations.def"

#define YIELD(class, expression)                                                               \
  GET_##class(result) = (TYPE_##class)(expression);                                            \
  result.elem = ELEM_##class;                                                                  \
  break;

#define UNARY(op, in, out, expression)                                                         \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    YIELD(out, OF_WIDTHS(op##_##in)(GET_##in(a[0])))                                           \
  }
#define BINARY(op, in, out, expression)                                                        \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    const TYPE_##in x = GET_##in(a[0]), y = GET_##in(a[1]);                                    \
    YIELD(out, expression)                                                                     \
  }
#define CHECKED(op, in, out, condition, error, expression)                                     \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    const TYPE_##in x = GET_##in(a[0]), y = GET_##in(a[1]);                                    \
    if (!(condition)) {                                                                        \
      *fault = CVL_E_##error;                                                                  \
      return false;                                                                            \
    }                                                                                          \
    YIELD(out, expression)                                                                     \
  }
#define SELECT(op, in, out, expression)                                                        \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    const uint8_t f = a[0].as.b;                                                               \
    const TYPE_##in x = GET_##in(a[1]), y = GET_##in(a[2]);                                    \
    YIELD(out, expression)                                                                     \
  }

static bool OF_WIDTHS(scalar_op)(enum cvl_op op, const struct cvl_value *a,
                                 struct cvl_value *out, enum cvl_error_kind *fault) {
  assert(op < OP_COUNT && arity_of[op] > 0);
  const struct cvl_value *last = &a[arity_of[op] - 1];
  struct cvl_value result = {.form = CVL_SCALAR};
  switch (ROW(op, class_of[last->elem])) {
#include "tables/operations.def"
  default: /* the caller's types are checked: there is such a row */
    assert(false && "no row of operations.def for this class");
    *fault = CVL_E_NONE;
    return false;
  }
  *out = result;
  return true;
}

#undef PASTE
#undef NAME
#undef OF_WIDTHS
#undef MEMBER
#undef MEMBER_
#undef GET_I
#undef GET_F
#undef GET_B
#undef CLASS_I
#undef CLASS_F
#undef CLASS_B
#undef ROW
#undef YIELD
