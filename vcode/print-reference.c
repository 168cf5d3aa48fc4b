/* print-reference.c - writes docs/vcode-reference.md from the tables, to standard output.
 *
 * One section for each class of opcodes, one row for each opcode: operands,
 * results, sizes that must agree, meaning. A test compares the committed page with this.
 */
#include "tables/tables.h"

#include <stdio.h>
#include <string.h>

/* Returns how the arguments of an opcode are written, for opcodes that take more than a type.
 */
static const char *written_arguments(enum opcode op) {
  switch (op) {
  case OPC_COPY:
  case OPC_POP:
  case OPC_CPOP: return " n k";
  case OPC_FUNC:
  case OPC_CALL: return " name";
  case OPC_CONST: return " type value";
  case OPC_FUSED: return " n";
  case OPC_ASSERT: return " \"text\"";
  default: return "";
  }
}

static void print_types(unsigned types) {
  const char *separator = "";
  for (unsigned w = TW_INT; w < TW_NONE; w++) {
    if (!(types >> w & 1)) continue;
    printf("%s%s", separator, type_word_text((enum type_word)w));
    separator = ", ";
  }
}

/* Returns the kind that a letter of the table means, whatever the type word will be. */
static const char *kind_text(char letter) {
  switch (letter) {
  case 'T': return "type";
  case 'V': return "value";
  default: return operand_kind_text(operand_kind(letter, TW_NONE));
  }
}

/* Prints the operands, called a, b, c ... from the deepest up. The rules use these names. */
static void reference_operands(const char *kinds) {
  for (int k = 0; kinds[k] != '\0'; k++) {
    printf("%s%c: %s", k == 0 ? "" : ", ", 'a' + k, kind_text(kinds[k]));
  }
}

static void reference_results(const char *kinds) {
  for (int k = 0; kinds[k] != '\0'; k++)
    printf("%s%s", k == 0 ? "" : ", ", kind_text(kinds[k]));
}

static void print_size(uint8_t size) {
  char operand = (char)('a' + SIZE_OPERAND(size));
  switch (SIZE_WHAT(size)) {
  case SIZE_ONE: printf("1"); break;
  case SIZE_LEN: printf("length of %c", operand); break;
  case SIZE_TOTAL: printf("total of %c", operand); break;
  case SIZE_COUNT: printf("segments of %c", operand); break;
  default: break;
  }
}

/* Prints "length of a = total of b; ..." and, last, the size of the first result. */
static void print_agreement(const struct opcode_info *info) {
  const char *separator = "";
  for (const struct size_rule *rule = info->rules; rule->a != 0; rule++) {
    printf("%s", separator);
    print_size(rule->a);
    printf(" = ");
    print_size(rule->b);
    separator = "; ";
  }
  if (info->result_size == SIZE_UNKNOWN) return;
  printf("%sresult: ", separator);
  print_size(info->result_size);
}

static void print_row(enum opcode op) {
  const struct opcode_info *info = opcode_info(op);
  printf("| `%s%s` | ", info->spelling, written_arguments(op));
  print_types(info->types);
  printf(" | ");
  reference_operands(info->operands);
  printf(" | ");
  reference_results(info->results);
  printf(" | ");
  print_agreement(info);
  printf(" | %s |\n", info->doc);
}

static void print_section(enum opcode_class class) {
  const struct opcode_class_info *info = opcode_class_info(class);
  printf("\n## %s\n\n%s\n\n", info->title, info->introduction);
  printf("| Instruction | Types | Operands | Results | Sizes | Meaning |\n");
  printf("|---|---|---|---|---|---|\n");
  for (int op = 0; op < OPC_COUNT; op++) {
    if (opcode_info((enum opcode)op)->klass == class) print_row((enum opcode)op);
  }
}

static void print_literals(void) {
  printf("\n## Literals\n\n"
         "`CONST` takes one literal, or any number of them in parentheses:\n\n"
         "- INT: decimal digits, perhaps behind a sign; the number must fit the width.\n"
         "- FLOAT: digits with a point, perhaps a sign and an exponent (`1.0`, `-2.5E-3`). An\n"
         "  infinity is written as a literal that overflows, `1.0E999` or `-1.0E999`.\n"
         "  What is no number is `nan`, which interpreters of the 1990s do not read: `neslc\n"
         "  --portable` computes it.\n"
         "- BOOL: `T` or `F`. SEGDES: lengths of segments. CHAR: a string, `\"abc\"`.\n");
}

static void reference_arguments(void) {
  printf(
      "\n## Arguments\n\n"
      "A program may take values that are not its own: its entry function (`MAIN`, or the "
      "first\n"
      "function) finds them on the stack and declares them in its signature, deepest first.\n"
      "Other interpreters read it and ignore it:\n\n"
      "```\n"
      "FUNC MAIN I SEGDES FLOAT INT O FLOAT\n"
      "```\n\n"
      "takes a descriptor, a vector that it describes and a scalar, and leaves a scalar. "
      "`neslc\n"
      "--entry` writes such programs, `fcodeopt` keeps the signature. An entry that takes "
      "values and\n"
      "declares none, fewer, or others is an error before it runs. `vinterp FILE ARGUMENT...` "
      "gives\n"
      "the values, each argument the next one or several of them:\n\n"
      "- a file `.npy`, `.npz` or `.csv`: its descriptors, one for each dimension, then its\n"
      "  columns;\n"
      "- text: values as they are printed, such as `[2 1] (1.5 2 3)`, and scalars without "
      "brackets.\n"
      "  A vector (or `\"text\"`) where a descriptor is expected is one sequence: `(1.5 2 3)` "
      "is\n"
      "  `[3] (1.5 2 3)`.\n");
}

static void reference_marks(void) {
  printf("\n## Marks of a file\n\n"
         "Comments before the first function that Ravel reads and others skip:\n\n"
         "- `{%% widths INT 64 FLOAT 64 }`: the widths that the program was made for.\n"
         "- `{%% floats 17 }`: `FWRITE FLOAT` writes 17 digits, which read back as the same\n"
         "  numbers, and not 15. `neslc` writes it where a program writes values to be read "
         "again.\n");
}

static void print_instances(void) {
  printf(
      "\n## The mark of a function\n\n"
      "A comment behind a function's name, before its signature, says that it is lifted: it\n"
      "computes results for each of k instances from their own operands. So it may be called\n"
      "for some of them at a time ([memory.md](memory.md)):\n\n"
      "```\n"
      "FUNC ROW_SUMS {%% instances shared each 1 shared -> each }\n"
      "```\n\n"
      "There is a word for each operand that it takes and, behind `->`, that it leaves, "
      "deepest\n"
      "first:\n\n"
      "- `each`: a vector of k elements, or a descriptor of k segments;\n"
      "- a number: what the segments of the descriptor with this number among the operands "
      "taken\n"
      "  (or left) contain: as many elements, or segments, as that has in all;\n"
      "- `shared`, of an operand taken: the same for all instances.\n\n"
      "Operand 0 is the descriptor of one segment of length k, and `shared`; one at least "
      "is\n"
      "left. The function has no effect but RAND, and no RAND is reached through an arm of an\n"
      "IF. A mark that the function does not fit is an error. Types of operands that it only\n"
      "moves are those of its signature. Other interpreters skip the comment.\n\n"
      "A comment `{%% procedure NAME }` behind the mark names the function for one instance, "
      "its\n"
      "procedure. That takes the same operands but operand 0, and leaves the same: of what is\n"
      "`each`, one element or a descriptor of one segment. It has no effect. One that has "
      "other\n"
      "operands is an error.\n\n"
      "Two more comments there belong to loops that many instances take together. `{%% round "
      "}`\n"
      "marks a function of which each call is a round, `{%% rounds }` one that does nothing "
      "but\n"
      "call such functions and put their results together. They say where a fault occurred,\n"
      "round by round, and traces of calls leave out the calls within a loop.\n");
}

int main(void) {
  printf(
      "# VCODE reference\n\n"
      "Generated from `tables/opcodes.def` by `print-reference`; do not edit.\n\n"
      "Operands are named from the deepest slot of the stack (a) to the top. *type* is the\n"
      "type word written after the opcode. So is *value*, with CHAR meaning an INT vector.\n"
      "*Sizes* says what must agree, and the length (or total) of the first result where it\n"
      "is known before execution. Whatever disagrees is a run-time error with its line.\n");
  for (int class = 0; class < OC_COUNT; class ++) print_section((enum opcode_class) class);
  print_literals();
  reference_arguments();
  reference_marks();
  print_instances();
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
