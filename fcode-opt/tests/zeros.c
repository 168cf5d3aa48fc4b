/* zeros.c - which scatters into defaults are scatters into zeros. */
#include "rewriting.h"

#include <string.h>

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
  do {                                                                                         \
    char body[4000] = {0};                                                                     \
    cr_expect_eq(rewriting_pass(functions, pass_zeros, body, sizeof body), wanted, "%s",       \
                 body);                                                                        \
    cr_expect_eq(strstr(body, "FPERMUTE FLOAT v0 v8") != NULL, wanted, "%s", body);            \
    cr_expect_eq(strstr(body, "DPERMUTE") == NULL, wanted, "%s", body);                        \
  } while (0)

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
