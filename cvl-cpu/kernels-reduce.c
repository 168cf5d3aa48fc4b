/* kernels-reduce.c - sequential reductions, for every element type and combining operation. */
#include "cvl-cpu/kernels-reduce.h"

#include <string.h>

#include "cvl-cpu/kernels.h"

enum {
  SHORT = 8,     /* segments of so few elements are reduced side by side ... */
  MEDIUM = 256,  /* ... together with others up to this length between them, ... */
  STRIP = 1024,  /* ... in strips of so many elements ... */
  SEGMENTS = 512 /* ... and so many segments */
};

/* Classes for #if. */
#define REDUCE_IS_I 0
#define REDUCE_IS_F 1
#define REDUCE_IS_B 0

#define INT_BITS   32
#define FLOAT_BITS 32
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i32
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f32
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#define CLASS B
#define KIND  b8
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#undef INT_BITS
#undef FLOAT_BITS

#define INT_BITS   64
#define FLOAT_BITS 64
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i64
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f64
#include "cvl-cpu/kernels-reduce-elem.h"
#undef CLASS
#undef KIND

#define ROW(op, kind) [OP_##op] = {blocks_##op##_##kind, segments_##op##_##kind},
const struct reduce_kernels KERNEL(reduce_kernels) = {{
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_I(ROW(op, i32))
    [CVL_I32] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_I(ROW(op, i64))
    [CVL_I64] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_F(ROW(op, f32))
    [CVL_F32] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_F(ROW(op, f64))
    [CVL_F64] =
        {
#include "tables/operations.def"
        },
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_B(ROW(op, b8))
    [CVL_BOOL] =
        {
#include "tables/operations.def"
        },
}};
