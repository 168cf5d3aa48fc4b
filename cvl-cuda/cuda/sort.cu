/* sort.cu - CUB's radix sort behind sort.hpp: keys of 32 and 64 bits, values likewise. */
#include "cvl-cuda/sort.hpp"

#include "cvl-cuda/cuda/cub-call.hpp"

#include <cub/device/device_radix_sort.cuh>

namespace ravel {

template <class K, class V>
static cudaError_t sort_pairs(void *scratch, size_t &bytes, const sort_job<K, V> &j, int64_t n,
                              cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, j.keys, j.sorted_keys, j.values,
                                         j.sorted_values, n, j.first_bit, j.end_bit, stream);
}

template <class K, class V>
const char *sort_on_device(const void *body, int64_t n, void *native_stream) {
  const sort_job<K, V> &j = *(const sort_job<K, V> *)body;
  size_t bytes = (size_t)j.scratch_bytes;
  return cub_failure(
      [&] { return sort_pairs<K, V>(j.scratch, bytes, j, n, (cudaStream_t)native_stream); });
}

template <class K, class V> int64_t sort_scratch_on_device(int64_t n) {
  sort_job<K, V> j{};
  j.end_bit = 8 * sizeof(K);
  return cub_scratch(
      [&](size_t &bytes) { return sort_pairs<K, V>(nullptr, bytes, j, n, nullptr); });
}

#define INSTANCE(K, V)                                                                         \
  template const char *sort_on_device<K, V>(const void *, int64_t, void *);                    \
  template int64_t sort_scratch_on_device<K, V>(int64_t);
INSTANCE(uint32_t, uint32_t)
INSTANCE(uint64_t, uint32_t)
INSTANCE(uint32_t, uint64_t)
INSTANCE(uint64_t, uint64_t)
#undef INSTANCE

} // namespace ravel
