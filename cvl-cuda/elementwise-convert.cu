/* elementwise-convert.cu - the elementwise rows from INT to FLOAT and back: the only ones that
 * exist for each pair of widths. */
#include "cvl-cuda/elementwise.hpp"

#define WANTED(in, out) (((in) == I && (out) == F) || ((in) == F && (out) == I))

#define INT_BITS   32
#define FLOAT_BITS 32
#define ROWS       rows_of_32_32
#include "cvl-cuda/elementwise-rows.hpp"

#define INT_BITS   32
#define FLOAT_BITS 64
#define ROWS       rows_of_32_64
#include "cvl-cuda/elementwise-rows.hpp"

#define INT_BITS   64
#define FLOAT_BITS 32
#define ROWS       rows_of_64_32
#include "cvl-cuda/elementwise-rows.hpp"

#define INT_BITS   64
#define FLOAT_BITS 64
#define ROWS       rows_of_64_64
#include "cvl-cuda/elementwise-rows.hpp"

namespace ravel {

map_function conversion_row(cvl_op op, cvl_elem in, cvl_elem out) {
  map_function f = rows_of_32_32::find(op, in, out);
  if (!f) f = rows_of_32_64::find(op, in, out);
  if (!f) f = rows_of_64_32::find(op, in, out);
  return f ? f : rows_of_64_64::find(op, in, out);
}

} // namespace ravel
