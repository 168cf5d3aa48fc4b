/* ragged.h - sorts the rows of a ragged array: they are shared out among threads as they come;
 * a row longer than a share of one thread is sorted by all of them. Short rows by insertion,
 * others by radix (both in radix.h). */
#ifndef RAVEL_BENCH_RAGGED_H
#define RAVEL_BENCH_RAGGED_H

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

/* Where each row begins, from how many elements it has; the last entry is the total. */
static void ragged_starts(const integer *lengths, int64_t rows, int64_t *starts) {
  starts[0] = 0;
  for (int64_t r = 0; r < rows; r++) starts[r + 1] = starts[r] + lengths[r];
}

/* To `sorted`; returns where rows start, and the last one ends. Scratch memory 0 to 2. */
static int64_t *sort_rows(const struct array *values, const struct array *row_lengths,
                          integer *sorted) {
  const integer *const lengths = row_lengths->as.i;
  const int64_t n = values->length, rows = row_lengths->length;
  integer *const other = scratch(0, (size_t)n * sizeof *other);
  int64_t *const starts = scratch(1, ((size_t)rows + 1) * sizeof *starts);
  struct radix_counts *const counts = radix_scratch(2);
  const int64_t share = n / (4 * radix_most_threads()) + RADIX_PARALLEL_LEAST;
  ragged_starts(lengths, rows, starts);
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) sorted[i] = values->as.i[i];
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t r = 0; r < rows; r++) {
    if (lengths[r] > 1 && lengths[r] <= share)
      sort_row(sorted + starts[r], other + starts[r], lengths[r], false, counts);
  }
  for (int64_t r = 0; r < rows; r++) {
    if (lengths[r] > share)
      sort_row(sorted + starts[r], other + starts[r], lengths[r], true, counts);
  }
  return starts;
}

#endif
