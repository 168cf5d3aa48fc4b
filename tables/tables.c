/* tables.c - expands the tables into constant arrays. */
#include "tables/tables.h"

#include <string.h>

static const struct elem_info elems[CVL_ELEM_COUNT] = {
#define ELEMENT(id, class, ctype, unsigned_type, bytes, text) {CLASS_##class, bytes, text},
#include "tables/types.def"
};

const struct elem_info *elem_info(enum cvl_elem e) {
  return &elems[e];
}

const char *fault_name(enum cvl_error_kind kind) {
  static const char *const names[] = {
#define FAULT(id, doc) #id,
#include "tables/faults.def"
  };
  return names[kind];
}

static const struct op_info ops[OP_COUNT + 1] = {
#define OPERATION(op, arity, doc) {#op, arity, doc},
#include "tables/operations.def"
    {"NONE", 0, "no vector operation"},
};

const struct op_info *op_info(enum cvl_op op) {
  return &ops[op];
}

#define CLASS_I CLASS_INT
#define CLASS_F CLASS_FLOAT
#define CLASS_B CLASS_BOOL

static const struct map_row maps[] = {
#define ROW(op, in, out, approximate, fault, expression, condition)                            \
  {OP_##op, CLASS_##in, CLASS_##out, approximate, CVL_E_##fault, expression, condition},
#define UNARY(op, in, out, expression)       ROW(op, in, out, false, NONE, #expression, NULL)
#define APPROXIMATE(op, in, out, expression) ROW(op, in, out, true, NONE, #expression, NULL)
#define BINARY(op, in, out, expression)      ROW(op, in, out, false, NONE, #expression, NULL)
#define SELECT(op, in, out, expression)      ROW(op, in, out, false, NONE, #expression, NULL)
#define CHECKED(op, in, out, condition, fault, expression)                                     \
  ROW(op, in, out, false, fault, #expression, #condition)
#include "tables/operations.def"
};

static const struct combine_row combines[] = {
#define COMBINE(op, class, identity, pad, exact, expression)                                   \
  {OP_##op, CLASS_##class, exact, #expression, #identity, #pad},
#include "tables/operations.def"
};

const struct map_row *map_rows(size_t *count) {
  *count = sizeof maps / sizeof maps[0];
  return maps;
}

const struct combine_row *combine_rows(size_t *count) {
  *count = sizeof combines / sizeof combines[0];
  return combines;
}

const struct map_row *map_row(enum cvl_op op, enum elem_class in) {
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    if (maps[i].op == op && maps[i].in == in) return &maps[i];
  }
  return NULL;
}

bool op_is_approximate(enum cvl_op op) {
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    if (maps[i].op == op && maps[i].approximate) return true;
  }
  return false;
}

const struct combine_row *combine_row(enum cvl_op op, enum elem_class class) {
  for (size_t i = 0; i < sizeof combines / sizeof combines[0]; i++) {
    if (combines[i].op == op && combines[i].klass == class) return &combines[i];
  }
  return NULL;
}

const char *type_word_text(enum type_word w) {
  static const char *const text[] = {"INT", "FLOAT", "BOOL", "SEGDES", "CHAR", ""};
  return text[w];
}

#define LEN(k)   (SIZE_LEN | (k))
#define TOTAL(k) (SIZE_TOTAL | (k))
#define COUNT(k) (SIZE_COUNT | (k))
#define ONE      SIZE_ONE
#define UNKNOWN  SIZE_UNKNOWN
#define EQ(p, q) {p, q},
#define NONE     /* no rule; as an operation, OP_ ## NONE; as a fault, CVL_E_ ## NONE */
#define ONE_STEP false
#define LOG_STEP true

static const struct opcode_class_info classes[OC_COUNT] = {
#define OPCODE_CLASS(id, effect, steps, category, title, introduction)                         \
  {OPCODE_##effect, steps##_STEP, category, title, introduction},
#include "tables/opcodes.def"
};

const struct opcode_class_info *opcode_class_info(enum opcode_class class) {
  return &classes[class];
}

static const struct opcode_info opcodes[OPC_COUNT] = {
#define OPCODE(id, spelling, class, types, operands, results, agreement, sizes, operation,     \
               fault, doc)                                                                     \
  {spelling,          OC_##class, types,          operands,      results,                      \
   {agreement{0, 0}}, sizes,      OP_##operation, CVL_E_##fault, doc},
#include "tables/opcodes.def"
};

const struct opcode_info *opcode_info(enum opcode op) {
  return &opcodes[op];
}

bool opcode_find(const char *text, size_t length, enum opcode *op) {
  for (int i = 0; i < OPC_COUNT; i++) {
    const char *spelling = opcodes[i].spelling;
    if (strlen(spelling) == length && memcmp(spelling, text, length) == 0) {
      *op = (enum opcode)i;
      return true;
    }
  }
  return false;
}
