/* elementary-set.h - the elementary functions as a table, compiled once for each instruction
 * set, so that a test can call and compare them all. */
#ifndef RAVEL_ELEMENTARY_SET_H
#define RAVEL_ELEMENTARY_SET_H

#include <stddef.h>

#define ELEMENTARY_FUNCTIONS(F)                                                                \
  F(exp) F(log) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh)

enum {
#define F(name) E_##name,
  ELEMENTARY_FUNCTIONS(F)
#undef F
      E_COUNT
};

struct elementary_set {
  const char *instruction_set;
  struct {
    const char *name;
    double (*f64)(double);
    float (*f32)(float);
    void (*array_f64)(const double *, double *, size_t);
    void (*array_f32)(const float *, float *, size_t);
  } of[E_COUNT];
};

extern const struct elementary_set elementary_baseline;
#ifdef RAVEL_TEST_X86
extern const struct elementary_set elementary_avx2, elementary_avx512;
#endif

#endif
