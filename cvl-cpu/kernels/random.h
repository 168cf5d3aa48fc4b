/* random.h - counter-based random numbers. */
#ifndef RAVEL_CPU_KERNELS_RANDOM_H
#define RAVEL_CPU_KERNELS_RANDOM_H

#include <stdint.h>

#include "cvl-cpu/kernels/kernels.h"

/* Sets out[i] to number first + i of the k-th RAND for this seed, scaled to 0 .. bounds[i]-1.
 * Returns n, or the first i whose bound is not positive. */
typedef uint64_t random_kernel(uint64_t seed, uint64_t k, uint64_t first, uint64_t n,
                               const void *bounds, void *out);

struct random_kernels {
  random_kernel *ints[2]; /* 32 bits, 64 bits */
};

#endif
