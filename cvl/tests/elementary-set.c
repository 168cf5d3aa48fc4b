/* elementary-set.c - one table of elementary-set.h. INSTRUCTION_SET names it, and the build
 * passes the compiler flags for that name. */
#include "cvl/tests/elementary-set.h"

#include "cvl/elementary.h"

#define JOIN(a, b)  JOIN_(a, b)
#define JOIN_(a, b) a##b
#define TEXT(a)     TEXT_(a)
#define TEXT_(a)    #a

#define F(name)                                                                                \
  static double one_##name##_f64(double x) {                                                   \
    return ravel_##name##_f64(x);                                                              \
  }                                                                                            \
  static float one_##name##_f32(float x) {                                                     \
    return ravel_##name##_f32(x);                                                              \
  }                                                                                            \
  static void all_##name##_f64(const double *x, double *y, size_t n) {                         \
    elementary_##name##_f64(x, y, n);                                                          \
  }                                                                                            \
  static void all_##name##_f32(const float *x, float *y, size_t n) {                           \
    elementary_##name##_f32(x, y, n);                                                          \
  }
ELEMENTARY_FUNCTIONS(F)
#undef F

const struct elementary_set JOIN(elementary_, INSTRUCTION_SET) = {TEXT(INSTRUCTION_SET),
                                                                  {
#define F(name) {#name, one_##name##_f64, one_##name##_f32, all_##name##_f64, all_##name##_f32},
                                                                      ELEMENTARY_FUNCTIONS(F)
#undef F
                                                                  }};
