/* sort.cu - CUB's radix sort behind sort.hpp: keys of 32 and 64 bits, and values of either
 * width. */
#include "cvl-cuda/sort.hpp"

#include "cvl-cuda/cuda/cub-call.hpp"

#include <cub/device/device_radix_sort.cuh>

namespace ravel {

/* A key of an order in a type that CUB sorts. */
template <class O> struct ordered_key { typename O::bits raw; };

} // namespace ravel

/* CUB moves a key as TwiddleIn of its bits, and compares what its digit extractor makes of
 * these. There CUB lets both zeros of a float tie, and an order of ours decides its own ties.
 * CUB's documentation does not mention the extractor. If a version lacked it or ignored it, the
 * suite would find NaNs and zeros (SORT_UP.FLOAT) in another order than the oracle's. */
CUB_NAMESPACE_BEGIN

template <class O> struct NumericTraits<ravel::ordered_key<O>> {
  using UnsignedBits = typename O::bits;
  static constexpr bool is_primitive = false;
  /* A key that pads a block must not come before a real key, and the first key must not come
   * after one. */
  static constexpr UnsignedBits MAX_KEY = O::out((UnsignedBits) ~(UnsignedBits)0);
  static constexpr UnsignedBits LOWEST_KEY = O::out(0);

  static __host__ __device__ __forceinline__ UnsignedBits TwiddleIn(UnsignedBits raw) {
    return O::in(raw);
  }
  static __host__ __device__ __forceinline__ UnsignedBits TwiddleOut(UnsignedBits k) {
    return O::out(k);
  }
};

template <class O> struct BaseDigitExtractor<ravel::ordered_key<O>, false> {
  using TraitsT = Traits<ravel::ordered_key<O>>;
  using UnsignedBits = typename O::bits;

  static __host__ __device__ __forceinline__ UnsignedBits
  ProcessFloatMinusZero(UnsignedBits k) {
    return O::digits(k);
  }
};

CUB_NAMESPACE_END

namespace ravel {
namespace {

/* The type as which CUB sorts keys of an order: unsigned numbers stay as they are. */
template <class O> struct key_type { using type = ordered_key<O>; };
template <class K> struct key_type<number_order<K>> { using type = K; };

template <class O, class V>
cudaError_t sort_pairs(void *scratch, size_t &bytes, const sort_job<O, V> &j, int64_t n,
                       cudaStream_t stream) {
  using key = typename key_type<O>::type;
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, (const key *)(const void *)j.keys,
                                         (key *)(void *)j.sorted_keys, j.values,
                                         j.sorted_values, n, j.first_bit, j.end_bit, stream);
}

template <class O>
cudaError_t sort_keys(void *scratch, size_t &bytes, const key_sort_job<O> &j, int64_t n,
                      cudaStream_t stream) {
  using key = typename key_type<O>::type;
  return cub::DeviceRadixSort::SortKeys(scratch, bytes, (const key *)(const void *)j.keys,
                                        (key *)(void *)j.sorted, n, 0, 8 * (int)sizeof(key),
                                        stream);
}

} // namespace

template <class O, class V>
const char *sort_on_device(const void *body, int64_t n, void *native_stream) {
  const sort_job<O, V> &j = *(const sort_job<O, V> *)body;
  size_t bytes = (size_t)j.scratch_bytes;
  return cub_failure(
      [&] { return sort_pairs<O, V>(j.scratch, bytes, j, n, (cudaStream_t)native_stream); });
}

template <class O, class V> int64_t sort_scratch_on_device(int64_t n) {
  sort_job<O, V> j{};
  j.end_bit = 8 * sizeof(typename O::bits);
  return cub_scratch(
      [&](size_t &bytes) { return sort_pairs<O, V>(nullptr, bytes, j, n, nullptr); });
}

template <class O>
const char *sort_keys_on_device(const void *body, int64_t n, void *native_stream) {
  const key_sort_job<O> &j = *(const key_sort_job<O> *)body;
  size_t bytes = (size_t)j.scratch_bytes;
  return cub_failure(
      [&] { return sort_keys<O>(j.scratch, bytes, j, n, (cudaStream_t)native_stream); });
}

template <class O> int64_t key_sort_scratch_on_device(int64_t n) {
  return cub_scratch([&](size_t &bytes) {
    return sort_keys<O>(nullptr, bytes, key_sort_job<O>{}, n, nullptr);
  });
}

#define PAIRS(V, ...)                                                                          \
  template const char *sort_on_device<__VA_ARGS__, V>(const void *, int64_t, void *);          \
  template int64_t sort_scratch_on_device<__VA_ARGS__, V>(int64_t);
#define KEYS(...)                                                                              \
  template const char *sort_keys_on_device<__VA_ARGS__>(const void *, int64_t, void *);        \
  template int64_t key_sort_scratch_on_device<__VA_ARGS__>(int64_t);
/* Instances for elements: alone, and with the numbers of their segments. */
#define ELEMENTS(...) KEYS(__VA_ARGS__) PAIRS(uint32_t, __VA_ARGS__)
PAIRS(uint32_t, number_order<uint32_t>)
PAIRS(uint32_t, number_order<uint64_t>)
PAIRS(uint64_t, number_order<uint32_t>)
PAIRS(uint64_t, number_order<uint64_t>)
ELEMENTS(element_order<int32_t, false>)
ELEMENTS(element_order<int32_t, true>)
ELEMENTS(element_order<int64_t, false>)
ELEMENTS(element_order<int64_t, true>)
ELEMENTS(element_order<float, false>)
ELEMENTS(element_order<float, true>)
ELEMENTS(element_order<double, false>)
ELEMENTS(element_order<double, true>)
#undef ELEMENTS
#undef KEYS
#undef PAIRS

} // namespace ravel
