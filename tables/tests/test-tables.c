/* test-tables.c - what tables.h derives from the rows, held against lists written by hand. */
#include "tables/tables.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Adds "name " to a list. */
static void tables_add(char *list, size_t size, const char *name) {
  const size_t used = strlen(list);
  snprintf(list + used, size - used, "%s ", name);
}

Test(tables, approximate) {
  char list[256] = "";
  for (int op = 0; op < OP_COUNT; op++) {
    if (op_is_approximate((enum cvl_op)op))
      tables_add(list, sizeof list, op_info((enum cvl_op)op)->name);
  }
  cr_expect_str_eq(list, "EXP LOG SIN COS TAN ASIN ACOS ATAN SINH COSH TANH ");
  cr_expect(!map_row(OP_SQRT, CLASS_FLOAT)->approximate);
}

Test(tables, every_checked_row_has_a_fault) {
  size_t count;
  const struct map_row *rows = map_rows(&count);
  for (size_t i = 0; i < count; i++) {
    cr_expect_eq(rows[i].fault != CVL_E_NONE, rows[i].condition != NULL, "%s",
                 op_info(rows[i].op)->name);
  }
}

Test(tables, faults) {
  cr_expect_eq(opcode_fault(OPC_DIV, TW_INT), CVL_E_DIVIDE_BY_ZERO);
  cr_expect_eq(opcode_fault(OPC_DIV, TW_FLOAT), CVL_E_NONE);
  cr_expect_eq(opcode_fault(OPC_MOD, TW_NONE), CVL_E_DIVIDE_BY_ZERO);
  cr_expect_eq(opcode_fault(OPC_BPERMUTE, TW_FLOAT), CVL_E_INDEX);
  cr_expect_eq(opcode_fault(OPC_MAKE_SEGDES, TW_NONE), CVL_E_NEGATIVE_LENGTH);
  cr_expect_eq(opcode_fault(OPC_LENGTHS, TW_NONE), CVL_E_NONE);
  cr_expect_str_eq(fault_name(CVL_E_DIVIDE_BY_ZERO), "DIVIDE_BY_ZERO");
}

/* The opcodes for which `holds`, with the first type word each exists for. */
static const char *those(bool (*holds)(enum opcode, enum type_word)) {
  static char list[2048];
  list[0] = '\0';
  for (int op = 0; op < OPC_COUNT; op++) {
    const unsigned types = opcode_info((enum opcode)op)->types;
    enum type_word type = types == NO_TYPE ? TW_NONE : TW_INT;
    if (holds((enum opcode)op, type))
      tables_add(list, sizeof list, opcode_info((enum opcode)op)->spelling);
  }
  return list;
}

static bool never_fails(enum opcode op, enum type_word type) {
  return !opcode_may_fail(op, type);
}
static bool has_effect(enum opcode op, enum type_word type) {
  (void)type;
  return !opcode_is_pure(op) && opcode_effect(op) != OPCODE_LOADED;
}

Test(tables, opcodes_that_never_fail) {
  cr_expect_str_eq(those(never_fails),
                   "NOT FLOOR CEIL TRUNC ROUND I_TO_F I_TO_B B_TO_I LOG SQRT EXP SIN COS TAN "
                   "ASIN ACOS ATAN SINH COSH TANH LENGTH LENGTHS PAIR UNPAIR ");
}

Test(tables, opcodes_with_effects) {
  cr_expect_str_eq(those(has_effect),
                   "RAND SRAND START_TIMER STOP_TIMER WRITE FWRITE READ FREAD FREAD_CHAR FOPEN "
                   "FCLOSE SPAWN ASSERT ");
}

Test(tables, operands) {
  cr_expect_eq(operand_kind('T', TW_BOOL), OPERAND_BOOL);
  cr_expect_eq(operand_kind('V', TW_CHAR), OPERAND_INT);
  cr_expect_eq(operand_kind('s', TW_INT), OPERAND_SEGDES);
  cr_expect_eq(operand_kind('f', TW_NONE), OPERAND_FLOAT);
  cr_expect_eq(operand_kind('p', TW_NONE), OPERAND_PAIR);
  cr_expect_eq(operand_kind('*', TW_INT), OPERAND_ANY);
  cr_expect_eq(opcode_map_row(OPC_FLOOR, TW_NONE)->in, CLASS_FLOAT);
  cr_expect_eq(opcode_map_row(OPC_SELECT, TW_BOOL)->in, CLASS_BOOL);
  cr_expect_null(opcode_map_row(OPC_ADD_SCAN, TW_INT));
}

static void expect_permute(enum opcode op, struct permute_operands want) {
  const struct permute_operands got = permute_operands(op);
  cr_expect(got.flags == want.flags && got.defaults == want.defaults &&
                got.source == want.source && got.destination == want.destination,
            "%s: flags %d defaults %d source %d destination %d", opcode_info(op)->spelling,
            got.flags, got.defaults, got.source, got.destination);
}

Test(tables, operands_of_permutations) {
  const int8_t none = NO_OPERAND;
  expect_permute(OPC_PERMUTE, (struct permute_operands){none, none, 2, 2});
  expect_permute(OPC_DPERMUTE, (struct permute_operands){none, 2, 3, 4});
  expect_permute(OPC_FPERMUTE, (struct permute_operands){2, none, 3, 4});
  expect_permute(OPC_BPERMUTE, (struct permute_operands){none, none, 2, 3});
  expect_permute(OPC_BFPERMUTE, (struct permute_operands){2, none, 3, 4});
  expect_permute(OPC_DFPERMUTE, (struct permute_operands){2, 3, 4, 5});
}
