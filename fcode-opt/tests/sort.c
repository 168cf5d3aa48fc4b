/* sort.c - which permutations by ranks become a SORT, and which must not. */
#include "rewriting.h"

#include <string.h>

/* A vector v0 and a descriptor v4 of its length. */
#define VECTOR                                                                                 \
  "v0, v1, v2 = READ INT @1:1\n"                                                               \
  "v3 = LENGTH INT v0 @1:2\n"                                                                  \
  "v4 = MAKE_SEGDES v3 @1:3\n"

#define EXPECT_SORTED(functions, sorted)                                                       \
  do {                                                                                         \
    char body[4000] = {0};                                                                     \
    cr_expect_eq(rewriting_pass(functions, pass_sort, body, sizeof body), sorted, "%s", body); \
    cr_expect_eq(strstr(body, "SORT_") != NULL, sorted, "%s", body);                           \
    cr_expect_eq(strstr(body, "RANK_") == NULL, sorted, "%s", body);                           \
    cr_expect_eq(strstr(body, "PERMUTE") == NULL, sorted, "%s", body);                         \
  } while (0)

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
Test(sort, takes_the_place_of_the_ranks) {
  char body[4000] = {0};
  rewriting_pass("fun M () -> (INT, INT) @1:1\n" VECTOR "v5 = RANK_UP INT v0 v4 @2:1\n"
                 "v6 = / INT v0 v0 @3:1\n"
                 "v7 = PERMUTE INT v0 v5 v4 @4:1\n"
                 "yield v6 v7\nend\n",
                 pass_sort, body, sizeof body);
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
