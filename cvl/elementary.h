/* elementary.h - the functions that MATH() of operations.def names, for double and float. */
#ifndef RAVEL_ELEMENTARY_H
#define RAVEL_ELEMENTARY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of_f64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static inline uint32_t bits_of_f32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* Exact in C. */
static inline double ravel_floor_f64(double x) {
  return floor(x);
}
static inline double ravel_ceil_f64(double x) {
  return ceil(x);
}
static inline double ravel_trunc_f64(double x) {
  return trunc(x);
}
static inline double ravel_sqrt_f64(double x) {
  return sqrt(x);
}
static inline int ravel_signbit_f64(double x) {
  return (int)(bits_of_f64(x) >> 63);
}
static inline float ravel_floor_f32(float x) {
  return floorf(x);
}
static inline float ravel_ceil_f32(float x) {
  return ceilf(x);
}
static inline float ravel_trunc_f32(float x) {
  return truncf(x);
}
static inline float ravel_sqrt_f32(float x) {
  return sqrtf(x);
}
static inline int ravel_signbit_f32(float x) {
  return (int)(bits_of_f32(x) >> 31);
}

/* For each function: ravel_NAME_f64 and _f32 of one element, and elementary_NAME_f64 and _f32
 * of n elements; x and y may be the same array, but may not overlap otherwise. */
#define ELEMENTARY(name)                                                                       \
  static inline double ravel_##name##_f64(double x) {                                          \
    return name(x);                                                                            \
  }                                                                                            \
  static inline float ravel_##name##_f32(float x) {                                            \
    return (float)name((double)x);                                                             \
  }                                                                                            \
  static inline void elementary_##name##_f64(const double *x, double *y, size_t n) {           \
    for (size_t i = 0; i < n; i++) y[i] = ravel_##name##_f64(x[i]);                            \
  }                                                                                            \
  static inline void elementary_##name##_f32(const float *x, float *y, size_t n) {             \
    for (size_t i = 0; i < n; i++) y[i] = ravel_##name##_f32(x[i]);                            \
  }
ELEMENTARY(exp)
ELEMENTARY(log)
ELEMENTARY(sin)
ELEMENTARY(cos)
ELEMENTARY(tan)
ELEMENTARY(asin)
ELEMENTARY(acos)
ELEMENTARY(atan)
ELEMENTARY(sinh)
ELEMENTARY(cosh)
ELEMENTARY(tanh)
#undef ELEMENTARY

#endif
