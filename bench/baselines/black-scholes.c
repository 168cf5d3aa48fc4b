/* black-scholes.c - one loop over the contracts; exp and log are those of libmvec.
 *
 * glibc declares the vector versions under -ffast-math only, which would also reassociate. They
 * are declared here instead, so that the loop vectorises under the ordinary rules. */
#include "baseline.h"

#if FLOAT_BITS == 32
#define EXP  expf
#define LOG  logf
#define SQRT __builtin_sqrtf
#define ABS  __builtin_fabsf
#else
#define EXP  exp
#define LOG  log
#define SQRT __builtin_sqrt
#define ABS  __builtin_fabs
#endif
#pragma omp declare simd notinbranch
real EXP(real);
#pragma omp declare simd notinbranch
real LOG(real);

/* The share of a normal distribution below d. */
static inline real below(real d) {
  const real k = 1 / (1 + (real)0.2316419 * ABS(d));
  const real series =
      k * ((real)0.31938153 +
           k * ((real)-0.356563782 +
                k * ((real)1.781477937 + k * ((real)-1.821255978 + k * (real)1.330274429))));
  const real tail = (real)0.3989422804014327 * EXP((real)-0.5 * d * d) * series;
  return d > 0 ? 1 - tail : tail;
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const real *prices = arguments[0].as.r, *strikes = arguments[1].as.r,
             *years = arguments[2].as.r;
  const real rate = arguments[3].as.r[0], volatility = arguments[4].as.r[0];
  real *calls = result(results, 0, ARRAY_REAL, n)->as.r;
  real *puts = result(results, 1, ARRAY_REAL, n)->as.r;
  /* vector: real, exp, log */
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; i++) {
    const real spread = volatility * SQRT(years[i]);
    const real drift = (rate + (real)0.5 * volatility * volatility) * years[i];
    const real d1 = (LOG(prices[i] / strikes[i]) + drift) / spread;
    const real n1 = below(d1), n2 = below(d1 - spread);
    const real discounted = strikes[i] * EXP(-rate * years[i]);
    calls[i] = prices[i] * n1 - discounted * n2;
    puts[i] = discounted * (1 - n2) - prices[i] * (1 - n1);
  }
}
