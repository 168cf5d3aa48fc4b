/* derived.c - looks up properties that follow from the rows of the tables, for all rooms. */
#include "tables/tables.h"

#include <string.h>

/* ---- operands and results ---- */

enum operand_kind type_word_kind(enum type_word type) {
  switch (type) {
  case TW_INT:
  case TW_CHAR: return OPERAND_INT;
  case TW_FLOAT: return OPERAND_FLOAT;
  case TW_BOOL: return OPERAND_BOOL;
  case TW_SEGDES: return OPERAND_SEGDES;
  case TW_NONE: break;
  }
  return OPERAND_ANY;
}

enum operand_kind operand_kind(char letter, enum type_word type) {
  switch (letter) {
  case 'T':
  case 'V': return type_word_kind(type);
  case 'i': return OPERAND_INT;
  case 'f': return OPERAND_FLOAT;
  case 'b': return OPERAND_BOOL;
  case 's': return OPERAND_SEGDES;
  case 'p': return OPERAND_PAIR;
  default: return OPERAND_ANY;
  }
}

enum type_word operand_word(char letter, enum type_word type) {
  switch (operand_kind(letter, type)) {
  case OPERAND_INT: return TW_INT;
  case OPERAND_FLOAT: return TW_FLOAT;
  case OPERAND_BOOL: return TW_BOOL;
  case OPERAND_SEGDES: return TW_SEGDES;
  case OPERAND_PAIR:
  case OPERAND_ANY: break;
  }
  return TW_NONE;
}

const char *operand_kind_text(enum operand_kind kind) {
  static const char *const text[] = {"INT", "FLOAT", "BOOL", "SEGDES", "pair", "any"};
  return text[kind];
}

static enum elem_class class_of_operand(enum operand_kind kind) {
  return kind == OPERAND_FLOAT ? CLASS_FLOAT : kind == OPERAND_BOOL ? CLASS_BOOL : CLASS_INT;
}

enum elem_class type_word_class(enum type_word type) {
  return class_of_operand(type_word_kind(type));
}

struct permute_operands permute_operands(enum opcode op) {
  struct permute_operands p = {NO_OPERAND, NO_OPERAND, NO_OPERAND, NO_OPERAND};
  const char *letters = opcode_info(op)->operands;
  for (int8_t k = 2; letters[k] != '\0'; k++) {
    switch (letters[k]) {
    case 'b': p.flags = k; break;
    case 'T': p.defaults = k; break;
    default: /* the first is the source's, the last the destination's */
      if (p.source == NO_OPERAND) p.source = k;
      p.destination = k;
    }
  }
  return p;
}

/* ---- effects and faults ---- */

const struct map_row *opcode_map_row(enum opcode op, enum type_word type) {
  const struct opcode_info *info = opcode_info(op);
  if (info->klass != OC_ELEMENTWISE) return NULL;
  const char last = info->operands[strlen(info->operands) - 1];
  return map_row(info->operation, class_of_operand(operand_kind(last, type)));
}

enum opcode_effect opcode_effect(enum opcode op) {
  return opcode_class_info(opcode_info(op)->klass)->effect;
}

bool opcode_is_pure(enum opcode op) {
  return opcode_effect(op) == OPCODE_PURE;
}

enum cvl_error_kind opcode_fault(enum opcode op, enum type_word type) {
  const struct map_row *row = opcode_map_row(op, type);
  return row ? row->fault : opcode_info(op)->fault;
}

bool opcode_may_fail(enum opcode op, enum type_word type) {
  return !opcode_is_pure(op) || opcode_info(op)->rules[0].a != 0 ||
         opcode_fault(op, type) != CVL_E_NONE;
}
