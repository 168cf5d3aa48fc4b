/* procedures.c - the procedures of lifted functions: every pass keeps both alike.
 */
#include "programs.h"
#include "rewriting.h"
#include "support.h"

/* Rows v2 of v1, and a number for each, of which the caller uses less. */
Test(procedures, dead_parameters_and_results) {
  rewriting_expect(
      pass_dead,
      "fun M (v0: SEGDES, v1: INT, v2: SEGDES, v3: INT) -> (INT)\n"
      "  v4: INT, v5: SEGDES, v6: INT = call ROWS v0 v3 v1 v2 v3\n"
      "  yield v6\n"
      "end\n"
      "fun ROW (v0: INT, v1: INT, v2: SEGDES, v3: INT) -> (INT, SEGDES, INT)\n"
      "  v4 = NOT INT v3\n"
      "  yield v1 v2 v4\n"
      "end\n"
      "fun ROWS (v0: SEGDES, v1: INT, v2: INT, v3: SEGDES, v4: INT) -> "
      "(INT, SEGDES, INT) instances shared shared each each 3 -> each each 1 procedure ROW\n"
      "  v5 = NOT INT v4\n"
      "  yield v2 v3 v5\n"
      "end\n",
      "fun M (v0: SEGDES, v1: INT, v2: SEGDES, v3: INT) -> (INT)\n"
      "  v4: SEGDES, v5: INT = call ROWS v0 v2 v3\n"
      "  yield v5\n"
      "end\n"
      "fun ROW (v0: SEGDES, v1: INT) -> (SEGDES, INT)\n"
      "  v2 = NOT INT v1\n"
      "  yield v0 v2\n"
      "end\n"
      "fun ROWS (v0: SEGDES, v1: SEGDES, v2: INT) -> (SEGDES, INT) "
      "instances shared each 1 -> each 0 procedure ROW\n"
      "  v3 = NOT INT v2\n"
      "  yield v1 v3\n"
      "end\n");
}

#define SUMS                                                                                   \
  "fun SUMS (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared each shared -> each "     \
  "procedure SUM\n"

/* What only the procedure needs, and what only another caller of it needs, stays in both. */
Test(procedures, dead_needs_of_both) {
  rewriting_expect(pass_dead,
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                   "  v3: INT = call SUMS v0 v1 v2\n"
                   "  yield v3\n"
                   "end\n"
                   "fun SUM (v0: INT, v1: INT) -> (INT)\n"
                   "  v2 = + INT v0 v1\n"
                   "  yield v2\n"
                   "end\n" SUMS "  v3 = NOT INT v1\n"
                   "  yield v3\n"
                   "end\n",
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                   "  v3: INT = call SUMS v0 v1 v2\n"
                   "  yield v3\n"
                   "end\n"
                   "fun SUM (v0: INT, v1: INT) -> (INT)\n"
                   "  v2 = + INT v0 v1\n"
                   "  yield v2\n"
                   "end\n" SUMS "  v3 = NOT INT v1\n"
                   "  yield v3\n"
                   "end\n");
}

/* The call of the procedure is inlined, and so is what it calls; it stays. */
Test(procedures, inlined_and_kept) {
  rewriting_expect(pass_inline,
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT)\n"
                   "  v3: INT = call SUMS v0 v1 v2\n"
                   "  v4: INT = call SUM v2 v2\n"
                   "  yield v3 v4\n"
                   "end\n"
                   "fun SUM (v0: INT, v1: INT) -> (INT)\n"
                   "  v2: INT = call ADD v0 v1\n"
                   "  yield v2\n"
                   "end\n"
                   "fun ADD (v0: INT, v1: INT) -> (INT)\n"
                   "  v2 = + INT v0 v1\n"
                   "  yield v2\n"
                   "end\n" SUMS "  v3 = DIST INT v2 v0\n"
                   "  v4 = + INT v1 v3\n"
                   "  yield v4\n"
                   "end\n",
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT)\n"
                   "  v3: INT = call SUMS v0 v1 v2\n"
                   "  v4 = + INT v2 v2\n"
                   "  yield v3 v4\n"
                   "end\n"
                   "fun SUM (v0: INT, v1: INT) -> (INT)\n"
                   "  v2 = + INT v0 v1\n"
                   "  yield v2\n"
                   "end\n"
                   "fun ADD () -> ()\n"
                   "  exit\n"
                   "end\n" SUMS "  v3 = DIST INT v2 v0\n"
                   "  v4 = + INT v1 v3\n"
                   "  yield v4\n"
                   "end\n");
}

/* It goes with the last lifted function that it belongs to. */
Test(procedures, dropped) {
  rewriting_expect(pass_dead,
                   "fun M (v0: INT) -> (INT)\n"
                   "  yield v0\n"
                   "end\n" SUMS "  yield v1\n"
                   "end\n"
                   "fun SUM (v0: INT, v1: INT) -> (INT)\n"
                   "  yield v0\n"
                   "end\n",
                   "fun M (v0: INT) -> (INT)\n"
                   "  yield v0\n"
                   "end\n"
                   "fun SUMS () -> ()\n"
                   "  exit\n"
                   "end\n"
                   "fun SUM () -> ()\n"
                   "  exit\n"
                   "end\n");
}

#define SQUARES                                                                                \
  "  v3 = * INT v2 v2\n"                                                                       \
  "  v4 = DIST INT v3 v0\n"                                                                    \
  "  v5 = + INT v1 v4\n"                                                                       \
  "  yield v5\n"                                                                               \
  "end\n"
#define SQUARE                                                                                 \
  "fun SUM (v0: INT, v1: INT) -> (INT)\n"                                                      \
  "  v2 = * INT v1 v1\n"                                                                       \
  "  v3 = + INT v0 v2\n"                                                                       \
  "  yield v3\n"                                                                               \
  "end\n"
#define HOISTED                                                                                \
  "(v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT) instances shared each shared shared -> "   \
  "each procedure "

/* What moves to the callers becomes a parameter of the procedure as well, which uses it. */
Test(procedures, hoisted) {
  rewriting_expect(pass_hoist,
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                   "  v3: INT = call SUMS v0 v1 v2\n"
                   "  yield v3\n"
                   "end\n" SUMS SQUARES SQUARE,
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                   "  v3 = * INT v2 v2\n"
                   "  v4: INT = call SUMS v0 v1 v2 v3\n"
                   "  yield v4\n"
                   "end\n"
                   "fun SUMS " HOISTED "SUM\n"
                   "  v4 = DIST INT v3 v0\n"
                   "  v5 = + INT v1 v4\n"
                   "  yield v5\n"
                   "end\n"
                   "fun SUM (v0: INT, v1: INT, v2: INT) -> (INT)\n"
                   "  v3 = + INT v0 v2\n"
                   "  yield v3\n"
                   "end\n");
}

/* An instance that looks up where rows begin does not add up the lengths of all: the caller has
 * done so, although the procedure does it in an arm. */
Test(procedures, hoisted_from_arms) {
  rewriting_expect(pass_hoist,
                   "fun M (v0: SEGDES, v1: INT, v2: SEGDES, v3: SEGDES) -> (INT)\n"
                   "  v4: INT = call STARTS v0 v1 v2 v3\n"
                   "  yield v4\n"
                   "end\n"
                   "fun STARTS (v0: SEGDES, v1: INT, v2: SEGDES, v3: SEGDES) -> (INT) "
                   "instances shared each shared shared -> each procedure START\n"
                   "  v4 = LENGTHS v2\n"
                   "  v5 = +_SCAN INT v4 v3\n"
                   "  v6 = BPERMUTE INT v5 v1 v3 v0\n"
                   "  yield v6\n"
                   "end\n"
                   "fun START (v0: INT, v1: SEGDES, v2: SEGDES) -> (INT)\n"
                   "  v3 = CONST BOOL T\n"
                   "  v4: INT = if v3\n"
                   "    v5 = LENGTHS v1\n"
                   "    v6 = +_SCAN INT v5 v2\n"
                   "    v7 = CONST SEGDES 1\n"
                   "    v8 = BPERMUTE INT v6 v0 v2 v7\n"
                   "    yield v8\n"
                   "  else\n"
                   "    yield v0\n"
                   "  end\n"
                   "  yield v4\n"
                   "end\n",
                   "fun M (v0: SEGDES, v1: INT, v2: SEGDES, v3: SEGDES) -> (INT)\n"
                   "  v4 = LENGTHS v2\n"
                   "  v5 = +_SCAN INT v4 v3\n"
                   "  v6: INT = call STARTS v0 v1 v2 v3 v5\n"
                   "  yield v6\n"
                   "end\n"
                   "fun STARTS (v0: SEGDES, v1: INT, v2: SEGDES, v3: SEGDES, v4: INT) -> (INT) "
                   "instances shared each shared shared shared -> each procedure START\n"
                   "  v5 = BPERMUTE INT v4 v1 v3 v0\n"
                   "  yield v5\n"
                   "end\n"
                   "fun START (v0: INT, v1: SEGDES, v2: SEGDES, v3: INT) -> (INT)\n"
                   "  v4 = CONST BOOL T\n"
                   "  v8: INT = if v4\n"
                   "    v5 = LENGTHS v1\n"
                   "    v6 = CONST SEGDES 1\n"
                   "    v7 = BPERMUTE INT v3 v0 v2 v6\n"
                   "    yield v7\n"
                   "  else\n"
                   "    yield v0\n"
                   "  end\n"
                   "  yield v8\n"
                   "end\n");
}

/* Where others call the procedure there is one more, which does the same. */
Test(procedures, hoisted_and_called) {
  rewriting_expect(pass_hoist,
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT)\n"
                   "  v3: INT = call SUMS v0 v1 v2\n"
                   "  v4: INT = call SUM v2 v2\n"
                   "  yield v3 v4\n"
                   "end\n" SUMS SQUARES SQUARE,
                   "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT)\n"
                   "  v3 = * INT v2 v2\n"
                   "  v4: INT = call SUMS v0 v1 v2 v3\n"
                   "  v5: INT = call SUM v2 v2\n"
                   "  yield v4 v5\n"
                   "end\n"
                   "fun SUMS " HOISTED "SUM_ONE\n"
                   "  v4 = DIST INT v3 v0\n"
                   "  v5 = + INT v1 v4\n"
                   "  yield v5\n"
                   "end\n" SQUARE "fun SUM_ONE (v0: INT, v1: INT, v2: INT) -> (INT)\n"
                   "  v3 = + INT v0 v2\n"
                   "  yield v3\n"
                   "end\n");
}

/* What a recursion computes once becomes a parameter of the procedure of the twin, too. */
Test(procedures, invariants) {
  struct rewriting r;
  const char *found = rewriting_listing(&r,
                                        "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                                        "  v3: INT = call SUMS v0 v1 v2\n"
                                        "  yield v3\n"
                                        "end\n" SUMS "  v3 = MAKE_SEGDES v2\n"
                                        "  v4 = +_REDUCE INT v2 v3\n"
                                        "  v5 = LENGTH INT v1\n"
                                        "  v6 = = INT v5 v4\n"
                                        "  v7: INT = if v6\n"
                                        "    v8: INT = call SUMS v0 v1 v2\n"
                                        "    yield v8\n"
                                        "  else\n"
                                        "    yield v1\n"
                                        "  end\n"
                                        "  yield v7\n"
                                        "end\n"
                                        "fun SUM (v0: INT, v1: INT) -> (INT)\n"
                                        "  yield v0\n"
                                        "end\n",
                                        pass_invariants);
  rewriting_has(found, "fun SUMS (", 1);
  rewriting_has(found, " procedure SUM @", 0);
  rewriting_has(found, " procedure SUM\n", 1);
  rewriting_has(found, " procedure SUM_ONE\n", 1);
  rewriting_has(found, "call SUM v0 v1\n", 1);
  rewriting_free(&r);
}

/* What is one for each instance is one, and what holds for the operands of a batch call holds
 * for each of its instances. */
Test(procedures, sizes) {
  struct rewriting r;
  rewriting_begin(&r,
                  "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                  "  v3 = NOT INT v2\n"
                  "  v4: INT = call SUMS v0 v1 v2 v3\n"
                  "  yield v4\n"
                  "end\n"
                  "fun SUMS (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT) instances shared "
                  "each shared shared -> each procedure SUM\n"
                  "  yield v1\n"
                  "end\n"
                  "fun SUM (v0: INT, v1: INT, v2: INT) -> (INT)\n"
                  "  v3 = + INT v1 v2\n"
                  "  v4 = MAKE_SEGDES v0\n"
                  "  v5 = +_REDUCE INT v3 v4\n"
                  "  yield v5\n"
                  "end\n");
  r.o.program->guarded = true;
  const uint32_t sum = function_called(&r, "SUM");
  const struct sizes *sizes = sizes_compute(&r.o);
  cr_expect_eq(sizes_known(sizes, sum, 0, SIZE_LEN), 1);
  cr_expect_eq(sizes_known(sizes, sum, 1, SIZE_LEN), -1);
  cr_expect_eq(sizes_class(sizes, sum, 1, SIZE_LEN), sizes_class(sizes, sum, 2, SIZE_LEN));
  cr_expect(sizes_safe(sizes, sum, binding_of(&r, "SUM", 3)));
  cr_expect(!sizes_safe(sizes, sum, binding_of(&r, "SUM", 5)));
  rewriting_free(&r);
}
