/* test-libravel-program.c - programs of VCODE and FCODE as functions; costs, profiles and
 * compiled programs as text.
 */
#include "context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char sum_of[] = "FUNC MAIN I SEGDES INT O INT\n"
                             "COPY 1 1\n+_REDUCE INT\nPOP 1 1\nRET\n";

static const char two_sequences[] = "FUNC MAIN I SEGDES INT SEGDES INT O INT\n"
                                    "POP 2 0\nCOPY 1 1\n+_REDUCE INT\nPOP 1 1\nRET\n";

static struct ravel_context *program_context(void) {
  return context_with(NULL);
}

static struct ravel_value *program_ints(struct ravel_context *c, size_t n, const int64_t *x) {
  struct ravel_value *v = NULL;
  fine(c, ravel_vector(c, RAVEL_INT64, x, n, &v));
  return v;
}

static struct ravel_value *program_int_of(struct ravel_context *c, int64_t x) {
  struct ravel_value *v = NULL;
  fine(c, ravel_int(c, x, &v));
  return v;
}

static struct ravel_function *program(struct ravel_context *c, const char *text,
                                      const char *takes, const char *gives) {
  struct ravel_function *f = NULL;
  fine(c, ravel_program(c, "p.vcode", text, 0, takes, gives, &f));
  return f;
}

static int64_t int_of_call(struct ravel_context *c, struct ravel_function *f,
                           struct ravel_value *v) {
  struct ravel_value *result = NULL;
  int64_t x = -1;
  fine(c, ravel_call(c, f, &v, v ? 1 : 0, &result));
  fine(c, ravel_get_int(c, result, &x));
  ravel_release(result);
  return x;
}

/* ---- types ---- */

Test(program, types_come_from_kinds_or_text) {
  struct ravel_context *c = program_context();
  const int64_t x[] = {1, 2, 3};
  struct ravel_function *f = program(c, sum_of, NULL, NULL);
  cr_expect_str_eq(ravel_function_takes(f), "[int]");
  cr_expect_str_eq(ravel_function_gives(f), "int");
  cr_expect_eq(int_of_call(c, f, program_ints(c, 3, x)), 6);
  f = program(c, "FUNC MAIN\nCONST INT 7\nRET\n", "", NULL);
  cr_expect_str_eq(ravel_function_takes(f), "");
  cr_expect_eq(int_of_call(c, f, NULL), 7);
  f = program(c, "FUNC MAIN I INT O INT INT\nCOPY 1 0\nRET\n", NULL, NULL);
  cr_expect_str_eq(ravel_function_gives(f), "int, int");
  f = program(c, "FUNC MAIN I SEGDES INT O SEGDES INT\nRET\n", "[char]", NULL);
  cr_expect_str_eq(ravel_function_takes(f), "[char]");
  fine(c, ravel_define(c, NULL, "datatype point(float, float);", 0));
  f = program(c, "FUNC MAIN I SEGDES FLOAT FLOAT O FLOAT\nPOP 1 0\nPOP 1 1\nRET\n", "[point]",
              "float");
  cr_expect_str_eq(ravel_function_takes(f), "[point]");
  ravel_context_free(c);
}

Test(program, types_that_do_not_fit_are_refused) {
  struct ravel_context *c = program_context();
  struct ravel_function *f;
  fails(c, RAVEL_TYPE, "MAIN takes SEGDES INT, which are not the columns of [float]",
        ravel_program(c, NULL, sum_of, 0, "[float]", NULL, &f));
  fails(c, RAVEL_TYPE, "MAIN leaves INT, which are not the columns of [int]",
        ravel_program(c, NULL, sum_of, 0, "[int]", "[int]", &f));
  fails(c, RAVEL_TYPE, "MAIN takes SEGDES INT, not nothing",
        ravel_program(c, NULL, sum_of, 0, " ", NULL, &f));
  fails(c, RAVEL_TYPE, "pass one as `takes`, as \"[int], [int]\"",
        ravel_program(c, NULL, two_sequences, 0, NULL, "int", &f));
  fails(c, RAVEL_TYPE, "MAIN leaves SEGDES: no type has these columns",
        ravel_program(c, NULL, "FUNC MAIN I INT O SEGDES\nMAKE_SEGDES\nRET\n", 0, NULL, NULL,
                      &f));
  fails(c, RAVEL_TYPE, "but there are 0",
        ravel_program(c, NULL, "FUNC MAIN\nPOP 1 0\nCONST INT 1\nRET\n", 0, "int", NULL, &f));
  fails(c, RAVEL_TYPE, "MAIN leaves nothing",
        ravel_program(c, NULL, "FUNC MAIN\nRET\n", 0, NULL, NULL, &f));
  fails(c, RAVEL_TYPE, "there is no type `flote`",
        ravel_program(c, NULL, sum_of, 0, "[flote]", NULL, &f));
  fails(c, RAVEL_SYNTAX, "<types>:1:5", ravel_program(c, NULL, sum_of, 0, "[int", NULL, &f));
  ravel_context_free(c);
}

/* ---- loading ---- */

Test(program, the_loader_reports_what_it_finds) {
  struct ravel_context *c = program_context(), *narrow;
  struct ravel_function *f;
  fails(c, RAVEL_SYNTAX, "p.vcode:2:1: error:",
        ravel_program(c, "p.vcode", "FUNC MAIN\nADD INT\nRET\n", 0, NULL, NULL, &f));
  fails(c, RAVEL_TYPE, "p.vcode:4:1: error:",
        ravel_program(c, "p.vcode", "FUNC MAIN\nCONST INT 1\nCONST FLOAT 1.0\n+ INT\nRET\n", 0,
                      NULL, NULL, &f));
  fails(c, RAVEL_SYNTAX, "no function", ravel_program(c, NULL, " ", 0, NULL, NULL, &f));
  fails(c, RAVEL_MISUSE, "NULL", ravel_program(c, NULL, NULL, 0, NULL, NULL, &f));
  fails(c, RAVEL_MISUSE, "NULL", ravel_program(c, NULL, sum_of, 0, NULL, NULL, NULL));
  narrow = context_with((const char *const[]){"int", "32", NULL});
  char text[300];
  snprintf(text, sizeof text, "{%% widths INT 64 FLOAT 64 }\n%s", sum_of);
  fine(c, ravel_program(c, NULL, text, 0, NULL, NULL, &f));
  fails(narrow, RAVEL_TYPE,
        "p.vcode is for an INT of 64 bits and a FLOAT of 64; the context has 32",
        ravel_program(narrow, "p.vcode", text, 0, NULL, NULL, &f));
  fine(narrow, ravel_program(narrow, NULL, sum_of, sizeof sum_of - 1, NULL, NULL, &f));
  ravel_context_free(narrow);
  ravel_context_free(c);
}

/* ---- runs ---- */

Test(program, failures_name_their_source) {
  struct ravel_context *c = program_context();
  struct ravel_diagnostic d;
  struct ravel_value *v[] = {program_int_of(c, 0)}, *result;
  struct ravel_function *f = program(
      c, "FUNC MAIN I INT O INT\nCONST INT 6\nCOPY 1 1\n/ INT\nPOP 1 1\nRET\n", NULL, NULL);
  fails(c, RAVEL_RUNTIME, "p.vcode:4:1: error:", ravel_call(c, f, v, 1, &result));
  f = program(c,
              "FUNC MAIN I INT O INT\nCONST INT 6\nCOPY 1 1\n"
              "{@ a.nesl:3:7 half|a.nesl:9:2 }\n/ INT\nPOP 1 1\nRET\n",
              NULL, NULL);
  fails(c, RAVEL_RUNTIME, "a.nesl:3:7: error: Divide by zero.",
        ravel_call(c, f, v, 1, &result));
  cr_assert(ravel_get_diagnostic(c, 1, &d));
  cr_expect_str_eq(d.file, "a.nesl");
  cr_expect_str_eq(d.message, "`half` was called here");
  cr_expect(d.line == 9 && d.column == 2 && d.severity == 2);
  v[0] = program_int_of(c, 2);
  cr_expect_eq(int_of_call(c, f, v[0]), 3);
  f = program(c, "FUNC MAIN I INT O INT\nPOP 1 0\nEXIT\nRET\n", NULL, "int");
  fails(c, RAVEL_RUNTIME, "ended itself by EXIT", ravel_call(c, f, v, 1, &result));
  ravel_context_free(c);
}

Test(program, results_are_values_of_their_type) {
  struct ravel_context *c = program_context();
  struct ravel_value *v[] = {program_int_of(c, 5)}, *result;
  struct ravel_statistics before, after;
  const char *text = "FUNC MAIN I INT O SEGDES INT\nMAKE_SEGDES\nCONST INT (1 2 3)\nRET\n";
  struct ravel_function *f = program(c, text, NULL, NULL);
  cr_expect_eq(ravel_call(c, f, v, 1, &result), RAVEL_RUNTIME); /* constants are made now */
  ravel_get_statistics(c, &before);
  fails(c, RAVEL_RUNTIME, "item 1 of the result of p.vcode has the length 3, and 5",
        ravel_call(c, f, v, 1, &result));
  ravel_get_statistics(c, &after);
  cr_expect_eq(before.live_bytes, after.live_bytes);
  f = program(c, "FUNC MAIN I INT O INT\nPOP 1 0\nCONST INT (1 2)\nRET\n", NULL, NULL);
  fails(c, RAVEL_RUNTIME, "has the length 2, and 1", ravel_call(c, f, v, 1, &result));
  v[0] = program_int_of(c, 3);
  fine(c, ravel_call(c, program(c, text, NULL, NULL), v, 1, &result));
  cr_expect_str_eq(ravel_type(result), "[int]");
  ravel_context_free(c);
}

Test(program, random_numbers_go_on_from_call_to_call) {
  static const char text[] = "FUNC MAIN I INT O INT\nRAND\nRET\n";
  struct ravel_context *c = program_context();
  struct ravel_function *f = program(c, text, NULL, NULL), *g;
  int64_t first[8], second[8];
  for (int i = 0; i < 8; i++) first[i] = int_of_call(c, f, program_int_of(c, 1000000));
  cr_expect_neq(first[0], first[1]);
  ravel_context_free(c);
  c = program_context();
  fine(c, ravel_expression(c, "rand(n)", "n", "int", &g));
  for (int i = 0; i < 8; i++) second[i] = int_of_call(c, g, program_int_of(c, 1000000));
  cr_expect_arr_eq(first, second, sizeof first);
  ravel_context_free(c);
}

/* ---- functions as text ---- */

Test(program, what_is_explained_is_a_program) {
  struct ravel_context *c = program_context();
  const int64_t x[] = {5, -2, 9, 1};
  struct ravel_function *f, *again;
  fine(c, ravel_define(c, "e.nesl",
                       "function sorted(v) = if #v < 2 then v else let p = v[#v / 2]; parts = "
                       "{sorted(w) : w in [{x in v | x < p}, {x in v | x > p}]} in parts[0] ++ "
                       "{x in v | x == p} ++ parts[1];\n"
                       "function scaled(v) = {x * 3 + 1 : x in sorted(v)};",
                       0));
  fine(c, ravel_find(c, "scaled", "[int]", &f));
  char *text = strdup(ravel_explain(c, f));
  cr_expect(strstr(text, "{ OP0: "), "%s", text);
  fine(c, ravel_program(c, "e.fcode", text, 0, "[int]", "[int]", &again));
  struct ravel_value *v[] = {program_ints(c, 4, x)}, *a, *b;
  int64_t got[4], same[4];
  fine(c, ravel_call(c, f, v, 1, &a));
  fine(c, ravel_call(c, again, v, 1, &b));
  fine(c, ravel_copy(c, a, RAVEL_INT64, 0, 4, got));
  fine(c, ravel_copy(c, b, RAVEL_INT64, 0, 4, same));
  cr_expect_arr_eq(got, same, sizeof got);
  cr_expect(got[0] == -5 && got[3] == 28);
  cr_expect_str_eq(ravel_explain(c, NULL), "");
  cr_expect(strstr(ravel_message(c), "NULL"));
  free(text);
  ravel_context_free(c);
}

/* ---- costs ---- */

Test(cost, is_that_of_the_model_and_of_the_compiled_program) {
  struct ravel_context *c = program_context();
  struct ravel_costs costs, more;
  struct ravel_function *f;
  int64_t x[1000] = {0};
  struct ravel_value *v[] = {program_ints(c, 1000, x), program_int_of(c, 3)};
  fine(c, ravel_define(c, NULL, "function dot(v, k) = sum({a * k : a in v});", 0));
  fine(c, ravel_find(c, "dot", "[int], int", &f));
  fine(c, ravel_cost(c, f, v, 2, &costs));
  cr_expect(costs.work >= 2000 && costs.work < 10000, "%g", costs.work);
  cr_expect(costs.depth >= 3 && costs.depth < 30, "%g", costs.depth);
  cr_expect(costs.compiled_work >= 1000 && costs.compiled_work < 10000);
  cr_expect(costs.instructions >= 1 && costs.compiled_steps >= costs.instructions);
  cr_expect(costs.seconds > 0 && costs.seconds < 10);
  fine(c, ravel_define(c, NULL, "function dot(v, k) = 1.5;", 0));
  fine(c, ravel_cost(c, f, v, 2, &more)); /* redefined, but this one is what it was */
  cr_expect_eq(costs.work, more.work);
  fine(c, ravel_expression(c, "sum([1, 2, 3])", NULL, NULL, &f));
  fine(c, ravel_cost(c, f, NULL, 0, &costs));
  cr_expect_gt(costs.work, 3);
  fine(c, ravel_find(c, "sort", "[int]", &f));
  fine(c, ravel_cost(c, f, v, 1, &costs));
  cr_expect_gt(costs.work, 1000);
  fine(c, ravel_cost(c, program(c, sum_of, NULL, NULL), v, 1, &costs));
  cr_expect(isnan(costs.work) && costs.compiled_work >= 1000);
  fails(c, RAVEL_MISUSE, "0 arguments", ravel_cost(c, f, v, 0, &costs));
  fails(c, RAVEL_TYPE, "is int, not [int]", ravel_cost(c, f, v + 1, 1, &costs));
  fails(c, RAVEL_MISUSE, "NULL", ravel_cost(c, f, v, 1, NULL));
  fine(c, ravel_expression(c, "v[7000]", "v", "[int]", &f));
  fails(c, RAVEL_RUNTIME, "<expression>:1:", ravel_cost(c, f, v, 1, &costs));
  ravel_context_free(c);
}

Test(cost, leaves_random_numbers_alone) {
  struct ravel_context *c = program_context();
  struct ravel_costs costs;
  struct ravel_function *f;
  fine(c, ravel_expression(c, "sum({rand(m) : m in dist(1000000, n)})", "n", "int", &f));
  struct ravel_value *v[] = {program_int_of(c, 10)};
  fine(c, ravel_cost(c, f, v, 1, &costs));
  const int64_t x = int_of_call(c, f, v[0]);
  ravel_context_free(c);
  c = program_context();
  fine(c, ravel_expression(c, "sum({rand(m) : m in dist(1000000, n)})", "n", "int", &f));
  cr_expect_eq(int_of_call(c, f, program_int_of(c, 10)), x);
  ravel_context_free(c);
}

/* ---- profiles ---- */

static long number_at(const char *json, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(json, quoted);
  return at ? atol(at + strlen(quoted)) : -1;
}

Test(profile, is_that_of_the_last_call) {
  struct ravel_context *c = context_with((const char *const[]){"profile", "yes", NULL}), *plain;
  struct ravel_function *f;
  static const int64_t x[1000];
  struct ravel_value *v = program_ints(c, 1000, x), *few = program_ints(c, 10, x);
  cr_expect_str_eq(ravel_profile(c), "");
  fine(c, ravel_expression(c, "sum({a * 3 : a in v})", "v", "[int]", &f));
  for (int i = 0; i < 3; i++) int_of_call(c, f, v);
  const char *json = ravel_profile(c);
  cr_expect_eq(number_at(json, "runs"), 1, "%s", json);
  cr_expect(number_at(json, "read") >= 1000 && number_at(json, "read") < 4000, "%s", json);
  cr_expect(strstr(json, "\"formula\""), "%s", json);
  int_of_call(c, f, few);
  json = ravel_profile(c);
  cr_expect(number_at(json, "read") < 100, "%s", json);
  ravel_context_free(c);
  plain = program_context();
  cr_expect_str_eq(ravel_profile(plain), "");
  ravel_context_free(plain);
}
