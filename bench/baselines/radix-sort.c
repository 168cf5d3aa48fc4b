/* radix-sort.c - radix sort (radix.h) by all bits of the keys. */
/* scalar: where an element goes depends on the digits of those before it */
#include "radix.h"

RADIX_SORT(sort_integers, integer, radix_key)

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  integer *const sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
  integer *const other = scratch(0, (size_t)n * sizeof *other);
  memcpy(sorted, arguments[0].as.i, (size_t)n * sizeof *sorted);
  const uint64_t least = ((uint64_t)1 << 63) - ((uint64_t)1 << (INT_BITS - 1));
  sort_integers(sorted, other, n, INT_BITS, least, radix_scratch(1));
}
