/* look-back.hpp - exclusive scans that read each element once and write it once: CUB's scan
 * with decoupled look-back (cuda/look-back.cu), which a device has and the emulation has not.
 *
 * The order in which it combines varies from run to run, so it is for exact combinations only.
 */
#ifndef RAVEL_CUDA_LOOK_BACK_HPP
#define RAVEL_CUDA_LOOK_BACK_HPP

#include "cvl-cuda/combine.hpp"

namespace ravel {

/* CUB's kernels for several segments that ptxas (13.0, sm_90) gives too few registers. */
template <class C> struct spills : std::false_type {};
template <> struct spills<combination<int32_t, OP_MAX>> : std::true_type {};
template <> struct spills<combination<int32_t, OP_MIN>> : std::true_type {};

/* Scans of several segments begin anew where the number of the segment changes. They combine
 * with the identity, which so has to be neutral: it is not that of FLOAT. */
template <class C> constexpr bool looks_back() {
  return C::exact != 0;
}
template <class C> constexpr bool looks_back_by_segment() {
  using T = typename C::type;
  return C::exact != 0 && std::is_integral<T>::value && !spills<C>::value;
}

/* Elements in memory; `to` does not overlap them. Several segments have less than 2^32. */
template <class T> struct scan_job {
  segments d;
  ptr<const T> from;
  ptr<T> to;
  ptr<uint8_t> scratch; /* scan_scratch bytes */
  int64_t scratch_bytes;
};

#ifdef __CUDACC__
template <class C> const char *scan_on_device(const void *body, int64_t n, void *native_stream);
/* Bytes of scratch memory for a scan of these segments. */
template <class C> int64_t scan_scratch(const segments &d);

template <class C> launch launch_scan(const char *name, const scan_job<typename C::type> &j) {
  launch l{};
  l.name = name;
  l.count = j.d.total;
  l.on_device = scan_on_device<C>;
  l.body = &j;
  l.size = sizeof j;
  return l;
}
#endif

} // namespace ravel
#endif
