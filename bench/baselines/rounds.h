/* rounds.h - what loops have in common whose threads work on neighbouring pieces in rounds,
 * each piece small enough to stay in the second-level cache until it is read again. */
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

enum { PIECE = 32 << 10, MOST_THREADS = 256 };

static inline int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

#endif
