/* clock.hpp - the host's clock, for the times that statistics() reports. */
#ifndef RAVEL_CUDA_CLOCK_HPP
#define RAVEL_CUDA_CLOCK_HPP

#include <stdint.h>
#include <time.h>

namespace ravel {

/* Returns nanoseconds since some moment in the past; the clock never goes back. */
inline uint64_t now_ns() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

} // namespace ravel
#endif
