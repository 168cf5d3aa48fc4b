// radix-sort.cu - CUB's radix sort.
extern "C" {
#include "baseline.h"
#include "serve-gpu.h"
}

#include <cub/device/device_radix_sort.cuh>

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const integer *keys = arguments[0].as.i;
  const int64_t n = arguments[0].length;
  integer *sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
  size_t bytes = 0;
  device_check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, sorted, n));
  device_check(cub::DeviceRadixSort::SortKeys(scratch(0, bytes), bytes, keys, sorted, n));
}
