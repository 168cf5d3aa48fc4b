/* join-widths.h - combined_iN_fM: two scalars combined by an operation, for one pair of widths.
 * Included by join.c once for each pair, with INT_BITS and FLOAT_BITS defined.
 */
#include "cvl/expressions.h"

#define PASTE(a, b, c)  a##_##b##_##c
#define NAME(a, b, c)   PASTE(a, b, c)
#define OF_WIDTHS(name) NAME(name, SUFFIX_I, SUFFIX_F)
#define MEMBER_I        SUFFIX_I /* of the union in cvl_value */
#define MEMBER_F        SUFFIX_F
#define MEMBER_B        b
#define IS_I            CLASS_INT
#define IS_F            CLASS_FLOAT
#define IS_B            CLASS_BOOL

#define COMBINE(operation, class, identity, pad, exact, expression)                            \
  if (op == OP_##operation && elem_info((enum cvl_elem)a->elem)->klass == IS_##class) {        \
    const TYPE_##class x = a->as.MEMBER_##class, y = b->as.MEMBER_##class;                     \
    a->as.MEMBER_##class = (TYPE_##class)(expression);                                         \
    return;                                                                                    \
  }

/* a = a and b, of one element type. */
static void OF_WIDTHS(combined)(enum cvl_op op, struct cvl_value *a,
                                const struct cvl_value *b) {
#include "tables/operations.def"
}

#undef PASTE
#undef NAME
#undef OF_WIDTHS
#undef MEMBER_I
#undef MEMBER_F
#undef MEMBER_B
#undef IS_I
#undef IS_F
#undef IS_B
