/* sort.c - radix sort (radix.h) by as many bits as the keys differ in. */
/* scalar: where an element goes depends on the digits of those before it */
#include "radix.h"

RADIX_SORT(sort_integers, integer, radix_key)

void baseline(const struct array *arguments, struct array *results) {
  const integer *const keys = arguments[0].as.i;
  const int64_t n = arguments[0].length;
  integer *const sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
  integer *const other = scratch(0, (size_t)n * sizeof *other);
  integer least = n > 0 ? keys[0] : 0, most = least;
#pragma omp parallel for reduction(min : least) reduction(max : most)
  for (int64_t i = 0; i < n; i++) {
    sorted[i] = keys[i];
    if (keys[i] < least) least = keys[i];
    if (keys[i] > most) most = keys[i];
  }
  const uint64_t base = radix_key(least);
  sort_integers(sorted, other, n, radix_bits(radix_key(most) - base), base, radix_scratch(1));
}
