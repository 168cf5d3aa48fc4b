/* random.c - Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
 * 1, 2, 3"). Each number has a block of its own, so that any of them can be computed alone. */
#include "cvl-cpu/kernels/random.h"

struct memory_block {
  uint32_t word[4];
};

static inline __attribute__((always_inline)) struct memory_block
philox(uint64_t seed, uint64_t j, uint64_t k) {
  uint32_t a = (uint32_t)j, b = (uint32_t)(j >> 32), c = (uint32_t)k, d = (uint32_t)(k >> 32);
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t p = (uint64_t)a * UINT32_C(0xD2511F53);
    const uint64_t q = (uint64_t)c * UINT32_C(0xCD9E8D57);
    a = (uint32_t)(q >> 32) ^ b ^ key0;
    b = (uint32_t)q;
    c = (uint32_t)(p >> 32) ^ d ^ key1;
    d = (uint32_t)p;
    key0 += UINT32_C(0x9E3779B9);
    key1 += UINT32_C(0xBB67AE85);
  }
  return (struct memory_block){{a, b, c, d}};
}

/* Returns the high 64 bits of x * y, computed by halves. It vectorises, since it uses no
 * 128-bit type. */
static inline uint64_t random_high_product(uint64_t x, uint64_t y) {
  const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
  const uint64_t middle = x1 * y0 + (x0 * y0 >> 32);
  const uint64_t other = x0 * y1 + (uint32_t)middle;
  return x1 * y1 + (middle >> 32) + (other >> 32);
}

static uint64_t random_i32(uint64_t seed, uint64_t k, uint64_t first, uint64_t n,
                           const void *bounds, void *to) {
  const int32_t *bound = bounds;
  int32_t *out = to;
  for (uint64_t i = 0; i < n; i++) {
    if (bound[i] <= 0) return i;
  }
  INDEPENDENT
  for (uint64_t i = 0; i < n; i++) {
    const struct memory_block b = philox(seed, first + i, k);
    out[i] = (int32_t)((uint64_t)b.word[0] * (uint32_t)bound[i] >> 32);
  }
  return n;
}

static uint64_t random_i64(uint64_t seed, uint64_t k, uint64_t first, uint64_t n,
                           const void *bounds, void *to) {
  const int64_t *bound = bounds;
  int64_t *out = to;
  for (uint64_t i = 0; i < n; i++) {
    if (bound[i] <= 0) return i;
  }
  INDEPENDENT
  for (uint64_t i = 0; i < n; i++) {
    const struct memory_block b = philox(seed, first + i, k);
    const uint64_t u = (uint64_t)b.word[1] << 32 | b.word[0];
    out[i] = (int64_t)random_high_product(u, (uint64_t)bound[i]);
  }
  return n;
}

const struct random_kernels KERNEL(random_kernels) = {{random_i32, random_i64}};
