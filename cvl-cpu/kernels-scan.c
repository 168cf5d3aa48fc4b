/* kernels-scan.c - sequential scans, for every element type and combining operation. */
#include "cvl-cpu/kernels-scan.h"

#include <string.h>

#include "cvl-cpu/kernels.h"

enum {
  FRONT = 16,   /* neutral elements in front of a buffer, so that a step may look back */
  SHORT = 8,    /* segments of one row are scanned side by side ... */
  STRIP = 1024, /* ... in strips of about so many elements */
  WINDOWS = 16  /* windows of a long segment at a time: first-level cache */
};

#define INT_BITS   32
#define FLOAT_BITS 32
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i32
#include "cvl-cpu/kernels-scan-elem.h"
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f32
#include "cvl-cpu/kernels-scan-elem.h"
#undef CLASS
#undef KIND
#define CLASS B
#define KIND  b8
#include "cvl-cpu/kernels-scan-elem.h"
#undef CLASS
#undef KIND
#undef INT_BITS
#undef FLOAT_BITS

#define INT_BITS   64
#define FLOAT_BITS 64
#include "cvl/expressions.h"
#define CLASS I
#define KIND  i64
#include "cvl-cpu/kernels-scan-elem.h"
#undef CLASS
#undef KIND
#define CLASS F
#define KIND  f64
#include "cvl-cpu/kernels-scan-elem.h"
#undef CLASS
#undef KIND

#define ROW(op, kind)                                                                          \
  [OP_##op] = {totals_##op##_##kind, start_##op##_##kind,    advance_##op##_##kind,            \
               write_##op##_##kind,  segments_##op##_##kind, identity_##op##_##kind},
const struct scan_kernels KERNEL(scan_kernels) = {{
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
