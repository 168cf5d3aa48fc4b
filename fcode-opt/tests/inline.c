/* inline.c - tests of inlining. */
#include "support.h"

#include <stdlib.h>

Test(inline, small_and_called_once) {
  expect_after("inline",
               "fun M (v0: INT, v1: INT) -> (INT, INT)\n"
               "  v2: INT = call SMALL v1 v0\n"
               "  v3: INT = call SMALL v2 v2\n"
               "  yield v3 v0\n"
               "end\n"
               "fun SMALL (v0: INT, v1: INT) -> (INT)\n"
               "  v2 = - INT v0 v1\n"
               "  yield v2\n"
               "end\n",
               "fun M (v0: INT, v1: INT) -> (INT, INT)\n"
               "  v2 = - INT v1 v0\n"
               "  v3 = - INT v2 v2\n"
               "  yield v3 v0\n"
               "end\n");
}

Test(inline, kinds_become_those_of_the_call) {
  expect_after("inline",
               "fun M (v0: INT, v1: BOOL) -> (BOOL, INT)\n"
               "  v2: BOOL, v3: INT = call SWAP v0 v1\n"
               "  yield v2 v3\n"
               "end\n"
               "fun SWAP (v0: ?0, v1: ?1) -> (?1, ?0)\n"
               "  v2: PAIR(?0, ?1) = PAIR v0 v1\n"
               "  v3: ?0, v4: ?1 = UNPAIR v2\n"
               "  yield v4 v3\n"
               "end\n",
               "fun M (v0: INT, v1: BOOL) -> (BOOL, INT)\n"
               "  v2: PAIR(INT, BOOL) = PAIR v0 v1\n"
               "  v3: INT, v4: BOOL = UNPAIR v2\n"
               "  yield v4 v3\n"
               "end\n");
}

Test(inline, what_never_returns) {
  expect_after("inline",
               "fun M (v0: BOOL) -> (BOOL)\n"
               "  v1: BOOL = if v0\n"
               "    yield v0\n"
               "  else\n"
               "    call STOP\n"
               "    never\n"
               "  end\n"
               "  yield v1\n"
               "end\n"
               "fun STOP () -> ()\n"
               "  exit\n"
               "end\n",
               "fun M (v0: BOOL) -> (BOOL)\n"
               "  v1: BOOL = if v0\n"
               "    yield v0\n"
               "  else\n"
               "    exit\n"
               "  end\n"
               "  yield v1\n"
               "end\n");
}

static const char recursive[] = "fun M (v0: INT) -> (INT)\n"
                                "  v1: INT = call LOOP v0\n"
                                "  yield v1\n"
                                "end\n" LOOP;

Test(inline, recursion_stays) {
  struct fixture t;
  fixture_init(&t);
  after(&t, "inline", recursive);
  cr_expect_eq(t.stats.inlined, 0);
  cr_expect_eq(t.stats.functions_after, 2);
  fixture_free(&t);
}

/* F0 calls F1 twice, F1 calls F2 twice ...: 2^40 instructions if growth had no bound. */
Test(inline, ladders_do_not_explode) {
  char text[10000], *to = text;
  enum { RUNGS = 40 };
  to += sprintf(to, "fun M (v0: BOOL) -> ()\n  call F0 v0\n  yield\nend\n");
  for (int i = 0; i < RUNGS; i++)
    to += sprintf(to, "fun F%d (v0: BOOL) -> ()\n  call F%d v0\n  call F%d v0\n  yield\nend\n",
                  i, i + 1, i + 1);
  sprintf(to,
          "fun F%d (v0: BOOL) -> ()\n  if v0\n    yield\n  else\n    exit\n  end\n  yield\n"
          "end\n",
          RUNGS);
  struct fixture t;
  fixture_init(&t);
  after(&t, "inline", text);
  cr_expect(t.stats.inlined > 10);
  cr_expect(t.stats.inlined < 3000, "%lu", (unsigned long)t.stats.inlined);
  fixture_free(&t);
}

/* Functions that each call the next once: copied at every call they would be quadratic
 * in memory. Longer than bodies are nested in one another, so some calls stay. */
Test(inline, nested_calls_are_copied_once) {
  enum { LINKS = 2500 };
  char *text = malloc(100 * LINKS), *to = text;
  to += sprintf(to, "fun M (v0: INT) -> (INT)\n  v1: INT = call F0 v0\n  yield v1\nend\n");
  for (int i = 0; i < LINKS; i++) {
    to += sprintf(to, "fun F%d (v0: INT) -> (INT)\n  v1 = RAND v0\n", i);
    if (i + 1 < LINKS) to += sprintf(to, "  v2: INT = call F%d v1\n", i + 1);
    to += sprintf(to, "  yield v%d\nend\n", i + 1 < LINKS ? 2 : 1);
  }
  struct fixture t;
  fixture_init(&t);
  after(&t, "final", text);
  cr_expect_eq(t.stats.functions_after, 3);
  cr_expect_eq(t.stats.inlined, LINKS - 2);
  cr_expect(t.heap.peak < 20 << 20, "%lu bytes", (unsigned long)t.heap.peak);
  fixture_free(&t);
  free(text);
}
