/* network.h - sorting networks on many batches: LANES batches side by side, so that each
 * exchange is one of whole vectors, and all of them stay in the first-level cache (16 KiB for
 * batches of 512 words of 32 bits). The networks differ in what they do in between:
 *
 *     void network(row *words, int64_t width);
 *
 * which is handed to sort_batches. A batch has MOST_WIDTH words at most. */
#ifndef RAVEL_BENCH_NETWORK_H
#define RAVEL_BENCH_NETWORK_H

#include "baseline.h"

enum { LANES = 8, MOST_WIDTH = 4096 };

/* The words at one position of LANES batches. */
typedef integer row[LANES];

/* The lesser words of two rows, and the greater ones. */
static inline void put_in_order(const row a, const row b, row low, row high) {
  /* vector: integer */
#pragma omp simd
  for (int k = 0; k < LANES; k++) {
    const integer x = a[k], y = b[k];
    low[k] = x < y ? x : y;
    high[k] = x < y ? y : x;
  }
}

static inline void exchange(row low, row high) {
  put_in_order(low, high, low, high);
}

static void sort_batches(const struct array *arguments, struct array *results,
                         void (*network)(row *, int64_t)) {
  const integer *words = arguments[0].as.i;
  const int64_t n = arguments[0].length, width = arguments[1].as.i[0], batches = n / width;
  integer *sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
#pragma omp parallel for
  for (int64_t first = 0; first < batches; first += LANES) {
    const int64_t used = batches - first < LANES ? batches - first : LANES;
    _Alignas(64) row side_by_side[MOST_WIDTH];
    const integer *from = words + first * width;
    integer *to = sorted + first * width;
    for (int64_t i = 0; i < width; i++)
      for (int64_t k = 0; k < LANES; k++)
        side_by_side[i][k] = from[(k < used ? k : 0) * width + i];
    network(side_by_side, width);
    for (int64_t k = 0; k < used; k++)
      for (int64_t i = 0; i < width; i++) to[k * width + i] = side_by_side[i][k];
  }
}

#endif
