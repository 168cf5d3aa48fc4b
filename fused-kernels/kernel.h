/* kernel.h - a superoperator as a loop program: what its positions do, statement by statement.
 *
 * A kernel has the parameters and outputs of its superoperator, and a list of statements that
 * every position of the domain executes in order. A statement is typed, and says all that it
 * reads: an element at the position, the element of a segment, an element by an index. What
 * DIST, INDEX, the gathers and EXTRACT have in common is spelled out, so that whoever prints or
 * evaluates a kernel knows segments, not operations:
 *
 *     kernel (0 : FLOAT, 1 : INT, 2 : SEGDES, 3 : FLOAT, 4 : SEGDES, 5 : SEGDES)
 *         over length 1, segments 2
 *       %0 = load 1
 *       %1 = gather 3 %0 in 5 of 4 checked
 *       %2 = load 0
 *       %3 = * FLOAT %2 %1
 *       reduce +_REDUCE FLOAT %3 in 2 -> 0
 *
 * is the product of a sparse matrix and a vector. lower.c makes kernels, and nothing else looks
 * at the roles of nodes on the way. `docs/internals/kernels.md` explains the statements.
 *
 * A value is constant for all positions, for those of a segment, or has an element for each
 * (kernel_level). A *near* descriptor says in which segment a position is; a *far* one where
 * the segment of that number begins in what is read. SUPEROP_NONE as a near descriptor:
 * position i is in segment i. As a far one: what is read is one segment.
 */
#ifndef RAVEL_FUSED_KERNEL_H
#define RAVEL_FUSED_KERNEL_H

#include "cvl/superop.h"

enum kernel_statement_kind {
  KERNEL_CONSTANT, /* value = constant */
  KERNEL_LOAD,     /* value = element of param at the position */
  KERNEL_SPREAD,   /* value = element of param for the segment of the position under near */
  KERNEL_OFFSET,   /* value = INT, number of positions before this one in its segment under near
                    */
  KERNEL_MAP,      /* value = op of the operands */
  KERNEL_GATHER, /* value = element operands[0] of param, within the segment under near and far;
                    with a second operand, a BOOL: 0 where it is F */
  KERNEL_CHECK,  /* operands[0] is T */
  KERNEL_CARRY,  /* value = operands[0] at first, then what NEXT says */
  KERNEL_WHILE,  /* ends the loop where operands[0] is F */
  KERNEL_NEXT,   /* operands[0], carried, becomes operands[1]; value = operands[0] at the end */
  KERNEL_REDUCE, /* output = reduction of operands[0] over segments */
  KERNEL_SCAN,   /* output = exclusive scan of operands[0] over segments */
  KERNEL_KEEP,  /* output = operands[0] where operands[1] is T; its next value the descriptor */
  KERNEL_STORE, /* output = operands[0] */
  KERNEL_SCATTER, /* output[operands[1]] = operands[0] where operands[2], if any, is T;
                     elsewhere param, or 0 */
  KERNEL_COMBINE, /* a combination: nodes of the superoperator from `node` on */
  KERNEL_STATEMENTS
};

/* Where a value changes. */
enum kernel_level { KERNEL_EVERYWHERE, KERNEL_OF_SEGMENT, KERNEL_OF_POSITION };

#define KERNEL_OPERANDS 3

struct kernel_statement {
  uint8_t kind;  /* enum kernel_statement_kind */
  uint8_t type;  /* enum superop_kind of its value, or of what it writes */
  uint8_t word;  /* enum type_word, of op */
  uint8_t count; /* of operands */
  bool checked;  /* MAP, GATHER, SCATTER: its condition is not known to hold */
  /* kernel_find_strides: */
  int8_t stride;  /* GATHER, SCATTER: what the index grows by from one position to the next in a
                     segment under near, 1 or -1; 0: not known. MAP that turns: 1 if operands[0]
                     counts up, -1 if operands[1] does */
  uint8_t moving; /* SELECT: its value goes on only where operand 1, or 2, is chosen, and the
                     other one stays; 0: wherever it does */
  bool turns;     /* GATHER: but in a piece only. MAP: a piece ends where its value changes */
  bool starts;    /* a piece needs the value at its first position */
  uint16_t op;    /* enum opcode: of MAP, REDUCE, SCAN, SCATTER */
  uint32_t operands[KERNEL_OPERANDS]; /* values */
  uint32_t value;                     /* that it defines; SUPEROP_NONE */
  uint32_t param;                     /* that it reads; SUPEROP_NONE */
  uint32_t near, far;                 /* descriptors: parameters; SUPEROP_NONE */
  uint32_t node;                      /* of the superoperator, for faults */
  uint32_t output; /* STORE ...: the value of the superoperator that it makes */
  const struct cvl_value *constant;
  /* COMBINE, of each column: what is combined, and the identity of the segment, if there is
   * one.
   */
  const uint32_t *columns, *identities;
};

struct kernel {
  const struct superop *op;
  struct kernel_statement *statements;
  uint32_t count;
  uint32_t values; /* numbers of values are below this */
  uint8_t *types;  /* of every value: enum superop_kind */
};

/* Makes the kernel of a completed superoperator that has no copies. Memory is the arena's. */
struct kernel *kernel_lower(struct arena *, const struct superop *);
/* Finds the strides of gathers and scatters: what is read or written is contiguous, and its
 * range can be checked once for a segment, or for each *piece* of one, in which no comparison
 * that the index depends on changes (strides.c). one, or NULL: of every parameter, whether it
 * is a descriptor of one segment. */
void kernel_find_strides(struct arena *, struct kernel *, const bool *one);
/* Returns the first rule of this file that a kernel breaks, as a sentence without full stop, in
 * the arena; NULL if it keeps all. */
const char *kernel_fault(struct arena *, const struct kernel *);
/* Writes the text of a kernel, as above. */
void kernel_print(const struct kernel *, FILE *);

/* Returns the word of a statement's kind in the text. */
const char *kernel_word(enum kernel_statement_kind);
/* Whether the statement has an output. */
bool kernel_writes(const struct kernel_statement *);

#endif
