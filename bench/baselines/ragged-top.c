/* ragged-top.c - the k greatest of a row so far are kept in order, in the result: most elements
 * are compared with the least of them only. Rows are shared out among threads as they come. */
/* scalar: what is kept of a row depends on the elements before */
#include "baseline.h"

/* To `top`, which has room for the k greatest of n elements, or for all of them. */
static void greatest(const integer *row, int64_t n, int64_t k, integer *top) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++) {
    if (kept == k && (k == 0 || row[i] <= top[k - 1])) continue;
    int64_t at = kept < k ? kept++ : k - 1;
    for (; at > 0 && top[at - 1] < row[i]; at--) top[at] = top[at - 1];
    top[at] = row[i];
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const integer *const values = arguments[0].as.i, *const lengths = arguments[1].as.i;
  const int64_t rows = arguments[1].length, k = arguments[2].as.i[0];
  int64_t *const from = scratch(0, ((size_t)rows + 1) * sizeof *from);
  int64_t *const to = scratch(1, ((size_t)rows + 1) * sizeof *to);
  from[0] = to[0] = 0;
  for (int64_t r = 0; r < rows; r++) {
    from[r + 1] = from[r] + lengths[r];
    to[r + 1] = to[r] + (lengths[r] < k ? lengths[r] : k);
  }
  integer *const top = result(results, 0, ARRAY_INTEGER, to[rows])->as.i;
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t r = 0; r < rows; r++) greatest(values + from[r], lengths[r], k, top + to[r]);
}
