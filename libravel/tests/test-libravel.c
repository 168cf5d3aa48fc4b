/* test-libravel.c - the library through its header only, as other programs use it. */
#include "context.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- tools ---- */

static struct ravel_context *context(void) {
  return context_with(NULL);
}

static void define(struct ravel_context *c, const char *text) {
  fine(c, ravel_define(c, "test.nesl", text, 0));
}

static struct ravel_function *libravel_find(struct ravel_context *c, const char *name,
                                            const char *types) {
  struct ravel_function *f = NULL;
  fine(c, ravel_find(c, name, types, &f));
  return f;
}

/* Calls with arguments that are released. */
static struct ravel_value *libravel_call(struct ravel_context *c, struct ravel_function *f,
                                         struct ravel_value *a, struct ravel_value *b) {
  struct ravel_value *arguments[] = {a, b}, *result = NULL;
  fine(c, ravel_call(c, f, arguments, b ? 2 : a ? 1 : 0, &result));
  ravel_release(a);
  ravel_release(b);
  return result;
}

static struct ravel_value *int_of(struct ravel_context *c, int64_t x) {
  struct ravel_value *v = NULL;
  fine(c, ravel_int(c, x, &v));
  return v;
}

static int64_t int_in(struct ravel_context *c, struct ravel_value *v) {
  int64_t x = -1;
  fine(c, ravel_get_int(c, v, &x));
  ravel_release(v);
  return x;
}

static struct ravel_value *libravel_ints(struct ravel_context *c, const int64_t *x, size_t n) {
  struct ravel_value *v = NULL;
  fine(c, ravel_vector(c, RAVEL_INT64, x, n, &v));
  return v;
}

static double libravel_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- functions ---- */

Test(libravel, the_example_of_the_header) {
  struct ravel_context *c;
  struct ravel_function *f;
  struct ravel_value *row, *sorted;
  const double data[] = {3.0, 1.0, 2.0};
  double got[3];
  fine(NULL, ravel_context_new(NULL, &c));
  fine(c, ravel_define(c, "sorted.nesl", "function down(v) = reverse(sort(v));", 0));
  fine(c, ravel_find(c, "Down", "[float]", &f));
  fine(c, ravel_vector(c, RAVEL_FLOAT64, data, 3, &row));
  fine(c, ravel_call(c, f, &row, 1, &sorted));
  fine(c, ravel_copy(c, sorted, RAVEL_FLOAT64, 0, 3, got));
  cr_expect(got[0] == 3 && got[1] == 2 && got[2] == 1);
  cr_expect_str_eq(ravel_type(sorted), "[float]");
  cr_expect_str_eq(ravel_function_takes(f), "[float]");
  cr_expect_str_eq(ravel_function_gives(f), "[float]");
  cr_expect_str_eq(ravel_message(c), "");
  ravel_context_free(c);
}

Test(libravel, functions_are_cached_until_they_are_redefined) {
  struct ravel_context *c = context();
  define(c, "k = 10; function ff(x) = x + k; function g(x) = x * 2;");
  struct ravel_function *f = libravel_find(c, "ff", "int"),
                        *again = libravel_find(c, "ff", "int");
  cr_expect_eq(f, again);
  define(c, "function h(x) = x;");
  ravel_function_release(again);
  again = libravel_find(c, "ff", "int");
  cr_expect_eq(f, again, "what f does not need was defined");
  ravel_function_release(again);
  define(c, "k = 20;");
  again = libravel_find(c, "ff", "int");
  cr_expect_neq(f, again);
  cr_expect_eq(int_in(c, libravel_call(c, f, int_of(c, 1), NULL)), 11);
  cr_expect_eq(int_in(c, libravel_call(c, again, int_of(c, 1), NULL)), 21);
  define(c, "function ff(x) = x + 0.5;");
  fails(c, RAVEL_TYPE, "it does not take int", ravel_find(c, "ff", "int", &again));
  fails(c, RAVEL_TYPE, "`ff` is float -> float: it takes arguments, and none was given",
        ravel_find(c, "ff", " ", &again));
  cr_expect_eq(int_in(c, libravel_call(c, f, int_of(c, 2), NULL)), 12);
  ravel_context_free(c);
}

static struct ravel_function *expression(struct ravel_context *c, const char *text,
                                         const char *types) {
  struct ravel_function *f = NULL;
  fine(c, ravel_expression(c, text, "x", types, &f));
  return f;
}

Test(libravel, expressions_are_kept_while_what_they_reach_is_unchanged) {
  struct ravel_context *c = context();
  static const char text[] = "outer(x) + rotated(x, 1)", made[] = "#([] point)";
  define(c, "function rotated(a, b) = 0; k = 1; function inner(x) = x + k;"
            "function outer(x) = inner(x); datatype point(float, float);");
  struct ravel_function *f = expression(c, text, "int"), *g, *h, *data, *pairs;
  fine(c, ravel_expression(c, made, NULL, NULL, &data));
  pairs = expression(c, "#x", "[point]");
  define(c, "function other(x) = x; m = 3;");
  cr_expect_eq(expression(c, text, "int"), f);
  define(c, "k = 20;");
  g = expression(c, text, "int");
  cr_expect_neq(g, f, "what it reaches was changed");
  cr_expect_eq(int_in(c, libravel_call(c, f, int_of(c, 1), NULL)), 2);
  cr_expect_eq(int_in(c, libravel_call(c, g, int_of(c, 1), NULL)), 21);
  cr_expect_eq(expression(c, text, "int"), g);
  define(c, "function rotated(a, b) = 0.5;");
  fails(c, RAVEL_TYPE, "", ravel_expression(c, text, "x", "int", &h));
  fine(c, ravel_expression(c, made, NULL, NULL, &h));
  cr_expect_eq(h, data);
  cr_expect_eq(expression(c, "#x", "[point]"), pairs);
  define(c, "datatype point(int);");
  fine(c, ravel_expression(c, made, NULL, NULL, &h));
  cr_expect_neq(h, data);
  cr_expect_neq(expression(c, "#x", "[point]"), pairs);
  ravel_context_free(c);
}

Test(libravel, large_constants_of_redefined_variables_stay_in_old_functions) {
  struct ravel_context *c = context();
  define(c, "xs = index(100000); function ff(i) = xs[i];");
  struct ravel_function *f = libravel_find(c, "ff", "int");
  for (int i = 0; i < 20; i++) define(c, "xs = reverse(index(100000));");
  cr_expect_eq(int_in(c, libravel_call(c, f, int_of(c, 7), NULL)), 7);
  struct ravel_function *g = libravel_find(c, "ff", "int");
  cr_expect_eq(int_in(c, libravel_call(c, g, int_of(c, 7), NULL)), 99992);
  ravel_context_free(c);
}

Test(libravel, finding) {
  struct ravel_context *c = context();
  struct ravel_function *f;
  define(c, "function ff(x, y) = x + y; function p(a) = a; function more(x) = x + 1;"
            "v = 3; datatype point(float, float);");
  fails(c, RAVEL_TYPE, "did you mean `more`", ravel_find(c, "moree", "int", &f));
  fails(c, RAVEL_TYPE, "name the types", ravel_find(c, "p", NULL, &f));
  fails(c, RAVEL_TYPE, "is a variable", ravel_find(c, "v", "int", &f));
  fails(c, RAVEL_TYPE, "there is no type `flote`", ravel_find(c, "p", "flote", &f));
  fails(c, RAVEL_SYNTAX, "<types>:1:5: error:", ravel_find(c, "p", "[int", &f));
  fails(c, RAVEL_SYNTAX, "<types>:1:5: error:", ravel_find(c, "p", "int int", &f));
  fails(c, RAVEL_TYPE, "functions", ravel_find(c, "p", "int -> int", &f));
  fails(c, RAVEL_MISUSE, "is no name", ravel_find(c, "p(", "int", &f));
  fails(c, RAVEL_MISUSE, "NULL", ravel_find(c, NULL, "int", &f));
  fails(c, RAVEL_MISUSE, "NULL", ravel_find(c, "p", "int", NULL));
  cr_expect_str_eq(ravel_function_takes(libravel_find(c, "more", NULL)), "int");
  cr_expect_str_eq(ravel_function_takes(libravel_find(c, "ff", "int, int")), "int, int");
  cr_expect_str_eq(ravel_function_gives(libravel_find(c, "sort", "[int]")), "[int]");
  cr_expect_str_eq(ravel_function_gives(libravel_find(c, "point", "float, float")), "point");
  cr_expect_eq(int_in(c, libravel_call(c, libravel_find(c, "ff", "int, int"), int_of(c, 3),
                                       int_of(c, 4))),
               7);
  ravel_context_free(c);
}

Test(libravel, expressions) {
  struct ravel_context *c = context();
  struct ravel_function *f, *again;
  const int64_t x[] = {1, 2, 3};
  fine(c, ravel_expression(c, "sum(xs) * k;", "xs, k", "[int], int", &f));
  cr_expect_eq(int_in(c, libravel_call(c, f, libravel_ints(c, x, 3), int_of(c, 7))), 42);
  fine(c, ravel_expression(c, "2 + 3", NULL, NULL, &f));
  cr_expect_eq(int_in(c, libravel_call(c, f, NULL, NULL)), 5);
  fine(c, ravel_expression(c, "2 + 3", NULL, NULL, &again));
  cr_expect_eq(f, again);
  fails(c, RAVEL_SYNTAX, "<expression>:2:1", ravel_expression(c, "2 +", NULL, NULL, &f));
  fails(c, RAVEL_SYNTAX, "", ravel_expression(c, "2; 3", NULL, NULL, &f));
  fails(c, RAVEL_TYPE, "<expression>:1:5", ravel_expression(c, "x + yy", "x", "int", &f));
  fails(c, RAVEL_TYPE, "<expression>:1:2: error:", ravel_expression(c, "#x", "x", "int", &f));
  cr_expect_not(strstr(ravel_message(c), "_expression("), "%s", ravel_message(c));
  fails(c, RAVEL_TYPE, "<types>:1:1: error: there is no type `flote`",
        ravel_expression(c, "x", "x", "flote", &f));
  fails(c, RAVEL_MISUSE, "", ravel_expression(c, "x", "x", NULL, &f));
  fails(c, RAVEL_MISUSE, "", ravel_expression(c, "x", "x) = 1; f(y", "int", &f));
  ravel_context_free(c);
}

/* Parameters and definitions may be called t, f and as what the library itself writes. */
Test(libravel, expressions_with_the_names_of_constants) {
  struct ravel_context *c = context();
  static const char text[] = "if f then 1 else x";
  struct ravel_function *f, *g;
  fine(c, ravel_expression(c, "t * f", "t, f", "int, int", &f));
  cr_expect_eq(int_in(c, libravel_call(c, f, int_of(c, 6), int_of(c, 7))), 42);
  f = expression(c, text, "int");
  cr_expect_eq(int_in(c, libravel_call(c, f, int_of(c, 5), NULL)), 5);
  define(c, "t = 1 == 0;");
  cr_expect_eq(expression(c, text, "int"), f);
  define(c, "f = 1 == 1;");
  g = expression(c, text, "int");
  cr_expect_neq(g, f, "what it names was defined");
  cr_expect_eq(int_in(c, libravel_call(c, g, int_of(c, 5), NULL)), 1);
  fails(c, RAVEL_MISUSE, "cannot be called then, a word of NESL",
        ravel_expression(c, "1", "t, Then", "int, int", &g));
  fine(c, ravel_expression(c, "not_ + index + ins", "not_, index, ins", "int, int, int", &g));
  define(c, "datatype x(int, float);");
  cr_expect_str_eq(ravel_function_gives(libravel_find(c, "x", "int, float")), "x");
  ravel_context_free(c);
}

Test(libravel, functions_of_a_text_call_later_ones) {
  struct ravel_context *c = context();
  define(c, "k = 1; function even(n) = if n == 0 then 1 else odd(n - 1);"
            "function odd(n) = if n == 0 then 0 else even(n - k);");
  cr_expect_eq(int_in(c, libravel_call(c, libravel_find(c, "even", "int"), int_of(c, 6), NULL)),
               1);
  cr_expect_eq(int_in(c, libravel_call(c, libravel_find(c, "odd", "int"), int_of(c, 6), NULL)),
               0);
  fails(c, RAVEL_TYPE, "error: `+` wants two numbers",
        ravel_define(c, "test.nesl", "function a(x) = b(x); function b(x) = x + \"a\";", 0));
  fails(c, RAVEL_TYPE, "test.nesl:1:1: note: `b` is checked here already",
        ravel_define(c, "test.nesl", "function a(x) = b(x); m = 1; function b(x) = x + m;", 0));
  fails(c, RAVEL_TYPE, "`even2` is not defined; did you mean `even`?",
        ravel_define(c, "test.nesl", "function uses(x) = even2(x);", 0));
  ravel_context_free(c);
}

/* Operators are no mention of the names that a program has for their functions. */
Test(libravel, names_of_the_library_that_a_program_has) {
  struct ravel_context *c = context();
  const int64_t x[] = {1, 2, 3};
  struct ravel_function *f = expression(c, "#x + x[0]", "[int]"), *g;
  struct ravel_function *named = expression(c, "length(x)", "[int]");
  define(c, "function length(v) = 70; elt = 3;");
  g = expression(c, "#x + x[0]", "[int]");
  cr_expect_eq(int_in(c, libravel_call(c, f, libravel_ints(c, x, 3), NULL)), 4);
  cr_expect_eq(int_in(c, libravel_call(c, g, libravel_ints(c, x, 3), NULL)), 4);
  define(c, "other = 3;");
  cr_expect_eq(expression(c, "#x + x[0]", "[int]"), g);
  cr_expect_neq(expression(c, "length(x)", "[int]"), named);
  g = expression(c, "length(x) + elt", "[int]");
  cr_expect_eq(int_in(c, libravel_call(c, g, libravel_ints(c, x, 3), NULL)), 73);
  for (int i = 0; i < 5; i++) define(c, i % 2 ? "length = 1.5;" : "length = [1];");
  fails(c, RAVEL_TYPE, "", ravel_expression(c, "length(x) + elt", "x", "[int]", &g));
  g = expression(c, "#x + x[0]", "[int]");
  cr_expect_eq(int_in(c, libravel_call(c, g, libravel_ints(c, x, 3), NULL)), 4);
  ravel_context_free(c);
}

Test(libravel, definitions_before_an_error_stay) {
  struct ravel_context *c = context();
  fails(c, RAVEL_TYPE, "test.nesl:2:17: error: `undefined` is not defined",
        ravel_define(c, "test.nesl", "function ff(x) = x + 1;\nfunction g(x) = undefined(x);",
                     0));
  libravel_find(c, "ff", "int");
  fails(c, RAVEL_SYNTAX, "", ravel_define(c, NULL, "function ff(x", 0));
  fails(c, RAVEL_SYNTAX, "command", ravel_define(c, NULL, "load \"x.nesl\";", 0));
  fails(c, RAVEL_MISUSE, "NULL", ravel_define(c, NULL, NULL, 0));
  fails(c, RAVEL_DATA, "No such file", ravel_load(c, "/nowhere/x.nesl"));
  define(c, "");
  ravel_context_free(c);
}

Test(libravel, failures_name_the_source) {
  struct ravel_context *c = context();
  struct ravel_diagnostic d;
  struct ravel_value *v[] = {int_of(c, 9)}, *result;
  define(c, "function at(i) = [1, 2, 3][i];\nfunction twice(i) =\n  at(i) * 2;\n");
  fails(c, RAVEL_RUNTIME,
        "test.nesl:1:", ravel_call(c, libravel_find(c, "twice", "int"), v, 1, &result));
  cr_assert(ravel_get_diagnostic(c, 0, &d));
  cr_expect_str_eq(d.file, "test.nesl");
  cr_expect_eq(d.line, 1);
  cr_expect_eq(d.severity, 0);
  cr_assert(ravel_get_diagnostic(c, 1, &d));
  cr_expect_eq(d.severity, 2);
  cr_expect_eq(d.line, 3);
  cr_expect_not(ravel_get_diagnostic(c, 100, &d));
  define(c, "function divided(i) = 1 / i;");
  v[0] = int_of(c, 0);
  fails(c, RAVEL_RUNTIME, "Divide by zero",
        ravel_call(c, libravel_find(c, "divided", "int"), v, 1, &result));
  define(c, "function endless(i) = if i < 0 then i else endless(i + 1) + 1;");
  struct ravel_context *shallow = context_with((const char *const[]){"depth", "100", NULL});
  define(shallow, "function endless(i) = if i < 0 then i else endless(i + 1) + 1;");
  v[0] = int_of(shallow, 0);
  fails(shallow, RAVEL_LIMIT, "calls",
        ravel_call(shallow, libravel_find(shallow, "endless", "int"), v, 1, &result));
  ravel_context_free(shallow);
  ravel_context_free(c);
}

Test(libravel, failures_name_the_elements) {
  struct ravel_context *c = context();
  struct ravel_diagnostic d;
  struct ravel_value *v[] = {int_of(c, 3)}, *result;
  struct ravel_function *f;
  cr_assert_eq(
      ravel_expression(c, "{{6 / (x - i) : x in [2, 3]} : y in [5, 6]}", "i", "int", &f),
      RAVEL_OK);
  fails(c, RAVEL_RUNTIME, "Divide by zero", ravel_call(c, f, v, 1, &result));
  static const char *const notes[] = {"the element of index 1", "the element of index 0"};
  for (size_t i = 0; i < 2; i++) {
    cr_assert(ravel_get_diagnostic(c, 1 + i, &d));
    cr_expect_eq(d.severity, 2);
    cr_expect_eq(d.column, 2 - i);
    cr_expect(strstr(d.message, notes[i]), "%s", d.message);
  }
  cr_expect_not(ravel_get_diagnostic(c, 3, &d));
  ravel_function_release(f);
  ravel_context_free(c);
}

Test(libravel, calls_in_misuse) {
  struct ravel_context *c = context(), *other = context();
  struct ravel_value *v[] = {int_of(c, 1), int_of(c, 2)}, *result;
  define(c, "function more(x) = x + 1;");
  struct ravel_function *f = libravel_find(c, "more", "int");
  fails(c, RAVEL_MISUSE, "2 arguments", ravel_call(c, f, v, 2, &result));
  fails(c, RAVEL_MISUSE, "0 arguments", ravel_call(c, f, v, 0, &result));
  fails(c, RAVEL_MISUSE, "NULL", ravel_call(c, NULL, v, 1, &result));
  fails(c, RAVEL_MISUSE, "NULL", ravel_call(c, f, v, 1, NULL));
  fails(other, RAVEL_MISUSE, "another context", ravel_call(other, f, v, 1, &result));
  cr_expect_eq(ravel_call(NULL, f, v, 1, &result), RAVEL_MISUSE);
  v[0] = int_of(other, 1);
  fails(c, RAVEL_MISUSE, "another context", ravel_call(c, f, v, 1, &result));
  v[0] = NULL;
  fails(c, RAVEL_MISUSE, "NULL", ravel_call(c, f, v, 1, &result));
  fine(c, ravel_float(c, 1.5, &v[0]));
  fails(c, RAVEL_TYPE, "argument 1 is float, not int", ravel_call(c, f, v, 1, &result));
  ravel_function_release(f);
  ravel_function_release(NULL);
  ravel_release(NULL);
  ravel_context_free(other);
  ravel_context_free(c);
  ravel_context_free(NULL);
}

/* ---- values ---- */

#define ROUND_TRIP(c, element, type, ...)                                                      \
  do {                                                                                         \
    const type data[] = {__VA_ARGS__};                                                         \
    enum { N = sizeof data / sizeof data[0] };                                                 \
    char odd[sizeof data + 1], back[sizeof data];                                              \
    struct ravel_value *v;                                                                     \
    memcpy(odd + 1, data, sizeof data);                                                        \
    fine(c, ravel_vector(c, element, odd + 1, N, &v));                                         \
    fine(c, ravel_copy(c, v, element, 0, N, back));                                            \
    cr_expect_arr_eq(back, data, sizeof data, #element);                                       \
    fine(c, ravel_copy(c, v, element, 1, N - 1, back));                                        \
    cr_expect_arr_eq(back, data + 1, sizeof data - sizeof data[0]);                            \
    fails(c, RAVEL_MISUSE, "of a sequence of", ravel_copy(c, v, element, 1, N, back));         \
    ravel_release(v);                                                                          \
  } while (0)

static void round_trips(struct ravel_context *c) {
  ROUND_TRIP(c, RAVEL_BOOL8, uint8_t, 0, 1, 1, 0);
  ROUND_TRIP(c, RAVEL_INT8, int8_t, -128, 127, 0);
  ROUND_TRIP(c, RAVEL_INT16, int16_t, INT16_MIN, INT16_MAX, -1);
  ROUND_TRIP(c, RAVEL_INT32, int32_t, INT32_MIN, INT32_MAX, -1);
  ROUND_TRIP(c, RAVEL_UINT8, uint8_t, 0, 255, 7);
  ROUND_TRIP(c, RAVEL_UINT16, uint16_t, 0, UINT16_MAX);
  ROUND_TRIP(c, RAVEL_UINT32, uint32_t, 0, INT32_MAX);
  ROUND_TRIP(c, RAVEL_FLOAT32, float, 0.5f, -3e38f, INFINITY);
  ROUND_TRIP(c, RAVEL_CHAR8, uint8_t, 'a', 0, 255);
}

Test(libravel, every_kind_of_element_goes_in_and_out) {
  struct ravel_context *c = context();
  round_trips(c);
  ROUND_TRIP(c, RAVEL_UINT32, uint32_t, 1, UINT32_MAX);
  ROUND_TRIP(c, RAVEL_INT64, int64_t, INT64_MIN, INT64_MAX, -1);
  ROUND_TRIP(c, RAVEL_FLOAT64, double, 0.1, -1e308, INFINITY);
  ravel_context_free(c);
}

Test(libravel, narrow_widths_refuse_what_they_do_not_hold) {
  struct ravel_context *c =
      context_with((const char *const[]){"int", "32", "float", "32", NULL});
  int64_t *data = calloc(10000, sizeof *data);
  struct ravel_value *v;
  round_trips(c);
  data[9000] = INT64_C(1) << 40;
  fails(c, RAVEL_DATA, "element 9000, 1099511627776",
        ravel_vector(c, RAVEL_INT64, data, 10000, &v));
  data[9000] = INT32_MIN;
  fine(c, ravel_vector(c, RAVEL_INT64, data, 10000, &v));
  fails(c, RAVEL_DATA, "does not fit", ravel_int(c, INT64_C(1) << 31, &v));
  free(data);
  ravel_context_free(c);
}

Test(libravel, values_are_converted_unless_they_would_change) {
  struct ravel_context *c = context();
  struct ravel_value *v;
  int64_t x;
  double d;
  bool b;
  int8_t small[3];
  const double data[] = {1, 2, 300};
  fine(c, ravel_float(c, 3.0, &v));
  fine(c, ravel_get_int(c, v, &x));
  cr_expect_eq(x, 3);
  fine(c, ravel_float(c, 3.5, &v));
  fails(c, RAVEL_DATA, "element 0", ravel_get_int(c, v, &x));
  fine(c, ravel_int(c, (INT64_C(1) << 53) + 1, &v));
  fails(c, RAVEL_DATA, "element 0", ravel_get_float(c, v, &d));
  fine(c, ravel_int(c, INT64_MAX, &v));
  fails(c, RAVEL_DATA, "element 0", ravel_get_float(c, v, &d));
  fine(c, ravel_bool(c, true, &v));
  fine(c, ravel_get_bool(c, v, &b));
  cr_expect(b);
  fine(c, ravel_vector(c, RAVEL_FLOAT64, data, 3, &v));
  fine(c, ravel_copy(c, v, RAVEL_INT8, 0, 2, small));
  fails(c, RAVEL_DATA, "element 2", ravel_copy(c, v, RAVEL_INT8, 0, 3, small));
  fails(c, RAVEL_MISUSE, "is no scalar", ravel_get_int(c, v, &x));
  fails(c, RAVEL_MISUSE, "no ravel_element", ravel_vector(c, 77, data, 1, &v));
  fails(c, RAVEL_MISUSE, "NULL", ravel_vector(c, RAVEL_INT64, NULL, 1, &v));
  fine(c, ravel_vector(c, RAVEL_INT64, NULL, 0, &v));
  ravel_context_free(c);
}

Test(libravel, nested_sequences_and_tuples_share) {
  struct ravel_context *c = context();
  const int64_t x[] = {1, 2, 3, 4, 5, 6}, lengths[] = {2, 0, 4};
  const int64_t negative[] = {1, -1}, short_of[] = {2, 3};
  int64_t got[6];
  size_t n;
  struct ravel_value *flat = libravel_ints(c, x, 6), *rows, *pair, *part, *sums;
  fine(c, ravel_nested(c, lengths, 3, flat, &rows));
  cr_expect_str_eq(ravel_type(rows), "[[int]]");
  ravel_release(flat);
  struct ravel_function *f;
  fine(c, ravel_expression(c, "{sum(r) : r in rows}", "rows", "[[int]]", &f));
  fine(c, ravel_call(c, f, &rows, 1, &sums));
  fine(c, ravel_copy(c, sums, RAVEL_INT64, 0, 3, got));
  cr_expect(got[0] == 3 && got[1] == 0 && got[2] == 18);
  fine(c, ravel_tuple(c, (struct ravel_value *[]){sums, rows, int_of(c, 5)}, 3, &pair));
  cr_expect_str_eq(ravel_type(pair), "[int], [[int]], int");
  ravel_release(sums);
  ravel_release(rows);
  fine(c, ravel_length(c, pair, &n));
  cr_expect_eq(n, 3);
  fine(c, ravel_component(c, pair, 1, &part));
  cr_expect_str_eq(ravel_type(part), "[[int]]");
  fine(c, ravel_length(c, part, &n));
  cr_expect_eq(n, 3);
  fine(c, ravel_component(c, part, 1, &flat));
  fine(c, ravel_copy(c, flat, RAVEL_INT64, 0, 3, got));
  cr_expect_arr_eq(got, lengths, sizeof lengths);
  fine(c, ravel_component(c, part, 0, &flat));
  fine(c, ravel_copy(c, flat, RAVEL_INT64, 0, 6, got));
  cr_expect_arr_eq(got, x, sizeof x);
  fails(c, RAVEL_MISUSE, "components 0", ravel_component(c, part, 2, &flat));
  fails(c, RAVEL_MISUSE, "no component 3", ravel_component(c, pair, 3, &flat));
  fine(c, ravel_component(c, part, 0, &flat));
  fails(c, RAVEL_DATA, "row 1 is negative", ravel_nested(c, negative, 2, flat, &rows));
  fails(c, RAVEL_DATA, "have 5 elements, and there are 6",
        ravel_nested(c, short_of, 2, flat, &rows));
  fails(c, RAVEL_MISUSE, "two components", ravel_tuple(c, &flat, 1, &pair));
  fine(c, ravel_expression(c, "{(i, float(i)) : i in index(n)}", "n", "int", &f));
  pair = libravel_call(c, f, int_of(c, 4), NULL);
  cr_expect_str_eq(ravel_type(pair), "[(int, float)]");
  fine(c, ravel_component(c, pair, 1, &part));
  cr_expect_str_eq(ravel_type(part), "[float]");
  fine(c, ravel_component(c, pair, 0, &part));
  fine(c, ravel_copy(c, part, RAVEL_INT64, 0, 4, got));
  cr_expect(got[0] == 0 && got[3] == 3);
  ravel_context_free(c);
}

Test(libravel, datatypes_have_contents) {
  struct ravel_context *c = context();
  struct ravel_value *v, *part;
  double x;
  define(c, "datatype point(float, float); function make(x) = point(x, x + 1.0);");
  fine(c, ravel_float(c, 2.0, &v));
  v = libravel_call(c, libravel_find(c, "make", "float"), v, NULL);
  cr_expect_str_eq(ravel_type(v), "point");
  fine(c, ravel_component(c, v, 0, &part));
  cr_expect_str_eq(ravel_type(part), "float, float");
  fine(c, ravel_component(c, part, 1, &part));
  fine(c, ravel_get_float(c, part, &x));
  cr_expect_eq(x, 3.0);
  ravel_context_free(c);
}

/* ---- options ---- */

Test(libravel, options) {
  struct ravel_options *o = ravel_options_new();
  cr_expect_eq(ravel_options_set(o, "colour", "red"), RAVEL_MISUSE);
  cr_expect_eq(ravel_options_set(o, "int", "16"), RAVEL_MISUSE);
  cr_expect_eq(ravel_options_set(o, "backend", "abacus"), RAVEL_MISUSE);
  cr_expect_eq(ravel_options_set(o, "time", "1e"), RAVEL_MISUSE);
  cr_expect_eq(ravel_options_set(o, "threads", "-1"), RAVEL_MISUSE);
  cr_expect_eq(ravel_options_set(o, "files", "maybe"), RAVEL_MISUSE);
  cr_expect_eq(ravel_options_set(NULL, "int", "32"), RAVEL_MISUSE);
  cr_expect_str_eq(ravel_options_message(o), "the option files takes yes or no, not 'maybe'");
  cr_expect_eq(ravel_options_set(o, "colours", "red"), RAVEL_MISUSE);
  cr_expect_str_eq(
      ravel_options_message(o),
      "there is no option 'colours'; there are backend, threads, memory, time, int, "
      "float, seed, depth, chunks, procedures, spool, optimise, kernels, profile, files, "
      "processes, compiler, zig");
  cr_expect_eq(ravel_options_set(o, "procedures", "sometimes"), RAVEL_MISUSE);
  cr_expect_eq(ravel_options_set(o, "procedures", "always"), RAVEL_OK);
  cr_expect_eq(ravel_options_set(o, "time", "2.5"), RAVEL_OK);
  cr_expect_str_eq(ravel_options_message(o), "");
  cr_expect_str_eq(ravel_options_message(NULL), "");
  cr_expect_eq(ravel_options_set(o, "memory", "500M"), RAVEL_OK);
  cr_expect_eq(ravel_options_set(o, "memory", "0"), RAVEL_OK);
  ravel_options_free(o);
  ravel_options_free(NULL);
}

Test(libravel, a_context_without_memory_for_it_can_say_so) {
  struct ravel_options *o = ravel_options_new();
  struct ravel_context *c;
  struct ravel_value *v;
  ravel_options_set(o, "backend", "cpu");
  ravel_options_set(o, "memory", "100K");
  cr_assert_eq(ravel_context_new(o, &c), RAVEL_MEMORY);
  cr_expect(strstr(ravel_message(c), "out of memory"), "%s", ravel_message(c));
  cr_expect_eq(ravel_int(c, 1, &v), RAVEL_MISUSE);
  ravel_context_free(c);
  ravel_options_free(o);
}

Test(libravel, memory_of_vectors_is_limited_and_the_context_goes_on) {
  struct ravel_context *c = context_with((const char *const[]){"memory", "64M", NULL});
  struct ravel_value *v[1], *result;
  define(c, "function long(n) = sum({i * i : i in sort(index(n))});");
  struct ravel_function *f = libravel_find(c, "long", "int");
  v[0] = int_of(c, 100000000);
  fails(c, RAVEL_MEMORY, "memory", ravel_call(c, f, v, 1, &result));
  cr_expect_eq(int_in(c, libravel_call(c, f, int_of(c, 4), NULL)), 14);
  ravel_context_free(c);
}

static size_t allocated(void) {
  const struct mallinfo2 m = mallinfo2(); /* all 0 under sanitizers */
  return m.uordblks + m.hblkhd;
}

/* A function of this size takes 0.75 MB to compile, and less than half of that afterwards. */
Test(libravel, functions_keep_only_their_programs) {
  enum { COUNT = 20, MOST = 450000 }; /* bytes */
  struct ravel_context *c = context_with((const char *const[]){"threads", "1", NULL});
  const int64_t x[] = {3, 1, 2};
  define(c, "function halves(v) = if #v < 2 then v else let p = v[#v / 2]; parts = {halves(w) :"
            " w in [{x in v | x < p}, {x in v | x > p}]} in parts[0] ++ {x in v | x == p} ++"
            " parts[1];");
  const size_t before = allocated();
  for (int i = 0; i < COUNT; i++) {
    char text[64];
    struct ravel_function *f;
    snprintf(text, sizeof text, "sum(halves(v)) + %d", i);
    fine(c, ravel_expression(c, text, "v", "[int]", &f));
    cr_assert_eq(int_in(c, libravel_call(c, f, libravel_ints(c, x, 3), NULL)), 6 + i);
  }
  cr_expect_lt((allocated() - before) / COUNT, MOST);
  ravel_context_free(c);
}

/* ---- stopping and watching ---- */

/* Seconds within which a call that should end has ended, however busy the machine is. */
enum { PATIENCE = 5 };

static const char sorting[] =
    "function work(n) = sum(sort({mod(i * 7919, 10007) : i in index(n)}));";
static const char endless[] =
    "function forever(i) = if i < 0 then i else forever(mod(i + 1, 7));";

static void *interrupt_soon(void *context) {
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  ravel_interrupt(context);
  return NULL;
}

Test(libravel, another_thread_interrupts) {
  struct ravel_context *c = context();
  struct ravel_value *v[] = {int_of(c, 1)}, *result;
  pthread_t thread;
  define(c, endless);
  define(c, "function more(x) = x + 1;");
  struct ravel_function *f = libravel_find(c, "forever", "int"),
                        *one = libravel_find(c, "more", "int");
  pthread_create(&thread, NULL, interrupt_soon, c);
  const double start = libravel_now();
  fails(c, RAVEL_INTERRUPTED, "interrupted", ravel_call(c, f, v, 1, &result));
  cr_expect_lt(libravel_now() - start, PATIENCE);
  pthread_join(thread, NULL);
  cr_expect_eq(int_in(c, libravel_call(c, one, int_of(c, 1), NULL)), 2);
  ravel_interrupt(c);
  fails(c, RAVEL_INTERRUPTED, "interrupted", ravel_call(c, one, v, 1, &result));
  cr_expect_eq(int_in(c, libravel_call(c, one, int_of(c, 1), NULL)), 2);
  ravel_context_free(c);
}

Test(libravel, a_late_interrupt_is_forgotten) {
  struct ravel_context *c = context();
  struct ravel_value *v[] = {int_of(c, 1)}, *result;
  define(c, "function more(x) = x + 1;");
  struct ravel_function *one = libravel_find(c, "more", "int");
  ravel_interrupt(c);
  ravel_clear_interrupt(c);
  cr_expect_eq(int_in(c, libravel_call(c, one, int_of(c, 1), NULL)), 2);
  ravel_clear_interrupt(c);
  ravel_interrupt(c);
  fails(c, RAVEL_INTERRUPTED, "interrupted", ravel_call(c, one, v, 1, &result));
  ravel_clear_interrupt(NULL);
  ravel_context_free(c);
}

/* The last code is the last of the table. */
Test(libravel, codes_have_names) {
  cr_expect_str_eq(ravel_code_name(RAVEL_OK), "RAVEL_OK");
  cr_expect_str_eq(ravel_code_name(RAVEL_INTERNAL), "RAVEL_INTERNAL");
  cr_expect_str_eq(ravel_code_text(RAVEL_MEMORY), "out of memory");
  for (int code = RAVEL_OK; code <= RAVEL_INTERNAL; code++) {
    cr_expect_eq(strncmp(ravel_code_name((enum ravel_code)code), "RAVEL_", 6), 0);
    cr_expect_gt(strlen(ravel_code_text((enum ravel_code)code)), 5);
  }
  cr_expect_str_eq(ravel_code_name((enum ravel_code)(RAVEL_INTERNAL + 1)), "unknown code");
  cr_expect_str_eq(ravel_code_text((enum ravel_code) - 1), "unknown code");
}

Test(libravel, the_header_has_the_version_of_the_library) {
  int major, minor, patch;
  cr_expect_str_eq(ravel_version(), RAVEL_VERSION);
  cr_assert_eq(sscanf(RAVEL_VERSION, "%d.%d.%d", &major, &minor, &patch), 3);
  cr_expect_eq(10000 * major + 100 * minor + patch, RAVEL_VERSION_NUMBER);
}

Test(libravel, time_is_limited) {
  struct ravel_context *c =
      context_with((const char *const[]){"time", "1.5", "depth", "2000000000", NULL});
  struct ravel_value *v[] = {int_of(c, 1)}, *result;
  define(c, endless);
  const double start = libravel_now();
  fails(c, RAVEL_LIMIT, "1.5 seconds",
        ravel_call(c, libravel_find(c, "forever", "int"), v, 1, &result));
  cr_expect_lt(libravel_now() - start, PATIENCE);
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  ravel_release(int_of(c, 1));
  define(c, "function more(x) = x + 1;");
  ravel_context_free(c);
}

struct watched {
  struct ravel_context *c;
  double last, longest;
  unsigned calls, most;
};

static bool watch(void *data) {
  struct watched *w = data;
  struct ravel_value *v;
  const double time = libravel_now();
  if (time - w->last > w->longest) w->longest = time - w->last;
  w->last = time;
  cr_expect_eq(ravel_int(w->c, 1, &v), RAVEL_MISUSE);
  return ++w->calls < w->most;
}

Test(libravel, progress_is_shown_during_a_long_operation) {
  struct ravel_context *c = context();
  struct watched w = {.c = c, .most = 1000000};
  struct ravel_value *v[] = {int_of(c, 10000000)}, *result;
  define(c, sorting);
  define(c, endless);
  struct ravel_function *f = libravel_find(c, "work", "int"),
                        *forever = libravel_find(c, "forever", "int");
  ravel_on_progress(c, watch, &w);
  w.last = libravel_now();
  const double start = libravel_now();
  fine(c, ravel_call(c, f, v, 1, &result));
  const double seconds = libravel_now() - start;
  cr_expect(seconds < 0.3 || w.calls > 0);
  cr_expect_lt(w.longest, PATIENCE, "%g s without a call", w.longest);
  w.most = w.calls + 1;
  v[0] = int_of(c, 1);
  fails(c, RAVEL_INTERRUPTED, "interrupted", ravel_call(c, forever, v, 1, &result));
  ravel_on_progress(c, NULL, NULL);
  ravel_context_free(c);
}

/* ---- threads ---- */

static void *use_own_context(void *number) {
  struct ravel_context *c = context_with((const char *const[]){"threads", "1", NULL});
  const int64_t n = (int64_t)(intptr_t)number;
  define(c, "function sums(n) = sum(index(n));");
  for (int i = 0; i < 20; i++) {
    const int64_t got =
        int_in(c, libravel_call(c, libravel_find(c, "sums", "int"), int_of(c, n + i), NULL));
    cr_expect_eq(got, (n + i) * (n + i - 1) / 2);
  }
  ravel_context_free(c);
  return NULL;
}

Test(libravel, eight_threads_with_a_context_each) {
  pthread_t threads[8];
  for (intptr_t i = 0; i < 8; i++) {
    pthread_create(&threads[i], NULL, use_own_context, (void *)(i * 1000 + 5));
  }
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
}

static void *use_context(void *context) {
  struct ravel_context *c = context;
  return (void *)(intptr_t)int_in(
      c, libravel_call(c, libravel_find(c, "sums", "int"), int_of(c, 5), NULL));
}

Test(libravel, a_context_is_handed_from_thread_to_thread) {
  struct ravel_context *c = context();
  define(c, "function sums(n) = sum(index(n));");
  for (int i = 0; i < 5; i++) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, use_context, c);
    pthread_join(thread, &result);
    cr_expect_eq((intptr_t)result, 10);
  }
  ravel_context_free(c);
}

Test(libravel, values_leave_nothing_behind) {
  struct ravel_context *c = context();
  struct ravel_statistics before, after;
  ravel_get_statistics(c, &before);
  int64_t *data = calloc(100000, sizeof *data);
  for (int i = 0; i < 50; i++) ravel_release(libravel_ints(c, data, 100000));
  ravel_get_statistics(c, &after);
  cr_expect_eq(before.live_bytes, after.live_bytes);
  cr_expect_geq(after.peak_bytes, 800000);
  free(data);
  ravel_context_free(c);
}
