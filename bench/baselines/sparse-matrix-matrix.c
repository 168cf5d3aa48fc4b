/* sparse-matrix-matrix.c - row by row (Gustavson, 1978). A long row is added up
 * in a hash table, which is as small as the row, so that it stays in the cache, and then sorted
 * by column. The products of a short row are sorted first. Each thread computes blocks of rows
 * in a buffer that is large enough; when all lengths are known, they are copied to the result.
 */
#include "csr.h"

#ifdef _OPENMP
#include <omp.h>
#endif

struct csr {
  const integer *lengths, *columns;
  const real *values;
  const int64_t *offsets;
};

static struct csr matrix(const struct array *arguments, int64_t *offsets) {
  offsets_of(arguments[0].as.i, arguments[0].length, offsets);
  return (struct csr){arguments[0].as.i, arguments[1].as.i, arguments[2].as.r, offsets};
}

enum { SHORT = 64 };

struct entry {
  integer column;
  real value;
};

/* An empty slot has column -1. */
static void add(struct entry *table, uint64_t mask, integer column, real value) {
  uint64_t at = (uint64_t)column * 0x9E3779B97F4A7C15u >> 20 & mask;
  while (table[at].column != column) {
    if (table[at].column < 0) {
      table[at] = (struct entry){column, value};
      return;
    }
    at = (at + 1) & mask;
  }
  table[at].value += value;
}

static void swap(struct entry *a, struct entry *b) {
  const struct entry old = *a;
  *a = *b;
  *b = old;
}

/* Quicksort with a median of three; insertion sort for a few entries. */
static void sort_columns(struct entry *v, int64_t n) {
  while (n > 24) {
    const int64_t last = n - 1;
    if (v[n / 2].column < v[0].column) swap(&v[n / 2], &v[0]);
    if (v[last].column < v[0].column) swap(&v[last], &v[0]);
    if (v[last].column < v[n / 2].column) swap(&v[last], &v[n / 2]);
    const integer pivot = v[n / 2].column;
    int64_t i = 0, j = last;
    while (i <= j) {
      while (v[i].column < pivot) i++;
      while (v[j].column > pivot) j--;
      if (i <= j) swap(&v[i++], &v[j--]);
    }
    sort_columns(v + i, n - i);
    n = j + 1;
  }
  for (int64_t i = 1; i < n; i++) {
    const struct entry x = v[i];
    int64_t j = i;
    for (; j > 0 && v[j - 1].column > x.column; j--) v[j] = v[j - 1];
    v[j] = x;
  }
}

/* How many products row i takes: its length is no greater. */
static int64_t products(const struct csr *a, const struct csr *b, int64_t i) {
  int64_t count = 0;
  for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
    count += b->lengths[a->columns[e]];
  }
  return count;
}

/* A row of few products: the position of each is the number of smaller ones, which is counted
 * for all of them at once and without branches. */
static int64_t multiply_short_row(const struct csr *a, const struct csr *b, int64_t i,
                                  struct entry *out) {
  integer keys[SHORT], order[SHORT], ranks[SHORT];
  real values[SHORT];
  int count = 0;
  for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
    const int64_t row = a->columns[e];
    for (int64_t d = b->offsets[row]; d < b->offsets[row + 1]; d++) {
      keys[count] = b->columns[d] * SHORT + count;
      values[count++] = a->values[e] * b->values[d];
    }
  }
  for (int k = 0; k < count; k++) ranks[k] = 0;
  for (int j = 0; j < count; j++) {
    /* vector: integer */
#pragma omp simd
    for (int k = 0; k < count; k++) ranks[k] += keys[j] < keys[k];
  }
  for (int k = 0; k < count; k++) order[ranks[k]] = k;
  int64_t last = -1;
  for (int k = 0; k < count; k++) {
    const integer column = keys[order[k]] / SHORT;
    const real value = values[order[k]];
    const bool new = last < 0 || out[last].column != column;
    last += new;
    out[last] = (struct entry){column, new ? value : out[last].value + value};
  }
  return last + 1;
}

static int64_t multiply_row(const struct csr *a, const struct csr *b, int64_t i, int64_t most,
                            struct entry *table, struct entry *out) {
  uint64_t size = 16;
  while (size < 2 * (uint64_t)most) size *= 2;
  for (uint64_t k = 0; k < size; k++) table[k].column = -1;
  for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
    const int64_t row = a->columns[e];
    for (int64_t d = b->offsets[row]; d < b->offsets[row + 1]; d++) {
      add(table, size - 1, b->columns[d], a->values[e] * b->values[d]);
    }
  }
  /* Empty slots are written too, and then overwritten: so `out` has room for one more. */
  int64_t count = 0;
  for (uint64_t k = 0; k < size; k++) {
    out[count] = table[k];
    count += table[k].column >= 0;
  }
  sort_columns(out, count);
  return count;
}

void baseline(const struct array *arguments, struct array *results) {
  enum { PART = 64 };
  const int64_t n = arguments[0].length;
  int64_t *a_offsets = scratch(0, (size_t)(n + 1) * sizeof *a_offsets);
  int64_t *b_offsets = scratch(1, (size_t)(arguments[3].length + 1) * sizeof *b_offsets);
  const struct csr a = matrix(arguments, a_offsets), b = matrix(arguments + 3, b_offsets);
  integer *most = scratch(2, (size_t)n * sizeof *most);
  int64_t *room = scratch(3, (size_t)(n + 1) * sizeof *room), longest = 1;
#pragma omp parallel for schedule(dynamic, PART) reduction(max : longest)
  for (int64_t i = 0; i < n; i++) {
    most[i] = (integer)products(&a, &b, i) + 1;
    longest = most[i] > longest ? most[i] : longest;
  }
  offsets_of(most, n, room);
  struct entry *rows = scratch(4, (size_t)room[n] * sizeof *rows);
  integer *lengths = result(results, 0, ARRAY_INTEGER, n)->as.i;
  const size_t table_size = (size_t)longest * 4 + 16;
#ifdef _OPENMP
  struct entry *tables =
      scratch(5, table_size * (size_t)omp_get_max_threads() * sizeof *tables);
#else
  struct entry *tables = scratch(5, table_size * sizeof *tables);
#endif
#pragma omp parallel
  {
#ifdef _OPENMP
    struct entry *table = tables + table_size * (size_t)omp_get_thread_num();
#else
    struct entry *table = tables;
#endif
#pragma omp for schedule(dynamic, PART)
    for (int64_t i = 0; i < n; i++) {
      struct entry *out = rows + room[i];
      lengths[i] = (integer)(most[i] <= SHORT ? multiply_short_row(&a, &b, i, out)
                                              : multiply_row(&a, &b, i, most[i], table, out));
    }
  }
  int64_t *offsets = scratch(6, (size_t)(n + 1) * sizeof *offsets);
  offsets_of(lengths, n, offsets);
  integer *columns = result(results, 1, ARRAY_INTEGER, offsets[n])->as.i;
  real *values = result(results, 2, ARRAY_REAL, offsets[n])->as.r;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) {
    const struct entry *row = rows + room[i];
    for (int64_t k = 0; k < lengths[i]; k++) {
      columns[offsets[i] + k] = row[k].column;
      values[offsets[i] + k] = row[k].value;
    }
  }
}
