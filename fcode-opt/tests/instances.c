/* instances.c - functions by instances: every pass keeps the mark true.
 */
#include "support.h"

#include <string.h>

/* What follows M, whose text no test looks at. */
static const char *behind_main(struct fixture *t, const char *pass, const char *text) {
  const char *found = strstr(after(t, pass, text), "\nend\n");
  cr_assert(found && found[5], "%s", text);
  return found + 5;
}

static void expect_behind_main(const char *pass, const char *text, const char *expected) {
  struct fixture t;
  fixture_init(&t);
  cr_expect_str_eq(behind_main(&t, pass, text), expected);
  fixture_free(&t);
}

/* Rows v2 of v1, and a number for each: the sum of the row's numbers, and its length. The
 * numbers of the parameters that are used change with those that are not. */
Test(instances, dead_parameters_and_results) {
  expect_behind_main("dead",
                     "fun M (v0: SEGDES, v1: INT, v2: SEGDES, v3: INT) -> (INT)\n"
                     "  v4: INT, v5: SEGDES, v6: INT = call ROWS v0 v3 v1 v2 v3\n"
                     "  yield v6\n"
                     "end\n"
                     "fun ROWS (v0: SEGDES, v1: INT, v2: INT, v3: SEGDES, v4: INT) -> "
                     "(INT, SEGDES, INT) instances shared shared each each 3 -> each each 1\n"
                     "  v5 = RAND v4\n"
                     "  v6 = RAND v2\n"
                     "  yield v2 v3 v5\n"
                     "end\n",
                     "fun ROWS (v0: SEGDES, v1: INT, v2: SEGDES, v3: INT) -> (SEGDES, INT) "
                     "instances shared each each 2 -> each 0\n"
                     "  v4 = RAND v3\n"
                     "  v5 = RAND v1\n"
                     "  yield v2 v4\n"
                     "end\n");
}

/* A function that is left without results cuts nothing. */
Test(instances, no_result_is_needed) {
  expect_behind_main("dead",
                     "fun M (v0: SEGDES, v1: INT) -> (INT)\n"
                     "  v2: INT = call DRAW v0 v1\n"
                     "  yield v1\n"
                     "end\n"
                     "fun DRAW (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                     "  v2 = RAND v1\n"
                     "  yield v2\n"
                     "end\n",
                     "fun DRAW (v0: SEGDES, v1: INT) -> ()\n"
                     "  v2 = RAND v1\n"
                     "  yield\n"
                     "end\n");
}

/* It stays, while what it calls is inlined as ever. */
Test(instances, not_inlined) {
  expect_behind_main("inline",
                     "fun M (v0: SEGDES, v1: INT) -> (INT)\n"
                     "  v2: INT = call DRAW v0 v1\n"
                     "  yield v2\n"
                     "end\n"
                     "fun DRAW (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                     "  v2: INT = call TWICE v1\n"
                     "  yield v2\n"
                     "end\n"
                     "fun TWICE (v0: INT) -> (INT)\n"
                     "  v1 = RAND v0\n"
                     "  v2 = RAND v1\n"
                     "  yield v2\n"
                     "end\n",
                     "fun DRAW (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                     "  v2 = RAND v1\n"
                     "  v3 = RAND v2\n"
                     "  yield v3\n"
                     "end\n");
}

/* The 3 instances that M calls it for are no 3 in a chunk; the shared 5 is one. */
Test(instances, numbers_of_calls) {
  expect_behind_main("simplify",
                     "fun M (v0: INT) -> (INT)\n"
                     "  v1 = CONST INT 3\n"
                     "  v2 = MAKE_SEGDES v1\n"
                     "  v3 = DIST INT v0 v2\n"
                     "  v4 = CONST INT 5\n"
                     "  v5: INT = call BODY v2 v3 v4\n"
                     "  yield v5\n"
                     "end\n"
                     "fun BODY (v0: SEGDES, v1: INT, v2: INT) -> (INT) "
                     "instances shared each shared -> each\n"
                     "  v3 = LENGTH INT v1\n"
                     "  v4 = + INT v3 v2\n"
                     "  v5 = DIST INT v4 v0\n"
                     "  yield v5\n"
                     "end\n",
                     "fun BODY (v0: SEGDES, v1: INT, v2: INT) -> (INT) "
                     "instances shared each shared -> each\n"
                     "  v3 = CONST INT 5\n"
                     "  v4 = LENGTH INT v1\n"
                     "  v5 = + INT v4 v3\n"
                     "  v6 = DIST INT v5 v0\n"
                     "  yield v6\n"
                     "end\n");
}
