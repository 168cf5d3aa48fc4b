/* tables.h - the three tables as C data: enums, and one constant record per row.
 *
 * Nothing here is written twice: every enum and record is an expansion of types.def,
 * operations.def or opcodes.def. All data is constant; the functions only look things up.
 */
#ifndef RAVEL_TABLES_H
#define RAVEL_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- types.def ---- */

/* The class of an element: what a program calls INT, FLOAT or BOOL. */
enum elem_class { CLASS_INT, CLASS_FLOAT, CLASS_BOOL };

enum cvl_elem {
#define ELEMENT(id, class, ctype, unsigned_type, bytes, text) CVL_##id,
#include "tables/types.def"
  CVL_ELEM_COUNT
};

struct elem_info {
  enum elem_class klass;
  size_t bytes;     /* of one element */
  const char *text; /* "i32", "f64", "bool" ... */
};

/* The row of types.def for e. */
const struct elem_info *elem_info(enum cvl_elem e);

/* ---- operations.def ---- */

enum cvl_op {
#define OPERATION(op, arity, doc) OP_##op,
#include "tables/operations.def"
  OP_COUNT,
  OP_NONE = OP_COUNT
};

struct op_info {
  const char *name; /* "ADD", "BPERMUTE" ... */
  unsigned arity;   /* operands of an elementwise operation, 0 otherwise */
  const char *doc;
};

const struct op_info *op_info(enum cvl_op op);

/* One elementwise row: an operation on one class of elements. */
struct map_row {
  enum cvl_op op;
  enum elem_class in, out;
  bool checked;           /* has a condition each element must meet */
  const char *expression; /* its text, for messages and generated code */
  const char *condition;  /* that of the condition; NULL without one */
};

/* One combining row. */
struct combine_row {
  enum cvl_op op;
  enum elem_class klass;
  bool exact; /* any order gives the same bits */
  const char *expression, *identity, *pad;
};

/* All elementwise and all combining rows, in the order of the table. */
const struct map_row *map_rows(size_t *count);
const struct combine_row *combine_rows(size_t *count);
/* The row of op for elements of class in (the class of the last operand); NULL if none. */
const struct map_row *map_row(enum cvl_op op, enum elem_class in);
/* Whether op is a function of FLOAT whose last bits are the back end's own, as the table says
 * of MATH: all but those that are exact as in C. They are also what costs most. */
bool op_is_approximate(enum cvl_op op);
const struct combine_row *combine_row(enum cvl_op op, enum elem_class klass);

/* ---- opcodes.def ---- */

enum opcode {
#define OPCODE(id, spelling, class, types, operands, results, agreement, sizes, operation,     \
               doc)                                                                            \
  OPC_##id,
#include "tables/opcodes.def"
  OPC_COUNT
};

enum opcode_class {
  OC_ELEMENTWISE,
  OC_REDUCE,
  OC_SCAN,
  OC_RANK,
  OC_SORT,
  OC_PERMUTE,
  OC_VECTOR,
  OC_SEGMENT,
  OC_RANDOM,
  OC_STACK,
  OC_PAIRING,
  OC_CONTROL,
  OC_CONSTANT,
  OC_IO,
  OC_TIMER,
  OC_CHECK
};

/* The words that may follow an opcode, as a set of bits. */
enum type_word { TW_INT, TW_FLOAT, TW_BOOL, TW_SEGDES, TW_CHAR, TW_NONE };
enum {
  NO_TYPE = 0,
  T_I = 1 << TW_INT,
  T_IF = T_I | 1 << TW_FLOAT,
  T_IB = T_I | 1 << TW_BOOL,
  T_IFB = T_IF | 1 << TW_BOOL,
  T_IO = T_IFB | 1 << TW_SEGDES | 1 << TW_CHAR
};
/* "INT", "FLOAT" ...; "" for TW_NONE. */
const char *type_word_text(enum type_word w);

/* A size that a rule of the table speaks of: what, in the high half, of operand k. */
enum {
  SIZE_UNKNOWN = 0,
  SIZE_ONE = 0x10,
  SIZE_LEN = 0x20,
  SIZE_TOTAL = 0x30,
  SIZE_COUNT = 0x40
};
#define SIZE_WHAT(s)    ((s)&0xf0)
#define SIZE_OPERAND(s) ((s)&0x0f)

enum { MAX_OPERANDS = 6, MAX_RESULTS = 5, MAX_RULES = 5 };

struct size_rule {
  uint8_t a, b; /* equal; both 0 after the last rule */
};

struct opcode_info {
  const char *spelling;
  enum opcode_class klass;
  unsigned types;       /* set of 1 << type_word */
  const char *operands; /* letters, see opcodes.def */
  const char *results;
  struct size_rule rules[MAX_RULES + 1];
  uint8_t result_size;
  enum cvl_op operation; /* OP_NONE if the machine does it */
  const char *doc;
};

const struct opcode_info *opcode_info(enum opcode op);
/* Finds the opcode with this spelling (not necessarily NUL-terminated); false if none. */
bool opcode_find(const char *text, size_t length, enum opcode *op);

#endif
