/* ragged-unique.c - rows are sorted (ragged.h), counted, and copied to where the rows before
 * them end. */
/* scalar: where an element goes depends on the digits of those before it */
#include "ragged.h"

/* The distinct elements of a sorted row move to its front; how many they are. */
static int64_t distinct(integer *row, int64_t n) {
  int64_t kept = n > 0;
  for (int64_t i = 1; i < n; i++)
    if (row[i] != row[kept - 1]) row[kept++] = row[i];
  return kept;
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length, rows = arguments[1].length;
  integer *const sorted = scratch(3, (size_t)n * sizeof *sorted);
  int64_t *const to = scratch(4, ((size_t)rows + 1) * sizeof *to);
  const int64_t *const from = sort_rows(&arguments[0], &arguments[1], sorted);
  integer *const counts = result(results, 1, ARRAY_INTEGER, rows)->as.i;
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t r = 0; r < rows; r++)
    counts[r] = distinct(sorted + from[r], from[r + 1] - from[r]);
  ragged_starts(counts, rows, to);
  integer *const found = result(results, 0, ARRAY_INTEGER, to[rows])->as.i;
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t r = 0; r < rows; r++)
    memcpy(found + to[r], sorted + from[r], (size_t)counts[r] * sizeof *found);
}
