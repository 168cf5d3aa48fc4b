/* chunked-results.c - which superoperators become lifted functions because the program
 * ends with their results.
 */
#include "programs.h"
#include "support.h"

#include "ir/tests/parse.h"
#include <string.h>

static const struct ir_program *chunked_results_optimised(struct fixture *t,
                                                          const char *functions, bool fuse) {
  char *text = arena_printf(&t->arena, "let-form \"t\" i64 f64 entry M\n%s",
                            with_positions(&t->arena, functions));
  struct ir_program *program = ir_parse(&t->arena, "t.let", text, strlen(text), &t->diags);
  cr_assert(program, "%s in\n%s", t->diags.list.items[0].message, text);
  t->options.fuse = fuse;
  const struct ir_program *result =
      fcode_opt(&t->arena, program, &t->options, &t->stats, NULL, &t->diags);
  cr_assert(result, "%s", t->diags.list.items[0].message);
  cr_assert_eq(t->diags.list.count, 0, "%s", t->diags.list.items[0].message);
  return result;
}

/* The marks of all lifted functions: a letter for each parameter and, behind '>', each
 * result; a blank behind each mark. */
static void print_marks(const struct ir_program *p, char *to) {
  for (uint32_t f = 0; f < p->function_count; f++) {
    const struct ir_function *function = &p->functions[f];
    if (!function->instances) continue;
    for (uint32_t i = 0; i < function->param_count; i++)
      *to++ = function->instances->params[i] == IR_EACH ? 'e' : 's';
    *to++ = '>';
    for (uint32_t i = 0; i < function->result_count; i++)
      *to++ = function->instances->results[i] == IR_EACH ? 'e' : '?';
    *to++ = ' ';
  }
  *to = '\0';
}

/* With fusion, unless the operations are to stay apart. */
static void expect_marks_of(const char *functions, bool fuse, const char *wanted) {
  struct fixture t;
  char marks[200];
  fixture_init(&t);
  t.options.chunked_results = true;
  const struct ir_program *result = chunked_results_optimised(&t, functions, fuse);
  print_marks(result, marks);
  cr_expect_str_eq(marks, wanted, "%s instead of %s:\n%s", marks, wanted,
                   ir_text(&t.arena, result));
  fixture_free(&t);
}

static void expect_marks(const char *functions, const char *wanted) {
  expect_marks_of(functions, true, wanted);
}

#define SQUARES "fun M (v0: FLOAT) -> (FLOAT)\n  v1 = * FLOAT v0 v0\n  yield v1\nend\n"
/* The beginning of a function of a vector v0, with a descriptor v2 of one segment. */
#define OF_VECTOR                                                                              \
  "fun M (v0: FLOAT) -> (FLOAT)\n"                                                             \
  "  v1 = LENGTH FLOAT v0\n"                                                                   \
  "  v2 = MAKE_SEGDES v1\n"
#define CONSTANT                                                                               \
  "  v3 = CONST FLOAT 2.0\n"                                                                   \
  "  v4 = DIST FLOAT v3 v2\n"

Test(chunked_results, elementwise_operations) {
  expect_marks(SQUARES, "see>e ");
  expect_marks("fun M (v0: FLOAT) -> (BOOL)\n  v1 = >= FLOAT v0 v0\n  yield v1\nend\n",
               "see>e ");
  expect_marks(OF_VECTOR CONSTANT "  v5 = * FLOAT v0 v4\n  yield v5\nend\n", "se>e ");
  expect_marks(OF_VECTOR CONSTANT
               "  v5 = * FLOAT v0 v4\n  v6 = + FLOAT v5 v0\n  yield v6\nend\n",
               "se>e ");
}

Test(chunked_results, several_results) {
  expect_marks("fun M (v0: FLOAT) -> (FLOAT, FLOAT, BOOL)\n"
               "  v1 = * FLOAT v0 v0\n"
               "  v2 = + FLOAT v1 v0\n"
               "  v3 = >= FLOAT v1 v2\n"
               "  yield v1 v2 v3\nend\n",
               "se>eee ");
  /* of two lengths */
  expect_marks("fun M (v0: FLOAT, v1: INT) -> (FLOAT, INT)\n"
               "  v2 = * FLOAT v0 v0\n"
               "  v3 = * INT v1 v1\n"
               "  yield v2 v3\nend\n",
               "see>e see>e ");
}

/* A vector that is spread is shared, and so is one that is gathered from, with its
 * descriptor. */
Test(chunked_results, shared_operands) {
  expect_marks(OF_VECTOR "  v3 = MAX_REDUCE FLOAT v0 v2\n"
                         "  v4 = DIST FLOAT v3 v2\n"
                         "  v5 = - FLOAT v0 v4\n"
                         "  yield v5\nend\n",
               "sse>e ");
  expect_marks("fun M (v0: INT, v1: FLOAT) -> (FLOAT)\n"
               "  v2 = LENGTH INT v0\n"
               "  v3 = MAKE_SEGDES v2\n"
               "  v4 = LENGTH FLOAT v1\n"
               "  v5 = MAKE_SEGDES v4\n"
               "  v6 = BPERMUTE FLOAT v1 v0 v5 v3\n"
               "  v7 = * FLOAT v6 v6\n"
               "  yield v7\nend\n",
               "sses>e ");
}

/* A position that is not alone. */
Test(chunked_results, what_stays) {
  expect_marks(OF_VECTOR "  v3 = CONST INT 0\n"
                         "  v4 = CONST INT 1\n"
                         "  v5 = INDEX v3 v4 v2\n"
                         "  v6 = I_TO_F v5\n"
                         "  v7 = * FLOAT v0 v6\n"
                         "  yield v7\nend\n",
               "");
  expect_marks(OF_VECTOR "  v3 = * FLOAT v0 v0\n"
                         "  v4 = +_SCAN FLOAT v3 v2\n"
                         "  yield v4\nend\n",
               "");
  expect_marks(OF_VECTOR CONSTANT "  v5 = > FLOAT v0 v4\n"
                                  "  v6, v7 = PACK FLOAT v0 v5 v2\n"
                                  "  yield v6\nend\n",
               "");
  /* in other segments than one */
  expect_marks("fun M (v0: SEGDES, v1: INT) -> (INT)\n"
               "  v2 = DIST INT v1 v0\n"
               "  v3 = RAND v2\n"
               "  v4 = LENGTHS v0\n"
               "  v5 = DIST INT v4 v0\n"
               "  v6 = + INT v5 v3\n"
               "  yield v6\nend\n",
               "");
}

/* Lengths may differ, and then the program fails. */
Test(chunked_results, lengths_must_be_known_to_agree) {
  expect_marks(
      "fun M (v0: FLOAT, v1: FLOAT) -> (FLOAT)\n  v2 = * FLOAT v0 v1\n  yield v2\nend\n", "");
}

/* Values that are not the program's last ones have no marks, nor has a scalar, which is one
 * position. */
Test(chunked_results, only_what_the_program_ends_with) {
  expect_marks_of(OF_VECTOR "  v3 = * FLOAT v0 v0\n"
                            "  v4 = MAX_REDUCE FLOAT v3 v2\n"
                            "  yield v4\nend\n",
                  false, "");
  expect_marks_of(OF_VECTOR "  v3 = * FLOAT v0 v0\n"
                            "  v4 = * FLOAT v3 v0\n"
                            "  yield v4\nend\n",
                  false, "see>e ");
  expect_marks(OF_VECTOR "  v3 = MAX_REDUCE FLOAT v0 v2\n"
                         "  v4 = * FLOAT v3 v3\n"
                         "  yield v4\nend\n",
               "");
}

Test(chunked_results, nothing_without_the_option) {
  struct fixture t;
  char marks[200];
  fixture_init(&t);
  t.options.chunked_results = fcode_opt_default_options().chunked_results;
  print_marks(chunked_results_optimised(&t, SQUARES, true), marks);
  cr_expect_str_eq(marks, "");
  fixture_free(&t);
}
