/* kernels.c - the sets of kernels in this program, and the choice among them. */
#include "cvl-cpu/kernels.h"

#include <stddef.h>

#define DECLARE(set)                                                                           \
  extern const struct map_kernels map_kernels_##set;                                           \
  extern const struct move_kernels move_kernels_##set;                                         \
  extern const struct random_kernels random_kernels_##set;                                     \
  extern const struct reduce_kernels reduce_kernels_##set;                                     \
  extern const struct scan_kernels scan_kernels_##set;                                         \
  extern const struct rank_kernels rank_kernels_##set;                                         \
  extern const struct chain_kernels chain_kernels_##set;
#define SET(set)                                                                               \
  {                                                                                            \
    .name = #set, .map = &map_kernels_##set, .move = &move_kernels_##set,                      \
    .random = &random_kernels_##set, .reduce = &reduce_kernels_##set,                          \
    .scan = &scan_kernels_##set, .rank = &rank_kernels_##set, .chain = &chain_kernels_##set    \
  }

/* The sets that CMakeLists.txt compiles, from the plainest to the best. */
DECLARE(baseline)
#ifdef RAVEL_X86_SETS
DECLARE(v3)
DECLARE(v4)
#endif

static const struct cpu_kernels sets[] = {
    SET(baseline),
#ifdef RAVEL_X86_SETS
    SET(v3),
    SET(v4),
#endif
};
enum { SETS = sizeof sets / sizeof sets[0] };

/* How many of the sets, counted from the plainest, this processor runs: each contains the one
 * before it. */
static unsigned sets_that_run(void) {
#ifdef RAVEL_X86_SETS
  __builtin_cpu_init();
  const int v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                 __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                 __builtin_cpu_supports("popcnt");
  const int v4 = v3 && __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? 3 : v3 ? 2 : 1;
#else
  return 1;
#endif
}

const struct cpu_kernels *cpu_kernels_choose(void) {
  return &sets[sets_that_run() - 1];
}

const struct cpu_kernels *cpu_kernels_numbered(unsigned i) {
  return i < sets_that_run() && i < SETS ? &sets[i] : NULL;
}
