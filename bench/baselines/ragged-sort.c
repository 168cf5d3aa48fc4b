/* ragged-sort.c - rows are shared out among threads as they come; a row longer than a share of
 * one thread is sorted by all of them. Short rows by insertion, others by radix (both in
 * radix.h). */
#include "radix.h"

RADIX_SORT(sort_integers, integer, radix_key)

static void sort_row(integer *row, integer *other, int64_t n, bool all_threads,
                     struct radix_counts *counts) {
  integer least = row[0], most = row[0];
  for (int64_t i = 1; i < n; i++) {
    if (row[i] < least) least = row[i];
    if (row[i] > most) most = row[i];
  }
  const uint64_t base = radix_key(least);
  const int bits = radix_bits(radix_key(most) - base);
  if (all_threads) {
    sort_integers(row, other, n, bits, base, counts);
  } else {
    sort_integers_bucket(row, other, n, bits, base, false);
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const integer *const values = arguments[0].as.i, *const lengths = arguments[1].as.i;
  const int64_t n = arguments[0].length, rows = arguments[1].length;
  integer *const sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
  integer *const other = scratch(0, (size_t)n * sizeof *other);
  int64_t *const starts = scratch(1, ((size_t)rows + 1) * sizeof *starts);
  struct radix_counts *const counts = radix_scratch(2);
  const int64_t share = n / (4 * radix_most_threads()) + RADIX_PARALLEL_LEAST;
  starts[0] = 0;
  for (int64_t r = 0; r < rows; r++) starts[r + 1] = starts[r] + lengths[r];
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) sorted[i] = values[i];
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t r = 0; r < rows; r++) {
    if (lengths[r] > 1 && lengths[r] <= share)
      sort_row(sorted + starts[r], other + starts[r], lengths[r], false, counts);
  }
  for (int64_t r = 0; r < rows; r++) {
    if (lengths[r] > share)
      sort_row(sorted + starts[r], other + starts[r], lengths[r], true, counts);
  }
}
