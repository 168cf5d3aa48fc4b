/* test-libravel-views.c - rows by their offsets, in and out, and columns that are seen where
 * they are. */
#include "context.h"

#include <stdlib.h>

static struct ravel_function *views_define(struct ravel_context *c, const char *text) {
  struct ravel_function *f = NULL;
  fine(c, ravel_define(c, NULL, text, 0));
  fine(c, ravel_find(c, "go", NULL, &f));
  return f;
}

static struct ravel_column views_column(enum ravel_element element, const void *data,
                                        size_t length) {
  return (struct ravel_column){element, data, length};
}

static const int64_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const char sums[] =
    "function go(v) : [[[int]]] -> [[int]] = {{sum(r) : r in rows} : rows in v};";

/* The sums of rows that are given by two columns, as lengths and sums. */
static void expect_sums(struct ravel_context *c, struct ravel_function *f,
                        struct ravel_column outer, struct ravel_column inner) {
  const struct ravel_column in[] = {outer, inner, views_column(RAVEL_INT64, numbers, NUMBERS)};
  struct ravel_column out[] = {{RAVEL_INT64, NULL, 0}, {RAVEL_INT64, NULL, 0}};
  struct ravel_value *v = NULL;
  void *block = NULL;
  fine(c, ravel_call_columns(c, f, in, 3, &v));
  fine(c, ravel_columns(c, v, out, 2, &block));
  cr_assert(out[0].length == 2 && out[1].length == 2);
  cr_expect(((const int64_t *)out[0].data)[0] == 2 && ((const int64_t *)out[0].data)[1] == 0);
  cr_expect(((const int64_t *)out[1].data)[0] == 4 && ((const int64_t *)out[1].data)[1] == 11);
  free(block);
  ravel_release(v);
}

/* Rows 1 and 2 of four, then none: [[[4], [5, 6]], []]. */
Test(offsets, choose_rows_among_others) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f = views_define(c, sums);
  const int32_t outer[] = {1, 3, 3}, inner[] = {0, 4, 5, 7, 12};
  const int64_t wide[] = {1, 3, 3}, lengths[] = {4, 1, 2, 5};
  expect_sums(c, f, views_column(RAVEL_OFFSETS32, outer, 3),
              views_column(RAVEL_OFFSETS32, inner, 5));
  expect_sums(c, f, views_column(RAVEL_OFFSETS64, wide, 3),
              views_column(RAVEL_OFFSETS32, inner, 5));
  expect_sums(c, f, views_column(RAVEL_OFFSETS32, outer, 3),
              views_column(RAVEL_INT64, lengths, 4));
  ravel_context_free(c);
}

Test(offsets, of_no_rows) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f = views_define(c, "function go(v) : [[int]] -> int = #v;");
  const int32_t zero = 0;
  const struct ravel_column none[] = {views_column(RAVEL_OFFSETS32, NULL, 0),
                                      views_column(RAVEL_INT64, NULL, 0)};
  const struct ravel_column empty[] = {views_column(RAVEL_OFFSETS32, &zero, 1),
                                       views_column(RAVEL_INT64, numbers, 3)};
  struct ravel_value *v = NULL;
  int64_t rows = -1;
  fine(c, ravel_call_columns(c, f, none, 2, &v));
  fine(c, ravel_get_int(c, v, &rows));
  cr_expect_eq(rows, 0);
  fine(c, ravel_call_columns(c, f, empty, 2, &v));
  fine(c, ravel_get_int(c, v, &rows));
  cr_expect_eq(rows, 0);
  ravel_context_free(c);
}

Test(offsets, of_texts_in_tuples) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f = views_define(
      c, "function go(v) : [(int, [char])] -> [char] = flatten({drop(s, i) : (i, s) in v});");
  const int32_t offsets[] = {2, 5, 9};
  const int8_t skipped[] = {1, 2};
  const struct ravel_column in[] = {views_column(RAVEL_INT8, skipped, 2),
                                    views_column(RAVEL_OFFSETS32, offsets, 3),
                                    views_column(RAVEL_CHAR8, "..abcdefg...", 12)};
  struct ravel_value *v = NULL;
  char text[5] = "";
  fine(c, ravel_call_columns(c, f, in, 3, &v));
  fine(c, ravel_copy(c, v, RAVEL_CHAR8, 0, 4, text));
  cr_expect_str_eq(text, "bcfg");
  ravel_context_free(c);
}

Test(offsets, of_results) {
  enum { ROWS = 3000 };
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f =
      views_define(c, "function go(n) : int -> [[int]] = {[0 : rem(i, 7)] : i in [0 : n]};");
  const int64_t rows = ROWS;
  const struct ravel_column in = views_column(RAVEL_INT64, &rows, 1);
  struct ravel_value *v = NULL;
  fine(c, ravel_call_columns(c, f, &in, 1, &v));
  for (int wide = 0; wide < 2; wide++) {
    struct ravel_column out[] = {{wide ? RAVEL_OFFSETS64 : RAVEL_OFFSETS32, NULL, 0},
                                 {RAVEL_INT64, NULL, 0}};
    void *block = NULL;
    fine(c, ravel_columns(c, v, out, 2, &block));
    cr_assert_eq(out[0].length, ROWS + 1);
    int64_t sum = 0;
    for (int64_t i = 0; i <= ROWS; i++) {
      const int64_t offset =
          wide ? ((const int64_t *)out[0].data)[i] : ((const int32_t *)out[0].data)[i];
      cr_assert_eq(offset, sum, "offset %d", (int)i);
      sum += i % 7;
    }
    free(block);
  }
  ravel_context_free(c);
}

Test(offsets, that_fit_nothing_are_refused) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_function *f = views_define(c, "function go(v) : [[int]] -> int = #v;");
  const int32_t negative[] = {-1, 2}, falling[] = {0, 3, 2}, beyond[] = {0, 3, NUMBERS + 1};
  const int64_t huge[] = {0, INT64_MAX};
  const struct {
    struct ravel_column column;
    const char *says;
  } wrong[] = {
      {views_column(RAVEL_OFFSETS32, negative, 2),
       "column 0 of ([[int]]): the offset -1 at position 0 is negative"},
      {views_column(RAVEL_OFFSETS32, falling, 3),
       "the offset 2 at position 2 is less than the one before it"},
      {views_column(RAVEL_OFFSETS32, beyond, 3),
       "column 1 of ([[int]]) has 12 elements, and at least 13 are"},
      {views_column(RAVEL_OFFSETS64, huge, 2),
       "the offset 9223372036854775807 at position 1 is too large"},
  };
  struct ravel_value *v = NULL;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const struct ravel_column in[] = {wrong[i].column,
                                      views_column(RAVEL_INT64, numbers, NUMBERS)};
    fails(c, RAVEL_DATA, wrong[i].says, ravel_call_columns(c, f, in, 2, &v));
  }
  const struct ravel_column elements[] = {views_column(RAVEL_INT64, numbers, 1),
                                          views_column(RAVEL_OFFSETS64, numbers, 1)};
  fails(c, RAVEL_TYPE, "is of int: no such element", ravel_call_columns(c, f, elements, 2, &v));
  fails(c, RAVEL_MISUSE, "no ravel_element", ravel_vector(c, RAVEL_OFFSETS64, numbers, 3, &v));
  fails(c, RAVEL_MISUSE, "no ravel_element", ravel_borrow(c, RAVEL_OFFSETS64, numbers, 3, &v));
  ravel_context_free(c);
}

/* ---- views ---- */

enum { MANY = 100000 };

static struct ravel_value *squares(struct ravel_context *c) {
  struct ravel_function *f =
      views_define(c, "function go(n) : int -> ([float], [int], bool) =\n"
                      "  ({float(i) * float(i) : i in [0 : n]}, [0 : n], n > 0);");
  const int64_t n = MANY;
  const struct ravel_column in = views_column(RAVEL_INT64, &n, 1);
  struct ravel_value *v = NULL;
  fine(c, ravel_call_columns(c, f, &in, 1, &v));
  ravel_function_release(f);
  return v;
}

Test(views, are_the_elements_where_they_are) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_statistics before, after;
  struct ravel_value *v = squares(c);
  struct ravel_column a[] = {
      {RAVEL_FLOAT64, NULL, 0}, {RAVEL_INT32, NULL, 0}, {RAVEL_BOOL8, NULL, 0}};
  struct ravel_column b[] = {
      {RAVEL_FLOAT64, NULL, 0}, {RAVEL_INT64, NULL, 0}, {RAVEL_BOOL8, NULL, 0}};
  fine(c, ravel_view(c, v, a, 3));
  fine(c, ravel_view(c, v, b, 3));
  ravel_release(squares(c)); /* takes no memory that is seen */
  cr_expect_eq(a[0].data, b[0].data, "they are not copied");
  cr_expect_neq(a[1].data, b[1].data, "they are converted");
  for (size_t k = 0; k < 3; k++)
    cr_expect(a[k].length == b[k].length && b[k].length == (k < 2 ? MANY : 1));
  for (int i = 0; i < MANY; i++) {
    cr_assert(((const double *)b[0].data)[i] == (double)i * i);
    cr_assert(((const int32_t *)a[1].data)[i] == i && ((const int64_t *)b[1].data)[i] == i);
  }
  cr_expect(*(const bool *)a[2].data);
  ravel_get_statistics(c, &before);
  ravel_release(v);
  ravel_get_statistics(c, &after);
  cr_expect_lt(after.live_bytes + MANY * sizeof(double), before.live_bytes + 1);
  ravel_context_free(c);
}

Test(views, end_with_the_last_reference) {
  struct ravel_context *c = context_with(NULL);
  struct ravel_value *v = squares(c), *first = NULL;
  struct ravel_column whole[] = {
      {RAVEL_FLOAT64, NULL, 0}, {RAVEL_INT64, NULL, 0}, {RAVEL_BOOL8, NULL, 0}};
  struct ravel_column part = {RAVEL_FLOAT64, NULL, 0};
  fine(c, ravel_view(c, v, whole, 3));
  fine(c, ravel_component(c, v, 0, &first));
  ravel_release(ravel_retain(v));
  cr_expect_eq(((const double *)whole[0].data)[3], 9);
  fine(c, ravel_view(c, first, &part, 1));
  cr_expect_eq(part.data, whole[0].data);
  ravel_release(v);
  cr_expect_eq(((const double *)part.data)[4], 16);
  fails(c, RAVEL_MISUSE, "2 columns for the 1 of [float]", ravel_view(c, first, whole, 2));
  fails(c, RAVEL_TYPE, "column 0 of [float] cannot become",
        ravel_view(c, first, &(struct ravel_column){RAVEL_INT8, NULL, 0}, 1));
  ravel_context_free(c); /* with a view */
}
