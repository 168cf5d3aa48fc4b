// dot-product.cu - cuBLAS's dot product, whose result stays on the device.
extern "C" {
#include "baseline.h"
}

#include <cublas_v2.h>

extern "C" void baseline(const struct array *arguments, struct array *results) {
  static cublasHandle_t handle;
  if (!handle) {
    cublasCreate(&handle);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  }
  const real *x = arguments[0].as.r, *y = arguments[1].as.r;
  const int64_t n = arguments[0].length;
  real *sum = result(results, 0, ARRAY_REAL, 1)->as.r;
#if FLOAT_BITS == 32
  cublasSdot_64(handle, n, x, 1, y, 1, sum);
#else
  cublasDdot_64(handle, n, x, 1, y, 1, sum);
#endif
}
