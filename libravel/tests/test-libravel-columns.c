/* test-libravel-columns.c - calls on columns, results as columns, functions kept by a key. */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEW = 8 };

static struct ravel_function *columns_define(struct ravel_context *c, const char *text) {
  struct ravel_function *f = NULL;
  fine(c, ravel_define(c, "columns.nesl", text, 0));
  fine(c, ravel_find(c, "go", NULL, &f));
  return f;
}

static const int64_t lengths[] = {2, 0, 1}, numbers[] = {10, 20, 30};
static const double reals[] = {0.5, 1.5, 2.5};

static struct ravel_column columns_column(enum ravel_element element, const void *data,
                                          size_t length) {
  return (struct ravel_column){element, data, length};
}

Test(columns, of_every_kind_of_type_there_and_back) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f = columns_define(
      c, "datatype point(float, float);\n"
         "function go(a, b, s, v, p) : (int, bool, [char], [(int, [float])], point) -> "
         "([(int, [float])], [char], bool, int, point) = (v, s, b, a, p);");
  const int32_t a = -7;
  const bool b = true;
  const double x = 0.25, y = 4;
  const struct ravel_column in[] = {
      columns_column(RAVEL_INT32, &a, 1),      columns_column(RAVEL_BOOL8, &b, 1),
      columns_column(RAVEL_CHAR8, "text", 4),  columns_column(RAVEL_INT64, numbers, 3),
      columns_column(RAVEL_INT64, lengths, 3), columns_column(RAVEL_FLOAT64, reals, 3),
      columns_column(RAVEL_FLOAT64, &x, 1),    columns_column(RAVEL_FLOAT64, &y, 1)};
  struct ravel_column out[FEW] = {{RAVEL_INT16, NULL, 0},   {RAVEL_INT64, NULL, 0},
                                  {RAVEL_FLOAT32, NULL, 0}, {RAVEL_CHAR8, NULL, 0},
                                  {RAVEL_BOOL8, NULL, 0},   {RAVEL_INT64, NULL, 0},
                                  {RAVEL_FLOAT64, NULL, 0}, {RAVEL_FLOAT64, NULL, 0}};
  struct ravel_value *v = NULL;
  void *block = NULL;
  size_t count = 0;
  fine(c, ravel_call_columns(c, f, in, FEW, &v));
  fine(c, ravel_column_count(c, v, &count));
  cr_assert_eq(count, FEW);
  fine(c, ravel_columns(c, v, out, FEW, &block));
  cr_expect_eq(out[0].data, block, "the first column that is no scalar");
  cr_expect(out[0].length == 3 && ((const int16_t *)out[0].data)[2] == 30);
  cr_expect(out[1].length == 3 && memcmp(out[1].data, lengths, sizeof lengths) == 0);
  cr_expect(out[2].length == 3 && ((const float *)out[2].data)[1] == 1.5F);
  cr_expect(out[3].length == 4 && memcmp(out[3].data, "text", 4) == 0);
  cr_expect(out[4].length == 1 && *(const bool *)out[4].data);
  cr_expect_eq(*(const int64_t *)out[5].data, -7);
  cr_expect(*(const double *)out[6].data == 0.25 && *(const double *)out[7].data == 4);
  free(block);
  ravel_release(v);
  ravel_context_free(c);
}

Test(columns, a_block_of_scalars_and_empty_sequences) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f =
      columns_define(c, "function go(n, v) : (int, [[int]]) -> (int, [[int]]) = (n, v);");
  const int64_t n = 5;
  const struct ravel_column in[] = {columns_column(RAVEL_INT64, &n, 1),
                                    columns_column(RAVEL_INT64, NULL, 0),
                                    columns_column(RAVEL_INT64, NULL, 0)};
  struct ravel_column out[3] = {
      {RAVEL_INT64, NULL, 0}, {RAVEL_INT64, NULL, 0}, {RAVEL_INT64, NULL, 0}};
  struct ravel_value *v = NULL;
  void *block = NULL;
  fine(c, ravel_call_columns(c, f, in, 3, &v));
  fine(c, ravel_columns(c, v, out, 3, &block));
  cr_expect(out[1].length == 0 && out[2].length == 0 && out[1].data == block && block);
  cr_expect_eq(*(const int64_t *)out[0].data, 5);
  free(block);
  ravel_context_free(c);
}

Test(columns, what_does_not_fit_is_refused) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f =
      columns_define(c, "function go(v, w) : ([[int]], [(int, float)]) -> int = #v + #w;");
  const int64_t negative[] = {2, -1, 2};
  struct ravel_column good[] = {
      columns_column(RAVEL_INT64, lengths, 3), columns_column(RAVEL_INT64, numbers, 3),
      columns_column(RAVEL_INT64, numbers, 2), columns_column(RAVEL_FLOAT64, reals, 2)};
  struct ravel_value *v = NULL;
  fine(c, ravel_call_columns(c, f, good, 4, &v));
  const struct {
    unsigned number;
    struct ravel_column column;
    enum ravel_code code;
    const char *says;
  } wrong[] = {
      {0,
       {RAVEL_INT64, negative, 3},
       RAVEL_DATA,
       "column 0 of ([[int]], [(int, float)]): the "
       "length -1 at position 1 is negative"},
      {0, {RAVEL_INT32, lengths, 3}, RAVEL_TYPE, "lengths are RAVEL_INT64"},
      {1,
       {RAVEL_INT64, numbers, 2},
       RAVEL_DATA,
       "column 1 of ([[int]], [(int, float)]) has 2 "
       "elements, and 3 are expected"},
      {1,
       {RAVEL_FLOAT64, reals, 3},
       RAVEL_TYPE,
       "column 1 of ([[int]], [(int, float)]) is of int"},
      {3, {RAVEL_FLOAT64, reals, 3}, RAVEL_DATA, "column 3 of ([[int]], [(int, float)]) has 3"},
      {3, {RAVEL_FLOAT64, NULL, 2}, RAVEL_MISUSE, "a pointer is NULL"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const struct ravel_column before = good[wrong[i].number];
    struct ravel_value *unset = NULL;
    good[wrong[i].number] = wrong[i].column;
    fails(c, wrong[i].code, wrong[i].says, ravel_call_columns(c, f, good, 4, &unset));
    cr_expect_null(unset);
    good[wrong[i].number] = before;
  }
  fails(c, RAVEL_MISUSE, "3 columns for the 4 of", ravel_call_columns(c, f, good, 3, &v));
  struct ravel_column out[2] = {{RAVEL_CHAR8, NULL, 0}, {RAVEL_CHAR8, NULL, 0}};
  void *block = NULL;
  fails(c, RAVEL_TYPE, "column 0 of int", ravel_columns(c, v, out, 1, &block));
  fails(c, RAVEL_MISUSE, "2 columns for the 1 of int", ravel_columns(c, v, out, 2, &block));
  cr_expect_null(block);
  ravel_context_free(c);
}

Test(columns, values_that_would_change_are_refused) {
  struct ravel_context *c = context_with((const char *[]){"int", "32", NULL});
  struct ravel_function *f = columns_define(c, "function go(n) : int -> [int] = [n, 300];");
  const int64_t wide = 1LL << 40, narrow = 4;
  struct ravel_column in = columns_column(RAVEL_INT64, &wide, 1), out = {RAVEL_INT8, NULL, 0};
  struct ravel_value *v = NULL;
  void *block = NULL;
  fails(c, RAVEL_DATA, "1099511627776, does not fit an INT of 32 bits",
        ravel_call_columns(c, f, &in, 1, &v));
  in.data = &narrow;
  fine(c, ravel_call_columns(c, f, &in, 1, &v));
  fails(c, RAVEL_DATA, "element 1 would change its value",
        ravel_columns(c, v, &out, 1, &block));
  ravel_context_free(c);
}

/* Large columns are not copied on their way in. */
Test(columns, results_have_memory_of_their_own) {
  enum { MANY = 100000 };
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f =
      columns_define(c, "function go(v, i) : ([float], int) -> ([float], ([float], float)) = "
                        "(v, (v, v[i]));");
  double *data = malloc(MANY * sizeof *data);
  int64_t i = MANY - 1;
  for (int k = 0; k < MANY; k++) data[k] = k;
  const struct ravel_column in[] = {columns_column(RAVEL_FLOAT64, data, MANY),
                                    columns_column(RAVEL_INT64, &i, 1)};
  struct ravel_column out[3] = {
      {RAVEL_FLOAT64, NULL, 0}, {RAVEL_FLOAT64, NULL, 0}, {RAVEL_FLOAT64, NULL, 0}};
  struct ravel_value *v = NULL, *other = NULL;
  struct ravel_statistics before, after;
  void *block = NULL;
  ravel_get_statistics(c, &before);
  fine(c, ravel_call_columns(c, f, in, 2, &v));
  i = MANY;
  fails(c, RAVEL_RUNTIME, "outside a sequence", ravel_call_columns(c, f, in, 2, &other));
  memset(data, 0, MANY * sizeof *data);
  free(data);
  fine(c, ravel_columns(c, v, out, 3, &block));
  for (int k = 0; k < MANY; k++) {
    cr_assert(((const double *)out[0].data)[k] == k && ((const double *)out[1].data)[k] == k);
  }
  cr_expect(*(const double *)out[2].data == MANY - 1);
  free(block);
  ravel_release(v);
  ravel_get_statistics(c, &after);
  cr_expect_eq(before.live_bytes, after.live_bytes);
  ravel_context_free(c);
}

Test(columns, failures_of_a_call_leave_nothing_behind) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f =
      columns_define(c, "function go(v, i) : ([float], int) -> float = v[i];");
  const int64_t i = 3;
  const struct ravel_column in[] = {columns_column(RAVEL_FLOAT64, reals, 3),
                                    columns_column(RAVEL_INT64, &i, 1)};
  struct ravel_statistics before, after;
  struct ravel_value *v = NULL;
  ravel_get_statistics(c, &before);
  fails(c, RAVEL_RUNTIME, "outside a sequence of length 3",
        ravel_call_columns(c, f, in, 2, &v));
  ravel_get_statistics(c, &after);
  cr_expect_eq(before.live_bytes, after.live_bytes);
  ravel_context_free(c);
}

Test(kept, by_a_key_until_the_context_is_freed) {
  struct ravel_context *c = context_with(NULL), *other = context_with(NULL);
  struct ravel_function *f = columns_define(c, "function go(n) : int -> int = n;"), *g = NULL;
  char key[] = "the key";
  cr_expect_null(ravel_kept(c, key));
  fine(c, ravel_keep(c, key, f));
  key[0] = 'T';
  cr_expect_null(ravel_kept(c, key), "the key was copied");
  key[0] = 't';
  ravel_function_release(f);
  cr_assert_eq(ravel_kept(c, key), f);
  cr_expect_null(ravel_kept(other, key));
  fine(c, ravel_find(c, "go", "int", &g));
  fails(c, RAVEL_MISUSE, "`the key` is kept already", ravel_keep(c, key, g));
  fails(c, RAVEL_MISUSE, "the function is kept already", ravel_keep(c, "another", f));
  fails(other, RAVEL_MISUSE, "another context", ravel_keep(other, key, f));
  cr_expect_null(ravel_kept(NULL, key));
  ravel_context_free(other);
  ravel_context_free(c);
}

Test(columns, none_and_many) {
  enum { MANY = 40 };
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f = NULL;
  struct ravel_value *v = NULL;
  struct ravel_column in[MANY], out[MANY];
  int64_t numbers_in[MANY];
  char text[4 * MANY + 1], *at = text;
  void *block = NULL;
  fine(c, ravel_expression(c, "[1, 2]", NULL, NULL, &f));
  out[0] = columns_column(RAVEL_INT64, NULL, 0);
  fine(c, ravel_call_columns(c, f, NULL, 0, &v));
  fine(c, ravel_columns(c, v, out, 1, &block));
  cr_expect(out[0].length == 2 && ((const int64_t *)out[0].data)[1] == 2);
  free(block);
  for (int i = 0; i < MANY; i++) at += sprintf(at, i ? ",int" : "int");
  for (int i = 0; i < MANY; i++) {
    numbers_in[i] = i;
    in[i] = columns_column(RAVEL_INT64, &numbers_in[i], 1);
    out[i] = columns_column(RAVEL_INT64, NULL, 0);
  }
  fine(c, ravel_define(c, NULL, "function go(x) = x;", 0));
  fine(c, ravel_find(c, "go", text, &f));
  fine(c, ravel_call_columns(c, f, in, MANY, &v));
  fine(c, ravel_columns(c, v, out, MANY, &block));
  for (int i = 0; i < MANY; i++) cr_expect_eq(*(const int64_t *)out[i].data, i);
  free(block);
  ravel_context_free(c);
}
