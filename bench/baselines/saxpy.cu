// saxpy.cu - a x + y into a new vector, by a kernel with one element a thread. (That of cuBLAS
// overwrites y.)
extern "C" {
#include "baseline.h"
}

static __global__ void saxpy(int64_t n, real a, const real *__restrict__ x,
                             const real *__restrict__ y, real *__restrict__ z) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) z[i] = a * x[i] + y[i];
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[1].length;
  real *z = result(results, 0, ARRAY_REAL, n)->as.r;
  if (n == 0) return;
  saxpy<<<(unsigned)((n + 255) / 256), 256>>>(n, arguments[0].as.r[0], arguments[1].as.r,
                                              arguments[2].as.r, z);
}
