/* rounds.h - for loops whose threads work on neighbouring chunks in rounds, each chunk small
 * enough to stay in the second-level cache until it is read again. */
#ifndef RAVEL_BENCH_ROUNDS_H
#define RAVEL_BENCH_ROUNDS_H

#include "baseline.h"

#ifdef _OPENMP
#include <omp.h>
#else
static inline int omp_get_num_threads(void) {
  return 1;
}
static inline int omp_get_thread_num(void) {
  return 0;
}
#endif

enum { CHUNK = 32 << 10, MOST_THREADS = 256 };

/* Prefetches into the second-level cache. While a thread writes a chunk, it prefetches its next
 * one: otherwise memory is only read, then only written. */
static inline void ask(const void *at, size_t bytes) {
  for (size_t k = 0; k < bytes; k += 64) __builtin_prefetch((const char *)at + k, 0, 2);
}

static inline int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

#endif
