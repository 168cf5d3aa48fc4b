/* loops.c - which recursive functions become loops, and which must not. The functions are those
 * that the compiler of NESL makes; every program is verified after the pass.
 */
#include "rewriting.h"

#include "fused-kernels/fused.h"
#include <string.h>

/* Runs the pass on functions. Returns the formula of the loop, or "" if there is none. */
static const char *loop_of(struct rewriting *r, const char *functions) {
  static char formula[500];
  rewriting_begin(r, functions);
  bool changed = pass_loops(&r->o);
  rewriting_verify(r);
  cr_expect_eq(changed, r->o.program->superop_count > 0);
  formula[0] = '\0';
  if (changed) fused_formula(r->o.program->superops[0], formula, sizeof formula);
  return formula;
}

static void loops_expect(const char *functions, const char *formula) {
  struct rewriting r;
  const char *got = loop_of(&r, functions);
  cr_expect(strcmp(got, formula) == 0, "%s\ninstead of %s", got, formula);
  rewriting_free(&r);
}

/* M calls F on n elements, v1, with a scalar, v2. */
#define MAIN                                                                                   \
  "fun M (v0: INT, v1: INT) -> (INT) @1:1\n"                                                   \
  "v2 = LENGTH INT v1 @1:1\n"                                                                  \
  "v3 = MAKE_SEGDES v2 @1:1\n"                                                                 \
  "v4 = CONST INT 0 @1:1\n"                                                                    \
  "v5: INT = call F v3 v1 v4 @1:2\n"                                                           \
  "yield v5\nend\n"

/* F where `flag` holds, v5 of v0, calls itself with `next` on v6 under v7, and the number of
 * calls; elsewhere its result is `end`. */
#define RECURSION_MARKED(mark, flag, next, end)                                                \
  "fun F (v0: SEGDES, v1: INT, v2: INT) -> (INT)" mark " @2:1\n"                               \
  "v3 = CONST INT 1 @2:1\n"                                                                    \
  "v4 = DIST INT v3 v0 @2:1\n" flag "v6, v7 = PACK INT v1 v5 v0 @2:2\n"                        \
  "v8 = LENGTHS v7 @2:2\n"                                                                     \
  "v9 = CONST INT 0 @2:2\n"                                                                    \
  "v10 = > INT v8 v9 @2:2\n"                                                                   \
  "v11: INT = if v10 @2:3\n" next "yield v15\n"                                                \
  "else\nv20 = CONST INT () @2:4\nyield v20\nend\n"                                            \
  "v21 = INDEX v9 v3 v0 @2:5\n"                                                                \
  "v22, v23 = PACK INT v21 v5 v0 @2:5\n" end "v25 = DPERMUTE INT v11 v22 v24 v7 v0 @2:6\n"     \
  "yield v25\nend\n"
#define RECURSION(flag, next, end) RECURSION_MARKED("", flag, next, end)
#define FLAG                       "v5 = > INT v1 v4 @2:1\n"
#define NEXT                                                                                   \
  "v12 = DIST INT v3 v7 @3:1\n"                                                                \
  "v13 = - INT v6 v12 @3:1\n"                                                                  \
  "v14 = + INT v2 v3 @3:1\n"                                                                   \
  "v15: INT = call F v7 v13 v14 @3:1\n"
#define END "v24 = DIST INT v2 v0 @2:5\n"

Test(loops, counting_calls) {
  loops_expect(
      MAIN RECURSION(FLAG, NEXT, END),
      "r2 after r1 = i1, r2 = (i2 over s) while (r1 > 1): r1 = (r1 - 1), r2 = (r2 + 1)");
}

Test(loops, a_function_that_is_a_loop_calls_nobody) {
  struct rewriting r;
  loop_of(&r, MAIN RECURSION(FLAG, NEXT, END));
  const struct ir_function *f = &r.o.program->functions[function_called(&r, "F")];
  cr_assert_eq(f->body->count, 1);
  cr_expect_eq(f->body->bindings[0].form, IR_FUSED);
  rewriting_free(&r);
}

/* The loop is lifted if the recursion was. */
Test(loops, a_function_by_instances_stays_one) {
  struct rewriting r;
  loop_of(&r, MAIN RECURSION_MARKED(" instances shared each shared -> each", FLAG, NEXT, END));
  const struct ir_function *f = &r.o.program->functions[function_called(&r, "F")];
  cr_assert_eq(f->body->count, 1);
  cr_assert(f->instances);
  cr_expect(f->instances->params[1] == IR_EACH && f->instances->params[2] == IR_SHARED);
  rewriting_free(&r);
}

/* The divisor is not 0 for elements that continue; for others it is replaced. */
Test(loops, a_divisor_that_the_flag_excludes) {
  loops_expect(
      MAIN RECURSION("v26 = CONST INT 0 @2:1\nv27 = DIST INT v26 v0 @2:1\n"
                     "v5 = != INT v1 v27 @2:1\n",
                     "v12 = DIST INT v3 v7 @3:1\nv13 = / INT v12 v6 @3:1\n"
                     "v15: INT = call F v7 v13 v2 @3:1\n",
                     END),
      "t1 = r1 != 0; r2 after r1 = i1, r2 = (i2 over s) while t1: r1 = (1 / (if t1 then r1 "
      "else 1))");
  loops_expect(MAIN RECURSION(FLAG,
                              "v12 = DIST INT v2 v7 @3:1\nv13 = / INT v6 v12 @3:1\n"
                              "v15: INT = call F v7 v13 v2 @3:1\n",
                              END),
               "");
}

/* An operation on the result of the call is no tail recursion. */
Test(loops, not_at_the_end) {
  loops_expect(MAIN RECURSION(FLAG,
                              "v12 = DIST INT v3 v7 @3:1\nv13 = - INT v6 v12 @3:1\n"
                              "v14: INT = call F v7 v13 v2 @3:1\nv15 = + INT v14 v12 @3:1\n",
                              END),
               "");
}

Test(loops, two_calls) {
  loops_expect(
      MAIN RECURSION(FLAG,
                     "v12 = DIST INT v3 v7 @3:1\nv13 = - INT v6 v12 @3:1\n"
                     "v14: INT = call F v7 v13 v2 @3:1\nv15: INT = call F v7 v14 v2 @3:1\n",
                     END),
      "");
}

/* Indices are no operands: they count the elements of the packed domain only. */
Test(loops, positions) {
  loops_expect(MAIN RECURSION(FLAG,
                              "v12 = DIST INT v3 v7 @3:1\nv13 = INDEX v9 v3 v7 @3:1\n"
                              "v14 = - INT v6 v13 @3:1\nv15: INT = call F v7 v14 v2 @3:1\n",
                              END),
               "");
}

/* The merge must put every element at its own index: not the first packed ones to the front.
 */
Test(loops, elements_that_move) {
  loops_expect(MAIN RECURSION(FLAG, NEXT,
                              "v24 = DIST INT v2 v0 @2:5\nv26 = INDEX v9 v3 v7 @2:5\n"
                              "v27 = DPERMUTE INT v11 v26 v24 v7 v0 @2:5\n"),
               "");
}

/* A recursion whose results are unused stays: it may not end. */
#define WITHOUT_RESULTS(params, flag, next)                                                    \
  "fun F (v0: SEGDES" params ") -> () @2:1\n" flag "v8 = LENGTHS v7 @2:2\n"                    \
  "v9 = CONST INT 0 @2:2\n"                                                                    \
  "v10 = > INT v8 v9 @2:2\n"                                                                   \
  "if v10 @2:3\n" next "yield\nelse\nyield\nend\nyield\nend\n"

Test(loops, no_result_that_is_needed) {
  struct rewriting r;
  const char *formula = loop_of(
      &r, "fun M (v0: INT, v1: INT) -> () @1:1\n"
          "v2 = LENGTH INT v1 @1:1\n"
          "v3 = MAKE_SEGDES v2 @1:1\n"
          "call F v3 v1 @1:2\n"
          "yield\nend\n" WITHOUT_RESULTS(
              ", v1: INT",
              "v3 = CONST INT 1 @2:1\nv4 = DIST INT v3 v0 @2:1\n" FLAG
              "v6, v7 = PACK INT v1 v5 v0 @2:2\n",
              "v12 = DIST INT v3 v7 @3:1\nv13 = - INT v6 v12 @3:1\ncall F v7 v13 @3:1\n"));
  cr_expect_str_eq(formula, "r after r = i while (r > 1): r = (r - 1)");
  const struct ir_function *f = &r.o.program->functions[function_called(&r, "F")];
  cr_expect_eq(f->body->result_count, 0);
  rewriting_free(&r);
}

/* No value changes: it never ends, or ends at once. */
Test(loops, nothing_carried) {
  loops_expect(
      "fun M (v0: INT, v1: INT) -> () @1:1\n"
      "v2 = LENGTH INT v1 @1:1\n"
      "v3 = MAKE_SEGDES v2 @1:1\n"
      "call F v3 @1:2\n"
      "yield\nend\n" WITHOUT_RESULTS("",
                                     "v3 = CONST INT 1 @2:1\nv4 = DIST INT v3 v0 @2:1\n"
                                     "v5 = = INT v4 v4 @2:1\n"
                                     "v6, v7 = PACK INT v4 v5 v0 @2:2\n",
                                     "call F v7 @3:1\n"),
      "");
}
