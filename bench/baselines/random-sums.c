/* random-sums.c - numbers of Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
 * numbers: as easy as 1, 2, 3", 2011) are made where they are added: counter (position, 0), key
 * 0. */
#include "baseline.h"

/* The first 64 bits of the block of a counter, scaled to 0 .. bound - 1: the high half of their
 * product with the bound, by halves, since vectors have no product of 128 bits. */
static inline integer number(uint64_t j, uint32_t bound) {
  uint32_t a = (uint32_t)j, b = (uint32_t)(j >> 32), c = 0, d = 0, key0 = 0, key1 = 0;
  for (int round = 0; round < 10; round++) {
    const uint64_t p = (uint64_t)a * 0xD2511F53u, q = (uint64_t)c * 0xCD9E8D57u;
    a = (uint32_t)(q >> 32) ^ b ^ key0;
    c = (uint32_t)(p >> 32) ^ d ^ key1;
    b = (uint32_t)q;
    d = (uint32_t)p;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return (integer)(((uint64_t)b * bound + ((uint64_t)a * bound >> 32)) >> 32);
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].as.i[0], m = arguments[1].as.i[0];
  integer *sums = result(results, 0, ARRAY_INTEGER, n)->as.i;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    integer sum = 0;
    /* vector: integer */
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < m; k++) sum += number((uint64_t)(i * m + k), 10);
    sums[i] = sum;
  }
}
