/* elementary.h - the functions that MATH() of operations.def names, for double and float.
 * floor, ceil, trunc and sqrt are exactly as in C. exp log sin cos tan asin acos atan
 * sinh cosh tanh have an error below one unit in the last place of a double, and below 0.502
 * units of a float.
 *
 *     ravel_NAME_f64(x), ravel_NAME_f32(x)                one element
 *     elementary_NAME_f64(x, y, n), elementary_NAME_f32   y[i] = NAME(x[i]) for i < n; y may be
 *                                                         x, but may not overlap it otherwise
 *
 * Both give the same bits, whatever the position, the length, the instruction set, the compiler
 * and the processor or GPU, as cvl.h promises. The functions consist of IEEE + - * / sqrt,
 * comparisons and integer operations only. Nothing is contracted (-ffp-contract=off,
 * --fmad=false) or left to a C library, and every conditional is a choice between two values.
 * So compilers vectorise the loops of elementary-arrays.h for any instruction set, and a file
 * that includes this one is compiled once for each. The only branch is in sin, cos and tan
 * beyond 2^20, where elementary.c reduces the argument. The loops look for such elements block
 * by block and do them again afterwards. The loops of exp and log of doubles check whether a
 * block has only arguments whose results are normal numbers, because then there is less to do.
 *
 * The functions of doubles are in this file, those of floats in elementary-single.h. Every NaN
 * result is the same NaN, that of the NAN macro. Otherwise the special cases are those of C.
 *
 * Methods: argument reduction, and polynomials by scripts/derive-elementary.py. A double is
 * built as head + tail. The head is exact and large, and the tail has what was rounded off, so
 * that only the last addition costs half a unit. Exact sums and products: Knuth, TAOCP 2,
 * 4.2.2; Dekker, "A floating-point technique for extending the available precision", 1971.
 */
#ifndef RAVEL_ELEMENTARY_H
#define RAVEL_ELEMENTARY_H

#include "cvl/elementary-tools.h"

/* ---- exact in C ---- */

E_INLINE double ravel_floor_f64(double x) {
  return floor(x);
}
E_INLINE double ravel_ceil_f64(double x) {
  return ceil(x);
}
E_INLINE double ravel_trunc_f64(double x) {
  return trunc(x);
}
E_INLINE double ravel_sqrt_f64(double x) {
  return sqrt(x);
}
E_INLINE float ravel_floor_f32(float x) {
  return floorf(x);
}
E_INLINE float ravel_ceil_f32(float x) {
  return ceilf(x);
}
E_INLINE float ravel_trunc_f32(float x) {
  return truncf(x);
}
E_INLINE float ravel_sqrt_f32(float x) {
  return sqrtf(x);
}

/* ---- exponentials ---- */

/* e^x = 2^k (head + tail), where k is integral and head + tail between 0.7 and 1.42; |x| <
 * 2^20. */
E_INLINE struct e_pair e_exponential(double x, double *k) {
  *k = (x * 0x1.71547652b82fep+0 + E_ROUNDER) - E_ROUNDER;
  const double r1 = x - *k * E_LN2_HIGH; /* exact */
  const double low = *k * E_LN2_LOW;
  const double r = r1 - low;
  const double r_tail = (r1 - r) - low;
  const double r2 = r * r, r4 = r2 * r2;
  const double p = e_cubic(r, r2, 0x1.0000000000000p-1, 0x1.5555555555557p-3,
                           0x1.5555555555556p-5, 0x1.11111111100bcp-7) +
                   r4 * (e_cubic(r, r2, 0x1.6c16c16c1623bp-10, 0x1.a01a01abf949ap-13,
                                 0x1.a01a01a71a6e5p-16, 0x1.71de01facb5a2p-19) +
                         r4 * e_parabola(r, r2, 0x1.27e4daaf8a152p-22, 0x1.af4e5b663facap-26,
                                         0x1.1f7458843301ep-29));
  const struct e_pair one = e_sum_ordered(1.0, r);
  return e_sum_ordered(one.head, one.tail + (r_tail + r2 * p));
}

/* e^x = 2^k r, where r is between 0.7 and 1.42. *t = k + E_ROUNDER, which holds k in its lowest
 * bits. The part subtracted from r1 is not rounded twice: it is added to the small terms. The
 * error is below 0.9 of a unit, half a unit of which is from the last sum. */
E_INLINE double e_near_exp(double x, double *t) {
  *t = x * 0x1.71547652b82fep+0 + E_ROUNDER;
  const double k = *t - E_ROUNDER;
  const double r1 = x - k * E_LN2_HIGH; /* exact */
  const double low = k * E_LN2_LOW;
  const double r = r1 - low;
  const double r2 = r * r, r4 = r2 * r2;
  const double p = e_cubic(r, r2, 0x1.0000000000001p-1, 0x1.5555555555556p-3,
                           0x1.5555555553d34p-5, 0x1.1111111110933p-7) +
                   r4 * (e_cubic(r, r2, 0x1.6c16c1789e1a1p-10, 0x1.a01a01a80d689p-13,
                                 0x1.a019b8c6536fap-16, 0x1.71de0cbe60db8p-19) +
                         r4 * e_line(r, 0x1.2891d98a596b9p-22, 0x1.af3aa939d192bp-26));
  const struct e_pair one = e_sum_ordered(1.0, r1);
  return one.head + (one.tail + (r2 * p - low));
}

/* The sign of e_odd_NAME's result is set for all arguments whose results are not normal
 * numbers. For the others e_even_NAME gives the bits of ravel_NAME_f64 with less work. */
E_INLINE uint64_t e_odd_exp(double x) {
  return bits_of_f64(700.0) - bits_of_f64(e_abs(x));
}
E_INLINE double e_even_exp(double x) {
  double t;
  const double r = e_near_exp(x, &t);
  return f64_of_bits(bits_of_f64(r) + (bits_of_f64(t) << 52));
}

/* Half of the factor 2^k goes into the exponent, which is exact, and half into a product, which
 * rounds once. Bits are compared with the bounds, where NaNs lie beyond infinity: one
 * instruction. */
E_INLINE double ravel_exp_f64(double x) {
  double t;
  const int64_t most = (int64_t)bits_of_f64(710.0); /* such an x gives infinity, */
  const uint64_t least = bits_of_f64(-746.0);       /* and such a one 0 */
  const int64_t u = (int64_t)bits_of_f64(x);
  const uint64_t v = (uint64_t)(u < most ? u : most);
  const double r = e_near_exp(f64_of_bits(v < least ? v : least), &t);
  const uint64_t whole = bits_of_f64(t), half = whole >> 1;
  const double y = f64_of_bits(bits_of_f64(r) + (half << 52)) *
                   f64_of_bits(((whole - half) << 52) + 0x3ff0000000000000ULL);
  return x == x ? y : (double)NAN;
}

/* Beyond 1 it is (e^x - e^-x) / 2; below 1 the difference would cancel. */
E_INLINE double ravel_sinh_f64(double x) {
  const double a = e_abs(x);
  double k;
  const struct e_pair e = e_exponential(a > 711.0 ? 711.0 : a, &k);
  const double inverse = 1.0 / e.head;
  const double k2 = k > 60.0 ? 120.0 : k + k; /* beyond 60, e^-x is lost anyway */
  const struct e_pair d =
      e_sum_ordered(e.head, -(inverse - e.tail * inverse * inverse) * e_power_of_2(-k2));
  const double large = e_scale(d.head + (d.tail + e.tail), k - 1.0);
  const double z = x * x, z2 = z * z;
  const double p = e_cubic(z, z2, 0x1.5555555555555p-3, 0x1.1111111111111p-7,
                           0x1.a01a01a01a001p-13, 0x1.71de3a556f96cp-19) +
                   z2 * z2 *
                       e_cubic(z, z2, 0x1.ae6456792a77fp-26, 0x1.612467ccb2260p-33,
                               0x1.ae777c36fd5b6p-41, 0x1.99f0806c2628dp-49);
  return e_settled(a < 1.0 ? x + x * (z * p) : e_with_sign(large, x));
}

E_INLINE double ravel_cosh_f64(double x) {
  const double a = e_abs(x);
  double k;
  const struct e_pair e = e_exponential(a > 711.0 ? 711.0 : a, &k);
  const double inverse = 1.0 / e.head;
  const double k2 = k > 60.0 ? 120.0 : k + k;
  const struct e_pair d =
      e_sum_ordered(e.head, (inverse - e.tail * inverse * inverse) * e_power_of_2(-k2));
  return e_settled(e_scale(d.head + (d.tail + e.tail), k - 1.0));
}

/* It is 1 - 2 / (e^2x + 1), but near 0 a polynomial. */
E_INLINE double ravel_tanh_f64(double x) {
  const double a = e_abs(x);
  double k;
  /* beyond 22 the result is 1 */
  const struct e_pair e = e_exponential(a > 22.0 ? 44.0 : a + a, &k);
  const double scale = e_power_of_2(k);
  const struct e_pair d = e_sum_ordered(e.head * scale, 1.0);
  const double q = 2.0 / d.head;
  const struct e_pair one = e_sum_ordered(1.0, -q);
  const double large = one.head + (one.tail + 0.5 * q * q * (d.tail + e.tail * scale));
  const double z = x * x, z2 = z * z, z4 = z2 * z2;
  const double p = e_cubic(z, z2, -0x1.5555555555555p-2, 0x1.1111111111109p-3,
                           -0x1.ba1ba1ba1a723p-5, 0x1.664f48822e32fp-6) +
                   z4 * (e_cubic(z, z2, -0x1.226e3539a2567p-7, 0x1.d6d3c5fa306d8p-9,
                                 -0x1.7da25d2dc94ddp-10, 0x1.3547b99663ef6p-11) +
                         z4 * e_cubic(z, z2, -0x1.f41cac23a5451p-13, 0x1.8c91aa027e00fp-14,
                                      -0x1.1ad8e00df097cp-15, 0x1.08286da59d447p-17));
  return e_settled(e_with_sign(a < 0.55 ? x + x * (z * p) : large, x));
}

/* ---- logarithm ---- */

#define E_ROOT_HALF 0x3fe6a09e00000000ULL /* the bits of sqrt(1/2), nearly */
E_INLINE uint64_t e_log_split(double x) {
  return bits_of_f64(x) + (0x3ff0000000000000ULL - E_ROOT_HALF);
}

/* Returns the log of m 2^k, with m between sqrt(1/2) and sqrt(2). With f = m - 1 and s = f / (2
 * + f), log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)). u holds m and k, as
 * e_log_split makes it from the bits of a normal number; `bias` is that of k. */
E_INLINE double e_log_of(uint64_t u, double bias) {
  const double k = f64_of_bits(u >> 52 | 0x4330000000000000ULL) - bias;
  const double m = f64_of_bits((u & 0xfffffffffffffULL) + E_ROOT_HALF);
  const double f = m - 1.0;
  const double half_square = 0.5 * f * f;
  const double s = f / (m + 1.0);
  const double z = s * s, z2 = z * z;
  const double p =
      e_cubic(z, z2, 0x1.5555555555558p-1, 0x1.9999999995204p-2, 0x1.2492492e09d4dp-2,
              0x1.c71c62c639fdep-3) +
      z2 * z2 *
          e_parabola(z, z2, 0x1.7462bd8f7796ep-3, 0x1.39fd392179a95p-3, 0x1.2b6688a387e03p-3);
  const struct e_pair sum = e_sum_ordered(k * E_LN2_HIGH, f);
  const double small = half_square - (s * (half_square + z * p) + k * E_LN2_LOW);
  return sum.head + (sum.tail - small);
}

/* The sign is set if x is not positive, not normal or not finite; then e_even_log does not
 * suit. */
E_INLINE uint64_t e_odd_log(double x) {
  const uint64_t u = bits_of_f64(x) - (1ULL << 52);
  return u | (u + (1ULL << 53));
}
E_INLINE double e_even_log(double x) {
  return e_log_of(e_log_split(x), 0x1p52 + 1023.0);
}

E_INLINE double ravel_log_f64(double x) {
  const int tiny = x < 0x1p-1022;
  double r = e_log_of(e_log_split(tiny ? x * 0x1p54 : x),
                      tiny ? 0x1p52 + 1023.0 + 54.0 : 0x1p52 + 1023.0);
  r = x < (double)INFINITY ? r : (double)INFINITY;
  r = x > 0.0 ? r : (double)NAN;
  return x == 0.0 ? -(double)INFINITY : r;
}

/* ---- trigonometric functions ---- */

/* Up to this limit x is reduced below, beyond it by elementary_reduce. */
#define E_REDUCE_LIMIT 0x1p20

/* x = quadrant * pi/2 + head + tail with |head| <= pi/4. Only the lowest two bits of quadrant
 * count. */
struct e_angle {
  struct e_pair r;
  uint64_t quadrant;
};

/* Returns the angle of a finite x beyond E_REDUCE_LIMIT. A device needs the function's text. */
#ifdef __CUDACC__
#include "cvl/elementary.c"
#else
#ifdef __cplusplus
extern "C"
#endif
    struct e_angle
    elementary_reduce(double x);
#endif

/* Returns the angle of an x up to E_REDUCE_LIMIT. pi/2 is in three terms of at most 33 bits,
 * whose products with n are exact, and a remainder. */
E_INLINE struct e_angle e_reduce(double x) {
  const double t = x * 0x1.45f306dc9c883p-1 + E_ROUNDER;
  const double n = t - E_ROUNDER;
  const struct e_pair a = e_sum(x - n * 0x1.921fb54400000p+0, -(n * 0x1.0b4611a600000p-34));
  const struct e_pair b = e_sum(a.head, -(n * 0x1.3198a2e000000p-69));
  const double rest = (a.tail + b.tail) - n * 0x1.b839a252049c1p-104;
  const struct e_angle r = {e_sum_ordered(b.head, rest), bits_of_f64(t)};
  return r;
}

/* Returns the cosine of the angle if `odd`, else its sine. The coefficients are chosen before
 * the polynomial is evaluated, so that only one is. */
E_INLINE struct e_pair e_sine_or_cosine(struct e_pair r, uint64_t odd) {
  const struct e_pair square = e_product(r.head, r.head);
  const double z = square.head, z2 = z * z;
  const double upper = e_line(z, odd ? 0x1.1eeb66b683028p-29 : -0x1.ae64540f0ba18p-26,
                              odd ? -0x1.907c0e63adbb6p-37 : 0x1.61217c1864fa1p-33);
  const double p = e_cubic(z, z2, odd ? 0x1.5555555555555p-5 : -0x1.5555555555555p-3,
                           odd ? -0x1.6c16c16c16960p-10 : 0x1.1111111111110p-7,
                           odd ? 0x1.a01a019f4d0edp-16 : -0x1.a01a01a019926p-13,
                           odd ? -0x1.27e4fa15bd814p-22 : 0x1.71de3a545e700p-19) +
                   z2 * z2 * (odd ? upper : upper + -0x1.ab161757f0c63p-41 * z2);
  const struct e_pair w = e_sum_ordered(1.0, -0.5 * z);
  const double sine = r.head * (z * p) + (r.tail - 0.5 * z * r.tail);
  const double cosine = w.tail + (z2 * p - (r.head * r.tail + 0.5 * square.tail));
  return e_sum_ordered(odd ? w.head : r.head, odd ? cosine : sine);
}

/* Returns the sine of angle + quadrants * pi/2. */
E_INLINE double e_sine_of(struct e_angle angle, uint64_t quadrants) {
  const uint64_t q = angle.quadrant + quadrants;
  const double r = e_sine_or_cosine(angle.r, q & 1).head;
  return e_settled(f64_of_bits(bits_of_f64(r) ^ (q & 2) << 62));
}

E_INLINE double e_tangent_of(struct e_angle angle) {
  const struct e_pair s = e_sine_or_cosine(angle.r, 0), c = e_sine_or_cosine(angle.r, 1);
  const int odd = angle.quadrant & 1;
  const struct e_pair above = {odd ? -c.head : s.head, odd ? -c.tail : s.tail};
  const struct e_pair below = {odd ? s.head : c.head, odd ? s.tail : c.tail};
  const struct e_pair q = e_quotient(above, below);
  return e_settled(q.head + q.tail);
}

/* The functions for x up to E_REDUCE_LIMIT. Near 0, sin x and tan x are x (-0.0 too). */
E_INLINE double e_near_sin_f64(double x) {
  const double r = e_sine_of(e_reduce(x), 0);
  return e_abs(x) < 0x1p-27 ? x : r;
}
E_INLINE double e_near_cos_f64(double x) {
  return e_sine_of(e_reduce(x), 1);
}
E_INLINE double e_near_tan_f64(double x) {
  const double r = e_tangent_of(e_reduce(x));
  return e_abs(x) < 0x1p-27 ? x : r;
}
/* Whether x is beyond E_REDUCE_LIMIT, and the functions for such x. */
E_INLINE int e_is_far_f64(double x) {
  return e_abs(x) > E_REDUCE_LIMIT;
}
E_INLINE double e_far_sin_f64(double x) {
  return x - x == 0.0 ? e_sine_of(elementary_reduce(x), 0) : (double)NAN;
}
E_INLINE double e_far_cos_f64(double x) {
  return x - x == 0.0 ? e_sine_of(elementary_reduce(x), 1) : (double)NAN;
}
E_INLINE double e_far_tan_f64(double x) {
  return x - x == 0.0 ? e_tangent_of(elementary_reduce(x)) : (double)NAN;
}
E_INLINE double ravel_sin_f64(double x) {
  return e_is_far_f64(x) ? e_far_sin_f64(x) : e_near_sin_f64(x);
}
E_INLINE double ravel_cos_f64(double x) {
  return e_is_far_f64(x) ? e_far_cos_f64(x) : e_near_cos_f64(x);
}
E_INLINE double ravel_tan_f64(double x) {
  return e_is_far_f64(x) ? e_far_tan_f64(x) : e_near_tan_f64(x);
}

/* ---- inverse trigonometric functions ---- */

/* For 1/2 < a <= 1, acos a = 2 asin(sqrt((1-a)/2)). Returns that root as head + tail. */
E_INLINE struct e_pair e_half_angle(double z) {
  const double s = sqrt(z);
  const struct e_pair p = e_product(s, s);
  const double twice = s + s;
  const struct e_pair r = {s, ((z - p.head) - p.tail) / (twice > 0.0 ? twice : 1.0)};
  return r;
}

/* Returns (asin x - x) / x for z = x^2 <= 1/4. */
E_INLINE double e_asin_excess(double z) {
  const double z2 = z * z, z4 = z2 * z2;
  const double p = e_cubic(z, z2, 0x1.5555555555555p-3, 0x1.3333333333389p-4,
                           0x1.6db6db6dac0eap-5, 0x1.f1c71c7a5e151p-6) +
                   z4 * (e_cubic(z, z2, 0x1.6e8ba121b9d5fp-6, 0x1.1c4efd20ebb99p-6,
                                 0x1.c990a42b32b03p-7, 0x1.7b02ef007d23ep-7) +
                         z4 * (e_cubic(z, z2, 0x1.3b462d121c5d3p-7, 0x1.31777489dfd29p-7,
                                       0x1.8dcdf11997e12p-9, 0x1.40c91fa8deb7ep-6) +
                               z4 * e_line(z, -0x1.3bd7e353ddbc1p-6, 0x1.e58a4f278e006p-6)));
  return z * p;
}

E_INLINE double ravel_asin_f64(double x) {
  const double a = e_abs(x);
  const int large = a > 0.5;
  const double z = large ? (1.0 - a) * 0.5 : x * x;
  const double excess = e_asin_excess(z);
  const struct e_pair s = e_half_angle(z);
  const struct e_pair d = e_sum_ordered(E_HALF_PI_HIGH, -2.0 * s.head);
  const double far = d.head + (d.tail + (E_HALF_PI_LOW - 2.0 * (s.tail + s.head * excess)));
  return e_settled(large ? e_with_sign(far, x) : x + x * excess);
}

E_INLINE double ravel_acos_f64(double x) {
  const double a = e_abs(x);
  const int large = a > 0.5;
  const double z = large ? (1.0 - a) * 0.5 : x * x;
  const double excess = e_asin_excess(z);
  const struct e_pair s = e_half_angle(z);
  const double low = s.tail + s.head * excess;
  const double right = 2.0 * (s.head + low);
  const struct e_pair d = e_sum_ordered(2.0 * E_HALF_PI_HIGH, -2.0 * s.head);
  const double left = d.head + (d.tail + (2.0 * E_HALF_PI_LOW - 2.0 * low));
  const struct e_pair m = e_sum_ordered(E_HALF_PI_HIGH, -x);
  const double middle = m.head + (m.tail + (E_HALF_PI_LOW - x * excess));
  const double far = x > 0.0 ? right : left;
  return e_settled(a <= 1.0 ? (large ? far : middle) : (double)NAN);
}

/* atan a = base + atan u, where u is a, (a - 1) / (a + 1) or -1 / a, so that |u| <=
 * tan(pi/8). */
E_INLINE double ravel_atan_f64(double x) {
  double a = e_abs(x);
  a = a > 0x1p60 ? 0x1p60 : a; /* the result is pi/2 from there on */
  const int middle = a > 0.41421356237309503, top = a > 2.414213562373095;
  const struct e_pair minus = e_sum(a, -1.0), plus = e_sum(a, 1.0);
  struct e_pair above = {middle ? minus.head : a, middle ? minus.tail : 0.0};
  struct e_pair below = {middle ? plus.head : 1.0, middle ? plus.tail : 0.0};
  above.head = top ? -1.0 : above.head;
  above.tail = top ? 0.0 : above.tail;
  below.head = top ? a : below.head;
  below.tail = top ? 0.0 : below.tail;
  const double base = top ? E_HALF_PI_HIGH : middle ? 0.5 * E_HALF_PI_HIGH : 0.0;
  const double base_tail = top ? E_HALF_PI_LOW : middle ? 0.5 * E_HALF_PI_LOW : 0.0;
  const struct e_pair u = e_quotient(above, below);
  const double z = u.head * u.head, z2 = z * z, z4 = z2 * z2;
  const double p = e_cubic(z, z2, -0x1.5555555555555p-2, 0x1.9999999999953p-3,
                           -0x1.249249248d768p-3, 0x1.c71c71c2fe5d9p-4) +
                   z4 * (e_cubic(z, z2, -0x1.745d165cb83aap-4, 0x1.3b1392b641b06p-4,
                                 -0x1.110e858a72e28p-4, 0x1.e199da4156fd9p-5) +
                         z4 * e_cubic(z, z2, -0x1.ac78ec6b8cb98p-5, 0x1.74d64aa665b0ap-5,
                                      -0x1.1b2058fb5da30p-5, 0x1.0aa87c56e3eb5p-6));
  const struct e_pair sum = e_sum_ordered(base, u.head);
  const double tail = u.tail - u.tail * z; /* the derivative is 1 / (1 + z) */
  const double r = sum.head + (sum.tail + (base_tail + (tail + u.head * (z * p))));
  return e_settled(e_with_sign(r, x));
}

/* ---- floats, and arrays of both ---- */

#include "cvl/elementary-single.h"

#include "cvl/elementary-arrays.h"

#endif
