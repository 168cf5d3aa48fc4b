/* look-back.cu - CUB's scans behind look-back.hpp. */
#include "cvl-cuda/look-back.hpp"

#include "cvl-cuda/cuda/cub-call.hpp"

#include <type_traits>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

namespace ravel {
namespace {

/* The member types of a random-access iterator. */
template <class T, class REFERENCE> struct random_access {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = int64_t;
  using pointer = T *;
  using reference = REFERENCE;
};

/* A reference to an element of a result, to which CUB assigns. It stores the identity at the
 * first element of a segment. CUB assigns a value there that is neutral in every bit, which the
 * identity of FLOAT is not. */
template <class C> struct element_or_identity {
  using T = typename C::type;
  T *to;
  bool first;
  HD void operator=(const T &x) const { *to = first ? C::identity() : x; }
};

/* The operation that CUB gets. For sums of INTs it is CUB's own on unsigned numbers, which
 * wrap, since CUB has tuned its kernel for that. Otherwise it is the combination. */
template <class C, class = void> struct known_to_cub {
  using type = typename C::type;
  using operation = C;
};
template <class T>
struct known_to_cub<combination<T, OP_ADD>, std::enable_if_t<std::is_integral<T>::value>> {
  using type = std::make_unsigned_t<T>;
  using operation = cuda::std::plus<>;
};

template <class C, class T>
cudaError_t scan_one(void *scratch, size_t &bytes, const scan_job<T> &j, cudaStream_t stream) {
  using U = typename known_to_cub<C>::type;
  return cub::DeviceScan::ExclusiveScan(
      scratch, bytes, (const U *)(const void *)j.from, (U *)(void *)j.to,
      typename known_to_cub<C>::operation{}, (U)C::identity(), j.n, stream);
}

/* ---- scans of many segments ---- */

/* The keys for CUB are the elements' numbers, which are in no memory. Two neighbours are equal
 * if they are in one segment. */
struct positions : random_access<uint32_t, uint32_t> {
  uint32_t at;

  HD explicit positions(uint32_t first) : at(first) {}
  HD uint32_t operator*() const { return at; }
  HD uint32_t operator[](int64_t i) const { return at + (uint32_t)i; }
  HD positions operator+(int64_t i) const { return positions(at + (uint32_t)i); }
};

HD inline bool is_head(ptr<const uint32_t> heads, uint32_t i) {
  return heads[i >> 5] >> (i & 31) & 1;
}

struct in_one_segment {
  ptr<const uint32_t> heads;
  HD bool operator()(uint32_t, uint32_t i) const { return !is_head(heads, i); }
};

/* The output iterator for many segments. */
template <class C>
struct after_heads : random_access<typename C::type, element_or_identity<C>> {
  using T = typename C::type;
  using element = element_or_identity<C>;

  T *to;
  ptr<const uint32_t> heads;
  uint32_t at;

  HD after_heads(T *out, ptr<const uint32_t> h, uint32_t first)
      : to(out), heads(h), at(first) {}
  HD element operator*() const { return {to + at, is_head(heads, at)}; }
  HD element operator[](int64_t i) const { return *(*this + i); }
  HD after_heads operator+(int64_t i) const { return {to, heads, at + (uint32_t)i}; }
};

template <class C, class T>
cudaError_t scan_segments(void *scratch, size_t &bytes, const segmented_scan_job<T> &j,
                          cudaStream_t stream) {
  const in_one_segment same{j.heads};
  if constexpr (std::is_integral<T>::value) {
    using U = typename known_to_cub<C>::type;
    return cub::DeviceScan::ExclusiveScanByKey(
        scratch, bytes, positions(0), (const U *)(const void *)j.all.from,
        (U *)(void *)j.all.to, typename known_to_cub<C>::operation{}, (U)C::identity(),
        (uint32_t)j.all.n, same, stream);
  } else {
    return cub::DeviceScan::ExclusiveScanByKey(scratch, bytes, positions(0), j.all.from,
                                               after_heads<C>{j.all.to, j.heads, 0}, C{},
                                               C::pad(), (uint32_t)j.all.n, same, stream);
  }
}

} // namespace

template <class C> const char *scan_on_device(const void *body, int64_t, void *native_stream) {
  const scan_job<typename C::type> &j = *(const scan_job<typename C::type> *)body;
  size_t bytes = (size_t)j.scratch_bytes;
  return cub_failure(
      [&] { return scan_one<C>(j.scratch, bytes, j, (cudaStream_t)native_stream); });
}

template <class C> int64_t scan_scratch(int64_t n) {
  scan_job<typename C::type> j{};
  j.n = n;
  return cub_scratch([&](size_t &bytes) { return scan_one<C>(nullptr, bytes, j, nullptr); });
}

template <class C>
const char *segmented_scan_on_device(const void *body, int64_t, void *native_stream) {
  const auto &j = *(const segmented_scan_job<typename C::type> *)body;
  size_t bytes = (size_t)j.all.scratch_bytes;
  return cub_failure(
      [&] { return scan_segments<C>(j.all.scratch, bytes, j, (cudaStream_t)native_stream); });
}

template <class C> int64_t segmented_scan_scratch(int64_t n) {
  segmented_scan_job<typename C::type> j{};
  j.all.n = n;
  return cub_scratch(
      [&](size_t &bytes) { return scan_segments<C>(nullptr, bytes, j, nullptr); });
}

/* Instances: one for each row that is exact and each type of its class. */
#define INSTANCE(op, T)                                                                        \
  template const char *segmented_scan_on_device<combination<T, OP_##op>>(const void *,         \
                                                                         int64_t, void *);     \
  template int64_t segmented_scan_scratch<combination<T, OP_##op>>(int64_t);
#define INSTANCE_AT_ONE(op, T)                                                                 \
  INSTANCE(op, T)                                                                              \
  template const char *scan_on_device<combination<T, OP_##op>>(const void *, int64_t, void *); \
  template int64_t scan_scratch<combination<T, OP_##op>>(int64_t);
#define INSTANCES_I(op) INSTANCE_AT_ONE(op, int32_t) INSTANCE_AT_ONE(op, int64_t)
#define INSTANCES_F(op) INSTANCE(op, float) INSTANCE(op, double)
#define INSTANCES_B(op) INSTANCE(op, uint8_t)
#define INSTANCES_IF_0(op, class)
#define INSTANCES_IF_1(op, class)                            INSTANCES_##class(op)
#define COMBINE(op, class, identity, pad, exact, expression) INSTANCES_IF_##exact(op, class)
#include "tables/operations.def"

} // namespace ravel
