/* combine.h - the combining rows of operations.def as functions of one element type.
 *
 * A kernel file that reduces or scans defines INT_BITS and FLOAT_BITS, and includes
 * cvl/expressions.h. It defines CLASS as I, F or B and KIND as a name for the type (i32, f64,
 * b8 ...; `bool` is a macro of C11). Then it includes this file, which defines
 *
 *     ELEMENT_TYPE               the C type
 *     NAMED(name)                name_i32, name_f64 ...: one function for each type
 *     NAMED(combine)(op, x, y)   the expression of the row
 *     NAMED(pad)(op)             the neutral element, bit for bit
 *     NAMED(identity)(op)        the result for an empty segment
 *     NAMED(exact)(op)           whether any order of combination gives the same bits
 *     COMBINE_OF_CLASS(...)      its arguments if the row `cl` at hand is of CLASS
 *
 * `op` is a constant wherever these are called, so the compiler removes the switches. Kernels
 * are written once as inline functions of op, and instantiated for each row.
 */
#include "cvl-cpu/kernels/templates.h"

#undef ELEMENT_TYPE
#undef NAMED
#undef COMBINE_OF_CLASS
#define ELEMENT_TYPE          COMBINE_EXPAND(TYPE_, CLASS)
#define NAMED(name)           COMBINE_EXPAND_NAME(name, KIND)
#define COMBINE_OF_CLASS(row) WHERE_CLASS(row, CLASS)

ALWAYS_INLINE ELEMENT_TYPE NAMED(combine)(enum cvl_op operation, ELEMENT_TYPE x,
                                          ELEMENT_TYPE y) {
  switch (operation) {
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(case OP_##op : return (ELEMENT_TYPE)(expression);)
#include "tables/operations.def"
  default: __builtin_unreachable();
  }
}

ALWAYS_INLINE ELEMENT_TYPE NAMED(pad)(enum cvl_op operation) {
  switch (operation) {
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(case OP_##op : return (ELEMENT_TYPE)(pad);)
#include "tables/operations.def"
  default: __builtin_unreachable();
  }
}

ALWAYS_INLINE ELEMENT_TYPE NAMED(identity)(enum cvl_op operation) {
  switch (operation) {
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(case OP_##op : return (ELEMENT_TYPE)(identity);)
#include "tables/operations.def"
  default: __builtin_unreachable();
  }
}

ALWAYS_INLINE bool NAMED(exact)(enum cvl_op operation) {
  switch (operation) {
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(case OP_##op : return exact;)
#include "tables/operations.def"
  default: __builtin_unreachable();
  }
}
