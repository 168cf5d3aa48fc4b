/* elementwise-int.cu - the elementwise rows on INT and BOOL. */
#include "cvl-cuda/elementwise.hpp"

#define INT_BITS        32
#define FLOAT_BITS      64
#define ROWS            rows_of_32
#define WANTED(in, out) ((in) != F && (out) != F)
#include "cvl-cuda/elementwise-rows.hpp"

#define INT_BITS   64
#define FLOAT_BITS 64
#define ROWS       rows_of_64
#undef WANTED
#define WANTED(in, out) ((in) != F && (out) != F && ((in) != B || (out) != B))
#include "cvl-cuda/elementwise-rows.hpp"

namespace ravel {

map_function integer_row(cvl_op op, cvl_elem in, cvl_elem out) {
  const map_function f = rows_of_32::find(op, in, out);
  return f ? f : rows_of_64::find(op, in, out);
}

} // namespace ravel
