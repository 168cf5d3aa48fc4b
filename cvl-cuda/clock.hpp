/* clock.hpp - the host's clock, for what statistics() says of time. */
#ifndef RAVEL_CUDA_CLOCK_HPP
#define RAVEL_CUDA_CLOCK_HPP

#include <stdint.h>
#include <time.h>

namespace ravel {

/* Nanoseconds since some moment in the past; never goes back. */
inline uint64_t now_ns() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

} // namespace ravel
#endif
