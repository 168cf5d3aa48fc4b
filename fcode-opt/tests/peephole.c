/* peephole.c - which permutations by ranks become a SORT, and which scatters into defaults are
 * scatters into zeros. */
#include "rewriting.h"

#include <string.h>

/* A vector v0 and a descriptor v4 of its length. */
#define VECTOR                                                                                 \
  "v0, v1, v2 = READ INT @1:1\n"                                                               \
  "v3 = LENGTH INT v0 @1:2\n"                                                                  \
  "v4 = MAKE_SEGDES v3 @1:3\n"

/* Whether the pass changes something; then `has` is there and `gone` is not, else the other way
 * round. */
static void expect_peephole(const char *functions, bool changes, const char *has,
                            const char *gone) {
  char body[4000] = {0};
  cr_expect_eq(rewriting_pass(functions, pass_peephole, body, sizeof body), changes, "%s",
               body);
  cr_expect_eq(strstr(body, has) != NULL, changes, "%s", body);
  cr_expect_eq(strstr(body, gone) == NULL, changes, "%s", body);
}

#define EXPECT_SORTED(functions, sorted)                                                       \
  (expect_peephole(functions, sorted, "SORT_", "RANK_"),                                       \
   expect_peephole(functions, sorted, "SORT_", "PERMUTE"))

Test(sort, a_permutation_by_ranks) {
  EXPECT_SORTED("fun M () -> (INT) @1:1\n" VECTOR "v5 = RANK_UP INT v0 v4 @2:1\n"
                "v6 = PERMUTE INT v0 v5 v4 @3:1\n"
                "yield v6\nend\n",
                true);
  EXPECT_SORTED("fun M () -> (INT) @1:1\n" VECTOR "v5 = RANK_DOWN INT v0 v4 @2:1\n"
                "v6 = + INT v0 v0 @3:1\n"
                "v7 = PERMUTE INT v0 v5 v4 @4:1\n"
                "v8 = + INT v6 v7 @5:1\n"
                "yield v8\nend\n",
                true);
}

/* Sorting fails where ranking did, and before what came between. */
Test(sort, replaces_the_ranks) {
  char body[4000] = {0};
  rewriting_pass("fun M () -> (INT, INT) @1:1\n" VECTOR "v5 = RANK_UP INT v0 v4 @2:1\n"
                 "v6 = / INT v0 v0 @3:1\n"
                 "v7 = PERMUTE INT v0 v5 v4 @4:1\n"
                 "yield v6 v7\nend\n",
                 pass_peephole, body, sizeof body);
  const char *sorted = strstr(body, "v7 = SORT_UP INT v0 v4 @2:1"),
             *divided = strstr(body, "= / INT");
  cr_expect(sorted && divided && sorted < divided, "%s", body);
}

Test(sort, ranks_of_other_use_stay) {
  EXPECT_SORTED("fun M () -> (INT, INT) @1:1\n" VECTOR "v5 = RANK_UP INT v0 v4 @2:1\n"
                "v6 = PERMUTE INT v0 v5 v4 @3:1\n"
                "yield v5 v6\nend\n",
                false);
}

Test(sort, of_another_vector_or_descriptor_it_is_none) {
  EXPECT_SORTED("fun M () -> (INT) @1:1\n" VECTOR "v5 = RANK_UP INT v0 v4 @2:1\n"
                "v6 = + INT v0 v0 @3:1\n"
                "v7 = PERMUTE INT v6 v5 v4 @4:1\n"
                "yield v7\nend\n",
                false);
  EXPECT_SORTED("fun M () -> (INT) @1:1\n" VECTOR "v5 = RANK_UP INT v0 v4 @2:1\n"
                "v6 = CONST SEGDES (2 3) @3:1\n"
                "v7 = PERMUTE INT v0 v5 v6 @4:1\n"
                "yield v7\nend\n",
                false);
}

Test(sort, nothing_moves_across_a_timer) {
  EXPECT_SORTED("fun M () -> (FLOAT, INT) @1:1\n" VECTOR "START_TIMER @2:1\n"
                "v5 = RANK_UP INT v0 v4 @2:2\n"
                "v6 = STOP_TIMER @3:1\n"
                "v7 = PERMUTE INT v0 v5 v4 @4:1\n"
                "yield v6 v7\nend\n",
                false);
}

/* ---- scatters into zeros ---- */

/* A vector v0 and descriptors v4 of its length, v7 of one more; indices v8. */
#define VECTORS                                                                                \
  "v0, v1, v2 = READ FLOAT @1:1\n"                                                             \
  "v3 = LENGTH FLOAT v0 @1:2\n"                                                                \
  "v4 = MAKE_SEGDES v3 @1:3\n"                                                                 \
  "v5 = CONST INT 1 @1:4\n"                                                                    \
  "v6 = + INT v3 v5 @1:5\n"                                                                    \
  "v7 = MAKE_SEGDES v6 @1:6\n"                                                                 \
  "v8 = INDEX v5 v5 v4 @1:7\n"

#define EXPECT_ZEROS(functions, wanted)                                                        \
  expect_peephole(functions, wanted, "FPERMUTE FLOAT v0 v8", "DPERMUTE")

#define SCATTER(defaults)                                                                      \
  "fun M () -> (FLOAT) @1:1\n" VECTORS defaults "v11 = DPERMUTE FLOAT v0 v8 v10 v4 v7 @3:1\n"  \
  "yield v11\nend\n"

Test(zeros, of_zero_only) {
  EXPECT_ZEROS(SCATTER("v9 = CONST FLOAT 0 @2:1\nv10 = DIST FLOAT v9 v7 @2:2\n"), true);
  EXPECT_ZEROS(SCATTER("v9 = CONST FLOAT -0.0 @2:1\nv10 = DIST FLOAT v9 v7 @2:2\n"), false);
  EXPECT_ZEROS(SCATTER("v9 = CONST FLOAT 1 @2:1\nv10 = DIST FLOAT v9 v7 @2:2\n"), false);
}

/* Otherwise DPERMUTE might fail where FPERMUTE does not. */
Test(zeros, of_the_right_length_only) {
  EXPECT_ZEROS(SCATTER("v9 = CONST FLOAT 0 @2:1\nv10 = DIST FLOAT v9 v4 @2:2\n"), false);
}

Test(zeros, within_an_arm) {
  EXPECT_ZEROS("fun M () -> (FLOAT) @1:1\n" VECTORS "v9 = CONST FLOAT 0 @2:1\n"
               "v10 = DIST FLOAT v9 v7 @2:2\n"
               "v12 = > INT v3 v5 @2:3\n"
               "v13: FLOAT = if v12 @2:4\n"
               "v11 = DPERMUTE FLOAT v0 v8 v10 v4 v7 @3:1\n"
               "yield v11\n"
               "else\n"
               "yield v10\n"
               "end\n"
               "yield v13\nend\n",
               true);
}
