/* targets.h - the values of targets.def as constants TARGET_name. */
#ifndef RAVEL_BENCH_TARGETS_H
#define RAVEL_BENCH_TARGETS_H

#define TARGET(name, value, against) static const double TARGET_##name = value;
#define PROGRAM(name, target)
#define GPU_TIME(name, first, warm)
#define GPU_COUNTS(name, launches, waits)
#define TAKES(name, size, how, launches, waits)
#include "bench/targets.def"
#undef TAKES
#undef GPU_COUNTS
#undef GPU_TIME
#undef PROGRAM
#undef TARGET

#endif
