/* edit-distance.c - Wagner and Fischer, one row of the table at a time, in a row of each
 * thread; pairs are distributed as they come. */
/* scalar: each entry of the table waits for the one on its left */
#include "baseline.h"

static integer least(integer a, integer b) {
  return a < b ? a : b;
}

static integer distance(const uint8_t *a, int64_t n, const uint8_t *b, int64_t m,
                        integer *row) {
  for (int64_t j = 0; j <= m; j++) row[j] = j;
  for (int64_t i = 1; i <= n; i++) {
    integer corner = row[0];
    row[0] = i;
    for (int64_t j = 1; j <= m; j++) {
      const integer up = row[j];
      row[j] = least(least(up, row[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
      corner = up;
    }
  }
  return row[m];
}

void baseline(const struct array *arguments, struct array *results) {
  const uint8_t *a = arguments[0].as.b, *b = arguments[2].as.b;
  const integer *as = arguments[1].as.i, *bs = arguments[3].as.i;
  const int64_t pairs = arguments[1].length;
  integer *found = result(results, 0, ARRAY_INTEGER, pairs)->as.i;
  int64_t *const starts = scratch(0, ((size_t)pairs + 1) * 2 * sizeof *starts);
  int64_t longest = 0;
  starts[0] = starts[1] = 0;
  for (int64_t p = 0; p < pairs; p++) {
    starts[2 * p + 2] = starts[2 * p] + as[p];
    starts[2 * p + 3] = starts[2 * p + 1] + bs[p];
    if (bs[p] > longest) longest = bs[p];
  }
#pragma omp parallel
  {
    integer row[longest + 1];
#pragma omp for schedule(dynamic, 64)
    for (int64_t p = 0; p < pairs; p++)
      found[p] = distance(a + starts[2 * p], as[p], b + starts[2 * p + 1], bs[p], row);
  }
}
