/* rounds.c - the marks of functions of a loop for many instances: from VCODE, in the text form,
 * and the rules that they must keep.
 */
#include "support.h"

#include "ir/tests/parse.h"
#include <string.h>

static const char loop[] = "FUNC MAIN CONST INT 3 CALL GROW RET "
                           "FUNC GROW {% rounds } CALL STEP COPY 1 0 CONST INT 0 > INT "
                           "IF CALL GROW ENDIF RET "
                           "FUNC STEP {% round } CONST INT 1 - INT COPY 1 0 CONST INT 1 > INT "
                           "IF CALL STEP ENDIF RET";

Test(rounds, taken_over) {
  struct fixture t;
  const struct ir_program *again = build_round_trip(&t, loop);
  cr_expect_eq(again->functions[1].rounds, VCODE_ROUNDS);
  cr_expect_eq(again->functions[2].rounds, VCODE_ROUND);
  cr_expect_eq(function_named(&t, "MAIN")->rounds, VCODE_NO_ROUNDS);
  cr_expect_eq(function_named(&t, "GROW")->rounds, VCODE_ROUNDS);
  cr_expect_eq(function_named(&t, "STEP")->rounds, VCODE_ROUND);
  cr_expect(strstr(printed(&t, t.ir), ") -> (INT) rounds @1:"), "%s", printed(&t, t.ir));
  cr_expect(strstr(printed(&t, t.ir), ") -> (INT) round @1:"), "%s", printed(&t, t.ir));
  fixture_free(&t);
}

static void rounds_expect_wrong(const char *text, const char *message) {
  struct fixture t;
  fixture_build(&t, text);
  cr_assert_null(t.ir, "accepted: %s", text);
  cr_expect_str_eq(t.diags.list.items[0].message, message);
  fixture_free(&t);
}

Test(rounds, wrong) {
  rounds_expect_wrong(
      "FUNC MAIN CALL G RET FUNC G {% rounds } CALL S RET FUNC S CONST INT 1 RET",
      "G is marked as having rounds, but it calls S, which is none");
  rounds_expect_wrong("FUNC MAIN CONST BOOL T IF CALL S ELSE CONST INT 2 ENDIF RET "
                      "FUNC S {% round } CONST INT 1 RET",
                      "MAIN calls S, a round, which only itself and what has rounds may call");
  rounds_expect_wrong(
      "FUNC MAIN RET FUNC S {% round } {% instances shared -> each } LENGTHS RET",
      "S is marked as of a loop and as lifted");
}

Test(rounds, verified) {
  for (int fault = 0; fault < 2; fault++) {
    struct fixture t;
    fixture_build(&t, loop);
    if (fault) ((struct ir_function *)function_named(&t, "GROW"))->rounds = VCODE_NO_ROUNDS;
    cr_expect_eq(ir_verify(&t.arena, t.ir, &t.diags), fault == 0);
    if (fault)
      cr_expect_str_eq(t.diags.list.items[0].message,
                       "let-form of GROW: it calls STEP, a round, which only itself and what "
                       "has rounds may call");
    fixture_free(&t);
  }
}
