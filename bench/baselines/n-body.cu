// n-body.cu - a thread for each body that is pulled; those that pull come to a block of threads
// a tile at a time, through its shared memory.
extern "C" {
#include "baseline.h"
}

enum { TILE = 256 };

struct body {
  real x, y, z, mass;
};

static __global__ void pull(int64_t n, const real *x, const real *y, const real *z,
                            const real *mass, real *ax, real *ay, real *az) {
  __shared__ body tile[TILE];
  const int64_t i = int64_t(blockIdx.x) * TILE + threadIdx.x;
  const bool pulled = i < n;
  const real px = pulled ? x[i] : 0, py = pulled ? y[i] : 0, pz = pulled ? z[i] : 0;
  real fx = 0, fy = 0, fz = 0;
  for (int64_t first = 0; first < n; first += TILE) {
    const int64_t j = first + threadIdx.x;
    if (j < n) tile[threadIdx.x] = {x[j], y[j], z[j], mass[j]};
    __syncthreads();
    const int filled = n - first < TILE ? int(n - first) : TILE;
#pragma unroll 8
    for (int k = 0; k < filled; k++) {
      const body b = tile[k];
      const real dx = b.x - px, dy = b.y - py, dz = b.z - pz;
      const real r2 = dx * dx + dy * dy + dz * dz + real(1e-4);
      const real pulls = b.mass / (r2 * sqrt(r2));
      fx += pulls * dx;
      fy += pulls * dy;
      fz += pulls * dz;
    }
    __syncthreads();
  }
  if (!pulled) return;
  ax[i] = fx;
  ay[i] = fy;
  az[i] = fz;
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  real *ax = result(results, 0, ARRAY_REAL, n)->as.r;
  real *ay = result(results, 1, ARRAY_REAL, n)->as.r;
  real *az = result(results, 2, ARRAY_REAL, n)->as.r;
  if (n == 0) return;
  pull<<<unsigned((n + TILE - 1) / TILE), TILE>>>(n, arguments[0].as.r, arguments[1].as.r,
                                                  arguments[2].as.r, arguments[3].as.r, ax, ay,
                                                  az);
}
