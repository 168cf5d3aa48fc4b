// reduce.cu - CUB's sum.
extern "C" {
#include "baseline.h"
#include "serve-gpu.h"
}

#include <cub/device/device_reduce.cuh>

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const integer *x = arguments[0].as.i;
  const int64_t n = arguments[0].length;
  integer *sum = result(results, 0, ARRAY_INTEGER, 1)->as.i;
  size_t bytes = 0;
  device_check(cub::DeviceReduce::Sum(nullptr, bytes, x, sum, n));
  device_check(cub::DeviceReduce::Sum(scratch(0, bytes), bytes, x, sum, n));
}
