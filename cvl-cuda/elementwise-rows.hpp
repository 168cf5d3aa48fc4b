/* elementwise-rows.hpp - the rows of operations.def for one choice of widths. A file defines
 *
 *     INT_BITS, FLOAT_BITS   the widths
 *     ROWS                   the name of the namespace that gets the rows
 *     WANTED(in, out)        whether it wants the rows of these classes, CLASS_INT ...
 *
 * and includes this file. It then has ROWS::find(op, in, out), which returns the function of a
 * wanted row, or null. A file may include it again with other widths. Only wanted rows are
 * compiled.
 */
#include "cvl/expressions.h"

namespace ravel {
namespace ROWS {

enum { I = CLASS_INT, F = CLASS_FLOAT, B = CLASS_BOOL };

/* Elementary functions are bound by arithmetic, and need registers for it. */
#define ROW_TYPES(op, in, out, elements)                                                       \
  using X = TYPE_##in;                                                                         \
  using R = TYPE_##out;                                                                        \
  enum { at_once = elements };                                                                 \
  static const char *name() {                                                                  \
    return #op;                                                                                \
  }
#define UNARY(op, in, out, expression)                                                         \
  struct op##_of_##in {                                                                        \
    ROW_TYPES(op, in, out, elements_at_once<X>())                                              \
    static HD R of(X x) { return (R)(expression); }                                            \
  };
#define APPROXIMATE(op, in, out, expression)                                                   \
  struct op##_of_##in {                                                                        \
    ROW_TYPES(op, in, out, LEAST_AT_ONCE)                                                      \
    static HD R of(X x) { return (R)(expression); }                                            \
  };
#define BINARY(op, in, out, expression)                                                        \
  struct op##_of_##in {                                                                        \
    ROW_TYPES(op, in, out, elements_at_once<X>())                                              \
    static HD R of(X x, X y) { return (R)(expression); }                                       \
  };
#define CHECKED(op, in, out, condition, fault, expression)                                     \
  struct op##_of_##in {                                                                        \
    ROW_TYPES(op, in, out, elements_at_once<X>())                                              \
    enum { error = CVL_E_##fault };                                                            \
    static HD bool good(X x, X y) { return (void)x, condition; }                               \
    static HD R of(X x, X y) { return (R)(expression); }                                       \
  };
#define SELECT(op, in, out, expression)                                                        \
  struct op##_of_##in {                                                                        \
    ROW_TYPES(op, in, out, elements_at_once<X>())                                              \
    static HD R of(uint8_t f, X x, X y) { return (R)(expression); }                            \
  };
#include "tables/operations.def"

static map_function find(cvl_op wanted, cvl_elem from, cvl_elem to) {
#define FIND(op, in, out, run)                                                                 \
  if constexpr (WANTED(in, out)) {                                                             \
    if (wanted == OP_##op && from == ELEM_##in && to == ELEM_##out) return run<op##_of_##in>;  \
  }
#define UNARY(op, in, out, expression)                     FIND(op, in, out, run_unary)
#define BINARY(op, in, out, expression)                    FIND(op, in, out, run_binary)
#define CHECKED(op, in, out, condition, fault, expression) FIND(op, in, out, run_checked)
#define SELECT(op, in, out, expression)                    FIND(op, in, out, run_select)
#include "tables/operations.def"
#undef FIND
#undef ROW_TYPES
  return nullptr;
}

} // namespace ROWS
} // namespace ravel

#undef INT_BITS
#undef FLOAT_BITS
#undef ROWS
