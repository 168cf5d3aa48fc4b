/* kernels-chain.h - arithmetic of several maps at once: sums of products and the like.
 *
 * A *chain* is a program for two accumulators, A and B, that is executed for some dozens of
 * places at a time, so that the accumulators stay in registers: what is between two maps of an
 * expression is not read back, and not even written unless somebody else wants it. Every
 * operation is rounded by itself, in the order of the program: the bits are those of the single
 * maps.
 */
#ifndef RAVEL_CPU_KERNELS_CHAIN_H
#define RAVEL_CPU_KERNELS_CHAIN_H

#include <stdint.h>

/* x: the operand. R...: the operand is on the left. */
enum chain_code {
  CHAIN_LOAD,
  CHAIN_ADD,
  CHAIN_SUB,
  CHAIN_RSUB,
  CHAIN_MUL,
  CHAIN_DIV,
  CHAIN_RDIV,
  CHAIN_SELECT,  /* by flags: the accumulator, else x */
  CHAIN_RSELECT, /* x, else the accumulator */
  CHAIN_LT,      /* comparisons write flags and leave the accumulators as they are */
  CHAIN_LE,
  CHAIN_GT,
  CHAIN_GE,
  CHAIN_EQ,
  CHAIN_NE,
  CHAIN_SQRT, /* these have no operand, but the form tells which accumulator: ..._VECTOR */
  CHAIN_SQUARE,
  CHAIN_STORE,
  CHAIN_CODES
};

/* Which accumulator an operation changes, and what its operand is. */
enum chain_form {
  CHAIN_A_VECTOR,
  CHAIN_A_ONE, /* the same element at all places */
  CHAIN_B_VECTOR,
  CHAIN_B_ONE,
  CHAIN_A_B, /* B */
  CHAIN_FORMS
};

struct chain_op {
  uint8_t what;         /* code + CHAIN_CODES * form */
  const void *x;        /* the elements, or the one */
  const uint8_t *flags; /* of a SELECT */
  void *to;             /* of a comparison or STORE: where its results go */
};

/* All operations on places i < n. What is stored last may lie over one of the operands; other
 * results may not. */
typedef void chain_kernel(uint64_t n, const struct chain_op *ops, uint32_t count);

struct chain_kernels {
  chain_kernel *f32, *f64;
};

#endif
