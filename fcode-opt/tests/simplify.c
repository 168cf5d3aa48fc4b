/* simplify.c - constants, algebra, common subexpressions, branches: what is done, and what is
 * not because it would not be exact. */
#include "support.h"

#include <string.h>

/* M takes v0: INT, v1: INT, v2: FLOAT, v3: BOOL, v4: SEGDES. `body` becomes `expected`. */
static void expect_body(const char *body, const char *expected, const char *results) {
  static const char params[] = "(v0: INT, v1: INT, v2: FLOAT, v3: BOOL, v4: SEGDES)";
  char text[3000], whole[3000];
  snprintf(text, sizeof text, "fun M %s -> (%s)\n%send\n", params, results, body);
  snprintf(whole, sizeof whole, "fun M %s -> (%s)\n%send\n", params, results, expected);
  expect_after("simplify", text, whole);
}

Test(simplify, constants_wrap_in_the_widths_of_the_program) {
  expect_body("  v5 = CONST INT 2147483647\n"
              "  v6 = CONST INT 1\n"
              "  v7 = + INT v5 v6\n"
              "  v8 = CONST INT (1 2 3)\n"
              "  v9 = * INT v8 v8\n"
              "  yield v7 v9\n",
              "  v5 = CONST INT 2147483647\n"
              "  v6 = CONST INT 1\n"
              "  v7 = CONST INT -2147483648\n"
              "  v8 = CONST INT (1 2 3)\n"
              "  v9 = CONST INT (1 4 9)\n"
              "  yield v7 v9\n",
              "INT, INT");
}

Test(simplify, what_fails_is_left) {
  static const char body[] = "  v5 = CONST INT 1\n"
                             "  v6 = CONST INT 0\n"
                             "  v7 = / INT v5 v6\n"
                             "  v8 = CONST INT (1 2)\n"
                             "  v9 = + INT v8 v5\n"
                             "  v10 = CONST INT -1\n"
                             "  v11 = MAKE_SEGDES v10\n"
                             "  yield v7 v9 v11\n";
  expect_body(body, body, "INT, INT, SEGDES");
}

Test(simplify, what_is_no_number_is_a_constant_too) {
  expect_body("  v5 = CONST FLOAT -1\n"
              "  v6 = SQRT v5\n"
              "  v7 = + FLOAT v6 v5\n"
              "  yield v6 v7\n",
              "  v5 = CONST FLOAT -1\n"
              "  v6 = CONST FLOAT nan\n"
              "  yield v6 v6\n",
              "FLOAT, FLOAT");
}

/* 1.0, 0.0 and -0.0 as often as v2 has elements. */
#define SPREAD_FLOATS                                                                          \
  "  v5 = CONST FLOAT 1\n"                                                                     \
  "  v6 = CONST FLOAT 0\n"                                                                     \
  "  v7 = CONST FLOAT -0\n"                                                                    \
  "  v8 = LENGTH FLOAT v2\n"                                                                   \
  "  v9 = MAKE_SEGDES v8\n"                                                                    \
  "  v10 = DIST FLOAT v5 v9\n"                                                                 \
  "  v11 = DIST FLOAT v6 v9\n"                                                                 \
  "  v12 = DIST FLOAT v7 v9\n"

/* v4 has as many elements as v5 and v2: the sizes agree because + was executed. */
Test(simplify, identities_of_float_are_exact) {
  expect_body(SPREAD_FLOATS "  v13 = * FLOAT v10 v2\n"
                            "  v14 = - FLOAT v13 v11\n"
                            "  v15 = + FLOAT v12 v14\n"
                            "  v16 = + FLOAT v15 v11\n" /* 0.0 makes -0.0 another number */
                            "  v17 = - FLOAT v16 v12\n" /* likewise */
                            "  v18 = * FLOAT v17 v11\n" /* NaN */
                            "  yield v18\n",
              SPREAD_FLOATS "  v13 = + FLOAT v2 v11\n"
                            "  v14 = - FLOAT v13 v12\n"
                            "  v15 = * FLOAT v14 v11\n"
                            "  yield v15\n",
              "FLOAT");
}

Test(simplify, sizes_that_may_not_agree_keep_the_operation) {
  expect_body("  v5 = CONST INT 0\n"
              "  v6 = + INT v0 v5\n" /* v0 may be longer */
              "  v7 = AND INT v0 v0\n"
              "  v8 = NOT INT v7\n"
              "  v9 = NOT INT v8\n"
              "  yield v6 v9\n",
              "  v5 = CONST INT 0\n"
              "  v6 = + INT v0 v5\n"
              "  v7 = NOT INT v0\n"
              "  yield v6 v0\n",
              "INT, INT");
}

Test(simplify, what_was_added_is_taken_back) {
  expect_body("  v5 = + INT v0 v1\n"
              "  v6 = - INT v5 v0\n"
              "  v7 = - INT v5 v1\n"
              "  v8 = - INT v0 v5\n"
              "  yield v5 v6 v7 v8\n",
              "  v5 = + INT v0 v1\n"
              "  v6 = - INT v0 v5\n"
              "  yield v5 v1 v0 v6\n",
              "INT, INT, INT, INT");
}

/* It is removed only if its operands have the same length. */
Test(simplify, checks_that_hold) {
  expect_body("  v5 = CONST BOOL T\n"
              "  v6 = CONST BOOL F\n"
              "  v7 = CONST INT 7\n"
              "  v8 = CONST INT (1 2)\n"
              "  ASSERT \"one\" v5 v7 v7\n"
              "  ASSERT \"two\" v6 v7 v7\n"
              "  ASSERT \"three\" v5 v7 v8\n"
              "  v9 = DIST BOOL v5 v4\n"
              "  v10 = DIST INT v7 v4\n"
              "  ASSERT \"four\" v9 v10 v10\n"
              "  ASSERT \"five\" v9 v10 v0\n"
              "  ASSERT \"six\" v3 v0 v0\n"
              "  yield v0\n",
              "  v5 = CONST BOOL T\n"
              "  v6 = CONST BOOL F\n"
              "  v7 = CONST INT 7\n"
              "  v8 = CONST INT (1 2)\n"
              "  ASSERT \"two\" v6 v7 v7\n"
              "  ASSERT \"three\" v5 v7 v8\n"
              "  v9 = DIST BOOL v5 v4\n"
              "  v10 = DIST INT v7 v4\n"
              "  ASSERT \"five\" v9 v10 v0\n"
              "  ASSERT \"six\" v3 v0 v0\n"
              "  yield v0\n",
              "INT");
}

Test(simplify, contraries) {
  expect_body("  v5 = < INT v0 v1\n"
              "  v6 = NOT BOOL v5\n"
              "  v7 = < FLOAT v2 v2\n"
              "  v8 = NOT BOOL v7\n" /* true for NaN, >= is not */
              "  v9 = NOT BOOL v6\n"
              "  v10 = SELECT INT v6 v0 v1\n"
              "  yield v8 v9 v10\n",
              "  v5 = < INT v0 v1\n"
              "  v6 = >= INT v0 v1\n"
              "  v7 = < FLOAT v2 v2\n"
              "  v8 = NOT BOOL v7\n"
              "  v9 = SELECT INT v6 v0 v1\n"
              "  yield v8 v5 v9\n",
              "BOOL, BOOL, INT");
}

Test(simplify, spread_constants) {
  expect_body("  v5 = CONST INT 3\n"
              "  v6 = CONST INT 4\n"
              "  v7 = DIST INT v5 v4\n"
              "  v8 = DIST INT v6 v4\n"
              "  v9 = + INT v7 v8\n"
              "  yield v9\n",
              "  v5 = CONST INT 3\n"
              "  v6 = CONST INT 4\n"
              "  v7 = DIST INT v5 v4\n"
              "  v8 = DIST INT v6 v4\n"
              "  v9 = CONST INT 7\n"
              "  v10 = DIST INT v9 v4\n"
              "  yield v10\n",
              "INT");
}

Test(simplify, descriptors) {
  expect_body("  v5 = MAKE_SEGDES v0\n"
              "  v6 = LENGTHS v5\n"
              "  v7 = LENGTHS v4\n"
              "  v8 = MAKE_SEGDES v7\n"
              "  v9 = CONST INT (2 0 1)\n"
              "  v10 = MAKE_SEGDES v9\n"
              "  yield v6 v8 v10\n",
              "  v5 = MAKE_SEGDES v0\n"
              "  v6 = LENGTHS v4\n"
              "  v7 = CONST INT (2 0 1)\n"
              "  v8 = CONST SEGDES (2 0 1)\n"
              "  yield v0 v4 v8\n",
              "INT, SEGDES, SEGDES");
}

Test(simplify, lengths_that_are_the_same) {
  expect_body("  v5 = LENGTH FLOAT v2\n"
              "  v6 = SQRT v2\n"
              "  v7 = LENGTH FLOAT v6\n"
              "  v8 = MAKE_SEGDES v7\n"
              "  v9 = DIST INT v5 v8\n"
              "  v10 = LENGTH INT v9\n"
              "  yield v9 v10\n",
              "  v5 = LENGTH FLOAT v2\n"
              "  v6 = SQRT v2\n"
              "  v7 = MAKE_SEGDES v5\n"
              "  v8 = DIST INT v5 v7\n"
              "  yield v8 v5\n",
              "INT, INT");
}

Test(simplify, segments_of_one_element_and_none) {
  expect_body("  v5 = CONST SEGDES 1\n"
              "  v6 = CONST INT ()\n"
              "  v7 = CONST SEGDES 0\n"
              "  v8 = MIN_REDUCE INT v6 v7\n"
              "  v9 = DIST INT v8 v5\n"
              "  v10 = +_REDUCE INT v9 v5\n"
              "  v11 = +_REDUCE FLOAT v2 v5\n" /* v2 may be longer */
              "  yield v10 v11\n",
              "  v5 = CONST SEGDES 1\n"
              "  v6 = CONST INT ()\n"
              "  v7 = CONST SEGDES 0\n"
              "  v8 = CONST INT 2147483647\n"
              "  v9 = +_REDUCE FLOAT v2 v5\n"
              "  yield v8 v9\n",
              "INT, FLOAT");
}

/* Executed twice with the same operands: the second cannot fail if the first did not. */
Test(simplify, common_subexpressions) {
  expect_body("  v5 = + INT v0 v1\n"
              "  v6 = + INT v1 v0\n"
              "  v7 = - INT v0 v1\n"
              "  v8 = - INT v1 v0\n"
              "  v9 = / INT v5 v6\n"
              "  v10 = / INT v6 v5\n"
              "  ASSERT \"one\" v3 v0 v1\n"
              "  ASSERT \"two\" v3 v0 v1\n"
              "  yield v7 v8 v9 v10\n",
              "  v5 = + INT v0 v1\n"
              "  v6 = - INT v0 v1\n"
              "  v7 = - INT v1 v0\n"
              "  v8 = / INT v5 v5\n"
              "  ASSERT \"one\" v3 v0 v1\n"
              "  yield v6 v7 v8 v8\n",
              "INT, INT, INT, INT");
}

/* Nothing of it goes; only the numbers of two results change. */
#define AROUND_A_TIMER(chosen, product)                                                        \
  "  v5 = + INT v0 v1\n"                                                                       \
  "  START_TIMER\n"                                                                            \
  "  v6 = + INT v0 v1\n"                                                                       \
  "  v7 = STOP_TIMER\n"                                                                        \
  "  " chosen ": INT = if v3\n"                                                                \
  "    " product " = * INT v0 v1\n"                                                            \
  "    yield " product "\n"                                                                    \
  "  else\n"                                                                                   \
  "    yield v6\n"                                                                             \
  "  end\n"                                                                                    \
  "  v10 = * INT v0 v1\n"                                                                      \
  "  v11 = RAND v0\n"                                                                          \
  "  v12 = RAND v0\n"                                                                          \
  "  yield v5 " chosen " v10 v11 v12\n"

Test(simplify, common_combinations) {
  expect_after("simplify",
               "fused OP0#1 ($0 : INT, $1 : SEGDES) =\n"
               "  $2 $3 = (COLUMN INT @ $0)\n"
               "  (COMBINE_SCAN_INCLUSIVE INT @ $2 (- INT @ $2 $3) $1)\n"
               "fun M (v0: INT, v1: SEGDES) -> (INT, INT)\n"
               "  v2 = FUSED 0 v0 v1\n"
               "  v3 = FUSED 0 v0 v1\n"
               "  v4 = + INT v2 v3\n"
               "  v5 = FUSED 0 v3 v1\n"
               "  yield v4 v5\n"
               "end\n",
               "fun M (v0: INT, v1: SEGDES) -> (INT, INT)\n"
               "  v2 = FUSED 0 v0 v1\n"
               "  v3 = + INT v2 v2\n"
               "  v4 = FUSED 0 v2 v1\n"
               "  yield v3 v4\n"
               "end\n");
}

Test(simplify, not_across_timers_nor_out_of_arms) {
  expect_body(AROUND_A_TIMER("v8", "v9"), AROUND_A_TIMER("v9", "v8"),
              "INT, INT, INT, INT, INT");
}

Test(simplify, pairs) {
  expect_body("  v5: PAIR(INT, FLOAT) = PAIR v0 v2\n"
              "  v6: INT, v7: FLOAT = UNPAIR v5\n"
              "  v8: PAIR(INT, FLOAT) = PAIR v6 v7\n"
              "  yield v6 v8\n",
              "  v5: PAIR(INT, FLOAT) = PAIR v0 v2\n"
              "  yield v0 v5\n",
              "INT, PAIR(INT, FLOAT)");
}

Test(simplify, branches) {
  expect_body("  v5 = CONST BOOL F\n"
              "  v6: INT = if v5\n"
              "    yield v0\n"
              "  else\n"
              "    v7 = NOT INT v1\n"
              "    yield v7\n"
              "  end\n"
              "  yield v6\n",
              "  v5 = CONST BOOL F\n"
              "  v6 = NOT INT v1\n"
              "  yield v6\n",
              "INT");
  expect_body("  v5: INT, v6: BOOL, v7: INT = if v3\n" /* known inside, same in both */
              "    v8: INT = if v3\n"
              "      yield v0\n"
              "    else\n"
              "      yield v1\n"
              "    end\n"
              "    v10 = CONST INT 5\n"
              "    yield v8 v3 v10\n"
              "  else\n"
              "    v11 = CONST BOOL F\n"
              "    v12 = CONST INT 5\n"
              "    yield v0 v11 v12\n"
              "  end\n"
              "  yield v5 v6 v7\n",
              "  v5 = CONST INT 5\n"
              "  if v3\n"
              "    v6 = CONST INT 5\n"
              "    yield\n"
              "  else\n"
              "    v7 = CONST BOOL F\n"
              "    v8 = CONST INT 5\n"
              "    yield\n"
              "  end\n"
              "  yield v0 v3 v5\n",
              "INT, BOOL, INT");
}

/* The truth value of the condition is known in this arm only. */
Test(simplify, conditions_are_forgotten) {
#define TWO_IFS(v5)                                                                            \
  "  v6: BOOL = if v3\n"                                                                       \
  "    START_TIMER\n"                                                                          \
  "    yield v3\n"                                                                             \
  "  else\n"                                                                                   \
  "    v5 = " v5 "\n"                                                                          \
  "    yield v5\n"                                                                             \
  "  end\n"                                                                                    \
  "  v7: INT = if v3\n"                                                                        \
  "    yield v0\n"                                                                             \
  "  else\n"                                                                                   \
  "    yield v1\n"                                                                             \
  "  end\n"                                                                                    \
  "  yield v6 v7\n"
  expect_body(TWO_IFS("NOT BOOL v3"), TWO_IFS("CONST BOOL T"), "BOOL, INT");
}

Test(simplify, what_follows_a_check) {
  expect_body("  v5 = NOT BOOL v3\n"
              "  v6: INT = if v5\n"
              "    exit\n"
              "  else\n"
              "    v7 = NOT INT v1\n"
              "    yield v7\n"
              "  end\n"
              "  yield v6\n",
              "  v5 = NOT BOOL v3\n"
              "  if v3\n"
              "    yield\n"
              "  else\n"
              "    exit\n"
              "  end\n"
              "  v6 = NOT INT v1\n"
              "  yield v6\n",
              "INT");
}

/* A parameter that is returned unchanged needs no result. */
Test(simplify, results_that_are_operands) {
  expect_uninlined("fun M (v0: INT, v1: FLOAT) -> (FLOAT, INT)\n"
                   "  v2: FLOAT, v3: INT = call SAY v0 v1\n"
                   "  v4: FLOAT, v5: INT = call SAY v3 v2\n"
                   "  yield v4 v5\n"
                   "end\n"
                   "fun SAY (v0: INT, v1: FLOAT) -> (FLOAT, INT)\n"
                   "  v2, v3 = WRITE INT v0\n"
                   "  yield v1 v0\n"
                   "end\n",
                   "fun M (v0: INT, v1: FLOAT) -> (FLOAT, INT)\n"
                   "  call SAY v0\n"
                   "  call SAY v0\n"
                   "  yield v1 v0\n"
                   "end\n"
                   "fun SAY (v0: INT) -> ()\n"
                   "  v1, v2 = WRITE INT v0\n"
                   "  yield\n"
                   "end\n");
}

/* M never returns once its condition is known; nor do its callers. */
Test(simplify, ends_are_found_out) {
  struct fixture t;
  fixture_init(&t);
  t.options.inline_limit = 0;
  const char *result = after(&t, "final",
                             "fun M (v0: INT) -> (INT)\n"
                             "  v1: INT = call STOP v0\n"
                             "  v2: INT = call STOP v1\n"
                             "  yield v2\n"
                             "end\n"
                             "fun STOP (v0: INT) -> (INT)\n"
                             "  v1 = CONST BOOL T\n"
                             "  v2, v3 = WRITE INT v0\n"
                             "  v4: INT = if v1\n"
                             "    exit\n"
                             "  else\n"
                             "    yield v0\n"
                             "  end\n"
                             "  yield v4\n"
                             "end\n");
  cr_expect(strstr(result, "fun M (v0: INT) -> ()\n"
                           "  call STOP v0\n"
                           "  never\n"),
            "%s", result);
  fixture_free(&t);
}

/* Two results of a loop that are always equal: were one yielded twice, the call would not be
 * the last thing any more. */
Test(simplify, loops_stay_loops) {
  static const char text[] = "fun M (v0: INT) -> (INT)\n"
                             "  v1 = CONST INT 0\n"
                             "  v2: INT, v3: INT = call LOOP v0 v1 v1\n"
                             "  yield v3\n"
                             "end\n"
                             "fun LOOP (v0: INT, v1: INT, v2: INT) -> (INT, INT)\n"
                             "  v3 = < INT v1 v0\n"
                             "  v4: INT, v5: INT = if v3\n"
                             "    v6 = CONST INT 1\n"
                             "    v7 = + INT v1 v6\n"
                             "    v8 = + INT v2 v6\n"
                             "    v9: INT, v10: INT = call LOOP v0 v7 v8\n"
                             "    yield v9 v10\n"
                             "  else\n"
                             "    yield v1 v2\n"
                             "  end\n"
                             "  yield v4 v5\n"
                             "end\n";
  static const char expected[] = "fun M (v0: INT) -> (INT)\n"
                                 "  v1 = CONST INT 0\n"
                                 "  v2: INT, v3: INT = call LOOP v0 v1 v1\n"
                                 "  yield v3\n"
                                 "end\n"
                                 "fun LOOP (v0: INT, v1: INT, v2: INT) -> (INT, INT)\n"
                                 "  v3 = < INT v1 v0\n"
                                 "  v8: INT, v9: INT = if v3\n"
                                 "    v4 = CONST INT 1\n"
                                 "    v5 = + INT v1 v4\n"
                                 "    v6: INT, v7: INT = call LOOP v0 v5 v5\n"
                                 "    yield v6 v7\n"
                                 "  else\n"
                                 "    yield v1 v1\n"
                                 "  end\n"
                                 "  yield v8 v9\n"
                                 "end\n";
  expect_after("simplify", text, expected);
}

/* ---- what is packed ---- */

/* Lengths packed where they equal others are those others: both have one descriptor, and the
 * check of it is none. */
Test(simplify, what_is_packed_where_it_is_equal) {
  expect_after("simplify",
               "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT)\n"
               "  v3 = = INT v1 v2\n"
               "  v4, v5 = PACK INT v1 v3 v0\n"
               "  v6, v7 = PACK INT v2 v3 v0\n"
               "  v8 = = INT v4 v6\n"
               "  ASSERT \"Lengths.\" v8 v4 v6\n"
               "  yield v4 v6\n"
               "end\n",
               "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT)\n"
               "  v3 = = INT v1 v2\n"
               "  v4, v5 = PACK INT v1 v3 v0\n"
               "  v6 = = INT v4 v4\n"
               "  yield v4 v4\n"
               "end\n");
}

/* In quicksort it would be spread for nothing. */
Test(simplify, what_is_packed_alone_stays) {
  static const char text[] = "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                             "  v3 = DIST INT v2 v0\n"
                             "  v4 = = INT v1 v3\n"
                             "  v5, v6 = PACK INT v1 v4 v0\n"
                             "  yield v5\n"
                             "end\n";
  expect_after("simplify", text, text);
}

Test(simplify, what_is_spread_and_packed_is_spread) {
  expect_after("simplify",
               "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT, SEGDES)\n"
               "  v3 = DIST INT v2 v0\n"
               "  v4 = = INT v1 v3\n"
               "  v5, v6 = PACK INT v1 v4 v0\n"
               "  v7, v8 = PACK INT v3 v4 v0\n"
               "  yield v5 v7 v6\n"
               "end\n",
               "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT, INT, SEGDES)\n"
               "  v3 = DIST INT v2 v0\n"
               "  v4 = = INT v1 v3\n"
               "  v5, v6 = PACK BOOL v4 v4 v0\n"
               "  v7 = DIST INT v2 v6\n"
               "  yield v7 v7 v6\n"
               "end\n");
}

/* Of the gather that there is what is kept is packed; of another one nothing is known. */
Test(simplify, a_gather_by_a_packed_index) {
  expect_after("simplify",
               "fun M (v0: SEGDES, v1: INT, v2: BOOL, v3: SEGDES, v4: INT) -> (INT, INT, INT)\n"
               "  v5 = BPERMUTE INT v4 v1 v3 v0\n"
               "  v6, v7 = PACK INT v1 v2 v0\n"
               "  v8 = BPERMUTE INT v4 v6 v3 v7\n"
               "  v9 = BPERMUTE INT v5 v6 v3 v7\n"
               "  yield v5 v8 v9\n"
               "end\n",
               "fun M (v0: SEGDES, v1: INT, v2: BOOL, v3: SEGDES, v4: INT) -> (INT, INT, INT)\n"
               "  v5 = BPERMUTE INT v4 v1 v3 v0\n"
               "  v6, v7 = PACK INT v1 v2 v0\n"
               "  v8, v9 = PACK INT v5 v2 v0\n"
               "  v10 = BPERMUTE INT v5 v6 v3 v7\n"
               "  yield v5 v8 v10\n"
               "end\n");
}
