/* segmented-sum.c - the sum of each row. Threads share the values evenly, whatever the rows
 * are: one that crosses from thread to thread is put together at the end. */
#include "rounds.h"

/* Vectors pay for long rows only. */
static real sum_of(const real *x, int64_t n) {
  real sum = 0;
  if (n < 16) {
    for (int64_t i = 0; i < n; i++) sum += x[i];
  } else {
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i];
  }
  return sum;
}

static void one_by_one(const real *x, const integer *lengths, int64_t rows, real *sums) {
  for (int64_t row = 0; row < rows; row++) {
    sums[row] = sum_of(x, lengths[row]);
    x += lengths[row];
  }
}

#ifdef _OPENMP
/* The row in which value number `value` lies, or the end of all. */
static int64_t row_of(const int64_t *starts, int64_t rows, int64_t value) {
  int64_t low = 0, high = rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (starts[middle + 1] <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void in_parallel(const real *x, const integer *lengths, int64_t rows, real *sums) {
  int64_t *starts = scratch(0, (size_t)(rows + 1) * sizeof *starts);
  int64_t totals[MOST_THREADS];
  real carried[MOST_THREADS]; /* of the row with which a thread begins, if another began it */
  int64_t carried_to[MOST_THREADS];
  int used = 1;
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    /* Where rows start: a scan of the lengths. */
    const int64_t first_row = rows * me / threads, last_row = rows * (me + 1) / threads;
    int64_t total = 0;
    for (int64_t row = first_row; row < last_row; row++) total += lengths[row];
    totals[me] = total;
#pragma omp barrier
    int64_t start = 0;
    for (int k = 0; k < me; k++) start += totals[k];
    for (int64_t row = first_row; row < last_row; row++) {
      starts[row] = start;
      start += lengths[row];
    }
    if (me == threads - 1) starts[rows] = start;
#pragma omp barrier
    /* Values first to end are this thread's, and the rows that begin in them. */
    const int64_t n = starts[rows], first = n * me / threads, end = n * (me + 1) / threads;
    int64_t row = me ? row_of(starts, rows, first) : 0;
    const int64_t stop = me < threads - 1 ? row_of(starts, rows, end) : rows;
    carried[me] = 0;
    carried_to[me] = row;
    if (row < rows && starts[row] < first) {
      carried[me] = sum_of(x + first, min(starts[row + 1], end) - first);
      if (starts[row + 1] <= end) row++;
    }
    for (; row < stop; row++)
      sums[row] = sum_of(x + starts[row], starts[row + 1] - starts[row]);
    if (stop < rows && starts[stop] < end && starts[stop] >= first)
      sums[stop] = sum_of(x + starts[stop], end - starts[stop]);
    if (me == 0) used = threads;
  }
  for (int k = 1; k < used; k++)
    if (carried[k] != 0) sums[carried_to[k]] += carried[k];
}
#endif

void baseline(const struct array *arguments, struct array *results) {
  const real *x = arguments[0].as.r;
  const integer *lengths = arguments[1].as.i;
  const int64_t rows = arguments[1].length;
  real *sums = result(results, 0, ARRAY_REAL, rows)->as.r;
#ifdef _OPENMP
  if (omp_get_max_threads() > 1) {
    in_parallel(x, lengths, rows, sums);
    return;
  }
#endif
  one_by_one(x, lengths, rows, sums);
}
