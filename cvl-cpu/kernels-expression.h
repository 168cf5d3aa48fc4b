/* kernels-expression.h - several elementwise operations on FLOATs at once: sums of products and
 * the like.
 *
 * An expression is a program for two accumulators, A and B. It is executed for some dozens of
 * positions at a time, so that the accumulators stay in registers. Intermediate values are not
 * written to memory unless they have another use. Every operation is rounded by itself, in the
 * order of the program: the bits are those of the single operations.
 */
#ifndef RAVEL_CPU_KERNELS_EXPRESSION_H
#define RAVEL_CPU_KERNELS_EXPRESSION_H

#include <stdint.h>

/* x: the operand. R...: the operand is on the left. */
enum expression_code {
  EXPRESSION_LOAD,
  EXPRESSION_ADD,
  EXPRESSION_SUB,
  EXPRESSION_RSUB,
  EXPRESSION_MUL,
  EXPRESSION_DIV,
  EXPRESSION_RDIV,
  EXPRESSION_SELECT,  /* by flags: the accumulator, else x */
  EXPRESSION_RSELECT, /* x, else the accumulator */
  EXPRESSION_LT,      /* comparisons write flags and leave the accumulators as they are */
  EXPRESSION_LE,
  EXPRESSION_GT,
  EXPRESSION_GE,
  EXPRESSION_EQ,
  EXPRESSION_NE,
  EXPRESSION_SQRT, /* these have no operand; the form says which accumulator: ..._VECTOR */
  EXPRESSION_SQUARE,
  EXPRESSION_STORE,
  EXPRESSION_CODES
};

/* Which accumulator an operation changes, and what its operand is. */
enum expression_form {
  EXPRESSION_A_VECTOR,
  EXPRESSION_A_ONE, /* the same element at all positions */
  EXPRESSION_B_VECTOR,
  EXPRESSION_B_ONE,
  EXPRESSION_A_B, /* B */
  EXPRESSION_FORMS
};

struct expression_op {
  uint8_t what;         /* code + EXPRESSION_CODES * form */
  const void *x;        /* the elements, or the one */
  const uint8_t *flags; /* of a SELECT */
  void *to;             /* of a comparison or STORE: where its results go */
};

/* Executes all operations for positions i < n. The result that is stored last may overwrite an
 * operand; others may not. */
typedef void expression_kernel(uint64_t n, const struct expression_op *ops, uint32_t count);

struct expression_kernels {
  expression_kernel *f32, *f64;
};

#endif
