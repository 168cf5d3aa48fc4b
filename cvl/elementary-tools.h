/* elementary-tools.h - the parts of the functions of elementary.h: bits of doubles and of
 * floats, exact sums and products, short polynomials, powers of two. Only elementary.h includes
 * it; what that file says about bits holds here, too. Names start with e_.
 */
#ifndef RAVEL_ELEMENTARY_TOOLS_H
#define RAVEL_ELEMENTARY_TOOLS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A loop is vectorised only if all of its body is inlined, so the compiler gets no choice. */
#ifdef __CUDACC__
#define E_INLINE static inline __host__ __device__
#else
#define E_INLINE static inline __attribute__((always_inline))
#endif

/* ---- bits ---- */

E_INLINE uint64_t bits_of_f64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

E_INLINE uint32_t bits_of_f32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

E_INLINE double f64_of_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

E_INLINE float f32_of_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* ---- sums, products, polynomials ---- */

/* An unevaluated sum. |tail| is at most about half a unit in the last place of head. */
struct e_pair {
  double head, tail;
};

/* Returns a + b exactly. */
E_INLINE struct e_pair e_sum(double a, double b) {
  const double s = a + b;
  const double b_rounded = s - a;
  const struct e_pair r = {s, (a - (s - b_rounded)) + (b - b_rounded)};
  return r;
}

/* Returns a + b exactly, where |a| >= |b| or a = 0. */
E_INLINE struct e_pair e_sum_ordered(double a, double b) {
  const double s = a + b;
  const struct e_pair r = {s, b - (s - a)};
  return r;
}

/* Returns the upper 26 bits of x. */
E_INLINE double e_upper(double x) {
  return f64_of_bits(bits_of_f64(x) & ~0x7ffffffULL);
}

/* Returns a * b, exactly except for about 2^-106 of it. */
E_INLINE struct e_pair e_product(double a, double b) {
  const double a1 = e_upper(a), a2 = a - a1, b1 = e_upper(b), b2 = b - b1;
  const double p = a * b;
  const struct e_pair r = {p, (((a1 * b1 - p) + a1 * b2) + a2 * b1) + a2 * b2};
  return r;
}

/* Returns (a.head + a.tail) / (b.head + b.tail) as head + tail. */
E_INLINE struct e_pair e_quotient(struct e_pair a, struct e_pair b) {
  const double inverse = 1.0 / b.head;
  const double q = a.head * inverse;
  const struct e_pair p = e_product(q, b.head);
  const double rest = ((a.head - p.head) - p.tail) + (a.tail - q * b.tail);
  const struct e_pair r = {q, rest * inverse};
  return r;
}

/* Polynomials of two to four coefficients, the lowest first; z2 is z * z. */
E_INLINE double e_line(double z, double a, double b) {
  return a + b * z;
}
E_INLINE double e_parabola(double z, double z2, double a, double b, double c) {
  return (a + b * z) + c * z2;
}
E_INLINE double e_cubic(double z, double z2, double a, double b, double c, double d) {
  return (a + b * z) + (c + d * z) * z2;
}

/* Adding it to an integral x of less than 2^51 puts x, in two's complement, into the low bits.
 * Adding it to another x of that range rounds x to an integer. */
#define E_ROUNDER 0x1.8p52

/* Returns 2^k for integral k in -1022 .. 1023. */
E_INLINE double e_power_of_2(double k) {
  return f64_of_bits((bits_of_f64(k + E_ROUNDER) << 52) + 0x3ff0000000000000ULL);
}

/* Returns x * 2^k for integral k in -2044 .. 2046 and an x near 1, rounded once. It multiplies
 * by half of k and then by the other half. The halves are taken from the integer that the sum
 * holds: E_ROUNDER above it is even, and is shifted out. */
E_INLINE double e_scale(double x, double k) {
  const uint64_t whole = bits_of_f64(k + E_ROUNDER), half = whole >> 1;
  return x * f64_of_bits((half << 52) + 0x3ff0000000000000ULL) *
         f64_of_bits(((whole - half) << 52) + 0x3ff0000000000000ULL);
}

E_INLINE double e_abs(double x) {
  return f64_of_bits(bits_of_f64(x) & ~(1ULL << 63));
}

/* Returns |x| with the sign of y. */
E_INLINE double e_with_sign(double x, double y) {
  return f64_of_bits((bits_of_f64(x) & ~(1ULL << 63)) | (bits_of_f64(y) & 1ULL << 63));
}

/* Returns x, or the one NaN if x is a NaN. */
E_INLINE double e_settled(double x) {
  return x == x ? x : (double)NAN;
}

/* Returns |x|, for floats. */
E_INLINE float e_abs_f32(float x) {
  return f32_of_bits(bits_of_f32(x) & 0x7fffffff);
}
E_INLINE float e_with_sign_f32(float x, float y) {
  return f32_of_bits((bits_of_f32(x) & 0x7fffffff) | (bits_of_f32(y) & 0x80000000));
}
E_INLINE float e_settled_f32(float x) {
  return x == x ? x : (float)NAN;
}

/* Returns x limited to a negative and a positive bound. Bits are compared, where NaNs lie
 * beyond infinity: two instructions, and the result is a number. */
E_INLINE float e_bounded(float x, float least, float most) {
  const int32_t u = (int32_t)bits_of_f32(x), above = (int32_t)bits_of_f32(most);
  const uint32_t v = (uint32_t)(u < above ? u : above), below = bits_of_f32(least);
  return f32_of_bits(v < below ? v : below);
}

/* Returns x - n (high + low), where n * high is exact. */
E_INLINE double e_less(double x, double n, double high, double low) {
  return (x - n * high) - n * low;
}

#define E_LN2_HIGH     0x1.62e42fefa2000p-1 /* 40 bits: a product with any exponent is exact */
#define E_LN2_LOW      0x1.9ef35793c7673p-41
#define E_HALF_PI_HIGH 0x1.921fb54442d18p+0
#define E_HALF_PI_LOW  0x1.1a62633145c07p-54
/* Constants for floats: pi, such that multiples of pi / 2 up to 2^20 of its first part are
 * exact, and single constants. */
#define E_PI_HIGH      0x1.921fb54400000p+1
#define E_PI_LOW       0x1.0b4611a626331p-33
#define E_INVERSE_PI   0x1.45f306dc9c883p-2
#define E_LN2          0x1.62e42fefa39efp-1
#define E_INVERSE_LN2  0x1.71547652b82fep+0
#define E_ROOT_OF_HALF 0x1.6a09e667f3bcdp-1

#endif
