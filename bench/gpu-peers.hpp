/* gpu-peers.hpp - the time that CUB, Thrust and cuBLAS need for the same work on the same data.
 * They are called by hand, everything is allocated before, and times are taken by events on one
 * stream.
 *
 * gpu-peers.cu is the program; gpu-peers-ops.cu is compiled once for each element type.
 */
#ifndef RAVEL_BENCH_GPU_PEERS_HPP
#define RAVEL_BENCH_GPU_PEERS_HPP

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace peers {

/* Ends the program with a message if a call failed. */
inline void check(cudaError_t e, const char *what) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "gpu-peers: %s: %s\n", what, cudaGetErrorString(e));
  exit(1);
}

/* n elements of device memory. */
template <class T> struct device_vector {
  T *data = nullptr;
  int64_t n;
  explicit device_vector(int64_t n) : n(n) {
    check(cudaMalloc(&data, std::max<size_t>(1, (size_t)n * sizeof(T))), "memory");
  }
  ~device_vector() { cudaFree(data); }
  device_vector(const device_vector &) = delete;
  device_vector &operator=(const device_vector &) = delete;
};

/* The rows to be measured, and where their results are written. */
struct bench {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  FILE *json;  /* or nullptr */
  FILE *count; /* where the interpreter of PTX counts; nothing is timed. Or nullptr */
  unsigned rounds;
  bool narrow, wide; /* i32 and f32, i64 and f64 */
  const char *only;  /* the name of the only row to be measured; or nullptr */
  double end;        /* seconds, by now() */
  unsigned left_out;
  std::vector<int> sizes; /* log2 */
  void *blas;             /* handle of cuBLAS, or nullptr */
};

double now();

/* With `count`: writes a line, issues once, waits and writes a line, as bench-ops does. Else
 * measures issue(), which puts work that moves so many bytes into the stream. It warms up, then
 * runs sequences of a few milliseconds; it reports median, least and most over the rounds. */
void measure(bench &, const char *peer, const char *name, const char *elem, const char *shape,
             int64_t n, double bytes, const std::function<void()> &issue);

/* Prepares a call of CUB, which is a function of scratch memory and its size: allocates the
 * memory. */
template <class F> std::function<void()> with_scratch(std::vector<void *> &owned, F call) {
  size_t bytes = 0;
  void *scratch = nullptr;
  check(call((void *)nullptr, bytes), "asking for scratch memory");
  check(cudaMalloc(&scratch, std::max<size_t>(bytes, 1)), "scratch memory");
  owned.push_back(scratch);
  return [=]() mutable { check(call(scratch, bytes), "a call of CUB"); };
}

/* Run cuBLAS's dot product (result on the device) and y = a x + y. They return false without
 * cuBLAS. */
bool blas_dot(const bench &, int64_t n, const float *x, const float *y, float *out);
bool blas_dot(const bench &, int64_t n, const double *x, const double *y, double *out);
bool blas_axpy(const bench &, int64_t n, const float *a, const float *x, float *y);
bool blas_axpy(const bench &, int64_t n, const double *a, const double *x, double *y);

/* Measure all peers on one element type. */
void measure_i32(bench &, int64_t n);
void measure_i64(bench &, int64_t n);
void measure_f32(bench &, int64_t n);
void measure_f64(bench &, int64_t n);

} // namespace peers
#endif
