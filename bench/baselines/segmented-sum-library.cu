// segmented-sum-library.cu - CUB's reduction of segments, whose offsets its scan gives.
extern "C" {
#include "baseline.h"
#include "serve-gpu.h"
}

#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const real *values = arguments[0].as.r;
  const integer *lengths = arguments[1].as.i;
  const int64_t rows = arguments[1].length;
  real *sums = result(results, 0, ARRAY_REAL, rows)->as.r;
  if (rows == 0) return;
  integer *begins = static_cast<integer *>(scratch(0, size_t(rows + 1) * sizeof(integer)));
  size_t bytes = 0;
  cudaMemsetAsync(begins, 0, sizeof(integer));
  device_check(cub::DeviceScan::InclusiveSum(nullptr, bytes, lengths, begins + 1, rows));
  device_check(
      cub::DeviceScan::InclusiveSum(scratch(1, bytes), bytes, lengths, begins + 1, rows));
  device_check(
      cub::DeviceSegmentedReduce::Sum(nullptr, bytes, values, sums, rows, begins, begins + 1));
  device_check(cub::DeviceSegmentedReduce::Sum(scratch(2, bytes), bytes, values, sums, rows,
                                               begins, begins + 1));
}
