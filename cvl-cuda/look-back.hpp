/* look-back.hpp - exclusive scans that read and write each element once. They are CUB's scans
 * with decoupled look-back (cuda/look-back.cu), which the emulation lacks.
 *
 * The order in which CUB combines varies from run to run, so this is for exact combinations
 * only.
 */
#ifndef RAVEL_CUDA_LOOK_BACK_HPP
#define RAVEL_CUDA_LOOK_BACK_HPP

#include "cvl-cuda/combine.hpp"

namespace ravel {

template <class C> constexpr bool looks_back() {
  return C::exact != 0;
}
/* Returns whether it also scans a single segment: scans.hpp has kernels for single segments of
 * FLOATs and flags. */
template <class C> constexpr bool looks_back_at_one() {
  using T = typename C::type;
  return looks_back<C>() && std::is_integral<T>::value && sizeof(T) > 1;
}

/* A scan of one segment of elements in memory; `to` does not overlap them. */
template <class T> struct scan_job {
  int64_t n;
  ptr<const T> from;
  ptr<T> to;
  ptr<uint8_t> scratch; /* scan_scratch bytes */
  int64_t scratch_bytes;
};

/* A scan of many segments. Bit i of `heads` says whether a segment begins at element i. */
template <class T> struct segmented_scan_job {
  scan_job<T> all;
  ptr<const uint32_t> heads;
};

#ifdef __CUDACC__
template <class C> const char *scan_on_device(const void *body, int64_t n, void *native_stream);
/* Returns the bytes of scratch memory for a scan of n elements. */
template <class C> int64_t scan_scratch(int64_t n);

template <class C> launch launch_scan(const char *name, const scan_job<typename C::type> &j) {
  launch l{};
  l.name = name;
  l.count = j.n;
  l.on_device = scan_on_device<C>;
  l.body = &j;
  l.size = sizeof j;
  return l;
}

template <class C>
const char *segmented_scan_on_device(const void *body, int64_t n, void *native_stream);
template <class C> int64_t segmented_scan_scratch(int64_t n);

template <class C>
launch launch_segmented_scan(const char *name, const segmented_scan_job<typename C::type> &j) {
  launch l{};
  l.name = name;
  l.count = j.all.n;
  l.on_device = segmented_scan_on_device<C>;
  l.body = &j;
  l.size = sizeof j;
  return l;
}
#endif

} // namespace ravel
#endif
