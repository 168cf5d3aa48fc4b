/* sparse-matrix-vector.c - compressed rows, each summed by itself. Where each row begins is
 * found from the lengths first. Threads get equal numbers of values, not of rows, so that a
 * matrix of few long rows or of many short ones is shared evenly; a row that two threads share
 * is added up from both parts. */
#include "baseline.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_THREADS = 256 };

/* The sum of values[from..to) times what x has in their columns. Short rows are not worth the
 * beginning and the end of a vector loop. */
static inline real dot(const integer *columns, const real *values, const real *x, int64_t from,
                       int64_t to) {
  real sum = 0;
  if (to - from < 24) {
    for (int64_t k = from; k < to; k++) sum += values[k] * x[columns[k]];
  } else {
    /* vector: real */
#pragma omp simd reduction(+ : sum)
    for (int64_t k = from; k < to; k++) sum += values[k] * x[columns[k]];
  }
  return sum;
}

/* The row that value k is in, or the last row of all: begins[row] <= k < begins[row + 1]. */
static int64_t row_of(const int64_t *begins, int64_t rows, int64_t k) {
  int64_t low = 0, high = rows;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (begins[middle + 1] <= k)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void baseline(const struct array *arguments, struct array *results) {
  const integer *lengths = arguments[0].as.i, *columns = arguments[1].as.i;
  const real *values = arguments[2].as.r, *x = arguments[3].as.r;
  const int64_t rows = arguments[0].length, count = arguments[1].length;
  int64_t *begins = scratch(0, (size_t)(rows + 1) * sizeof *begins);
  real *y = result(results, 0, ARRAY_REAL, rows)->as.r;
  int threads = 1;
  struct {
    int64_t row;
    real sum;
  } heads[MOST_THREADS];
  int64_t sums[MOST_THREADS + 1] = {0};
#pragma omp parallel
  {
    int me = 0;
#ifdef _OPENMP
    me = omp_get_thread_num();
#pragma omp single
    threads = omp_get_num_threads();
#endif
    const int64_t low = rows * me / threads, high = rows * (me + 1) / threads;
    int64_t before = 0;
    for (int64_t i = low; i < high; i++) before += lengths[i];
    sums[me + 1] = before;
#pragma omp barrier
    before = 0;
    for (int k = 0; k <= me; k++) before += sums[k];
    for (int64_t i = low; i < high; i++) {
      begins[i] = before;
      before += lengths[i];
    }
    if (me == threads - 1) begins[rows] = before;
#pragma omp barrier
    const int64_t from = count * me / threads, to = count * (me + 1) / threads;
    const int64_t first = me == 0 ? 0 : row_of(begins, rows, from);
    const int64_t end = me == threads - 1 ? rows : row_of(begins, rows, to);
    /* The end of a row that begins with the thread before, if this thread begins within one. */
    int64_t row = first;
    heads[me].row = -1;
    if (row < end && begins[row] < from) {
      heads[me].row = row;
      heads[me].sum = dot(columns, values, x, from, begins[row + 1]);
      row++;
    } else if (row == end && row < rows && begins[row] < from) {
      heads[me].row = row;
      heads[me].sum = dot(columns, values, x, from, to);
    }
    for (; row < end; row++) y[row] = dot(columns, values, x, begins[row], begins[row + 1]);
    /* The beginning of a row that goes on with the next. */
    if (end < rows && begins[end] >= from && begins[end] < to)
      y[end] = dot(columns, values, x, begins[end], to);
  }
  for (int k = 0; k < threads; k++)
    if (heads[k].row >= 0) y[heads[k].row] += heads[k].sum;
}
