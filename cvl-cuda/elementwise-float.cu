/* elementwise-float.cu - the elementwise rows on FLOAT, except those that give INT. */
#include "cvl-cuda/elementwise.hpp"

#define WANTED(in, out) ((in) == F && (out) != I)

#define INT_BITS   64
#define FLOAT_BITS 32
#define ROWS       rows_of_32
#include "cvl-cuda/elementwise-rows.hpp"

#define INT_BITS   64
#define FLOAT_BITS 64
#define ROWS       rows_of_64
#include "cvl-cuda/elementwise-rows.hpp"

namespace ravel {

map_function float_row(cvl_op op, cvl_elem in, cvl_elem out) {
  const map_function f = rows_of_32::find(op, in, out);
  return f ? f : rows_of_64::find(op, in, out);
}

} // namespace ravel
