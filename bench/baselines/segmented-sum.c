/* segmented-sum.c - the sum of each row. Threads share the values evenly, whatever the rows
 * are: one that crosses from thread to thread is put together at the end. */
#include "rounds.h"

/* Vectors pay for long rows only; the additions of short ones should not wait for each other.
 */
static inline real sum_of(const real *x, int64_t n) {
  real sum = 0;
  if (n == 1) return x[0];
  if (n < 32) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) sum += (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3]);
    for (; i < n; i++) sum += x[i];
  } else {
    /* vector: real */
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
enum { GROUP = 4096 }; /* rows */

/* The start of a row. */
struct row_start {
  int64_t row, value;
};

/* The last row that begins at or before `value`; starts: where each group of rows begins. */
static struct row_start row_at(const int64_t *starts, const integer *lengths, int64_t rows,
                               int64_t value) {
  int64_t low = 0, high = (rows + GROUP - 1) / GROUP;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (starts[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  struct row_start at = {low * GROUP, starts[low]};
  for (; at.row < rows && at.value + lengths[at.row] <= value; at.row++)
    at.value += lengths[at.row];
  return at;
}

static void in_parallel(const real *x, const integer *lengths, int64_t rows, real *sums) {
  const int64_t groups = (rows + GROUP - 1) / GROUP;
  int64_t *starts = scratch(0, (size_t)(groups + 1) * sizeof *starts);
  real carried[MOST_THREADS]; /* of the row that a thread begins with, if another began it */
  int64_t carried_to[MOST_THREADS];
  int used = 1;
#pragma omp parallel
  {
#pragma omp for
    for (int64_t group = 0; group < groups; group++) {
      int64_t total = 0;
      for (int64_t row = group * GROUP; row < min(rows, (group + 1) * GROUP); row++)
        total += lengths[row];
      starts[group + 1] = total;
    }
#pragma omp single
    {
      starts[0] = 0;
      for (int64_t group = 0; group < groups; group++) starts[group + 1] += starts[group];
      used = omp_get_num_threads();
    }
    /* Values `first` to `end` are this thread's, and the rows that begin in them. */
    const int me = omp_get_thread_num();
    const int64_t n = starts[groups], first = n * me / used, end = n * (me + 1) / used;
    struct row_start at = me ? row_at(starts, lengths, rows, first) : (struct row_start){0, 0};
    const int64_t stop =
        me < used - 1 ? row_at(starts, lengths, rows, end).row : rows; /* another's first */
    carried[me] = 0;
    carried_to[me] = at.row;
    if (at.row < rows && at.value < first) {
      const int64_t next = at.value + lengths[at.row];
      carried[me] = sum_of(x + first, min(next, end) - first);
      if (next <= end) at = (struct row_start){at.row + 1, next};
    }
    for (; at.row < stop; at.row++) {
      sums[at.row] = sum_of(x + at.value, lengths[at.row]);
      at.value += lengths[at.row];
    }
    if (stop < rows && at.row == stop && first <= at.value && at.value < end)
      sums[stop] = sum_of(x + at.value, end - at.value);
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
