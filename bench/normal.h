/* normal.h - the normal distribution below x, as Black-Scholes of the SDK approximates it. */
#ifndef RAVEL_BENCH_NORMAL_H
#define RAVEL_BENCH_NORMAL_H

#include <math.h>

static inline double normal(double x) {
  const double y = 1.0 / (1.0 + 0.2316419 * fabs(x));
  const double p =
      y * (0.31938153 +
           y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))));
  const double w = 1.0 - 0.39894228040143267 * exp(-0.5 * x * x) * p;
  return x < 0.0 ? 1.0 - w : w;
}

#endif
