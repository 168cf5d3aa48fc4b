/* scalar-widths.h - scalar_op_iN_fM, one operation on scalars for one pair of widths, and
 * combined_iN_fM, two elements combined. scalar.c includes it once for each pair, with INT_BITS
 * and FLOAT_BITS defined.
 *
 * The operation is a switch over the rows of operations.def. Rows with one operand, among them
 * all functions that take long, are functions of their own. So the switch itself stays small
 * and needs no stack.
 */
#include "cvl/expressions.h"

#define PASTE(a, b, c)  a##_##b##_##c
#define NAME(a, b, c)   PASTE(a, b, c)
#define OF_WIDTHS(name) NAME(name, SUFFIX_I, SUFFIX_F)
#define MEMBER_I        SUFFIX_I /* a member of the union in cvl_value */
#define MEMBER_F        SUFFIX_F
#define MEMBER_B        b
#define CLASS_I         CLASS_INT
#define CLASS_F         CLASS_FLOAT
#define CLASS_B         CLASS_BOOL
#define ROW(op, in)     ((unsigned)(op)*4 + (unsigned)(in))

#define UNARY(op, in, out, expression)                                                         \
  __attribute__((noinline)) static TYPE_##out OF_WIDTHS(op##_##in)(TYPE_##in x) {              \
    return (TYPE_##out)(expression);                                                           \
  }
#include "tables/operations.def"

/* Writes the result whole, so that reading it back does not wait for narrow stores. */
#define YIELD(class, expression)                                                               \
  *out = (struct cvl_value){.form = CVL_SCALAR,                                                \
                            .elem = ELEM_##class,                                              \
                            .as.MEMBER_##class = (TYPE_##class)(expression)};                  \
  return true;

#define UNARY(op, in, out, expression)                                                         \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    YIELD(out, OF_WIDTHS(op##_##in)(a[0].as.MEMBER_##in))                                      \
  }
#define BINARY(op, in, out, expression)                                                        \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    const TYPE_##in x = a[0].as.MEMBER_##in, y = a[1].as.MEMBER_##in;                          \
    YIELD(out, expression)                                                                     \
  }
#define CHECKED(op, in, out, condition, error, expression)                                     \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    const TYPE_##in x = a[0].as.MEMBER_##in, y = a[1].as.MEMBER_##in;                          \
    if (!(condition)) {                                                                        \
      *fault = CVL_E_##error;                                                                  \
      return false;                                                                            \
    }                                                                                          \
    YIELD(out, expression)                                                                     \
  }
#define SELECT(op, in, out, expression)                                                        \
  case ROW(OP_##op, CLASS_##in): {                                                             \
    const uint8_t f = a[0].as.b;                                                               \
    const TYPE_##in x = a[1].as.MEMBER_##in, y = a[2].as.MEMBER_##in;                          \
    YIELD(out, expression)                                                                     \
  }

static bool OF_WIDTHS(scalar_op)(enum cvl_op op, const struct cvl_value *a,
                                 struct cvl_value *out, enum cvl_error_kind *fault) {
  assert(op < OP_COUNT && arity_of[op] > 0);
  const struct cvl_value *last = &a[arity_of[op] - 1];
  switch (ROW(op, class_of[last->elem])) {
#include "tables/operations.def"
  default: /* there is no other row, since the caller's types are checked */
    assert(false && "no row of operations.def for this class");
    *fault = CVL_E_NONE;
    return false;
  }
}

#define COMBINE(op, class, identity, pad, exact, expression)                                   \
  case ROW(OP_##op, CLASS_##class): {                                                          \
    const TYPE_##class x = a->as.MEMBER_##class, y = b->as.MEMBER_##class;                     \
    a->as.MEMBER_##class = (TYPE_##class)(expression);                                         \
    return;                                                                                    \
  }

static void OF_WIDTHS(combined)(enum cvl_op op, struct cvl_value *a,
                                const struct cvl_value *b) {
  switch (ROW(op, class_of[a->elem])) {
#include "tables/operations.def"
  default: assert(false && "no row of operations.def for this class");
  }
}

#undef PASTE
#undef NAME
#undef OF_WIDTHS
#undef MEMBER_I
#undef MEMBER_F
#undef MEMBER_B
#undef CLASS_I
#undef CLASS_F
#undef CLASS_B
#undef ROW
#undef YIELD
