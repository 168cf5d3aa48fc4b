/* norms.c - functions of NESL, compiled by CMake's ravel_add_library. */
#include "rows.h"
#include <stdio.h>

int main(void) {
  const int64_t lengths[] = {2, 0};
  const double numbers[] = {3, 4};
  const struct rows_vec_f64 elements = {numbers, 2};
  const struct rows_vec_vec_f64 rows = {lengths, 2, elements};
  const struct rows_vec_i64 none = {NULL, 0};
  struct rows_vec_f64 norms;
  struct ravel_context *context;
  int64_t last;
  if (ravel_context_new(NULL, &context) != RAVEL_OK) return 1;
  if (rows_norms(context, rows, &norms) != RAVEL_OK) return 1;
  if (rows_last(context, none, 7, &last) != RAVEL_OK) return 1;
  printf("%g %g %d\n", norms.data[0], norms.data[1], (int)last);
  rows_free_vec_f64(&norms);
  ravel_context_free(context);
  return 0;
}
