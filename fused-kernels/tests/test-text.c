/* test-text.c - definitions from text and back: what they mean, what is said of bad ones. */
#include "fused-kernels/tests/fixture.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>

static const struct widths classic = {CVL_I32, CVL_F64}, wide = {CVL_I64, CVL_F64},
                           narrow = {CVL_I32, CVL_F32};

static const char *first_message(const struct loaded *l) {
  return l->diags.list.count == 0 ? "no message" : l->diags.list.items[0].message;
}

/* ---- what is well formed ---- */

Test(parse, nodes_in_the_order_of_closing_parentheses) {
  struct loaded l;
  load(
      &l,
      "fused OP0#1 ($0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES) =\n"
      "  $4 = (BPERMUTE FLOAT @ $0 $1 $2 $3)\n"
      "  {@ p.nesl:3:1 sum }\n"
      "  $5 $6 = (PACK FLOAT @ (* FLOAT @ $4 $4) (> FLOAT @ $4 (DIST FLOAT @ (CONST FLOAT 0.5) "
      "$3)) $3)\n"
      "  $7 = (+_REDUCE FLOAT @ $4 $3)\n"
      "  -> $7 $5 $6",
      classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  const struct superop *op = l.ops[0];
  static const enum opcode order[] = {OPC_BPERMUTE, OPC_MUL,  OPC_CONST,     OPC_DIST,
                                      OPC_GT,       OPC_PACK, OPC_ADD_REDUCE};
  cr_assert_eq(op->node_count, 7);
  for (uint32_t k = 0; k < 7; k++) cr_expect_eq(op->nodes[k].op, order[k], "node %u", k);
  cr_expect(op->output_count == 3 && op->outputs[0] == 11 && op->outputs[1] == 9 &&
            op->outputs[2] == 10);
  cr_expect(op->nodes[0].pos.line == 2 && op->nodes[0].pos.column == 9);
  cr_expect_eq(op->nodes[0].origin, 0);
  const struct origin *origin = origin_at(&l.program->origins, op->nodes[1].origin);
  cr_expect(strcmp(origin->file, "p.nesl") == 0 && origin->pos.line == 3);
  cr_expect_str_eq(origin_at(&l.program->origins, op->nodes[6].origin)->function, "sum");
  unload(&l);
}

Test(parse, proven_operations_are_not_checked) {
  struct loaded l;
  load(&l, "fused OP0#1 ($0 : INT) = (! / INT @ (/ INT @ $0 $0) (! + INT @ $0 $0))", classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  cr_expect(l.ops[0]->nodes[0].checked);
  cr_expect(!l.ops[0]->nodes[1].checked);
  cr_expect(!l.ops[0]->nodes[2].checked);
  unload(&l);
}

Test(parse, kinds_of_any_come_from_use) {
  struct loaded l;
  load(&l,
       "fused OP0#1 ($0 : ANY, $1 : ANY, $2 : ANY, $3 : ANY) ="
       "(SELECT FLOAT @ $0 $1 (I_TO_F @ (INDEX @ $2 $2 $3)))",
       classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  static const uint8_t kinds[] = {SUPEROP_BOOL, SUPEROP_FLOAT, SUPEROP_INT, SUPEROP_SEGDES};
  cr_expect(memcmp(l.ops[0]->params, kinds, 4) == 0);
  unload(&l);
}

Test(parse, literals_have_the_widths_of_the_program) {
  static const char text[] = "fused OP0#1 ($0 : SEGDES) = (DIST FLOAT @ (CONST FLOAT 0.1) $0)";
  struct loaded l;
  load(&l, text, narrow);
  cr_expect_eq(l.ops[0]->nodes[0].constant.elem, CVL_F32);
  cr_expect_eq(l.ops[0]->nodes[0].constant.as.f32, 0.1F);
  unload(&l);
  load(&l, text, wide);
  cr_expect_eq(l.ops[0]->nodes[0].constant.as.f64, 0.1);
  unload(&l);
}

/* ---- faults ---- */

#define HEAD "fused OP0#1 ($0 : INT, $1 : FLOAT, $2 : SEGDES) = "

static const struct fault {
  const char *text;
  uint32_t line, column;
  const char *says[2];
} faults[] = {
    {"fused X0#1 () = ", 1, 7, {"OP0", "found X0"}},
    {"fused OP1#1 () = ", 1, 7, {"in order", "OP0 must"}},
    {"fused OP0 () = ", 1, 15, {"expression", "found the end"}},
    {"fused OP0 # () = ", 1, 13, {"#", "found ("}},
    {"fused OP0 1 () = ", 1, 11, {"($0 : INT, ...)", "found 1"}},
    {"fused OP0#x () = ", 1, 11, {"how often", "found x"}},
    {"fused OP0#1 $0 = $0", 1, 13, {"list of parameters", "found $0"}},
    {"fused OP0#1 ($1 : INT) = $0", 1, 14, {"$0 must", "found $1"}},
    {"fused OP0#1 ($0 INT) = $0", 1, 17, {"kind", "found INT"}},
    {"fused OP0#1 ($0 : CHAR) = $0", 1, 19, {"SEGDES or ANY", "found CHAR"}},
    {"fused OP0#1 ($0 : INT $1 : INT) = $0", 1, 23, {", or )", NULL}},
    {"fused OP0#1 ($0 : INT) $0", 1, 24, {"=", "found $0"}},
    {"fused OP0#1 ($0 : ANY, $1 : INT) = (NOT INT @ $1)", 1, 14, {"nowhere", "$0"}},
    {HEAD, 1, 50, {"expression", "the end"}},
    {HEAD "$0", 1, 51, {"computed", NULL}},
    {HEAD "\n(foo @ $0)", 2, 2, {"operation", "found foo"}},
    {HEAD "\n(COPY 1 0 @ $0)", 2, 2, {"COPY", "may not occur"}},
    {HEAD "\n(RANK_UP INT @ $0 $2)", 2, 2, {"RANK_UP", "may not occur"}},
    {HEAD "\n(+ @ $0 $0)", 2, 4, {"+ must", "type"}},
    {HEAD "\n(+ BOOL @ $0 $0)", 2, 4, {"+ must", "found BOOL"}},
    {HEAD "\n(% INT @ $0 $0)", 2, 4, {"no type", "INT"}},
    {HEAD "\n(+ INT $0 $0)", 2, 8, {"@", "found $0"}},
    {HEAD "\n(+ INT @ $0)", 2, 12, {"2 operands", "found 1"}},
    {HEAD "\n(+ INT @ $0 $0 $0)", 2, 16, {"2 operands", "one more"}},
    {HEAD "\n(+ INT @ $0 $3)", 2, 13, {"$3", "not defined"}},
    {HEAD "\n(+ INT @ $0 $1)", 2, 2, {"FLOAT, not INT", NULL}},
    {HEAD "\n(+ INT @ $0 $", 2, 13, {"operand", "character $"}},
    {HEAD "\n(+ INT @ $0 $0", 2, 15, {"operand or )", "the end"}},
    {HEAD "\n(DIST INT @ (CONST INT 1.0) $2)", 2, 24, {"integer", "1.0"}},
    {HEAD "\n(DIST INT @ (CONST INT 4294967296) $2)", 2, 24, {"4294967296", "32 bits"}},
    {HEAD "\n(DIST FLOAT @ (CONST FLOAT 1) $2)", 2, 28, {"real", "found 1"}},
    {HEAD "\n(DIST BOOL @ (CONST BOOL 1) $2)", 2, 26, {"T or F", "found 1"}},
    {HEAD "\n(DIST INT @ (CONST SEGDES 1) $2)", 2, 20, {"CONST", "SEGDES"}},
    {HEAD "\n$4 = (NOT INT @ $0)", 2, 1, {"$3 must", "found $4"}},
    {HEAD "\n$3 (NOT INT @ $0)", 2, 4, {"=", "found ("}},
    {HEAD "\n$3 $4 = (NOT INT @ $0)", 2, 1, {"2 names", "1 result"}},
    {HEAD "\n$3 = (PACK INT @ $0 (I_TO_B @ $0) $2) -> $3", 2, 1, {"1 name", "2 results"}},
    {HEAD "\n(NOT INT @ (PACK INT @ $0 (I_TO_B @ $0) $2))", 2, 13, {"2 results", "names"}},
    {HEAD "\n(PACK INT @ $0 (I_TO_B @ $0) $2)", 2, 1, {"two results", "->"}},
    {HEAD "\n$3 = (NOT INT @ $0)", 2, 20, {"expression", "the end"}},
    {HEAD "\n$3 = (NOT INT @ $0) ->", 2, 23, {"outputs", "the end"}},
    {HEAD "\n$3 = (NOT INT @ $0) -> $3 $3", 2, 27, {"once", NULL}},
    {HEAD "\n$3 = (NOT INT @ $0) -> $0", 2, 24, {"parameter", NULL}},
    {HEAD "\n$3 = (NOT INT @ $0) -> $3 )", 2, 27, {"end here", "found )"}},
    {HEAD "\n(NOT INT @ $0) $0", 2, 16, {"end here", "found $0"}},
    {HEAD "\n(NOT INT @ \"$0\")", 2, 12, {"operand", "found \"$0\""}},
    {HEAD "\n(ASSERT @ (I_TO_B @ $0) $0 $0)", 2, 9, {"string in double quotes", "found @"}},
    {HEAD "\n(NOT BOOL @ (ASSERT \"x\" @ (I_TO_B @ $0) $0 $0))", 2, 14, {"no result", "line"}},
    {HEAD "\n$3 = (ASSERT \"x\" @ (I_TO_B @ $0) $0 $0)", 2, 1, {"1 name", "0 results"}},
    {HEAD "\n(NOT BOOL @ (WHILE @ (I_TO_B @ $0)))", 2, 14, {"WHILE has no result", "line"}},
    {HEAD "\n(NOT INT @ (COLUMN INT @ $0))", 2, 13, {"2 results of COLUMN", "names"}},
};

/* A loop that is whole but for what is in the middle of it and behind it. */
#define LOOP(inside, after)                                                                    \
  "fused OP0#1 ($0 : INT, $1 : BOOL, $2 : SEGDES) =\n"                                         \
  "$3 = (DIST INT @ (CONST INT 2) $2) $4 = (CARRY INT @ $0) $5 = (CARRY BOOL @ $1)\n" inside   \
  "\n(WHILE @ $5) $6 = (- INT @ $4 $3) $7 = (> INT @ $6 $3)\n" after

static const struct {
  const char *text, *says;
} loop_faults[] = {
    {LOOP("", "$8 = (NEXT INT @ $4 $6)\n-> $8"), "does not end"},
    {LOOP("", "$8 = (NEXT BOOL @ $5 $7) $9 = (NEXT INT @ $4 $6)\n-> $8"), "order of CARRY"},
    {LOOP("(WHILE @ $5)", "$8 = (NEXT INT @ $4 $6) $9 = (NEXT BOOL @ $5 $7)\n-> $8"),
     "one WHILE"},
    {LOOP("", "$8 = (NEXT INT @ $4 $0) $9 = (NEXT BOOL @ $5 $7)\n-> $8"), "not carried"},
    {LOOP("", "$8 = (NEXT INT @ $4 $6) $9 = (NEXT BOOL @ $5 $7)\n(+ INT @ $8 $4)"), "inside"},
    {LOOP("", "$8 = (NEXT INT @ $4 $6) $9 = (NEXT BOOL @ $5 $7)\n-> $8 $6"), "inside"},
    {LOOP("", "$8 = (/ INT @ $6 $4) $9 = (NEXT INT @ $4 $8) $10 = (NEXT BOOL @ $5 $7)\n-> $9"),
     "may fail"},
    {LOOP("", "$8 = (+_REDUCE INT @ $0 $2) $9 = (NEXT INT @ $4 $6)\n-> $9"), "elementwise"},
    {LOOP("", "$8 = (CARRY INT @ $0) $9 = (NEXT INT @ $4 $6)\n-> $9"), "beginning"},
    {LOOP("", "$8 = (NEXT INT @ $4 $6) $9 = (NEXT BOOL @ $5 $7)\n(ASSERT \"x\" @ $9 $8 $8)"),
     "ASSERT"},
    {HEAD "$3 = (NOT INT @ $0) (WHILE @ (I_TO_B @ $0)) -> $3", "a loop has one WHILE"},
    {HEAD "(NEXT INT @ $0 $0)", "end of a loop"},
};

Test(parse, loops_have_their_shape) {
  struct loaded l;
  load(&l, LOOP("", "$8 = (NEXT INT @ $4 $6) $9 = (NEXT BOOL @ $5 $7)\n-> $8"), classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  char formula[200];
  cr_expect_str_eq(fused_formula(l.ops[0], formula, sizeof formula),
                   "t1 = r1 - 2; r1 after r1 = i, r2 = p while r2: r1 = t1, r2 = (t1 > 2)");
  cr_expect_eq(l.ops[0]->last_use[4], l.ops[0]->node_count - 1, "the constant");
  unload(&l);
  for (size_t i = 0; i < sizeof loop_faults / sizeof loop_faults[0]; i++) {
    load(&l, loop_faults[i].text, classic);
    cr_expect_null(l.ops[0], "accepted: %s", loop_faults[i].text);
    cr_expect(strstr(first_message(&l), loop_faults[i].says), "%s\n  %s", loop_faults[i].text,
              first_message(&l));
    unload(&l);
  }
}

/* A combination of two columns that is whole but for what is in the middle of it and behind it.
 */
#define COMBINE(inside, after)                                                                 \
  "fused OP0#1 ($0 : INT, $1 : FLOAT, $2 : SEGDES, $3 : SEGDES) =\n"                           \
  "$4 = (CONST INT 2) $5 = (DIST INT @ $4 $3) $6 = (CONST FLOAT 1.0)\n"                        \
  "$7 $8 = (COLUMN INT @ $0) $9 $10 = (COLUMN FLOAT @ $1)\n"                                   \
  "$11 = (- INT @ (* INT @ $7 $5) $8)\n" inside "\n" after

#define REDUCED                                                                                \
  "$12 = (COMBINE_REDUCE INT @ $7 $11 $4 $2) $13 = (COMBINE_REDUCE FLOAT @ $9 $10 $6 $2)\n"

static const struct {
  const char *text, *says;
} combine_faults[] = {
    {COMBINE("", "$12 = (COMBINE_REDUCE INT @ $7 $11 $4 $2) -> $12"), "does not end"},
    {COMBINE("", "$12 = (COMBINE_REDUCE FLOAT @ $9 $10 $6 $2) -> $12"), "in their order"},
    {COMBINE("", "$12 = (COMBINE_REDUCE INT @ $8 $11 $4 $2) -> $12"), "left result"},
    {COMBINE("", "$12 = (COMBINE_REDUCE INT @ $7 $11 $4 $2)"
                 "$13 = (COMBINE_SCAN FLOAT @ $9 $10 $6 $2) -> $13"),
     "of one kind"},
    {COMBINE("", "$12 = (COMBINE_REDUCE INT @ $7 $11 $4 $2)"
                 "$13 = (COMBINE_REDUCE FLOAT @ $9 $10 $6 $3) -> $13"),
     "under $3, an operation before under $2"},
    {COMBINE("", "$12 = (COMBINE_SCATTER INT @ $7 $11 $0 $0 $2 $3)"
                 "$13 = (COMBINE_SCATTER FLOAT @ $9 $10 $0 $1 $2 $2) -> $13"),
     "same index and descriptors"},
    {COMBINE("", "$12 = (COMBINE_REDUCE INT @ $7 $11 $4 $2) $13 = (NOT INT @ $7) -> $12"),
     "follow each other"},
    {COMBINE("$12 = (+ INT @ $11 $0)", "-> $12"), "no column"},
    {COMBINE("$12 = (/ INT @ $11 $7)", "-> $12"), "may fail"},
    {COMBINE("$12 = (DIST INT @ $4 $3)", "-> $12"), "before the combination"},
    {COMBINE("$12 = (+_REDUCE INT @ $0 $2)", "-> $12"), "elementwise operations only"},
    {COMBINE("$12 $13 = (COLUMN INT @ $0)", "-> $12"), "beginning of a combination"},
    {COMBINE("", REDUCED "$14 = (NOT INT @ $11) -> $14"), "only the results are known"},
    {COMBINE("", REDUCED "$14 $15 = (COLUMN INT @ $7) -> $12"), "only the results are known"},
    {COMBINE("", REDUCED "-> $12 $11"), "an output is inside"},
    {COMBINE("", "$12 = (COMBINE_REDUCE INT @ $7 $0 $4 $2) -> $12"), "no column"},
    {COMBINE("", "$12 = (COMBINE_SCATTER INT @ $7 $11 $11 $0 $2 $3) -> $12"),
     "only the results are known"},
    {COMBINE("", REDUCED "$14 = (NOT INT @ $12) -> $14"), "one element for each position"},
    {HEAD "(COMBINE_REDUCE INT @ $0 $0 $0 $2)", "begins with COLUMN"},
    {HEAD
     "$3 $4 = (COLUMN INT @ $0) $5 $6 = (COLUMN INT @ $0) $7 $8 = (COLUMN INT @ $0)\n"
     "$9 $10 = (COLUMN INT @ $0) $11 $12 = (COLUMN INT @ $0) $13 $14 = (COLUMN INT @ $0)\n"
     "$15 $16 = (COLUMN INT @ $0) $17 $18 = (COLUMN INT @ $0) $19 $20 = (COLUMN INT @ $0)\n"
     "-> $3",
     "at most 8 columns"},
};

Test(parse, combinations_have_their_shape) {
  struct loaded l;
  load(&l, COMBINE("", REDUCED "-> $12 $13"), classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  const struct superop_combination c = superop_combination_at(l.ops[0], 3);
  cr_expect(c.first == 3 && c.count == 2 && c.ends == 7);
  cr_expect_eq(l.ops[0]->last_use[5], 8, "the constant that f reads again and again");
  unload(&l);
  for (size_t i = 0; i < sizeof combine_faults / sizeof combine_faults[0]; i++) {
    load(&l, combine_faults[i].text, classic);
    cr_expect_null(l.ops[0], "accepted: %s", combine_faults[i].text);
    cr_expect(strstr(first_message(&l), combine_faults[i].says), "%s\n  %s",
              combine_faults[i].text, first_message(&l));
    unload(&l);
  }
}

Test(parse, faults_say_what_and_where) {
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    const struct fault *f = &faults[i];
    struct loaded l;
    load(&l, f->text, classic);
    cr_assert_eq(l.count, 1);
    cr_assert_null(l.ops[0], "accepted: %s", f->text);
    cr_assert_eq(l.diags.errors, 1, "%s", f->text);
    const struct diag *d = &l.diags.list.items[0];
    cr_expect_str_eq(d->file, "test.sop");
    cr_expect(d->pos.line == f->line && d->pos.column == f->column, "%s\n  %u:%u: %s", f->text,
              d->pos.line, d->pos.column, d->message);
    for (int k = 0; k < 2; k++) {
      cr_expect(f->says[k] == NULL || strstr(d->message, f->says[k]) != NULL,
                "%s\n  %s\n  does not say: %s", f->text, d->message, f->says[k]);
    }
    unload(&l);
  }
}

/* ---- text again ---- */

static char *test_text_printed(const struct loaded *l, uint32_t k) {
  char *text = NULL;
  size_t length;
  FILE *file = open_memstream(&text, &length);
  fused_print(l->ops[k], 1, &l->program->origins, file);
  fclose(file);
  return text;
}

/* Every definition, printed and read again, is the same with the same origins. */
static void text_check_round_trip(const char *text, struct widths widths) {
  struct loaded l, again;
  load(&l, text, widths);
  load(&again, "", widths);
  for (uint32_t k = 0; k < l.count; k++) {
    cr_assert_not_null(l.ops[k], "%s:%u: %s", text, l.diags.list.items[0].pos.line,
                       first_message(&l));
    char *once = test_text_printed(&l, k);
    load_more(&again, once);
    const struct superop *a = l.ops[k], *b = again.ops[k];
    cr_assert_not_null(b, "%s\n%s", once, first_message(&again));
    cr_expect(superop_same(a, b), "%s", once);
    for (uint32_t i = 0; i < a->node_count && i < b->node_count; i++) {
      const struct origin *x = origin_at(&l.program->origins, a->nodes[i].origin),
                          *y = origin_at(&again.program->origins, b->nodes[i].origin);
      const bool same =
          x == y || (x && y && strcmp(x->file, y->file) == 0 && x->pos.line == y->pos.line &&
                     x->pos.column == y->pos.column);
      cr_expect(a->nodes[i].op == OPC_CONST /* cannot fail */ || same, "%s", once);
    }
    char *twice = test_text_printed(&again, k);
    cr_expect_str_eq(once, twice);
    free(once);
    free(twice);
  }
  cr_expect_eq(again.diags.errors, 0);
  unload(&l);
  unload(&again);
}

Test(print, the_layout) {
  static const char text[] = "fused OP0#1 ($0 : INT, $1 : SEGDES) =\n"
                             "  {@ p.nesl:1:2 f }\n"
                             "  $2 = (! / INT @ $0 (+ INT @ $0 $0))\n"
                             "  $3 = (- INT @ (/ INT @ $2 $0) $2)\n"
                             "  {@ p.nesl:1:9 f }\n"
                             "  $4 = (/ INT @ $3 $2)\n"
                             "  {@ p.nesl:2:1 }\n"
                             "  $5 = (+_REDUCE INT @ $4 $1)\n"
                             "  -> $5 $3\n";
  struct loaded l;
  load(&l, text, classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  char *again = test_text_printed(&l, 0);
  cr_expect_str_eq(again, text);
  free(again);
  unload(&l);
}

Test(print, what_is_executed_between_gets_a_name) {
  /* The order is a b c d: b is used twice, so a, which was executed before, needs a line too.
   */
  text_check_round_trip(
      "fused OP0#1 ($0 : INT) ="
      "$1 = (NOT INT @ $0) $2 = (+ INT @ $0 $0) $3 = (* INT @ $2 $2)"
      "(- INT @ $1 $3)\n"
      /* The right operand first. */
      "fused OP1#1 ($0 : INT) ="
      "$1 = (NOT INT @ $0) $2 = (+ INT @ $0 $0) (- INT @ $2 $1)\n"
      /* Results that nobody uses, and outputs in another order. */
      "fused OP2#1 ($0 : INT, $1 : SEGDES) ="
      "$2 = (/ INT @ $0 $0) $3 $4 = (PACK INT @ $0 (= INT @ $0 $0) $1)"
      "$5 = (MAX_SCAN INT @ $0 $1) -> $5 $4\n"
      /* An output that is an operand too; a name for no reason. */
      "fused OP3#1 ($0 : INT, $1 : SEGDES) ="
      "$2 = (NOT INT @ $0) $3 = (- INT @ $2 $0) $4 = (* INT @ $3 $3) -> $2 $4\n"
      "fused OP4#1 ($0 : INT) = $1 = (NOT INT @ $0) $1\n"
      "fused OP5#1 ($0 : SEGDES) = {@ a:1:1 } $1 = (CONST INT 3) {@ a:1:2 f }"
      "(INDEX @ $1 $1 $0)\n",
      classic);
}

Test(print, assertions) {
  static const char text[] = "fused OP0#1 ($0 : INT, $1 : BOOL, $2 : SEGDES) =\n"
                             "  $3 = (- INT @ $0 $0)\n"
                             "  (ASSERT \"{v} of FUNC\" @ (NOT BOOL @ $1) $0 (NOT INT @ $3))\n"
                             "  (! ASSERT \"\" @ $1 $0 $3)\n";
  struct loaded l;
  load(&l, text, classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  cr_expect_eq(l.ops[0]->output_count, 0);
  char *again = test_text_printed(&l, 0);
  cr_expect_str_eq(again, text);
  free(again);
  unload(&l);
}

/* Everything before it gets names, so that nothing is between COLUMNs, or between consumers. */
Test(print, combinations) {
  static const char text[] = "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES) =\n"
                             "  $4 = (CONST INT 7)\n"
                             "  $5 = (DIST INT @ (CONST INT 2) $3)\n"
                             "  $6 $7 = (COLUMN INT @ $0)\n"
                             "  $8 $9 = (COLUMN INT @ $1)\n"
                             "  $10 = (- INT @ (* INT @ $6 $5) $9)\n"
                             "  $11 = (COMBINE_SCAN INT @ $6 $10 $4 $2)\n"
                             "  $12 = (COMBINE_SCAN INT @ $8 $10 $4 $2)\n"
                             "  -> $11 $12\n";
  struct loaded l;
  load(&l, text, classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  char *again = test_text_printed(&l, 0);
  cr_expect_str_eq(again, text);
  free(again);
  unload(&l);
  text_check_round_trip(COMBINE("", REDUCED "-> $13"), classic);
  text_check_round_trip(
      "fused OP0#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES) ="
      "$5 = (NOT INT @ $1) $6 $7 = (COLUMN INT @ (NOT INT @ $0)) $8 = (* INT @ $6 $7)"
      "(! COMBINE_SCATTER INT @ $6 (+ INT @ $8 $8) $5 $2 $3 $4)",
      classic);
}

Test(print, copies) {
  static const char text[] =
      "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : INT, $4 : INT, $5 : SEGDES,\n"
      "    $6 : SEGDES, $7 : SEGDES, $8 : SEGDES) =\n"
      "  (DPERMUTE INT @ $3 (INDEX @ $4 $4 $5)\n"
      "    (FPERMUTE INT @ $0 (INDEX @ $1 $1 $2) (DIST BOOL @ (CONST BOOL T) $6) $6 $8) $7 "
      "$8)\n"
      "fused OP1#1 ($0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES) =\n"
      "  $4 = (BPERMUTE FLOAT @ $0 (INDEX @ $1 $1 $2) $3 $2)\n";
  struct loaded l;
  load(&l, text, classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  cr_assert_not_null(l.ops[1], "%s", first_message(&l));
  cr_expect(l.ops[0]->copies && l.ops[1]->copies);
  cr_expect_eq(l.ops[1]->output_count, 0);
  unload(&l);
  text_check_round_trip(text, classic);
}

/* As the paper of 2012 prints them. */
Test(parse, definitions_without_uses) {
  struct loaded l;
  load(&l,
       "fused OP0 ($0 : INT, $1 : INT) =\n  (+ INT @ $0 (* INT @ $1 $1))\n"
       "fused OP1($0 : FLOAT) = (SQRT @ $0)",
       classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  cr_assert_not_null(l.ops[1], "%s", first_message(&l));
  cr_expect_eq(l.ops[0]->node_count, 2);
  unload(&l);
}

Test(print, constants_to_the_last_bit) {
  static const char text[] = "fused OP0#1 ($0 : SEGDES) = (DIST FLOAT @ (CONST FLOAT %s) $0)";
  static const char *const reals[] = {"0.1",     "-0.0",    "1.0E999", "-1.0e999",   "5.0e-324",
                                      "1.0e300", "1.0e-30", "3.",      "16777217.0", "nan"};
  for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
    char definition[128];
    snprintf(definition, sizeof definition, text, reals[i]);
    text_check_round_trip(definition, wide);
    text_check_round_trip(definition, narrow);
  }
  text_check_round_trip(
      "fused OP0#1 ($0 : SEGDES) = (INDEX @ (CONST INT -9223372036854775808) "
      "(CONST INT 9223372036854775807) $0)\n"
      "fused OP1#1 ($0 : SEGDES) = (NOT BOOL @ (DIST BOOL @ (CONST BOOL T) $0))",
      wide);
}

/* Deeper than any C stack would like, if there were one frame for each. */
Test(print, any_depth) {
  enum { DEPTH = 4000 };
  char *text = malloc(DEPTH * 16 + 64);
  size_t n = (size_t)sprintf(text, "fused OP0#1 ($0 : INT) = ");
  for (int i = 0; i < DEPTH; i++) n += (size_t)sprintf(text + n, "(NOT INT @ ");
  n += (size_t)sprintf(text + n, "$0");
  for (int i = 0; i < DEPTH; i++) n += (size_t)sprintf(text + n, ")");
  text_check_round_trip(text, classic);
  free(text);
  enum { MANY = 1000000 };
  text = malloc(MANY * 11 + 64);
  n = (size_t)sprintf(text, "fused OP0#1 ($0 : INT) = ");
  for (int i = 0; i < MANY; i++) n += (size_t)sprintf(text + n, "(NOT INT @ ");
  struct loaded l;
  load(&l, text, classic);
  cr_expect_null(l.ops[0]);
  cr_expect_eq(l.diags.errors, 1);
  unload(&l);
  free(text);
}

/* ---- random superoperators ---- */

static uint64_t text_draw(uint64_t *state, uint64_t below) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return (*state >> 33) % below;
}

/* A combination of two columns, $x and $y, as names from `name` on, of which it takes 7; those
 * of the last two are results. Returns how long it is. */
static size_t random_combination(char *text, size_t size, uint64_t *state, uint32_t name,
                                 uint64_t x, uint64_t y) {
  const bool exclusive = text_draw(state, 2) == 0;
  const char *consumer = exclusive ? "COMBINE_SCAN INT" : "COMBINE_SCAN_INCLUSIVE INT";
  const char *identity = exclusive ? " $0" : "";
  return (size_t)snprintf(text, size,
                          "$%u $%u = (COLUMN INT @ $%u) $%u $%u = (COLUMN INT @ $%u)\n"
                          "$%u = (- INT @ (NOT INT @ $%u) $%u)\n"
                          "$%u = (%s @ $%u $%u%s $2) {@ p:%u:1 f } $%u = (%s @ $%u $%u%s $2)\n",
                          name, name + 1, (unsigned)x, name + 2, name + 3, (unsigned)y,
                          name + 4, name, name + 3, name + 5, consumer, name, name + 4,
                          identity, (unsigned)text_draw(state, 3), name + 6, consumer, name + 2,
                          name + 1, identity);
}

/* A definition of up to 40 nodes, each a line, with operands from anywhere before; a
 * combination counts as one. */
static void random_definition(uint64_t seed, char *text, size_t size) {
  static const char *const ops[] = {"/ INT",      "! / INT",    "+ INT",         "NOT INT",
                                    "SELECT INT", "+_SCAN INT", "MAX_REDUCE INT"};
  uint64_t state = seed;
  uint32_t domain[64], count = 2, name = 4, nodes = 1 + (uint32_t)text_draw(&state, 40);
  bool hidden[512] = {false}; /* inside a combination */
  domain[0] = 0;
  domain[1] = 1;
  size_t n = (size_t)snprintf(text, size,
                              "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : BOOL) =\n");
  for (uint32_t k = 0; k < nodes; k++) {
    uint64_t which = text_draw(&state, k == 0 ? 5 : 9), x = domain[text_draw(&state, count)],
             y = domain[text_draw(&state, count)];
    if (which == 8) {
      n += random_combination(text + n, size - n, &state, name, x, y);
      for (int i = 0; i < 5; i++) hidden[name++] = true;
      name += 2;
      continue;
    }
    if (which == 7) { /* what would end a definition or begin a comment, in a string */
      n += (size_t)snprintf(
          text + n, size - n,
          "{@ p:%u:1 f } (ASSERT \" {v} FUNC } ( fused OP1 {\" @ $3 $%u $%u)\n",
          (unsigned)text_draw(&state, 3), (unsigned)x, (unsigned)y);
      continue;
    }
    n += (size_t)snprintf(text + n, size - n, "{@ p:%u:1 f } $%u = (%s @ %s$%u",
                          (unsigned)text_draw(&state, 3), name, ops[which],
                          which == 4 ? "$3 " : "", (unsigned)x);
    if (which != 3)
      n += (size_t)snprintf(text + n, size - n, " $%u", which > 4 ? 2 : (unsigned)y);
    n += (size_t)snprintf(text + n, size - n, ")\n");
    if (which < 5) domain[count++] = name;
    name++;
  }
  n += (size_t)snprintf(text + n, size - n, "->");
  bool any = false;
  for (uint32_t v = 4; v < name; v++) {
    if (hidden[v]) continue;
    if (text_draw(&state, 4) != 0 && (any || v + 1 != name)) continue;
    n += (size_t)snprintf(text + n, size - n, " $%u", v);
    any = true;
  }
}

Test(print, random_definitions) {
  for (uint64_t seed = 1; seed <= 2000; seed++) {
    char text[16384];
    random_definition(seed, text, sizeof text);
    text_check_round_trip(text, classic);
  }
}

/* ---- the shared corpus, where it is ---- */

Test(corpus, definitions_of_2012) {
  glob_t files;
  if (glob(RAVEL_CORPUS "/fcode/*.sop", 0, NULL, &files) != 0) cr_skip_test("no corpus here");
  for (size_t i = 0; i < files.gl_pathc; i++) {
    FILE *file = fopen(files.gl_pathv[i], "rb");
    cr_assert_not_null(file);
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    text_check_round_trip(text, classic);
  }
  globfree(&files);
}

/* ---- memory ---- */

Test(parse, every_failing_allocation_is_an_ordinary_error) {
  char text[16384];
  size_t n = (size_t)sprintf(text, "fused OP0#1 ($0 : INT) = ");
  for (int i = 0; i < 200; i++)
    n += (size_t)sprintf(text + n, "{@ a:1:%d } $%d = (NOT INT @ $%d)\n", i, i + 1, i);
  sprintf(text + n, "$200");
  for (uint64_t nth = 1;; nth++) {
    struct loaded l;
    load(&l, "", classic);
    vcode_parse_definitions(&l.arena, l.program, "t", text, strlen(text), &l.diags);
    uint64_t before = l.heap.count;
    l.heap.fail_at = before + nth;
    const struct superop *op = fused_parse(&l.arena, l.program, &l.program->fused[0], &l.diags);
    bool failed = l.heap.count >= before + nth;
    cr_expect_eq(op == NULL, failed);
    cr_expect_eq(l.diags.errors != 0, failed);
    unload(&l);
    if (!failed) break;
  }
}

/* ---- formulas ---- */

static void check_formula(const char *definition, const char *wanted) {
  struct loaded l;
  char text[200];
  load(&l, definition, classic);
  cr_assert_not_null(l.ops[0], "%s", first_message(&l));
  cr_expect_str_eq(fused_formula(l.ops[0], text, sizeof text), wanted);
  memset(text, '#', sizeof text);
  fused_formula(l.ops[0], text, 12);
  cr_expect(strlen(text) == (strlen(wanted) < 11 ? strlen(wanted) : 11) && text[12] == '#');
  unload(&l);
}

Test(formula, what_people_write) {
  check_formula("fused OP0#1 ($0 : FLOAT, $1 : SEGDES) ="
                "$2 = (* FLOAT @ $0 $0)"
                "(ASSERT \"x\" @ (< FLOAT @ $2 $0) (ROUND @ $2) (ROUND @ (- FLOAT @ $2 $0)))"
                "(+_REDUCE FLOAT @ (SQRT @ $2) $1)",
                "t1 = x * x; assert t1 < x; sum by s (sqrt(t1))");
  check_formula(COMBINE("", REDUCED "-> $12 $13"),
                "combine ((a1, a2), (b1, b2)) -> ((a1 * 2) - b1, b2) by s1 (i, x)");
  check_formula(COMBINE("", REDUCED "$14 = (+_REDUCE INT @ $0 $2) -> $13 $14"),
                "column 2 of combine ((a1, a2), (b1, b2)) -> ((a1 * 2) - b1, b2) by s1 (i, x), "
                "sum by s1 (i)");
  check_formula("fused OP0#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES) ="
                "$5 $6 = (COLUMN INT @ (NOT INT @ $0))"
                "(COMBINE_SCATTER INT @ $5 (- INT @ $5 $6) $1 $2 $3 $4)",
                "combine scatter (a, b) -> (a - b) at i2 into (i3) (not(i1))");
  check_formula("fused OP0#1 ($0 : INT, $1 : SEGDES) = $2 $3 = (COLUMN INT @ $0)"
                "(COMBINE_SCAN_INCLUSIVE INT @ $2 (* INT @ $2 $3) $1)",
                "combine scan inclusive (a, b) -> (a * b) by s (i)");
  check_formula("fused OP0#1 ($0 : BOOL, $1 : INT) = (ASSERT \"x\" @ $0 $1 $1)", "assert p");
  check_formula("fused OP0#1 ($0 : FLOAT, $1 : FLOAT, $2 : INT, $3 : SEGDES, $4 : SEGDES) ="
                "(+_REDUCE FLOAT @ (* FLOAT @ $0 (BPERMUTE FLOAT @ $1 $2 $3 $4)) $4)",
                "sum by s2 (x1 * x2[i])");
  check_formula("fused OP0#1 ($0 : FLOAT, $1 : SEGDES, $2 : BOOL) ="
                "$3 = (* FLOAT @ $0 (- FLOAT @ $0 (DIST FLOAT @ (CONST FLOAT 0.5) $1)))"
                "$4 $5 = (PACK FLOAT @ $3 (NOT BOOL @ $2) $1)"
                "$6 = (MAX_SCAN FLOAT @ (SQRT @ $3) $1) -> $6 $4 $5 $3",
                "t1 = x * (x - 0.5); max scan by s (sqrt(t1)), pack(t1, not(p), s), t1");
  check_formula(
      "fused OP0#1 ($0 : INT, $1 : SEGDES) ="
      "(SELECT INT @ (< INT @ $0 (DIST INT @ $0 $1)) (INDEX @ $0 (CONST INT 1) $1) $0)",
      "if (i < (i over s)) then index(i, 1, s) else i");
  check_formula("fused OP0#1 ($0 : FLOAT, $1 : INT, $2 : SEGDES, $3 : SEGDES) ="
                "$4 = (BPERMUTE FLOAT @ $0 (INDEX @ $1 $1 $2) $3 $2)",
                "check x[index(i, i, s1)]");
}
