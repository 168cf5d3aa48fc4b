/* call.h - one operation of the contract as data: which function of the table, which row, which
 * operands. What treats all operations alike (the oracle, the conformance suite, the delaying
 * back end) is written over calls; only call.c knows the sixteen signatures of cvl.h.
 */
#ifndef RAVEL_CVL_CALL_H
#define RAVEL_CVL_CALL_H

#include "cvl/cvl.h"

enum call_kind {
  CALL_ELEMENTWISE,                            /* 1 to 3 vectors */
#define SEGMENTED(kind, function) CALL_##kind, /* v d */
#include "cvl/segmented.def"
  CALL_PERMUTE,     /* values index flags defaults s d; flags, defaults may be CVL_NOTHING */
  CALL_EXTRACT,     /* v index d */
  CALL_REPLACE,     /* v index w d */
  CALL_DIST,        /* v d */
  CALL_INDEX,       /* start stride d */
  CALL_PACK,        /* v flags d */
  CALL_MAKE_SEGDES, /* lengths */
  CALL_LENGTHS,     /* d */
  CALL_LENGTH_OF,   /* v */
  CALL_RANDOM,      /* bounds */
  CALL_ASSERT,      /* flags v w */
  CALL_KINDS
};

enum { CALL_OPERANDS = 6, CALL_RESULTS = 2 };

struct cvl_call {
  enum call_kind kind;
  enum cvl_op op; /* the row of operations.def, for every kind */
  unsigned count; /* operands */
  struct cvl_value operand[CALL_OPERANDS];
  struct cvl_random random; /* of RANDOM */
};

/* Issues the call. Operands, results and return value are those of the function it names. */
bool call_perform(const struct cvl_backend *, struct cvl_context *, uint64_t site,
                  const struct cvl_call *, struct cvl_value out[CALL_RESULTS]);

/* Whether it is a row of segmented.def, and then the class of its opcodes, and whether it gives
 * one element for each segment, not for each element. */
bool call_is_segmented(enum call_kind);
enum opcode_class call_opcode_class(enum call_kind);
bool call_gives_one_per_segment(enum call_kind);

/* How many results a kind has, and how many operands (ELEMENTWISE: that of op). */
unsigned call_results(enum call_kind);
unsigned call_operands(enum call_kind, enum cvl_op);
/* Whether operand or result i is a descriptor. */
bool call_takes_segdes(enum call_kind, unsigned operand);
bool call_gives_segdes(enum call_kind, unsigned result);
/* The element type of the result, given that of the values (the last operand for ELEMENTWISE,
 * the first elsewhere) and the widths of the context. */
enum cvl_elem call_result_elem(enum call_kind, enum cvl_op, enum cvl_elem values,
                               enum cvl_elem int_elem, enum cvl_elem float_elem);

/* The extent of an operand: of a vector its length, of a descriptor total and count. */
struct call_extent {
  uint64_t length; /* or total */
  uint64_t count;  /* of a descriptor */
};
/* Whether the sizes that the caller must have required equal are equal. `extent` has
 * CALL_OPERANDS entries; absent operands are ignored as `present` says. */
bool call_sizes_agree(enum call_kind, enum cvl_op, const struct call_extent *,
                      const bool *present);

#endif
