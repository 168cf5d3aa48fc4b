/* instances.c - the mark of a lifted function: from VCODE, in the text form, copied, and
 * the rules that it must keep.
 */
#include "support.h"

#include "ir/copy.h"
#include "ir/tests/parse.h"
#include <string.h>

/* Per instance the sum of its numbers times a shared one, and its flag, which is only moved. */
#define ROWS                                                                                   \
  "FUNC MAIN CONST INT 2 MAKE_SEGDES CONST BOOL (T F) CONST SEGDES (2 1) CONST INT (1 2 3) "   \
  "CONST INT 7 CALL ROWS RET "                                                                 \
  "FUNC ROWS\n {% instances shared each each 2 shared -> each each } "
#define SIGNATURE "I SEGDES BOOL SEGDES INT INT O INT BOOL "
/* p0 flag d v s -> sum*s flag */
#define ROWS_BODY                                                                              \
  "CPOP 1 1 COPY 1 2 +_REDUCE INT COPY 1 0 POP 1 0 CPOP 1 1 COPY 1 4 DIST INT * INT CPOP 1 1 " \
  "POP 1 0 CPOP 1 1 CPOP 1 2 POP 1 0 RET"

static const char rows[] = ROWS SIGNATURE ROWS_BODY;

static void instances_expect_sizes(uint32_t count, const uint32_t *sizes,
                                   const uint32_t *wanted) {
  for (uint32_t i = 0; i < count; i++) cr_expect_eq(sizes[i], wanted[i], "%u", i);
}

Test(instances, taken_over) {
  static const uint32_t params[] = {IR_SHARED, IR_EACH, IR_EACH, 2, IR_SHARED},
                        results[] = {IR_EACH, IR_EACH};
  struct fixture t;
  const struct ir_program *again = build_round_trip(&t, rows);
  cr_expect_str_eq(signature(&t, "ROWS"), "SEGDES BOOL SEGDES INT INT -> INT BOOL");
  for (int i = 0; i < 2; i++) {
    const struct ir_function *f = i ? &again->functions[1] : function_named(&t, "ROWS");
    cr_assert(f->instances);
    instances_expect_sizes(5, f->instances->params, params);
    instances_expect_sizes(2, f->instances->results, results);
  }
  cr_expect_null(function_named(&t, "MAIN")->instances);
  cr_expect(strstr(printed(&t, t.ir), ") -> (INT, BOOL) instances shared each each 2 shared -> "
                                      "each each @1:"),
            "%s", printed(&t, t.ir));
  fixture_free(&t);
}

Test(instances, copied) {
  struct fixture t;
  struct ir_program *program = (struct ir_program *)build_round_trip(&t, rows);
  struct arena copies;
  arena_init(&copies, &t.heap);
  const struct ir_program *copy = ir_copy(&copies, program, &t.arena);
  cr_assert(copy);
  cr_expect_str_eq(printed(&t, copy), printed(&t, program));
  cr_expect(arena_holds(&copies, copy->functions[1].instances->params));
  arena_free(&copies);
  fixture_free(&t);
}

/* The mark says how many items it takes, and which of them are descriptors. */
Test(instances, what_is_not_used) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET FUNC FN {% instances shared each 1 -> each 0 } "
                    "NOT INT CPOP 1 2 POP 1 0 RET");
  cr_expect_str_eq(signature(&t, "FN"), "SEGDES SEGDES INT -> SEGDES INT");
  fixture_free(&t);
}

/* Without let-form there is nothing to mark. */
Test(instances, without_let_form) {
  struct fixture t;
  build_round_trip(&t, "FUNC M RET FUNC FN {% instances shared each -> each } "
                       "CONST BOOL T IF CONST INT 1 ENDIF RET");
  const struct ir_function *f = function_named(&t, "FN");
  cr_expect(!f->typed && !f->instances && f->stack->instances);
  fixture_free(&t);
}

/* ---- marks that are wrong ---- */

static void instances_expect_wrong(const char *mark, const char *body, const char *words) {
  struct fixture t;
  char text[1000];
  snprintf(text, sizeof text, "FUNC M RET FUNC FN\n  {%% instances %s } %s RET %s", mark, body,
           "FUNC DRAW RAND RET FUNC LATE CONST BOOL T IF CALL DRAW ENDIF RET "
           "FUNC STOP EXIT RET FUNC LOOP CONST BOOL T IF RAND CALL LOOP ENDIF RET");
  fixture_build(&t, text);
  cr_assert_null(t.ir, "accepted: %s %s", mark, body);
  const struct diag *d = &t.diags.list.items[0];
  cr_expect(d->pos.line == 2 && d->pos.column == 3, "%u:%u", d->pos.line, d->pos.column);
  cr_expect(strstr(d->message, "FN is marked as lifted, but it "), "%s", d->message);
  cr_expect(strstr(d->message, words), "%s\n  does not say: %s", d->message, words);
  fixture_free(&t);
}

#define DROP_BELOW " CPOP 1 1 POP 1 0 "

Test(instances, wrong_counts_and_kinds) {
  instances_expect_wrong("shared each -> each", "+ INT" DROP_BELOW,
                         "takes 3 items and the mark has 2");
  instances_expect_wrong("shared each -> each", "NOT INT", "leaves 2 items and the mark has 1");
  instances_expect_wrong("-> each", "CONST INT 1", "parameter 0");
  instances_expect_wrong("shared each -> each", DROP_BELOW, "takes any kind as parameter 1");
  instances_expect_wrong("shared each -> each each", "CPOP 1 1 POP 1 0 UNPAIR",
                         "a pair as parameter 1");
  instances_expect_wrong("shared each -> each", "COPY 1 0 NOT INT PAIR" DROP_BELOW,
                         "has a pair as result 0");
  instances_expect_wrong("shared -> each", "NOT INT", "does not take a SEGDES");
  instances_expect_wrong("shared each -> each", "CALL FN", "never returns");
}

Test(instances, wrong_sizes) {
  instances_expect_wrong("each each -> each", "NOT INT" DROP_BELOW, "parameter 0, as shared");
  instances_expect_wrong("shared 0 -> each", "NOT INT" DROP_BELOW,
                         "parameter, 1, that belongs to segment");
  instances_expect_wrong("shared each 1 -> each 0",
                         "NOT INT CPOP 1 1 NOT INT CPOP 1 2 POP 1 0 CPOP 1 1",
                         "of parameter 1, which is INT");
  instances_expect_wrong("shared 2 1 -> each 0", "CPOP 1 2 POP 1 0 ", "its own segments");
  instances_expect_wrong("shared each -> 0", "LENGTHS MAKE_SEGDES" DROP_BELOW,
                         "its own segments");
}

Test(instances, effects) {
  instances_expect_wrong("shared each -> each", "NOT INT START_TIMER" DROP_BELOW,
                         "has a timer");
  instances_expect_wrong("shared each -> each",
                         "NOT INT CONST INT 1 SRAND INT POP 1 0" DROP_BELOW, "SRAND");
  instances_expect_wrong("shared each -> each", "NOT INT COPY 1 0 WRITE INT POP 2 0" DROP_BELOW,
                         "output");
  instances_expect_wrong("shared each -> each",
                         "NOT INT CONST BOOL T IF CALL STOP ENDIF" DROP_BELOW, "has an EXIT");
  instances_expect_wrong("shared each -> each",
                         "CONST BOOL T IF RAND ELSE NOT INT ENDIF" DROP_BELOW,
                         "reaches a RAND through an arm");
  instances_expect_wrong("shared each -> each", "CONST BOOL T IF CALL DRAW ENDIF" DROP_BELOW,
                         "reaches a RAND through an arm");
  instances_expect_wrong("shared each -> each", "CALL LATE" DROP_BELOW,
                         "reaches a RAND through an arm");
  instances_expect_wrong("shared each -> each", "CALL LOOP" DROP_BELOW,
                         "reaches a RAND through an arm");
}

Test(instances, effects_that_are_allowed) {
  struct fixture t;
  build_round_trip(&t, "FUNC M RET FUNC FN {% instances shared each -> each } RAND CALL DRAW "
                       "CALL DRAW CONST BOOL T CONST INT 1 CONST INT 1 ASSERT \"no\"" DROP_BELOW
                       "RET FUNC DRAW RAND CONST BOOL T IF NOT INT ENDIF RET");
  cr_expect(function_named(&t, "FN")->instances);
  fixture_free(&t);
}

/* The rest of a body whose results nobody uses may still draw random numbers or fail. */
Test(instances, without_results) {
  struct fixture t;
  build_round_trip(&t, "FUNC M RET FUNC FN {% instances shared each -> } RAND POP 2 0 RET");
  cr_expect(function_named(&t, "FN")->instances);
  fixture_free(&t);
}

/* ---- verification ---- */

Test(instances, verified) {
  static const uint32_t shared[] = {IR_SHARED, IR_SHARED},
                        each[] = {IR_SHARED, IR_EACH, IR_EACH, 1, IR_SHARED};
  for (int fault = 0; fault < 3; fault++) {
    struct fixture t;
    fixture_build(&t, rows);
    struct ir_function *f = (struct ir_function *)function_named(&t, "ROWS");
    struct ir_instances mark = *f->instances;
    if (fault == 0) mark.results = shared;
    if (fault == 1) mark.params = each;
    f->instances = &mark;
    cr_expect_eq(ir_verify(&t.arena, t.ir, &t.diags), fault == 2);
    if (fault < 2)
      cr_expect(strstr(t.diags.list.items[0].message, "let-form of ROWS: lifted, but it"), "%s",
                t.diags.list.items[0].message);
    fixture_free(&t);
  }
}

Test(instances, text_with_faults) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET");
  static const char text[] = "let-form \"x\" i32 f64 entry M\n"
                             "fun M (v0: SEGDES) -> (INT) instances shared @1:1\n"
                             "v1 = LENGTHS v0 @1:1\n yield v1\nend";
  cr_assert_null(ir_parse(&t.arena, "x.let", text, strlen(text), &t.diags));
  cr_expect(strstr(t.diags.list.items[0].message, "expected ->"), "%s",
            t.diags.list.items[0].message);
  fixture_free(&t);
}
