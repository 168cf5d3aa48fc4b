/* fuse.c - tests of fusion: superoperators, what must not be fused, and --explain. Every
 * program is verified after the pass.
 */
#include "rewriting.h"

#include "fused-kernels/fused.h"
#include <stdio.h>
#include <string.h>

struct fused {
  struct rewriting r;
  char formulas[4000]; /* of all superoperators, a line each */
  char body[8000];     /* of M, as printed */
  char said[8000];     /* by --explain */
};

static void fuse(struct fused *t, const char *functions) {
  rewriting_begin(&t->r, functions);
  memset(t->said, 0, sizeof t->said);
  memset(t->body, 0, sizeof t->body);
  t->r.o.explain = fmemopen(t->said, sizeof t->said, "w");
  pass_fuse(&t->r.o);
  fclose(t->r.o.explain);
  rewriting_verify(&t->r);
  const struct ir_program *program = t->r.o.program;
  size_t used = 0;
  t->formulas[0] = '\0';
  for (uint32_t i = 0; i < program->superop_count; i++) {
    char line[500];
    fused_formula(program->superops[i], line, sizeof line);
    used += (size_t)snprintf(t->formulas + used, sizeof t->formulas - used, "%s\n", line);
  }
  FILE *out = fmemopen(t->body, sizeof t->body, "w");
  ir_print_function(program, function_called(&t->r, "M"), out);
  fclose(out);
}

static const struct superop *superop(const struct fused *t, uint32_t i) {
  cr_assert(i < t->r.o.program->superop_count, "only\n%s", t->formulas);
  return t->r.o.program->superops[i];
}

static void expect_formulas(const struct fused *t, const char *formulas) {
  cr_expect(strcmp(t->formulas, formulas) == 0, "%sinstead of\n%s", t->formulas, formulas);
}

static unsigned occurrences(const char *text, const char *word) {
  unsigned n = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) n++;
  return n;
}

/* v0 and v1 are vectors of FLOAT; their length is the total of descriptor v3. */
#define TWO_VECTORS                                                                            \
  "v2 = LENGTH FLOAT v0 @1:1\n"                                                                \
  "v3 = MAKE_SEGDES v2 @1:2\n"                                                                 \
  "v4 = + FLOAT v0 v1 @1:3\n"

Test(fuse, dot_product_is_one_pass) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT) @1:1\n"
           "v2 = * FLOAT v0 v1 @2:1\n"
           "v3 = LENGTH FLOAT v2 @3:1\n"
           "v4 = MAKE_SEGDES v3 @4:1\n"
           "v5 = +_REDUCE FLOAT v2 v4 @5:1\n"
           "yield v5\nend\n");
  expect_formulas(&t, "sum by s (x1 * x2)\n");
  cr_expect_str_eq(t.body, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT) @1:1\n"
                           "  v3 = LENGTH FLOAT v0 @3:1\n"
                           "  v4 = MAKE_SEGDES v3 @4:1\n"
                           "  v5 = FUSED 0 v0 v1 v4 @5:1\n"
                           "  yield v5\n"
                           "end\n");
  cr_expect(strstr(t.said, "  OP0, lines 2 to 5: sum by s (x1 * x2)\n"), "%s", t.said);
  cr_expect(strstr(t.said, "2 passes over memory became 1; 32 bytes per element became 16\n"),
            "%s", t.said);
  rewriting_free(&t.r);
}

Test(fuse, sparse_matrix_times_vector_is_one_pass) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: INT, v2: FLOAT, v3: SEGDES) -> (FLOAT) @1:1\n"
           "v4 = LENGTH FLOAT v2 @2:1\n"
           "v5 = MAKE_SEGDES v4 @3:1\n"
           "v6 = LENGTH INT v1 @4:1\n"
           "v7 = MAKE_SEGDES v6 @5:1\n"
           "v8 = BPERMUTE FLOAT v2 v1 v5 v7 @6:1\n"
           "v9 = * FLOAT v0 v8 @7:1\n"
           "v10 = +_REDUCE FLOAT v9 v3 @8:1\n"
           "yield v10\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 1, "%s", t.formulas);
  cr_expect_eq(superop(&t, 0)->node_count, 3);
  cr_expect(superop(&t, 0)->nodes[0].checked, "indices come from outside");
  rewriting_free(&t.r);
}

Test(fuse, call_and_put_are_two_outputs_of_one_superoperator) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT, FLOAT) @1:1\n"
           "v2 = / FLOAT v0 v1 @2:1\n"
           "v3 = LOG v2 @3:1\n"
           "v4 = LENGTH FLOAT v3 @4:1\n"
           "v5 = MAKE_SEGDES v4 @5:1\n"
           "v6 = CONST FLOAT 0.5 @6:1\n"
           "v7 = DIST FLOAT v6 v5 @7:1\n"
           "v8 = + FLOAT v3 v7 @8:1\n"
           "v9 = EXP v8 @9:1\n"
           "v10 = - FLOAT v3 v7 @10:1\n"
           "v11 = EXP v10 @11:1\n"
           "v12 = * FLOAT v0 v9 @12:1\n"
           "v13 = * FLOAT v1 v11 @13:1\n"
           "v14 = - FLOAT v12 v13 @14:1\n"
           "v15 = - FLOAT v13 v12 @15:1\n"
           "yield v14 v15\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 1, "%s", t.formulas);
  cr_expect_eq(superop(&t, 0)->output_count, 2);
  cr_expect_eq(superop(&t, 0)->node_count, 12, "the constant and 11 operations");
  cr_expect_eq(superop(&t, 0)->param_count, 3);
  cr_expect(!strstr(t.body, "CONST"), "%s", t.body);
  rewriting_free(&t.r);
}

Test(fuse, three_comparisons_with_one_pivot) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT, INT, INT) @1:1\n"
           "v2 = LENGTH INT v0 @2:1\n"
           "v3 = MAKE_SEGDES v2 @3:1\n"
           "v4 = DIST INT v1 v3 @4:1\n"
           "v5 = < INT v0 v4 @5:1\n"
           "v6, v7 = PACK INT v0 v5 v3 @6:1\n"
           "v8 = = INT v0 v4 @7:1\n"
           "v9, v10 = PACK INT v0 v8 v3 @8:1\n"
           "v11 = > INT v0 v4 @9:1\n"
           "v12, v13 = PACK INT v0 v11 v3 @10:1\n"
           "yield v6 v9 v12\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 1, "%s", t.formulas);
  cr_expect_eq(superop(&t, 0)->output_count, 3, "unused descriptors are no outputs");
  rewriting_free(&t.r);
}

Test(fuse, all_pairs_need_no_memory_for_pairs) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT) -> (FLOAT) @1:1\n"
           "v1 = LENGTH FLOAT v0 @2:1\n"
           "v2 = MAKE_SEGDES v1 @3:1\n"
           "v3 = DIST INT v1 v2 @4:1\n"
           "v4 = MAKE_SEGDES v3 @5:1\n"
           "v5 = DIST FLOAT v0 v4 @6:1\n"
           "v6 = CONST INT 0 @7:1\n"
           "v7 = CONST INT 1 @8:1\n"
           "v8 = DIST INT v6 v2 @9:1\n"
           "v9 = DIST INT v7 v2 @10:1\n"
           "v10 = INDEX v8 v9 v4 @11:1\n"
           "v11 = LENGTH INT v10 @12:1\n"
           "v12 = MAKE_SEGDES v11 @13:1\n"
           "v13 = BPERMUTE FLOAT v0 v10 v2 v12 @14:1\n"
           "v14 = - FLOAT v5 v13 @15:1\n"
           "v15 = * FLOAT v14 v14 @16:1\n"
           "v16 = +_REDUCE FLOAT v15 v4 @17:1\n"
           "yield v16\nend\n");
  const struct superop *pairs = superop(&t, t.r.o.program->superop_count - 1);
  cr_expect_eq(pairs->node_count, 6, "%s", t.formulas);
  cr_expect_eq(pairs->output_count, 1);
  cr_expect_eq(pairs->nodes[5].role, ROLE_REDUCE);
  cr_expect(!strstr(t.body, "= INDEX"), "%s", t.body);
  cr_expect(!strstr(t.body, "= BPERMUTE"), "%s", t.body);
  cr_expect(strstr(t.body, "v11 = +_REDUCE INT"), "the number of pairs is the total\n%s",
            t.body);
  rewriting_free(&t.r);
}

Test(fuse, what_is_costly_is_computed_once) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT) @1:1\n" TWO_VECTORS "v5 = EXP v4 @2:1\n"
           "v6 = +_REDUCE FLOAT v5 v3 @3:1\n"
           "v7 = DIST FLOAT v6 v3 @4:1\n"
           "v8 = / FLOAT v5 v7 @5:1\n"
           "yield v8\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 2, "%s", t.formulas);
  cr_expect_eq(superop(&t, 0)->output_count, 2);
  cr_expect_eq(occurrences(t.formulas, "exp"), 1, "%s", t.formulas);
  cr_expect(
      strstr(t.said, "the result of EXP is in memory: / FLOAT needs the result of another"),
      "%s", t.said);
  rewriting_free(&t.r);
}

Test(fuse, what_is_cheap_is_computed_again) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT) @1:1\n" TWO_VECTORS
           "v5 = CONST FLOAT 2.0 @2:1\n"
           "v6 = DIST FLOAT v5 v3 @3:1\n"
           "v7 = * FLOAT v0 v6 @4:1\n"
           "v8 = +_REDUCE FLOAT v7 v3 @5:1\n"
           "v9 = DIST FLOAT v8 v3 @6:1\n"
           "v10 = / FLOAT v7 v9 @7:1\n"
           "yield v10\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 2, "%s", t.formulas);
  cr_expect_eq(superop(&t, 0)->output_count, 1, "%s", t.formulas);
  cr_expect_eq(occurrences(t.formulas, "2.0"), 2, "%s", t.formulas);
  rewriting_free(&t.r);
}

/* v5 and v8 read v0, but v8 needs the rank of v5 first. */
Test(fuse, a_superoperator_never_waits_for_itself) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT) @1:1\n" TWO_VECTORS "v5 = SIN v4 @2:1\n"
           "v6 = RANK_UP FLOAT v5 v3 @3:1\n"
           "v7 = I_TO_F v6 @4:1\n"
           "v8 = * FLOAT v7 v5 @5:1\n"
           "yield v8\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 2, "%s", t.formulas);
  const char *first = strstr(t.body, "FUSED 0"), *rank = strstr(t.body, "RANK_UP"),
             *second = strstr(t.body, "FUSED 1");
  cr_expect(first && rank && second && first < rank && rank < second, "%s", t.body);
  cr_expect(strstr(t.said, "the result of SIN is in memory: RANK_UP FLOAT cannot be fused"),
            "%s", t.said);
  rewriting_free(&t.r);
}

Test(fuse, order_of_what_may_fail_is_kept) {
  struct fused t;
  /* v2 / v0, then an EXTRACT that may fail, then v3 / v0: one pass would report the second
   * division before the EXTRACT. */
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT, INT, INT) @1:1\n"
           "v2 = / INT v0 v0 @2:1\n"
           "v3 = LENGTH INT v1 @3:1\n"
           "v4 = MAKE_SEGDES v3 @4:1\n"
           "v5 = EXTRACT INT v1 v3 v4 @5:1\n"
           "v6 = % v2 v0 @6:1\n"
           "yield v2 v5 v6\nend\n");
  expect_formulas(&t, "");
  const char *first = strstr(t.body, "= / INT"), *second = strstr(t.body, "= EXTRACT"),
             *third = strstr(t.body, "= %");
  cr_expect(first && second && third && first < second && second < third, "%s", t.body);
  cr_expect(strstr(t.said, "keeps its order with EXTRACT INT in line 5, which may fail"), "%s",
            t.said);
  rewriting_free(&t.r);
}

/* A use of the first division comes late, but the division must precede the EXTRACT. */
Test(fuse, what_joins_late_does_not_delay_what_may_fail) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT, INT) @1:1\n"
           "v2 = / INT v0 v0 @2:1\n"
           "v3 = LENGTH INT v1 @3:1\n"
           "v4 = MAKE_SEGDES v3 @4:1\n"
           "v5 = EXTRACT INT v1 v3 v4 @5:1\n"
           "v6 = NOT INT v2 @6:1\n"
           "yield v5 v6\nend\n");
  const char *division = strstr(t.body, "FUSED 0"), *extract = strstr(t.body, "= EXTRACT");
  cr_expect(division && extract && division < extract, "%s", t.body);
  rewriting_free(&t.r);
}

Test(fuse, what_may_fail_is_fused_in_order) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT) @1:1\n"
           "v2 = / INT v0 v1 @2:1\n"
           "v3 = % v2 v0 @3:1\n"
           "yield v3\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 1);
  cr_expect(superop(&t, 0)->nodes[0].checked && superop(&t, 0)->nodes[1].checked);
  rewriting_free(&t.r);
}

/* The product is safe only because the sum has been checked: it is not computed with the NOT,
 * before the EXTRACT, although all of them have one length if all is well. */
/* Reported values of an ASSERT cost no memory: they are no outputs. */
Test(fuse, assertions_are_fused_in_order) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT) @1:1\n"
           "v2 = < INT v0 v1 @2:1\n"
           "v3 = * INT v0 v1 @3:1\n"
           "ASSERT \"in order\" v2 v0 v3 @4:1\n"
           "v4 = / INT v0 v1 @5:1\n"
           "v5 = + INT v4 v0 @6:1\n"
           "yield v5\nend\n");
  expect_formulas(&t, "assert i1 < i2; (i1 / i2) + i1\n");
  const struct superop *op = superop(&t, 0);
  cr_assert_eq(op->node_count, 5);
  cr_expect_eq(op->output_count, 1);
  cr_expect(op->nodes[2].op == OPC_ASSERT && op->nodes[3].op == OPC_DIV);
  cr_expect(op->cold[1] && !op->cold[0]);
  cr_expect_eq(op->nodes[2].text_length, 8);
  cr_expect_eq(memcmp(op->nodes[2].text, "in order", 8), 0);
  rewriting_free(&t.r);
}

Test(fuse, assertions_alone_have_no_output) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT) @1:1\n"
           "v2 = < INT v0 v1 @2:1\n"
           "ASSERT \"in order\" v2 v0 v1 @3:1\n"
           "v3 = CONST INT 3 @4:1\n"
           "yield v3\nend\n");
  expect_formulas(&t, "assert i1 < i2\n");
  cr_expect_eq(superop(&t, 0)->output_count, 0);
  cr_expect(strstr(t.body, "\n  FUSED 0 v0 v1 @3:1\n"), "%s", t.body);
  rewriting_free(&t.r);
}

/* Different domains: a second superoperator keeps the order. */
Test(fuse, assertions_keep_their_order) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT, v2: BOOL, v3: INT) -> (INT) @1:1\n"
           "v4 = < INT v0 v1 @2:1\n"
           "ASSERT \"first\" v4 v0 v1 @3:1\n"
           "v5 = NOT BOOL v2 @4:1\n"
           "ASSERT \"second\" v5 v3 v3 @5:1\n"
           "v6 = < INT v1 v0 @6:1\n"
           "ASSERT \"third\" v6 v0 v1 @7:1\n"
           "yield v0\nend\n");
  expect_formulas(&t, "assert i1 < i2\nassert not(p)\nassert i1 < i2\n");
  cr_expect(strstr(t.body, "FUSED 0 v0 v1 @3:1\n  FUSED 1 v2 v3 @5:1\n  FUSED 2 v1 v0"), "%s",
            t.body);
  rewriting_free(&t.r);
}

Test(fuse, what_rests_on_a_check_stays_behind_it) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT, v2: INT) -> (INT, INT, INT, INT) @1:1\n"
           "v3 = NOT INT v1 @2:1\n"
           "v4 = LENGTH INT v1 @3:1\n"
           "v5 = MAKE_SEGDES v4 @4:1\n"
           "v6 = EXTRACT INT v3 v0 v5 @5:1\n"
           "v7 = + INT v1 v2 @6:1\n"
           "v8 = * INT v1 v2 @7:1\n"
           "yield v3 v6 v7 v8\nend\n");
  expect_formulas(&t, "i1 + i2, i1 * i2\n");
  const char *check = strstr(t.body, "= EXTRACT"), *fused = strstr(t.body, "FUSED 0");
  cr_expect(check && fused && check < fused, "%s", t.body);
  rewriting_free(&t.r);
}

Test(fuse, nothing_crosses_a_timer) {
  struct fused t;
  fuse(&t,
       "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT, FLOAT) @1:1\n" TWO_VECTORS "START_TIMER @2:1\n"
       "v5 = * FLOAT v4 v1 @3:1\n"
       "v6 = - FLOAT v5 v1 @4:1\n"
       "v7 = STOP_TIMER @5:1\n"
       "v8 = - FLOAT v6 v1 @6:1\n"
       "yield v7 v8\nend\n");
  expect_formulas(&t, "(x1 * x2) - x2\n");
  const char *before = strstr(t.body, "= + FLOAT"), *start = strstr(t.body, "START_TIMER"),
             *between = strstr(t.body, "FUSED 0"), *stop = strstr(t.body, "STOP_TIMER"),
             *after = strstr(t.body, "= - FLOAT");
  cr_expect(before && before < start && start < between && between < stop && stop < after, "%s",
            t.body);
  cr_expect(strstr(t.said, "a timer comes before * FLOAT"), "%s", t.said);
  rewriting_free(&t.r);
}

Test(fuse, effects_are_crossed_by_what_is_safe) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT) -> (FLOAT) @1:1\n"
           "v1 = EXP v0 @2:1\n"
           "v2 = CONST INT 7 @3:1\n"
           "v3, v4 = WRITE INT v2 @4:1\n"
           "v5 = LOG v1 @5:1\n"
           "yield v5\nend\n");
  expect_formulas(&t, "log(exp(x))\n");
  rewriting_free(&t.r);
}

Test(fuse, arms_take_what_only_they_need) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: BOOL) -> (FLOAT) @1:1\n"
           "v2 = EXP v0 @2:1\n"
           "v3 = SIN v0 @3:1\n"
           "v4: FLOAT = if v1 @4:1\n"
           "v5 = LOG v2 @5:1\n"
           "v6 = COS v5 @6:1\n"
           "yield v6\n"
           "else\n"
           "v7 = TAN v3 @7:1\n"
           "yield v7\n"
           "end\n"
           "yield v4\nend\n");
  expect_formulas(&t, "cos(log(exp(x)))\ntan(sin(x))\n");
  rewriting_free(&t.r);
}

/* Used on both sides of an IF: a constant is spread again, a sum is not computed again. */
Test(fuse, arms_spread_constants_again) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: BOOL) -> (FLOAT, FLOAT) @1:1\n"
           "v2 = LENGTH FLOAT v0 @2:1\n"
           "v3 = MAKE_SEGDES v2 @2:2\n"
           "v4 = CONST FLOAT 2.0 @2:3\n"
           "v5 = DIST FLOAT v4 v3 @3:1\n"
           "v6 = EXP v0 @3:2\n"
           "v7: FLOAT = if v1 @4:1\n"
           "v8 = + FLOAT v6 v5 @5:1\n"
           "yield v8\n"
           "else\n"
           "yield v0\n"
           "end\n"
           "v9 = * FLOAT v6 v5 @6:1\n"
           "yield v7 v9\nend\n");
  expect_formulas(&t, "x + 2.0\nt1 = exp(x); t1, t1 * 2.0\n");
  cr_expect(strstr(t.said, "the result of EXP is in memory: used in an arm of an IF"), "%s",
            t.said);
  rewriting_free(&t.r);
}

/* Cheaper than to read it from memory: the spread scalar, and the difference of it and what the
 * arm reads anyway; not the difference that would need two more vectors there. */
Test(fuse, arms_compute_again_what_is_cheap) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT, v2: BOOL) -> (FLOAT, FLOAT) @1:1\n"
           "v3 = LENGTH FLOAT v0 @2:1\n"
           "v4 = MAKE_SEGDES v3 @2:2\n"
           "v5 = MAX_REDUCE FLOAT v1 v4 @2:3\n"
           "v6 = MIN_REDUCE FLOAT v0 v4 @2:4\n"
           "v7 = DIST FLOAT v6 v4 @3:1\n"
           "v8 = - FLOAT v0 v7 @3:2\n"
           "v9 = SIN v0 @3:3\n"
           "v10 = COS v0 @3:4\n"
           "v11 = * FLOAT v9 v10 @3:5\n"
           "v12: FLOAT = if v2 @4:1\n"
           "v13 = + FLOAT v8 v0 @5:1\n"
           "v14 = / FLOAT v13 v11 @5:2\n"
           "yield v14\n"
           "else\n"
           "yield v0\n"
           "end\n"
           "v15 = * FLOAT v8 v9 @6:1\n"
           "v16 = * FLOAT v15 v11 @6:2\n"
           "yield v12 v16\nend\n");
  cr_expect(strstr(t.formulas, "((x1 - (x2 over s)) + x1) / x3\n") ||
                strstr(t.formulas, "((x2 - (x1 over s)) + x2) / x3\n"),
            "%s", t.formulas);
  cr_expect(!strstr(t.said, "the result of DIST FLOAT is in memory"), "%s", t.said);
  cr_expect(!strstr(t.said, "the result of - FLOAT is in memory"), "%s", t.said);
  rewriting_free(&t.r);
}

/* The sum in the arm reads copies; the arm in it copies the sum, as it was. */
Test(fuse, arms_in_arms_compute_again_what_is_cheap) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT, v2: BOOL) -> (FLOAT, FLOAT) @1:1\n"
           "v3 = LENGTH FLOAT v0 @2:1\n"
           "v4 = MAKE_SEGDES v3 @2:2\n"
           "v5 = MIN_REDUCE FLOAT v0 v4 @2:4\n"
           "v6 = DIST FLOAT v5 v4 @3:1\n"
           "v7 = - FLOAT v0 v6 @3:2\n"
           "v8 = SIN v0 @3:3\n"
           "v9: FLOAT = if v2 @4:1\n"
           "v10 = + FLOAT v7 v0 @5:1\n"
           "v11: FLOAT = if v2 @5:2\n"
           "v12 = * FLOAT v10 v0 @6:1\n"
           "yield v12\n"
           "else\n"
           "yield v0\n"
           "end\n"
           "v13 = / FLOAT v10 v11 @7:1\n"
           "yield v13\n"
           "else\n"
           "yield v0\n"
           "end\n"
           "v14 = * FLOAT v7 v8 @8:1\n"
           "yield v9 v14\nend\n");
  cr_expect(strstr(t.formulas, "((x1 - (x2 over s)) + x1) * x1\n") ||
                strstr(t.formulas, "((x2 - (x1 over s)) + x2) * x2\n"),
            "%s", t.formulas);
  rewriting_free(&t.r);
}

Test(fuse, scalars_stay_with_the_machine) {
  struct fused t;
  fuse(&t, "fun M () -> (INT) @1:1\n"
           "v0, v1, v2 = READ INT @1:1\n"
           "v3 = LENGTH INT v0 @2:1\n"
           "v4 = LENGTH INT v1 @3:1\n"
           "v5 = + INT v3 v4 @4:1\n"
           "v6 = * INT v5 v3 @5:1\n"
           "v7 = - INT v6 v5 @6:1\n"
           "yield v7\nend\n");
  expect_formulas(&t, "");
  cr_expect(!strstr(t.said, "function"), "%s", t.said);
  rewriting_free(&t.r);
}

Test(fuse, different_lengths_stay_apart) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT, FLOAT, FLOAT, FLOAT) @1:1\n"
           "v2 = EXP v0 @2:1\n"
           "v3 = LOG v1 @3:1\n"
           "v4 = SIN v2 @4:1\n"
           "v5 = COS v3 @5:1\n"
           "yield v2 v3 v4 v5\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 2, "%s", t.formulas);
  rewriting_free(&t.r);
}

/* Two that compute the same have one definition, unless they may fail at different source
 * locations. */
Test(fuse, equal_superoperators_are_one) {
  struct fused t;
  fuse(&t, "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT, FLOAT) @1:1\n"
           "v2 = EXP v0 @2:1\n"
           "v3 = LOG v2 @3:1\n"
           "v4: FLOAT = call F v1 @4:1\n"
           "yield v3 v4\nend\n"
           "fun F (v0: FLOAT) -> (FLOAT) @5:1\n"
           "v1 = EXP v0 @6:1\n"
           "v2 = LOG v1 @7:1\n"
           "yield v2\nend\n");
  expect_formulas(&t, "log(exp(x))\n");
  rewriting_free(&t.r);
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT, INT) @1:1\n"
           "v2 = % v0 v0 @2:1\n"
           "v3 = NOT INT v2 @3:1\n"
           "v4: INT = call F v1 @4:1\n"
           "yield v3 v4\nend\n"
           "fun F (v0: INT) -> (INT) @5:1\n"
           "v1 = % v0 v0 @6:1\n"
           "v2 = NOT INT v1 @7:1\n"
           "yield v2\nend\n");
  cr_expect_eq(t.r.o.program->superop_count, 2, "%s", t.formulas);
  rewriting_free(&t.r);
}

/* This many square roots, each of the one before. */
static void fuse_square_roots(struct fused *t, unsigned length) {
  static char text[20000];
  size_t used = (size_t)snprintf(text, sizeof text, "fun M (v0: FLOAT) -> (FLOAT) @1:1\n");
  for (unsigned i = 0; i < length; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "v%u = SQRT v%u @%u:1\n", i + 1,
                             i, i + 2);
  snprintf(text + used, sizeof text - used, "yield v%u\nend\n", length);
  fuse(t, text);
}

/* The formula of Black and Scholes takes 110 operations, its checks included. Cut in two it
 * would write and read as much memory again as it has arguments and results. */
Test(fuse, long_formulas_are_one_pass) {
  struct fused t;
  fuse_square_roots(&t, 150);
  cr_expect_eq(occurrences(t.body, "FUSED"), 1, "%s", t.body);
  cr_expect_eq(superop(&t, 0)->node_count, 150);
  rewriting_free(&t.r);
}

Test(fuse, long_sequences_are_cut) {
  struct fused t;
  enum { LENGTH = 600 };
  fuse_square_roots(&t, LENGTH);
  uint32_t nodes = 0;
  for (uint32_t i = 0; i < t.r.o.program->superop_count; i++) {
    cr_expect(superop(&t, i)->node_count <= 256);
    nodes += superop(&t, i)->node_count *
             occurrences(t.body, arena_printf(&t.r.arena, "FUSED %u ", i));
  }
  cr_expect_eq(nodes, LENGTH, "%u", nodes);
  cr_expect(occurrences(t.body, "FUSED") <= 8, "%s", t.body);
  rewriting_free(&t.r);
}

Test(fuse, constants_are_no_parameters) {
  struct fused t;
  static char text[20000];
  enum { SHIFTS = 31 };
  size_t used = (size_t)snprintf(text, sizeof text,
                                 "fun M (v0: INT) -> (INT) @1:1\n"
                                 "v1 = LENGTH INT v0 @1:1\n"
                                 "v2 = MAKE_SEGDES v1 @1:2\n"
                                 "v3 = CONST INT 1 @1:3\n"
                                 "v4 = LENGTH INT v0 @1:4\n");
  unsigned last = 0, v = 5;
  for (unsigned i = 0; i < SHIFTS; i++, v += 4) {
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "v%u = CONST INT %u @%u:1\n"
                             "v%u = INDEX v%u v3 v2 @%u:2\n"
                             "v%u = BPERMUTE INT v0 v%u v2 v2 @%u:3\n"
                             "v%u = + INT v%u v%u @%u:4\n",
                             v, i + 2, i + 2, v + 1, v, i + 2, v + 2, v + 1, i + 2, v + 3, last,
                             v + 2, i + 2);
    last = v + 3;
  }
  snprintf(text + used, sizeof text - used, "yield v%u\nend\n", last);
  fuse(&t, text);
  cr_expect_eq(t.r.o.program->superop_count, 1, "%s", t.formulas);
  cr_expect_eq(superop(&t, 0)->param_count, 2);
  rewriting_free(&t.r);
}
