/* affine.h - symbolic values of index arithmetic, over a rectangle of positions.
 *
 * Positions are divided into rows of equal length. Over a *rectangle* - some columns of some
 * rows - a value is affine if it is start + j * stride + i * row_stride at the j-th position of
 * the i-th row. What is not true of a whole rectangle makes it smaller: it keeps its first
 * position, and loses columns, rows or both.
 */
#ifndef RAVEL_CPU_AFFINE_H
#define RAVEL_CPU_AFFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cvl/cvl.h"

/* A BOOL has strides of 0. Integers wrap as those of the program do. */
struct affine {
  bool known;
  int64_t start, stride, row_stride;
};

/* At least one position. */
struct affine_extent {
  uint64_t length, rows;
};

/* The result of an operation with operands of so many bytes each, the last one b; not known if
 * it is not affine. */
struct affine affine_map(enum cvl_op, const struct affine *const operands[], size_t bytes,
                         size_t operand_bytes, struct affine_extent *);

/* Whether 0 <= index < limit, at first for the first position; the extent is shortened to where
 * this stays so. */
bool affine_is_below(const struct affine *index, uint64_t limit, size_t bytes,
                     struct affine_extent *);

/* By how much the elements x[0], x[1], ... increase from row to row, up to where that changes.
 */
int64_t affine_row_stride(const void *x, size_t bytes, struct affine_extent *);

#endif
