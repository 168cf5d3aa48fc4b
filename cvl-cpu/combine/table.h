/* table.h - the initialiser of an array [CVL_ELEM_COUNT][OP_COUNT] whose entries are ROW(op,
 * kind), for every combining row and type. The including file defines ROW; the kinds are those
 * of types.h.
 */
// clang-format off
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_I(ROW(op, i32))
[CVL_I32] = {
#include "tables/operations.def"
},
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_I(ROW(op, i64))
[CVL_I64] = {
#include "tables/operations.def"
},
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_F(ROW(op, f32))
[CVL_F32] = {
#include "tables/operations.def"
},
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_F(ROW(op, f64))
[CVL_F64] = {
#include "tables/operations.def"
},
#define COMBINE(op, row, identity, pad, exact, expression) WHERE_##row##_B(ROW(op, b8))
[CVL_BOOL] = {
#include "tables/operations.def"
},
    // clang-format on
