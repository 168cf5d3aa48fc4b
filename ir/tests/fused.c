/* fused.c - superoperators in the let-form: built, rejected, verified, printed and parsed. */
#include "support.h"

#include "ir/tests/parse.h"
#include <string.h>

#define TWO                                                                                    \
  "fused OP0#1 ($0 : INT, $1 : INT) = {@ p.nesl:2:3 F } (/ INT @ $0 $1)\n"                     \
  "fused OP1#1 ($0 : FLOAT, $1 : BOOL, $2 : SEGDES) =\n"                                       \
  "  $3 $4 = (PACK FLOAT @ $0 $1 $2)\n"                                                        \
  "  $5 = {@ p.nesl:2:3 F } (+_REDUCE FLOAT @ $0 $2)\n"                                        \
  "  -> $5 $3 $4\n"

Test(fused, kinds_are_those_of_the_definition) {
  struct fixture t;
  fixture_build(&t, TWO "FUNC M RET FUNC FN FUSED 1 RET FUNC G COPY 2 0 FUSED 0 RET");
  cr_expect_str_eq(signature(&t, "FN"), "FLOAT BOOL SEGDES -> FLOAT FLOAT SEGDES");
  cr_expect_str_eq(signature(&t, "G"), "INT INT -> INT INT INT");
  const struct ir_binding *x = &function_named(&t, "FN")->body->bindings[0];
  cr_expect_eq(x->form, IR_FUSED);
  cr_expect_eq(x->as.superop, 1);
  cr_expect(x->last[0] && x->last[1] && x->last[2]);
  fixture_free(&t);
}

Test(fused, origins_of_nodes_are_the_programs) {
  struct fixture t;
  fixture_build(&t, TWO "FUNC M RET FUNC FN {@ p.nesl:7:1 M } FUSED 0 RET");
  const struct superop *const *ops = t.ir->superops;
  cr_assert_eq(t.ir->superop_count, 2);
  cr_expect_eq(t.ir->origins.list.count, 3, "an origin that occurs twice is one");
  uint32_t origin = ops[0]->nodes[0].origin;
  cr_assert(origin != 0 && origin < t.ir->origins.list.count);
  cr_expect_eq(origin_at(&t.ir->origins, origin)->pos.line, 2);
  cr_expect_eq(origin_at(&t.ir->origins, origin)->pos.column, 3);
  cr_expect_eq(ops[1]->nodes[1].origin, origin);
  cr_expect_eq(ops[1]->nodes[0].origin, 0);
  cr_expect_eq(ops[0]->nodes[0].pos.line, 1);
  fixture_free(&t);
}

Test(fused, positions_in_another_file_are_none) {
  static const char sop[] = "fused OP0#1 ($0 : INT) = (NOT INT @ $0)";
  struct fixture t;
  fixture_build(&t, "FUNC M RET");
  cr_assert(
      vcode_parse_definitions(&t.arena, t.vcode, "other.sop", sop, strlen(sop), &t.diags));
  struct ir_program *ir = ir_build(&t.arena, t.vcode, t.vcode->widths, &t.diags);
  cr_assert(ir && ir->superop_count == 1);
  cr_expect_eq(ir->superops[0]->nodes[0].pos.line, 0);
  fixture_free(&t);
}

static void expect_rejected(const char *text, unsigned line, const char *words) {
  struct fixture t;
  fixture_build(&t, text);
  cr_assert_null(t.ir, "%s", text);
  const struct diag *d = &t.diags.list.items[0];
  cr_expect_eq(d->pos.line, line, "%s: line %u: %s", text, d->pos.line, d->message);
  cr_expect(strstr(d->message, words), "%s", d->message);
  fixture_free(&t);
}

Test(fused, what_cannot_run_is_rejected) {
  expect_rejected(TWO "FUNC M\nFUSED 2 RET", 7, "FUSED 2: there are only 2 superoperators");
  expect_rejected("fused OP0#1 ($0 : INT) = (NOT INT @ $0)\nFUNC M\nFUSED 7 RET", 3,
                  "there is only 1 superoperator");
  expect_rejected(TWO "FUNC M CONST INT 1 CONST FLOAT 1.0\nFUSED 0 RET", 7,
                  "operand 1 of FUSED is FLOAT, expected INT");
  expect_rejected(TWO "FUNC M CONST INT 1\nFUSED 0 RET", 7, "FUSED needs 2 items");
  expect_rejected(TWO "FUNC M CONST INT (1) COPY 1 0 FUSED 0\nSQRT RET", 7, "is INT");
  expect_rejected("fused OP0#1 ($0 : INT) =\n  (+ INT @ $0 $7)\nFUNC M RET", 2, "$7");
}

Test(fused, verification_notices) {
  for (int fault = 0; fault < 5; fault++) {
    struct fixture t;
    fixture_build(&t, TWO "FUNC M RET FUNC FN FUSED 1 RET");
    struct ir_function *f = (struct ir_function *)function_named(&t, "FN");
    struct ir_binding *x = f->body->bindings;
    switch (fault) {
    case 0: x->as.superop = 2; break;
    case 1: x->as.superop = 0; break;
    case 2: x->operands[0] = x->operands[1]; break;
    case 3: f->vars[x->results[1]] = f->vars[x->operands[1]]; break;
    case 4: ((struct superop *)t.ir->superops[1])->number = 0; break;
    }
    cr_expect(!ir_verify(&t.arena, t.ir, &t.diags), "fault %d", fault);
    fixture_free(&t);
  }
}

Test(fused, looks_like_this) {
  struct fixture t;
  fixture_build(&t, "fused OP0#9 ($0 : INT, $1 : INT) = (* INT @ (+ INT @ $0 $1) $1)\n"
                    "FUNC M RET\nFUNC FN FUSED 0 CONST INT 1 FUSED 0 RET");
  cr_expect_str_eq(printed(&t, t.ir), "let-form \"test.vcode\" i32 f64 entry M\n"
                                      "\n"
                                      "fused OP0#2 ($0 : INT, $1 : INT) =\n"
                                      "  (* INT @ (+ INT @ $0 $1) $1)\n"
                                      "\n"
                                      "fun M () -> () @2:6\n"
                                      "  yield\n"
                                      "end\n"
                                      "\n"
                                      "fun FN (v0: INT, v1: INT) -> (INT) @3:6\n"
                                      "  v2 = FUSED 0 v0 v1 @3:9\n"
                                      "  v3 = CONST INT 1 @3:17\n"
                                      "  v4 = FUSED 0 v2 v3 @3:29\n"
                                      "  yield v4\n"
                                      "end\n");
  fixture_free(&t);
}

static const char *const programs[] = {
    TWO "FUNC M {@ p.nesl:7:1 M } CONST INT 1 COPY 1 0 FUSED 0 RET FUNC FN FUSED 1 RET",
    TWO "FUNC M CONST BOOL T IF CONST INT 1 CALL S FUSED 0 ELSE ENDIF RET "
        "FUNC S COPY 1 0 CONST BOOL T IF CONST INT 1 ELSE ENDIF RET",
};

Test(fused, round_trip) {
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    struct fixture t;
    const struct ir_program *again = build_round_trip(&t, programs[i]);
    cr_assert_eq(again->superop_count, t.ir->superop_count);
    for (uint32_t k = 0; k < again->superop_count; k++)
      cr_expect(superop_same(again->superops[k], t.ir->superops[k]));
    fixture_free(&t);
  }
}

/* Any cut text gives an error or a program, never a crash. */
Test(fused, damaged) {
  struct fixture t;
  fixture_build(&t, programs[0]);
  const char *text = printed(&t, t.ir);
  for (size_t i = 0, n = strlen(text); i < n; i++) {
    struct arena arena;
    struct diag_list diags;
    arena_init(&arena, &t.heap);
    diag_list_init(&diags, &arena);
    struct ir_program *cut = ir_parse(&arena, "x", text, i, &diags);
    cr_expect(cut ? ir_verify(&arena, cut, &diags) : diags.errors > 0, "cut at %zu", i);
    arena_free(&arena);
  }
  fixture_free(&t);
}
