/* kernels.c - the sets of kernels in this program, and the choice of one. */
#include "cvl-cpu/kernels/kernels.h"

#include <stddef.h>

#define DECLARE(set)                                                                           \
  extern const struct map_kernels map_kernels_##set;                                           \
  extern const struct move_kernels move_kernels_##set;                                         \
  extern const struct random_kernels random_kernels_##set;                                     \
  extern const struct reduce_kernels reduce_kernels_##set;                                     \
  extern const struct scan_kernels scan_kernels_##set;                                         \
  extern const struct rank_kernels rank_kernels_##set;                                         \
  extern const struct copy_kernels copy_kernels_##set;

#define SET(set)                                                                               \
  {                                                                                            \
    .map = &map_kernels_##set, .move = &move_kernels_##set, .random = &random_kernels_##set,   \
    .reduce = &reduce_kernels_##set, .scan = &scan_kernels_##set, .rank = &rank_kernels_##set, \
    .copy = &copy_kernels_##set,                                                               \
  }

/* The sets that CMakeLists.txt compiles, from the plainest to the best. */
enum level { LEVEL_BASELINE, LEVEL_V3, LEVEL_V4 };

#ifdef RAVEL_SET_baseline
DECLARE(baseline)
#endif
#ifdef RAVEL_SET_v3
DECLARE(v3)
#endif
#ifdef RAVEL_SET_v4
DECLARE(v4)
#endif

static const struct {
  struct cpu_kernels kernels;
  enum level level;
} sets[] = {
#ifdef RAVEL_SET_baseline
    {SET(baseline), LEVEL_BASELINE},
#endif
#ifdef RAVEL_SET_v3
    {SET(v3), LEVEL_V3},
#endif
#ifdef RAVEL_SET_v4
    {SET(v4), LEVEL_V4},
#endif
};
enum { SETS = sizeof sets / sizeof sets[0] };

static enum level level_of_processor(void) {
#if defined RAVEL_SET_v3 || defined RAVEL_SET_v4
  __builtin_cpu_init();
  const int v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                 __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                 __builtin_cpu_supports("popcnt");
  const int v4 = v3 && __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? LEVEL_V4 : v3 ? LEVEL_V3 : LEVEL_BASELINE;
#else
  return LEVEL_BASELINE;
#endif
}

/* Returns how many of the sets, from the plainest on, this processor runs. Each set's
 * instructions contain those of the set before it. */
static unsigned sets_that_run(void) {
  const enum level level = level_of_processor();
  unsigned n = 0;
  while (n < SETS && sets[n].level <= level) n++;
  return n;
}

const struct cpu_kernels *cpu_kernels_choose(void) {
  const unsigned n = sets_that_run();
  return n ? &sets[n - 1].kernels : NULL;
}

const struct cpu_kernels *cpu_kernels_numbered(unsigned i) {
  return i < sets_that_run() ? &sets[i].kernels : NULL;
}
