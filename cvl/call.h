/* call.h - one operation of the contract as data, for `apply` of cvl.h: which operation, and on
 * which operands. The comments say what each kind gives. The caller has required equal sizes
 * (opcodes.def). Code that treats all operations alike uses the functions below for the shapes
 * of operands and results.
 */
#ifndef RAVEL_CVL_CALL_H
#define RAVEL_CVL_CALL_H

#include "cvl/cvl.h"

enum call_kind {
  /* v [v [v]]: out[i] = op of element i of each operand (1, 2 or 3 by arity; SELECT: flag
   * first). op and the class of the last operand choose the row. Operands and result have one
   * length. Faults: DIVIDE_BY_ZERO. */
  CALL_ELEMENTWISE,
/* v d: works on each segment of v under d, whose total is the length of v. segmented.def
 * describes each. */
#define SEGMENTED(kind, function) CALL_##kind,
#include "cvl/segmented.def"
  /* values index flags defaults s d: vcode.md, section 8. BPERMUTE and BFPERMUTE are gathers,
   * the others scatters. Flags and defaults have form CVL_NOTHING where the operation has none.
   * s and d are the source and the destination descriptor, the same value twice for PERMUTE. If
   * several sources have one destination, the highest position wins. Scalars and vectors may be
   * mixed. Faults: INDEX, DUPLICATE (PERMUTE only; an INDEX fault at any position comes
   * first). */
  CALL_PERMUTE,
  /* v index d: element index[k] of segment k; length = count of d. Faults: INDEX. */
  CALL_EXTRACT,
  /* v index w d: v with element index[k] of segment k set to w[k]. Faults: INDEX. */
  CALL_REPLACE,
  /* v d: v[k] at every position of segment k; length = total of d. */
  CALL_DIST,
  /* start stride d: start[k] + j * stride[k] at position j of segment k, wrapping; length =
   * total of d. */
  CALL_INDEX,
  /* v flags d: elements whose flag is set, in order, and as a second result the descriptor of
   * how many each segment keeps. */
  CALL_PACK,
  /* lengths (INT): the descriptor with these lengths. Faults: NEGATIVE_LENGTH, TOTAL. */
  CALL_MAKE_SEGDES,
  /* d: segment lengths as INT; MAKE_SEGDES undone. Faults: INT_RANGE. */
  CALL_LENGTHS,
  /* v: length of v as an INT of length 1. Faults: INT_RANGE. */
  CALL_LENGTH_OF,
  /* bounds: out[j] = Philox 4x32-10 of key seed and counter (first + j, k), scaled to 0 ..
   * bounds[j]-1 as in vcode.md, section 21.3. first + length of bounds <= 2^64. Faults:
   * BOUND. */
  CALL_RANDOM,
  /* flags v w: no result. Fault ASSERT at the lowest position whose flag is false, with the
   * INTs v and w there. */
  CALL_ASSERT,
  CALL_KINDS
};

enum { CALL_OPERANDS = 6, CALL_RESULTS = 2 };

/* The numbers of the k-th executed RAND for a seed, from position `first` on. */
struct cvl_random {
  uint64_t seed, k, first;
};

/* The operands of PERMUTE, with names. */
struct cvl_permute {
  struct cvl_value values, index, flags, defaults, s, d;
};

struct cvl_call {
  enum call_kind kind;
  enum cvl_op op; /* the row of operations.def, for every kind */
  unsigned count; /* number of operands */
  union {
    struct cvl_value operand[CALL_OPERANDS];
    struct cvl_permute permute;
  };
  struct cvl_random random; /* for RANDOM; else it need not be set */
};

#ifndef __cplusplus
/* A call as an expression: CVL_CALL(CALL_REDUCE, OP_ADD, v, d). */
#define CVL_CALL(what, row, ...)                                                               \
  ((struct cvl_call){.kind = (what),                                                           \
                     .op = (row),                                                              \
                     .count =                                                                  \
                         sizeof((struct cvl_value[]){__VA_ARGS__}) / sizeof(struct cvl_value), \
                     .operand = {__VA_ARGS__}})
#endif

/* Makes a call with `count` operands; the random numbers are not set. */
static inline struct cvl_call call_of(enum call_kind kind, enum cvl_op op, unsigned count,
                                      const struct cvl_value *operands) {
  struct cvl_call call;
  call.kind = kind;
  call.op = op;
  call.count = count;
  for (unsigned i = 0; i < count; i++) call.operand[i] = operands[i];
  return call;
}

/* Returns the kind of an opcode that a back end executes, or CALL_KINDS if the machine executes
 * it. */
enum call_kind call_kind_of(enum opcode);

/* call_is_segmented: whether it is a row of segmented.def. For such a row the others give the
 * class of its opcodes, and whether the result has one element for each segment, rather than
 * for each element. */
bool call_is_segmented(enum call_kind);
enum opcode_class call_opcode_class(enum call_kind);
bool call_gives_one_per_segment(enum call_kind);

/* Returns its name, for messages of tests. */
const char *call_name(enum call_kind);
/* Return how many results a kind has, and how many operands (ELEMENTWISE: as many as op). */
unsigned call_results(enum call_kind);
unsigned call_operands(enum call_kind, enum cvl_op);
/* Whether result i is a descriptor. */
bool call_gives_segdes(enum call_kind, unsigned result);
/* Returns the element type of the result, given that of the values (the last operand for
 * ELEMENTWISE, the first elsewhere) and the widths of the context. */
enum cvl_elem call_result_elem(enum call_kind, enum cvl_op, enum cvl_elem values,
                               enum cvl_elem int_elem, enum cvl_elem float_elem);

/* The extent of an operand: the length of a vector, or total and count of a descriptor. */
struct call_extent {
  uint64_t length; /* of a vector, or total of a descriptor */
  uint64_t count;  /* of a descriptor */
};
/* Whether the sizes that the caller must have required equal are equal. `extent` and `present`
 * have CALL_OPERANDS entries; operands that are not present are ignored. */
bool call_sizes_agree(enum call_kind, enum cvl_op, const struct call_extent *,
                      const bool *present);

#endif
