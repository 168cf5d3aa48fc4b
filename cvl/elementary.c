/* elementary.c - reduces the angle of a large argument. sin, cos and tan need it when x is so
 * large that a few doubles cannot hold pi/2 to enough digits (Payne and Hanek, "Radian
 * reduction for trigonometric functions", 1983).
 *
 * With x = m 2^e, the quadrant and the fraction of x * 2/pi depend on 192 bits of 2/pi, which e
 * selects. Bits before these contribute multiples of 4, and bits after them are too small to
 * matter. The product is taken modulo 2^192 in integers. No double comes closer to a multiple
 * of pi/2 than about 2^-62, so 128 correct bits of fraction leave more than 64 significant
 * ones.
 */
#include "cvl/elementary.h"

/* The header includes this file when it is compiled for a device. */
#ifdef __CUDACC__
#define E_PRIVATE static inline __host__ __device__
#define E_PUBLIC  static inline __host__ __device__
#else
#define E_PRIVATE static
#define E_PUBLIC
#endif

__extension__ typedef unsigned __int128 uint128;

/* Counts the zeros at the top of x, which is not 0. */
E_PRIVATE unsigned zeros_above(uint64_t x) {
#ifdef __CUDA_ARCH__
  return (unsigned)__clzll((long long)x);
#else
  return (unsigned)__builtin_clzll(x);
#endif
}

E_PRIVATE uint64_t window_word(unsigned first, unsigned k) {
  /* 2/pi, after 64 zero bits, so that the window may start before the point. */
  static const uint64_t two_over_pi[] = {
      0,
      0xa2f9836e4e441529,
      0xfc2757d1f534ddc0,
      0xdb6295993c439041,
      0xfe5163abdebbc561,
      0xb7246e3a424dd2e0,
      0x06492eea09d1921c,
      0xfe1deb1cb129a73e,
      0xe88235f52ebb4484,
      0xe99c7026b45f7e41,
      0x3991d639835339f4,
      0x9c845f8bbdf9283b,
      0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f,
      0x6d367ecf27cb09b7,
      0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b,
      0x3d0739f78a5292ea,
      0x6bfb5fb11f8d5d08,
      0x56033046fc7b6bab,
      0xf0cfbc209af4361d,
  };
  const unsigned word = first / 64 + k, shift = first % 64;
  return shift == 0 ? two_over_pi[word]
                    : two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift);
}

/* Multiplies a fraction below one half, hi/2^64 + lo/2^128, by pi/2. */
E_PRIVATE struct e_pair times_half_pi(uint64_t hi, uint64_t lo) {
  const struct e_pair none = {0.0, 0.0};
  if (hi == 0 && lo == 0) return none;
  const unsigned zeros = hi ? zeros_above(hi) : 64 + zeros_above(lo);
  const uint128 fraction = ((uint128)hi << 64 | lo) << zeros;
  const uint64_t f1 = (uint64_t)(fraction >> 64), f0 = (uint64_t)fraction;
  const uint64_t p1 = 0xc90fdaa22168c234ULL, p0 = 0xc4c6628b80dc1cd1ULL; /* pi/2 * 2^127 */
  const uint128 product = (uint128)f1 * p1 + (uint64_t)((uint128)f1 * p0 >> 64) +
                          (uint64_t)((uint128)f0 * p1 >> 64);
  const uint64_t top = (uint64_t)(product >> 64), low = (uint64_t)product;
  const double head = (double)(top & ~0x7ffULL);
  const double tail = (double)(top & 0x7ffULL) + (double)(low >> 11) * 0x1p-53;
  const double unit = f64_of_bits((uint64_t)(1023 - 63 - zeros) << 52);
  return e_sum_ordered(head * unit, tail * unit);
}

E_PUBLIC struct e_angle elementary_reduce(double x) {
  const uint64_t bits = bits_of_f64(x);
  const uint64_t m = (bits & 0xfffffffffffffULL) | 1ULL << 52;
  const unsigned first =
      (unsigned)(bits >> 52 & 0x7ff) - 1075 + 62; /* weight 2^1 after the product with m */
  const uint128 p0 = (uint128)m * window_word(first, 2);
  const uint128 p1 = (uint128)m * window_word(first, 1) + (uint64_t)(p0 >> 64);
  const uint64_t w2 = m * window_word(first, 0) + (uint64_t)(p1 >> 64);
  const uint64_t w1 = (uint64_t)p1, w0 = (uint64_t)p0;
  /* Two bits are the quadrant, the others the fraction. From one half on it counts down from
   * the next quadrant. */
  uint64_t quadrant = w2 >> 62;
  uint64_t hi = w2 << 2 | w1 >> 62, lo = w1 << 2 | w0 >> 62;
  const int down = (int)(hi >> 63);
  if (down) {
    quadrant++;
    hi = ~hi;
    lo = ~lo;
  }
  struct e_angle angle = {times_half_pi(hi, lo), quadrant};
  if (down != (int)(bits >> 63)) {
    angle.r.head = -angle.r.head;
    angle.r.tail = -angle.r.tail;
  }
  if (bits >> 63) angle.quadrant = 0 - quadrant;
  return angle;
}

#undef E_PRIVATE
#undef E_PUBLIC
