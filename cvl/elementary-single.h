/* elementary-single.h - the functions of elementary.h for floats. Only elementary.h includes
 * it; what that file says about bits holds here, too.
 *
 * A function of a float is computed in double, with polynomials of the degree that a float
 * needs. The error is below 2^-33 of the result, most of it the polynomial's, and the result is
 * then rounded. So there are no heads and tails. No range needs a case of its own where results
 * become small, since doubles hold them. One result in a thousand is the float next to the
 * correctly rounded one; the error is below 0.502 units. `elementary-floats` compares all
 * floats with the functions of doubles.
 *
 * Polynomials are written by Horner's rule, which is the least work. Throughput counts here: of
 * vectors on a CPU, and of many threads on a GPU, where doubles are expensive. A GPU computes
 * 28 operations of doubles in the time in which it moves a float in and one out, or less.
 */
#ifndef RAVEL_ELEMENTARY_SINGLE_H
#define RAVEL_ELEMENTARY_SINGLE_H

/* ---- exponentials ---- */

/* e^x = 2^k p, and 2^k is added to the exponent. Beyond the bounds the result rounds to 0 or
 * infinity. */
E_INLINE float ravel_exp_f32(float x) {
  const double a = (double)e_bounded(x, -110.0f, 100.0f);
  const double t = a * E_INVERSE_LN2 + E_ROUNDER;
  const double r = a - (t - E_ROUNDER) * E_LN2;
  const double p =
      0x1.ffffffffa7011p-1 +
      r * (0x1.fffffffff61ddp-1 +
           r * (0x1.0000005c981fcp-1 +
                r * (0x1.5555557e7777ep-3 +
                     r * (0x1.555464884204ep-5 +
                          r * (0x1.1110a6173845ep-7 +
                               r * (0x1.6da767a4988a9p-10 + r * 0x1.a17e052cd2c8fp-13))))));
  const float y = (float)f64_of_bits(bits_of_f64(p) + (bits_of_f64(t) << 52));
  return x == x ? y : (float)NAN;
}

/* e^x = 2^k (even + odd) and e^-x = 2^-k (even - odd), so that nothing cancels:
 * cosh x = even * sum + odd * difference, sinh x = even * difference + odd * sum. */
struct e_halves {
  double even, odd;       /* cosh r, sinh r, for |r| <= ln 2 / 2 */
  double sum, difference; /* cosh(k ln 2), sinh(k ln 2) */
};

E_INLINE struct e_halves e_halve(float x) {
  const double a = (double)e_bounded(x, -100.0f, 100.0f);
  const double t = a * E_INVERSE_LN2 + E_ROUNDER;
  const double r = a - (t - E_ROUNDER) * E_LN2;
  const double z = r * r;
  const double up = f64_of_bits(0x3fe0000000000000ULL + (bits_of_f64(t) << 52));
  const double down = f64_of_bits(0x3fe0000000000000ULL - (bits_of_f64(t) << 52));
  const struct e_halves h = {
      0x1.ffffffffa7011p-1 +
          z * (0x1.0000005c981fcp-1 + z * (0x1.555464884204ep-5 + z * 0x1.6da767a4988a9p-10)),
      r * (0x1.fffffffff61ddp-1 +
           z * (0x1.5555557e7777ep-3 + z * (0x1.1110a6173845ep-7 + z * 0x1.a17e052cd2c8fp-13))),
      up + down, up - down};
  return h;
}

E_INLINE float ravel_sinh_f32(float x) {
  const struct e_halves h = e_halve(x);
  const float y = (float)(h.even * h.difference + h.odd * h.sum);
  return x == x ? e_with_sign_f32(y, x) : (float)NAN;
}

E_INLINE float ravel_cosh_f32(float x) {
  const struct e_halves h = e_halve(x);
  const float y = (float)(h.even * h.sum + h.odd * h.difference);
  return x == x ? y : (float)NAN;
}

/* x = k ln 2 / 2 + w and tanh w = odd / even, so e^2x = 2^k (even + odd) / (even - odd). */
E_INLINE float ravel_tanh_f32(float x) {
  const double a = (double)e_bounded(x, -20.0f, 20.0f); /* beyond 20 the result is 1 */
  const double t = a * (2.0 * E_INVERSE_LN2) + E_ROUNDER;
  const double w = a - (t - E_ROUNDER) * (0.5 * E_LN2);
  const double z = w * w;
  const double odd = w * (0x1.ffffffffffdc0p-1 + z * 0x1.85fbcb941a9d3p-4);
  const double even = 1.0 + z * (0x1.b6d44839301cbp-2 + z * 0x1.37c75f14e5edap-7);
  const double power = f64_of_bits((bits_of_f64(t) << 52) + 0x3ff0000000000000ULL);
  const double less = power - 1.0, more = power + 1.0;
  const float y = (float)((less * even + more * odd) / (more * even + less * odd));
  return x == x ? e_with_sign_f32(y, x) : (float)NAN;
}

/* ---- logarithm ---- */

/* x = m 2^k with m from about 2^-1/4 to 2^3/4. In the upper half of that range m is divided by
 * the root of 2. It is then 1 + f with -0.17 < f < 0.19, and x = (1 + f) 2^(n/2), where n is
 * the exponent with one more bit. */
#define E_LOG_LEAST 0x3feae89f00000000ULL /* the bits of 2^-1/4, nearly */
E_INLINE float ravel_log_f32(float x) {
  const uint64_t u = bits_of_f64((double)x) + (0x3ff0000000000000ULL - E_LOG_LEAST);
  const double n = f64_of_bits(u >> 51 | 0x4330000000000000ULL) - (0x1p52 + 2046.0);
  const double m = f64_of_bits((u & 0xfffffffffffffULL) + E_LOG_LEAST);
  const double f = m * (u >> 51 & 1 ? E_ROOT_OF_HALF : 1.0) - 1.0;
  const double p =
      0x1.ffffffffadebdp-1 +
      f * (-0x1.ffffffd2d8587p-2 +
           f * (0x1.555558668bf46p-2 +
                f * (-0x1.00004ebbb0351p-2 +
                     f * (0x1.999540a25ddbfp-3 +
                          f * (-0x1.5509f2c1d770ap-3 +
                               f * (0x1.2578caa2b06fbp-3 + f * (-0x1.0d8400d651b9ap-3 +
                                                                f * 0x1.b3d0744c9e9ccp-4)))))));
  float y = (float)(n * (0.5 * E_LN2) + f * p);
  y = x < (float)INFINITY ? y : (float)INFINITY;
  y = x > 0.0f ? y : (float)NAN;
  return x == 0.0f ? -(float)INFINITY : y;
}

/* ---- trigonometric functions ---- */

/* Returns sin r for |r| <= pi/2, and -0.0 for -0.0. The same polynomial serves for the cosine,
 * from its nearest zero, so there is no choice of coefficients. */
E_INLINE double e_short_sine(double r) {
  const double z = r * r;
  return r * (0x1.ffffffffda6f3p-1 +
              z * (-0x1.5555554433f2ep-3 +
                   z * (0x1.11110c00054c9p-7 +
                        z * (-0x1.a017cfee6d321p-13 +
                             z * (0x1.71701a4304fe4p-19 + z * -0x1.9a69ca740f061p-26)))));
}

/* The functions for x up to E_REDUCE_LIMIT. x is n pi + r for the sine, (n + 1/2) pi + r for
 * the cosine, and n pi/2 + r for the tangent. */
E_INLINE float e_near_sin_f32(float x) {
  const double a = (double)x;
  const double t = a * E_INVERSE_PI + E_ROUNDER;
  const double s = e_short_sine(e_less(a, t - E_ROUNDER, E_PI_HIGH, E_PI_LOW));
  return e_settled_f32((float)f64_of_bits(bits_of_f64(s) ^ bits_of_f64(t) << 63));
}
E_INLINE float e_near_cos_f32(float x) {
  const double a = (double)x;
  const double t = (a * E_INVERSE_PI - 0.5) + E_ROUNDER;
  const double s = e_short_sine(e_less(a, (t - E_ROUNDER) + 0.5, E_PI_HIGH, E_PI_LOW));
  return e_settled_f32((float)f64_of_bits(bits_of_f64(s) ^ ~bits_of_f64(t) << 63));
}
E_INLINE float e_near_tan_f32(float x) {
  const double a = (double)x;
  const double t = a * (2.0 * E_INVERSE_PI) + E_ROUNDER;
  const uint64_t odd = bits_of_f64(t) & 1;
  const double r = e_less(a, t - E_ROUNDER, 0.5 * E_PI_HIGH, 0.5 * E_PI_LOW);
  const double z = r * r;
  const double above =
      r * (0x1.00000000140c6p+0 + z * (-0x1.c81df56060790p-4 + z * 0x1.19c26c2637d1fp-10));
  const double below = 1.0 + z * (-0x1.c75cd2942e683p-2 + z * 0x1.05ad42cb6a90bp-6);
  const double q = (odd ? below : above) / (odd ? above : below);
  return e_settled_f32((float)f64_of_bits(bits_of_f64(q) ^ odd << 63));
}

/* Whether x is beyond E_REDUCE_LIMIT, where the functions of doubles are used. */
E_INLINE int e_is_far_f32(float x) {
  return e_abs_f32(x) > (float)E_REDUCE_LIMIT;
}
#define E_FAR(name)                                                                            \
  E_INLINE float e_far_##name##_f32(float x) {                                                 \
    return (float)e_far_##name##_f64((double)x);                                               \
  }                                                                                            \
  E_INLINE float ravel_##name##_f32(float x) {                                                 \
    return e_is_far_f32(x) ? e_far_##name##_f32(x) : e_near_##name##_f32(x);                   \
  }
E_FAR(sin)
E_FAR(cos)
E_FAR(tan)
#undef E_FAR

/* ---- inverse trigonometric functions ---- */

/* Returns the root of z, which is 0 or at least 2^-25, with a relative error of 2^-46: the root
 * of a float, and a correction. */
E_INLINE double e_root(float z) {
  const float s = sqrtf(z);
  const double root = (double)s;
  return root + ((double)z - root * root) * (double)(0.5f / (s + 0x1p-60f));
}

/* Returns asin a, or beyond 1/2 asin(sqrt((1 - a) / 2)), which is half of acos a; 1 - a is
 * exact. */
E_INLINE double e_arc(float a) {
  const int large = a > 0.5f;
  const float half = (1.0f - a) * 0.5f;
  const double z = large ? (double)half : (double)a * (double)a;
  const double p =
      0x1.ffffffffe1fddp-1 +
      z * (0x1.55555644ffd27p-3 +
           z * (0x1.3332974333413p-4 +
                z * (0x1.6ddd3297735ebp-5 +
                     z * (0x1.ed3310aa58a51p-6 +
                          z * (0x1.93e1363c82c76p-6 +
                               z * (0x1.e5084c0c9e239p-8 + z * 0x1.1ca8ba846c6cbp-5))))));
  return (large ? e_root(half) : (double)a) * p;
}

E_INLINE float ravel_asin_f32(float x) {
  const float a = e_abs_f32(x);
  const double arc = e_arc(a);
  const float y = (float)(a > 0.5f ? E_HALF_PI_HIGH - 2.0 * arc : arc);
  return e_settled_f32(e_with_sign_f32(y, x));
}

E_INLINE float ravel_acos_f32(float x) {
  const float a = e_abs_f32(x);
  const int large = a > 0.5f, right = x > 0.0f;
  const double arc = e_arc(a);
  const double base = large ? (right ? 0.0 : 2.0 * E_HALF_PI_HIGH) : E_HALF_PI_HIGH;
  const double angle = large ? 2.0 * arc : arc;
  return e_settled_f32((float)(base + (large == right ? angle : -angle)));
}

/* atan a = base + atan u, where u is a, (a - 1) / (a + 1) or -1 / a, so that |u| <=
 * tan(pi/8). */
E_INLINE float ravel_atan_f32(float x) {
  /* the result is pi/2 from there on */
  const float a = e_abs_f32(x) < 0x1p60f ? e_abs_f32(x) : 0x1p60f;
  const int middle = a > 0.41421357f, top = a > 2.4142137f;
  const double b = (double)a;
  const double above = top ? -1.0 : middle ? b - 1.0 : b;
  const double below = top ? b : middle ? b + 1.0 : 1.0;
  const double base = top ? E_HALF_PI_HIGH : middle ? 0.5 * E_HALF_PI_HIGH : 0.0;
  const double u = above / below, z = u * u;
  const double p =
      0x1.ffffffffd044bp-1 +
      z * (-0x1.555554802a9dfp-2 +
           z * (0x1.9998fd30b4ad9p-3 +
                z * (-0x1.247c996310f82p-3 +
                     z * (0x1.c4368118f17b9p-4 +
                          z * (-0x1.5a5592b151ee0p-4 + z * 0x1.817e4d5bb0712p-5)))));
  const float y = (float)(base + u * p);
  return x == x ? e_with_sign_f32(y, x) : (float)NAN;
}

#endif
