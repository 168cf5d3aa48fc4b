/* cub-call.hpp - calls of CUB, whose failures come in two ways: as a result, and, where one of
 * the calls of the runtime fails that it makes itself, as an exception. */
#ifndef RAVEL_CUDA_CUDA_CUB_CALL_HPP
#define RAVEL_CUDA_CUDA_CUB_CALL_HPP

#include <stdio.h>

#include <exception>
#include <mutex>

#include <cuda_runtime.h>

namespace ravel {

/* What CUB has thrown in this process; null if nothing. By an exception it leaves what it knows
 * of a device (PerDeviceAttributeCache of its util_device.cuh) locked, and waits for that
 * without end when it is called again. */
inline const char *cub_thrown(const char *now = nullptr) {
  static std::mutex lock;
  static char first[200];
  const std::lock_guard<std::mutex> hold(lock);
  if (now && *first == '\0') snprintf(first, sizeof first, "%s", now);
  return *first ? first : nullptr;
}

/* What went wrong, or null; f() makes the call and gives a cudaError_t. After an exception no
 * call is made. */
template <class F> const char *cub_failure(F f) {
  if (const char *before = cub_thrown()) return before;
  try {
    const cudaError_t e = f();
    return e == cudaSuccess ? nullptr : cudaGetErrorString(e);
  } catch (const std::exception &e) {
    return cub_thrown(e.what());
  }
}

/* The memory that a call wants, which f(bytes) asks for: at least 1, since CUB takes a null for
 * the question. What fails here fails again when the call itself is made, and is reported then.
 */
template <class F> int64_t cub_scratch(F f) {
  size_t bytes = 0;
  if (cub_failure([&] { return f(bytes); })) cudaGetLastError();
  return bytes > 0 ? (int64_t)bytes : 1;
}

} // namespace ravel
#endif
