/* copies.c - which gathers and scatters become one superoperator of copies, and what stays
 * where they were. */
#include "rewriting.h"

#include <string.h>

/* Vectors v0 and v3 with descriptors v7 and v8 of one segment, the starts v9 of two runs with
 * lengths v9 and the strides v10 of 1; v12: their total; v13: a descriptor of the result. */
#define VECTORS                                                                                \
  "v0, v1, v2 = READ INT @1:1\n"                                                               \
  "v3, v4, v5 = READ INT @1:2\n"                                                               \
  "v6 = LENGTH INT v0 @1:3\n"                                                                  \
  "v7 = MAKE_SEGDES v6 @1:4\n"                                                                 \
  "v8 = LENGTH INT v3 @1:5\n"                                                                  \
  "v9 = MAKE_SEGDES v8 @1:6\n"                                                                 \
  "v10 = CONST INT 0 @1:7\n"                                                                   \
  "v11 = CONST INT 1 @1:8\n"                                                                   \
  "v12 = + INT v6 v8 @1:9\n"                                                                   \
  "v13 = MAKE_SEGDES v12 @1:10\n"                                                              \
  "v14 = INDEX v10 v11 v7 @1:11\n"                                                             \
  "v15 = INDEX v6 v11 v9 @1:12\n"                                                              \
  "v16 = CONST BOOL T @1:13\n"                                                                 \
  "v17 = DIST BOOL v16 v7 @1:14\n"

static void rewrite(const char *functions, bool changes, char *body, size_t size) {
  memset(body, 0, size);
  cr_expect_eq(rewriting_pass(functions, pass_copies, body, size), changes, "%s", body);
}

Test(copies, a_concatenation) {
  char body[6000];
  rewrite("fun M () -> (INT) @1:1\n" VECTORS "v18 = FPERMUTE INT v0 v14 v17 v7 v13 @2:1\n"
          "v19 = DPERMUTE INT v3 v15 v18 v9 v13 @3:1\n"
          "yield v19\nend\n",
          true, body, sizeof body);
  rewriting_has(body, "v19 = FUSED 0", 1);
  rewriting_has(body, "PERMUTE", 0);
}

/* The gather may fail, and so may the division behind it: its indices are checked before that.
 */
Test(copies, a_slice_is_checked_where_it_was) {
  char body[6000];
  rewrite("fun M () -> (INT, INT) @1:1\n" VECTORS "v18 = INDEX v6 v11 v7 @2:1\n"
          "v19 = BPERMUTE INT v3 v18 v9 v7 @2:2\n"
          "v20 = / INT v0 v0 @2:3\n"
          "v21 = FPERMUTE INT v19 v14 v17 v7 v13 @3:1\n"
          "yield v20 v21\nend\n",
          true, body, sizeof body);
  rewriting_has(body, "PERMUTE", 0);
  rewriting_has(body, "v21 = FUSED 0", 1);
  const char *check = strstr(body, "FUSED 1"), *division = strstr(body, "= / INT"),
             *copy = strstr(body, "FUSED 0");
  cr_expect(check && division && copy && check < division && division < copy, "%s", body);
}

/* Without the division between, it only moves. */
Test(copies, a_slice_moves) {
  char body[6000];
  rewrite("fun M () -> (INT) @1:1\n" VECTORS "v18 = INDEX v6 v11 v7 @2:1\n"
          "v19 = BPERMUTE INT v3 v18 v9 v7 @2:2\n"
          "v21 = FPERMUTE INT v19 v14 v17 v7 v13 @3:1\n"
          "yield v21\nend\n",
          true, body, sizeof body);
  rewriting_has(body, "FUSED", 1);
  rewriting_has(body, "PERMUTE", 0);
}

Test(copies, what_has_another_use_stays) {
  char body[6000];
  rewrite("fun M () -> (INT, INT) @1:1\n" VECTORS "v18 = FPERMUTE INT v0 v14 v17 v7 v13 @2:1\n"
          "v19 = DPERMUTE INT v3 v15 v18 v9 v13 @3:1\n"
          "yield v18 v19\nend\n",
          false, body, sizeof body);
}

Test(copies, other_strides_are_no_runs) {
  char body[6000];
  rewrite("fun M () -> (INT) @1:1\n" VECTORS "v18 = INDEX v10 v6 v7 @2:1\n"
          "v19 = FPERMUTE INT v0 v18 v17 v7 v13 @2:2\n"
          "v20 = DPERMUTE INT v3 v15 v19 v9 v13 @3:1\n"
          "yield v20\nend\n",
          false, body, sizeof body);
}

Test(copies, nothing_moves_across_a_timer) {
  char body[6000];
  rewrite("fun M () -> (INT, FLOAT) @1:1\n" VECTORS "START_TIMER @2:1\n"
          "v18 = FPERMUTE INT v0 v14 v17 v7 v13 @2:2\n"
          "v20 = STOP_TIMER @2:3\n"
          "v19 = DPERMUTE INT v3 v15 v18 v9 v13 @3:1\n"
          "yield v19 v20\nend\n",
          false, body, sizeof body);
}

/* A constant is a vector of one element, which a superoperator has as a number only: for the
 * start of a run, but not as a default or flags. */
Test(copies, a_default_of_one_element) {
  char body[6000];
  rewrite("fun M () -> (INT) @1:1\n" VECTORS "v18 = MAKE_SEGDES v11 @2:1\n"
          "v19 = INDEX v11 v11 v7 @2:2\n"
          "v20 = BPERMUTE INT v3 v14 v9 v7 @2:3\n"
          "v21 = DPERMUTE INT v20 v19 v10 v7 v18 @3:1\n"
          "yield v21\nend\n",
          true, body, sizeof body);
  rewriting_has(body, "v21 = FUSED 0", 1);
}

Test(copies, flags_of_one_element) {
  char body[6000];
  rewrite("fun M () -> (INT) @1:1\n" VECTORS "v18 = MAKE_SEGDES v11 @2:1\n"
          "v19 = INDEX v10 v11 v18 @2:2\n"
          "v20 = BPERMUTE INT v3 v19 v9 v18 @2:3\n"
          "v21 = FPERMUTE INT v20 v19 v16 v18 v7 @3:1\n"
          "yield v21\nend\n",
          true, body, sizeof body);
  rewriting_has(body, "v21 = FUSED 0", 1);
}
