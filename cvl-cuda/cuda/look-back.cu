/* look-back.cu - CUB's scans behind look-back.hpp. */
#include "cvl-cuda/look-back.hpp"

#include "cvl-cuda/cuda/cub-call.hpp"

#include <cub/device/device_scan.cuh>

namespace ravel {
namespace {

/* The result in memory but for the first element, which is the identity. What CUB gives there
 * is neutral in every bit, and of FLOAT the identity is not. */
template <class C> struct after_identity {
  using T = typename C::type;
  struct element {
    T *to;
    bool first;
    HD void operator=(const T &x) const { *to = first ? C::identity() : x; }
  };
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = int64_t;
  using pointer = T *;
  using reference = element;

  T *to;
  int64_t at;

  HD element operator*() const { return {to + at, at == 0}; }
  HD element operator[](int64_t i) const { return {to + at + i, at + i == 0}; }
  HD after_identity operator+(int64_t i) const { return {to, at + i}; }
};

template <class C, class T>
cudaError_t scan_one(void *scratch, size_t &bytes, const scan_job<T> &j, cudaStream_t stream) {
  if constexpr (std::is_integral<T>::value) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, j.from, j.to, C{}, C::identity(), j.n,
                                          stream);
  } else {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, j.from, after_identity<C>{j.to, 0},
                                          C{}, C::pad(), j.n, stream);
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

/* One for each row that is exact, and type of its class. */
#define INSTANCE(op, T)                                                                        \
  template const char *scan_on_device<combination<T, OP_##op>>(const void *, int64_t, void *); \
  template int64_t scan_scratch<combination<T, OP_##op>>(int64_t);
#define INSTANCES_I(op) INSTANCE(op, int32_t) INSTANCE(op, int64_t)
#define INSTANCES_F(op) INSTANCE(op, float) INSTANCE(op, double)
#define INSTANCES_B(op) INSTANCE(op, uint8_t)
#define INSTANCES_IF_0(op, class)
#define INSTANCES_IF_1(op, class)                            INSTANCES_##class(op)
#define COMBINE(op, class, identity, pad, exact, expression) INSTANCES_IF_##exact(op, class)
#include "tables/operations.def"

} // namespace ravel
