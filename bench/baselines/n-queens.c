/* n-queens.c - depth first; attacked rows and diagonals are bits, of which the free ones are
 * taken from the lowest on. The queens of the first two columns make tasks. */
/* scalar: a search with a stack */
#include "baseline.h"

static int64_t ways(unsigned all, unsigned rows, unsigned up, unsigned down) {
  if (rows == all) return 1;
  int64_t sum = 0;
  for (unsigned open = all & ~(rows | up | down); open; open &= open - 1) {
    const unsigned queen = open & -open;
    sum += ways(all, rows | queen, (up | queen) >> 1, (down | queen) << 1);
  }
  return sum;
}

void baseline(const struct array *arguments, struct array *results) {
  const int n = (int)arguments[0].as.i[0];
  const unsigned all = (1U << n) - 1;
  int64_t sum = n < 2;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (int k = 0; k < (n < 2 ? 0 : n * n); k++) {
    const unsigned first = 1U << k / n, second = 1U << k % n;
    if (second & (first | first >> 1 | first << 1)) continue;
    sum += ways(all, first | second, (first >> 1 | second) >> 1, (first << 1 | second) << 1);
  }
  result(results, 0, ARRAY_INTEGER, 1)->as.i[0] = (integer)sum;
}
