/* invariants.c - tests of loop-invariant code motion. */
#include "rewriting.h"

/* A walk over the graph v0 with neighbours v1: the offsets of all lists are the same in each
 * round, the gather is not. The scalar, and what is spread, stay. */
Test(invariants, offsets_are_computed_once) {
#define HEAD(params) "fun WALK (v0: SEGDES, v1: INT, v2: INT" params ") -> (INT)\n"
  rewriting_expect(
      pass_invariants,
      "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
      "  v3: INT = call WALK v0 v1 v2\n"
      "  yield v3\n"
      "end\n" HEAD("") "  v3 = LENGTHS v0\n"
                       "  v4 = LENGTH INT v3\n"
                       "  v5 = MAKE_SEGDES v4\n"
                       "  v6 = +_SCAN INT v3 v5\n"
                       "  v7 = LENGTH INT v2\n"
                       "  v8 = CONST INT 0\n"
                       "  v9 = = INT v7 v8\n"
                       "  v13: INT = if v9\n"
                       "    yield v2\n"
                       "  else\n"
                       "    v10 = MAKE_SEGDES v7\n"
                       "    v11 = BPERMUTE INT v6 v2 v5 v10\n"
                       "    v12: INT = call WALK v0 v1 v11\n"
                       "    yield v12\n"
                       "  end\n"
                       "  yield v13\n"
                       "end\n",
      "fun M (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
      "  v3: INT = call WALK v0 v1 v2\n"
      "  yield v3\n"
      "end\n" HEAD(
          "") "  v3 = LENGTHS v0\n"
              "  v4 = LENGTH INT v3\n"
              "  v5 = MAKE_SEGDES v4\n"
              "  v6 = +_SCAN INT v3 v5\n"
              "  v7 = LENGTH INT v2\n"
              "  v8 = CONST INT 0\n"
              "  v9 = = INT v7 v8\n"
              "  v13: INT = if v9\n"
              "    yield v2\n"
              "  else\n"
              "    v10 = MAKE_SEGDES v7\n"
              "    v11 = BPERMUTE INT v6 v2 v5 v10\n"
              "    v12: INT = call WALK_NEXT v0 v1 v11 v3 v6\n"
              "    yield v12\n"
              "  end\n"
              "  yield v13\n"
              "end\n"
              "fun WALK_NEXT (v0: SEGDES, v1: INT, v2: INT, v3: INT, v4: INT) -> (INT)\n"
              "  v5 = LENGTH INT v3\n"
              "  v6 = MAKE_SEGDES v5\n"
              "  v7 = LENGTH INT v2\n"
              "  v8 = CONST INT 0\n"
              "  v9 = = INT v7 v8\n"
              "  v13: INT = if v9\n"
              "    yield v2\n"
              "  else\n"
              "    v10 = MAKE_SEGDES v7\n"
              "    v11 = BPERMUTE INT v4 v2 v6 v10\n"
              "    v12: INT = call WALK_NEXT v0 v1 v11 v3 v4\n"
              "    yield v12\n"
              "  end\n"
              "  yield v13\n"
              "end\n");
#undef HEAD
}

static void expect_twin(bool made, const char *body) {
  struct rewriting r;
  char text[4000];
  snprintf(text, sizeof text,
           "fun M (v0: BOOL, v1: INT, v2: SEGDES) -> (INT)\n"
           "  v3: INT = call F v0 v1 v2\n  yield v3\nend\n"
           "fun F (v0: BOOL, v1: INT, v2: SEGDES) -> (INT)\n%s"
           "  yield v9\nend\n",
           body);
  rewriting_begin(&r, text);
  cr_expect_eq(pass_invariants(&r.o), made, "%s", text);
  rewriting_verify(&r);
  rewriting_free(&r);
}

#define SUM "+_REDUCE INT v1 v2\n"
#define ARMS(before, otherwise)                                                                \
  before "  v9: INT = if v0\n    yield v1\n  else\n" otherwise "  end\n"

/* Only what every call of the function by itself comes after, with the same operands, can be
 * given to the twin; random numbers, numbers and elementwise operations are not. */
Test(invariants, what_moves) {
  expect_twin(true, ARMS("  v3 = " SUM, "    v8: INT = call F v0 v1 v2\n    yield v8\n"));
  expect_twin(true, ARMS("", "    v3 = " SUM "    v8: INT = call F v0 v1 v2\n    yield v3\n"));
  expect_twin(false, ARMS("", "    v8: INT = call F v0 v1 v2\n    v3 = " SUM "    yield v3\n"));
  expect_twin(false, ARMS("  v3 = NOT INT v1\n",
                          "    v4 = +_REDUCE INT v3 v2\n    v8: INT = call F v0 v3 v2\n"
                          "    yield v4\n"));
  expect_twin(false, ARMS("  v3 = " SUM, "    v8: INT = call F v0 v3 v2\n    yield v8\n"));
  expect_twin(false, ARMS("  v3 = RAND v1\n  v4 = +_REDUCE INT v3 v2\n",
                          "    v8: INT = call F v0 v1 v2\n    yield v8\n"));
  expect_twin(false,
              ARMS("  v3 = NOT INT v1\n", "    v8: INT = call F v0 v1 v2\n    yield v8\n"));
  expect_twin(false, ARMS("  v3 = LENGTH INT v1\n  v4 = MAKE_SEGDES v3\n",
                          "    v8: INT = call F v0 v1 v2\n    yield v8\n"));
  expect_twin(true,
              ARMS("  v3 = LENGTHS v2\n", "    v8: INT = call F v0 v1 v2\n    yield v8\n"));
  expect_twin(false, "  v9 = " SUM);
}

/* How long one sequence is takes no time. */
Test(invariants, lengths_of_one_segment) {
  struct rewriting r;
  rewriting_begin(&r, "fun M (v0: INT) -> (INT)\n"
                      "  v1 = LENGTH INT v0\n  v2 = MAKE_SEGDES v1\n"
                      "  v3: INT = call F v0 v2\n  yield v3\nend\n"
                      "fun F (v0: INT, v1: SEGDES) -> (INT)\n"
                      "  v2 = LENGTHS v1\n  v3 = DIST INT v2 v1\n  v4 = - INT v0 v3\n"
                      "  v5: INT = call F v4 v1\n  yield v5\nend\n");
  cr_expect_not(pass_invariants(&r.o));
  rewriting_free(&r);
}

/* The sum in one arm is not there in the other, nor is what is behind the first of two calls
 * before it; a name that is taken is not used again. */
Test(invariants, two_calls) {
#define CALL(sum, result)                                                                      \
  "    " sum "    " result ": INT = call F v0 v1 v2\n    yield " result "\n"
  expect_twin(
      false, "  v9: INT = if v0\n" CALL("v3 = " SUM, "v7") "  else\n" CALL("", "v8") "  end\n");
  expect_twin(true, "  v3 = " SUM
                    "  v9: INT = if v0\n" CALL("", "v7") "  else\n" CALL("", "v8") "  end\n");
  expect_twin(false,
              "  v7: INT = call F v0 v1 v2\n  v3 = " SUM "  v9: INT = call F v0 v1 v2\n");
#undef CALL
}

Test(invariants, names) {
  struct rewriting r;
  rewriting_begin(&r, "fun M (v0: BOOL, v1: INT, v2: SEGDES) -> (INT)\n"
                      "  v3: INT = call F v0 v1 v2\n  v4: INT = call F_NEXT v0 v1 v2\n"
                      "  v5 = + INT v3 v4\n  yield v5\nend\n"
                      "fun F (v0: BOOL, v1: INT, v2: SEGDES) -> (INT)\n"
                      "  v3 = " SUM "  v9: INT = if v0\n    yield v3\n  else\n"
                      "    v8: INT = call F v0 v1 v2\n    yield v8\n  end\n  yield v9\nend\n"
                      "fun F_NEXT (v0: BOOL, v1: INT, v2: SEGDES) -> (INT)\n"
                      "  yield v1\nend\n");
  cr_expect(pass_invariants(&r.o));
  rewriting_verify(&r);
  cr_expect_eq(function_called(&r, "F_NEXT_NEXT"), 3);
  rewriting_free(&r);
}

/* The twin does not check again what the first round has checked. */
Test(invariants, checks) {
  struct rewriting r;
  rewriting_begin(&r, "fun M (v0: BOOL, v1: INT, v2: SEGDES) -> (INT)\n"
                      "  v3: INT = call F v0 v1 v2\n  yield v3\nend\n"
                      "fun F (v0: BOOL, v1: INT, v2: SEGDES) -> (INT)\n"
                      "  v3 = " SUM "  ASSERT \"no\" v0 v3 v3\n"
                      "  v9: INT = if v0\n    yield v3\n  else\n"
                      "    v8: INT = call F v0 v1 v2\n    yield v8\n  end\n  yield v9\nend\n");
  cr_expect(pass_invariants(&r.o));
  cr_expect_eq(r.o.program->functions[1].body->count, 3);
  cr_expect_eq(r.o.program->functions[2].body->count, 1);
  rewriting_free(&r);
}

/* Lifted: what is shared only. The descriptor of the instances, and their numbers, which
 * are passed on here, are of others where the instances are fewer. */
Test(invariants, by_instances) {
  struct rewriting r;
  rewriting_begin(&r, "fun M (v0: SEGDES, v1: INT, v2: BOOL, v3: SEGDES) -> (INT)\n"
                      "  v4: INT = call F v0 v1 v2 v3\n  yield v4\nend\n"
                      "fun F (v0: SEGDES, v1: INT, v2: BOOL, v3: SEGDES) -> (INT) "
                      "instances shared each shared shared -> each\n"
                      "  v4 = LENGTHS v3\n  v5 = +_REDUCE INT v1 v0\n"
                      "  v6: INT = if v2\n    yield v1\n  else\n"
                      "    v7: INT = call F v0 v1 v2 v3\n    yield v7\n  end\n"
                      "  yield v6\nend\n");
  cr_expect(pass_invariants(&r.o));
  rewriting_verify(&r);
  const struct ir_function *twin = &r.o.program->functions[function_called(&r, "F_NEXT")];
  cr_assert_eq(twin->param_count, 5);
  cr_expect_eq(twin->instances->params[1], IR_EACH);
  cr_expect_eq(twin->instances->params[4], IR_SHARED);
  cr_expect_eq(twin->body->bindings[0].op, OPC_ADD_REDUCE);
  rewriting_free(&r);
}
