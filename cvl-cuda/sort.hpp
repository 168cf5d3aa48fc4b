/* sort.hpp - sorts keys, alone or with values: by CUB's radix sort on a device (cuda/sort.cu),
 * by a plain one on the host. Both are stable, so that several sorts, the least significant key
 * first, make one.
 *
 * Keys are sorted by an *order*:
 *
 *     bits        the unsigned type as which keys are moved
 *     in(raw)     a key's bits as an unsigned number of this order, one to one;
 *                 out(in(raw)) = raw
 *     digits(k)   the part of such a number that is compared; equal for keys that tie
 */
#ifndef RAVEL_CUDA_SORT_HPP
#define RAVEL_CUDA_SORT_HPP

#include <algorithm>
#include <vector>

#include "cvl-cuda/context.hpp"

namespace ravel {

/* The operation SORT, for at most SORTED_SEGMENTS segments: sort-segments.cu. Arguments are
 * those of the operations in ops.hpp. */
enum : int64_t { SORTED_SEGMENTS = (int64_t)UINT32_MAX + 1 };
void sort(context &, uint64_t site, cvl_op, const cvl_value &v, const cvl_value &d,
          cvl_value *out);

/* ---- orders ---- */

/* The order of unsigned numbers. */
template <class K> struct number_order {
  using bits = K;
  HD static constexpr K in(K raw) { return raw; }
  HD static constexpr K out(K k) { return k; }
  HD static constexpr K digits(K k) { return k; }
};

/* The order of INT or FLOAT elements, ascending or descending. NaN is last in both, whatever
 * its sign and payload; both zeros tie. `digits` is right for both directions: they differ by a
 * complement, which exchanges the zeros' numbers, and the bounds below and above all NaNs. */
template <class T, bool DOWN> struct element_order {
  using bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr bool real = std::is_floating_point<T>::value;
  static constexpr bits TOP = (bits)1 << (8 * sizeof(T) - 1);
  static constexpr bits INFINITE = ((bits)1 << (sizeof(T) == 4 ? 23 : 52)) - 1; /* lower */

  /* For a negative FLOAT it inverts all bits, or none; else it inverts the sign, or all other
   * bits. */
  HD static constexpr bits in(bits raw) {
    const bits negative = DOWN ? 0 : (bits) ~(bits)0, other = DOWN ? (bits)(TOP - 1) : TOP;
    return (bits)(raw ^ (real && (raw & TOP) ? negative : other));
  }
  HD static constexpr bits out(bits k) {
    if (!real) return in(k);
    const bits high = DOWN ? 0 : TOP, low = DOWN ? (bits)(TOP - 1) : (bits) ~(bits)0;
    return (bits)(k ^ (k & TOP ? high : low));
  }
  HD static constexpr bits digits(bits k) {
    if (!real) return k;
    if ((bits)(k - INFINITE) > (bits)(~INFINITE - INFINITE)) return (bits) ~(bits)0;
    return k == TOP - 1 ? TOP : k;
  }
};

/* ---- keys with values ---- */

/* Sorts n keys by bits first_bit .. end_bit - 1 of their digits, ascending, and the values that
 * go with them. Operands and results do not overlap. V is uint32_t or uint64_t. */
template <class O, class V> struct sort_job {
  using K = typename O::bits;
  ptr<const K> keys;
  ptr<const V> values;
  ptr<K> sorted_keys;
  ptr<V> sorted_values;
  int32_t first_bit, end_bit;
  ptr<uint8_t> scratch; /* sort_scratch bytes */
  int64_t scratch_bytes;
};

template <class O> typename O::bits sorted_digits(typename O::bits raw, int first, int end) {
  using K = typename O::bits;
  const int width = end - first;
  const K mask = width < (int)(8 * sizeof(K)) ? (K)(((K)1 << width) - 1) : (K) ~(K)0;
  return width == 0 ? (K)0 : (K)(O::digits(O::in(raw)) >> first & mask);
}

template <class O, class V> void sort_on_host(const void *body, int64_t n, const order *) {
  using K = typename O::bits;
  const sort_job<O, V> &j = *(const sort_job<O, V> *)body;
  struct item {
    K digits, key;
    V value;
  };
  std::vector<item> items((size_t)n);
  for (int64_t i = 0; i < n; i++) {
    const K key = j.keys[i];
    items[(size_t)i] = {sorted_digits<O>(key, j.first_bit, j.end_bit), key, (V)j.values[i]};
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const item &a, const item &b) { return a.digits < b.digits; });
  for (int64_t i = 0; i < n; i++) {
    j.sorted_keys[i] = items[(size_t)i].key;
    j.sorted_values[i] = items[(size_t)i].value;
  }
}

/* ---- keys alone ---- */

/* Sorts n keys by all bits of their digits, ascending. Operand and result do not overlap. */
template <class O> struct key_sort_job {
  using K = typename O::bits;
  ptr<const K> keys;
  ptr<K> sorted;
  ptr<uint8_t> scratch; /* key_sort_scratch bytes */
  int64_t scratch_bytes;
};

template <class O> void sort_keys_on_host(const void *body, int64_t n, const order *) {
  using K = typename O::bits;
  const key_sort_job<O> &j = *(const key_sort_job<O> *)body;
  std::vector<K> keys((size_t)n);
  for (int64_t i = 0; i < n; i++) keys[(size_t)i] = j.keys[i];
  std::stable_sort(keys.begin(), keys.end(),
                   [](K a, K b) { return O::digits(O::in(a)) < O::digits(O::in(b)); });
  for (int64_t i = 0; i < n; i++) j.sorted[i] = keys[(size_t)i];
}

/* ---- launches ---- */

#ifdef __CUDACC__
template <class O, class V>
const char *sort_on_device(const void *body, int64_t n, void *native_stream);
template <class O, class V> int64_t sort_scratch_on_device(int64_t n);
template <class O>
const char *sort_keys_on_device(const void *body, int64_t n, void *native_stream);
template <class O> int64_t key_sort_scratch_on_device(int64_t n);
#endif

/* Return the bytes of scratch memory to sort n pairs, or n keys, where the operation runs. */
template <class O, class V> int64_t sort_scratch(bool on_host, int64_t n) {
#ifdef __CUDACC__
  if (!on_host) return sort_scratch_on_device<O, V>(n);
#endif
  (void)on_host;
  (void)n;
  return 0;
}
template <class O> int64_t key_sort_scratch(bool on_host, int64_t n) {
#ifdef __CUDACC__
  if (!on_host) return key_sort_scratch_on_device<O>(n);
#endif
  (void)on_host;
  (void)n;
  return 0;
}

template <class O, class V>
launch launch_sort(const char *name, int64_t n, const sort_job<O, V> &j) {
  launch l{};
  l.name = name;
  l.count = n;
  l.on_host = sort_on_host<O, V>;
#ifdef __CUDACC__
  l.on_device = sort_on_device<O, V>;
#endif
  l.body = &j;
  l.size = sizeof j;
  return l;
}
template <class O>
launch launch_key_sort(const char *name, int64_t n, const key_sort_job<O> &j) {
  launch l{};
  l.name = name;
  l.count = n;
  l.on_host = sort_keys_on_host<O>;
#ifdef __CUDACC__
  l.on_device = sort_keys_on_device<O>;
#endif
  l.body = &j;
  l.size = sizeof j;
  return l;
}

} // namespace ravel
#endif
