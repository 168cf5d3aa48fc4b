/* combine-types.h - includes a part of a kernel file once for every element type. The file has
 * defined COMBINE_PART, the part for INT and FLOAT, and COMBINE_FLAGS_PART, that for BOOL; each
 * finds CLASS, KIND and the widths defined, as combine.h wants them.
 */
#define INT_BITS   32
#define FLOAT_BITS 32
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i32
#include COMBINE_PART
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f32
#include COMBINE_PART
#undef CLASS
#undef KIND
#define CLASS B
#define KIND  b8
#include COMBINE_FLAGS_PART
#undef CLASS
#undef KIND
#undef INT_BITS
#undef FLOAT_BITS

#define INT_BITS   64
#define FLOAT_BITS 64
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i64
#include COMBINE_PART
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f64
#include COMBINE_PART
#undef CLASS
#undef KIND
