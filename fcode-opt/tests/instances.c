/* instances.c - lifted functions: every pass keeps the mark true.
 */
#include "programs.h"
#include "rewriting.h"
#include "support.h"

#include "ir/tests/parse.h"
#include <stdlib.h>
#include <string.h>

/* Does what rewriting_expect does with the text after M. */
static void expect_behind_main(bool (*pass)(struct opt *), const char *functions,
                               const char *expected) {
  struct rewriting r;
  const char *found = strstr(rewriting_listing(&r, functions, pass), "\nend\n") + 5;
  cr_expect(strcmp(found, expected) == 0, "%s\ninstead of\n%s", found, expected);
  rewriting_free(&r);
}

/* Rows v2 of v1, and a number for each: the sum of the row's numbers, and its length. The
 * numbers of the parameters that are used change with those that are not. */
Test(instances, dead_parameters_and_results) {
  expect_behind_main(pass_dead,
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

/* The rest of a function without results still contains elements, and stays lifted. */
Test(instances, no_result_is_needed) {
  expect_behind_main(pass_dead,
                     "fun M (v0: SEGDES, v1: INT) -> (INT)\n"
                     "  v2: INT = call DRAW v0 v1\n"
                     "  yield v1\n"
                     "end\n"
                     "fun DRAW (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                     "  v2 = RAND v1\n"
                     "  yield v2\n"
                     "end\n",
                     "fun DRAW (v0: SEGDES, v1: INT) -> () instances shared each ->\n"
                     "  v2 = RAND v1\n"
                     "  yield\n"
                     "end\n");
}

/* It stays, while what it calls is inlined as ever. */
Test(instances, not_inlined) {
  expect_behind_main(pass_inline,
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
                     "end\n"
                     "fun TWICE () -> ()\n"
                     "  exit\n"
                     "end\n");
}

/* The 3 instances that M calls it for are no 3 in a chunk; the shared 5 is one. */
Test(instances, numbers_of_calls) {
  expect_behind_main(pass_simplify,
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

/* M calls it with the same lengths twice: chunks cut one of them, and the elements of the two
 * descriptors are as many only in M. Two that are cut alike are as many in chunks, too. */
Test(instances, equal_operands_that_are_cut_differently) {
  const char text[] = "fun M (v0: SEGDES, v1: INT) -> (INT)\n"
                      "  v2: INT = call BODY v0 v1 v1 v1\n"
                      "  yield v2\n"
                      "end\n"
                      "fun BODY (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT) "
                      "instances shared each shared each -> each\n"
                      "  v4 = MAKE_SEGDES v1\n"
                      "  v5 = MAKE_SEGDES v2\n"
                      "  v6 = MAKE_SEGDES v3\n"
                      "  v7 = DIST INT v1 v4\n"
                      "  v8 = DIST INT v2 v5\n"
                      "  v9 = DIST INT v3 v6\n"
                      "  v10 = LENGTH INT v7\n"
                      "  v11 = LENGTH INT v8\n"
                      "  v12 = LENGTH INT v9\n"
                      "  v13 = - INT v10 v11\n"
                      "  v14 = - INT v10 v12\n"
                      "  v15 = + INT v13 v14\n"
                      "  v16 = DIST INT v15 v0\n"
                      "  yield v16\n"
                      "end\n";
  expect_behind_main(pass_simplify, text,
                     "fun BODY (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT) "
                     "instances shared each shared each -> each\n"
                     "  v4 = MAKE_SEGDES v1\n"
                     "  v5 = MAKE_SEGDES v2\n"
                     "  v6 = MAKE_SEGDES v3\n"
                     "  v7 = DIST INT v1 v4\n"
                     "  v8 = DIST INT v2 v5\n"
                     "  v9 = DIST INT v3 v6\n"
                     "  v10 = LENGTH INT v7\n"
                     "  v11 = LENGTH INT v8\n"
                     "  v12 = - INT v10 v11\n"
                     "  v13 = CONST INT 0\n"
                     "  v14 = DIST INT v12 v0\n"
                     "  yield v14\n"
                     "end\n");
}

/* Descriptors are treated in the same way. */
Test(instances, equal_descriptors_that_are_cut_differently) {
  const char text[] = "fun M (v0: SEGDES, v1: SEGDES) -> (INT)\n"
                      "  v2: INT = call BODY v0 v1 v1\n"
                      "  yield v2\n"
                      "end\n"
                      "fun BODY (v0: SEGDES, v1: SEGDES, v2: SEGDES) -> (INT) "
                      "instances shared each shared -> each\n"
                      "  v3 = LENGTHS v1\n"
                      "  v4 = LENGTHS v2\n"
                      "  v5 = MAKE_SEGDES v3\n"
                      "  v6 = MAKE_SEGDES v4\n"
                      "  v7 = DIST INT v3 v5\n"
                      "  v8 = DIST INT v4 v6\n"
                      "  v9 = LENGTH INT v7\n"
                      "  v10 = LENGTH INT v8\n"
                      "  v11 = - INT v9 v10\n"
                      "  v12 = DIST INT v11 v0\n"
                      "  yield v12\n"
                      "end\n";
  expect_behind_main(pass_simplify, text,
                     "fun BODY (v0: SEGDES, v1: SEGDES, v2: SEGDES) -> (INT) "
                     "instances shared each shared -> each\n"
                     "  v3 = LENGTHS v1\n"
                     "  v4 = LENGTHS v2\n"
                     "  v5 = DIST INT v3 v1\n"
                     "  v6 = DIST INT v4 v2\n"
                     "  v7 = LENGTH INT v5\n"
                     "  v8 = LENGTH INT v6\n"
                     "  v9 = - INT v7 v8\n"
                     "  v10 = DIST INT v9 v0\n"
                     "  yield v10\n"
                     "end\n");
}

/* ---- hoist ---- */

/* A view's offsets: a scan of lengths that is the same for all instances; and their number less
 * one. What is made of the instances' own numbers stays. */
Test(hoist, what_is_shared) {
  rewriting_expect(
      pass_hoist,
      "fun M (v0: SEGDES, v1: INT, v2: SEGDES) -> (INT)\n"
      "  v3: INT = call BODY v0 v1 v2\n"
      "  yield v3\n"
      "end\n"
      "fun BODY (v0: SEGDES, v1: INT, v2: SEGDES) -> (INT) "
      "instances shared each shared -> each\n"
      "  v3 = LENGTHS v2\n"
      "  v4 = LENGTH INT v3\n"
      "  v5 = MAKE_SEGDES v4\n"
      "  v6 = +_SCAN INT v3 v5\n"
      "  v8 = CONST INT 1\n"
      "  v9 = - INT v4 v8\n"
      "  v7 = BPERMUTE INT v6 v1 v5 v0\n"
      "  v10 = DIST INT v9 v0\n"
      "  v11 = * INT v7 v10\n"
      "  yield v11\n"
      "end\n",
      "fun M (v0: SEGDES, v1: INT, v2: SEGDES) -> (INT)\n"
      "  v3 = LENGTHS v2\n"
      "  v4 = LENGTH INT v3\n"
      "  v5 = MAKE_SEGDES v4\n"
      "  v6 = +_SCAN INT v3 v5\n"
      "  v7 = CONST INT 1\n"
      "  v8 = - INT v4 v7\n"
      "  v9: INT = call BODY v0 v1 v2 v5 v6 v8\n"
      "  yield v9\n"
      "end\n"
      "fun BODY (v0: SEGDES, v1: INT, v2: SEGDES, v3: SEGDES, v4: INT, v5: INT) -> (INT) "
      "instances shared each shared shared shared shared -> each\n"
      "  v6 = CONST INT 1\n"
      "  v7 = BPERMUTE INT v4 v1 v3 v0\n"
      "  v8 = DIST INT v5 v0\n"
      "  v9 = * INT v7 v8\n"
      "  yield v9\n"
      "end\n");
}

/* Lengths of a shared descriptor and their sums leave the arms that need them. Other operations
 * stay there, and so do lengths of the instances' own descriptor. */
Test(hoist, lengths_leave_arms) {
  rewriting_expect(
      pass_hoist,
      "fun M (v0: SEGDES, v1: INT, v2: SEGDES, v3: BOOL) -> (INT)\n"
      "  v4: INT = call BODY v0 v1 v2 v3\n"
      "  yield v4\n"
      "end\n"
      "fun BODY (v0: SEGDES, v1: INT, v2: SEGDES, v3: BOOL) -> (INT) "
      "instances shared each shared shared -> each\n"
      "  v4: INT = if v3\n"
      "    v5 = LENGTHS v0\n"
      "    v6 = DIST INT v5 v0\n"
      "    v7 = + INT v1 v6\n"
      "    v8: INT = if v3\n"
      "      v9 = LENGTHS v2\n"
      "      v10 = LENGTH INT v9\n"
      "      v11 = MAKE_SEGDES v10\n"
      "      v12 = +_SCAN INT v9 v11\n"
      "      v13 = * INT v12 v12\n"
      "      v14 = BPERMUTE INT v13 v1 v11 v0\n"
      "      yield v14\n"
      "    else\n"
      "      yield v7\n"
      "    end\n"
      "    yield v8\n"
      "  else\n"
      "    yield v1\n"
      "  end\n"
      "  yield v4\n"
      "end\n",
      "fun M (v0: SEGDES, v1: INT, v2: SEGDES, v3: BOOL) -> (INT)\n"
      "  v4 = LENGTHS v2\n"
      "  v5 = LENGTH INT v4\n"
      "  v6 = MAKE_SEGDES v5\n"
      "  v7 = +_SCAN INT v4 v6\n"
      "  v8: INT = call BODY v0 v1 v2 v3 v6 v7\n"
      "  yield v8\n"
      "end\n"
      "fun BODY (v0: SEGDES, v1: INT, v2: SEGDES, v3: BOOL, v4: SEGDES, v5: INT) -> (INT) "
      "instances shared each shared shared shared shared -> each\n"
      "  v12: INT = if v3\n"
      "    v6 = LENGTHS v0\n"
      "    v7 = DIST INT v6 v0\n"
      "    v8 = + INT v1 v7\n"
      "    v11: INT = if v3\n"
      "      v9 = * INT v5 v5\n"
      "      v10 = BPERMUTE INT v9 v1 v4 v0\n"
      "      yield v10\n"
      "    else\n"
      "      yield v8\n"
      "    end\n"
      "    yield v11\n"
      "  else\n"
      "    yield v1\n"
      "  end\n"
      "  yield v12\n"
      "end\n");
}

/* A closed subexpression under the question whether there are instances, in a body within a
 * body: it moves to M. */
Test(hoist, out_of_two_bodies_with_an_if) {
  rewriting_expect(pass_hoist,
                   "fun M (v0: SEGDES, v1: INT) -> (INT)\n"
                   "  v2: INT = call OUTER v0 v1\n"
                   "  yield v2\n"
                   "end\n"
                   "fun OUTER (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "  v2: INT = call INNER v0 v1\n"
                   "  yield v2\n"
                   "end\n"
                   "fun INNER (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "  v2 = LENGTHS v0\n"
                   "  v3 = CONST INT 0\n"
                   "  v4 = > INT v2 v3\n"
                   "  v5: INT = if v4\n"
                   "    v6 = CONST INT (3 4 5)\n"
                   "    v7 = CONST SEGDES 3\n"
                   "    v8 = +_REDUCE INT v6 v7\n"
                   "    yield v8\n"
                   "  else\n"
                   "    yield v3\n"
                   "  end\n"
                   "  v9 = DIST INT v5 v0\n"
                   "  v10 = + INT v9 v1\n"
                   "  yield v10\n"
                   "end\n",
                   "fun M (v0: SEGDES, v1: INT) -> (INT)\n"
                   "  v2 = LENGTHS v0\n"
                   "  v3 = CONST INT 0\n"
                   "  v4 = > INT v2 v3\n"
                   "  v8: INT = if v4\n"
                   "    v5 = CONST INT (3 4 5)\n"
                   "    v6 = CONST SEGDES 3\n"
                   "    v7 = +_REDUCE INT v5 v6\n"
                   "    yield v7\n"
                   "  else\n"
                   "    yield v3\n"
                   "  end\n"
                   "  v9: INT = call OUTER v0 v1 v8\n"
                   "  yield v9\n"
                   "end\n"
                   "fun OUTER (v0: SEGDES, v1: INT, v2: INT) -> (INT) "
                   "instances shared each shared -> each\n"
                   "  v3 = LENGTHS v0\n"
                   "  v4 = CONST INT 0\n"
                   "  v5: INT = call INNER v0 v1 v2\n"
                   "  yield v5\n"
                   "end\n"
                   "fun INNER (v0: SEGDES, v1: INT, v2: INT) -> (INT) "
                   "instances shared each shared -> each\n"
                   "  v3 = LENGTHS v0\n"
                   "  v4 = CONST INT 0\n"
                   "  v5 = DIST INT v2 v0\n"
                   "  v6 = + INT v5 v1\n"
                   "  yield v6\n"
                   "end\n");
}

/* An operation that may fail moves only if no such operation stays before it. So the fault of
 * the check v4, of the division v6 and of RAND are still met in this order. The safe v8 moves
 * in any case. */
Test(hoist, faults_keep_their_order) {
  rewriting_expect(
      pass_hoist,
      "fun M (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT, INT)\n"
      "  v4: INT, v5: INT = call BODY v0 v1 v2 v3\n"
      "  yield v4 v5\n"
      "end\n"
      "fun BODY (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT, INT) "
      "instances shared each shared shared -> each each\n"
      "  v4 = / INT v2 v3\n"
      "  v5 = RAND v1\n"
      "  v6 = / INT v3 v2\n"
      "  v7 = + INT v4 v6\n"
      "  v8 = NOT INT v2\n"
      "  v9 = DIST INT v7 v0\n"
      "  v10 = DIST INT v8 v0\n"
      "  v11 = + INT v5 v9\n"
      "  yield v11 v10\n"
      "end\n",
      "fun M (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT, INT)\n"
      "  v4 = / INT v2 v3\n"
      "  v5 = NOT INT v2\n"
      "  v6: INT, v7: INT = call BODY v0 v1 v2 v3 v4 v5\n"
      "  yield v6 v7\n"
      "end\n"
      "fun BODY (v0: SEGDES, v1: INT, v2: INT, v3: INT, v4: INT, v5: INT) -> (INT, INT) "
      "instances shared each shared shared shared shared -> each each\n"
      "  v6 = RAND v1\n"
      "  v7 = / INT v3 v2\n"
      "  v8 = + INT v4 v7\n"
      "  v9 = DIST INT v8 v0\n"
      "  v10 = DIST INT v5 v0\n"
      "  v11 = + INT v6 v9\n"
      "  yield v11 v10\n"
      "end\n");
}

static void expect_hoisted(bool hoisted, const char *functions) {
  struct rewriting r;
  rewriting_begin(&r, functions);
  cr_expect_eq(pass_hoist(&r.o), hoisted, "%s", functions);
  rewriting_free(&r);
}

/* An operation that a check makes safe moves with the check, not without it. */
Test(hoist, checks) {
#define CHECK "  v7 = + INT v2 v3\n"
#define CHECKED(between)                                                                       \
  "fun M (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT)\n"                                   \
  "  v4: INT = call BODY v0 v1 v2 v3\n  yield v4\nend\n"                                       \
  "fun BODY (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT) "                                 \
  "instances shared each shared shared -> each\n" between "  v5 = * INT v2 v3\n"               \
  "  v6 = DIST INT v5 v0\n  yield v6\nend\n"
  expect_hoisted(true, CHECKED(""));
  expect_hoisted(true, CHECKED(CHECK));
  expect_hoisted(false, CHECKED("  v4 = RAND v1\n"));
  expect_hoisted(false, CHECKED("  v4 = RAND v1\n" CHECK));
#undef CHECK
#undef CHECKED
}

/* An operation that has moved to an outer body moves on only if no check there makes it safe.
 * RAND and the check, which may fail, stay. */
Test(hoist, out_of_two_bodies_with_a_check) {
  static const char *const products[] = {"  v4 = * INT v2 v3\n", "  v4 = * INT v2 v2\n"};
  for (uint32_t i = 0; i < 2; i++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s%s",
             "fun M (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT)\n"
             "  v4: INT = call OUTER v0 v1 v2 v3\n  yield v4\nend\n"
             "fun OUTER (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT) "
             "instances shared each shared shared -> each\n"
             "  v4 = RAND v1\n  v5 = + INT v2 v3\n  v6: INT = call INNER v0 v4 v2 v3\n"
             "  yield v6\nend\n"
             "fun INNER (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (INT) "
             "instances shared each shared shared -> each\n",
             products[i], "  v5 = DIST INT v4 v0\n  yield v5\nend\n");
    struct rewriting r;
    rewriting_begin(&r, text);
    cr_expect(pass_hoist(&r.o));
    const struct ir_function *f = r.o.program->functions;
    cr_expect_eq(f[0].body->count, 1 + i);
    cr_expect_eq(f[1].body->count, 4 - i);
    cr_expect_eq(f[2].body->count, 1);
    rewriting_free(&r);
  }
}

/* Nothing in an arm that stays, nothing of a recursive function, no effect, nothing made of
 * instances. */
Test(hoist, what_stays) {
#define BODY(text)                                                                             \
  "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"                                            \
  "  v3: INT = call BODY v0 v1 v2\n  yield v3\nend\n"                                          \
  "fun BODY (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared each shared -> "          \
  "each\n" text "end\n"
  expect_hoisted(false, BODY("  v3 = RAND v2\n  v4 = DIST INT v3 v0\n  yield v4\n"));
  expect_hoisted(false, BODY("  v3 = LENGTHS v0\n  v4 = DIST INT v3 v0\n  yield v4\n"));
  expect_hoisted(false, BODY("  v3 = CONST INT 5\n  v4 = DIST INT v3 v0\n  yield v4\n"));
  expect_hoisted(false, BODY("  v3 = LENGTHS v0\n  v4 = CONST INT 2\n  v5 = > INT v3 v4\n"
                             "  v6: INT = if v5\n    v7 = NOT INT v2\n    yield v7\n"
                             "  else\n    yield v2\n  end\n"
                             "  v8 = DIST INT v6 v0\n  yield v8\n"));
  expect_hoisted(true, BODY("  v3 = NOT INT v2\n  v4 = DIST INT v3 v0\n  yield v4\n"));
  expect_hoisted(false, BODY("  v3 = NOT INT v2\n  v4 = DIST INT v3 v0\n"
                             "  v5 = CONST BOOL T\n  v6: INT = if v5\n"
                             "    v7: INT = call BODY v0 v1 v3\n    yield v7\n  else\n"
                             "    yield v4\n  end\n  yield v6\n"));
#undef BODY
}

/* ---- what is worth its call ---- */

/* M applies BODY to the elements of v0; the text of BODY follows. */
#define APPLY(body)                                                                            \
  "fun M () -> (INT)\n"                                                                        \
  "  v0, v1, v2 = READ INT\n"                                                                  \
  "  v3 = LENGTH INT v0\n"                                                                     \
  "  v4 = MAKE_SEGDES v3\n"                                                                    \
  "  v5: INT = call BODY v4 v0\n"                                                              \
  "  yield v5\n"                                                                               \
  "end\n"                                                                                      \
  "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n" body "end\n"

/* The lifted functions that stay, with a blank behind each, and what is said of all. */
static void expect_decision(const char *functions, const char *stay, const char *explanation) {
  struct fixture t;
  fixture_init(&t);
  t.options.fuse = true;
  char *text = arena_printf(&t.arena, "let-form \"t\" i64 f64 entry M\n%s",
                            with_positions(&t.arena, functions));
  struct ir_program *program = ir_parse(&t.arena, "t.let", text, strlen(text), &t.diags);
  cr_assert(program, "%s in\n%s", t.diags.list.items[0].message, text);
  char *said = NULL, marked[200] = "";
  size_t size = 0;
  FILE *explain = open_memstream(&said, &size);
  const struct ir_program *result =
      fcode_opt(&t.arena, program, &t.options, &t.stats, explain, &t.diags);
  fclose(explain);
  cr_assert(result, "%s", t.diags.list.items[0].message);
  for (uint32_t f = 0; f < result->function_count; f++) {
    if (!result->functions[f].instances) continue;
    strcat(strcat(marked, result->functions[f].name->text), " ");
  }
  cr_expect_str_eq(marked, stay, "%s", ir_text(&t.arena, result));
  cr_expect(strstr(said, explanation), "%s\ndoes not say %s", said, explanation);
  free(said);
  fixture_free(&t);
}

/* Ten random numbers of each instance exist before they are added. */
#define RANDOM_SUM                                                                             \
  "  v2 = CONST INT 10\n"                                                                      \
  "  v3 = DIST INT v2 v0\n"                                                                    \
  "  v4 = MAKE_SEGDES v3\n"                                                                    \
  "  v5 = DIST INT v1 v4\n"                                                                    \
  "  v6 = RAND v5\n"                                                                           \
  "  v7 = +_REDUCE INT v6 v4\n"                                                                \
  "  yield v7\n"

Test(worth, elements_of_its_own) {
  expect_decision(APPLY(RANDOM_SUM), "BODY ", "function BODY\n  lifted: line 1");
}

/* The elements wait for their sum. */
#define SEGMENTED_SUM                                                                          \
  "  v2 = CONST INT 10\n"                                                                      \
  "  v3 = DIST INT v2 v0\n"                                                                    \
  "  v4 = MAKE_SEGDES v3\n"                                                                    \
  "  v5 = DIST INT v1 v4\n"                                                                    \
  "  v6 = SORT_UP INT v5 v4\n"                                                                 \
  "  v7 = +_REDUCE INT v6 v4\n"                                                                \
  "  yield v7\n"

/* The explanation optimises the program once more, from the same decisions: SIMPLE is lifted
 * again, which is no reason to lift its caller. The last word on BODY is from the time when it
 * was called. */
Test(worth, explained_as_it_was_optimised) {
  expect_decision(
      "fun M () -> (INT)\n"
      "  v0, v1, v2 = READ INT\n"
      "  v3 = LENGTH INT v0\n"
      "  v4 = MAKE_SEGDES v3\n"
      "  v5 = CONST BOOL F\n"
      "  v6: INT = if v5\n"
      "    v7: INT = call BODY v4 v0\n"
      "    yield v7\n"
      "  else\n"
      "    yield v0\n"
      "  end\n"
      "  yield v6\n"
      "end\n"
      "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
      "  v2: INT = call SIMPLE v0 v1\n"
      "  v3: INT = call SUM v0 v2\n"
      "  yield v3\n"
      "end\n"
      "fun SIMPLE (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
      "  v2 = * INT v1 v1\n"
      "  yield v2\n"
      "end\n"
      "fun SUM (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n" SEGMENTED_SUM
      "end\n",
      "", "it calls SUM, which is lifted");
}

/* The body sums values that need no memory. */
Test(worth, one_superoperator) {
  expect_decision(APPLY("  v2 = CONST INT 10\n"
                        "  v3 = DIST INT v2 v0\n"
                        "  v4 = MAKE_SEGDES v3\n"
                        "  v5 = CONST INT 0\n"
                        "  v6 = CONST INT 1\n"
                        "  v8 = INDEX v5 v6 v4\n"
                        "  v9 = * INT v8 v8\n"
                        "  v10 = +_REDUCE INT v9 v4\n"
                        "  v11 = + INT v10 v1\n"
                        "  yield v11\n"),
                  "", "function BODY\n  inlined: it keeps no elements of its own in memory\n");
  expect_decision(APPLY("  v2 = * INT v1 v1\n  v3 = + INT v2 v1\n  yield v3\n"), "",
                  "function BODY\n  inlined: it keeps no elements of its own in memory\n");
}

/* Ten numbers of each instance, v6; what is made of them; and the sum of that, v20. */
#define TEN(text)                                                                              \
  APPLY("  v2 = CONST INT 10\n"                                                                \
        "  v3 = DIST INT v2 v0\n"                                                              \
        "  v4 = MAKE_SEGDES v3\n"                                                              \
        "  v5 = DIST INT v1 v4\n"                                                              \
        "  v6 = * INT v5 v5\n" text "  v21 = +_REDUCE INT v20 v4\n"                            \
        "  yield v21\n")

/* Fusion keeps none of these out of memory: a scan, a source of a gather. */
Test(worth, what_fusion_does_not_avoid) {
  expect_decision(TEN("  v7 = +_SCAN INT v6 v4\n  v20 = + INT v7 v7\n"), "BODY ",
                  "the result of OP");
  expect_decision(TEN("  v7 = % v6 v5\n  v20 = BPERMUTE INT v6 v7 v4 v4\n"), "BODY ",
                  "the result of OP");
}

/* Ten elements of each instance are gathered; as many numbers as its own one says are
 * multiplied with them once a check has found that these are ten, too. */
#define GATHERED                                                                               \
  "  v2 = CONST INT 10\n"                                                                      \
  "  v3 = DIST INT v2 v0\n"                                                                    \
  "  v4 = MAKE_SEGDES v3\n"                                                                    \
  "  v5 = +_REDUCE INT v3 v0\n"                                                                \
  "  v6 = MAKE_SEGDES v5\n"                                                                    \
  "  v7 = CONST INT 0\n"                                                                       \
  "  v8 = DIST INT v7 v6\n"                                                                    \
  "  v9 = BPERMUTE INT v1 v8 v0 v6\n"

Test(worth, a_check_between_gather_and_use) {
  expect_decision(APPLY(GATHERED "  v10 = * INT v9 v9\n"
                                 "  v11 = +_REDUCE INT v10 v4\n"
                                 "  yield v11\n"),
                  "", "function BODY\n  inlined: it keeps no elements of its own in memory\n");
  expect_decision(APPLY(GATHERED "  v10 = MAKE_SEGDES v1\n"
                                 "  v11 = DIST INT v1 v10\n"
                                 "  v12 = = INT v1 v3\n"
                                 "  ASSERT \"ten\" v12 v1 v3\n"
                                 "  v13 = * INT v9 v11\n"
                                 "  v14 = +_REDUCE INT v13 v4\n"
                                 "  yield v14\n"),
                  "BODY ", "the result of OP");
}

static unsigned times;

static void count_times(struct opt *o, const char *pass) {
  (void)o;
  times += strcmp(pass, "fuse") == 0;
}

static void expect_times(unsigned expected, const char *functions) {
  struct fixture t;
  fixture_init(&t);
  t.options.fuse = true;
  t.options.after_pass = count_times;
  char *text = arena_printf(&t.arena, "let-form \"t\" i64 f64 entry M\n%s",
                            with_positions(&t.arena, functions));
  struct ir_program *program = ir_parse(&t.arena, "t.let", text, strlen(text), &t.diags);
  cr_assert(program, "%s in\n%s", t.diags.list.items[0].message, text);
  times = 0;
  const struct ir_program *result =
      fcode_opt(&t.arena, program, &t.options, &t.stats, NULL, &t.diags);
  cr_assert(result && !result->functions[1].instances);
  cr_expect_eq(times, expected, "%u", times);
  fixture_free(&t);
}

/* A second time only where fusion itself has to show that nothing is kept: numbers that wait
 * for a reduction are computed again behind it, which is not foreseen. */
Test(worth, decided_before_fusion) {
  expect_times(1, TEN("  v20 = + INT v6 v5\n"));
  expect_times(2, TEN("  v7 = MAX_REDUCE INT v6 v4\n  v8 = DIST INT v7 v4\n"
                      "  v20 = - INT v6 v8\n"));
}

Test(worth, recursion) {
  expect_decision(APPLY("  v2 = +_REDUCE INT v1 v0\n"
                        "  v3 = CONST INT 9\n"
                        "  v4 = > INT v2 v3\n"
                        "  v5: INT = if v4\n"
                        "    v6 = - INT v1 v1\n"
                        "    v7: INT = call BODY v0 v6\n"
                        "    v8 = + INT v7 v1\n"
                        "    yield v8\n"
                        "  else\n"
                        "    yield v1\n"
                        "  end\n"
                        "  yield v5\n"),
                  "BODY ", "function BODY\n  lifted: it is recursive\n");
}

/* A body within a body decides for both: in the second case the outer one would keep the
 * results of the inner one, which is inlined, and then is one superoperator itself. */
Test(worth, from_the_inside_out) {
#define INNER "fun INNER (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
  expect_decision(APPLY("  v2: INT = call INNER v0 v1\n  yield v2\n") INNER RANDOM_SUM "end\n",
                  "BODY INNER ", "it calls INNER, which is lifted\n");
  static const char two[] = APPLY("  v2 = CONST INT 10\n"
                                  "  v3 = DIST INT v2 v0\n"
                                  "  v4 = MAKE_SEGDES v3\n"
                                  "  v5 = DIST INT v1 v4\n"
                                  "  v6 = LENGTH INT v5\n"
                                  "  v7 = MAKE_SEGDES v6\n"
                                  "  v8: INT = call INNER v7 v5\n"
                                  "  v9 = +_REDUCE INT v8 v4\n"
                                  "  yield v9\n") INNER "  v2 = * INT v1 v1\n  yield v2\nend\n";
  expect_decision(two, "", "function BODY\n  inlined: ");
  expect_decision(two, "", "function INNER\n  inlined: it is one operation\n");
#undef INNER
}

/* Only the last pass is printed and counted. */
Test(worth, listings_of_the_last_time) {
  struct fixture t;
  fixture_init(&t);
  const char *text = APPLY("  v2 = * INT v1 v1\n  yield v2\n");
  cr_expect_null(strstr(after(&t, "inline", text), "instances"));
  cr_expect_eq(t.stats.inlined, 1);
  fixture_free(&t);
}
