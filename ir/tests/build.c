/* build.c - the let-form of small stack programs, and programs that are rejected. */
#include "support.h"

#include "base/tests/every.h"

#include <stdlib.h>
#include <string.h>

#define EXPECT_SIGNATURE(text, name, expected)                                                 \
  do {                                                                                         \
    struct fixture t;                                                                          \
    fixture_build(&t, text);                                                                   \
    cr_expect_str_eq(signature(&t, name), expected);                                           \
    fixture_free(&t);                                                                          \
  } while (0)

/* ---- kinds ---- */

Test(kinds, letters_of_the_table) {
  EXPECT_SIGNATURE("FUNC M RET FUNC FN PACK FLOAT RET", "FN",
                   "FLOAT BOOL SEGDES -> FLOAT SEGDES");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN FWRITE CHAR RET", "FN", "INT INT -> INT BOOL");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN RANK_UP FLOAT RET", "FN", "FLOAT SEGDES -> INT");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN SELECT BOOL RET", "FN", "BOOL BOOL BOOL -> BOOL");
}

Test(kinds, moving_keeps_a_variable) {
  EXPECT_SIGNATURE("FUNC M RET FUNC FN CPOP 1 2 RET", "FN", "?0 ?1 ?2 -> ?1 ?2 ?0");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN POP 0 2 RET", "FN", "?0 ?1 -> ?0 ?1");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN COPY 2 1 RET", "FN", "?0 ?1 ?2 -> ?0 ?1 ?2 ?0 ?1");
}

Test(kinds, used_at_two_kinds) {
  const char *text = "FUNC M CONST INT 1 CONST FLOAT 2.0 CALL SWAP CONST BOOL T CALL SWAP RET "
                     "FUNC SWAP CPOP 1 1 RET";
  EXPECT_SIGNATURE(text, "SWAP", "?0 ?1 -> ?1 ?0");
  EXPECT_SIGNATURE(text, "M", "-> FLOAT BOOL INT");
}

Test(kinds, pairs) {
  EXPECT_SIGNATURE("FUNC M RET FUNC FN UNPAIR + INT RET", "FN", "(INT,INT) -> INT");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN COPY 1 0 PAIR RET", "FN", "?0 -> (?0,?0)");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN UNPAIR UNPAIR POP 1 1 RET", "FN",
                   "(?0,(?1,?2)) -> ?0 ?2");
  EXPECT_SIGNATURE(
      "FUNC M CONST INT 1 CONST FLOAT 1.0 PAIR CALL FN RET FUNC FN UNPAIR POP 1 0 RET", "M",
      "-> INT");
}

Test(kinds, a_pair_that_would_contain_itself) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN IF POP 1 1 ELSE PAIR ENDIF RET");
  cr_expect(strstr(signature(&t, "FN"), "contain itself"), "%s", signature(&t, "FN"));
  fixture_free(&t);
}

/* ---- arms ---- */

Test(arms, params_demanded_inside) {
  EXPECT_SIGNATURE("FUNC M RET FUNC FN IF + INT ELSE POP 1 1 ENDIF RET", "FN",
                   "INT INT BOOL -> INT");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN IF ELSE POP 2 0 CONST INT 1 CONST BOOL T ENDIF RET",
                   "FN", "INT BOOL BOOL -> INT BOOL");
}

/* Items that neither arm changes, or both move alike, are no results of the IF. */
Test(arms, results_are_few) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN IF CPOP 1 2 CONST INT 1 ELSE CPOP 1 2 CONST INT 2 "
                    "ENDIF COPY 1 0 RET");
  const struct ir_function *f = function_named(&t, "FN");
  cr_assert_eq(f->body->count, 1);
  cr_expect_eq(f->body->bindings[0].result_count, 1);
  cr_expect_str_eq(signature(&t, "FN"), "?0 ?1 ?2 BOOL -> ?1 ?2 ?0 INT INT");
  fixture_free(&t);
  fixture_build(&t, "FUNC M RET FUNC FN IF CONST INT 1 COPY 1 0 ELSE CONST INT 2 COPY 1 0 "
                    "ENDIF RET");
  cr_expect_eq(function_named(&t, "FN")->body->bindings[0].result_count, 1, "same item twice");
  fixture_free(&t);
}

Test(arms, exit_puts_no_condition_on_the_other) {
  EXPECT_SIGNATURE("FUNC M RET FUNC FN IF EXIT ELSE CONST INT 1 ENDIF RET", "FN",
                   "BOOL -> INT");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN IF CONST FLOAT 1.0 ELSE POP 3 0 EXIT POP 9 0 ENDIF RET",
                   "FN", "?0 ?1 ?2 BOOL -> ?0 ?1 ?2 FLOAT");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN IF EXIT ELSE EXIT ENDIF NOT INT RET", "FN",
                   "BOOL -> never");
  EXPECT_SIGNATURE("FUNC M RET FUNC FN IF CALL X ELSE ENDIF RET FUNC X POP 1 0 EXIT RET", "FN",
                   "?0 BOOL -> ?0");
}

Test(arms, of_different_effect) {
  struct fixture t;
  fixture_build(
      &t, "FUNC M CONST INT 1 CALL FN RET FUNC FN CONST BOOL T\nIF CONST INT 1 ENDIF RET");
  cr_expect(strstr(signature(&t, "FN"), "2:1: the arms of the IF leave different numbers"));
  cr_expect(strstr(signature(&t, "M"), "calls FN"), "its caller is not typed either");
  cr_expect(function_named(&t, "FN")->stack, "and keeps its stack code");
  fixture_free(&t);
  fixture_build(&t, "FUNC M RET FUNC FN IF CONST INT 1 ELSE CONST FLOAT 1.0 ENDIF RET");
  cr_expect(strstr(signature(&t, "FN"), "leave INT and FLOAT"));
  fixture_free(&t);
}

/* ---- recursion ---- */

Test(recursion, self) {
  EXPECT_SIGNATURE(
      "FUNC M CONST INT 5 CALL FN RET FUNC FN COPY 1 0 CONST INT 2 < INT IF ELSE "
      "COPY 1 0 CONST INT 1 - INT CALL FN CPOP 1 1 CONST INT 2 - INT CALL FN + INT "
      "ENDIF RET",
      "FN", "INT -> INT");
}

/* The base case returns its arguments unchanged: numbers change after the kinds are stable. */
Test(recursion, base_case_unchanged) {
  EXPECT_SIGNATURE("FUNC M RET FUNC FN COPY 1 0 IF ELSE NOT BOOL CALL FN ENDIF RET", "FN",
                   "BOOL -> BOOL");
}

Test(recursion, kinds_that_travel_around) {
  EXPECT_SIGNATURE("FUNC M RET FUNC FN CPOP 1 3 NOT INT CPOP 3 1 CONST BOOL T IF ELSE CPOP 1 3 "
                   "CALL FN ENDIF RET",
                   "FN", "INT INT INT INT -> INT INT INT INT");
}

Test(recursion, mutual) {
  const char *text =
      "FUNC M CONST INT 3 CALL EVEN RET "
      "FUNC EVEN COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL T ELSE CONST INT 1 "
      "- INT CALL ODD ENDIF RET "
      "FUNC ODD COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL F ELSE CONST INT 1 "
      "- INT CALL EVEN ENDIF RET";
  EXPECT_SIGNATURE(text, "EVEN", "INT -> BOOL");
  EXPECT_SIGNATURE(text, "ODD", "INT -> BOOL");
}

Test(recursion, without_end) {
  EXPECT_SIGNATURE("FUNC M CALL FN CONST INT 1 RET FUNC FN CONST INT 1 CALL FN RET", "FN",
                   "-> never");
  EXPECT_SIGNATURE("FUNC M CALL FN CONST INT 1 RET FUNC FN CONST INT 1 CALL FN RET", "M",
                   "-> never");
}

Test(recursion, growing) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN POP 1 0 CALL FN RET");
  cr_expect(strstr(signature(&t, "FN"), "items it takes keeps growing"), "%s",
            signature(&t, "FN"));
  fixture_free(&t);
  fixture_build(&t, "FUNC M RET FUNC FN UNPAIR POP 1 0 CALL FN RET");
  cr_expect(strstr(signature(&t, "FN"), "untyped"), "%s", signature(&t, "FN"));
  fixture_free(&t);
}

/* ---- what the entry takes ---- */

Test(entry, declares_what_it_takes) {
  EXPECT_SIGNATURE("FUNC M I INT SEGDES O INT POP 1 0 RET", "M", "INT SEGDES -> INT");
  EXPECT_SIGNATURE("FUNC M I FLOAT CHAR SEGDES O INT +_REDUCE INT POP 1 1 RET", "M",
                   "FLOAT INT SEGDES -> INT");
  /* a declared argument that it does not use is a parameter and a result */
  EXPECT_SIGNATURE("FUNC M I BOOL INT INT O BOOL INT + INT RET", "M",
                   "BOOL INT INT -> BOOL INT");
  EXPECT_SIGNATURE("FUNC M I BOOL INT O BOOL INT FLOAT CONST FLOAT 1.0 RET", "M",
                   "BOOL INT -> BOOL INT FLOAT");
  /* an entry that takes nothing has a signature that means nothing */
  EXPECT_SIGNATURE("FUNC M I INT O FLOAT CONST INT 1 RET", "M", "-> INT");
  /* it calls itself */
  EXPECT_SIGNATURE("FUNC M I INT O INT COPY 1 0 CONST INT 0 > INT IF CONST INT 1 - INT CALL M "
                   "ELSE ENDIF RET",
                   "M", "INT -> INT");
}

/* ---- what is an error before execution ---- */

static void build_expect_error(const char *text, unsigned line, const char *words,
                               size_t notes) {
  struct fixture t;
  fixture_build(&t, text);
  cr_assert_null(t.ir, "accepted: %s", text);
  const struct diag *d = &t.diags.list.items[0];
  cr_expect_eq(d->pos.line, line, "line %u: %s", d->pos.line, d->message);
  cr_expect(strstr(d->message, words), "%s", d->message);
  cr_expect_eq(t.diags.list.count, 1 + notes);
  fixture_free(&t);
}

static void expect_accepted(const char *text) {
  struct fixture t;
  fixture_build(&t, text);
  cr_expect(t.ir, "%s", t.diags.list.count ? t.diags.list.items[0].message : "");
  fixture_free(&t);
}

Test(must_fail, in_the_entry_function) {
  build_expect_error("FUNC M\nCONST FLOAT 1.0\nCONST INT 2\n+ INT RET", 4,
                     "operand 0 of + INT is FLOAT, expected INT", 0);
  build_expect_error("FUNC M\nCONST INT 2\n+ INT RET", 3,
                     "+ INT needs 2 items on the stack, but there is 1", 0);
  build_expect_error("FUNC M\nCONST INT 2\nUNPAIR RET", 3, "UNPAIR is INT, expected a pair", 0);
  build_expect_error("FUNC M CONST INT 2\nIF ENDIF RET", 2, "IF is INT, expected BOOL", 0);
  build_expect_error("FUNC M CONST INT 2\nPOP 1 1 RET", 2, "POP needs 2 items", 0);
}

Test(must_fail, in_an_entry_that_takes_more_or_others_than_it_declares) {
  build_expect_error("FUNC M I INT O INT\n+ INT RET", 2, "+ INT needs 2 items on the stack", 0);
  build_expect_error("FUNC M I INT FLOAT O INT\n+ INT RET", 2,
                     "operand 1 of + INT is FLOAT, expected INT", 0);
}

Test(must_fail, in_a_function_it_calls) {
  build_expect_error(
      "FUNC M\nCONST FLOAT 1.0\nCALL FN RET\nFUNC FN\nCALL G RET\nFUNC G\nNOT INT RET", 7,
      "operand 0 of NOT INT is FLOAT", 2);
  build_expect_error("FUNC M\nCALL FN RET\nFUNC FN\nPOP 1 0 RET", 4, "but there are 0", 1);
}

Test(must_fail, after_an_if_that_returns) {
  build_expect_error("FUNC M CONST BOOL T IF CONST INT 1 ELSE CONST INT 2 ENDIF\nSQRT RET", 2,
                     "SQRT is INT", 0);
}

Test(must_fail, not_in_an_arm_nor_after_an_exit) {
  expect_accepted("FUNC M CONST BOOL F IF CONST INT 1 SQRT ELSE CONST FLOAT 1.0 ENDIF RET");
  expect_accepted("FUNC M CONST BOOL F IF CALL G ENDIF RET FUNC G POP 1 0 RET");
  expect_accepted("FUNC M EXIT CONST INT 1 SQRT RET");
  expect_accepted("FUNC M CONST BOOL T IF EXIT ENDIF CONST INT 1 SQRT RET");
  expect_accepted("FUNC M CALL X CONST INT 1 SQRT RET FUNC X CONST BOOL T IF EXIT ENDIF RET");
  expect_accepted("FUNC M CALL L CONST INT 1 SQRT RET FUNC L CALL L RET");
  expect_accepted("FUNC M RET FUNC UNUSED CONST INT 1 SQRT RET");
}

Test(must_fail, fused_without_table) {
  build_expect_error("FUNC M CONST INT 1\nFUSED 0 RET", 2,
                     "PROGRAM.sop beside it, or --sop FILE", 0);
  expect_accepted("FUNC M RET FUNC UNUSED FUSED 0 RET");
}

/* ---- liveness ---- */

Test(liveness, last_uses) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN COPY 1 0 * INT COPY 1 0 RET");
  const struct ir_function *f = function_named(&t, "FN");
  const struct ir_binding *x = &f->body->bindings[0];
  cr_expect(!x->last[0] && x->last[1], "twice in one instruction: the later is the last");
  cr_expect(!f->body->last[0] && f->body->last[1], "twice in a yield");
  fixture_free(&t);
}

Test(liveness, unused) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN POP 1 1 CONST INT 7 POP 1 0 RET");
  const struct ir_function *f = function_named(&t, "FN");
  cr_expect(f->unused[0] && !f->unused[1]);
  cr_expect(f->body->bindings[0].unused[0]);
  cr_expect_eq(f->body->drop_count, 0, "an unused parameter is not also dropped");
  fixture_free(&t);
}

Test(liveness, used_in_one_arm_only) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN IF NOT INT ELSE POP 1 0 CONST INT 1 ENDIF RET");
  const struct ir_binding *x = &function_named(&t, "FN")->body->bindings[0];
  const struct ir_block *then = x->as.arms.then, *otherwise = x->as.arms.otherwise;
  cr_expect(x->last[0], "the condition");
  cr_expect(then->bindings[0].last[0]);
  cr_expect_eq(then->drop_count, 0);
  cr_assert_eq(otherwise->drop_count, 1);
  cr_expect_eq(otherwise->drops[0], 0);
  fixture_free(&t);
}

Test(liveness, an_arm_that_exits_drops_everything_else) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN IF WRITE INT EXIT ENDIF RET");
  const struct ir_binding *x = &function_named(&t, "FN")->body->bindings[0];
  cr_expect(x->as.arms.then->bindings[0].last[0], "nothing follows in this arm");
  cr_expect_eq(x->as.arms.otherwise->drop_count, 0);
  fixture_free(&t);
  fixture_build(&t, "FUNC M RET FUNC FN POP 0 2 IF EXIT ENDIF RET");
  x = &function_named(&t, "FN")->body->bindings[0];
  cr_assert_eq(x->as.arms.then->drop_count, 1);
  cr_expect_eq(x->as.arms.then->drops[0], 0);
  fixture_free(&t);
}

/* ---- size ---- */

static char *build_repeat(char *to, const char *text, int times) {
  for (int i = 0; i < times; i++) to = stpcpy(to, text);
  return to;
}

/* No recursion over nested blocks, and no quadratic time. */
Test(size, deep_nests) {
  enum { DEPTH = 100000 };
  static const char *const ends[] = {"ELSE POP 1 0 CONST INT 2 ENDIF\n", "ELSE EXIT ENDIF\n",
                                     "ENDIF\n"};
  char *text = malloc(DEPTH * 100);
  for (unsigned i = 0; i < 3; i += every()) {
    char *to = stpcpy(text, "FUNC M CONST INT 1\n");
    to = build_repeat(to, "CONST BOOL T IF CONST INT 1 + INT\n", DEPTH);
    stpcpy(build_repeat(to, ends[i], DEPTH), "RET");
    EXPECT_SIGNATURE(text, "M", "-> INT");
  }
  free(text);
}

/* ---- verification ---- */

/* Every broken rule is reported. */
Test(verify, notices) {
  const char *text = "FUNC M RET FUNC FN COPY 1 0 * INT COPY 1 0 I_TO_B IF CONST INT 1 ELSE "
                     "CONST INT 2 ENDIF + INT RET";
  for (int fault = 0; fault < 8; fault++) {
    struct fixture t;
    fixture_build(&t, text);
    struct ir_function *f = (struct ir_function *)function_named(&t, "FN");
    struct ir_binding *x = f->body->bindings;
    cr_assert_eq(f->body->count, 4);
    switch (fault) {
    case 0: x[0].last[1] = false; break;
    case 1: x[0].operands[0] = x[1].results[0]; break;
    case 2: x[1].op = OPC_I_TO_F; break;
    case 3: f->vars[x[2].results[0]] = f->vars[x[1].results[0]]; break;
    case 4: x[2].as.arms.then->end = IR_NEVER; break;
    case 5: x[3].results[0] = x[0].results[0]; break;
    case 6: f->returns = false; break;
    case 7: x[3].operands[1] = x[2].as.arms.then->bindings[0].results[0]; break;
    }
    cr_expect(!ir_verify(&t.arena, t.ir, &t.diags), "fault %d", fault);
    fixture_free(&t);
  }
}
