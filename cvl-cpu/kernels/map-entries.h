/* map-entries.h - the table of map.c for one pair of widths. */
#include "cvl/expressions.h"

#define UNARY(op, in, out, expression)                     ENTRY(op, in, out, CVL_E_NONE)
#define BINARY(op, in, out, expression)                    ENTRY(op, in, out, CVL_E_NONE)
#define CHECKED(op, in, out, condition, error, expression) ENTRY(op, in, out, CVL_E_##error)
#define SELECT(op, in, out, expression)                    ENTRY(op, in, out, CVL_E_NONE)
#include "tables/operations.def"
