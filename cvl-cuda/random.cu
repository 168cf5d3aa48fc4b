/* random.cu - the operations that are effects of a program: RAND and ASSERT.
 *
 * Each takes one launch, or none if the host knows that all flags are true. RAND reads its
 * bounds and writes its numbers. ASSERT reads the flags, and the other operands only where one
 * is false.
 */
#include "cvl-cuda/elementwise.hpp"

namespace ravel {
namespace {

/* ---- RAND ---- */

struct words {
  uint32_t a, b, c, d;
};

/* Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2,
 * 3"). */
HD words philox(uint64_t seed, uint64_t j, uint64_t k) {
  words w = {(uint32_t)j, (uint32_t)(j >> 32), (uint32_t)k, (uint32_t)(k >> 32)};
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t p = (uint64_t)w.a * 0xD2511F53u;
    const uint64_t q = (uint64_t)w.c * 0xCD9E8D57u;
    w = {(uint32_t)(q >> 32) ^ w.b ^ key0, (uint32_t)q, (uint32_t)(p >> 32) ^ w.d ^ key1,
         (uint32_t)p};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return w;
}

/* Returns the high half of x * y. */
HD uint64_t high_product(uint64_t x, uint64_t y) {
  const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
  const uint64_t middle = x1 * y0 + (x0 * y0 >> 32);
  const uint64_t other = x0 * y1 + (uint32_t)middle;
  return x1 * y1 + (middle >> 32) + (other >> 32);
}
HD int32_t scaled(const words &w, int32_t bound) {
  return (int32_t)((uint64_t)w.a * (uint32_t)bound >> 32);
}
HD int64_t scaled(const words &w, int64_t bound) {
  return (int64_t)high_product((uint64_t)w.b << 32 | w.a, (uint64_t)bound);
}

template <class T, class A> struct random_body {
  using operands = T;
  cvl_random which;
  A bounds;
  faults bad;
  HD T load(int64_t j) const { return bounds[j]; }
  template <int U> HD void load_many(int64_t j, int64_t step, T (&to)[U]) const {
    load_computed(bounds, j, step, to);
  }
  HD T result(int64_t j, T bound) const {
    if (bound > 0) return scaled(philox(which.seed, which.first + (uint64_t)j, which.k), bound);
    bad.report(CVL_E_BOUND, j, (int64_t)bound, 0, 0);
    return 0;
  }
};

/* ---- ASSERT ---- */

/* Index i stands for WIDTH flags, which are tested together, since a false one is rare. */
template <class T> struct assert_body {
  enum { WIDTH = 16 };
  int64_t n;
  operand<uint8_t> flags;
  operand<T> v, w;
  faults bad;

  HD void look(int64_t j) const {
    if (!flags[j]) bad.report(CVL_E_ASSERT, j, (int64_t)v[j], (int64_t)w[j], 0);
  }
  HD void operator()(int64_t i) const {
    const int64_t first = i * WIDTH, last = first + WIDTH < n ? first + WIDTH : n;
    if (flags.kind == FROM_MEMORY && last - first == WIDTH) {
      int all = 1;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (int k = 0; k < WIDTH; k++) all &= (int)flags.data[first + k];
      if (all) return;
    }
    for (int64_t j = first; j < last; j++) look(j);
  }
};

} // namespace

void random_numbers(context &c, uint64_t site, const cvl_random &which, const cvl_value &bounds,
                    cvl_value *out) {
  const int64_t n = bounds.form == CVL_VECTOR ? settled_length(c, *bounds.as.vector) : 1;
  work w(c, site, {&bounds}, n);
  with_int(c.int_elem, [&](auto zero) {
    using T = decltype(zero);
    const operand<T> b = w.read<T>(bounds);
    if (is_plain(b)) {
      const random_body<T, plain_operand<T>> body{which, plain(b), w.bad()};
      w.give(out, map_plain<T>(w, "random", body, n));
    } else {
      const random_body<T, operand<T>> body{which, b, w.bad()};
      w.give(out, map_computed<T>(w, "random", body, n));
    }
  });
}

void assert_all(context &c, uint64_t site, const cvl_value &flags, const cvl_value &v,
                const cvl_value &w) {
  uint8_t flag;
  if (constant(flags, &flag) && flag) return;
  const int64_t n = flags.form == CVL_VECTOR ? settled_length(c, *flags.as.vector) : 1;
  work at(c, site, {&flags, &v, &w}, n);
  with_int(c.int_elem, [&](auto zero) {
    using T = decltype(zero);
    const assert_body<T> body{n, at.read<uint8_t>(flags), at.read<T>(v), at.read<T>(w),
                              at.bad()};
    at.run(
        launch_n("assert", n / assert_body<T>::WIDTH + (n % assert_body<T>::WIDTH != 0), body));
  });
}

} // namespace ravel
