/* cub-call.hpp - calls of CUB. A failure of CUB is a result; but if a call of the runtime fails
 * within CUB, it may be an exception. */
#ifndef RAVEL_CUDA_CUDA_CUB_CALL_HPP
#define RAVEL_CUDA_CUDA_CUB_CALL_HPP

#include <stdio.h>

#include <exception>
#include <mutex>

#include <cuda_runtime.h>

namespace ravel {

/* Returns what CUB has thrown in this process; null if nothing. An exception leaves CUB's table
 * of device attributes locked (PerDeviceAttributeCache in its util_device.cuh), and the next
 * call would wait for that without end. */
inline const char *cub_thrown(const char *now = nullptr) {
  static std::mutex lock;
  static char first[200];
  const std::lock_guard<std::mutex> hold(lock);
  if (now && *first == '\0') snprintf(first, sizeof first, "%s", now);
  return *first ? first : nullptr;
}

/* Calls f(), which calls CUB and returns a cudaError_t. Returns what went wrong, or null. After
 * an exception f is not called any more. */
template <class F> const char *cub_failure(F f) {
  if (const char *before = cub_thrown()) return before;
  try {
    const cudaError_t e = f();
    return e == cudaSuccess ? nullptr : cudaGetErrorString(e);
  } catch (const std::exception &e) {
    return cub_thrown(e.what());
  }
}

/* Returns the bytes of memory that a call wants, by asking f(bytes). It is at least 1, since
 * CUB takes a null pointer for the question. An error here occurs again when the call itself is
 * made, and is reported then. */
template <class F> int64_t cub_scratch(F f) {
  size_t bytes = 0;
  if (cub_failure([&] { return f(bytes); })) cudaGetLastError();
  return bytes > 0 ? (int64_t)bytes : 1;
}

} // namespace ravel
#endif
