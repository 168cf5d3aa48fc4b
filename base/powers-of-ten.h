/* powers-of-ten.h - powers of ten as 128 bits, for numbers as text. */
#ifndef RAVEL_POWERS_OF_TEN_H
#define RAVEL_POWERS_OF_TEN_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TEN_LEAST = -342,   /* the first power in the table */
  TEN_MOST = 340,     /* the last */
  TEN_EXACT_MOST = 55 /* from 0 to here nothing is cut off: 5^55 has 128 bits */
};

/* The first 128 bits of 10^k; the rest is cut off. */
struct power_of_ten {
  uint64_t high, low;
};
extern const struct power_of_ten powers_of_ten[TEN_MOST - TEN_LEAST + 1];

/* Returns the n for which 10^k is at least 2^n and less than 2^(n + 1). */
static inline int ten_exponent(int k) {
  return (int)(k * INT64_C(1741647) >> 19);
}

static inline bool ten_is_exact(int k) {
  return k >= 0 && k <= TEN_EXACT_MOST;
}

/* m * 10^k = (high * 2^64 + low + r) * 2^exponent, where high * 2^64 is the upper 128 bits and
 * 0 <= r < m, r = 0 where the power is exact. m: its highest bit is set, so that high >= 2^126.
 */
__extension__ typedef unsigned __int128 uint128;
struct ten_product {
  uint128 high;
  uint64_t low;
  int exponent;
};
static inline struct ten_product ten_multiply(uint64_t m, int k) {
  const struct power_of_ten *power = &powers_of_ten[k - TEN_LEAST];
  const uint128 lower = (uint128)m * power->low;
  return (struct ten_product){.high = (uint128)m * power->high + (uint64_t)(lower >> 64),
                              .low = (uint64_t)lower,
                              .exponent = ten_exponent(k) - 127};
}

#endif
