/* serve.cu - what serve.c wants of a GPU. A program NAME.cu defines `baseline` as baseline.h
 * says, with C linkage:
 *
 *     extern "C" {
 *     #include "baseline.h"
 *     }
 *     extern "C" void baseline(const struct array *arguments, struct array *results) { ... }
 *
 * Elements of arguments that are arrays, of results and of scratch memory are in the device's
 * memory; an argument that is a number is in the host's. It uses the default stream, and need
 * not wait for what it starts.
 */
extern "C" {
#include "serve-gpu.h"
}

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

void *device_allocate(size_t bytes) {
  void *at = nullptr;
  check(cudaMalloc(&at, bytes));
  return at;
}

void device_free(void *at) {
  check(cudaFree(at));
}

void device_copy_in(void *device, const void *host, size_t bytes) {
  check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void device_copy_out(void *host, const void *device, size_t bytes) {
  check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

void device_check(int error) {
  check((cudaError_t)error);
}

void device_wait(void) {
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}
