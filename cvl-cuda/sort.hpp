/* sort.hpp - sorting keys with values: CUB's radix sort on a device (cuda/sort.cu), a plain one
 * on the host. Stable, so that several sorts, the least significant key first, make one. */
#ifndef RAVEL_CUDA_SORT_HPP
#define RAVEL_CUDA_SORT_HPP

#include <algorithm>
#include <vector>

#include "cvl-cuda/launch.hpp"

namespace ravel {

/* n keys, ascending by their bits first_bit .. end_bit - 1, and the values that go with them.
 * Operands and results do not overlap. K is uint32_t or uint64_t, V likewise. */
template <class K, class V> struct sort_job {
  ptr<const K> keys;
  ptr<const V> values;
  ptr<K> sorted_keys;
  ptr<V> sorted_values;
  int32_t first_bit, end_bit;
  ptr<uint8_t> scratch; /* sort_scratch bytes */
  int64_t scratch_bytes;
};

template <class K, class V> void sort_on_host(const void *body, int64_t n, const order *) {
  const sort_job<K, V> &j = *(const sort_job<K, V> *)body;
  const int width = j.end_bit - j.first_bit;
  const K mask = width < (int)(8 * sizeof(K)) ? (K)(((K)1 << width) - 1) : (K) ~(K)0;
  struct item {
    K digits, key;
    V value;
  };
  std::vector<item> items((size_t)n);
  for (int64_t i = 0; i < n; i++) {
    const K key = j.keys[i];
    items[(size_t)i] = {width == 0 ? (K)0 : (K)(key >> j.first_bit & mask), key,
                        (V)j.values[i]};
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const item &a, const item &b) { return a.digits < b.digits; });
  for (int64_t i = 0; i < n; i++) {
    j.sorted_keys[i] = items[(size_t)i].key;
    j.sorted_values[i] = items[(size_t)i].value;
  }
}

#ifdef __CUDACC__
template <class K, class V>
const char *sort_on_device(const void *body, int64_t n, void *native_stream);
template <class K, class V> int64_t sort_scratch_on_device(int64_t n);
#endif

/* Bytes of scratch memory to sort n pairs where the operation runs. */
template <class K, class V> int64_t sort_scratch(bool on_host, int64_t n) {
#ifdef __CUDACC__
  if (!on_host) return sort_scratch_on_device<K, V>(n);
#endif
  (void)on_host;
  (void)n;
  return 0;
}

template <class K, class V>
launch launch_sort(const char *name, int64_t n, const sort_job<K, V> &j) {
  launch l{};
  l.name = name;
  l.count = n;
  l.on_host = sort_on_host<K, V>;
#ifdef __CUDACC__
  l.on_device = sort_on_device<K, V>;
#endif
  l.body = &j;
  l.size = sizeof j;
  return l;
}

} // namespace ravel
#endif
