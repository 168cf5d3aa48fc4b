/* dead.c - tests of dead code: bindings that are removed, and bindings that must stay. */
#include "support.h"

Test(dead, what_may_fail_stays) {
  expect_after("dead",
               "fun M (v0: INT, v1: INT) -> ()\n"
               "  v2 = NOT INT v0\n"
               "  v3 = + INT v0 v1\n"
               "  v4 = - INT v3 v0\n"
               "  v5 = LENGTH INT v4\n"
               "  v6 = MAKE_SEGDES v5\n"
               "  v7 = DIST INT v5 v6\n"
               "  v8 = / INT v3 v3\n"
               "  yield\n"
               "end\n",
               "fun M (v0: INT, v1: INT) -> ()\n"
               "  v2 = + INT v0 v1\n" /* of unknown lengths */
               "  v3 = / INT v2 v2\n" /* there may be a 0 */
               "  yield\n"
               "end\n");
}

Test(dead, effects_stay) {
  static const char text[] = "fun M (v0: INT) -> ()\n"
                             "  v1 = RAND v0\n"
                             "  START_TIMER\n"
                             "  v2 = STOP_TIMER\n"
                             "  v3, v4 = WRITE INT v1\n"
                             "  v5 = SRAND INT v0\n"
                             "  yield\n"
                             "end\n";
  expect_after("dead", text, text);
}

Test(dead, what_recursion_only_hands_on) {
  expect_after("dead",
               "fun M (v0: INT, v1: INT) -> (INT)\n"
               "  v2: INT, v3: INT = call LOOP v0 v1\n"
               "  yield v2\n"
               "end\n"
               "fun LOOP (v0: INT, v1: INT) -> (INT, INT)\n"
               "  v2 = I_TO_B v0\n"
               "  v3: INT, v4: INT = if v2\n"
               "    v5 = NOT INT v0\n"
               "    v6 = NOT INT v1\n"
               "    v7: INT, v8: INT = call LOOP v5 v6\n"
               "    yield v7 v8\n"
               "  else\n"
               "    yield v0 v1\n"
               "  end\n"
               "  yield v3 v4\n"
               "end\n",
               "fun M (v0: INT, v1: INT) -> (INT)\n"
               "  v2: INT = call LOOP v0\n"
               "  yield v2\n"
               "end\n"
               "fun LOOP (v0: INT) -> (INT)\n"
               "  v1 = I_TO_B v0\n"
               "  v4: INT = if v1\n"
               "    v2 = NOT INT v0\n"
               "    v3: INT = call LOOP v2\n"
               "    yield v3\n"
               "  else\n"
               "    yield v0\n"
               "  end\n"
               "  yield v4\n"
               "end\n");
}

/* SQUARES cannot fail: its call is removable. LOOP may run for ever. */
Test(dead, calls) {
  expect_uninlined("fun M (v0: INT) -> (INT)\n"
                   "  v1: INT = call SQUARES v0\n"
                   "  v2: INT = call SQUARES v1\n"
                   "  v3: INT = call LOOP v0\n"
                   "  yield v0\n"
                   "end\n"
                   "fun SQUARES (v0: INT) -> (INT)\n"
                   "  v1 = * INT v0 v0\n"
                   "  yield v1\n"
                   "end\n" LOOP,
                   "fun M (v0: INT) -> (INT)\n"
                   "  call LOOP v0\n"
                   "  yield v0\n"
                   "end\n"
                   "fun SQUARES () -> ()\n"
                   "  exit\n"
                   "end\n"
                   "fun LOOP (v0: INT) -> ()\n"
                   "  v1 = I_TO_B v0\n"
                   "  if v1\n"
                   "    call LOOP v0\n"
                   "    yield\n"
                   "  else\n"
                   "    yield\n"
                   "  end\n"
                   "  yield\n"
                   "end\n");
}

/* The first condition may not be a scalar; the second is known to be one. */
Test(dead, ifs) {
  expect_after("dead",
               "fun M (v0: BOOL, v1: INT) -> (INT)\n"
               "  v2: INT, v3: INT = if v0\n"
               "    v4 = NOT INT v1\n"
               "    yield v1 v4\n"
               "  else\n"
               "    yield v1 v1\n"
               "  end\n"
               "  v5: INT = if v0\n"
               "    v6 = NOT INT v1\n"
               "    yield v6\n"
               "  else\n"
               "    yield v1\n"
               "  end\n"
               "  yield v1\n"
               "end\n",
               "fun M (v0: BOOL, v1: INT) -> (INT)\n"
               "  if v0\n"
               "    yield\n"
               "  else\n"
               "    yield\n"
               "  end\n"
               "  yield v1\n"
               "end\n");
}

/* The first one may fail; the second cannot where the first has not. Of results of one all
 * stay. */
Test(dead, superoperators) {
  static const char scans[] =
      "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
      "  $3 $4 = (COLUMN INT @ $0) $5 $6 = (COLUMN INT @ $1) $7 = (- INT @ $3 $6)\n"
      "  $8 = (COMBINE_SCAN_INCLUSIVE INT @ $3 $7 $2)\n"
      "  $9 = (COMBINE_SCAN_INCLUSIVE INT @ $5 $4 $2)\n"
      "  -> $8 $9\n"
      "fun M (v0: INT, v1: SEGDES) -> (INT)\n"
      "  v2 = NOT INT v0\n"
      "  v3, v4 = FUSED 0 v0 v0 v1\n"
      "  v5, v6 = FUSED 0 v0 v2 v1\n"
      "  v7, v8 = FUSED 0 v2 v0 v1\n"
      "  yield v7\n"
      "end\n";
  expect_after("dead", scans,
               "fun M (v0: INT, v1: SEGDES) -> (INT)\n"
               "  v2 = NOT INT v0\n"
               "  v3, v4 = FUSED 0 v0 v0 v1\n"
               "  v5, v6 = FUSED 0 v2 v0 v1\n"
               "  yield v5\n"
               "end\n");
}
