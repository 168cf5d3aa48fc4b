// mandelbrot.cu - a thread for each point.
extern "C" {
#include "baseline.h"
}

static __global__ void escape(int64_t rows, int64_t columns, int64_t most,
                              integer *__restrict__ steps) {
  const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  const int64_t i = blockIdx.y * (int64_t)blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  const real cx = 3 * (real)j / (real)columns - (real)2.2, cy = 2 * (real)i / (real)rows - 1;
  real x = 0, y = 0;
  integer n = 0;
  while (n < most && x * x + y * y <= 4) {
    const real next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    n++;
  }
  steps[i * columns + j] = n;
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int64_t rows = arguments[0].as.i[0], columns = arguments[1].as.i[0];
  integer *steps = result(results, 0, ARRAY_INTEGER, rows * columns)->as.i;
  if (rows * columns == 0) return;
  const dim3 block(16, 8); // near points leave together
  const dim3 grid((unsigned)((columns + block.x - 1) / block.x),
                  (unsigned)((rows + block.y - 1) / block.y));
  escape<<<grid, block>>>(rows, columns, arguments[2].as.i[0], steps);
}
