/* csr.h - what the programs on graphs and sparse matrices share: where each row begins. */
#ifndef RAVEL_BENCH_CSR_H
#define RAVEL_BENCH_CSR_H

#include "baseline.h"

/* offsets[i] is the sum of the lengths before i, offsets[n] that of all. In parallel, the sums
 * of blocks come first. */
static inline void offsets_of(const integer *lengths, int64_t n, int64_t *offsets) {
  enum { BLOCKS = 64 };
  int64_t before[BLOCKS];
  const int64_t block = n / BLOCKS + 1;
#pragma omp parallel for
  for (int b = 0; b < BLOCKS; b++) {
    int64_t sum = 0;
    for (int64_t i = b * block; i < n && i < (b + 1) * block; i++) sum += lengths[i];
    before[b] = sum;
  }
  int64_t total = 0;
  for (int b = 0; b < BLOCKS; b++) {
    const int64_t sum = before[b];
    before[b] = total;
    total += sum;
  }
#pragma omp parallel for
  for (int b = 0; b < BLOCKS; b++) {
    int64_t sum = before[b];
    for (int64_t i = b * block; i < n && i < (b + 1) * block; i++) {
      offsets[i] = sum;
      sum += lengths[i];
    }
  }
  offsets[n] = total;
}

#endif
