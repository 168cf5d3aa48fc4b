/* tables.h - the tables as C data: enums, one constant record per row, and what follows from
 * the rows.
 *
 * Nothing here is written twice: every enum and record is an expansion of types.def,
 * faults.def, operations.def or opcodes.def. All data is constant; the functions only look
 * things up.
 */
#ifndef RAVEL_TABLES_H
#define RAVEL_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- types.def ---- */

/* The class of an element: a program calls it INT, FLOAT or BOOL. */
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

/* Returns the row of types.def for e. */
const struct elem_info *elem_info(enum cvl_elem e);

/* ---- faults.def ---- */

enum cvl_error_kind {
#define FAULT(id, doc) CVL_E_##id,
#include "tables/faults.def"
};

/* Returns the name of a fault: "DIVIDE_BY_ZERO" ... */
const char *fault_name(enum cvl_error_kind);

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
  bool approximate;          /* a function of elementary.h; it costs most, too */
  enum cvl_error_kind fault; /* of an element that does not meet the condition; CVL_E_NONE if
                                there is no condition */
  const char *expression;    /* its text, for messages and generated code */
  const char *condition;     /* that of the condition; NULL without one */
};

/* One combining row: an operation that reductions and scans use, on one class of elements. */
struct combine_row {
  enum cvl_op op;
  enum elem_class klass;
  bool exact; /* any order gives the same bits */
  const char *expression, *identity, *pad;
};

/* Return all elementwise and all combining rows, in the order of the table. */
const struct map_row *map_rows(size_t *count);
const struct combine_row *combine_rows(size_t *count);
/* Returns the row of op for elements of class `in` (the class of the last operand); NULL if
 * there is none. */
const struct map_row *map_row(enum cvl_op op, enum elem_class in);
/* Returns whether a row of op is approximate. */
bool op_is_approximate(enum cvl_op op);
const struct combine_row *combine_row(enum cvl_op op, enum elem_class klass);

/* ---- opcodes.def ---- */

enum opcode {
#define OPCODE(id, spelling, class, types, operands, results, agreement, sizes, operation,     \
               fault, doc)                                                                     \
  OPC_##id,
#include "tables/opcodes.def"
  OPC_COUNT
};

enum opcode_class {
#define OPCODE_CLASS(id, effect, steps, category, title, introduction) OC_##id,
#include "tables/opcodes.def"
};
/* The number of classes is none of them, so that a switch over the classes is complete without
 * it. */
enum {
  OC_COUNT = 0
#define OPCODE_CLASS(id, effect, steps, category, title, introduction) +1
#include "tables/opcodes.def"
};

/* The effect of an opcode beside delivering its results: see opcodes.def. */
enum opcode_effect {
  OPCODE_PURE,
  OPCODE_DRAWS,
  OPCODE_OUTSIDE,
  OPCODE_TIMES,
  OPCODE_STOPS,
  OPCODE_LOADED
};

struct opcode_class_info {
  enum opcode_effect effect;
  bool log_steps; /* parallel steps: the logarithm of the number of elements; else one */
  const char *category, *title, *introduction;
};

const struct opcode_class_info *opcode_class_info(enum opcode_class);

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
/* Returns the text of a type word: "INT", "FLOAT" ...; "" for TW_NONE. */
const char *type_word_text(enum type_word w);

/* The sizes that the rules of the table name. The high half says which size it is, the low half
 * of which operand. */
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
  enum cvl_op operation;     /* OP_NONE if the machine does it */
  enum cvl_error_kind fault; /* see opcodes.def; opcode_fault knows elementwise ones too */
  const char *doc;
};

const struct opcode_info *opcode_info(enum opcode op);
/* Finds the opcode with this spelling, which need not be NUL-terminated. Returns false if there
 * is none. */
bool opcode_find(const char *text, size_t length, enum opcode *op);

/* ---- what follows from a row ---- */

/* The kind of an operand or a result. */
enum operand_kind {
  OPERAND_INT,
  OPERAND_FLOAT,
  OPERAND_BOOL,
  OPERAND_SEGDES,
  OPERAND_PAIR,
  OPERAND_ANY
};

/* Returns the kind that a letter of the table means after this type word. */
enum operand_kind operand_kind(char letter, enum type_word);
/* Returns the kind of a value of this type: of a constant, or of the result of READ. */
enum operand_kind type_word_kind(enum type_word);
/* Returns the type word of a value that a letter means, where its kind has one. */
enum type_word operand_word(char letter, enum type_word);
/* Returns the text of a kind: "INT", "SEGDES" ..., "pair", "any". */
const char *operand_kind_text(enum operand_kind);
/* Returns the class of elements that a type word means; CLASS_INT for words that no vector has.
 */
enum elem_class type_word_class(enum type_word);

/* The roles of a permutation's operands; NO_OPERAND where there is none. Operand 0 holds the
 * values, operand 1 the index. PERMUTE has one descriptor for source and destination. */
struct permute_operands {
  int8_t flags, defaults, source, destination;
};
enum { NO_OPERAND = -1 };
struct permute_operands permute_operands(enum opcode op);

/* Returns the row of operations.def for an elementwise opcode with this type word; NULL for
 * others. */
const struct map_row *opcode_map_row(enum opcode op, enum type_word);

/* Returns the effect of the opcode's class. */
enum opcode_effect opcode_effect(enum opcode op);
/* Returns whether the opcode's results depend on its operands alone, without effects. Equal
 * instructions may then be merged, and one that cannot fail is removable if its results are
 * unused. */
bool opcode_is_pure(enum opcode op);
/* Returns the fault of unsuitable elements; CVL_E_NONE if all are suitable. */
enum cvl_error_kind opcode_fault(enum opcode op, enum type_word);
/* Returns whether executing the opcode may end the program: sizes may disagree, an element may
 * be unsuitable, or it is not pure. A lack of memory, and lengths that exceed INT, do not
 * count. */
bool opcode_may_fail(enum opcode op, enum type_word);

#endif
