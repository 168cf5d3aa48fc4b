/* procedures.c - the link of a lifted function to its procedure: from VCODE, in the text form,
 * copied, and the rules that it must keep.
 */
#include "support.h"

#include "ir/copy.h"
#include "ir/tests/parse.h"
#include <string.h>

/* Per instance the sum of its numbers times a shared one, and its flag, which is only moved. */
#define MAIN_CALLS                                                                             \
  "FUNC MAIN CONST INT 2 MAKE_SEGDES CONST BOOL (T F) CONST SEGDES (2 1) CONST INT (1 2 3) "   \
  "CONST INT 7 CALL ROWS RET "
/* p0 flag d v s -> sum*s flag */
#define ROWS(procedure)                                                                        \
  "FUNC ROWS\n {% instances shared each each 2 shared -> each each } {% procedure " procedure  \
  " } I SEGDES BOOL SEGDES INT INT O INT BOOL "                                                \
  "CPOP 1 1 COPY 1 2 +_REDUCE INT COPY 1 0 POP 1 0 CPOP 1 1 COPY 1 4 DIST INT * INT CPOP 1 1 " \
  "POP 1 0 CPOP 1 1 CPOP 1 2 POP 1 0 RET "
/* flag d v s -> sum*s flag */
#define ROW                                                                                    \
  "FUNC ROW I BOOL SEGDES INT INT O INT BOOL "                                                 \
  "CPOP 1 2 CPOP 1 2 CPOP 1 1 +_REDUCE INT * INT CPOP 1 1 RET "

static const char rows[] = MAIN_CALLS ROWS("ROW") ROW;

static uint32_t index_named(const struct fixture *t, const char *name) {
  return (uint32_t)(function_named(t, name) - t->ir->functions);
}

Test(procedures, taken_over) {
  struct fixture t;
  const struct ir_program *again = build_round_trip(&t, rows);
  cr_expect_str_eq(signature(&t, "ROW"), "BOOL SEGDES INT INT -> INT BOOL");
  cr_expect_eq(function_named(&t, "ROWS")->procedure, index_named(&t, "ROW"));
  cr_expect_eq(ir_procedure(&again->functions[1]), 2);
  cr_expect_eq(ir_procedure(&again->functions[0]), IR_NO_PROCEDURE);
  cr_expect(strstr(printed(&t, t.ir), "shared -> each each procedure ROW @1:"), "%s",
            printed(&t, t.ir));
  fixture_free(&t);
}

Test(procedures, copied) {
  struct fixture t;
  struct ir_program *program = (struct ir_program *)build_round_trip(&t, rows);
  const struct ir_program *copy = ir_copy(&t.arena, program, &t.messages);
  cr_assert(copy);
  cr_expect_str_eq(printed(&t, copy), printed(&t, program));
  cr_expect_eq(ir_procedure(&copy->functions[1]), 2);
  fixture_free(&t);
}

/* The signature says how many items it takes, and of what kinds. */
Test(procedures, what_is_not_used) {
  struct fixture t;
  build_round_trip(&t, "FUNC M RET FUNC FN {% instances shared each each -> each } "
                       "{% procedure ONE } I SEGDES INT BOOL O BOOL CPOP 2 1 POP 2 0 NOT BOOL "
                       "RET FUNC ONE I INT BOOL O BOOL NOT BOOL CPOP 1 1 POP 1 0 RET");
  cr_expect_str_eq(signature(&t, "ONE"), "INT BOOL -> BOOL");
  cr_expect(ir_procedure(function_named(&t, "FN")) != IR_NO_PROCEDURE);
  fixture_free(&t);
}

/* A link from or to a function without let-form is none. */
Test(procedures, without_let_form) {
  struct fixture t;
  build_round_trip(&t,
                   "FUNC M RET FUNC FN {% instances shared each -> each } {% procedure ONE } "
                   "I SEGDES INT O INT CPOP 1 1 POP 1 0 RET "
                   "FUNC ONE I INT O INT CONST BOOL T IF CONST INT 1 ENDIF RET");
  cr_expect(function_named(&t, "FN")->instances && !function_named(&t, "ONE")->typed);
  cr_expect_eq(ir_procedure(function_named(&t, "FN")), IR_NO_PROCEDURE);
  fixture_free(&t);
}

/* ---- links that are wrong ---- */

static void procedures_expect_wrong(const char *procedure, const char *words) {
  struct fixture t;
  char text[1000];
  snprintf(text, sizeof text,
           "FUNC M RET FUNC FN\n  {%% instances shared each -> each } {%% procedure ONE } "
           "I SEGDES INT O INT CPOP 1 1 POP 1 0 NOT INT RET FUNC ONE %s RET",
           procedure);
  fixture_build(&t, text);
  cr_assert_null(t.ir, "accepted: %s", procedure);
  const struct diag *d = &t.diags.list.items[0];
  cr_expect(d->pos.line == 2 && d->pos.column == 3, "%u:%u", d->pos.line, d->pos.column);
  cr_expect(strstr(d->message, "but it has the procedure ONE, which "), "%s", d->message);
  cr_expect(strstr(d->message, words), "%s\n  does not say: %s", d->message, words);
  fixture_free(&t);
}

Test(procedures, wrong_items) {
  procedures_expect_wrong("+ INT", "takes another number of items");
  procedures_expect_wrong("NOT BOOL", "takes items of other kinds");
  procedures_expect_wrong("CONST INT 1 + INT CONST INT 2", "leaves another number of items");
  procedures_expect_wrong("CONST INT 1 > INT", "leaves items of other kinds");
}

Test(procedures, wrong_effects) {
  procedures_expect_wrong("RAND", "has an effect");
  procedures_expect_wrong("CONST BOOL T IF CALL ONE ELSE RAND ENDIF", "has an effect");
  procedures_expect_wrong("EXIT", "never returns");
}

Test(procedures, wrong_marks) {
  procedures_expect_wrong("{% instances shared -> each } I SEGDES O INT LENGTHS", "is lifted");
  procedures_expect_wrong("{% round } I INT O INT NOT INT", "is of a loop for many instances");
}

/* ---- verification ---- */

Test(procedures, verified) {
  for (int fault = 0; fault < 4; fault++) {
    struct fixture t;
    fixture_build(&t, rows);
    struct ir_function *f = (struct ir_function *)function_named(&t, "ROWS");
    if (fault == 0) f->procedure = index_named(&t, "ROWS");
    if (fault == 1) f->procedure = index_named(&t, "MAIN");
    if (fault == 2) f->procedure = 1000;
    cr_expect_eq(ir_verify(&t.arena, t.ir, &t.diags), fault == 3, "%d", fault);
    if (fault < 3)
      cr_expect(strstr(t.diags.list.items[0].message, "lifted, but it has "), "%s",
                t.diags.list.items[0].message);
    fixture_free(&t);
  }
}
