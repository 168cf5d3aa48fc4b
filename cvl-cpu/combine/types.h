/* types.h - includes a file once for every element type. The including file defines
 * COMBINE_NUMBERS, the file for INT and FLOAT, and COMBINE_FLAGS, the file for BOOL. These find
 * CLASS, KIND and the widths defined, as combine.h needs them.
 */
#define INT_BITS   32
#define FLOAT_BITS 32
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i32
#include COMBINE_NUMBERS
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f32
#include COMBINE_NUMBERS
#undef CLASS
#undef KIND
#define CLASS B
#define KIND  b8
#include COMBINE_FLAGS
#undef CLASS
#undef KIND
#undef INT_BITS
#undef FLOAT_BITS

#define INT_BITS   64
#define FLOAT_BITS 64
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i64
#include COMBINE_NUMBERS
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f64
#include COMBINE_NUMBERS
#undef CLASS
#undef KIND
