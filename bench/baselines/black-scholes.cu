// black-scholes.cu - a thread for each contract.
extern "C" {
#include "baseline.h"
}

// The share of a normal distribution below d.
static __device__ real below(real d) {
  const real k = 1 / (1 + real(0.2316419) * fabs(d));
  const real series =
      k * (real(0.31938153) +
           k * (real(-0.356563782) +
                k * (real(1.781477937) + k * (real(-1.821255978) + k * real(1.330274429)))));
  const real tail = real(0.3989422804014327) * exp(real(-0.5) * d * d) * series;
  return d > 0 ? 1 - tail : tail;
}

static __global__ void price(int64_t n, const real *prices, const real *strikes,
                             const real *years, real rate, real volatility, real *calls,
                             real *puts) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const real spread = volatility * sqrt(years[i]);
  const real drift = (rate + real(0.5) * volatility * volatility) * years[i];
  const real d1 = (log(prices[i] / strikes[i]) + drift) / spread;
  const real n1 = below(d1), n2 = below(d1 - spread);
  const real discounted = strikes[i] * exp(-rate * years[i]);
  calls[i] = prices[i] * n1 - discounted * n2;
  puts[i] = discounted * (1 - n2) - prices[i] * (1 - n1);
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  real *calls = result(results, 0, ARRAY_REAL, n)->as.r;
  real *puts = result(results, 1, ARRAY_REAL, n)->as.r;
  if (n == 0) return;
  price<<<unsigned((n + 255) / 256), 256>>>(n, arguments[0].as.r, arguments[1].as.r,
                                            arguments[2].as.r, arguments[3].as.r[0],
                                            arguments[4].as.r[0], calls, puts);
}
