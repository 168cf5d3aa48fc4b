/* grouping.h - for the baselines that add to what an index says: threads have arrays of their
 * own, if those take less memory than the elements, else one array that they add to atomically.
 */
#ifndef RAVEL_BENCH_GROUPING_H
#define RAVEL_BENCH_GROUPING_H

#include "baseline.h"

#ifdef _OPENMP
#include <omp.h>
static inline int threads_of(void) {
  return omp_get_max_threads();
}
static inline int thread_number(void) {
  return omp_get_thread_num();
}
#else
static inline int threads_of(void) {
  return 1;
}
static inline int thread_number(void) {
  return 0;
}
#endif

static inline bool have_own(int64_t n, int64_t groups) {
  return groups * threads_of() <= n;
}

#endif
